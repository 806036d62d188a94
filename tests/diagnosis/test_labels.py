"""How right labels are, as plain data; the worst of several; the sentence about changes; conjunctions of any values."""

import numpy as np
import pytest
from scipy import stats

from assay.concepts import bits
from assay.diagnosis.concepts import RIGHT
from assay.diagnosis.counterfactual import Counterfactuals, Effects
from assay.diagnosis.labels import LabelState, expected_labels, judge_labels, worst
from assay.diagnosis.propagation import through_and
from assay.logic.knowledge import Knowledge, Odds
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.metrics.interval import wilson
from assay.metrics.score import Score
from assay.seeds import rng_for


def test_a_state_as_plain_data():
    low, high = wilson(45, 60)
    assert LabelState("y", "mostly right", 60, 45, 36, ("red",)).to_dict() == {
        "label": "y", "standing": "mostly right", "examples": 60, "right": 45, "accuracy": 0.75,
        "low": low, "high": high, "majority": 0.6, "missed_values": ["red"],
    }  # fmt: skip


def test_the_worst_label_decides():
    states = [LabelState("y", standing, 1, 1, 1, ()) for standing in ("right", "mostly right", "undecided", "wrong")]
    assert [worst(tuple(states[:n])) for n in (1, 2, 3, 4)] == ["right", "mostly right", "undecided", "wrong"]


def test_labels_left_to_chance_are_expected_to_be_the_likelier():
    odds = {"y": Odds(parse("2 * a - 1"), 0.5)}
    knowledge = Knowledge.of(bits(["a"]), {"y": "a", "z": "a"}, odds=odds)
    codes = np.array([[0], [1], [1]])
    drawn = np.array([[1, 1], [1, 0], [0, 1]])
    evidence = Evidence(knowledge, "test", drawn, codes, drawn, codes, (None, None), (None,))
    assert expected_labels(evidence).tolist() == [[0, 1], [1, 0], [1, 1]]  # only y is drawn


def test_values_that_are_clearly_missed_are_named():
    truth = np.repeat([0, 1], [300, 60])[:, None]
    said = np.where((truth == 1) & (np.arange(360)[:, None] % 2 == 0), 0, truth)
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
    (state,) = judge_labels(Evidence(knowledge, "test", truth, truth, said, truth, (None,), (None,)), 0.05)
    assert (state.right, state.majority, state.missed, state.accuracy) == (330, 300, ("True",), 330 / 360)


def score(value: float) -> Score:
    return Score("x", value, 0.0, 1.0, 10)


@pytest.mark.parametrize(
    ("follows", "stays", "text"),
    [
        (0.25, 0.75, "the label follows in 25 % of the changes that should move it and stays in 75 % of those that should not"),
        (0.25, np.nan, "the label follows in 25 % of the changes that should move it"),
        (np.nan, 0.75, "stays in 75 % of those that should not"),
    ],
)  # fmt: skip
def test_changes_in_a_sentence(follows, stays, text):
    effects = Effects(score(follows), score(stays), score(0.1), score(0.2))
    assert Counterfactuals("test", 10, effects, {}).text == f"When one concept is changed, {text}."
    assert effects.consistency == pytest.approx(np.nanmean([follows, stays]))
    assert effects.to_dict()["untouched"]["value"] == 0.2


def test_conjunctions_of_any_values():
    concepts = [np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.1, 0.3, 0.6], [0.2, 0.2, 0.6]])]
    assert through_and(concepts).tolist() == pytest.approx([0.24, 0.1])
    assert through_and(concepts, [0, 2]).tolist() == pytest.approx([0.12, 0.3])


def standing_by_tests(counts: np.ndarray, level: float) -> str:
    """The standing by scipy's binomial tests; rows are true values, columns what is said."""
    total, right, majority = int(counts.sum()), int(np.trace(counts)), int(counts.sum(axis=1).max())

    def missed(chance: float, recall: float) -> bool:
        rows = [row for row in range(len(counts)) if counts[row].sum()]
        tests = [stats.binomtest(int(counts[r, r]), int(counts[r].sum()), recall, alternative="less") for r in rows]
        return any(test.pvalue <= chance / len(rows) for test in tests)

    if right <= majority < total and missed(level, 0.5):
        return "wrong"
    if stats.binomtest(right, total, min(0.75, (1 + majority / total) / 2), alternative="less").pvalue <= level:
        return "wrong"
    low = stats.binomtest(right, total).proportion_ci(method="wilson").low
    learned = right > majority or majority == total
    if low >= RIGHT and learned and not missed(0.05, RIGHT):
        return "right"
    return "mostly right" if low >= 0.75 and learned else "undecided"


def test_standings_are_those_of_scipys_tests():
    rng, seen = rng_for(0, "standings"), set()
    for rows in (12, 40, 90, 300):
        for _ in range(60):
            first, errors = rng.integers(0, rows + 1), rng.random(2) ** 3
            counts = np.array([[first, 0], [0, rows - first]])
            for value in (0, 1):
                wrong = int(counts[value, value] * errors[value])
                counts[value, 1 - value], counts[value, value] = wrong, counts[value, value] - wrong
            truth = np.repeat([0, 0, 1, 1], counts.ravel())[:, None]
            said = np.repeat([0, 1, 0, 1], counts.ravel())[:, None]
            knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
            evidence = Evidence(knowledge, "test", truth, truth, said, truth, (None,), (None,))
            (state,) = judge_labels(evidence, 0.01)
            assert state.standing == standing_by_tests(counts, 0.01), counts.tolist()
            seen.add(state.standing)
    assert seen == {"right", "mostly right", "undecided", "wrong"}
