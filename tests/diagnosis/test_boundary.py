"""Accuracy on each way to keep or just miss a rule, and the sentence for models that fail there and only there."""

import numpy as np
import pytest

from assay.base import Array
from assay.diagnosis import Finding, diagnose
from assay.logic import Knowledge, bits, digits
from assay.metrics import METRICS, Evidence

LAMPS = Knowledge.of(bits(["lamp", "bus", "tram", "rain"]), {"y": "lamp and (bus or tram)"})
"""True: lamp and bus, lamp and tram. Just misses: without the lamp, or without both. Far: neither lamp nor either."""
HELD = 12
"""In how many copies each of the 16 worlds is shown."""


def evidence(knowledge: Knowledge, wrong: Array, split: str = "test") -> Evidence:
    """Return the evidence of a model that is wrong on these worlds; every world is shown some times."""
    codes = np.repeat(knowledge.space.all_codes(), HELD, axis=0)
    truth, rows = knowledge.labels_of(codes), np.repeat(wrong, HELD)
    said = np.where(rows[:, None], (truth + 1) % 2, truth)
    silent = (None,) * truth.shape[1], (None,) * codes.shape[1]
    return Evidence(knowledge, split, truth, codes, said, codes, *silent)


@pytest.fixture
def near() -> Array:
    """Which worlds just miss the rule."""
    return LAMPS.boundaries[0].near(LAMPS.space.all_codes())


def test_regions_are_counted_by_hand(near: Array) -> None:
    found = diagnose({"test": evidence(LAMPS, near)}).regions["test"]
    assert {(one.kind, one.name, one.examples // HELD, one.accuracy) for one in found} == {
        ("variant", "lamp and bus", 4, 1.0),
        ("variant", "lamp and tram", 4, 1.0),
        ("type", "not lamp and bus", 4, 0.0),
        ("type", "not lamp and tram", 4, 0.0),
        ("type", "lamp and not bus and not tram", 2, 0.0),
        ("far", "far", 2, 1.0),
    }
    assert found[0].to_dict() == {
        "label": "y", "kind": "variant", "name": "lamp and bus", "examples": 48, "accuracy": 1.0,
    }  # fmt: skip


def test_the_metrics_are_the_means_of_the_regions(near: Array) -> None:
    half = near & (LAMPS.space.all_codes()[:, 3] == 1)  # wrong near the boundary when it rains
    held = evidence(LAMPS, half)
    told = {name: METRICS[name](held) for name in ("variant_accuracy", "near_accuracy", "far_accuracy")}
    assert told == {"variant_accuracy": 1.0, "near_accuracy": 0.5, "far_accuracy": 1.0}
    true, false = held.labels == 1, held.labels == 0
    right = held.labels == held.predicted_labels
    assert METRICS["balanced_accuracy"](held) == (right[true].mean() + right[false].mean()) / 2


def told(wrong: Array, split: str = "test") -> Finding | None:
    """Return what is told of the boundary of a model that is wrong on these worlds."""
    found = diagnose({split: evidence(LAMPS, wrong, split)})
    return next((finding for finding in found.findings if finding.kind == "boundary"), None)


def test_a_model_that_fails_at_the_boundary_is_told_so(near: Array) -> None:
    half = near & (np.cumsum(near) % 2 == 1)
    found = told(half, "hard")
    rows, wrong = int(near.sum()) * HELD, int(half.sum()) * HELD
    assert found is not None and found.labels == ("y",)
    assert f"y is right in {100 * (1 - wrong / rows):.0f} % (" in found.text and f"of {rows} examples" in found.text
    assert f"in 100 % (86 to 100 %) of {2 * HELD}" in found.text


def test_types_that_fail_are_named() -> None:
    """Of worlds with three of four bits true, those without d are nearly always wrong."""
    knowledge = Knowledge.of(bits([*"abcd"]), {"y": "a and b and c and d"})
    codes = np.concatenate([np.repeat(knowledge.space.all_codes(), 40, axis=0), np.ones((200, 4), dtype=np.int64)])
    truth, near, rows = knowledge.labels_of(codes), codes.sum(axis=1) == 3, np.arange(len(codes)) % 40
    wrong = near & (rows < np.where(codes[:, 3] == 0, 36, 18))
    silent = (None,), (None,) * 4
    held = Evidence(knowledge, "test", truth, codes, np.where(wrong[:, None], 1 - truth, truth), codes * 0 - 1, *silent)
    found = next(finding for finding in diagnose({"test": held}).findings if finding.kind == "boundary")
    assert (
        "clearly wrong: 'a and b and c and not d' (4 of 40 right)" in found.text and found.wrong_labels == wrong.sum()
    )


@pytest.mark.parametrize("which", ["none", "one in eight", "all", "far", "true"])
def test_other_models_are_not(which: str, near: Array) -> None:
    """Those that are right, that fail everywhere, or that fail on what is easier."""
    codes = LAMPS.space.all_codes()
    true = LAMPS.labels_of(codes)[:, 0] == 1
    wrong = {
        "none": np.zeros(len(codes), dtype=bool),
        "one in eight": near & (np.cumsum(near) % 8 == 1),
        "all": np.ones(len(codes), dtype=bool),
        "far": ~near & ~true | near,
        "true": true,
    }[which]
    assert told(wrong) is None


def test_a_few_examples_are_no_ground_to_judge_by(near: Array) -> None:
    few = evidence(LAMPS, near & (np.cumsum(near) % 2 == 1)).take(np.arange(0, 16 * HELD, HELD))
    assert "boundary" not in diagnose({"test": few}).kinds  # ten examples near the boundary, two far from it


def test_sound_is_not_said_of_a_model_that_fails_at_the_boundary(near: Array) -> None:
    good, bad = evidence(LAMPS, np.zeros_like(near)), evidence(LAMPS, near & (np.cumsum(near) % 2 == 1), "hard")
    found = diagnose({"test": good, "hard": bad})
    assert "boundary" in found.kinds and found.verdict != "sound"
    assert diagnose({"test": good}).kinds == ("sound",)
    assert {split: len(regions) for split, regions in found.regions.items()} == {"test": 6, "hard": 6}


def test_labels_of_many_values_have_changes_for_types() -> None:
    """Of a sum every change of a digit is one of the label, and nothing is far."""
    knowledge = Knowledge.of(digits(["a", "b"], [0, 1, 2]), {"sum": "a + b"})
    held = evidence(knowledge, np.zeros(9, dtype=bool))
    judged = diagnose({"test": held})
    found = judged.regions["test"]
    assert {(one.kind, one.name, one.examples) for one in found} == {
        ("type", "change a", 9 * HELD),
        ("type", "change b", 9 * HELD),
    }
    assert judged.verdict == "sound"
