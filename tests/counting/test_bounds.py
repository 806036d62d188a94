"""Budgets give certified bounds, worlds too many to list are proved, and what cannot be counted says so in one line."""

import math

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot, bits, digits
from assay.counting import count_readings, counterexample_guided
from assay.counting.reading_classes import most_readings
from assay.counting.solver import OutOfTime, Solver
from assay.errors import ConfigError, KnowledgeError, TooLarge
from assay.logic import Constraint, Knowledge, parse
from tests.counting import brute
from tests.counting.random_tasks import flat_space, random_task, slot_space
from tests.counting.rules import addition, cle4evr, conjunction, driving, names, xor

KINDS = [("per-concept", flat_space), ("shared", flat_space), ("per-object", slot_space)]


@pytest.mark.parametrize(
    ("knowledge", "family"),
    [
        (cle4evr(2, 4, 3), "shared"),
        (xor(6), "per-concept"),
        (conjunction(4), "block"),
        (driving(), "per-concept"),
        (addition(), "per-concept"),
    ],
)
def test_no_time_gives_bounds_around_the_truth(knowledge, family):
    bounds, exact = count_readings(knowledge, family, seconds=0), count_readings(knowledge, family)
    assert 1 <= bounds.low <= exact.total <= bounds.high
    assert bounds.total is None and bounds.readings is None and bounds.identifiability() == {}


def test_what_is_counted_in_time_counts_in_the_bounds():
    rule = {"y": "a == 1", "z": "xor(x0, x1, x2, x3)"}
    space = ConceptSpace((Concept("a", tuple(range(6))), *bits(names(4)).concepts))
    found = count_readings(Knowledge.of(space, rule), "per-concept")
    assert found.low == found.high == 5**5 * 8


def test_bounds_hold_for_objects_too_many_to_list():
    found = count_readings(cle4evr(3, 10, 10), "per-object", seconds=0)
    assert found.low == 1 and found.high == 10**200
    assert "10^200 readings" in repr(found) and "every world" in repr(found)


def test_a_sample_bounds_what_cannot_be_proved():
    found = count_readings(cle4evr(3, 6, 6))
    assert found.total is None and found.low == 1 and 720**2 <= found.high < 10**9


def test_sums_of_eight_digits_have_one_reading():
    found = count_readings(Knowledge.of(digits(names(8)), {"sum": " + ".join(names(8))}))
    assert (found.total, found.worlds) == (1, None) and set(found.identifiability().values()) == {1.0}


def test_two_equations_have_one_reading():
    equations = {"y": "x0 + x1 == x2 + x3", "z": "x4 * x5 == x6 * x7"}
    assert count_readings(Knowledge.of(digits(names(8)), equations)).total == 1


def test_supervision_where_worlds_are_too_many_to_list():
    found = count_readings(driving(), "per-concept", supervised={"follow": [True]})
    assert found.total == 2 and found.supervised == ("follow True",)


def test_concepts_that_no_label_asks_for_may_be_read_in_any_way():
    space = ConceptSpace((*bits(names(14)).concepts, Concept("idle", tuple(range(10)))))
    knowledge = Knowledge.of(space, {"y": f"xor({', '.join(names(14))})"})
    assert count_readings(knowledge, "per-concept", seconds=0).high >= 2**13 * 10**10
    shown = dict.fromkeys(names(12))
    assert count_readings(knowledge, "per-concept", supervised=shown).total == 2 * 10**10


def test_proofs_agree_with_brute_force(monkeypatch):
    """A sample of two worlds, so that entries are missing from it and worlds refute; rules with quantifiers too."""
    monkeypatch.setattr(counterexample_guided, "FEW", -1)
    monkeypatch.setattr(counterexample_guided, "SAMPLE", 2)
    for seed in range(60):
        family, make = KINDS[seed % 3]
        task = random_task(seed, make, family)
        expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
        found = count_readings(task.knowledge, family)
        assert found.total == len(expected), (seed, task)
        assert found.worlds is None


@pytest.mark.parametrize("family", ["shared", "per-concept"])
def test_proofs_ask_possible_worlds_only(family, monkeypatch):
    space = digits(["a", "b"], range(3))
    knowledge = Knowledge.of(space, {"y": "a + b == 2"}, [Constraint("less", parse("a < b"))])
    expected = brute.readings(space, lambda world: sum(world) == 2, [(0, 1), (0, 2), (1, 2)], family)
    listed = count_readings(knowledge, family)
    monkeypatch.setattr(counterexample_guided, "FEW", -1)
    assert count_readings(knowledge, family).total == listed.total == len(expected) > 1


def test_what_cannot_be_counted():
    with pytest.raises(ConfigError, match="no family of readings named 'blok'; did you mean 'block'"):
        count_readings(addition(), "blok")
    with pytest.raises(TooLarge, match="too many for family 'block'; give a smaller support"):
        count_readings(Knowledge.of(digits(names(8)), {"sum": " + ".join(names(8))}), "block")
    with pytest.raises(TooLarge, match="digits, more than the 100,000"):
        count_readings(xor(20), "free")
    for family in ("shared", "block", "free"):
        with pytest.raises(KnowledgeError, match="no world in the support"):
            count_readings(addition(), family, np.zeros((0, 2), dtype=np.int64))


def test_labels_may_be_absent():
    things = tuple(Slot(name, "things", ("hue",)) for name in ("x", "y"))
    hues = ("red", "green", "blue", "absent")
    space = ConceptSpace(tuple(Concept(f"{slot.name}.hue", hues) for slot in things), things)
    knowledge = Knowledge.of(space, {"first": "x.hue"})
    assert count_readings(knowledge, "per-object").total == 1
    assert count_readings(knowledge, "per-concept").total == 3**3  # y.hue is never asked for


@pytest.mark.parametrize("missing", ["y", "z"])
def test_a_part_that_is_not_counted_is_bounded_by_all_of_its_maps(missing, monkeypatch):
    space = ConceptSpace((*digits(["a", "b"], range(3)).concepts, *bits(names(3)).concepts))
    knowledge = Knowledge.of(space, {"y": "a + b", "z": "xor(x0, x1, x2)"})
    counts, maps = {"y": 1, "z": 4}, {"y": 3**6, "z": 2**6}  # one map of digits adds up; two bits may be flipped
    count = Solver.count

    def counts_the_other(solver, part):
        sizes = {size for place, size in enumerate(solver.space.sizes) if solver.mask(part) >> place & 1}
        if sizes == {3 if missing == "y" else 2}:
            raise OutOfTime
        return count(solver, part)

    monkeypatch.setattr(Solver, "count", counts_the_other)
    found = count_readings(knowledge, "per-concept")
    known = math.prod(number for label, number in counts.items() if label != missing)
    assert (found.low, found.high) == (known, known * maps[missing])
    assert "stopped by the budget" in found.method and found.total is None


def test_an_interruption_bounds_what_is_left(monkeypatch):
    space = ConceptSpace((*digits(["a"], range(3)).concepts, *bits(names(3)).concepts))
    knowledge = Knowledge.of(space, {"y": "a == 1", "z": "xor(x0, x1, x2)"})
    monkeypatch.setattr(Solver, "count", lambda solver, part: (_ for _ in ()).throw(KeyboardInterrupt))
    found = count_readings(knowledge, "per-concept")
    assert (found.low, found.high, found.worlds) == (1, 3**3 * 2**6, 24) and "interrupted" in found.method


def test_blocks_without_time_are_bounded_by_every_permutation_and_map():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    found = count_readings(Knowledge.of(space, {"y": "a == b"}), "block", seconds=0)
    assert (found.low, found.high, found.worlds) == (1, 2 * 27**2, 6) and found.readings is None


def test_the_most_readings_are_those_of_a_rule_that_asks_for_nothing():
    things = tuple(Slot(name, "things", ("hue", "size")) for name in ("x", "y"))
    concepts = [
        Concept(f"{slot.name}.{part}", values)
        for slot in things
        for part, values in (("hue", (0, 1, 2)), ("size", (0, 1)))
    ]
    space = ConceptSpace((*concepts, Concept("alone", (0, 1, 2, 3))), things)
    knowledge = Knowledge.of(space, {"y": "alone >= 0"})
    for family in ("per-concept", "shared", "per-object"):
        assert most_readings(space, family) == count_readings(knowledge, family).total
    assert most_readings(space, "per-object") == 3**6 * 2**6 * 4**4
    with pytest.raises(ConfigError, match="'free' is not read concept by concept"):
        most_readings(space, "free")
