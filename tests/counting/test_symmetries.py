"""Symmetries of a truth table, counted as a group and by trying every one."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.counting.concept_permutations import count_idle_readings, count_maps
from assay.counting.solver import OutOfTime
from assay.counting.symmetries import Symmetries, count_distinct_values, truth_table
from assay.logic import Knowledge

MIXED = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (False, True))))
RULES = {
    "and": (bits([*"abc"]), "a and b and c"),
    "xor": (bits([*"abc"]), "xor(a, b, c)"),
    "choice": (bits([*"abc"]), "b if a else c"),
    "equal": (MIXED, "a == b"),
    "sum": (MIXED, "a + b == 2 or c"),
    "order": (MIXED, "a < b and c"),
}


def brute(table: np.ndarray) -> int:
    sizes, found = table.shape[:-1], 0
    for order in permutations(range(len(sizes))):
        if any(sizes[source] != sizes[place] for place, source in enumerate(order)):
            continue
        for values in product(*(list(permutations(range(sizes[source]))) for source in order)):
            moved = table.transpose([*order, len(sizes)])
            for axis, own in enumerate(values):
                moved = np.take(moved, own, axis=axis)
            found += np.array_equal(moved, table)
    return found


@pytest.mark.parametrize("name", RULES)
def test_the_order_is_the_number_of_symmetries(name):
    space, rule = RULES[name]
    table = truth_table(Knowledge.of(space, {"y": rule}))
    assert Symmetries(table, math.inf).order() == brute(table)


def test_the_table_has_a_one_for_each_world():
    knowledge = Knowledge.of(MIXED, {"y": "a < b", "z": "c"})
    table = truth_table(knowledge)
    assert table.shape == (3, 3, 2, 4) and (table.sum(axis=-1) == 1).all()
    outcome = knowledge.diagram.outcomes[int(table[0, 2, 1].argmax())]
    assert outcome == (True, True)


def test_values_that_labels_tell_apart():
    table = truth_table(Knowledge.of(MIXED, {"y": "a == 1 or b > 3"}))
    assert [count_distinct_values(table, axis) for axis in range(3)] == [2, 1, 1]


def test_idle_concepts_are_read_from_one_another_in_every_way():
    for sizes, one_to_one in product(([2], [2, 2], [2, 3], [2, 3, 3]), (False, True)):
        ways = sum(
            math.prod(count_maps(sizes[place], sizes[source], one_to_one) for place, source in enumerate(order))
            for order in permutations(range(len(sizes)))
        )
        assert count_idle_readings(sizes, one_to_one) == ways
    assert count_maps(2, 3, False) == 8 and count_maps(2, 3, True) == 0 and count_maps(3, 2, True) == 6


def test_time_ends():
    table = truth_table(Knowledge.of(bits([*"abc"]), {"y": "xor(a, b, c)"}))
    with pytest.raises(OutOfTime):
        Symmetries(table, 0.0).order()


def table_of(rule: str, space: ConceptSpace) -> Symmetries:
    return Symmetries(truth_table(Knowledge.of(space, {"y": rule})), math.inf)


def test_a_concept_is_read_from_one_of_as_many_values_that_is_not_yet_taken():
    mixed = table_of("a < b and c", MIXED)
    turns = list(permutations(range(3)))
    assert mixed.sizes == (3, 3, 2) and mixed.maps == 2 * 6
    assert list(mixed.choices(0, [])) == [(axis, values) for axis in (0, 1) for values in turns]
    assert list(mixed.choices(1, [(0, (1, 0, 2))])) == [(1, values) for values in turns]
    assert list(mixed.choices(1, [(1, (0, 1, 2))])) == [(0, values) for values in turns]
    assert list(mixed.choices(2, [(1, (0, 1, 2)), (0, (2, 1, 0))])) == [(2, (0, 1)), (2, (1, 0))]
    assert list(mixed.choices(2, [(2, (0, 1))])) == []


def test_readings_fit_where_labels_are_as_frequent_and_exist_where_they_can_be_completed():
    xor, both = table_of("xor(a, b)", bits([*"ab"])), table_of("a and b", bits([*"ab"]))
    same, other = (0, 1), (1, 0)
    assert xor.fits([]) and xor.fits([(1, other)]) and xor.fits([(1, other), (0, other)])
    assert not xor.fits([(0, other), (1, same)]) and not xor.exists([(0, other), (1, same)])
    assert both.fits([(1, same)]) and not both.fits([(1, other)]) and both.exists([(1, same)])
    assert xor.exists([(0, other)]) and xor.exists([]) and not both.exists([(0, other)])
    less = table_of("a < b and c", MIXED)
    assert less.fits([(1, (2, 1, 0))]) and less.exists([(1, (2, 1, 0))])  # 2 - b < 2 - a
    assert not less.fits([(1, (0, 1, 2))]) and not less.fits([(0, (1, 0, 2))]) and less.order() == 2
    most = table_of("a == 0 or b == 0", MIXED)  # values 1 and 2 are alike, but only if all stay in their places
    assert most.fits([(0, (0, 2, 1))]) and not most.fits([(0, (1, 0, 2))]) and most.order() == 2 * 2 * 2 * 2
