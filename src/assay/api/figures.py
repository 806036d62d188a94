"""Figures of a model's predictions on a split."""

import numpy as np

from assay.base import ConfigError, Figure, curve_plot, find_rows, picture_sheet, shorten
from assay.contracts import Predictions
from assay.dataset import Dataset
from assay.metrics import Evidence, gather_from
from assay.reporting import coverage_of


def plot_coverage(dataset: Dataset, *answers: Predictions) -> Figure:
    """Draw how accurate models are on the examples of which they are most confident (risk-coverage curves)."""
    points = np.linspace(0, 1, 51)
    curves = {}
    for number, predictions in enumerate(answers):
        curve = coverage_of(gather_from(dataset, predictions))
        if curve is None:
            raise ConfigError("a coverage curve needs probabilities of every label")
        name = str(predictions.about.get("model", f"model {number + 1}"))
        curves[name if name not in curves else f"{name} {number + 1}"] = np.interp(points, *curve).tolist()
    return curve_plot("share of examples that are decided", points.tolist(), curves, "accuracy on these")


def plot_errors(dataset: Dataset, predictions: Predictions, count: int = 12) -> Figure:
    """Draw pictures with a wrong label, each with what is true and what was predicted."""
    data, evidence = dataset[predictions.split], gather_from(dataset, predictions)
    wrong = np.flatnonzero((evidence.labels != evidence.predicted_labels).any(axis=1))[:count]
    rows = find_rows(predictions.index[wrong], data.index)
    captions = [_caption(evidence, int(row)) for row in wrong]
    return picture_sheet(list(data.pictures(rows)), captions)


def _caption(evidence: Evidence, row: int) -> str:
    texts = []
    for label, true, said in zip(
        evidence.knowledge.labels, evidence.labels[row], evidence.predicted_labels[row], strict=True
    ):
        if true != said:
            texts.append(f"{label.name}: {label.values[true]} -> {label.values[said] if said >= 0 else 'none'}")
    return shorten(", ".join(texts), 40)
