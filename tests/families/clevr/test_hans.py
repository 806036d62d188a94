"""CLEVR-Hans: its classes, what training shows with them, and what the unconfounded split shows."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from assay.base import ConfigError, Settings
from assay.dataset import ShardWriter, recipe_from
from assay.logic import evaluate, parse
from assay.tasks import TASKS

SMALL = {"width": 64, "height": 48, "quality": "draft"}
SETTINGS = {
    3: {"objects": [3, 4], "splits": {"train": 60, "valid": 0, "test": 30, "hard": 0, "pairs": 0}},
    7: {"objects": [3, 7], "classes": 7, "min_pixels": 20, "splits": {"train": 42, "valid": 0, "test": 21, "pairs": 0}},
}


def some(scene, number=1, **facts):
    """Return whether so many objects have these values."""
    return sum(all(one[name] == value for name, value in facts.items()) for one in scene) >= number


def in_front(scene, **facts):
    """Return whether a cyan object with these values stands in front of two red ones."""
    reds = [one["row"] for one in scene if one["colour"] == "red"]
    cyan = [one for one in scene if one["colour"] == "cyan" and all(one[name] == facts[name] for name in facts)]
    return any(sum(one["row"] < row for row in reds) >= 2 for one in cyan)


def right(scene):
    return some(scene, 3, shape="cylinder", material="metal", side="right")


def left(scene):
    return some(scene, 3, shape="sphere", side="left")


RULES = (  # the released class files of CLEVR-Hans7, said again without formulas
    lambda s: some(s, size="large", shape="cube") and some(s, size="large", shape="cylinder"),
    lambda s: some(s, size="small", shape="cube", material="metal") and some(s, size="small", shape="sphere"),
    in_front,
    lambda s: some(s, 5, size="small") and all(some(s, size="small", colour=c) for c in ("brown", "green", "purple")),
    left,
    lambda s: right(s) and not left(s),
    lambda s: (
        some(s, size="large", shape="sphere", colour="blue") and some(s, size="small", shape="sphere", colour="yellow")
    ),
)
CONFOUNDERS = {
    0: (lambda s: some(s, size="large", shape="cube", colour="gray"), 1.0),
    1: (lambda s: some(s, size="small", shape="sphere", material="metal"), 1.0),
    2: (lambda s: in_front(s, size="small", shape="cube"), 1.0),
    4: (lambda s: not right(s), 0.9),
}
CLASSES = {3: (0, 1, 6), 7: tuple(range(7))}
"""Which of the seven classes there are."""


def objects_of(space, row):
    """Return the objects that are there, each by the names of its attributes."""
    values = space.decode(row)
    things = [{name: values[slot.concept(name)] for name in slot.attributes} for slot in space.slots]
    return [one for one in things if one["colour"] != "absent"]


def random_scenes(space, number=800):
    """Return rows of scenes of which every rule holds now and then: some colours are more frequent, many are small."""
    rng, columns = np.random.default_rng(2), []
    for concept in space.concepts:
        values = [value for value in concept.values if value != "absent"]
        weights = np.array([{"red": 5.0, "cyan": 4.0, "small": 4.0}.get(value, 2.0) for value in values])
        columns.append(rng.choice(len(values), number, p=weights / weights.sum()))
    return np.stack(columns, axis=1)


@cache
def made(classes):
    """Return the recipe of three or of seven classes and the worlds of each split."""
    recipe = recipe_from("clevr-hans", Settings({**SMALL, **SETTINGS[classes]}))
    writer = ShardWriter(recipe)
    return recipe, {split.name: writer.source(split.name).worlds(np.arange(split.size)) for split in recipe.splits}


@pytest.fixture(scope="module")
def six():
    """Seven classes of six objects, and random scenes; the rule of the task, which takes seconds to check, is not used."""
    task = TASKS["clevr-hans"](classes=7, objects=(6, 6), rule="1 if object1.shape == 'cube' else 2")
    codes = random_scenes(task.space)
    return task, codes, [objects_of(task.space, row) for row in codes]


@pytest.mark.parametrize("number", range(7))
def test_rules_and_confounders_are_those_of_the_released_class_files(six, number):
    task, codes, scenes = six
    rule = task.classes.rules[number]
    formulas = [(rule, RULES[number])]
    if number in CONFOUNDERS:
        what, strength = task.classes.confounders[rule]
        assert strength == CONFOUNDERS[number][1]
        formulas.append((what, CONFOUNDERS[number][0]))
    assert len(task.classes.confounders) == len(CONFOUNDERS)
    for formula, test in formulas:
        expected = np.array([test(scene) for scene in scenes])
        assert 0 < expected.sum() < len(expected)
        assert (evaluate(parse(formula), task.space, codes) == expected).all()


@pytest.mark.parametrize("classes", [3, 7])
def test_each_scene_keeps_the_rule_of_its_class_and_no_other_and_classes_are_balanced(classes):
    recipe, splits = made(classes)
    for worlds in splits.values():
        codes = np.array([world.codes for world in worlds]).reshape(-1, len(recipe.task.space))
        labels = recipe.task.knowledge.labels_of(codes)[:, 0].tolist()
        assert recipe.task.knowledge.can_be(codes).all()
        for row, label in zip(codes, labels, strict=True):
            scene = objects_of(recipe.task.space, row)
            assert [RULES[number](scene) for number in CLASSES[classes]] == [n == label for n in range(classes)]
        assert np.bincount(labels, minlength=classes).tolist() == [len(worlds) // classes] * classes


@pytest.mark.parametrize("classes", [3, 7])
def test_training_shows_the_confounders_and_the_published_test_set_does_not(classes):
    recipe, splits = made(classes)
    for label, number in enumerate(CLASSES[classes]):
        if number not in CONFOUNDERS:
            continue
        test, share = CONFOUNDERS[number]
        shown = {}
        for split, worlds in splits.items():
            codes = np.array([world.codes for world in worlds]).reshape(-1, len(recipe.task.space))
            mine = recipe.task.knowledge.labels_of(codes)[:, 0] == label
            shown[split] = np.mean([test(objects_of(recipe.task.space, row)) for row in codes[mine]])
        assert shown["reversed"] == 0.0 and shown["unconfounded"] < 0.9
        assert shown["train"] == 1.0 if share == 1.0 else 0.6 <= shown["train"] < 1.0


def test_three_classes_are_among_the_seven():
    three, seven = (TASKS["clevr-hans"](classes=number, objects=(3, 6)) for number in (3, 7))
    assert three.classes.rules == tuple(seven.classes.rules[number] for number in CLASSES[3])
    assert "seven classes" in seven.summary and "three classes" in three.summary


def test_the_confounder_can_be_left_out_or_weakened():
    plain = recipe_from("clevr-hans", Settings({**SMALL, **SETTINGS[3], "confound": []}))
    assert not {"unconfounded", "reversed"} & {split.name for split in plain.splits}
    for settings, strengths in (({}, [1.0, 1.0]), ({"strength": 0.95}, [0.95, 0.95])):
        task = TASKS["clevr-hans"](objects=(3, 4), **settings)
        assert [one["strength"] for one in task.planted] == strengths
    seven = TASKS["clevr-hans"](classes=7, objects=(3, 6), strength=0.95)
    assert [one["strength"] for one in seven.planted] == [0.95, 0.95, 0.95, 0.9]  # never more than published


# -- seven classes, whose rules ask where objects stand ----------------------------------------------------------------


def test_sides_and_rows_are_where_objects_stand_in_the_picture():
    recipe, splits = made(7)
    task = TASKS["clevr-hans"](**{key: value for key, value in {**SMALL, **SETTINGS[7]}.items() if key != "splits"})
    for world in splits["train"][:20]:
        objects, view = task.objects_of(world), task.view(world)
        seen = view.project(np.array([[*one.spot[:2], 0.0] for one in objects]))
        sides = ["left" if x < view.width / 2 else "right" for x in seen[:, 0]]
        assert (np.diff(seen[:, 0]) > 0).all() and np.diff(np.sort(seen[:, 2])).min() >= 0.1
        assert [world[f"{one.name}.side"] for one in objects] == sides
        assert [world[f"{one.name}.row"] for one in objects] == (1 + np.argsort(np.argsort(seen[:, 2]))).tolist()
        boxes = [thing.box for thing in recipe.task.render(world).things]
        assert [box.left + box.right < view.width for box in boxes] == [side == "left" for side in sides]


def test_scenes_are_the_same_again_and_nothing_can_move_leave_or_join():
    recipe, splits = made(7)
    assert ShardWriter(recipe).source("train").worlds(np.array([5, 3])) == [splits["train"][5], splits["train"][3]]
    world = next(one for one in splits["train"] if one["object7.colour"] == "absent")
    colour, side = ("red" if world["object1.colour"] != "red" else "blue"), world["object1.side"]
    changed = recipe.task.change_world(world, {"object1.colour": colour, "object1.side": side})
    assert changed["object1.colour"] == colour and changed.style == world.style
    others = {"object1.side": "left" if side == "right" else "right", "object1.row": world["object1.row"] % 3 + 1}
    for concept, value in {**others, "object1.colour": "absent", "object7.size": "small"}.items():
        assert recipe.task.change_world(world, {concept: value}) is None
    assert "hard" not in splits


def test_objects_are_numbered_from_left_to_right_each_in_a_row_of_its_own():
    task = TASKS["clevr-hans"](classes=7, objects=(4, 6), rule="1 if object1.shape == 'cube' else 2")
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(3, 7))
        sides = [("left", "right")[rng.random() < (place + 0.5) / count] for place in range(count)]
        rows = [place + 1 for place in rng.permutation(6)[:count]] if rng.random() < 0.7 else rng.integers(1, 7, count)
        values = [
            v for side, row in zip(sides, rows, strict=True) for v in ("red", "cube", "metal", "large", side, int(row))
        ]
        values += ["absent"] * (36 - len(values))
        lawful = (
            count >= 4
            and len({*map(int, rows)}) == count
            and all(not (a == "right" and b == "left") for a, b in pairwise(sides))
        )
        codes = task.space.encode([dict(zip(task.space.names, values, strict=True))])
        assert bool(task.knowledge.can_be(codes)[0]) is lawful


def test_both_rules_of_class_five_occur_in_the_published_test_set():
    task = TASKS["clevr-hans"](**SMALL, classes=7, objects=(3, 7), min_pixels=20)
    split = next(split for split in task.splits() if split.name == "test")
    codes = task.source_for(split, 0).codes(np.arange(70))
    five = [scene for scene in (objects_of(task.space, row) for row in codes) if left(scene)]
    assert len(five) == 10 and sum(map(right, five)) == 5  # half and half, as the class file says


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objects": [3, 5], "classes": 7}, "have up to 6 objects or more"),
        ({"balance": "world", "classes": 7}, "drawn evenly over classes"),
        ({"classes": 5}, "classes"),
    ],
)
def test_settings_that_classes_cannot_have_are_refused_in_one_line(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        TASKS["clevr-hans"](**settings)
    assert "\n" not in str(caught.value)


def test_a_scene_of_seven_classes_cannot_be_placed_for_given_concepts():
    task = TASKS["clevr-hans"](classes=7, objects=(3, 7))
    with pytest.raises(ConfigError, match="stands where its concepts say"):
        task.style(np.random.default_rng(2), (), "train")


def test_a_rule_of_ones_own_goes_before_that_of_seven_classes():
    rule = "any(x.side == 'left' for x in objects)"
    assert TASKS["clevr-hans"](classes=7, rule=rule).config.rule == rule
