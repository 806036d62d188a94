"""Budgets give certified bounds, worlds too many to list are proved, and what cannot be counted says so in one line."""

import time
from itertools import count

import numpy as np
import pytest

from assay.base import ConfigError, KnowledgeError, TooLarge
from assay.counting import count_shortcuts
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, Slot, bits, digits
from tests.counting.rules import addition, cle4evr, conjunction, driving, names, xor


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
    bounds, exact = count_shortcuts(knowledge, family, seconds=0), count_shortcuts(knowledge, family)
    assert 1 <= bounds.low <= exact.total <= bounds.high
    assert bounds.total is None and bounds.readings is None and bounds.identifiability() == {}


def test_what_is_counted_in_time_counts_in_the_bounds():
    rule = {"y": "a == 1", "z": "xor(x0, x1, x2, x3)"}
    space = ConceptSpace((Concept("a", tuple(range(6))), *bits(names(4)).concepts))
    found = count_shortcuts(Knowledge.of(space, rule), "per-concept")
    assert found.low == found.high == 5**5 * 8


def test_bounds_hold_for_objects_too_many_to_list():
    found = count_shortcuts(cle4evr(3, 10, 10), "per-object", seconds=0)
    assert found.low == 1 and found.high == 10**200
    assert "10^200 readings" in repr(found) and "every world" in repr(found)


def test_a_sample_bounds_what_cannot_be_proved():
    found = count_shortcuts(cle4evr(3, 6, 6))
    assert found.total is None and found.low == 1 and 720**2 <= found.high < 10**9


def test_sums_of_eight_digits_have_one_reading():
    found = count_shortcuts(Knowledge.of(digits(names(8)), {"sum": " + ".join(names(8))}))
    assert (found.total, found.worlds) == (1, None) and set(found.identifiability().values()) == {1.0}


def test_two_equations_have_one_reading():
    equations = {"y": "x0 + x1 == x2 + x3", "z": "x4 * x5 == x6 * x7"}
    assert count_shortcuts(Knowledge.of(digits(names(8)), equations)).total == 1


def test_supervision_where_worlds_are_too_many_to_list():
    found = count_shortcuts(driving(), "per-concept", supervised={"follow": [True]})
    assert found.total == 2 and found.supervised == ("follow True",)


def test_concepts_that_no_label_asks_for_may_be_read_in_any_way():
    space = ConceptSpace((*bits(names(14)).concepts, Concept("idle", tuple(range(10)))))
    knowledge = Knowledge.of(space, {"y": f"xor({', '.join(names(14))})"})
    assert count_shortcuts(knowledge, "per-concept", seconds=0).high >= 2**13 * 10**10
    shown = dict.fromkeys(names(12))
    assert count_shortcuts(knowledge, "per-concept", supervised=shown).total == 2 * 10**10


def test_what_cannot_be_counted():
    with pytest.raises(ConfigError, match="no family of readings named 'blok'; did you mean 'block'"):
        count_shortcuts(addition(), "blok")
    with pytest.raises(TooLarge, match="too many for family 'block'; give a smaller support"):
        count_shortcuts(Knowledge.of(digits(names(8)), {"sum": " + ".join(names(8))}), "block")
    with pytest.raises(TooLarge, match="digits, more than the 100,000"):
        count_shortcuts(xor(20), "free")
    for family in ("shared", "block", "free"):
        with pytest.raises(KnowledgeError, match="no world in the support"):
            count_shortcuts(addition(), family, np.zeros((0, 2), dtype=np.int64))


def test_labels_may_be_absent():
    things = tuple(Slot(name, "things", ("hue",)) for name in ("x", "y"))
    hues = ("red", "green", "blue", "absent")
    space = ConceptSpace(tuple(Concept(f"{slot.name}.hue", hues) for slot in things), things)
    knowledge = Knowledge.of(space, {"first": "x.hue"})
    assert count_shortcuts(knowledge, "per-object").total == 1
    assert count_shortcuts(knowledge, "per-concept").total == 3**3  # y.hue is never asked for


def test_blocks_without_time_are_bounded_by_every_permutation_and_map():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    found = count_shortcuts(Knowledge.of(space, {"y": "a == b"}), "block", seconds=0)
    assert (found.low, found.high, found.worlds) == (1, 2 * 27**2, 6) and found.readings is None


SPLIT = Knowledge.of(
    ConceptSpace((*digits(["a", "b"], range(3)).concepts, *bits(names(3)).concepts)),
    {"y": "a + b", "z": "xor(x0, x1, x2)"},
)


def ticking(monkeypatch, stops=None):
    """Let each look at the clock take a second; at one of them the user interrupts."""
    looks = count(1)

    def look():
        now = next(looks)
        if now == stops:
            raise KeyboardInterrupt
        return float(now)

    monkeypatch.setattr(time, "monotonic", look)


@pytest.mark.parametrize(("knowledge", "family"), [(SPLIT, "per-concept"), (SPLIT, "shared"), (cle4evr(2, 2, 2), "shared"), (conjunction(4), "block"), (driving(), "per-concept")])  # fmt: skip
def test_every_budget_gives_bounds_around_the_truth_and_a_long_one_the_truth(knowledge, family, monkeypatch):
    exact, found = count_shortcuts(knowledge, family), None
    between = set()
    for budget in [*range(40), *range(40, 400, 15), 10_000]:
        with monkeypatch.context() as patch:
            ticking(patch)
            found = count_shortcuts(knowledge, family, seconds=budget)
        assert 1 <= found.low <= exact.total <= found.high and (found.total is None) == (found.low < found.high)
        assert found.total is None or found.total == exact.total
        between.add((found.low, found.high))
        if found.readings is not None:
            assert found.readings.plan() == (
                exact.readings.plan() if exact.readings else []
            )  # no budget is left behind
    assert found.total == exact.total and len(between) > 1


def test_a_part_that_is_not_counted_is_bounded_by_all_of_its_maps(monkeypatch):
    """One map of digits adds up, of 3**6; two bits may be flipped or none, 4 of 2**6."""
    between = set()
    for budget in range(200):
        with monkeypatch.context() as patch:
            ticking(patch)
            found = count_shortcuts(SPLIT, "per-concept", seconds=budget)
        between.add((found.low, found.high))
        assert ("budget" in found.method or "bounds only" in found.method) == (found.total is None)
    assert {(1, 3**6 * 2**6), (4, 4)} < between <= {(1, 3**6 * 2**6), (1, 2**6), (4, 4 * 3**6), (4, 4)}


def test_an_interruption_bounds_what_is_left(monkeypatch):
    known = set()
    for look in range(100, 240):
        with monkeypatch.context() as patch:
            ticking(patch, look)
            try:
                found = count_shortcuts(SPLIT, "per-concept", seconds=10_000)
            except KeyboardInterrupt:  # before anything was counted
                continue
        stopped = "interrupted" in found.method or "stopped by the budget" in found.method
        assert found.low <= 4 <= found.high and stopped == (found.total is None)
        known.add(found.total)
    assert known == {None, 4}


@pytest.mark.parametrize(("family", "most"), [("per-concept", 3**6 * 2**4 * 4**4), ("shared", 3**3 * 2**2 * 4**4), ("per-object", 3**6 * 2**6 * 4**4)])  # fmt: skip
def test_without_time_the_bound_is_the_number_of_all_readings(family, most):
    things = tuple(Slot(name, "things", ("hue", "size")) for name in ("x", "y"))
    kinds = {"hue": (0, 1, 2), "size": (0, 1)}
    concepts = [Concept(slot.concept(part), values) for slot in things for part, values in kinds.items()]
    eyes = [EncoderGroup(part, tuple(slot.concept(part) for slot in things)) for part in kinds]
    space = ConceptSpace(
        (*concepts, Concept("alone", (0, 1, 2, 3))), things, (*eyes, EncoderGroup("alone", ("alone",)))
    )
    idle = Knowledge.of(space, {"y": "alone >= 0"})
    every = frozenset(range(len(space)))  # those too that no label depends on
    bounds = count_shortcuts(idle, family, idle.space.all_codes(), seconds=-1, used=every)
    assert (bounds.low, bounds.high, bounds.total, bounds.readings) == (1, most, None, None)
    assert bounds.method == "bounds only: the time for counting is used up"
    assert count_shortcuts(idle, family, used=every).total == most == count_shortcuts(idle, family).total
