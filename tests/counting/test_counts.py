"""Counts that are known: closed forms, the rsbench paper's numbers, and its tasks counted by brute force elsewhere."""

from math import factorial

import numpy as np
import pytest

from assay.counting import count_shortcuts
from assay.logic import Knowledge, bits, digits
from tests.counting import brute
from tests.counting.rules import (
    AHEAD,
    EVENODD,
    FRONT,
    HALF,
    PARTS,
    addition,
    both_ways,
    cle4evr,
    conjunction,
    driving,
    kandinsky,
    side,
    xor,
)

K = [2, 3, 4, 5, 6, 7, 12]


def total(knowledge, family="shared", worlds=None):
    return count_shortcuts(knowledge, family, None if worlds is None else np.array(worlds)).total


@pytest.mark.parametrize("k", K)
def test_xor_of_k_bits_has_a_permutation_and_an_even_number_of_flips(k):
    assert total(xor(k), "block") == factorial(k) * 2 ** (k - 1)
    assert total(xor(k), "block-permutation") == factorial(k) * 2 ** (k - 1)


@pytest.mark.parametrize("k", K)
def test_and_of_k_bits_has_the_permutations(k):
    assert total(conjunction(k), "block") == factorial(k)


@pytest.mark.parametrize("rule", ["a or b or c", "count(a, b, c) >= 2"])
def test_or_and_majority_have_the_permutations(rule):
    assert total(Knowledge.of(bits(list("abc")), {"y": rule}), "block") == 6


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 10])
def test_xor_bit_by_bit(k):
    assert total(xor(k), "per-concept") == 2 ** (k - 1)
    assert total(xor(k, shared=True)) == (2 if k % 2 == 0 else 1)


@pytest.mark.parametrize("rule", ["a and b and c", "a or b or c", "count(a, b, c) >= 2"])
def test_rules_that_fix_every_bit(rule):
    assert total(Knowledge.of(bits(list("abc")), {"y": rule}), "per-concept") == 1


def test_one_example_of_three_bits():  # 3! * 4**3 = 384 readings in all
    assert total(xor(3), "block", [[0, 1, 1]]) == 192
    assert total(conjunction(3), "block", [[1, 1, 1]]) == 48
    assert total(conjunction(3), "block", [[0, 1, 0]]) == 336


def test_each_example_of_xor_in_general_position_halves():
    assert total(xor(3), "block", [[0, 1, 1], [1, 0, 1]]) == 96
    assert total(xor(3), "block", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) == 24
    assert total(xor(4), "block", [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]) == 384


def test_free_maps():
    assert total(xor(3), "free") == 4**8 == 65_536
    assert total(conjunction(3), "free") == 7**7 == 823_543
    assert total(conjunction(3), "free", [[1, 1, 1]]) == 8**7


def test_sums_of_two_digits():
    assert total(addition()) == 1
    assert total(addition(5), worlds=both_ways(HALF)) == 3
    assert total(addition(10), worlds=both_ways(HALF)) == 6
    assert total(addition(), worlds=both_ways(EVENODD)) == 36


@pytest.mark.parametrize("figures", [2, 3])
def test_kandinsky_patterns_never_name_a_shape_or_a_colour(figures):
    assert total(kandinsky(figures)) == factorial(3) ** 2


@pytest.mark.parametrize(("shapes", "colours"), [(2, 2), (3, 2), (4, 3), (10, 10)])
def test_same_shape_and_colour_never_names_either(shapes, colours):
    assert total(cle4evr(2, shapes, colours)) == factorial(shapes) * factorial(colours)


def test_same_shape_and_colour_by_hand():
    assert total(cle4evr(3, 3, 2)) == 12
    assert total(cle4evr(2, 10, 10)) == 13_168_189_440_000


def test_driving_rules():
    assert total(driving(), "per-concept") == 4  # `follow` never decides a label
    assert total(Knowledge.of(bits(FRONT), AHEAD, definitions=PARTS), "block") == 960
    concepts, safe = side("left")
    assert total(Knowledge.of(bits(concepts), {"left": safe}), "block") == 36


@pytest.mark.parametrize("rule", ["a == b and a != 0", "a == b or b == 1", "a != b and a == 2"])
@pytest.mark.parametrize("family", ["per-concept", "shared"])
def test_values_that_one_side_of_a_comparison_names_are_told_apart(rule, family):
    knowledge = Knowledge.of(digits(["a", "b"], range(3)), {"y": rule})
    worlds = knowledge.space.all_codes()
    labels = dict(zip(map(tuple, worlds.tolist()), knowledge.labels_of(worlds)[:, 0].tolist(), strict=True))
    expected = brute.readings(knowledge.space, labels.__getitem__, list(labels), family)
    assert count_shortcuts(knowledge, family).total == len(expected)
