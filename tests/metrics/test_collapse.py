"""Concept collapse as the paper defines it: 1 - |predicted| / |predicted or true|."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.data import Dataset
from assay.metrics import METRICS, gather
from assay.metrics.concept_collapse import (
    collapse,
    collapse_by_group,
    collapse_interval,
    collapse_of_vectors,
    joint_collapse_interval,
)
from assay.metrics.interval import from_error
from tests.predictors import constant, labels_only, oracle, predictions, random_codes, reading, shuffled


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ([0, 1, 2, 3], [0, 1, 2, 3], 0),
        ([0, 1, 2, 3], [3, 2, 1, 0], 0),  # wrong, but all told apart
        ([0, 1, 2, 3], [0, 0, 0, 0], 3 / 4),
        ([0, 1, 2, 3], [9, 9, 9, 9], 4 / 5),  # what is predicted need not be true anywhere
        ([0, 0, 0, 0], [0, 1, 2, 3], 0),
        ([0, 1], [2, 3], 1 / 2),
        ([0, 1, 2], [-1, 0, -1], 2 / 3),  # silence is no value
        ([0, 1, 2], [-1, -1, -1], 1),
    ],
)
def test_by_hand(truth: list[int], predicted: list[int], expected: float) -> None:
    assert collapse(np.array(truth), np.array(predicted)) == pytest.approx(expected)
    as_rows = np.array(truth)[:, None], np.array(predicted)[:, None]
    assert collapse_of_vectors(*as_rows) == pytest.approx(expected)


@pytest.mark.parametrize("case", range(20))
def test_by_the_papers_confusion_matrix(case: int) -> None:
    truth, predicted = random_codes(3 + case, (8, 8), "collapse", case).T
    values = sorted({*truth.tolist(), *predicted.tolist()})
    matrix = np.array([[np.sum((truth == i) & (predicted == j)) for j in values] for i in values])
    assert collapse(truth, predicted) == pytest.approx(1 - np.clip(matrix.max(axis=0), 0, 1).sum() / len(values))


def test_vectors_with_a_gap_are_not_predicted() -> None:
    assert collapse_of_vectors(np.array([[0, 0], [0, 1]]), np.array([[0, -1], [0, 1]])) == 0.5


def test_of_known_predictors(evenodd: Dataset, mnlogic: Dataset) -> None:
    data, bits = evenodd.symbols("test"), mnlogic.symbols("test")
    assert METRICS["collapse"](oracle(data)) == METRICS["collapse"](shuffled(data)) == 0
    assert METRICS["collapse_joint"](shuffled(data)) == 0
    used = len(set(data.concepts[0].tolist()))
    assert METRICS["collapse"](constant(data)) == pytest.approx(1 - used / 10)
    assert METRICS["collapse_joint"](constant(data)) == pytest.approx(15 / 16)
    assert METRICS["collapse"](constant(bits)) == 0.5 and len(collapse_by_group(constant(bits))) == 3
    halves = reading(data, np.array([np.arange(10) // 2 * 2] * 2))
    assert METRICS["collapse"](halves) == 0.5 and collapse_by_group(halves) == {"digit": 0.5}


def test_where_the_model_is_silent(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    assert math.isnan(METRICS["collapse"](labels_only(data)))
    said = data.concepts.copy()
    said[:, 0] = -1
    some = gather(data, predictions(data, data.labels, said))
    assert METRICS["collapse"](some) == 0 and math.isnan(METRICS["collapse_joint"](some))


def test_a_value_never_said_may_be_said_another_time() -> None:
    truth = np.arange(400)[:, None] % 4
    low, high = collapse_interval(truth, np.minimum(truth, 2))
    assert high == pytest.approx(0.25, abs=1e-6) and 0 < low < 0.05  # 3 of 4 or 4 of 4
    assert collapse_interval(truth, truth) == pytest.approx((0, 0), abs=1e-6)
    once = np.where(np.arange(400)[:, None] == 3, 3, np.minimum(truth, 2))
    low, high = collapse_interval(truth, once)
    assert low == 0 and 0.2 < high < 0.25


def test_silence_is_no_value_in_intervals_either() -> None:
    truth = np.arange(40)[:, None] % 4
    silent = np.where(truth == 3, -1, truth)
    assert collapse_interval(truth, silent)[1] == pytest.approx(
        collapse_interval(truth, np.minimum(truth, 2))[1], abs=0.01
    )
    assert joint_collapse_interval(truth, np.full_like(truth, -1))[1] == 1


@pytest.mark.parametrize("case", range(6))
def test_leaving_out_each_example_in_turn(case: int) -> None:
    truth, said = (random_codes(30, (3, 3), "leave", case, side) for side in ("true", "said"))
    said[case:10:3] = -1
    without = [collapse_of_vectors(np.delete(truth, i, axis=0), np.delete(said, i, axis=0)) for i in range(30)]
    error = np.sqrt(29 * np.var(without))
    expected = from_error(collapse_of_vectors(truth, said), error, 30)
    assert joint_collapse_interval(truth, said) == pytest.approx(expected)


def test_the_interval_by_the_quantiles_of_each_value() -> None:
    truth, said = (random_codes(60, (7, 7), "quantiles", side) for side in ("true", "said"))
    said = np.where(said > 4, -1, said)  # 5 and 6 are never said
    truth[0], said[0] = 4, 3
    used = [stats.gamma(int((said == value).any(axis=1).sum()) + 0.5) for value in range(5)]
    never = 1 - math.exp(-stats.gamma(0.5).ppf(0.975))
    fewer = math.sqrt(sum(math.exp(-each.ppf(0.025)) ** 2 for each in used))
    found = collapse_interval(truth, said)
    assert found == pytest.approx((1 - (5 + never * math.sqrt(2)) / 7, 1 - (5 - fewer) / 7))
    often = random_codes(60, (4,), "often")[:, 0] + 1
    again = np.repeat(np.arange(60), often)
    assert collapse_interval(truth, said, often) == pytest.approx(collapse_interval(truth[again], said[again]))
    joint = joint_collapse_interval(truth, said, often)
    assert joint == pytest.approx(joint_collapse_interval(truth[again], said[again]))


def test_errors_of_groups_add_up_like_independent_ones(mnlogic: Dataset) -> None:
    evidence = constant(mnlogic.symbols("test"))
    parts = [collapse_interval(evidence.concepts[:, [i]], evidence.predicted_concepts[:, [i]]) for i in range(3)]
    low = 0.5 - math.sqrt(sum((0.5 - below) ** 2 for below, _ in parts)) / 3
    high = 0.5 + math.sqrt(sum((above - 0.5) ** 2 for _, above in parts)) / 3
    assert METRICS["collapse"].interval(evidence) == pytest.approx((low, high))
    assert np.isnan(METRICS["collapse"].interval(labels_only(mnlogic.symbols("test")))).all()
