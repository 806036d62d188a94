"""How right each label is: by tests, with the values that are missed, and by the likelier value where it is drawn."""

from typing import Any

import numpy as np
from scipy import stats

from assay.base import Codes, rng_for
from assay.diagnosis import diagnose, read_thresholds
from assay.logic import Knowledge, LabelNoise, bits, digits, parse
from assay.metrics import Evidence, wilson
from tests.diagnosis.models import evidence

QUICK = read_thresholds({"verdict.resamples": 0})
LEVEL, ODD, MISSED, MOSTLY, RIGHT = 0.01, 0.02, 0.88, 0.75, 0.9
VALUE = 0.05
"""The chance that some value is called missed though it is not."""


def judged(truth: Codes, predicted: Codes, knowledge: Knowledge | None = None) -> Any:
    """Return how the label `y` is judged, which is that of the one concept `a`."""
    knowledge = knowledge or Knowledge.of(digits(["a"], range(max(3, int(truth.max()) + 1))), {"y": "a"})
    (state,) = diagnose(
        {"test": evidence(knowledge, truth, predicted=predicted, labels=truth)}, thresholds=QUICK
    ).labels["test"]
    return state


def by_counts(counts: np.ndarray) -> Any:
    """Return how a label is judged of which the true value `row` is predicted as `column` so often."""
    truth, said = (np.repeat(codes.ravel(), counts.ravel()) for codes in np.indices(counts.shape))
    return judged(truth[:, None], said[:, None])


def standing_by_tests(counts: np.ndarray) -> str:
    """Return the standing by scipy's binomial tests."""
    total, right, majority = int(counts.sum()), int(np.trace(counts)), int(counts.sum(axis=1).max())

    def missed(recall: float, level: float) -> bool:
        rows = [row for row in range(len(counts)) if counts[row].sum()]
        tests = [stats.binomtest(int(counts[r, r]), int(counts[r].sum()), recall, alternative="less") for r in rows]
        return any(test.pvalue <= level / len(rows) for test in tests)

    if right <= majority < total and missed(0.5, LEVEL):
        return "wrong"
    if stats.binomtest(right, total, min(MOSTLY, (1 + majority / total) / 2), alternative="less").pvalue <= LEVEL:
        return "wrong"
    learned = right > majority or majority == total
    surely = stats.binomtest(right, total, RIGHT, alternative="greater").pvalue <= ODD
    if learned and surely and not missed(MISSED, VALUE):
        return "right"
    return "mostly right" if learned and wilson(right, total)[0] >= MOSTLY else "undecided"


def test_standings_are_those_of_scipys_tests() -> None:
    rng, seen = rng_for(0, "standings"), set()
    for rows in (12, 40, 90, 300):
        for _ in range(40):
            first, errors = int(rng.integers(1, rows)), rng.random(2) ** 3
            wrong = [int(first * errors[0]), int((rows - first) * errors[1])]
            counts = np.array([[first - wrong[0], wrong[0]], [wrong[1], rows - first - wrong[1]]])
            state = by_counts(counts)
            assert state.standing == standing_by_tests(counts), counts.tolist()
            assert (state.right, state.examples, state.majority) == (np.trace(counts), rows, max(first, rows - first))
            seen.add(state.standing)
    assert seen == {"right", "mostly right", "undecided", "wrong"}


def test_values_that_are_clearly_missed_are_named() -> None:
    state = by_counts(np.array([[300, 0], [30, 30]]))
    assert state.missed == ("1",) and state.standing == "mostly right" and state.accuracy == 330 / 360
    low, high = wilson(330, 360)
    assert state.to_dict() == {
        "label": "y", "standing": "mostly right", "examples": 360, "right": 330, "accuracy": 330 / 360,
        "low": low, "high": high, "majority": 300 / 360, "missed_values": ["1"],
    }  # fmt: skip


def test_a_label_of_many_values_need_not_be_right_in_three_of_four() -> None:
    truth = np.tile(np.arange(10)[:, None], (40, 1))
    said = np.where(np.arange(400)[:, None] < 240, truth, (truth + 1) % 10)  # 60 %, of which chance has 10
    assert judged(truth, said).standing == "undecided"


def test_labels_that_are_drawn_are_judged_by_the_likelier_value_and_others_as_they_are() -> None:
    knowledge = Knowledge.of(bits(["a"]), {"y": "a", "z": "a"}, odds={"y": LabelNoise(parse("2 * a - 1"), 0.5)})
    codes = np.array([[0], [1], [1]])
    drawn = np.array([[1, 1], [1, 0], [0, 1]])
    said = knowledge.labels_of(codes)
    held = Evidence(knowledge, "test", drawn, codes, said, codes, (None, None), (None,))
    assert [state.right for state in diagnose({"test": held}).labels["test"]] == [3, 1]
