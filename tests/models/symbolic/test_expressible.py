"""How many clauses of how many objects and literals a rule takes, in a wide and in a narrow bias."""

import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.logic import parse
from assay.models.symbolic.ilp import expressible
from assay.models.symbolic.ilp.expressible import (
    ClauseSketch,
    ClauseWriter,
    Expressibility,
    Inexpressible,
    express_rule,
)
from assay.prolog import Bias, Language

CARS = [(f"car{place}", "colour", ("red", "blue", "green", "white")) for place in (1, 2, 3)]
CARS += [(f"car{place}", "wheels", (1, 2, 3)) for place in (1, 2, 3)]
NUMBERS = tuple(Concept(name, (0, 1, 2, 3)) for name in "nmk")
SPACE = ConceptSpace(
    (*(Concept(f"{car}.{name}", values) for car, name, values in CARS), *NUMBERS, Concept("on", (False, True))),
    tuple(Slot(f"car{place}", "cars", ("colour", "wheels")) for place in (1, 2, 3)),
)
WIDE = Bias(SPACE)
NARROW = Bias(SPACE, Language(order=False, comparisons=False, others=False, triples=False, counts=1))
REDS = "count(c.colour == 'red' for c in cars)"


def sizes(rule, bias):
    """Return the objects and literals of each clause, or None where there are no clauses."""
    try:
        return [(len(clause.objects), clause.literals) for clause in ClauseWriter(bias).clauses(parse(rule), {}, True)]
    except Inexpressible:
        return None


@pytest.mark.parametrize(
    ("rule", "wide", "narrow"),
    [
        ("on", [(0, 1)], [(0, 1)]),
        ("not on", [(0, 1)], [(0, 1)]),
        ("n > 1", [(0, 1)], [(0, 1)] * 2),
        ("n == 1 or on", [(0, 1)] * 2, [(0, 1)] * 2),
        ("on and n == 1", [(0, 2)], [(0, 2)]),
        ("not (on and n == 1)", [(0, 1)] * 3, [(0, 1)] * 4),
        ("not (on or n == 1)", [(0, 2)] * 2, [(0, 2)] * 3),
        ("on >> (n == 1)", [(0, 1)] * 2, [(0, 1)] * 2),
        ("not (on >> (n == 1))", [(0, 2)] * 2, [(0, 2)] * 3),
        ("n == 2 and m == 3 if on else m == 1", [(0, 3), (0, 2)], [(0, 3), (0, 2)]),
        ("n < m", [(0, 1)], [(0, 2)] * 6),
        ("m > n", [(0, 1)], [(0, 2)] * 6),
        ("n + m == 3", [(0, 2)] * 4, [(0, 2)] * 4),
        ("n * m > 2", [(0, 2)] * 6, [(0, 2)] * 6),
        ("n != 0 and n != 3", [(0, 2)], [(0, 2)] * 9),
        ("not (n * m <= 2)", [(0, 2)] * 6, [(0, 2)] * 6),
        ("n >= 0", [(0, 0)], [(0, 0)]),
        ("n < 0", [], []),
        ("n < 0 or on", [(0, 1)], [(0, 1)]),
        ("n < 0 and on", [], []),
        ("all_different(n, m)", [(0, 1)], [(0, 2)] * 12),
        ("all_different(n, m, k, 4)", [(0, 3)], None),
        ("all_equal(n, m)", [(0, 1)], [(0, 2)] * 4),
        ("all_equal(n, m, k, n)", [(0, 2)], [(0, 4)] * 16),
        ("n + m + k == 0", [(0, 3)], [(0, 3)]),
        ("n + m + k >= 3", [(0, 3)] * 54, [(0, 3)] * 54),
        ("n + m + k != 0", [(0, 3)] * 63, [(0, 3)] * 63),
        ("n + m + k + on != 0", None, None),
    ],
)  # fmt: skip
def test_rules_of_the_whole_world(rule, wide, narrow):
    assert (sizes(rule, WIDE), sizes(rule, NARROW)) == (wide, narrow)


@pytest.mark.parametrize(
    ("rule", "wide", "narrow"),
    [
        ("any(c.colour == 'red' for c in cars)", [(1, 1)], [(1, 1)]),
        ("not all(c.colour == 'red' for c in cars)", [(1, 1)], [(1, 1)] * 3),
        ("all(c.colour == 'red' for c in cars)", None, None),
        ("all(c.colour != 'red' for c in cars)", [(0, 1)], [(0, 1)]),
        ("not any(c.colour == 'red' for c in cars)", [(0, 1)], [(0, 1)]),
        ("not any(c.wheels == 2 and c.colour == 'red' for c in cars)", None, None),
        ("any(c.colour == 'red' and c.wheels > 1 for c in cars)", [(1, 2)], [(1, 2)] * 2),
        ("any(c.number == 2 and c.wheels == 3 for c in cars)", [(1, 2)], None),
        ("any(a.colour == b.colour for a, b in pairs(cars))", [(2, 2)], None),
        ("any(a.wheels == 3 and b.wheels == 2 and on for a, b in pairs(cars))", [(2, 4)], None),
        ("any(any(a.wheels < b.wheels for b in cars) for a in cars)", [(2, 1)], [(2, 2)] * 3),
        ("any(any(b.wheels < a.wheels and on for b in cars) for a in cars)", [(2, 2)], [(2, 3)] * 3),
        ("any(any(a.wheels + 1 == b.wheels for b in cars) for a in cars)", [(2, 2)] * 2, [(2, 2)] * 2),
    ],
)  # fmt: skip
def test_rules_of_objects(rule, wide, narrow):
    assert (sizes(rule, WIDE), sizes(rule, NARROW)) == (wide, narrow)


@pytest.mark.parametrize(
    ("rule", "clauses"),
    [
        (f"{REDS} == 2", 1), (f"{REDS} >= 2", 1), (f"{REDS} > 2", 1), (f"{REDS} < 2", 2), (f"{REDS} <= 2", 3),
        (f"not {REDS} < 2", 1), (f"not {REDS} == 2", 3), (f"not {REDS} > 1", 2), (f"not {REDS} <= 0", 2),
        (f"not {REDS} != 3", 1), (f"not {REDS} >= 1", 1),
        (f"{REDS} != 3", 3), (f"{REDS} != 1", 2), (f"{REDS} > 3", 0), (f"{REDS} >= 0", 3), (f"{REDS} == 4", 0),
        ("count(c.wheels > 1 for c in cars) == 2", 0), ("count(c.wheels == 1 for c in cars) > 0", 2),
        ("count(c.colour != 'red' for c in cars) == 3", 0), ("count(True for c in cars) == 3", 0),
        ("count(a.colour == 'red' and on for a in cars) == 1", 0),
    ],
)  # fmt: skip
def test_counts_are_put_together_from_the_fewest_literals(rule, clauses):
    assert sizes(rule, WIDE) == ([(0, 1)] * clauses or None)


def test_counts_go_as_far_as_the_bias_counts():
    assert sizes(f"{REDS} == 1", NARROW) == [(0, 1)] and sizes(f"{REDS} < 2", NARROW) == [(0, 1)] * 2
    assert sizes(f"{REDS} == 2", NARROW) is None and sizes(f"{REDS} >= 2", NARROW) is None


def test_objects_that_may_be_absent_are_counted_themselves():
    colours = (ABSENT, "red", "blue")
    space = ConceptSpace(
        (Concept("a.colour", colours), Concept("b.colour", colours)),
        (Slot("a", "cars", ("colour",)), Slot("b", "cars", ("colour",))),
    )
    assert sizes("count(True for c in cars) == 2", Bias(space)) == [(0, 1)]
    assert sizes("count(True for c in cars) == 0", Bias(space)) is None
    assert sizes("count(c.colour == 'blue' for c in cars) >= 1", Bias(space)) == [(0, 1)] * 2


def told(rule, values=(False, True), **language):
    return express_rule(parse(rule), Bias(SPACE, Language(**language)), values)


def test_a_rule_that_is_just_small_enough_is_expressible():
    assert told("n == 1 or on", clauses=2) == Expressibility(True, 2)
    assert told("n == 1 or on", clauses=1).why == "it takes 2 clauses as it is written, and 1 are allowed"
    assert told("n == 1 and on", literals=2) == Expressibility(True, 1)
    assert told("n == 1 and on", literals=1).why == "a clause takes 2 literals"
    assert told("any(c.wheels == 1 for c in cars)", objects=1) == Expressibility(True, 1)
    assert told("any(c.wheels == 1 for c in cars)", objects=0).why == "a clause speaks of 1 objects"
    assert told("all(c.wheels == 1 for c in cars)").why == "it counts 'count(not c.wheels == 1 for c in cars)'"
    assert told("nobody").why.startswith("the rule cannot be read as clauses (")
    assert told("n + m + k + on != 0").why == "no literal says 'n + m + k + on != 0'"


def test_of_a_rule_with_several_values_each_must_be_expressible():
    assert told("n", (0, 1, 2)) == Expressibility(True, 1)
    assert told("n + m", (0, 3, 1), comparisons=False) == Expressibility(True, 4)
    assert not told("n + m", (0, 3, 1), clauses=3, comparisons=False).holds
    assert told("n + m", (0, 1), clauses=3, comparisons=False) == Expressibility(True, 2)
    assert told("n == 1", (0, 1)).holds
    assert told("on", clauses=1).to_dict() == {"expressible": True, "clauses": 1, "why": ""}


def test_more_than_64_clauses_are_too_many(monkeypatch):
    assert told("n == 1 or m == 1 or k == 1", clauses=9).clauses == 3
    monkeypatch.setattr(expressible, "MOST_CLAUSES", 3)
    assert told("n == 1 or m == 1 or k == 1", clauses=9).clauses == 3
    monkeypatch.setattr(expressible, "MOST_CLAUSES", 2)
    assert told("n == 1 or m == 1 or k == 1", clauses=9).why == "it takes more than 2 clauses as it is written"


def test_tables_that_are_too_large_are_not_made(monkeypatch):
    monkeypatch.setattr(expressible, "MOST_TABLE", 16)
    assert told("n + m == 0").holds and not told("n + m + on == 0").holds
    assert told("3 > 2").why == "no literal says '3 > 2'"


def test_sketches_are_joined():
    joined = ClauseSketch((("a", "cars"),), 2) + ClauseSketch((("b", "boats"),), 3)
    assert joined == ClauseSketch((("a", "cars"), ("b", "boats")), 5) and ClauseSketch() == ClauseSketch((), 0)


@pytest.mark.parametrize(
    ("rule", "wide", "narrow"),
    [
        ("(n == 1) >> on", [(0, 1)] * 3, [(0, 1)] * 4),  # that n is not 1 takes two bounds, or three values
        ("m == 1 if n == 2 else on", [(0, 2)] * 3, [(0, 2)] * 4),
        ("all_different(n, m, k)", [(0, 3)] * 24, [(0, 3)] * 24),
        ("n * 0 + m * 0 + k * 0 + on == 1", [(0, 4)] * 64, [(0, 4)] * 64),
        ("any(c.number == c.wheels for c in cars)", [(1, 1)], None),
        ("any(c.number < c.wheels for c in cars)", [(1, 1)], None),
        ("car1.colour == 'red'", None, None),  # no object is called by its name
    ],
)
def test_rules_whose_parts_are_unlike(rule, wide, narrow):
    assert (sizes(rule, WIDE), sizes(rule, NARROW)) == (wide, narrow)


def test_the_dearest_value_counts_wherever_it_stands():
    assert told("n + m", (3, 0, 1), comparisons=False) == Expressibility(True, 4)
    assert told("n + m", (0, 1, 3), comparisons=False) == Expressibility(True, 4)
    assert not told("n + m", (3, 0), clauses=3, comparisons=False).holds
