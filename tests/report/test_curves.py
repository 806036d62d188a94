"""Risk-coverage curves: only of models that give probabilities of every label, thinned to what can be seen."""

import numpy as np
import pytest

from assay.concepts import bits
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.reporting.curves import MOST_POINTS, coverage_charts, coverage_of, shorten_run_names, thin_curve

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


def test_names_of_runs_are_what_tells_them_apart():
    assert shorten_run_names(["a-b-c-01234567", "a-b-d-89abcdef"]) == ["c", "d"]
    assert shorten_run_names(["a-b", "a"]) == ["a-b", "a"] and shorten_run_names(["a-0123456"]) == ["a-0123456"]


def test_each_task_has_a_chart_and_models_without_a_curve_have_no_line():
    curve = (np.array([0.5, 1.0]), np.array([1.0, 0.75]))
    charts = coverage_charts(
        [("one", "one-dpl", curve), ("two", "two-cbm", curve), ("one", "one-ltn", curve), ("one", "x", None)]
    )
    assert [(chart.title.partition(":")[0], [line.name for line in chart.lines]) for chart in charts] == [
        ("one", ["dpl", "ltn"]), ("two", ["two-cbm"]),
    ]  # fmt: skip
