"""Trains: the chances of cars as Muggleton's generator has them, and trains that depend on their place alone."""

from fractions import Fraction

import numpy as np
import pytest

from assay.errors import KnowledgeError
from assay.families.trains.changes import change_train, nearest_car
from assay.families.trains.rules import LAWS, MICHALSKI, RULES, each, laws_of
from assay.families.trains.source import (
    ATTRIBUTES,
    VALUES,
    CarKinds,
    TrainDistribution,
    TrainSource,
    cars_of,
    kinds_of,
    michalski_text,
    train_space,
)
from assay.logic import Knowledge
from assay.worlds import Split

MANY = 100_000


def source(rule="theory_x", distribution="michalski", least=2, most=4, seed=0, **split):
    space = train_space(most, least)
    knowledge = Knowledge.of(space, {"east": RULES.get(rule, rule)}, laws_of(distribution, most, least))
    about = Split("train", MANY, **split)
    return TrainSource(knowledge, TrainDistribution(distribution, least, most), about, seed, "t", style=lambda *_: {})


def column(cars, name):
    """Return the values of an attribute, a row a car."""
    return np.array(VALUES[name], dtype=object)[cars[:, ATTRIBUTES.index(name)]]


@pytest.fixture(scope="module")
def drawn():
    """Return 100,000 trains as drawn, whichever way they go, and all their cars."""
    codes = source(balance="world").codes(np.arange(MANY))
    rows = codes.reshape(-1, len(ATTRIBUTES))
    return codes, rows[rows[:, 0] < len(VALUES["colour"])]


def near(share, chance, count):
    """Return whether a share of a count is one that this chance gives, up to 4.5 standard deviations."""
    chance = float(chance)
    return abs(share - chance) <= 4.5 * np.sqrt(max(chance * (1 - chance), 1e-12) / count)


LONG = {
    "colour": {"yellow": 1},
    "wall": {"solid": 1},
    "roof": {"none": 0.333, "solid": 0.444, "braced": 0.223},
    "axles": {2: 0.56, 3: 0.44},
    "loads": {0: 0.11, 1: 0.55, 2: 0.11, 3: 0.23},
}
SHORT = {
    "colour": {"grey": 0.048, "red": 0.048, "yellow": 0.524, "blue": 0.190, "green": 0.190},
    "axles": {2: 1},
    "loads": {1: 0.952, 2: 0.048},
    "load": {"barrel": 0.381, "diamond": 0.048, "box": 0.190, "golden_vase": 0.381},
}
GIVEN = [
    ({}, {"length": {"short": 0.7, "long": 0.3}}),
    ({"length": "long"}, LONG),
    ({"length": "short"}, SHORT),
    ({"colour": "grey"}, {"roof": {"foundation": 1}, "length": {"short": 1}, "wall": {"solid": 1}}),
    ({"colour": "red"}, {"roof": {"solid": 1}, "length": {"short": 1}, "wall": {"solid": 1}}),
    ({"colour": "yellow", "length": "short"}, {"wall": {"braced": 0.27, "solid": 0.73}}),
    ({"colour": "blue"}, {"wall": {"solid": 1}, "roof": {"none": 0.842, "solid": 0.105, "peaked": 0.053}}),
    ({"colour": "green"}, {"wall": {"solid": 1}, "roof": {"none": 0.842, "solid": 0.105, "peaked": 0.053}}),
    ({"colour": "yellow", "length": "short"}, {"roof": {"none": 0.842, "solid": 0.105, "peaked": 0.053}}),
    ({"wall": "braced"}, {"colour": {"yellow": 1}, "length": {"short": 1}}),
    ({"roof": "braced"}, {"length": {"long": 1}}),
    ({"roof": "peaked"}, {"length": {"short": 1}}),
    ({"loads": 3}, {"length": {"long": 1}}),
]


@pytest.mark.parametrize(("given", "wanted"), GIVEN, ids=[str(given) for given, _ in GIVEN])
def test_100000_trains_have_the_generators_chances(drawn, given, wanted):
    cars = drawn[1]
    some = cars[np.all([column(cars, name) == value for name, value in given.items()], axis=0)] if given else cars
    for name, chances in wanted.items():
        values, counts = np.unique(column(some, name).astype(str), return_counts=True)
        assert set(values) == {str(value) for value in chances}
        for value, count in zip(values, counts, strict=True):
            chance = next(chance for key, chance in chances.items() if str(key) == value)
            assert near(count / len(some), chance, len(some)), (given, name, value, count / len(some))


def test_the_loads_of_long_cars_that_have_some(drawn):
    cars = drawn[1]
    long = cars[(column(cars, "length") == "long") & (column(cars, "loads") > 0)]
    chances = {"barrel": 0.125, "metal_pot": 0.125, "box": 0.625, "oval_vase": 0.125}
    for load, chance in chances.items():
        assert near((column(long, "load") == load).mean(), chance, len(long))
    assert set(column(long, "load")) == set(chances)


def test_lengths_are_even_and_marginals_those_measured_on_the_released_generator(drawn):
    codes, cars = drawn
    lengths = (codes.reshape(MANY, -1, len(ATTRIBUTES))[:, :, 0] < 5).sum(axis=1)
    assert all(near((lengths == cars).mean(), 1 / 3, MANY) for cars in (2, 3, 4))
    told = {"yellow": 0.666, "blue": 0.134, "green": 0.133, "grey": 0.034, "red": 0.034}
    assert all(abs((column(cars, "colour") == name).mean() - share) < 0.004 for name, share in told.items())
    told = {"none": 0.632, "solid": 0.233, "braced": 0.067, "foundation": 0.034, "peaked": 0.033}
    assert all(abs((column(cars, "roof") == name).mean() - share) < 0.004 for name, share in told.items())
    assert abs((column(cars, "axles") == 3).mean() - 0.132) < 0.003
    assert all(abs((column(cars, "loads") == n).mean() - s) < 0.004 for n, s in enumerate((0.033, 0.831, 0.066, 0.069)))


def test_no_law_is_broken_in_100000_trains(drawn):
    assert not source().knowledge.violations(drawn[0]).any()


@pytest.mark.parametrize(("distribution", "kinds"), [("michalski", 190), ("uniform", 2550)])
def test_the_laws_say_exactly_which_cars_are_drawn(distribution, kinds):
    """Of all 5,600 rows of attributes those that keep the laws are those that the table holds, with chances of 1."""
    held = kinds_of(distribution)
    assert sum(held.chances) == Fraction(1) and all(chance > 0 for chance in held.chances)
    space = train_space(1, 1)
    every = space.all_codes().astype(np.int64)
    knowledge = Knowledge.of(space, {"east": RULES["easy"] + " or car1.axles == 2"}, laws_of(distribution, 1, 1))
    lawful = every[~knowledge.violations(every).any(axis=1)]
    assert len(every) == 5_600 and len(lawful) == kinds
    assert set(map(tuple, lawful.tolist())) == set(map(tuple, held.codes.tolist()))


def test_each_law_forbids_something_that_the_others_allow():
    """A law that follows from the others would be no constraint of its own."""
    space, laws = train_space(1, 1), {**LAWS, **MICHALSKI}
    every = space.all_codes().astype(np.int64)
    from assay.logic import evaluate

    held = {name: evaluate(each(text), space, every) for name, text in laws.items()}
    for name in laws:
        others = np.all([truth for other, truth in held.items() if other != name], axis=0)
        assert (others & ~held[name]).any(), name


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
    for rule, share in shares.items():
        held = source(rule, distribution, *cars, balance="world")
        codes = held.codes(np.arange(20_000))
        assert abs(held.knowledge.labels_of(codes).mean() - share) < 0.012, rule


@pytest.mark.parametrize("rule", ["theory_x", "numerical", "complex"])
def test_a_train_depends_on_its_place_alone(rule):
    held, some = source(rule), np.array([7, 900, 3, 12_345])
    assert (held.codes(np.arange(1000))[[7, 900, 3]] == held.codes(some)[:3]).all()
    assert (held.codes(some[::-1])[::-1] == held.codes(some)).all()
    assert (source(rule, seed=1).codes(some) != held.codes(some)).any()
    labels = held.knowledge.labels_of(held.codes(np.arange(1000)))[:, 0]
    assert (labels.reshape(-1, 2).sum(axis=1) == 1).all()  # one east and one west in every two


def test_balanced_west_trains_are_found_where_they_are_rare():
    """Of uniform trains of 7 cars 3 of 1,000 go west under the complex rule."""
    held = source("complex", "uniform", 7, 7)
    labels = held.knowledge.labels_of(held.codes(np.arange(40)))[:, 0]
    assert labels.sum() == 20


def test_a_rule_that_nothing_fits_is_refused_in_one_line():
    with pytest.raises(KnowledgeError, match=r"none has the label east = True and fits .* change the rule"):
        source("car1.length == 'long' and car1.colour == 'red'").codes(np.arange(4))


def test_shares_of_trains_are_disjoint():
    inside, outside = source(share=(0.0, 0.7)), source(share=(0.7, 1.0))
    codes = inside.codes(np.arange(2000))
    assert inside.contains(codes).all() and not outside.contains(codes).any()
    both = source(balance="world").codes(np.arange(20_000))
    assert abs(inside.contains(both).mean() - 0.7) < 0.02
    assert (inside.contains(both) != outside.contains(both)).all()


def train(*cars):
    codes = train_space(len(cars), len(cars)).encode([
        {f"car{number + 1}.{name}": value for number, car in enumerate(cars) for name, value in zip(ATTRIBUTES, car, strict=True)}
    ])  # fmt: skip
    return codes.reshape(-1, len(ATTRIBUTES))


LONG_CAR = ("yellow", "long", "solid", "solid", 3, 3, "box")
SHORT_CAR = ("green", "short", "solid", "none", 2, 1, "barrel")
GONE = [len(VALUES[name]) for name in ATTRIBUTES]


def place(name, value):
    return {ATTRIBUTES.index(name): (*VALUES[name], "absent").index(value)}


def test_a_change_brings_along_what_must_follow_and_no_more():
    kinds, before = kinds_of("michalski"), train(LONG_CAR, SHORT_CAR)
    changed = change_train(kinds, before, {1: place("colour", "blue")}, 1)
    assert cars_of(changed.ravel())[1] == dict(zip(ATTRIBUTES, ("blue", *SHORT_CAR[1:]), strict=True))
    changed = change_train(kinds, before, {0: place("loads", 0)}, 1)
    assert cars_of(changed.ravel())[0] == dict(zip(ATTRIBUTES, (*LONG_CAR[:5], 0, "none"), strict=True))
    grey = cars_of(change_train(kinds, before, {1: place("colour", "grey")}, 1).ravel())[1]
    assert (grey["colour"], grey["roof"], grey["load"]) == ("grey", "foundation", "barrel")
    assert change_train(kinds, before, {0: {**place("colour", "red"), **place("length", "long")}}, 1) is None


def test_only_the_last_car_goes_and_only_a_next_one_comes():
    kinds, before = kinds_of("michalski"), np.array([*train(LONG_CAR, SHORT_CAR, SHORT_CAR), GONE, GONE])
    shorter = change_train(kinds, before, {2: place("roof", "absent")}, 2)
    assert len(cars_of(shorter.ravel())) == 2 and shorter[2].tolist() == GONE
    assert change_train(kinds, before, {1: place("roof", "absent")}, 2) is None
    assert change_train(kinds, shorter, {1: place("roof", "absent")}, 2) is None
    longer = change_train(kinds, before, {3: place("colour", "blue")}, 2)
    assert cars_of(longer.ravel())[3] == {**cars_of(longer.ravel())[2], "colour": "blue"}
    assert change_train(kinds, before, {4: place("colour", "blue")}, 2) is None


def test_trains_in_michalskis_words():
    cars = cars_of(train(LONG_CAR, ("grey", "short", "solid", "foundation", 2, 2, "golden_vase")).ravel())
    assert michalski_text(cars) == (
        "1 rectangle long not_double flat 3 rectangle 3 2 ellipse short not_double arc 2 triangle 2"
    )


def test_several_cars_change_one_after_the_other():
    kinds, before = kinds_of("michalski"), np.array([*train(LONG_CAR, SHORT_CAR, SHORT_CAR), GONE, GONE])
    gone, blue = place("roof", "absent"), place("colour", "blue")
    assert change_train(kinds, before, {2: gone, 3: blue}, 1) is None  # a car would follow one that is gone
    assert change_train(kinds, before, {2: {**gone, **blue}}, 1) is None  # gone and blue at once
    assert (change_train(kinds, before, {3: gone}, 1) == before).all() and before[2].tolist() != GONE
    both = change_train(kinds, before, {4: blue, 3: blue}, 1)
    assert len(cars_of(both.ravel())) == 5 and both[3].tolist() == both[4].tolist() == [4, *before[2, 1:]]
    two = cars_of(change_train(kinds, np.array([*train(SHORT_CAR), GONE]), {1: blue}, 1).ravel())
    assert two[1] == {**two[0], "colour": "blue"}
    assert change_train(kinds, np.array([*train(LONG_CAR), GONE]), {0: gone}, 0)[0].tolist() == GONE


@pytest.mark.parametrize(
    ("wanted", "found"),
    [({0: 1}, 1), ({0: 1, 1: 1}, 1), ({0: 1, 2: 1}, 3), ({5: 1}, 2), ({0: 0}, 0), ({1: 0}, 2), ({0: 2}, None), ({0: 0, 1: 0}, None)],
)  # fmt: skip
def test_the_first_of_the_cars_most_alike_is_taken_of_those_with_all_that_is_wanted(wanted, found):
    rows = [[0, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0]]
    kinds = CarKinds(np.array(rows), (Fraction(1, 4),) * 4)
    nearest = nearest_car(kinds, np.zeros(7, dtype=np.int64), wanted)
    assert (nearest is None) if found is None else nearest.tolist() == rows[found]


def test_a_car_of_the_last_of_all_values_is_there():
    last = tuple(values[-1] for values in VALUES.values())
    assert cars_of(train(last, SHORT_CAR, last).ravel()) == [
        dict(zip(ATTRIBUTES, car, strict=True)) for car in (last, SHORT_CAR, last)
    ]
