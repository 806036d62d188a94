"""Concept collapse as the paper defines it: 1 - |predicted| / |predicted or true|."""

import math

import numpy as np
import pytest

from assay.data.dataset import Dataset
from assay.metrics import METRICS
from assay.metrics.collapse import collapse, collapse_by_group, collapse_of_vectors
from assay.metrics.evidence import gather
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
