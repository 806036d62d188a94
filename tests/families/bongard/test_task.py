"""Bongard problems: one test separates the sides, the label follows from it, and figures show what they are."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import ConvexHull

from assay.base import ConfigError
from assay.tasks import TASKS
from tests.families.drawn import class_indices, split_of, worlds_of

Bongard = TASKS["bongard"]
ATTRIBUTES = ("curved", "closed", "convex", "sides")
TESTS = {
    "curved": lambda figure: figure["curved"],
    "closed": lambda figure: figure["closed"],
    "convex": lambda figure: figure["convex"],
    "four_sides": lambda figure: figure["sides"] == 4,
    "six_sides": lambda figure: figure["sides"] == 6,
}


def figures_of(world):
    return [{name: world[f"{slot.name}.{name}"] for name in ATTRIBUTES} for slot in world.space.slots]


def separating(lefts, rights):
    """Return the tests that hold of all figures on one side and of none on the other."""
    held = {name: ({test(one) for one in lefts}, {test(one) for one in rights}) for name, test in TESTS.items()}
    return [name for name, (left, right) in held.items() if left != right and len(left) == len(right) == 1]


@pytest.mark.parametrize("split", ["train", "test", "hard", "ood"])
@pytest.mark.parametrize("examples", [2, 6])
def test_one_test_separates_and_the_query_agrees_in_it(split, examples):
    task = Bongard(examples=examples)
    worlds = worlds_of(task, split)
    labels = task.knowledge.labels_of(class_indices(worlds))[:, 0]
    for world, label in zip(worlds, labels.tolist(), strict=True):
        figures = figures_of(world)
        lefts, rights, query = figures[:examples], figures[examples:-1], figures[-1]
        (name,) = separating(lefts, rights)
        assert (name == "six_sides") == (split == "ood")
        assert label == (TESTS[name](query) == TESTS[name](lefts[0]))
    assert 0.3 < labels.mean() < 0.7


def test_left_and_right_exchanged_the_label_is_the_other():
    task = Bongard(examples=3)
    codes = class_indices(worlds_of(task))
    half = 3 * len(ATTRIBUTES)
    turned = np.concatenate([codes[:, half : 2 * half], codes[:, :half], codes[:, 2 * half :]], axis=1)
    assert task.knowledge.can_be(turned).all()
    assert (task.knowledge.labels_of(turned) == 1 - task.knowledge.labels_of(codes)).all()


def test_a_problem_can_be_where_exactly_one_test_separates():
    task = Bongard(examples=2)
    codes = np.random.default_rng(0).integers([2, 2, 2, 3] * 5, size=(4000, 20))
    one = [
        len(separating(figures[:2], figures[2:4])) == 1
        for figures in (
            [{"curved": a, "closed": b, "convex": c, "sides": 4 + d} for a, b, c, d in row.reshape(5, 4).tolist()]
            for row in codes
        )
    ]
    assert task.knowledge.can_be(codes).tolist() == one and 200 < sum(one) < 3800


def test_tests_are_formulas_of_your_own():
    task = Bongard(examples=2, tests={"round": "curved and closed", "many": "sides > 4"}, held_out=[])
    assert [split.name for split in task.splits()] == ["train", "valid", "test", "hard"]
    assert len({world.codes for world in worlds_of(task, "train")}) == 60


def test_problems_of_held_out_tests_are_in_no_split_but_ood():
    held, free = Bongard(examples=1), Bongard(examples=1, held_out=[])
    codes = class_indices(worlds_of(held, "ood"))
    for task, inside in ((held, False), (free, True)):
        assert (task.source_for(split_of(task, "train"), 0).contains(codes) == inside).all()


def test_listed_problems_are_those_of_training():
    task = Bongard(examples=1)
    listed = [list(world.values.values()) for world in worlds_of(task, count=2) + worlds_of(task, "ood", 2)]
    own = Bongard(examples=1, combinations_in_distribution=listed)
    assert own.source_for(split_of(own, "train"), 0).contains(own.space.all_codes()).sum() <= 4
    assert {tuple(world.values.values()) for world in worlds_of(own)} <= {tuple(one) for one in listed}


def test_regions_and_encoders_are_of_the_figures():
    task = Bongard(examples=3, side=20, sides=[4, 6, 7])
    assert {slot.group for slot in task.space.slots} == {"left", "right", "query"}
    boxes = {slot.name: task.layout.regions[f"{slot.name}.sides"] for slot in task.space.slots}
    assert len(boxes) == len(set(boxes.values())) == 7
    assert max(box.right for name, box in boxes.items() if name.startswith("left")) <= boxes["right1"].left
    assert {(box.right - box.left, box.bottom - box.top) for box in boxes.values()} == {(20, 20)}
    assert {group.name: len(group.concepts) for group in task.space.encoders} == dict.fromkeys(ATTRIBUTES, 7)


def test_pictures_show_what_is_closed_and_what_is_convex():
    task = Bongard(examples=1, side=96)
    for world in worlds_of(task, "train", 12):
        for sides in (4, 5, 6):
            for convex in (False, True):
                changes = {"query.convex": convex, "query.sides": sides, "query.curved": False}
                shown = [task.render(world.do({**changes, "query.closed": closed})).image for closed in (False, True)]
                ink = [task.layout.regions["query.sides"].crop(image)[2:-2, 2:-2] < 200 for image in shown]
                opened, inside = (ndimage.binary_fill_holes(line) & ~line for line in ink)
                assert opened.mean() < 0.01 and inside.mean() > 0.02  # an open line encloses nothing
                solid = inside.sum() / ConvexHull(np.argwhere(inside)).volume
                assert (solid > 0.95) == convex, (sides, solid)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tests": {"odd": "corners == 3"}, "held_out": []}, "test 'odd'"),
        ({"tests": {"odd": "sides + 1"}, "held_out": []}, "must be true or false"),
        ({"tests": {"odd": "'red'"}, "held_out": []}, "must be true or false"),
        ({"held_out": ["six"]}, "no test named 'six'"),
        ({"tests": {"curved": "curved"}, "held_out": ["curved"]}, "some test must be left"),
        ({"sides": [3, 4]}, "from 4 to 8"),
        ({"sides": [5, 4]}, "rising order"),
        ({"sides": [4, 4, 5]}, "different numbers"),
        ({"examples": 0}, "examples"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        _ = Bongard(**settings).knowledge
    assert "\n" not in str(caught.value)
