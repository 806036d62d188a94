"""Comparisons of examples: what counts as a rise is exact, and what is named as wrong has paid for all that was tried."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from assay.concepts import bits
from assay.diagnosis.comparisons import _worst_types, find_memorised, new_worlds, region_scores, rises
from assay.diagnosis.findings import DROP, FEWEST
from assay.diagnosis.verdict import diagnose
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence


def shares(before: int, after: int, rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(rows) < before, np.arange(rows) < after


@pytest.mark.parametrize(("before", "after"), [(5, 30), (10, 40), (0, 20), (50, 80)])
def test_a_rise_is_fishers_test(before: int, after: int) -> None:
    first, second = shares(before, after)
    table = [[after, 100 - after], [before, 100 - before]]
    chance = fisher_exact(table, alternative="greater").pvalue
    assert rises(first, second, chance * 1.001) and not rises(first, second, chance * 0.999)
    assert not rises(second, first, 1.0) and not rises(first, first, 1.0)


def test_a_rise_has_a_size_and_examples() -> None:
    many = 100_000
    below = shares(1000, 1000 + int(DROP * many) - 100, many)
    above = shares(1000, 1000 + int(DROP * many) + 100, many)
    assert not rises(*below, 0.05) and rises(*above, 0.05)
    few = np.ones(FEWEST - 1, dtype=bool), np.ones(FEWEST, dtype=bool)
    nothing = np.zeros(50, dtype=bool)
    assert rises(nothing, few[1], 0.05) and not rises(nothing, few[0], 0.05)
    assert rises(nothing[:FEWEST], np.ones(50, bool), 0.05) and not rises(
        nothing[: FEWEST - 1], np.ones(50, bool), 0.05
    )


def test_intervals_must_not_touch_for_a_rise() -> None:
    first, second = shares(10, 18)
    assert not rises(first, second, 1.0)  # the ends of their intervals overlap, whatever the level


def test_types_are_named_if_clearly_wrong_for_all_that_there_are() -> None:
    inside = np.zeros((60, 3), dtype=bool)
    inside[:20, 0] = inside[20:40, 1] = inside[40:, 2] = True
    right = np.zeros(60, dtype=bool)
    right[:5], right[20:23], right[40:50] = True, True, True
    chance = 0.0207  # at most 5 of 20 where half are right
    names = ["one", "two", "three"]
    assert _worst_types(names, inside, right, chance * 3.1) == ["'two' (3 of 20 right)", "'one' (5 of 20 right)"]
    assert _worst_types(names, inside, right, chance * 2.9) == ["'two' (3 of 20 right)"]
    assert _worst_types(["one"], inside[:, :1], right, chance * 1.1) == ["'one' (5 of 20 right)"]
    assert _worst_types(["none"], np.zeros((60, 1), dtype=bool), right, 1.0) == []


XOR = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)"})


def evidence(codes: np.ndarray, wrong: np.ndarray, split: str = "test") -> Evidence:
    labels = XOR.labels_of(codes)
    return Evidence(
        XOR, split, labels, codes, np.where(wrong[:, None], 1 - labels, labels), codes, (None,), (None,) * 3
    )


def test_new_worlds_are_those_that_training_has_not() -> None:
    worlds = XOR.space.all_codes()
    held = evidence(np.repeat(worlds, 2, axis=0), np.zeros(16, dtype=bool))
    new = new_worlds(held, worlds[[0, 3, 3]])
    assert new is not None and (~new).nonzero()[0].tolist() == [0, 1, 6, 7]
    assert new_worlds(held, None) is None and new_worlds(held, worlds[:0]) is None
    gaps = np.where(np.arange(16)[:, None] == 5, -1, held.concepts)
    assert new_worlds(evidence(np.abs(gaps), np.zeros(16, bool)), worlds) is not None
    unknown = Evidence(XOR, "test", held.labels, gaps, held.labels, gaps, (None,), (None,) * 3)
    assert new_worlds(unknown, worlds) is None


def test_a_model_that_is_right_on_training_worlds_only_has_memorised_them() -> None:
    worlds = np.repeat(XOR.space.all_codes(), 30, axis=0)
    new = np.repeat(np.arange(8) >= 4, 30)
    found = diagnose({"test": evidence(worlds, new & (np.arange(240) % 2 == 0))}, training=XOR.space.all_codes()[:4])
    memorised = [finding for finding in found.findings if finding.kind == "memorised"]
    assert [finding.numbers for finding in memorised] == [
        {"seen": 120, "seen_right": 120, "new": 120, "new_right": 60}
    ]  # fmt: skip
    everywhere = diagnose({"test": evidence(worlds, np.arange(240) % 2 == 0)}, training=XOR.space.all_codes()[:4])
    assert "memorised" not in everywhere.kinds and find_memorised({}, {}) is None


def test_without_training_worlds_the_first_split_is_compared_with_the_others() -> None:
    worlds = np.repeat(XOR.space.all_codes(), 30, axis=0)
    half, none = np.arange(240) % 2 == 0, np.zeros(240, dtype=bool)
    found = diagnose({"test": evidence(worlds, none), "far": evidence(worlds, none), "ood": evidence(worlds, half)})
    (memorised,) = [finding for finding in found.findings if finding.kind == "memorised"]
    assert memorised.numbers == {"seen": 240, "seen_right": 240, "new": 240, "new_right": 120}
    assert memorised.split == "test, ood" and "of 240 examples of test, and in 50 % " in memorised.text
    hard = diagnose({"test": evidence(worlds, none), "hard": evidence(worlds, half)})
    assert "memorised" not in hard.kinds  # hard worlds are no new ones
    turned = diagnose({"ood": evidence(worlds, half), "test": evidence(worlds, none)})
    assert "memorised" not in turned.kinds


CUBE = Knowledge.of(bits(["a", "b", "c", "d"]), {"y": "a and b and c and d"})


def answered(wrong_near: int, wrong_far: int) -> Evidence:
    """Worlds one and two and more changes from the rule, 60 of each, of which so many are answered wrong."""
    near, far = np.repeat([[1, 1, 1, 0]], 60, axis=0), np.repeat([[0, 0, 1, 0]], 60, axis=0)
    codes = np.concatenate([near, far, np.repeat([[1, 1, 1, 1]], 60, axis=0)])
    labels = CUBE.labels_of(codes)
    wrong = np.zeros(180, dtype=bool)
    wrong[:wrong_near] = wrong[60 : 60 + wrong_far] = True
    said = np.where(wrong[:, None], 1 - labels, labels)
    return Evidence(CUBE, "test", labels, codes, said, codes, (None,), (None,) * 4)


@pytest.mark.parametrize(
    ("near", "far", "found"), [(40, 0, True), (55, 0, True), (0, 0, False), (40, 40, False), (0, 40, False)]
)
def test_labels_wrong_near_the_boundary_and_right_far_from_it(near: int, far: int, found: bool) -> None:
    findings = [f for f in diagnose({"test": answered(near, far)}).findings if f.kind == "boundary"]
    assert bool(findings) == found
    if found:
        assert findings[0].labels == ("y",) and (("y is right in 33 % " in findings[0].text) == (near == 40))
        assert ("clearly wrong: 'a and b and c and not d' (5 of 60 right)" in findings[0].text) == (near == 55)


def test_accuracy_in_each_region_of_the_rule() -> None:
    scores = region_scores(answered(15, 6))
    assert [(s.label, s.kind, s.name, s.examples, s.accuracy) for s in scores] == [
        ("y", "variant", "a and b and c and d", 60, 1.0),
        ("y", "type", "a and b and c and not d", 60, 0.75),
        ("y", "far", "far", 60, 0.9),
    ]
    assert scores[0].to_dict()["examples"] == 60
