"""Patterns and primitives by hand: a thrown disc that just fits, a sprite's pixels, a puzzle's figures."""

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.families.kandinsky import shapes
from assay.families.kandinsky.patterns import (
    aggregate,
    figure_space,
    flat_combination,
    from_rsbench,
    patterns_of,
    puzzle_text,
)
from assay.families.kandinsky.shapes import (
    SHAPES,
    Sprite,
    cutout,
    most_that_fit,
    scatter_spots,
    sprite_at,
    stamp_sprites,
)
from assay.families.kandinsky.task import KandLogic
from assay.logic import Evaluator, Knowledge
from assay.render import Box, ObjectBox
from assay.seeds import rng_for
from assay.worlds import World

VALUES = {"shape": ("square", "circle", "star"), "colour": ("red", "blue")}


# -- where primitives lie ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "smallest", "most"),
    [(16, 3.0, 4), (15, 3.0, 1), (16, 3.2, 4), (17, 3.3, 1), (24, 3.0, 9), (8, 3.0, 1), (7, 3.0, 0)],
)
def test_as_many_fit_as_a_grid_with_gaps_has_cells(side, smallest, most):
    assert most_that_fit(side, smallest) == most  # half pixels: 2 a side less the margin, and 4 between two


def test_discs_are_thrown_the_largest_first_and_apart_by_the_gap():
    # radii 2 and 4: the larger comes first, and lands at the least place, 2 + 4, and in the last, 40 - 2 - 4
    draws = [0.0, 0.99, 0.0, 0.99, 0.0, 0.0, *[0.0] * 44]
    assert shapes._throw_discs(draws, 2, 40, (2, 4)) == [(6, 34, 4), (4, 4, 2)]


@pytest.mark.parametrize(("apart", "fits"), [(10, True), (9, False)])
def test_two_discs_may_be_as_near_as_the_gap(apart, fits):
    width, room = 40, 40 - 2 * 5 + 1
    place = (apart + 0.5) / room
    draws = [0.0, 0.0, 0.0, 0.0, *[place, 0.0] * 12, *[0.0] * 24]
    wanted = [(5, 5, 3), (5 + apart, 5, 3)] if fits else None
    assert shapes._throw_discs(draws, 2, width, (3, 3)) == wanted


def test_a_disc_gets_twelve_throws():
    draws = [0.0, 0.0, 0.0, 0.0, *[0.0] * 22, 0.99, 0.0]
    assert shapes._throw_discs(draws, 2, 40, (3, 3)) == [(5, 5, 3), (35, 5, 3)]


@pytest.mark.parametrize("count", [1, 4, 5, 9])
def test_discs_on_a_grid_lie_in_cells_of_their_own(count):
    width, radius, cells = 61, 5, {1: 1, 4: 2, 5: 3, 9: 3}[count]
    cell = (width - 2 * 2 + 4) // cells
    found = [shapes._on_grid(rng_for(k, "grid"), count, width, radius) for k in range(80)]
    spots = np.array(found)[..., :2] - 2 - radius
    assert (np.array(found)[..., 2] == radius).all()
    assert all(len({(x // cell, y // cell) for x, y in row.tolist()}) == count for row in spots)
    inside = spots % cell
    assert inside.min() == 0 and inside.max() == cell - 4 - 2 * radius
    assert set((spots // cell).ravel().tolist()) == set(range(cells))


def test_spots_are_sorted_by_distance_and_ties_by_their_column(monkeypatch):
    thrown = [(30, 10, 3), (10, 30, 3), (6, 20, 2), (20, 15, 1)]
    monkeypatch.setattr(shapes, "_throw_discs", lambda draws, count, width, radii: list(thrown))
    assert scatter_spots(rng_for(0, "spots"), 4, 40, (1.0, 2.0)) == [
        *([3.0, 10.0, 1.0], [10.0, 7.5, 0.5], [5.0, 15.0, 1.5], [15.0, 5.0, 1.5])
    ]


def test_the_greatest_radius_shrinks_from_throw_to_throw_and_at_last_a_grid_is_used(monkeypatch):
    tried = []

    def throw(draws, count, width, radii):
        tried.append((len(draws), count, width, radii))

    monkeypatch.setattr(shapes, "_throw_discs", throw)
    found = scatter_spots(rng_for(0, "spots"), 2, 30, (2.0, 4.5))
    assert tried == [(50, 2, 60, (4, most)) for most in (9, 8, 7, 6, 5, 4)]
    assert [radius for _, _, radius in found] == [2.0, 2.0]
    tried.clear()
    scatter_spots(rng_for(0, "spots"), 1, 10, (3.0, 30.0))
    assert tried[0][3] == (6, 8)  # no more than the half of the figure, less its margin


# -- sprites -----------------------------------------------------------------------------------------------------------


def test_stars_and_crosses_have_their_corners_in_turn():
    star, cross = SHAPES["star"], SHAPES["cross"]
    assert np.hypot(*star.T) == pytest.approx(np.tile([1, 0.45], 5))
    assert star[0] == pytest.approx([0, -1])
    steps = np.diff(np.unwrap(np.arctan2(star[:, 1], star[:, 0])))
    assert steps == pytest.approx(np.full(9, np.pi / 5))
    assert cross[6:] == pytest.approx(-cross[:6]) and cross[0] == pytest.approx([-0.32, -0.94])
    ahead = np.roll(cross, -1, axis=0)
    assert (cross[:, 0] * ahead[:, 1] - cross[:, 1] * ahead[:, 0]).sum() / 2 == pytest.approx(
        4 * (0.94**2 - (0.94 - 0.32) ** 2)
    )


def test_half_a_pixel_moves_a_sprite_by_half_a_pixel():
    def weight(spot):
        made, left, top = sprite_at("diamond", "red", "black", spot)
        ink = made.tint[:, :, 0].astype(float)
        rows, columns = np.indices(ink.shape)
        return (columns * ink).sum() / ink.sum() + left + 0.5, (rows * ink).sum() / ink.sum() + top + 0.5

    for spot in [(20.0, 14.0, 6.0), (20.5, 14.0, 6.0), (20.0, 14.5, 6.5), (31.5, 17.5, 9.0)]:
        assert weight(spot) == pytest.approx(spot[:2], abs=0.15)


def test_a_diamond_is_narrower_than_high_in_sprite_and_cutout():
    made, left, top = sprite_at("diamond", "red", "white", (30.0, 40.0, 10.0))
    assert made.mask.shape == pytest.approx((20, 14), abs=2)
    assert (left + made.mask.shape[1] / 2, top + made.mask.shape[0] / 2) == pytest.approx((30, 40), abs=0.5)
    cut = cutout("diamond", "red", "white", (30.0, 40.0, 10.0), 28)
    rows, columns = np.flatnonzero(cut.tint.any(axis=(1, 2))), np.flatnonzero(cut.tint.any(axis=(0, 2)))
    assert (rows[0], rows[-1]) == (1, 26)  # it fills the height but for the border
    assert columns[-1] - columns[0] + 1 == pytest.approx(26 * 0.7, abs=2)
    assert columns[0] + columns[-1] == pytest.approx(27, abs=1)
    assert (cut.left, cut.top) == (0, 0)


def test_a_cutout_follows_the_half_pixels_of_its_spot():
    whole, half = (cutout("triangle", "red", "white", (x, 20.0, 5.0), 28) for x in (20.0, 20.5))
    assert (whole.tint != half.tint).any()


def test_tints_masks_and_boxes_by_hand():
    ink = np.array([[0, 127, 0], [128, 255, 1], [0, 200, 0], [0, 64, 0]], dtype=np.uint8)
    made = shapes._tint(ink, "blue", "grey", -2, 7)  # (30, 80, 220) on (150, 150, 150)
    assert made.mask.tolist() == [[0, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert made.box == Box(0, 1, 2, 3) and (made.left, made.top) == (-2, 7)
    steps = made.tint.astype(np.int8)
    assert steps[1, 1].tolist() == [-120, -70, 70] and steps[0, 0].tolist() == [0, 0, 0]
    assert steps[1, 0].tolist() == [round(share * 128 / 255) for share in (-120, -70, 70)]
    assert steps[1, 2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("count", [2, 255, 256, 300])
def test_stamps_are_numbered_and_boxed_where_they_are_put(count):
    mask = np.array([[0, 1, 0], [1, 1, 0]], dtype=np.uint8)
    tint = np.stack([mask * 3, mask * 5, mask * 250], axis=2).astype(np.uint8)
    stamp = Sprite(tint, mask, 0, 0, Box(0, 0, 2, 2))
    empty = np.full((4, 3 * count, 3), 10, dtype=np.uint8)
    picture = stamp_sprites(empty, [(f"o{k}", stamp, 3 * k, k % 2 + 1) for k in range(count)])
    assert picture.instances.dtype == (np.uint8 if count < 256 else np.uint16)
    for k in {0, 1, count - 1}:
        top = k % 2 + 1
        part = picture.instances[:, 3 * k : 3 * k + 3]
        assert part[top : top + 2].tolist() == [[0, k + 1, 0], [k + 1, k + 1, 0]]
        assert picture.things[k] == ObjectBox(f"o{k}", Box(3 * k, top, 3 * k + 2, top + 2))
        assert picture.image[top + 1, 3 * k].tolist() == [13, 15, 4]  # bytes that wrap around
        assert picture.image[top, 3 * k].tolist() == [10, 10, 10]
    assert (empty == 10).all()


def test_small_sprites_are_kept_and_large_ones_drawn_each_time():
    for radius, kept in ((32.0, True), (32.5, False)):
        first, second = (sprite_at("square", "red", "white", (50.0, 50.0, radius))[0] for _ in range(2))
        assert (first is second) == kept


# -- patterns ----------------------------------------------------------------------------------------------------------


def test_concepts_of_a_figure_are_named_object_by_object():
    space = figure_space(2, VALUES)
    assert space.names == ("object1.shape", "object1.colour", "object2.shape", "object2.colour")
    assert space.concept("object2.colour").values == ("red", "blue")


def test_kinds_are_same_different_and_mixed():
    figure = figure_space(3, {"shape": ("square", "circle", "star"), "colour": ("red", "blue", "pink")})
    patterns = patterns_of({"both": "same_shape and mixed_colour"}, figure)
    assert list(patterns) == [f"{kind}_{a}" for a in ("shape", "colour") for kind in ("same", "different", "mixed")] + [
        "both"
    ]
    knowledge = Knowledge.of(figure, patterns)
    codes = np.array([[0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 2, 2], [1, 0, 2, 2, 1, 1], [0, 2, 0, 2, 1, 2]])
    assert knowledge.labels_of(codes).tolist() == [
        *([1, 0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0, 0])
    ]


def test_a_puzzle_is_that_the_first_figures_agree_and_the_last_in_both_or_neither():
    figure = figure_space(2, VALUES)  # same or different, never mixed
    formula = aggregate(puzzle_text(3), patterns_of({}, figure), 3)
    task = KandLogic(figures=3, objects=2, shapes=["square", "circle", "star"], colours=["red", "blue"])
    fits = Knowledge.of(task.space, {"y": formula})
    looks = {"s": (0, 0), "d": (0, 1)}

    def world(kinds):
        pairs = [(looks[shape], looks[colour]) for shape, colour in kinds]
        return [part for shapes, colours in pairs for k in range(2) for part in (shapes[k], colours[k])]

    kinds = {
        **{("ss", "ss", "ss"): 1, ("sd", "sd", "sd"): 1, ("ss", "ss", "dd"): 1, ("sd", "sd", "ds"): 1},
        **{("ss", "ss", "sd"): 0, ("ss", "ss", "ds"): 0, ("ss", "sd", "ss"): 0, ("ds", "ss", "ss"): 0},
        **{("sd", "ds", "ss"): 0, ("dd", "ss", "ss"): 0},
    }
    assert fits.labels_of(np.array([world(kind) for kind in kinds]))[:, 0].tolist() == list(kinds.values())


def test_texts_of_objects_are_read_in_either_order_and_values_as_they_are():
    names = ["square", "circle"]
    assert flat_combination([("red, square", "circle , blue"), ["pink,square"]], 3, names) == [
        *("square", "red", "circle", "blue", "square", "pink")
    ]
    assert flat_combination((("square", "red"), ["circle", "blue"]), 9, names) == ["square", "red", "circle", "blue"]
    for wrong in (["red, square"] * 2, ["red, square"] * 4, ["red, square"] * 2 + ["red"], ["a, b, c"] * 3):
        with pytest.raises(ConfigError, match="combinations_in_distribution"):
            flat_combination(wrong, 3, names)


def test_rsbench_settings_keep_the_places_they_came_from():
    values = {
        **{"symbols": ["a", "b", "c", "d"], "logic": "Eq(b, d) & Ne(a, c)", "n_shapes": 2, "sample_size": 7},
        **{"aggregator_symbols": ["p", "q"], "aggregator_logic": "p & ~q", "n_figures": 2},
    }
    places = {key: f"line {number}" for number, key in enumerate(values)}
    ours = from_rsbench(Settings(values, places))
    assert set(ours.values) == {"pattern", "aggregator", "objects", "figures"}
    assert (ours.places["pattern"], ours.places["aggregator"]) == ("line 1", "line 5")
    assert ours.values["pattern"] == "object1.colour == object2.colour and object1.shape != object2.shape"
    assert ours.values["aggregator"] == "figure1.pattern and not figure2.pattern"


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_exactly_at_their_bounds_are_taken():
    task = KandLogic(side=64, objects=16, smallest=0.1, largest=0.1, pattern="same_shape", puzzle=False)
    assert task.config.radii == (6.4, 6.4)
    assert KandLogic(side=40, smallest=0.09, largest=0.125).config.radii == (5.0, 5.0)
    assert KandLogic(puzzle=True, figures=2).config.puzzle
    with pytest.raises(ConfigError, match="largest"):
        KandLogic(side=200, smallest=0.3, largest=0.2)
    with pytest.raises(ConfigError, match="largest"):
        KandLogic(side=32, smallest=0.15, largest=0.14, objects=1)  # both below 5 pixels


@pytest.mark.parametrize(
    ("settings", "networks"),
    [
        ({"side": 32}, ("conv-pool-3", "conv-pool-5")),
        ({"side": 31, "objects": 1}, ("conv-pool-3", "conv-pool-3")),
        ({"view": "objects"}, ("mlp-wide", "conv-pool-3")),
    ],
)
def test_networks_fit_the_smaller_side_of_the_pictures(settings, networks):
    found = KandLogic(pattern="object1.colour == 'red'", **settings).backbones()
    assert (found["concept"], found["label"]) == networks


def test_an_aggregator_comes_before_a_pattern_and_a_pattern_before_the_usual_rule():
    base = {"figures": 2, "objects": 1, "pattern": "object1.colour == 'red'"}
    assert str(KandLogic(**base).rule) == "figure1.object1.colour == 'red' and figure2.object1.colour == 'red'"
    assert str(KandLogic(**base, aggregator="figure2.pattern").rule) == "figure2.object1.colour == 'red'"


def test_objects_of_an_unsquare_picture_are_drawn_in_their_figures_in_their_colours():
    task = KandLogic(
        figures=2, objects=1, side=30, gap=4, colours=["red", "green"], pattern="same_shape or same_colour"
    )
    spots = [[[10.0, 20.0, 6.0]], [[16.0, 8.0, 7.0]]]
    for background, (paper, line) in {"white": (255, 110), "grey": (150, 60), "black": (0, 150)}.items():
        style = {"figures": spots, "background": background}
        picture = task.render(World(task.space, (0, 0, 1, 1), style))
        assert picture.image.shape == (30, 64, 3)
        assert picture.image[20, 10].tolist() == [220, 30, 30] and picture.image[8, 34 + 16].tolist() == [25, 150, 60]
        assert (picture.image[:, 30:34] == line).all()
        assert (picture.image[:, 29] == paper).all() and (picture.image[:, 34] == paper).all()
        assert [thing.name for thing in picture.things] == ["figure1.object1", "figure2.object1"]
        first, second = (thing.box for thing in picture.things)
        assert (first.left + first.right, first.top + first.bottom) == pytest.approx((20, 40), abs=1.1)
        assert (second.left + second.right, second.top + second.bottom) == pytest.approx((2 * 50, 16), abs=1.1)


def test_regions_of_the_object_view_are_squares_in_a_row():
    task = KandLogic(view="objects", figures=2, objects=2)
    assert [task.layout.regions[f"{slot.name}.colour"] for slot in task.slots] == [
        Box(28 * k, 0, 28 * k + 28, 28) for k in range(4)
    ]
    assert {slot.group for slot in task.slots[:2]} == {"figure1"} and task.slots[2].group == "figure2"


def test_the_columns_are_those_asked_for():
    assert KandLogic().columns == ("image", "things", "instances") and KandLogic(masks=False).columns == ("image",)


def test_the_released_generator_sorts_worlds_with_shapes_and_colours_exchanged():
    rule = {"objects": 2, "figures": 1, "aggregator": "figure1.same_shape and not figure1.same_colour"}
    task = KandLogic(as_released=True, **rule)
    codes = np.array([[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1]])
    assert task.knowledge.labels_of(codes)[:, 0].tolist() == [1, 0, 0, 0]
    assert task._sorted_by.labels_of(codes)[:, 0].tolist() == [0, 1, 0, 0]
    splits = {split.name: split for split in task.splits()}
    assert "hard" not in splits or splits["hard"].size == 0
    held = task.worlds_in(splits["test"], 0).codes(np.arange(12))
    assert task._sorted_by.labels_of(held).all()


def test_worlds_of_a_puzzle_are_those_of_their_split_that_are_puzzles():
    base = {"figures": 2, "objects": 2, "shapes": ["square", "circle"], "colours": ["red", "blue"], "puzzle": True}
    same, other = ["square", "red"] * 4, ["square", "red", "square", "red", "square", "red", "circle", "blue"]
    listed = KandLogic(**base, combinations_in_distribution=[same, other, ["square", "red"] * 3 + ["square", "blue"]])
    # alike in both, in neither, in one; and one that is not listed
    codes = np.array([[0] * 8, [0] * 6 + [1, 1], [0] * 7 + [1], [1] * 8])
    splits = {split.name: split for split in listed.splits()}
    assert "hard" not in splits
    inside = {name: Evaluator(listed.space, split.where)(codes).tolist() for name, split in splits.items()}
    assert inside["train"] == [True, True, False, False] and inside["ood"] == [False, False, False, True]
    plain = KandLogic(**base)
    (train,) = (split for split in plain.splits() if split.name == "train")
    assert Evaluator(plain.space, train.where)(codes).tolist() == [True, True, False, True]
