"""Kandinsky patterns: the paper's rules by number, balanced splits, pictures that show their concepts, rsbench's keys."""

from itertools import combinations, product

import numpy as np
import pytest

from assay.base import AssayError
from assay.counting import count_shortcuts
from assay.lab import find_study
from assay.tasks import TASKS
from assay.testing import check_task, require
from tests.families.drawn import class_indices, split_codes, split_of, worlds_of

KandLogic = TASKS["kand-logic"]
PAIRS = (  # of rsbench's own kandinksy.yml
    "(Eq(color_1, color_2) & Eq(shape_1, shape_2) & Ne(shape_1, shape_3)) | "
    "(Eq(color_1, color_3) & Eq(shape_1, shape_3) & Ne(shape_1, shape_2)) | "
    "(Eq(color_2, color_3) & Eq(shape_2, shape_3) & Ne(shape_1, shape_3))"
)
RSBENCH = {
    "val_prop": 0.2,
    "test_prop": 0.3,
    "ood_prop": 0.3,
    "n_shapes": 3,
    "n_figures": 3,
    "colors": ["red", "yellow", "blue"],
    "shapes": ["circle", "square", "triangle"],
    "prop_in_distribution": 0.8,
    "symbols": [f"{name}_{i}" for i in (1, 2, 3) for name in ("shape", "color")],
    "logic": PAIRS,
    "aggregator_symbols": ["pattern_1", "pattern_2", "pattern_3"],
    "aggregator_logic": "pattern_1 & pattern_2 & pattern_3",
    "sample_size": 1000,
}
TRUE_WORLD = [
    ["yellow, triangle", "red, circle", "yellow, triangle"],
    ["red, triangle", "yellow, circle", "red, triangle"],
    ["yellow, circle", "yellow, circle", "red, square"],
]
FALSE_WORLD = [
    ["blue, circle", "blue, triangle", "blue, square"],
    ["red, triangle", "yellow, triangle", "red, circle"],
    ["yellow, square", "blue, circle", "yellow, circle"],
]


def kind(values):
    """Return 1 where values are all the same, 3 where they are all different, 2 otherwise."""
    different = len(set(values.tolist()))
    return 1 if different == 1 else 3 if different == len(values) else 2


def alike(world):
    """Return whether all figures of a world, an array of figures x objects x 2, have one kind of shapes, of colours."""
    return [len({kind(figure[:, a]) for figure in world}) == 1 for a in (0, 1)]


def paired(figure):
    return any(
        (figure[i] == figure[j]).all() and figure[k, 0] != figure[i, 0] for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
    )


RULES = {
    "kand-logic": lambda world: any(alike(world)),
    "kand-logic-and": lambda world: all(alike(world)),
    "kand-logic-pairs": lambda world: all(paired(figure) for figure in world),
}
POSITIVE = {  # of 27 figures 6 + 18 + 3 are of each kind
    "kand-logic": 2 * 6075 * 19683 - 6075**2,
    "kand-logic-and": 6075**2,
    "kand-logic-pairs": 162**3,
}


@pytest.mark.parametrize(
    "settings",
    [
        {"view": "objects", "prop_in_distribution": 0.7},
        {"figures": 2, "objects": 5, "side": 96, "background": "grey", "masks": False},
        {"figures": 1, "pattern": "any(x.shape == y.shape for x, y in pairs(objects))", "side": 200},
        {"figures": 2, "shapes": ["star", "cross"], "colours": ["green", "pink", "brown"]},
    ],
)
def test_other_settings_keep_the_laws(settings):
    require(check_task(KandLogic(**settings)), str(settings))


@pytest.mark.parametrize("name", RULES)
def test_the_rules_are_the_papers(name):
    task = TASKS[name]()
    assert task.knowledge.diagram.counts[True,] == POSITIVE[name] and task.knowledge.space.worlds == 9**9
    codes = np.random.default_rng(0).integers(3, size=(3000, 18))
    codes[::2] = class_indices(worlds_of(task, count=1500))
    labels = [RULES[name](world.reshape(3, 3, 2)) for world in codes]
    assert task.knowledge.labels_of(codes)[:, 0].tolist() == labels


@pytest.mark.parametrize("figures", [2, 3])
def test_36_readings_fit_the_default_rule(figures):
    found = count_shortcuts(KandLogic(figures=figures).knowledge)
    assert found.total == 36 and found.worlds is None


@pytest.mark.parametrize("name", RULES)
def test_both_labels_occur_equally_often_and_held_out_worlds_are(name):
    task, found = split_codes(name, n=400, prop_in_distribution=0.6)
    found.pop("hard")
    assert {name: len(codes) for name, codes in found.items()} == {"train": 400, "valid": 100, "test": 100, "ood": 100}
    for codes in found.values():
        assert np.bincount(task.knowledge.labels_of(codes)[:, 0]).tolist() == [len(codes) // 2] * 2
    inside = {tuple(row) for name in ("train", "valid", "test") for row in found[name].tolist()}
    assert not inside & set(map(tuple, found["ood"].tolist()))


def test_sizes_are_the_papers():
    sizes = {split.name: split.size for split in KandLogic().splits()}
    assert (sizes["train"], sizes["valid"], sizes["test"]) == (4000, 1000, 1000) and "ood" not in sizes


def test_the_encoders_read_all_shapes_and_all_colours():
    space = KandLogic(figures=2).space
    assert [(group.name, len(group.concepts)) for group in space.encoders] == [("shape", 6), ("colour", 6)]
    assert [slot.name for slot in space.groups["figure2"]] == [f"figure2.object{i}" for i in (1, 2, 3)]


# -- pictures ----------------------------------------------------------------------------------------------------------

INKS = {"red": (255, 0, 0), "yellow": (255, 255, 0), "blue": (0, 0, 255)}


def looked_at(image, mask):
    """Return the shape and the colour that the pixels of an object show."""
    wide = np.pad(mask, 1)
    near = mask | wide[2:, 1:-1] | wide[:-2, 1:-1] | wide[1:-1, 2:] | wide[1:-1, :-2]
    ink = np.abs(image.astype(int) - image[0, 0]).sum(axis=2) * near
    rows, columns = ink.sum(axis=1), ink.sum(axis=0)
    middle = (np.flatnonzero(rows)[[0, -1]].mean(), np.flatnonzero(columns)[[0, -1]].mean())
    across, down = ink[round(middle[0])].sum(), ink[:, round(middle[1])].sum()
    low = (rows @ np.arange(len(rows)) / rows.sum() - middle[0]) / np.count_nonzero(rows)
    filled = ink.sum() * ink.max() / (across * down)
    shape = "triangle" if low > 0.06 else "square" if filled > 0.9 else "circle"
    shown = np.median(image[mask], axis=0)
    return shape, min(INKS, key=lambda name: float(np.abs(shown - INKS[name]).sum()))


@pytest.mark.parametrize("settings", [{}, {"side": 32}, {"objects": 8}, {"background": "black"}, {"view": "objects"}])
def test_pictures_masks_and_boxes_show_the_concepts(settings):
    task = KandLogic(**settings)
    for world in worlds_of(task, count=30):
        picture = task.render(world)
        assert [thing.name for thing in picture.things] == [slot.name for slot in task.space.slots]
        for number, thing in enumerate(picture.things, start=1):
            mask = picture.instances == number
            assert looked_at(picture.image, mask) == (world[f"{thing.name}.shape"], world[f"{thing.name}.colour"])
            rows, columns = np.nonzero(mask)
            box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert (thing.box.left, thing.box.top, thing.box.right, thing.box.bottom) == box


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objects": 16},
        {"objects": 1, "side": 32, "largest": 0.25},
        {"objects": 9, "side": 100, "smallest": 0.05, "largest": 0.09},
        {"objects": 4, "side": 300},
    ],
)
def test_objects_lie_apart_in_their_figure_and_are_numbered_by_their_distance_from_its_corner(settings):
    task = KandLogic(figures=2, pattern="object1.colour == 'red'", **settings)
    side = task.config.side
    for world in worlds_of(task, count=60):
        for spots in world.style["figures"]:
            x, y, radius = np.array(spots).T
            assert (np.diff(np.hypot(x, y)) >= 0).all() and len(spots) == task.config.objects
            assert (np.minimum(x, y) - radius >= 1).all() and (np.maximum(x, y) + radius <= side - 1).all()
            apart = np.hypot(x[:, None] - x, y[:, None] - y) - radius[:, None] - radius
            assert (apart[~np.eye(len(x), dtype=bool)] >= 2).all()


def test_a_changed_object_leaves_the_other_pixels():
    task = KandLogic()
    for world in worlds_of(task, count=10):
        before = task.render(world)
        for shape, colour in product(("square", "circle", "triangle"), ("red", "blue")):
            after = task.render(
                task.change_world(world, {"figure2.object1.shape": shape, "figure2.object1.colour": colour})
            )
            x, y, radius = world.style["figures"][1][0]
            far = np.hypot(np.arange(196)[None] + 0.5 - x - 66, np.arange(64)[:, None] + 0.5 - y) > radius + 1.1
            assert (before.image[far] == after.image[far]).all() and (before.instances != 4)[far].all()


@pytest.mark.parametrize("background", ["white", "grey", "black"])
def test_a_line_between_figures_says_where_they_end_and_nothing_else(background):
    apart, touching = (KandLogic(background=background, gap=gap) for gap in (2, 0))
    lines = np.zeros(196, dtype=bool)
    lines[[64, 65, 130, 131]] = True
    for world in worlds_of(apart, count=20):
        picture, paper = apart.render(world), touching.render(world)
        line = picture.image[:, lines].reshape(-1, 3)
        assert (line == line[0]).all() and not picture.instances[:, lines].any()
        assert np.abs(line[0].astype(int) - picture.image[0, 0]).min() > 70  # no object reaches the corner
        assert (picture.image[:, ~lines] == paper.image).all() and paper.image.shape == (64, 192, 3)


def test_studies_of_the_paper_have_its_pictures_without_a_line():
    studies = [find_study(name, "paper") for name in ("rsbench-table-4", "rsbench-table-30")]
    tasks = [step.recipe.task for study in studies for step in study.datasets if "kand" in step.recipe.task.name]
    assert {task.layout.width for task in tasks if task.config.view == "figures"} == {192}


def test_the_object_view_has_a_square_for_each_object():
    figures, objects = KandLogic(), KandLogic(view="objects")
    assert (objects.layout.width, objects.layout.height) == (9 * 28, 28)
    boxes = [objects.layout.regions[slot.concept("shape")] for slot in objects.space.slots]
    for world in worlds_of(figures, count=10):
        cuts, whole = objects.render(world), figures.render(world)
        seen = [looked_at(box.crop(cuts.image), box.crop(cuts.instances) > 0) for box in boxes]
        assert seen == [looked_at(whole.image, whole.instances == number) for number in range(1, 10)]


def test_all_shapes_and_colours_and_backgrounds_differ_to_the_eye():
    names = {
        "shape": ["square", "circle", "triangle", "diamond", "pentagon", "hexagon", "star", "cross"],
        "colour": ["red", "yellow", "blue", "green", "orange", "purple", "cyan", "pink", "brown"],
    }
    look = {"shapes": names["shape"], "colours": names["colour"], "view": "objects"}
    task = KandLogic(figures=2, objects=1, pattern="object1.shape == 'star'", **look)
    world = worlds_of(task, count=1)[0]
    masks, inks = [], [(255, 255, 255), (0, 0, 0)]
    for shape in names["shape"]:
        mask = task.render(world.do({"figure1.object1.shape": shape})).instances == 1
        assert all((mask != other).sum() > 30 for other in masks)
        masks.append(mask)
    for colour in names["colour"]:
        picture = task.render(world.do({"figure1.object1.colour": colour}))
        inks.append(np.median(picture.image[picture.instances == 1], axis=0))
    apart = np.abs(np.array(inks)[:, None] - np.array(inks)).sum(axis=2)
    assert apart[~np.eye(len(inks), dtype=bool)].min() > 80


def test_more_than_255_objects_have_masks_of_their_own():
    task = KandLogic(figures=24, objects=16, pattern="object1.colour == 'red'")
    picture = task.render(worlds_of(task, count=1)[0])
    assert np.unique(picture.instances).tolist() == list(range(24 * 16 + 1))


# -- rsbench's settings, its faults, and our own patterns --------------------------------------------------------------


def test_rsbench_keys_give_rsbench_s_rule():
    task, found = split_codes("kand-logic", n=300, **RSBENCH)
    assert task.knowledge.diagram.counts[True,] == 162**3
    assert task.space.concept("figure1.object1.shape").values == ("circle", "square", "triangle")
    assert [len(found[name]) for name in ("train", "valid", "test", "ood")] == [300, 60, 90, 90]
    for codes in found.values():
        truth = [RULES["kand-logic-pairs"](world.reshape(3, 3, 2)) for world in codes]
        assert task.knowledge.labels_of(codes)[:, 0].tolist() == truth


def test_rsbench_combinations_are_the_worlds_of_training():
    settings = {**RSBENCH, "combinations_in_distribution": [TRUE_WORLD, FALSE_WORLD]}
    task, found = split_codes("kand-logic", n=40, **settings)
    listed = {}
    for fits, world in ((1, TRUE_WORLD), (0, FALSE_WORLD)):
        words = [word for figure in world for text in figure for word in reversed(text.split(", "))]
        listed[tuple(words)] = fits
    for codes in found["train"]:
        label = int(task.knowledge.labels_of(codes[None])[0, 0])
        assert listed[tuple(task.space.decode(codes).values())] == label
    inside = set(map(tuple, found["train"].tolist()))
    assert len(inside) == 2 and not inside & set(map(tuple, found["ood"].tolist()))
    assert np.bincount(task.knowledge.labels_of(found["ood"])[:, 0]).tolist() == [6, 6]


def test_rsbench_numbers_stand_for_colours_and_shapes():
    theirs = KandLogic(symbols=["s", "c"], logic="Eq(c, 1) & Ne(s, 5)", n_figures=2, n_shapes=1)
    ours = KandLogic(figures=2, objects=1, pattern="object1.colour == 'red' and object1.shape != 'circle'")
    assert str(theirs.rule) == str(ours.rule)


def test_as_released_worlds_are_sorted_by_the_rule_with_shapes_taken_for_colours():
    task = TASKS["kand-logic-pairs"](as_released=True)
    codes = class_indices(worlds_of(task, "test"))
    swapped = codes.reshape(-1, 9, 2)[:, :, ::-1].reshape(-1, 18)
    assert task.knowledge.labels_of(swapped).all() and 0 < task.knowledge.labels_of(codes).mean() < 1
    assert "hard" not in {split.name for split in task.splits()}


def test_as_released_the_default_rule_is_the_same_either_way():
    task = KandLogic(as_released=True)
    test, train = (task.knowledge.labels_of(class_indices(worlds_of(task, name, 200))) for name in ("test", "train"))
    assert test.all() and abs(train.mean() - 0.5) < 0.1


def test_own_patterns_and_aggregators():
    task = KandLogic(
        figures=2,
        patterns={"reds": "count(x.colour == 'red' for x in objects)"},
        aggregator="figure1.reds > figure2.reds",
    )
    codes = np.random.default_rng(0).integers(3, size=(500, 12))
    reds = (codes.reshape(500, 2, 3, 2)[..., 1] == 0).sum(axis=2)
    assert (task.knowledge.labels_of(codes)[:, 0] == (reds[:, 0] > reds[:, 1])).all()
    other = KandLogic(
        patterns={"plain": "same_shape and same_colour"},
        aggregator="at_least(2, figure1.plain, figure2.plain, figure3.plain)",
    )
    assert other.knowledge.diagram.counts[True,] == sum(
        9 ** len(some) * 720 ** (3 - len(some)) for n in (2, 3) for some in combinations(range(3), n)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pattern": "any(x.colour == 'green' for x in objects)"}, "no value 'green'; there is: blue, red, yellow"),
        ({"objects": 17}, "17 objects of radius 5.8 or more do not fit in 64 x 64 pixels, 16 do"),
        ({"shapes": ["square", "blob"]}, "shapes: no shape named 'blob'; there is: circle, cross"),
        ({"colors": ["red", "bleu"]}, "colours: no colour named 'bleu'; did you mean 'blue'?"),
        ({"colours": ["red", "red"]}, "colours: one or more different names"),
        ({"colors": ["red"], "colours": ["red"]}, "mean the same"),
        ({"pattern": "object4.shape == 'square'"}, "no concept named 'object4.shape'"),
        ({"pattern": "object1.shape +"}, "pattern 'pattern': .*cannot be read"),
        ({"pattern": "object1.shape == object1.colour"}, "no value in common"),
        ({"pattern": "same_shape", "patterns": {"pattern": "same_colour"}}, "'pattern' is given twice"),
        ({"patterns": {"same_shape": "same_colour"}}, "'same_shape' is there already"),
        ({"patterns": {"a b": "same_colour"}}, "'a b' is no name"),
        ({"aggregator": "all(f.same_color for f in figures)"}, "no pattern named 'figure1.same_color'; did you mean"),
        ({"aggregator": "all(f.same_shape for f in figure)"}, "aggregator: .*no group of slots named 'figure'"),
        ({"smallest": 0.3}, "largest: 11.5 pixels is less than the smallest radius, 19.2; raise it"),
        ({"side": 16}, "largest: 2.9 pixels is less than the smallest radius, 5.0"),
        ({"figures": 1}, "label 'y' is always True"),
        ({"logic": "Eq(a, b)"}, "logic needs symbols, a list of names, not None"),
        ({"logic": 3, "symbols": ["a"]}, "logic: expected a formula, not 3"),
        ({"logic": "Eq(a, 9)", "symbols": ["b", "a"]}, "cannot be compared: a symbol and a number"),
        ({"aggregator_logic": "p & q", "aggregator_symbols": ["p"]}, "no concept named 'q'"),
        ({"combinations_in_distribution": [[["red, square"]]]}, "has 1 objects, a picture has 9"),
        ({"combinations_in_distribution": [["red square"] * 8 + ["red, square"]]}, "'red square' is no object"),
        ({"combinations_in_distribution": [["red, blob"] * 9]}, "has no value 'blob'"),
        ({"background": "green"}, "background"),
        ({"puzzle": True, "figures": 1}, "puzzle: needs two figures or more"),
        ({"puzzle": True, "as_released": True}, "puzzle: needs two figures or more"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(AssayError, match=message) as caught:
        task = KandLogic(**settings)
        task.source_for(task.splits()[0], 0)
    assert "\n" not in str(caught.value)


def test_in_a_puzzle_either_attribute_tells_the_label():
    task = KandLogic(puzzle=True)
    assert sorted(split.name for split in task.splits()) == ["test", "train", "valid"]
    codes = class_indices(worlds_of(task, count=1800))
    labels = task.knowledge.labels_of(codes)[:, 0]
    assert abs(labels.mean() - 0.5) < 0.01
    for attribute in range(2):
        kinds = np.array([[kind(figure) for figure in row] for row in codes.reshape(-1, 3, 3, 2)[..., attribute]])
        assert (kinds[:, 0] == kinds[:, 1]).all() and ((kinds[:, 2] == kinds[:, 0]) == labels).all()
        assert np.bincount(kinds[:, 0], minlength=4)[1:].tolist() == [600, 600, 600]
    assert task.source_for(split_of(task, "test"), 0).contains(class_indices(worlds_of(task, "test"))).all()
