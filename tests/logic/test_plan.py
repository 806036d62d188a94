"""Counts of tests of single concepts, column by column, against a lookup of every weight."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import digits
from assay.logic import evaluate, parse
from assay.logic import formula as f
from assay.logic.plan import BYTE, ColumnCount, Plan, PreparedPart, _run


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


def test_folds_take_in_parts_one_by_one_and_keep_what_is_asked_for_again():
    a, b, c, d = (f.Var(name) for name in "abcd")
    inner = f.And((a, b, c))
    whole = f.Or((inner, d, a))
    made = []

    def prepare(formula):
        if isinstance(formula, f.Var):
            return PreparedPart((), lambda inside, codes: (made.append(formula.name), formula.name)[1])
        sign = "&" if isinstance(formula, f.And) else "|"
        return PreparedPart(formula.parts, lambda inside, codes: f"({sign.join(inside)})", fold=True)

    plan = Plan([whole, inner, a], prepare)
    assert plan.run(np.zeros((1, 4))) == ["((((a&b)&c)|d)|a)", "((a&b)&c)", "a"]
    assert made == ["a", "b", "c", "d"] and plan.run(np.zeros((1, 4)))[0] == "((((a&b)&c)|d)|a)"
    freed = {over for step in plan.steps for over in step.done}
    assert freed == set(range(len(plan.steps))) - set(plan.results) and len(plan.steps) == 8
    for number, step in enumerate(plan.steps):
        assert all(needed < number for needed in step.inside) and set(step.done) <= set(step.inside)

    def flat(formula):
        inside = () if isinstance(formula, f.Var) else formula.parts
        return PreparedPart(inside, lambda inside, codes: len(inside))

    assert [len(step.inside) for step in Plan([whole], flat).steps] == [0, 0, 0, 3, 0, 3]
    single = Plan(
        [f.Xor((a,))], lambda formula: PreparedPart(getattr(formula, "parts", ()), lambda i, _: [*i, "x"], True)
    )
    assert single.run(np.zeros((1, 1))) == [[["x"], "x"]]  # a fold of one part is made of it


@pytest.mark.parametrize("most", [254, 255, 256, 257])
def test_counts_are_as_wide_as_they_must_be(most):
    weights = {2: np.array([0, most - 3, 1]), 0: np.array([1, 0, 1]), 1: np.array([0, 2, 0])}
    codes = np.array([[0, 1, 1], [1, 0, 2], [2, 1, 0], [1, 1, 1]])
    count = ColumnCount(weights)
    assert count([], codes).tolist() == [most, 1, 3, most - 1]
    assert count.kind == (np.uint8 if most <= 255 else np.int64)
