"""Rules compiled by what they count: small diagrams of large boards; that they are right is a law of formulas."""

from math import comb

import pytest

from assay import Concept, ConceptSpace, bits, compile_diagram, evaluate, parse
from assay.base import TooLarge
from assay.logic import Count, Var, conjunction, exactly, true_outcomes, truth_diagram

BITS = [f"b{number}" for number in range(64)]
RULES = [
    "count(a > e, b > d, c == a, d == 2, e + b == 3) >= 3",
    "2 * a - 3 * b + c * d - e > 1",
    "count(a == 1, b == 1, c == 1) == 1 and 2 * d + e >= 4 or a * e == 2",
    "max(a + b + c - 3, d) == e",
    "max(0, count(a == 1, b == 1, c == 1) - 1) + count(b == 2, c == 2) <= d",
    "(count(a == b, c == d, a == d) if b > 2 else a + c) == 2",
    "iff(a + 2 * b > c, count(c == d, d == e, a == e) == 1)",
]


@pytest.mark.parametrize("text", RULES)
def test_rules_that_count_are_no_larger_than_in_the_general_way(text):
    sizes = {"a": 3, "b": 4, "c": 4, "d": 3, "e": 4}
    space = ConceptSpace(tuple(Concept(name, tuple(range(size))) for name, size in sizes.items()))
    codes, rule = space.all_codes(), parse(text)
    made, expected = truth_diagram(rule, space), evaluate(rule, space, codes)
    assert true_outcomes(made)[made.outcome_of(codes)].tolist() == expected.tolist()
    assert 0 < expected.sum() < len(codes) and made.order == tuple(range(5))
    assert made.size <= compile_diagram([rule], space, space.names).size
    assert made.counts[(True,)] == expected.sum()


def test_large_boards_are_small_diagrams_and_too_large_ones_are_refused():
    board = bits(BITS)
    made = truth_diagram(exactly(32, *map(Var, BITS)), board)
    assert made.counts[(True,)] == comb(64, 32) and made.width <= 34
    with pytest.raises(TooLarge, match="outgrows 50 nodes"):
        truth_diagram(exactly(32, *map(Var, BITS)), board, budget=50)
    halves = conjunction(*(Count(tuple(map(Var, BITS[n::8]))).eq(4) for n in range(8)))
    with pytest.raises(TooLarge, match="tallies have 1,679,616 combinations, more than 400,000"):
        truth_diagram(halves, board)
    four = bits([*"abcd"])  # so many tallies before each concept, three ones and more together
    assert truth_diagram(parse("count(a, b, c, d) == 2"), four, budget=1 + 2 + 3 + 4).counts[(True,)] == 6
    with pytest.raises(TooLarge, match="outgrows 9 nodes"):
        truth_diagram(parse("count(a, b, c, d) == 2"), four, budget=9)


@pytest.mark.parametrize("large", [10**9, 2**40, 2**63, 2**80])
def test_sums_of_large_numbers_are_compiled_too(large):
    values = {"a": (0, large), "b": (-large, 3, large), "c": (1, large + 1)}
    space = ConceptSpace((*(Concept(name, own) for name, own in values.items()), *bits(["p"]).concepts))
    codes = space.all_codes()
    for text in (f"a + b + c > {large + 3}", f"count(a == {large}, b == c, p) == 2 and a - b + c != {2 * large + 1}"):
        made, expected = truth_diagram(parse(text), space), evaluate(parse(text), space, codes)
        assert true_outcomes(made)[made.outcome_of(codes)].tolist() == expected.tolist() and 0 < expected.sum() < 24
    near = ConceptSpace(tuple(Concept(name, (large, large + 2)) for name in "abc"))  # large, and not far apart
    assert truth_diagram(parse(f"a + b + c == {3 * large + 4}"), near).counts == {(False,): 5, (True,): 3}
    assert truth_diagram(parse("a == b"), near).counts == {(False,): 4, (True,): 4}
