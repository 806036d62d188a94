"""Trains: the chances of cars as Muggleton's generator has them, the laws of cars, and trains by their place alone."""

from fractions import Fraction

import numpy as np
import pytest

from assay.base import KnowledgeError
from assay.families.trains.source import ATTRIBUTES, michalski
from assay.logic import evaluate
from assay.tasks import TASKS

MANY = 100_000


def drawn(count, split="train", seed=0, **settings):
    """Return a task, the source of a split, and its first trains."""
    task = TASKS["trains"](image=False, **settings)
    source = task.source_for(next(one for one in task.splits() if one.name == split), seed)
    return task, source, source.codes(np.arange(count))


def cars_in(task, codes):
    """Return each attribute of all cars that are there, by name."""
    rows = codes.reshape(-1, len(ATTRIBUTES))
    values = [task.space.concept(f"car1.{name}").values for name in ATTRIBUTES]
    there = rows[np.array([values[0][code] != "absent" for code in rows[:, 0]])]
    return {name: np.array(values[place], dtype=object)[there[:, place]] for place, name in enumerate(ATTRIBUTES)}


@pytest.fixture(scope="module")
def trains():
    """100,000 trains as drawn, whichever way they go, and all their cars."""
    task, _, codes = drawn(MANY, balance="world")
    return task, codes, cars_in(task, codes)


def near(share, chance, count):
    """Return whether a share of a count is one that this chance gives, up to 4.5 standard deviations."""
    return abs(share - chance) <= 4.5 * np.sqrt(max(chance * (1 - chance), 1e-12) / count)


LONG = {
    "colour": {"yellow": 1},
    "wall": {"solid": 1},
    "roof": {"none": 0.333, "solid": 0.444, "braced": 0.223},
    "axles": {2: 0.56, 3: 0.44},
    "loads": {0: 0.11, 1: 0.55, 2: 0.11, 3: 0.23},
    "load": {"none": 0.11, "barrel": 0.89 / 8, "metal_pot": 0.89 / 8, "box": 0.89 * 5 / 8, "oval_vase": 0.89 / 8},
}
SHORT = {
    "colour": {"grey": 0.048, "red": 0.048, "yellow": 0.524, "blue": 0.190, "green": 0.190},
    "axles": {2: 1},
    "loads": {1: 0.952, 2: 0.048},
    "load": {"barrel": 0.381, "diamond": 0.048, "box": 0.190, "golden_vase": 0.381},
}
ROOFS = {"none": 0.842, "solid": 0.105, "peaked": 0.053}
GIVEN = [
    ({}, {"length": {"short": 0.7, "long": 0.3}}),
    ({"length": "long"}, LONG),
    ({"length": "short"}, SHORT),
    ({"colour": "grey"}, {"roof": {"foundation": 1}, "length": {"short": 1}, "wall": {"solid": 1}}),
    ({"colour": "red"}, {"roof": {"solid": 1}, "length": {"short": 1}, "wall": {"solid": 1}}),
    ({"colour": "yellow", "length": "short"}, {"wall": {"braced": 0.27, "solid": 0.73}, "roof": ROOFS}),
    ({"colour": "blue"}, {"wall": {"solid": 1}, "roof": ROOFS}),
    ({"colour": "green"}, {"wall": {"solid": 1}, "roof": ROOFS}),
    ({"wall": "braced"}, {"colour": {"yellow": 1}, "length": {"short": 1}}),
]


@pytest.mark.parametrize(("given", "wanted"), GIVEN, ids=[str(given) for given, _ in GIVEN])
def test_100000_trains_have_the_generators_chances(trains, given, wanted):
    cars = trains[2]
    some = np.all([cars[name] == value for name, value in given.items()], axis=0) if given else slice(None)
    for name, chances in wanted.items():
        values, counts = np.unique(cars[name][some].astype(str), return_counts=True)
        assert set(values) == {str(value) for value in chances}
        for value, count in zip(values, counts, strict=True):
            chance = next(chance for key, chance in chances.items() if str(key) == value)
            assert near(count / counts.sum(), chance, counts.sum()), (given, name, value)


def test_lengths_are_even_and_marginals_those_measured_on_the_released_generator(trains):
    task, codes, cars = trains
    absent = task.space.concept("car1.colour").code("absent")
    lengths = (codes.reshape(MANY, -1, len(ATTRIBUTES))[:, :, 0] != absent).sum(axis=1)
    assert all(near((lengths == number).mean(), 1 / 3, MANY) for number in (2, 3, 4))
    measured = {
        "colour": {"yellow": 0.666, "blue": 0.134, "green": 0.133, "grey": 0.034, "red": 0.034},
        "roof": {"none": 0.632, "solid": 0.233, "braced": 0.067, "foundation": 0.034, "peaked": 0.033},
        "axles": {3: 0.132},
        "loads": {0: 0.033, 1: 0.831, 2: 0.066, 3: 0.069},
    }
    for name, shares in measured.items():
        assert all(abs((cars[name] == value).mean() - share) < 0.004 for value, share in shares.items()), name


def test_uniform_trains_have_every_value_as_often_as_another():
    task, _, codes = drawn(20_000, balance="world", distribution="uniform")
    cars = cars_in(task, codes)
    for length, axles, loads in (("short", [2], [0, 1, 2]), ("long", [2, 3], [0, 1, 2, 3])):
        some = cars["length"] == length
        assert near(some.mean(), 0.5, len(some))
        values = {name: task.space.concept(f"car1.{name}").values[:-1] for name in ("colour", "wall", "roof")}
        for name, known in {**values, "axles": axles, "loads": loads}.items():
            assert set(cars[name][some]) == set(known)
            assert all(near((cars[name][some] == value).mean(), 1 / len(known), some.sum()) for value in known), name
        loaded = some & (cars["loads"] > 0)
        shares = [(cars["load"][loaded] == load).mean() for load in set(cars["load"][loaded])]
        assert len(shares) == 6 and all(near(share, 1 / 6, loaded.sum()) for share in shares)


def test_no_law_is_broken_in_100000_trains(trains):
    assert not trains[0].knowledge.violations(trains[1]).any()


@pytest.mark.parametrize(("distribution", "kinds"), [("michalski", 190), ("uniform", 2550)])
def test_the_laws_say_exactly_which_cars_are_drawn(distribution, kinds):
    """Of all 5,600 rows of attributes those that keep the laws are those that are drawn."""
    settings = {"min_cars": 1, "max_cars": 1, "rule": "car1.axles == 2", "distribution": distribution}
    task, source, codes = drawn(40_000, balance="world", **settings)
    every = task.space.all_codes().astype(np.int64)
    lawful = every[~task.knowledge.violations(every).any(axis=1)]
    assert (len(every), len(lawful), source.total) == (5_600, kinds, kinds)
    seen = set(map(tuple, codes.tolist()))
    assert seen <= set(map(tuple, lawful.tolist())) and len(seen) > 0.9 * kinds
    if distribution == "michalski":
        space, chances = task.space, list(michalski())
        table = {
            tuple(c.code(v) for c, v in zip(space.concepts, car, strict=True)) for car, chance in chances if chance > 0
        }
        assert table == set(map(tuple, lawful.tolist())) and sum(chance for _, chance in chances) == Fraction(1)


def test_each_law_forbids_something_that_the_others_allow():
    """A law that follows from the others would be no constraint of its own."""
    task = TASKS["trains"](image=False, min_cars=1, max_cars=1, rule="car1.axles == 2")
    every = task.space.all_codes().astype(np.int64)
    held = {law.name: evaluate(law.formula, task.space, every) for law in task.knowledge.constraints}
    assert len(held) == 11
    for name, kept in held.items():
        others = np.all([truth for other, truth in held.items() if other != name], axis=0)
        assert (others & ~kept).any(), name


@pytest.mark.parametrize(
    ("distribution", "cars", "shares"),
    [
        ("michalski", (2, 4), {"theory_x": 0.510, "numerical": 0.071, "complex": 0.494}),
        ("michalski", (7, 7), {"theory_x": 0.886, "numerical": 0.083, "complex": 0.875}),
        ("uniform", (2, 4), {"theory_x": 0.773, "numerical": 0.262, "complex": 0.741}),
        ("uniform", (7, 7), {"theory_x": 0.977, "numerical": 0.281, "complex": 0.997}),
    ],
)
def test_as_many_trains_go_east_as_were_measured_on_the_released_generator(distribution, cars, shares):
    settings = {"distribution": distribution, "min_cars": cars[0], "max_cars": cars[1], "balance": "world"}
    for rule, share in shares.items():
        task, _, codes = drawn(20_000, rule=rule, **settings)
        assert abs(task.knowledge.labels_of(codes).mean() - share) < 0.012, rule


def test_cars_follow_one_another_without_a_gap_and_are_enough():
    task = TASKS["trains"](image=False, distribution="uniform", min_cars=2, max_cars=4)
    car, gone = [0, 0, 0, 0, 0, 1, 1], [task.space.concept(f"car1.{name}").code("absent") for name in ATTRIBUTES]
    for there in np.ndindex(2, 2, 2, 2):
        row = np.concatenate([car if one else gone for one in there])[None]
        lawful = sum(there) >= 2 and list(there) == sorted(there, reverse=True)
        assert bool(task.knowledge.can_be(row)[0]) is lawful


@pytest.mark.parametrize("rule", ["theory_x", "numerical", "complex"])
def test_a_train_depends_on_its_place_alone(rule):
    task, source, codes = drawn(1000, rule=rule)
    some = np.array([7, 900, 3, 12_345])
    assert (codes[[7, 900, 3]] == source.codes(some)[:3]).all()
    assert (source.codes(some[::-1])[::-1] == source.codes(some)).all()
    assert (drawn(1000, rule=rule, seed=1)[2] != codes).any() and (
        drawn(500, "test", rule=rule)[2] != codes[:500]
    ).any()
    labels = task.knowledge.labels_of(codes)[:, 0]
    assert (labels.reshape(-1, 2).sum(axis=1) == 1).all()  # one east and one west in every two


def test_balanced_west_trains_are_found_where_they_are_rare():
    """Of uniform trains of 7 cars 3 of 1,000 go west under the complex rule."""
    task, _, codes = drawn(40, rule="complex", distribution="uniform", min_cars=7, max_cars=7)
    assert task.knowledge.labels_of(codes)[:, 0].sum() == 20


def test_a_rule_that_nothing_fits_is_refused_in_one_line():
    with pytest.raises(KnowledgeError, match=r"none has the label east = True and fits .* change the rule"):
        drawn(4, rule="car1.length == 'long' and car1.colour == 'red'")


def test_shares_of_trains_are_disjoint():
    task, inside, codes = drawn(2000, prop_in_distribution=0.7)
    outside = task.source_for(next(one for one in task.splits() if one.name == "ood"), 0)
    assert inside.contains(codes).all() and not outside.contains(codes).any()
    both = drawn(20_000, balance="world")[2]
    assert abs(inside.contains(both).mean() - 0.7) < 0.02
    assert (inside.contains(both) != outside.contains(both)).all()
