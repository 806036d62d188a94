"""Risk-coverage and reliability curves: only of models that give probabilities of every label, thinned to what can be seen."""

from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import bits
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.reporting import coverage_of
from assay.reporting.curves import MOST_POINTS, label_reliability, thin_curve

TWO = Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"})


def evidence(*soft):
    codes = np.array([[0, 0], [1, 1], [1, 0], [0, 1]])
    said = np.array([[0, 0], [1, 1], [1, 1], [0, 1]])
    return Evidence(TWO, "test", codes, codes, said, codes, soft, (None, None))


def sure(*confidences):
    return np.array([[1 - p, p] for p in confidences])


def test_the_confidence_in_all_labels_is_the_product():
    x, y = coverage_of(evidence(sure(0.9, 0.8, 0.6, 0.7), sure(0.9, 0.8, 0.9, 0.6)))
    assert x.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert y == pytest.approx([1, 1, 2 / 3, 3 / 4])  # the third by confidence (0.54) is wrong in z


def test_a_model_without_probabilities_of_some_label_has_none():
    assert coverage_of(evidence(sure(0.9, 0.8, 0.6, 0.7), None)) is None
    assert coverage_of(evidence(None, None)) is None


def test_curves_are_thinned_with_their_ends():
    x = np.linspace(0, 1, 5000)
    short = thin_curve((x, x**2))
    assert len(short[0]) == MOST_POINTS and (short[0][0], short[0][-1]) == (0, 1) and (short[1] == short[0] ** 2).all()
    few = thin_curve((x[:7], x[:7]))
    assert few[0].tolist() == x[:7].tolist()


def test_reliability_is_the_accuracy_in_each_bin_of_confidence_over_all_labels():
    soft = sure(0.9, 0.8, 0.6, 0.7), None
    line = label_reliability(evidence(*soft))  # predicts 1 for all: right in rows 1 and 2
    assert line.x == pytest.approx([0.6, 0.7, 0.8, 0.9]) and line.y == [1.0, 0.0, 1.0, 0.0]
    both = label_reliability(evidence(soft[0], sure(0.9, 0.8, 0.6, 0.7)))  # of b rows 1 and 3 are 1
    assert both.x == pytest.approx([0.6, 0.7, 0.8, 0.9]) and both.y == [0.5, 0.5, 1.0, 0.0]
    assert label_reliability(evidence(None, None)) is None


def test_labels_that_are_not_known_are_left_out_of_reliability():
    given = evidence(sure(0.9, 0.8, 0.6, 0.7), None)
    labels = given.labels.copy()
    labels[[0, 3], 0] = -1
    assert label_reliability(replace(given, labels=labels)).y == [1.0, 1.0]
