"""Kandinsky patterns: the paper's rules by number, balanced splits, pictures that show their concepts, rsbench's keys."""

import io
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assay.config import Settings
from assay.counting import count_readings
from assay.data import Dataset, Recipe, make, recipe_from
from assay.data.shard import ShardWriter
from assay.errors import AssayError
from assay.families.kandinsky.shapes import COLOURS
from assay.families.kandinsky.task import KandLogic, KandLogicAnd
from assay.render import Box
from assay.render.picture import boxes_of
from assay.seeds import rng_for
from assay.studies import find_study
from assay.tasks import TASKS
from assay.testing import check_task, require

KandLogicPairs = TASKS["kand-logic-pairs"]
PAIRS = (  # of rsbench's own kandinksy.yml
    "(Eq(color_1, color_2) & Eq(shape_1, shape_2) & Ne(shape_1, shape_3)) | "
    "(Eq(color_1, color_3) & Eq(shape_1, shape_3) & Ne(shape_1, shape_2)) | "
    "(Eq(color_2, color_3) & Eq(shape_2, shape_3) & Ne(shape_1, shape_3))"
)
RSBENCH: dict[str, Any] = {
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


def recipe(task: str = "kand-logic", **settings: object) -> Recipe:
    return recipe_from(task, Settings(settings))


def drawn(held: Recipe) -> dict[str, tuple[np.ndarray, list[Any]]]:
    writer = ShardWriter(held)
    worlds = {split.name: writer.worlds(split, np.arange(split.size)) for split in held.splits}
    return {name: (np.array([world.codes for world in found]), found) for name, found in worlds.items()}


def training(held: Recipe) -> tuple[np.ndarray, list[Any]]:
    """Return the codes and worlds of the training split alone: the hard one is chosen from a large pool."""
    split = held.splits[0]
    worlds = ShardWriter(held).worlds(split, np.arange(split.size))
    return np.array([world.codes for world in worlds]), worlds


def kind(values: np.ndarray) -> int:
    """Return how many different values there are, 2 standing for neither one nor as many as places."""
    different = len(set(values.tolist()))
    return 1 if different == 1 else 3 if different == len(values) else 2


def alike(world: np.ndarray) -> tuple[bool, bool]:
    """Return whether all figures of a world, an array of figures x objects x 2, have one kind of shapes, of colours."""
    return tuple(len({kind(figure[:, a]) for figure in world}) == 1 for a in (0, 1))  # type: ignore[return-value]


def paired(figure: np.ndarray) -> bool:
    return any(
        (figure[i] == figure[j]).all() and figure[k, 0] != figure[i, 0] for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
    )


RULES = {
    KandLogic: lambda world: any(alike(world)),
    KandLogicAnd: lambda world: all(alike(world)),
    KandLogicPairs: lambda world: all(paired(figure) for figure in world),
}
POSITIVE = {KandLogic: 2 * 6075 * 19683 - 6075**2, KandLogicAnd: 6075**2, KandLogicPairs: 162**3}  # 6^3 + 18^3 + 3^3


@pytest.mark.parametrize(
    "task", [KandLogic, *(pytest.param(t, marks=pytest.mark.slow) for t in RULES if t != KandLogic)]
)
def test_presets_keep_the_laws(task: type[KandLogic]) -> None:
    require(check_task(task()), task.name)


@pytest.mark.parametrize(
    "settings",
    [
        {"view": "objects", "prop_in_distribution": 0.7},
        {"figures": 2, "objects": 5, "side": 96, "background": "grey", "masks": False},
        {"figures": 1, "pattern": "any(x.shape == y.shape for x, y in pairs(objects))", "side": 200},
        {"figures": 2, "shapes": ["star", "cross"], "colours": ["green", "pink", "brown"]},
    ],
)
def test_other_settings_keep_the_laws(settings: dict[str, Any]) -> None:
    require(check_task(KandLogic(**settings)), str(settings))


@pytest.mark.parametrize("task", RULES)
def test_the_rules_are_the_papers(task: type[KandLogic]) -> None:
    knowledge = task().knowledge
    assert knowledge.diagram.counts[True,] == POSITIVE[task] and knowledge.space.worlds == 9**9
    assert knowledge.diagram.size < 300
    codes = rng_for(0, "worlds").integers(3, size=(3000, 18))
    codes[::2] = training(Recipe(task.name, Settings({}), sizes=(("train", 1500),)))[0]
    labels = [RULES[task](world.reshape(3, 3, 2)) for world in codes]
    assert knowledge.labels_of(codes)[:, 0].tolist() == labels


@pytest.mark.parametrize("figures", [2, 3])
def test_36_readings_fit_the_default_rule(figures: int) -> None:
    found = count_readings(KandLogic(figures=figures).knowledge)
    assert found.total == 36 and found.worlds is None


@pytest.mark.parametrize("task", RULES)
def test_both_labels_occur_equally_often_and_held_out_worlds_are(task: type[KandLogic]) -> None:
    held = recipe(task.name, n=400, prop_in_distribution=0.6)
    found = drawn(held)
    assert {name: len(codes) for name, (codes, _) in found.items() if name != "hard"} == {
        **{"train": 400, "valid": 100, "test": 100, "ood": 100}
    }
    for name in ("train", "valid", "test", "ood"):
        assert (
            np.bincount(held.task.knowledge.labels_of(found[name][0])[:, 0]).tolist() == [len(found[name][0]) // 2] * 2
        )
    inside = {tuple(row) for name in ("train", "valid", "test") for row in found[name][0].tolist()}
    assert not inside & set(map(tuple, found["ood"][0].tolist()))


def test_sizes_are_the_papers() -> None:
    sizes = {split.name: split.size for split in recipe().splits}
    assert (sizes["train"], sizes["valid"], sizes["test"]) == (4000, 1000, 1000) and "ood" not in sizes


def test_the_encoders_read_all_shapes_and_all_colours() -> None:
    space = KandLogic(figures=2).space
    assert [(group.name, len(group.concepts)) for group in space.encoders] == [("shape", 6), ("colour", 6)]
    assert [slot.name for slot in space.groups["figure2"]] == [f"figure2.object{i}" for i in (1, 2, 3)]


# -- pictures ----------------------------------------------------------------------------------------------------------


def looked_at(image: np.ndarray, mask: np.ndarray) -> tuple[str, str]:
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
    return shape, min(("red", "yellow", "blue"), key=lambda name: float(np.abs(shown - COLOURS[name]).sum()))


@pytest.mark.parametrize("settings", [{}, {"side": 32}, {"objects": 8}, {"background": "black"}, {"view": "objects"}])
def test_pictures_show_their_concepts(settings: dict[str, Any]) -> None:
    held = recipe(n=30, **settings)
    for world in training(held)[1]:
        picture = held.task.render(world)
        assert picture.instances is not None and picture.things == boxes_of(
            picture.instances, [t.name for t in picture.things]
        )
        assert [thing.name for thing in picture.things] == [slot.name for slot in held.task.space.slots]
        for number, thing in enumerate(picture.things, start=1):
            seen = looked_at(picture.image, picture.instances == number)
            assert seen == (world[f"{thing.name}.shape"], world[f"{thing.name}.colour"])


def test_objects_are_numbered_by_their_distance_from_the_corner_of_their_figure() -> None:
    held = recipe(n=50)
    for world in training(held)[1]:
        for spots in world.style["figures"]:
            distances = [x * x + y * y for x, y, _ in spots]
            assert distances == sorted(distances)
        boxes = [thing.box for thing in held.task.render(world).things]
        for number, box in enumerate(boxes):
            x, y, radius = world.style["figures"][number // 3][number % 3]
            x += 66 * (number // 3)
            assert box.left <= x <= box.right and box.top <= y <= box.bottom and box.right - box.left <= 2 * radius + 1


def test_a_changed_object_leaves_the_other_pixels() -> None:
    held = recipe()
    for world in training(recipe(n=10))[1]:
        before = held.task.render(world)
        for shape, colour in product(("square", "circle", "triangle"), ("red", "blue")):
            changes = {"figure2.object1.shape": shape, "figure2.object1.colour": colour}
            other = held.task.change_world(world, changes)
            assert other is not None
            after = held.task.render(other)
            x, y, radius = world.style["figures"][1][0]
            far = np.hypot(np.arange(196)[None] + 0.5 - x - 66, np.arange(64)[:, None] + 0.5 - y) > radius + 1.1
            assert (before.image[far] == after.image[far]).all() and (before.instances != 4)[far].all()  # type: ignore[operator]


@pytest.mark.parametrize("background", ["white", "grey", "black"])
def test_a_line_between_figures_says_where_they_end_and_nothing_else(background: str) -> None:
    worlds = training(recipe(n=20))[1]
    apart, touching = (KandLogic(background=background, gap=gap) for gap in (2, 0))
    lines = np.zeros(196, dtype=bool)
    lines[[64, 65, 130, 131]] = True
    for world in worlds:
        picture, paper = apart.render(world), touching.render(world)
        assert picture.instances is not None and not picture.instances[:, lines].any()
        line = picture.image[:, lines].reshape(-1, 3)
        assert (line == line[0]).all() and np.abs(line[0].astype(int) - apart.empty[background][0, 0]).min() > 70
        assert (picture.image[:, ~lines] == paper.image).all() and paper.image.shape == (64, 192, 3)


@pytest.mark.parametrize("study", ["rsbench-table-4", "rsbench-table-30"])
def test_studies_of_the_paper_have_its_pictures_without_a_line(study: str) -> None:
    tasks = [step.recipe.task for step in find_study(study, "paper").datasets]
    widths = {task.layout.width for task in tasks if task.config.view == "figures"}
    assert widths == {192}


def test_styles_do_not_depend_on_the_concepts() -> None:
    task = KandLogic()
    styles = [task.style(rng_for(0, "style"), codes, "train") for codes in ([0] * 18, [2] * 18)]
    assert styles[0] == styles[1]


def test_the_object_view_has_a_square_for_each_object() -> None:
    task = KandLogic(view="objects")
    assert (task.layout.width, task.layout.height) == (9 * 28, 28)
    assert task.layout.regions["figure2.object1.shape"] == task.layout.regions["figure2.object1.colour"]
    figures, objects = KandLogic(), task
    for world in training(recipe(n=10))[1]:
        seen = [looked_at(*cut) for cut in _cuts(objects, world)]
        masks = figures.render(world)
        assert masks.instances is not None
        assert seen == [looked_at(masks.image, masks.instances == number) for number in range(1, 10)]


def _cuts(task: KandLogic, world: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    picture = task.render(world)
    boxes = [task.layout.regions[slot.concept("shape")] for slot in task.slots]
    assert picture.instances is not None
    return [(box.crop(picture.image), box.crop(picture.instances) > 0) for box in boxes]


def test_more_than_255_objects_have_masks_of_their_own() -> None:
    task = KandLogic(figures=24, objects=16, pattern="object1.colour == 'red'")
    world = task.worlds_in(task.splits()[0], 0).worlds(np.arange(1))[0]
    picture = task.render(world)
    assert picture.instances is not None
    assert np.unique(picture.instances).tolist() == list(range(24 * 16 + 1))
    assert picture.things == boxes_of(picture.instances, [thing.name for thing in picture.things])


def test_boxes_and_masks_are_on_disk(tmp_path: Path) -> None:
    held = recipe(n=20)
    make(held, tmp_path / "data")
    assert Dataset.open(tmp_path / "data")["train"].images.shape == (20, 64, 196, 3)
    rows = pq.read_table(tmp_path / "data" / "train" / "part-00000.parquet").to_pylist()
    for row in rows:
        instances = np.array(Image.open(io.BytesIO(row["instances"]["bytes"])))
        names = [thing["name"] for thing in row["things"]]
        assert names == [slot.name for slot in held.task.space.slots]
        assert [Box(**{k: v for k, v in thing.items() if k != "name"}) for thing in row["things"]] == [
            thing.box for thing in boxes_of(instances, names)
        ]
    assert recipe(n=20, masks=False).task.columns == ("image",)


# -- rsbench's settings, and our own patterns --------------------------------------------------------------------------


def test_rsbench_keys_give_rsbench_s_rule() -> None:
    held = recipe(n=300, **RSBENCH)
    assert held.task.knowledge.diagram.counts[True,] == 162**3
    assert held.task.space.concept("figure1.object1.shape").values == ("circle", "square", "triangle")
    found = drawn(held)
    assert {name: len(codes) for name, (codes, _) in found.items() if name != "hard"} == {
        **{"train": 300, "valid": 60, "test": 90, "ood": 90}
    }
    for codes, _ in found.values():
        truth = [RULES[KandLogicPairs](world.reshape(3, 3, 2)) for world in codes]
        assert held.task.knowledge.labels_of(codes)[:, 0].tolist() == truth


def test_rsbench_combinations_are_the_worlds_of_training() -> None:
    held = recipe(n=40, **RSBENCH, combinations_in_distribution=[TRUE_WORLD, FALSE_WORLD])
    found = drawn(held)
    shown = [TRUE_WORLD, FALSE_WORLD]
    for world in found["train"][1]:
        objects = [f"{world[f'{slot.name}.colour']}, {world[f'{slot.name}.shape']}" for slot in held.task.space.slots]
        fits = bool(held.task.knowledge.labels_of(np.array([world.codes]))[0, 0])
        assert [objects[i : i + 3] for i in (0, 3, 6)] == shown[0 if fits else 1]
    inside = set(map(tuple, found["train"][0].tolist()))
    assert len(inside) == 2 and not inside & set(map(tuple, found["ood"][0].tolist()))
    assert np.bincount(held.task.knowledge.labels_of(found["ood"][0])[:, 0]).tolist() == [6, 6]


def test_rsbench_numbers_stand_for_colours_and_shapes() -> None:
    own = {"symbols": ["s", "c"], "logic": "Eq(c, 1) & Ne(s, 5)", "n_figures": 2, "n_shapes": 1}
    task = KandLogic(**own)
    assert str(task.rule) == str(
        KandLogic(figures=2, objects=1, pattern="object1.colour == 'red' and object1.shape != 'circle'").rule
    )


def test_own_patterns_and_aggregators() -> None:
    task = KandLogic(
        figures=2,
        patterns={"reds": "count(x.colour == 'red' for x in objects)"},
        aggregator="figure1.reds > figure2.reds",
    )
    codes = rng_for(0, "own").integers(3, size=(500, 12)).reshape(500, 2, 3, 2)
    reds = (codes[..., 1] == 0).sum(axis=2)
    assert (task.knowledge.labels_of(codes.reshape(500, 12))[:, 0] == (reds[:, 0] > reds[:, 1])).all()
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
        ({"pattern": "any(x.colour == 'green' for x in objects)"}, "pattern 'pattern': .*no value 'green'; there is: blue, red, yellow"),
        ({"objects": 17}, "17 objects of radius 5.8 or more do not fit in 64 x 64 pixels, 16 do; lower 'objects' or 'smallest', or raise 'side'"),
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
        ({"aggregator": "all(f.same_color for f in figures)"}, "aggregator: no pattern named 'figure1.same_color'; did you mean"),
        ({"aggregator": "all(f.same_shape for f in figure)"}, "aggregator: .*no group of slots named 'figure'"),
        ({"aggregator": "figure1.pattern"}, "no pattern named 'figure1.pattern'"),
        ({"smallest": 0.3}, "largest: 11.5 pixels is less than the smallest radius, 19.2; raise it"),
        ({"side": 16}, "largest: 2.9 pixels is less than the smallest radius, 5.0"),
        ({"side": 32, "objects": 5}, "5 objects of radius 5.0 or more do not fit in 32 x 32 pixels, 4 do"),
        ({"figures": 1}, "label 'y' is always True"),
        ({"logic": "Eq(a, b)"}, "logic needs symbols, a list of names, not None"),
        ({"logic": 3, "symbols": ["a"]}, "logic: expected a formula, not 3"),
        ({"logic": "Eq(a, 9)", "symbols": ["b", "a"]}, "cannot be compared: a symbol and a number"),
        ({"aggregator_logic": "p & q", "aggregator_symbols": ["p"]}, "no concept named 'q'"),
        ({"combinations_in_distribution": [[["red, square"]]]}, "has 1 objects, a picture has 9"),
        ({"combinations_in_distribution": [["red square"] * 8 + ["red, square"]]}, "'red square' is no object"),
        ({"combinations_in_distribution": [["red, blob"] * 9]}, "has no value 'blob'"),
        ({"background": "green"}, "background"),
        ({"size": 3}, "unknown key 'size'"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        task = KandLogic(**settings)
        task.worlds_in(task.splits()[0], 0)
    assert "\n" not in str(caught.value)


def test_in_a_puzzle_either_attribute_tells_the_label() -> None:
    task = KandLogic(None, puzzle=True)
    splits = {split.name: split for split in task.splits()}
    assert sorted(splits) == ["test", "train", "valid"]
    codes = task.worlds_in(splits["train"], 0).codes(np.arange(1800))
    labels = task.knowledge.labels_of(codes)[:, 0]
    assert abs(labels.mean() - 0.5) < 0.01
    for attribute in range(2):
        kinds = np.array([[len(set(figure)) for figure in row] for row in codes.reshape(-1, 3, 3, 2)[..., attribute]])
        assert (kinds[:, 0] == kinds[:, 1]).all() and ((kinds[:, 2] == kinds[:, 0]) == labels).all()
        assert np.bincount(kinds[:, 0], minlength=4)[1:].tolist() == [600, 600, 600]
    others = task.worlds_in(splits["test"], 0).codes(np.arange(50))
    assert task.worlds_in(splits["test"], 0).contains(others).all()


@pytest.mark.parametrize("settings", [{"figures": 1}, {"as_released": True}])
def test_a_puzzle_needs_figures_and_is_not_as_released(settings: dict[str, Any]) -> None:
    with pytest.raises(AssayError, match="puzzle: needs two figures or more"):
        KandLogic(None, puzzle=True, **settings)
