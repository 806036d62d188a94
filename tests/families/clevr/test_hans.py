"""CLEVR-Hans: its classes, what training shows with them, and what the unconfounded split shows."""

import numpy as np
import pytest

from assay.arrays import Array
from assay.config import Settings
from assay.data import Recipe, recipe_from
from assay.data.confounding.task import ConfoundedTask
from assay.data.shard import ShardWriter
from assay.errors import ConfigError
from assay.families.clevr.hans import ClevrHans
from assay.families.clevr.hans_classes import HANS3, HANS7, LEFT, RIGHT, HansClasses
from assay.logic import evaluate, parse
from assay.worlds import World

SMALL = {"objects": [3, 4], "width": 64, "height": 48, "quality": "draft"}
SIZES = {"train": 90, "valid": 0, "test": 60, "hard": 0, "pairs": 0}


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return recipe_from("clevr-hans", Settings({**SMALL, "splits": SIZES}))


def codes(recipe: Recipe, split: str) -> Array:
    size = next(part.size for part in recipe.splits if part.name == split)
    return ShardWriter(recipe).source(split).codes(np.arange(size))


def shows(recipe: Recipe, formula: str, worlds: Array) -> Array:
    return evaluate(parse(formula), recipe.task.space, worlds)


def test_each_scene_is_of_one_class_and_classes_are_balanced(recipe: Recipe) -> None:
    worlds = codes(recipe, "train")
    rules = np.stack([shows(recipe, rule, worlds) for rule in HANS3.rules], axis=1)
    assert (rules.sum(axis=1) == 1).all()
    labels = recipe.task.knowledge.labels_of(worlds)[:, 0]
    assert np.array_equal(rules.argmax(axis=1), labels) and np.bincount(labels).tolist() == [30, 30, 30]


def test_training_always_shows_the_confounder_and_the_published_test_set_does_not(recipe: Recipe) -> None:
    assert isinstance(recipe.task, ConfoundedTask)
    for number, (rule, (what, _)) in enumerate(HANS3.confounders.items()):
        shares = {}
        for split in ("train", "unconfounded", "reversed"):
            worlds = codes(recipe, split)
            mine = shows(recipe, rule, worlds)
            assert np.array_equal(mine, recipe.task.knowledge.labels_of(worlds)[:, 0] == number)
            shares[split] = float(shows(recipe, what, worlds)[mine].mean())
        assert shares["train"] == 1.0 and shares["reversed"] == 0.0 and 0.0 < shares["unconfounded"] < 0.9


def test_the_confounder_can_be_left_out(recipe: Recipe) -> None:
    plain = recipe_from("clevr-hans", Settings({**SMALL, "splits": SIZES, "confound": []}))
    assert not isinstance(plain.task, ConfoundedTask) and "unconfounded" not in [s.name for s in plain.splits]
    weak = recipe_from("clevr-hans", Settings({**SMALL, "strength": 0.5}))
    assert isinstance(weak.task, ConfoundedTask) and weak.task.confounders[0].strength == 0.5


# -- seven classes -----------------------------------------------------------------------------------------------------

SEVEN = {"classes": 7, "objects": [3, 7], "width": 64, "height": 48, "quality": "draft", "min_pixels": 20}


@pytest.fixture(scope="module")
def seven() -> Recipe:
    sizes = {"train": 42, "valid": 0, "test": 21, "pairs": 0}
    return recipe_from("clevr-hans", Settings({**SEVEN, "splits": sizes}))


@pytest.fixture(scope="module")
def scenes(seven: Recipe) -> dict[str, list[World]]:
    writer = ShardWriter(seven)
    return {split.name: writer.source(split.name).worlds(np.arange(split.size)) for split in seven.splits}


def codes_of(worlds: list[World]) -> Array:
    return np.array([world.codes for world in worlds])


def test_each_scene_of_seven_classes_keeps_the_rule_of_its_class_and_no_other(
    seven: Recipe, scenes: dict[str, list[World]]
) -> None:
    for worlds in scenes.values():
        found = codes_of(worlds)
        rules = np.stack([shows(seven, rule, found) for rule in HANS7.rules], axis=1)
        labels = seven.task.knowledge.labels_of(found)[:, 0]
        assert (rules.sum(axis=1) == 1).all() and np.array_equal(rules.argmax(axis=1), labels)
        assert seven.task.knowledge.can_be(found).all()
        assert np.bincount(labels).tolist() == [len(worlds) // 7] * 7


def by_hand(world: World, number: int) -> bool:
    """The released class files, said again without formulas."""
    slots = [slot for slot in world.space.slots if world[slot.concepts[0]] != "absent"]
    things = [{name: world[slot.concept(name)] for name in slot.attributes} for slot in slots]

    def count(**wanted: object) -> int:
        return sum(all(thing[key] == value for key, value in wanted.items()) for thing in things)

    reds = [thing["row"] for thing in things if thing["colour"] == "red"]
    front = [sum(row > thing["row"] for row in reds) for thing in things if thing["colour"] == "cyan"]
    small = {colour: count(size="small", colour=colour) for colour in ("brown", "green", "purple")}
    left = count(shape="sphere", side="left") >= 3
    right = count(shape="cylinder", material="metal", side="right") >= 3
    return (
        count(shape="cube", size="large") > 0 and count(shape="cylinder", size="large") > 0,
        count(shape="cube", size="small", material="metal") > 0 and count(shape="sphere", size="small") > 0,
        max(front, default=0) >= 2,
        count(size="small") >= 5 and min(small.values()) > 0,
        left,
        right and not left,
        count(shape="sphere", size="large", colour="blue") > 0 and count(shape="sphere", size="small", colour="yellow") > 0,
    )[number]  # fmt: skip


def test_the_formulas_are_the_released_class_files(seven: Recipe, scenes: dict[str, list[World]]) -> None:
    for world in [world for worlds in scenes.values() for world in worlds]:
        label = int(seven.task.knowledge.labels_of(codes_of([world]))[0, 0])
        assert [by_hand(world, number) for number in range(7)] == [number == label for number in range(7)]


def test_sides_and_rows_are_where_objects_stand_in_the_picture(seven: Recipe, scenes: dict[str, list[World]]) -> None:
    assert isinstance(seven.task, ConfoundedTask)
    task = seven.task.base
    assert isinstance(task, ClevrHans)
    for world in scenes["train"][:20]:
        objects, view = task.objects_of(world), task.view(world)
        seen = view.project(np.array([[*one.spot[:2], 0.0] for one in objects]))
        names = [one.name for one in objects]
        assert (np.diff(seen[:, 0]) > 0).all() and np.diff(np.sort(seen[:, 2])).min() >= 0.1
        assert [world[f"{name}.side"] for name in names] == [
            "left" if x < view.width / 2 else "right" for x in seen[:, 0]
        ]
        assert [world[f"{name}.row"] for name in names] == (1 + np.argsort(np.argsort(seen[:, 2]))).tolist()
        picture = task.render(world)
        middles = [(thing.box.left + thing.box.right) / 2 for thing in picture.things]
        assert [x < view.width / 2 for x in middles] == [world[f"{name}.side"] == "left" for name in names]


def test_training_confounds_four_of_seven_classes_and_the_published_test_set_does_not(
    seven: Recipe, scenes: dict[str, list[World]]
) -> None:
    for rule, (what, share) in HANS7.confounders.items():
        shares = {}
        for split, worlds in scenes.items():
            found = codes_of(worlds)
            mine = shows(seven, rule, found)
            assert np.array_equal(mine, seven.task.knowledge.labels_of(found)[:, 0] == HANS7.rules.index(rule))
            shares[split] = float(shows(seven, what, found)[mine].mean())
        assert shares["reversed"] == 0.0 and shares["unconfounded"] < 0.9, rule
        assert shares["train"] == 1.0 if share == 1.0 else 0.6 <= shares["train"] < 1.0, rule
    planted = {entry["with"]: entry["strength"] for entry in seven.task.planted}
    assert planted[LEFT] == 0.9 and set(planted.values()) == {0.9, 1.0}


def test_scenes_of_seven_classes_are_the_same_again_and_do_not_move(
    seven: Recipe, scenes: dict[str, list[World]]
) -> None:
    again = ShardWriter(seven).source("train").worlds(np.array([5, 3]))
    assert again == [scenes["train"][5], scenes["train"][3]]
    task, world = seven.task, scenes["train"][0]
    colour = "red" if world["object1.colour"] != "red" else "blue"
    changed = task.change_world(world, {"object1.colour": colour})
    assert changed is not None and changed["object1.colour"] == colour and changed.style == world.style
    side = "left" if world["object1.side"] == "right" else "right"
    assert task.change_world(world, {"object1.side": side}) is None
    assert task.change_world(world, {"object1.colour": "absent"}) is None
    assert "hard" not in [split.name for split in seven.splits]


def test_both_rules_of_class_five_occur_in_the_published_test_set(seven: Recipe) -> None:
    assert isinstance(seven.task, ConfoundedTask)
    split = next(split for split in seven.task.base.splits() if split.name == "test")
    source = seven.task.base.worlds_in(split, 0)
    found = codes_of(source.worlds(np.arange(140)))
    five = shows(seven, LEFT, found)
    assert five.sum() == 20 and shows(seven, RIGHT, found)[five].sum() == 10  # half and half, as the class file says


def test_settings_that_seven_classes_cannot_have_are_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match="have up to 6 objects or more"):
        recipe_from("clevr-hans", Settings({"classes": 7, "objects": [3, 5]})).task
    with pytest.raises(ConfigError, match="drawn evenly over classes"):
        recipe_from("clevr-hans", Settings({"classes": 7, "balance": "world"})).task
    with pytest.raises(ConfigError, match="classes"):
        recipe_from("clevr-hans", Settings({"classes": 5})).task


def test_a_rule_of_ones_own_goes_before_that_of_seven_classes() -> None:
    rule = "any(x.side == 'left' for x in objects)"
    task = recipe_from("clevr-hans", Settings({"classes": 7, "rule": rule, "confound": []})).task
    assert isinstance(task, ClevrHans) and task.config.rule == rule and isinstance(task.classes, HansClasses)
