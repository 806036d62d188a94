"""The solver and problems at their edges: what is simplified, what is tried next, and what time is left."""

import math

import numpy as np
import pytest

from assay.concepts import ABSENT, bits, digits
from assay.counting import readings as readings_module
from assay.counting.count import ReadingCount, _bounded
from assay.counting.problem import Problem, equals
from assay.counting.readings import Readings
from assay.counting.solver import OutOfTime, Solver, check_time
from assay.logic.formula import Compare, Const, Not, Var
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse

XOR = Knowledge.of(bits(["a", "b"]), {"y": "xor(a, b)"})


def test_constraints_are_taken_apart_and_what_others_imply_is_dropped():
    solver = Solver(bits(["a", "b", "c"]))
    a, b, c = (solver.terms.variable(name) for name in "abc")
    negate = solver.terms.negate
    assert solver.part([parse("a and (b and c)")]) == {a, b, c}
    assert solver.part([parse("not (a or b)")]) == {negate(a), negate(b)}
    assert solver.part([parse("a or b"), parse("a")]) == {a} and solver.part([parse("True")]) == frozenset()
    assert solver.part([parse("a"), parse("not a")]) == {solver.terms.false}
    assert solver.part([parse("not (a and b)"), parse("not b")]) == {negate(b)}
    clause = solver.terms.term(parse("not (a and b)"))
    assert solver.clause(clause) == {negate(a), negate(b)} and solver.clause(a) == frozenset()
    assert solver.clause(solver.terms.term(parse("a or c"))) == {a, c}


def test_what_is_tried_next_has_few_values_left_and_many_constraints():
    solver = Solver(digits([*"abcd"], range(4)))
    assert solver.choice(solver.part([parse("a != b"), parse("b != c")])) == 1
    assert solver.choice(solver.part([parse("c != d"), parse("a != b")])) == 0  # the first of those that are alike
    assert solver.choice(solver.part([parse("a != b"), parse("d < 2")])) == 3
    assert solver.choice(solver.part([parse("a + b + c < 3"), parse("c != d")])) == 2
    term = solver.terms.term(parse("d != 1"))
    assert solver._allowed(term, 3) == 0b1101 and solver._sizes(0b101) == 16 and solver._sizes(0) == 1


def test_time_that_is_up_is_told():
    check_time(math.inf)
    with pytest.raises(OutOfTime, match="the time for counting is used up"):
        check_time(0.0)
    with pytest.raises(OutOfTime):
        Solver(bits(["a"]), -1.0).part([parse("a")])


def test_parts_that_are_not_counted_in_time_are_bounded():
    knowledge = Knowledge.of(digits([*"ab"], range(3)), {"y": "a != b"})
    readings = Readings(Problem(knowledge, "per-concept", knowledge.space.all_codes()))
    exact = readings.total
    late = Readings(Problem(knowledge, "per-concept", knowledge.space.all_codes()))
    late.solver.deadline = 0.0
    found = _bounded(late, 0.0)
    assert (found.low, found.high) == (1, 3**6) and found.total is None and found.readings is None
    assert found.method == "residual constraints, stopped by the budget" and late.solver.deadline == math.inf
    again = _bounded(readings, 0.0)
    assert again.total == exact == 6 and again.readings is readings and again.method == "residual constraints"


def test_bounds_are_written_as_such():
    wide = ReadingCount("shared", 1234, 1, 5000, "m", 0.5)
    assert (
        repr(wide) == "ReadingCount(1 to 5,000 readings keep every label, the right one included; shared, 1,234 worlds)"
    )
    assert wide.to_dict() == {"low": 1, "high": 5000, "family": "shared", "worlds": 1234, "method": "m", "seconds": 0.5,
                              "shown": [], "identifiability": {}}  # fmt: skip


def test_labels_as_constraints():
    label, number = XOR.labels[0], Knowledge.of(digits(["a"]), {"n": "a + 1"}).labels[0]
    assert equals(Var("a"), label, 1) == Var("a") and equals(Var("a"), label, 0) == Not(Var("a"))
    assert equals(Var("a"), number, 2) == Compare("==", Var("a"), Const(3))
    assert equals(Var("a"), number, -1) == Compare("==", Var("a"), Const(ABSENT))


def test_supervision_is_on_the_values_that_are_named():
    problem = Problem(XOR, "per-concept", XOR.space.all_codes())
    assert [entry.text for entry in problem.entries] == ["a False", "a True", "b False", "b True"]
    some = problem.supervise({"a": [True]})
    assert some.supervised == {("a", (True,))} and some.supervise({"b": None}).supervised == {
        ("a", (True,)), ("b", (False,)), ("b", (True,))}  # fmt: skip
    assert Readings(problem).total == 2 and Readings(some).total == 1
    assert problem.truth == (0, 1, 0, 1) and list(Readings(problem)) == [(0, 1, 0, 1), (1, 0, 1, 0)]


def test_the_closest_shortcuts_are_listed_or_sampled(monkeypatch):
    readings = Readings(Problem(XOR, "per-concept", XOR.space.all_codes()[:2]))
    everything = sorted(readings)
    truth = readings.problem.truth
    expected = sorted((r for r in everything if r != truth), key=lambda r: (sum(np.not_equal(r, truth)), r))
    assert readings.closest(9) == expected and readings.closest(1) == expected[:1]
    monkeypatch.setattr(readings_module, "MOST_LISTED", len(everything))
    assert readings.closest(9) == expected
    monkeypatch.setattr(readings_module, "MOST_LISTED", 0)
    assert set(readings.closest(9)) <= set(expected)
    assert readings.text(truth) == "reads everything right"
