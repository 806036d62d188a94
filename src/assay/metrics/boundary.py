"""Is a model right where the rule is decided? Accuracy on each variant, at the boundary, and far from it.

A model can score well by telling positives from worlds that are nothing like them. What it knows of the rule shows on
those that miss it by one concept (`assay.logic.variants` says which they are).
"""

from collections.abc import Callable

import numpy as np

from assay.arrays import Array, Codes
from assay.metrics.evidence import Evidence, Side
from assay.metrics.metric import overall


def balanced_accuracy(truth: Codes, predicted: Codes) -> float:
    """Return the accuracy on each value that occurs, averaged over the values.

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    0.5
    """
    return float(np.mean([(predicted[truth == value] == value).mean() for value in np.unique(truth)]))


def accuracy_by_region(right: Array, inside: Array) -> Array:
    """Return the accuracy in each region (a column of `inside`), NaN for one that is empty.

    >>> accuracy_by_region(np.array([True, False]), np.array([[True, False], [True, False]])).tolist()
    [0.5, nan]
    """
    sizes = inside.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray((right[:, None] & inside).sum(axis=0) / sizes)


def _averaged(evidence: Evidence, regions: Callable[[Side], Array]) -> float:
    """Return the accuracy averaged over the regions of each label, then over labels."""
    found = []
    for place, side in enumerate(evidence.sides):
        right = evidence.labels[:, place] == evidence.predicted_labels[:, place]
        accuracies = accuracy_by_region(right, regions(side))
        if not np.isnan(accuracies).all():
            found.append(float(np.nanmean(accuracies)))
    return float(np.mean(found)) if found else float("nan")


@overall("balanced_accuracy", "accuracy on each value of a label, averaged over values and labels")
def mean_balanced_accuracy(evidence: Evidence) -> float:
    """Return the balanced accuracy of each label, averaged."""
    columns = range(evidence.labels.shape[1])
    return float(np.mean([balanced_accuracy(evidence.labels[:, i], evidence.predicted_labels[:, i]) for i in columns]))


@overall("variant_accuracy", "accuracy on each way in which a rule holds, averaged over the ways")
def variant_accuracy(evidence: Evidence) -> float:
    """Return the accuracy on the positive variants."""
    return _averaged(evidence, lambda side: side.in_variants)


@overall("near_accuracy", "accuracy on each near-boundary type of a rule, averaged over the types")
def near_accuracy(evidence: Evidence) -> float:
    """Return the accuracy on worlds that one change brings across the boundary."""
    return _averaged(evidence, lambda side: side.in_types)


@overall("far_accuracy", "accuracy on worlds far from the boundary of a rule")
def far_accuracy(evidence: Evidence) -> float:
    """Return the accuracy on worlds that no single change brings across the boundary."""
    return _averaged(evidence, lambda side: side.far[:, None])
