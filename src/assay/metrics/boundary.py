"""Is a model right where the rule is decided? Accuracy on each variant, at the boundary, and far from it.

A model can score well by telling positives from worlds that are nothing like them. What it knows of the rule shows
on those that miss it by one concept (`assay.logic.variants` says which they are). `region_scores` has each region by
itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.base import Array, Codes
from assay.metrics.evidence import Evidence, Side
from assay.metrics.interval import accuracy_of, interval_of
from assay.metrics.metric import Metric, overall

Region = Literal["variant", "type", "far"]


def balanced_accuracy(truth: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Return the accuracy on each value that occurs, averaged over the values; a row may stand for several.

    Parameters
    ----------
    truth
        The true codes of one label.
    predicted
        The predicted codes.
    weights
        How many examples each row stands for.

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    0.5
    """
    return float(accuracy_by_region(truth == predicted, truth[:, None] == np.unique(truth), weights).mean())


def accuracy_by_region(right: Array, inside: Array, weights: Array | None = None) -> Array:
    """Return the accuracy in each region (a column of `inside`), NaN for an empty one; a row may stand for several.

    >>> accuracy_by_region(np.array([True, False]), np.array([[True, False], [True, False]])).tolist()
    [0.5, nan]
    """
    often = np.ones(len(right), dtype=np.int64) if weights is None else weights
    with np.errstate(invalid="ignore"):
        return np.asarray((often * right) @ inside / (often @ inside))


def region_metric(name: str, summary: str, regions: Callable[[Side], Array]) -> Metric:
    """Register the accuracy on each region of a rule, averaged over the regions, then over labels."""

    def parts(evidence: Evidence) -> list[tuple[Array, Array, Array]]:
        right = evidence.labels == evidence.predicted_labels
        by_label = [(right[:, place], regions(side)) for place, side in enumerate(evidence.sides)]
        return [(hits, inside, evidence.weights) for hits, inside in by_label if inside.any()]

    def value(evidence: Evidence) -> float:
        accuracies = [float(np.nanmean(accuracy_by_region(*part))) for part in parts(evidence)]
        return float(np.mean(accuracies)) if accuracies else float("nan")

    def interval(evidence: Evidence) -> tuple[float, float]:
        return interval_of([accuracy_of(*part) for part in parts(evidence)])

    metric: Metric = overall(name, summary, interval=interval, counted=True)(value)
    return metric


def _balanced_interval(evidence: Evidence) -> tuple[float, float]:
    parts = []
    for truth, predicted in zip(evidence.labels.T, evidence.predicted_labels.T, strict=True):
        parts.append(accuracy_of(truth == predicted, truth[:, None] == np.unique(truth), evidence.weights))
    return interval_of(parts)


@overall(
    "balanced_accuracy",
    "accuracy on each value of a label, averaged over values and labels",
    interval=_balanced_interval,
    counted=True,
)
def mean_balanced_accuracy(evidence: Evidence) -> float:
    """Return the balanced accuracy of each label, averaged."""
    columns = zip(evidence.labels.T, evidence.predicted_labels.T, strict=True)
    return float(np.mean([balanced_accuracy(truth, predicted, evidence.weights) for truth, predicted in columns]))


variant_accuracy = region_metric(
    "variant_accuracy",
    "accuracy on each way in which a rule holds, averaged over the ways",
    lambda side: side.in_variants,
)
near_accuracy = region_metric(
    "near_accuracy",
    "accuracy on each near-boundary type of a rule, averaged over the types",
    lambda side: side.in_types,
)
far_accuracy = region_metric(
    "far_accuracy", "accuracy on worlds far from the boundary of a rule", lambda side: side.far[:, None]
)


@dataclass(frozen=True)
class RegionScore:
    """The accuracy of a label on the worlds of one variant or near-boundary type, or on those that are far."""

    label: str
    kind: Region
    name: str
    examples: int
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        return asdict(self)


def region_scores(evidence: Evidence) -> tuple[RegionScore, ...]:
    """Return the accuracy on every variant and type of every label that occurs, and on what is far."""
    scores: list[RegionScore] = []
    rows = evidence.distinct
    for place, (label, side) in enumerate(zip(rows.knowledge.labels, rows.sides, strict=True)):
        right = rows.labels[:, place] == rows.predicted_labels[:, place]
        regions: list[tuple[Region, Sequence[str], Any]] = [
            ("variant", side.variants, side.in_variants),
            ("type", side.types, side.in_types),
            ("far", ["far"], side.far[:, None]),
        ]
        for kind, names, inside in regions:
            accuracies, sizes = accuracy_by_region(right, inside, rows.weights), rows.weights @ inside
            for name, accuracy, size in zip(names, accuracies.tolist(), sizes.tolist(), strict=True):
                if size:
                    scores.append(RegionScore(label.name, kind, name, size, accuracy))
    return tuple(scores)
