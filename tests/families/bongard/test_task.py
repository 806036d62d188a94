"""Bongard problems: one test separates the sides, the label follows from it, and figures show what they are."""

from itertools import product

import numpy as np
import pytest
from scipy import ndimage

from assay.errors import ConfigError
from assay.families.bongard.figures import FigureStyle, corners_of, stroke_of
from assay.families.bongard.task import Bongard
from assay.seeds import rng_for

TESTS = {
    "curved": lambda figure: figure["curved"],
    "closed": lambda figure: figure["closed"],
    "convex": lambda figure: figure["convex"],
    "four_sides": lambda figure: figure["sides"] == 4,
    "six_sides": lambda figure: figure["sides"] == 6,
}


def worlds_of(task, split, count=60):
    return task.worlds_in(next(one for one in task.splits() if one.name == split), 0).worlds(np.arange(count))


def figures_of(world, task):
    return [{name: world[f"{figure}.{name}"] for name in task.config.values} for figure in task.sheet.names]


def separating(lefts, rights):
    """Return the tests that hold of all figures on one side and of none on the other."""
    return [
        name
        for name, test in TESTS.items()
        if {test(figure) for figure in lefts} != {test(figure) for figure in rights}
        and len({test(figure) for figure in lefts}) == len({test(figure) for figure in rights}) == 1
    ]


@pytest.mark.parametrize("split", ["train", "test", "hard", "ood"])
@pytest.mark.parametrize("examples", [2, 6])
def test_one_test_separates_and_the_query_agrees_in_it(split, examples):
    task = Bongard(examples=examples)
    worlds = worlds_of(task, split)
    labels = task.knowledge.labels_of(np.array([world.codes for world in worlds]))[:, 0]
    for world, label in zip(worlds, labels.tolist(), strict=True):
        figures = figures_of(world, task)
        lefts, rights, query = figures[:examples], figures[examples:-1], figures[-1]
        (name,) = separating(lefts, rights)
        assert (name == "six_sides") == (split == "ood")
        assert label == (TESTS[name](query) == TESTS[name](lefts[0]))
    assert 0.3 < labels.mean() < 0.7


def test_left_and_right_exchanged_the_label_is_the_other():
    task = Bongard(examples=3)
    codes = np.array([world.codes for world in worlds_of(task, "train")])
    half = 3 * len(task.config.values)
    turned = np.concatenate([codes[:, half : 2 * half], codes[:, :half], codes[:, 2 * half :]], axis=1)
    assert task.knowledge.can_be(turned).all()
    assert (task.knowledge.labels_of(turned) == 1 - task.knowledge.labels_of(codes)).all()


def test_tests_are_formulas_of_your_own():
    task = Bongard(examples=2, tests={"round": "curved and closed", "many": "sides > 4"}, held_out=[])
    assert [split.name for split in task.splits()] == ["train", "valid", "test", "hard"]
    assert len({world.codes for world in worlds_of(task, "train")}) == 60


# -- figures -----------------------------------------------------------------------------------------------------------


def turns(corners):
    """Return at which corners a line turns to the same side as a circle does."""
    before, after = corners - np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0) - corners
    return before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] > 0


@pytest.mark.parametrize("sides", range(4, 9))
def test_convex_figures_have_no_corner_inwards_and_others_have_one(sides):
    for number in range(50):
        style = FigureStyle.draw(rng_for(number, "figure"), 8)
        assert FigureStyle.from_list(style.to_list()) == style
        assert turns(corners_of(sides, True, style)).all()
        assert (~turns(corners_of(sides, False, style))).sum() == 1
        curve = stroke_of(sides, True, True, True, style)
        assert turns(curve[(np.roll(curve, 1, axis=0) != curve).any(axis=1)]).sum() >= sides
        assert np.abs(curve).max() <= 1.15  # it stays in its box


def test_pictures_show_what_is_open():
    task = Bongard(examples=1)
    world = worlds_of(task, "train", 1)[0]
    for curved, convex, sides in product((False, True), (False, True), (4, 5, 6)):
        looks = {"query.curved": curved, "query.convex": convex, "query.sides": sides}
        shown = [task.render(world.do({**looks, "query.closed": closed})).image for closed in (False, True)]
        boxes = [task.sheet.boxes["query"].crop(image)[2:-2, 2:-2] > 128 for image in shown]
        assert [ndimage.label(paper)[1] for paper in boxes] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tests": {"odd": "corners == 3"}, "held_out": []}, "test 'odd'"),
        ({"tests": {"odd": "sides + 1"}, "held_out": []}, "must be true or false"),
        ({"held_out": ["six"]}, "no test named 'six'"),
        ({"tests": {"curved": "curved"}, "held_out": ["curved"]}, "some test must be left"),
        ({"sides": [3, 4]}, "from 4 to 8"),
        ({"examples": 0}, "examples"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        _ = Bongard(**settings).knowledge
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sides": [4, 9]}, "from 4 to 8"),
        ({"sides": [5, 4]}, "rising order"),
        ({"sides": [4, 4, 5]}, "different numbers"),
        ({"tests": {"odd": "'red'"}, "held_out": []}, "must be true or false"),
        ({"tests": {"a": "curved", "b": "closed"}, "held_out": ["a", "b"]}, "some test must be left"),
    ],
)
def test_settings_at_their_bounds_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        _ = Bongard(**settings).knowledge


def test_settings_just_inside_their_bounds_are_taken():
    task = Bongard(sides=[4, 8], tests={"a": "curved", "b": "closed"}, held_out=["a", "a"])
    assert task.config.values["sides"] == (4, 8) and list(task.tests) == ["a", "b"]
    assert len(task.style(rng_for(0, "style"), (), "train")["figures"][0]) == 4 + 2 * 8  # a number for each corner


def test_problems_lists_regions_and_slots_follow_the_sheet():
    task = Bongard(examples=3, side=20, sides=[4, 6, 7])
    assert (task.layout.width, task.layout.height, task.layout.channels) == (150, 49, 1)
    assert task.layout.regions["right2.sides"] == task.sheet.boxes["right2"]
    assert [(slot.name, slot.group) for slot in task.space.slots] == [
        *((f"left{i}", "left") for i in (1, 2, 3)),
        *((f"right{i}", "right") for i in (1, 2, 3)),
        ("query", "query"),
    ]
    assert task.space.names[:5] == ("left1.curved", "left1.closed", "left1.convex", "left1.sides", "left2.curved")
    assert [group.name for group in task.space.encoders] == ["curved", "closed", "convex", "sides"]
    assert task.space.encoders[3].concepts == tuple(f"{name}.sides" for name in task.sheet.names)


def figure(**facts):
    return {"curved": False, "closed": False, "convex": False, "sides": 5, **facts}


def codes_of(task, lefts, rights, query):
    names = [*(f"left{i + 1}" for i in range(len(lefts))), *(f"right{i + 1}" for i in range(len(rights))), "query"]
    figures = dict(zip(names, [*lefts, *rights, query], strict=True))
    return task.space.encode([{f"{n}.{k}": v for n, facts in figures.items() for k, v in facts.items()}])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("query", [False, True])
def test_the_one_in_question_belongs_to_the_left_if_it_agrees_with_it(turned, query):
    task = Bongard(examples=2)
    sides = [[figure(closed=True, sides=4), figure(closed=True)], [figure(), figure(sides=4)]]
    lefts, rights = reversed(sides) if turned else sides
    codes = codes_of(task, lefts, rights, figure(closed=query, curved=True))
    assert task.knowledge.can_be(codes).tolist() == [True]
    assert task.knowledge.labels_of(codes).tolist() == [[int(query != turned)]]


def test_problems_that_two_tests_or_none_separate_cannot_be():
    task = Bongard(examples=2)
    both = [figure(closed=True, curved=True)] * 2, [figure()] * 2
    none = [figure(closed=True), figure()], [figure(), figure()]
    for lefts, rights in (both, none):
        assert task.knowledge.can_be(codes_of(task, lefts, rights, figure())).tolist() == [False]


def test_without_held_out_tests_all_problems_are_in_distribution():
    free, held = Bongard(examples=1, held_out=[]), Bongard(examples=1)
    problem = codes_of(free, [figure(sides=6)], [figure()], figure())
    for task, inside in ((free, True), (held, False)):
        train = next(split for split in task.splits() if split.name == "train")
        assert task.worlds_in(train, 0).contains(problem).tolist() == [inside]
    listed = Bongard(examples=1, combinations_in_distribution=[list(free.space.decode(problem[0]).values())])
    assert "left1.sides" in str(listed.in_distribution()) and listed.in_distribution() != held.in_distribution()
