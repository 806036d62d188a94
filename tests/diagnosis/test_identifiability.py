"""What training labels can teach: counts, words and what to supervise, on rules whose readings are known."""

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.diagnosis import identifiability as module
from assay.diagnosis.identifiability import Identifiability, identifiability
from assay.logic.knowledge import NO_RULE, Knowledge, Label

XOR = Knowledge.of(bits(["a", "b"]), {"y": "xor(a, b)"})
ALL = XOR.space.all_codes()


def test_both_bits_upside_down_keep_an_xor():
    found = identifiability(XOR, np.repeat(ALL, 3, axis=0))
    assert (found.worlds, found.counted, found.low, found.high) == (4, 4, 2, 2)
    assert found.identified == {"a": False, "b": False} and len(found.settle) == 1
    assert found.text == (
        "The labels of 4 training worlds allow 1 reasoning shortcut: a wrong reading of the concepts that keeps every "
        f"label. Supervising {found.settle[0]} would rule it out."
    )
    assert found.to_dict() == {
        **{"training_worlds": 4, "worlds_counted": 4, "low": 2, "high": 2, "text": found.text},
        **{"identified": {"a": False, "b": False}, "settled_by": list(found.settle)},
    }


def test_only_some_concepts_may_be_identified():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b)", "z": "c"})
    found = identifiability(knowledge, knowledge.space.all_codes())
    assert found.identified == {"a": False, "b": False, "c": True} and found.high == 2


def test_labels_that_say_all_allow_no_shortcut():
    found = identifiability(Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"}), ALL)
    assert found.high == 1 and found.settle == () and set(found.identified.values()) == {True}
    assert found.text == (
        "The labels of 4 training worlds allow no reasoning shortcut: only the right reading of the concepts keeps "
        "them all."
    )


def test_of_very_many_worlds_some_are_counted(monkeypatch):
    monkeypatch.setattr(module, "MOST_WORLDS", 30)
    knowledge = Knowledge.of(digits(["a", "b"]), {"y": "a + b"})
    found = identifiability(knowledge, knowledge.space.all_codes())
    assert (found.worlds, found.counted, found.low) == (100, 25, 1)  # every fourth: one reading at least
    assert found.text.startswith("The labels of 25 of the 100 training worlds allow")


def test_bounds_and_many_in_words():
    some = Identifiability(4, 4, 1, 9, {}, ())
    assert some.text == "The labels of 4 training worlds allow from 0 to 8 reasoning shortcuts."
    many = Identifiability(1000, 1000, 5, 5, {}, ("a 0", "b 1"))
    assert many.text == (
        "The labels of 1,000 training worlds allow 4 reasoning shortcuts: wrong readings of the concepts that keep every "
        "label. Supervising a 0 and b 1 would rule them out."
    )


def test_without_worlds_or_time_nothing_is_said_of_entries():
    assert identifiability(XOR, None) is None and identifiability(XOR, ALL[:0]) is None
    hasty = identifiability(XOR, ALL, seconds=0)
    assert hasty.identified == {} and hasty.settle == () and hasty.low <= 2 <= hasty.high
    unruled = Knowledge(XOR.space, (Label("y", NO_RULE, (False, True)),))
    assert identifiability(unruled, ALL) is None


@pytest.mark.parametrize("most", [1, 2])
def test_what_to_supervise_is_planned_for_few_readings(most, monkeypatch):
    monkeypatch.setattr(module, "MOST_READINGS", most)
    assert bool(identifiability(XOR, ALL).settle) == (most == 2)
