"""Counts of tests of single concepts, column by column, against a lookup of every weight."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import digits
from assay.logic.evaluate import evaluate
from assay.logic.parse import parse
from assay.logic.plan import BYTE, ColumnCount, _run


@pytest.mark.parametrize("weight", [*product([0, 1], repeat=5), (0, 2, 0, 0, 0), (1, 2, 1, 0, 0)])
def test_a_run_is_what_lies_together_and_counts_once(weight):
    places = [place for place, number in enumerate(weight) if number]
    together = bool(places) and places == list(range(places[0], places[-1] + 1)) and max(weight) == 1
    assert _run(np.array(weight)) == ((places[0], places[-1]) if together else None)


def test_counts_are_sums_of_weights():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(50, 6))
    for _ in range(40):
        places = rng.choice(6, size=3, replace=False).tolist()
        weights = {place: rng.integers(0, rng.integers(2, 4), size=4) for place in places}
        found = ColumnCount(weights)([], codes)
        assert found.tolist() == [sum(int(weights[p][row[p]]) for p in places) for row in codes.tolist()]


def test_more_than_a_byte_can_hold_is_counted_too():
    codes = np.ones((2, 2), dtype=np.int64)
    assert ColumnCount({0: np.array([0, BYTE]), 1: np.array([0, 1])})([], codes).tolist() == [BYTE + 1] * 2
    assert ColumnCount({0: np.array([0, BYTE])})([], codes).dtype == np.uint8


def test_counts_of_values_with_a_gap():
    space = digits(["a", "b", "c"], range(4))
    codes = space.all_codes()
    found = evaluate(parse("count(a in (0, 2), b in (1, 3), c in (0, 3), a == 1)"), space, codes)
    expected = [(a in (0, 2)) + (b in (1, 3)) + (c in (0, 3)) + (a == 1) for a, b, c in codes.tolist()]
    assert found.tolist() == expected
