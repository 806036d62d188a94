"""Concept collapse: how many of the concepts that occur does the model no longer tell apart?"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from assay.base import Array, distinct_rows, number_rows
from assay.metrics.evidence import Evidence
from assay.metrics.interval import from_error
from assay.metrics.metric import overall


def collapse(truth: Array, predicted: Array) -> float:
    """Return the concept collapse: 1 - (values predicted) / (values predicted or true).

    >>> collapse(np.array([0, 1, 2, 3]), np.array([0, 0, 2, 2]))
    0.5
    """
    used = set(np.unique(predicted[predicted >= 0]).tolist())
    there = used | set(np.unique(truth[truth >= 0]).tolist())
    return 1 - len(used) / len(there) if there else math.nan


def collapse_of_vectors(truth: Array, predicted: Array) -> float:
    """Return the collapse where a value is a whole row of concepts.

    >>> collapse_of_vectors(np.array([[0, 0], [0, 1]]), np.array([[0, 0], [0, 0]]))
    0.5
    """
    complete = predicted[(predicted >= 0).all(axis=1)]
    numbers = number_rows(np.concatenate([complete, truth]))
    return collapse(numbers[len(complete) :], numbers[: len(complete)])


def collapse_by_group(evidence: Evidence) -> dict[str, float]:
    """Return the collapse of each encoder group, its concepts pooled."""
    return {
        name: collapse(evidence.concepts[:, columns].ravel(), evidence.judged_concepts[:, columns].ravel())
        for name, columns in evidence.groups.items()
        if evidence.known[:, columns].any()
    }


def collapse_interval(truth: Array, predicted: Array, weights: Array | None = None) -> tuple[float, float]:
    """Return a 95 % interval for the collapse on test sets of this size: rows of codes, the columns pooled.

    A row may stand for several examples, as many as its weight.

    A value that is said in k examples is said in about Gamma(k + 1/2) of as many others (Jeffreys), and so in some of
    them with a chance between the 2.5 % quantile and 1; one that is never said, between 0 and the 97.5 % quantile.
    These ranges add up like independent errors. Resamples would not do: they hold fewer values, and none that is new.

    >>> [round(x, 2) for x in collapse_interval(np.array([[0], [1], [2], [3]] * 9), np.array([[0], [0], [2], [2]] * 9))]
    [0.18, 0.5]
    """
    from scipy.special import gammaincinv

    size = int(max(truth.max(), predicted.max())) + 1
    often = np.ones(len(truth), dtype=np.int64) if weights is None else weights
    predicted_rows, true_rows = _rows_with(predicted, size, often), _rows_with(truth, size, often)
    used, missing = predicted_rows[predicted_rows > 0], int(((predicted_rows == 0) & (true_rows > 0)).sum())
    together = len(used) + missing
    never = 1 - math.exp(-gammaincinv(0.5, 0.975))
    more = never * math.sqrt(missing)
    fewer = math.sqrt(float((np.exp(-2 * gammaincinv(used + 0.5, 0.025))).sum()))
    return max(0.0, 1 - (len(used) + more) / together), min(1.0, 1 - (len(used) - fewer) / together)


def _rows_with(codes: Array, size: int, weights: Array) -> Array:
    """Return in how many examples each value stands."""
    present = np.zeros((len(codes), size + 1), dtype=bool)  # the last place is for silence
    present[np.arange(len(codes))[:, None], codes] = True
    return np.asarray(weights @ present[:, :size])


def _interval(evidence: Evidence) -> tuple[float, float]:
    """Return the interval of the mean over encoder groups, their errors independent."""
    values = np.array(list(collapse_by_group(evidence).values()))
    if not len(values):
        return math.nan, math.nan
    columns = [c for c in evidence.groups.values() if evidence.known[:, c].any()]
    return _interval_of_mean(
        values,
        [collapse_interval(evidence.concepts[:, c], evidence.judged_concepts[:, c], evidence.weights) for c in columns],
    )


def _interval_of_mean(values: Array, bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the interval of a mean from those of its parts, their errors independent."""
    below, above = (np.sqrt(((side - values) ** 2).sum()) / len(values) for side in np.array(bounds).T)
    return float(values.mean() - below), float(values.mean() + above)


def joint_collapse_interval(truth: Array, predicted: Array, weights: Array | None = None) -> tuple[float, float]:
    """Return a 95 % interval for the collapse of whole vectors, from leaving out each example in turn.

    Only an example that holds a vector which no other holds makes a difference. A row may stand for several examples.
    """
    often = np.ones(len(truth)) if weights is None else weights
    count, spoken = int(often.sum()), np.asarray((predicted >= 0).all(axis=1))
    vectors = distinct_rows(np.concatenate([np.where(spoken[:, None], predicted, truth), truth]))
    predicted_numbers, true_numbers, size = vectors.which[: len(truth)], vectors.which[len(truth) :], len(vectors)
    other = spoken & (predicted_numbers != true_numbers)
    rows_said = np.bincount(predicted_numbers[spoken], often[spoken], minlength=size)
    rows_with = np.bincount(true_numbers, often, minlength=size)
    rows_with += np.bincount(predicted_numbers[other], often[other], minlength=size)
    used = int((rows_said > 0).sum())
    fewer_used = spoken & (rows_said[predicted_numbers] == 1)
    fewer = (rows_with[true_numbers] == 1).astype(int) + (other & (rows_with[predicted_numbers] == 1))
    without = (used - fewer_used) / np.maximum(size - fewer, 1)
    variance = float(np.average((without - np.average(without, weights=often)) ** 2, weights=often))
    return from_error(1 - used / size, math.sqrt((count - 1) * variance), count)


def _joint_interval(evidence: Evidence) -> tuple[float, float]:
    return joint_collapse_interval(*_sides(evidence))


@overall(
    "collapse",
    "concept collapse Cls(C), pooled over concepts that share an encoder",
    better="lower",
    interval=_interval,
    counted=True,
)
def mean_collapse(evidence: Evidence) -> float:
    """Return the collapse of each encoder group, averaged over groups."""
    by_group = collapse_by_group(evidence)
    return float(np.mean(list(by_group.values()))) if by_group else float("nan")


@overall(
    "collapse_joint",
    "concept collapse Cls(C) of whole concept vectors",
    better="lower",
    interval=_joint_interval,
    counted=True,
)
def joint_collapse(evidence: Evidence) -> float:
    """Return the collapse where each combination of all concepts is one value, as for rsbench's driving tasks."""
    return collapse_of_vectors(*_sides(evidence)[:2]) if _can_be_judged(evidence) else math.nan


Table = tuple[Array, Array, Array]
"""True and predicted codes, a row each time something is read, a column an attribute of it; how often each row is."""


def object_tables(evidence: Evidence) -> list[Table]:
    """Return the objects of each kind in all examples, each a row of its attributes; none if there are no objects."""
    space, tables = evidence.knowledge.space, []
    for slots in space.kinds:
        places = [[space.place(name) for name in slot.concepts] for slot in slots]
        truth, predicted, weights = _sides(evidence)
        true, read = (np.concatenate([side[:, own] for own in places]) for side in (truth, predicted))
        tables.append((true, read, np.tile(weights, len(places))))
    return tables


def block_tables(evidence: Evidence) -> list[Table]:
    """Return for each label the concepts that its rule asks for."""
    from assay.logic import ground_formula, names_in

    space, tables = evidence.knowledge.space, []
    if not evidence.knowledge.has_rule:
        return []
    for label in evidence.knowledge.labels:
        places = [space.place(name) for name in names_in(ground_formula(label.formula, space))]
        if places:
            truth, predicted, weights = _sides(evidence)
            tables.append((truth[:, places], predicted[:, places], weights))
    return tables


def _sides(evidence: Evidence) -> Table:
    """Return the examples of which every concept is known."""
    rows = evidence.known.all(axis=1)
    return evidence.concepts[rows], evidence.predicted_concepts[rows], evidence.weights[rows]


def _can_be_judged(evidence: Evidence) -> bool:
    """Return whether the model says every concept, and some example has all of them known."""
    return len(evidence.answered) == evidence.concepts.shape[1] and bool(evidence.known.all(axis=1).any())


def _collapses(tables: Sequence[Table]) -> Array:
    return np.array([collapse_of_vectors(truth, predicted) for truth, predicted, _ in tables])


def _mean_over(tables: Callable[[Evidence], list[Table]], evidence: Evidence) -> float:
    """Return the mean collapse of some tables of vectors; NaN where there are none, or a concept is never said."""
    found = tables(evidence) if _can_be_judged(evidence) else []
    return float(_collapses(found).mean()) if found else math.nan


def _interval_over(tables: Callable[[Evidence], list[Table]], evidence: Evidence) -> tuple[float, float]:
    """Return the interval of the mean collapse of some tables of vectors."""
    found = tables(evidence) if _can_be_judged(evidence) else []
    if not found:
        return math.nan, math.nan
    bounds = [joint_collapse_interval(*table) for table in found]
    low, high = _interval_of_mean(_collapses(found), bounds)
    return max(0.0, low), min(1.0, high)


@overall(
    "collapse_object",
    "concept collapse Cls(C) of objects, each a vector of its attributes (rsbench's Kand-Logic)",
    better="lower",
    interval=partial(_interval_over, object_tables),
    counted=True,
)
def object_collapse(evidence: Evidence) -> float:
    """Return the collapse where a value is all attributes of an object, pooled over objects of one kind."""
    return _mean_over(object_tables, evidence)


@overall(
    "collapse_block",
    "concept collapse Cls(C) of the concepts of each label, averaged over labels (rsbench's SDD-OIA)",
    better="lower",
    interval=partial(_interval_over, block_tables),
    counted=True,
)
def block_collapse(evidence: Evidence) -> float:
    """Return the collapse of the vectors of concepts that each label's rule asks for, averaged over labels."""
    return _mean_over(block_tables, evidence)
