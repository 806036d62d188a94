"""The solver and problems at their edges: what is simplified, what is tried next, and what time is left."""

import math
import re
from itertools import product

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, EncoderGroup, Slot, bits, digits
from assay.counting import cells, count_readings, counterexample_guided
from assay.counting import readings as readings_module
from assay.counting.count import _bounded
from assay.counting.problem import Problem, equals
from assay.counting.reading_classes import entry_of, most_readings
from assay.counting.readings import Readings
from assay.counting.solver import OutOfTime, Solver, check_time
from assay.errors import TooLarge
from assay.logic import Compare, Const, Knowledge, Not, Var, parse
from assay.seeds import rng_for

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


ODD_NAMES = ConceptSpace(
    (Concept("z", (10, 9, 2)), Concept("a", ("w", "v")), Concept("m", (10, 9, 2))),
    encoders=(EncoderGroup("zed", ("z", "m")), EncoderGroup("art", ("a",))),
)


def test_entries_stand_by_owner_as_first_met_and_by_value():
    knowledge = Knowledge.of(ODD_NAMES, {"y": "z > m and a == 'v'", "n": "z - m"})
    codes = ODD_NAMES.all_codes()[np.random.default_rng(0).permutation(18)[:11]]
    whole = {
        "per-concept": ["z 2", "z 9", "z 10", "a v", "a w", "m 2", "m 9", "m 10"],
        "shared": ["zed 2", "zed 9", "zed 10", "art v", "art w"],
    }
    for family, texts in whole.items():
        problem = Problem(knowledge, family, codes)
        assert [entry.text for entry in problem.entries] == texts
        assert problem.truth == tuple((2, 1, 0, 1, 0, 2, 1, 0)[: len(texts)])
        assert [concept.values for concept in problem.space.concepts] == [entry.values for entry in problem.entries]
        assert {n: problem.entries[n].text for n in problem.numbers.values()} == dict(enumerate(texts))
        known = problem.supervise({"m": [2, 10]}).supervise({"a": None})
        owner = "m" if family == "per-concept" else "zed"
        own = "a" if family == "per-concept" else "art"
        assert known.supervised == {(owner, (2,)), (owner, (10,)), (own, ("v",)), (own, ("w",))}


def test_readings_of_a_rule_that_compares_are_listed_planned_and_told():
    space = digits(["a", "b"], (3, 5, 8))
    knowledge = Knowledge.of(space, {"y": "a < b"})
    support = np.array([[2, 1], [0, 1], [1, 1], [2, 0], [1, 0], [0, 1]])
    readings = Readings(Problem(knowledge, "per-concept", np.unique(support, axis=0)))
    names = [entry.text for entry in readings.problem.entries]
    assert names == ["a 3", "a 5", "a 8", "b 3", "b 5"]
    values = (3, 5, 8)
    lawful = [
        codes
        for codes in product(range(3), repeat=5)
        if all((values[codes[a]] < values[codes[3 + b]]) == (a < b) for a, b in support.tolist())
    ]
    assert list(readings) == sorted(lawful) and readings.total == len(lawful) > 10
    for number in range(5):
        assert readings.confusion(number) == [sum(codes[number] == c for codes in lawful) for c in range(3)]
    truth = readings.problem.truth
    closest = sorted((codes for codes in lawful if codes != truth), key=lambda r: (sum(np.not_equal(r, truth)), r))
    assert readings.closest() == closest[:3] and readings.closest(5) == closest[:5]
    wrong = [f"{names[n]} as {values[c]}" for n, c in enumerate(closest[4]) if c != truth[n]]
    assert readings.text(closest[4]) == "reads " + ", ".join(wrong)

    def left(shown):
        return sum(all(codes[n] == truth[n] for n in shown) for codes in lawful)

    for plan, order in ((readings.plan(), range(5)), (readings.plan_frequent(), (4, 1, 2, 3, 0))):
        shown, steps = list[int](), list[tuple[str, int]]()
        while left(shown) > 1:
            best = min(order, key=lambda n: left([*shown, n]))
            shown.append(best)
            steps.append((names[best], left(shown)))
        assert [(step.supervised, step.left) for step in plan] == steps
        assert [entry.text for step in plan for entry in step.entries] == [name for name, _ in steps]
    worlds, shown, told = {tuple(row): [row[0], 3 + row[1]] for row in readings.problem.support.tolist()}, [], []
    while left(shown) > 1:
        world = min(worlds, key=lambda w: left([*shown, *worlds[w]]))
        shown += worlds[world]
        told.append((f"a={values[world[0]]} b={values[world[1]]}", left(shown), [names[n] for n in worlds[world]]))
    assert [
        (step.supervised, step.left, [entry.text for entry in step.entries]) for step in readings.plan_examples()
    ] == told


def test_entries_of_one_world_are_counted_once_in_a_frequent_plan():
    space = bits(["a", "b", "c"], shared=True)
    knowledge = Knowledge.of(space, {"y": "a == b", "z": "b or c or not c"})
    support = np.array([[1, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]])  # False in three worlds, True in three
    readings = Readings(Problem(knowledge, "shared", support))
    assert readings.total == 2
    assert [step.supervised for step in readings.plan_frequent()] == [readings.problem.entries[0].text]
    more = Readings(Problem(knowledge, "shared", np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 0]])))
    assert more.total == 2 and [step.supervised for step in more.plan()] == [more.problem.entries[0].text]
    true = Readings(Problem(knowledge, "shared", np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 1]])[:3]))
    assert [step.supervised for step in true.plan_frequent()] == [true.problem.entries[1].text]


def test_further_worlds_may_bring_further_entries():
    space = digits(["a", "b"], range(3))
    knowledge = Knowledge.of(space, {"sum": "a + b"})
    few = Readings(Problem(knowledge, "per-concept", np.array([[0, 0], [1, 0]])))
    more = few.add_worlds(np.array([[1, 0], [2, 2]]))
    assert more.problem.support.tolist() == [[0, 0], [1, 0], [2, 2]] and more.solver is not few.solver
    assert [entry.text for entry in more.problem.entries] == ["a 0", "a 1", "a 2", "b 0", "b 2"]
    assert more.total == Readings(Problem(knowledge, "per-concept", more.problem.support)).total
    same = more.add_worlds(np.array([[2, 0]]))
    assert same.solver is more.solver and same.problem.support.tolist() == [[0, 0], [1, 0], [2, 0], [2, 2]]
    assert same.total == Readings(Problem(knowledge, "per-concept", same.problem.support)).total


def test_where_worlds_are_too_many_readings_are_proved_or_bounded(monkeypatch):
    knowledge = Knowledge.of(bits([*"abc"]), {"y": "xor(a, b, c)"})
    monkeypatch.setattr(counterexample_guided, "FEW", 8)
    assert count_readings(knowledge, "per-concept").worlds == 8
    monkeypatch.setattr(counterexample_guided, "FEW", 7)
    found = count_readings(knowledge, "per-concept", supervised={"c": [True]})
    assert (found.low, found.high, found.worlds, found.supervised) == (2, 2, None, ("c True",))
    assert found.method.startswith("proved on all 8 worlds, ") and found.readings.solver.deadline == math.inf
    for most, low in ((4, 4), (3, 1)):
        monkeypatch.setattr(counterexample_guided, "MOST_READINGS", most)
        found = count_readings(knowledge, "per-concept")
        assert (found.low, found.high) == (low, 4) and found.method.startswith("bounds only") == (low == 1)
        assert (found.readings is None) == (low == 1)

    def refuse(*_):
        raise TooLarge("too many nodes")

    monkeypatch.setattr(counterexample_guided, "MOST_READINGS", 4)
    monkeypatch.setattr(counterexample_guided, "counterexample", refuse)
    unproved = count_readings(knowledge, "per-concept")
    assert (unproved.low, unproved.high, unproved.readings) == (1, 4, None)


def test_of_many_shares_the_first_twenty_are_shown():
    knowledge = Knowledge.of(digits(["a", "b"], range(11)), {"y": "a >= 3", "z": "b >= 3"})
    found = count_readings(knowledge, "per-concept", np.array([[n, n] for n in range(11)]))
    html = found._repr_html_()
    shown = re.findall(r">([ab] \d+)</td>.*?>(\d+ %)</td>", html)
    assert shown == [(f"{name} {n}", "33 %" if n < 3 else "12 %") for name in "ab" for n in range(11)][:20]
    assert found.total == 3**6 * 8**16
    assert found.identifiability()["a 0"] == pytest.approx(1 / 3) and found.identifiability()["b 9"] == 1 / 8


def test_time_that_is_up_before_anything_is_counted_leaves_the_number_of_all_readings():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    knowledge = Knowledge.of(space, {"y": "a > b"})
    found = count_readings(knowledge, "per-concept", np.array([[0, 1], [2, 0], [2, 0]]), seconds=-1.0)
    assert (found.low, found.high, found.worlds, found.total) == (1, 3**3 * 2**2, 2, None)
    assert found.method == "bounds only: the time for counting is used up" and found.readings is None


def test_a_problem_as_knowledge_says_which_readings_are_optimal():
    space = digits(["a", "b"], (3, 5))
    problem = Problem(Knowledge.of(space, {"y": "a < b"}), "per-concept", np.array([[0, 1], [1, 0], [1, 1]]))
    known = problem.supervise({"b": [5]}).as_knowledge()
    assert known.space.names == ("e0", "e1", "e2", "e3") and known.label_names == ("optimal",)
    codes = known.space.all_codes()
    optimal = codes[known.labels_of(codes)[:, 0] == 1].tolist()
    assert optimal == [list(reading) for reading in Readings(problem.supervise({"b": [5]}))]
    assert optimal == [[0, 1, 0, 1], [0, 1, 1, 1]]


@pytest.mark.parametrize("family", ["per-concept", "shared", "per-object"])
def test_cells_say_which_columns_decide_a_concept(family):
    slots = (Slot("x", "things", ("hue", "size")), Slot("y", "things", ("hue", "size")))
    concepts = [Concept(f"{slot.name}.{name}", values) for slot in slots for name, values in (("hue", ("r", "b", ABSENT)), ("size", (1, 2, 3, ABSENT)))]  # fmt: skip
    groups = (EncoderGroup("eye", ("x.size", "alone", "y.size")), EncoderGroup("ear", ("x.hue", "y.hue")))
    space = ConceptSpace((Concept("alone", (1, 2, 3, ABSENT)), *concepts), slots, groups)
    found = [(cell.owner, cell.columns, cell.concept) for cell in cells(space, family)]
    whole = ((1, 2), (1, 2), (3, 4), (3, 4))
    owners = ["things hue", "things size"] * 2
    assert (
        found
        == {
            "per-concept": [(name, (place,), place) for place, name in enumerate(space.names)],
            "shared": [(owner, (place,), place) for place, owner in enumerate(["eye", "ear", "eye", "ear", "eye"])],
            "per-object": [
                ("alone", (0,), 0),
                *((o, c, n) for n, (o, c) in enumerate(zip(owners, whole, strict=True), 1)),
            ],
        }[family]
    )
    codes = [3, 1, 2, 2, 3]
    entries = [entry_of(space, cell, codes) for cell in cells(space, family)]
    assert [(entry.values, entry.right) for entry in entries] == [
        ((ABSENT,), 0), (("r", "b"), 1), ((1, 2, 3), 2), ((ABSENT,), 0), ((ABSENT,), 0)]  # fmt: skip
    if family == "per-object":
        assert [entry.text for entry in entries] == ["alone absent", "things hue b, 3", "things size b, 3", "things hue absent, absent", "things size absent, absent"]  # fmt: skip
    most = {"per-concept": 3**3 * (2**2 * 3**3) ** 2, "shared": 3**3 * 2**2, "per-object": 3**3 * 2**6 * 3**6}
    assert most_readings(space, family) == most[family]


def test_of_very_many_shortcuts_those_of_a_sample_are_sorted(monkeypatch):
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"y": "a < 2", "z": "b == 1"})
    readings = Readings(Problem(knowledge, "per-concept", knowledge.space.all_codes()))
    truth = readings.problem.truth
    monkeypatch.setattr(readings_module, "MOST_LISTED", readings.total - 1)
    monkeypatch.setattr(readings_module, "SAMPLED", 7)
    drawn = {reading for reading in readings.sample(rng_for(0, "closest"), 7) if reading != truth}
    expected = sorted(drawn, key=lambda r: (sum(np.not_equal(r, truth)), r))
    assert readings.closest(20) == expected and readings.closest() == expected[:3] and len(expected) > 3
    monkeypatch.setattr(readings_module, "MOST_LISTED", readings.total)
    assert len(readings.closest(readings.total)) == readings.total - 1


def test_shares_are_of_all_readings_and_confusions_of_every_value():
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"y": "a < 2", "z": "b == 1"})
    readings = Readings(Problem(knowledge, "per-concept", knowledge.space.all_codes()))
    assert readings.total == 2**4 * 3**3
    found = {entry.text: share for entry, share in readings.identifiability()}
    assert found == pytest.approx({**{f"a {n}": 1 / 2 for n in range(4)}, "b 0": 1 / 3, "b 1": 1.0, "b 2": 1 / 3, "b 3": 1 / 3})  # fmt: skip
    assert readings.confusion(1) == [216, 216, 0, 0] and readings.confusion(2) == [0, 0, 216, 216]
    assert readings.confusion(4) == [144, 0, 144, 144] and readings.confusion(5) == [0, 432, 0, 0]
