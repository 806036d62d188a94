"""Concept collapse: how many of the concepts that occur does the model no longer tell apart?"""

import math

import numpy as np

from assay.arrays import Array
from assay.metrics.evidence import Evidence
from assay.metrics.metric import overall


def collapse(truth: Array, predicted: Array) -> float:
    """Return the concept collapse: 1 - (values predicted) / (values predicted or true).

    >>> collapse(np.array([0, 1, 2, 3]), np.array([0, 0, 2, 2]))
    0.5
    """
    used = set(np.unique(predicted[predicted >= 0]).tolist())
    return 1 - len(used) / len(used | set(np.unique(truth).tolist()))


def collapse_of_vectors(truth: Array, predicted: Array) -> float:
    """Return the collapse where a value is a whole row of concepts.

    >>> collapse_of_vectors(np.array([[0, 0], [0, 1]]), np.array([[0, 0], [0, 0]]))
    0.5
    """
    said = predicted[(predicted >= 0).all(axis=1)]
    numbers = _numbered(np.concatenate([said, truth]))
    return collapse(numbers[len(said) :], numbers[: len(said)])


def _numbered(rows: Array) -> Array:
    """Return a number for each row, the same for equal rows: its digits in a mixed base, or where that is too long its
    place among the distinct rows.
    """
    sizes = [int(size) + 1 for size in rows.max(axis=0)]
    if math.prod(sizes) >= 2**62:
        return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1].ravel())
    weights = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    return np.asarray(rows @ np.array(weights, dtype=np.int64))


def collapse_by_group(evidence: Evidence) -> dict[str, float]:
    """Return the collapse of each encoder group, its concepts pooled."""
    return {
        name: collapse(evidence.concepts[:, columns].ravel(), evidence.predicted_concepts[:, columns].ravel())
        for name, columns in evidence.groups.items()
    }


@overall("collapse", "concept collapse Cls(C), pooled over concepts that share an encoder", better="lower")
def mean_collapse(evidence: Evidence) -> float:
    """Return the collapse of each encoder group, averaged over groups."""
    found = collapse_by_group(evidence)
    return float(np.mean(list(found.values()))) if found else float("nan")


@overall("collapse_joint", "concept collapse Cls(C) of whole concept vectors", better="lower")
def joint_collapse(evidence: Evidence) -> float:
    """Return the collapse where each combination of all concepts is one value, as for rsbench's driving tasks."""
    if len(evidence.answered) < evidence.concepts.shape[1]:
        return float("nan")
    return collapse_of_vectors(evidence.concepts, evidence.predicted_concepts)
