"""Does a model that says 80 % turn out right 80 % of the time?"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from assay.base import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.interval import wilson
from assay.metrics.metric import Metric, overall

BINS = 10
Z = NormalDist().inv_cdf(0.975)


def _bin(confidence: Array, bins: int) -> Array:
    return np.asarray(np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1))


def expected_calibration_error(truth: Codes, probabilities: Array, bins: int = BINS) -> float:
    """Return the mean gap between confidence and accuracy over bins of confidence, weighted by their size.

    Parameters
    ----------
    truth
        True codes; rows of -1 are left out.
    probabilities
        A row an example, a column a value.
    bins
        Into how many bins of equal width confidence is cut.

    >>> round(expected_calibration_error(np.array([0, 1]), np.array([[0.8, 0.2], [0.8, 0.2]])), 3)
    0.3
    """
    known = truth >= 0
    if not known.all():
        probabilities, truth = probabilities[known], truth[known]
    if not len(truth):
        return math.nan
    confidence, right = _confidence(truth, probabilities)
    gaps = np.bincount(_bin(confidence, bins), weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(truth))


def _confidence(truth: Codes, probabilities: Array) -> tuple[Array, Array]:
    """Return the probability of each answer, and whether it is right."""
    best = probabilities.argmax(axis=1)
    return np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0], best == truth


def calibration_interval(confidence: Array, right: Array) -> tuple[float, float]:
    """Return a 95 % interval of the expected calibration error; rows of confidences and whether they were right.

    The gap of a bin is a sum of chance errors and of what is not calibrated, and the mean size of the first alone is
    not 0. The interval begins at 0 if answers that are right as often as stated would give such a value; else its
    middle is the value less what chance adds to it. It ends no lower than a share of errors of which none may be seen.

    >>> calibration_interval(np.full((10, 1), 0.8), np.arange(10)[:, None] < 7)[0]
    0.0
    """
    rows, columns = confidence.shape
    gaps, stated, variances = np.zeros((3, columns, BINS))
    moved = np.zeros(rows)
    for column, (sure, hits) in enumerate(zip(confidence.T, right.T, strict=True)):  # copies of one column at a time
        place, residual = _bin(sure, BINS), hits - sure
        gaps[column], stated[column] = _sums(residual, place), _sums(sure * (1 - sure), place)
        variances[column] = _variances(residual, place, gaps[column])
        moved += np.sign(gaps[column])[place] * residual
    scale = rows * columns
    value = float(np.abs(gaps).sum()) / scale
    usual = np.minimum(math.sqrt(2 / math.pi) * np.sqrt(stated), 2 * stated)  # the mean size of a calibrated gap
    deviation = np.sqrt((stated - usual**2).sum(axis=1)).sum()  # as if columns erred together
    low, added = 0.0, _added_by_chance(gaps, np.maximum(stated, variances))
    middle = max(0.0, value - float(added.sum()) / scale)
    error = math.sqrt(float(moved.var()) / rows) / columns
    if value > (float(usual.sum()) + Z * float(deviation)) / scale:
        low = max(0.0, middle - Z * error)
    return low, min(1.0, max(middle + Z * error, wilson(0, rows)[1]))


def _sums(values: Array, place: Array) -> Array:
    """Return the sum of the values in each bin."""
    return np.bincount(place, weights=values, minlength=BINS)


def _variances(residual: Array, place: Array, gaps: Array) -> Array:
    """Return the variance of each gap, from the residuals in its bin; 0 where there is one."""
    counts = _sums(np.ones_like(residual), place)
    around = _sums(residual**2, place) - gaps**2 / np.maximum(counts, 1)
    return np.where(counts > 1, around * counts / np.maximum(counts - 1, 1), 0.0)


def _added_by_chance(gaps: Array, variances: Array) -> Array:
    """Return by how much the mean size of a normal variable exceeds the size of its mean."""
    from scipy.special import ndtr

    deviations = np.sqrt(variances)
    ratio = np.abs(gaps) / np.maximum(deviations, 1e-12)
    return np.asarray(deviations * (math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) - 2 * ratio * ndtr(-ratio)))


def _over_columns(truth: Codes, probabilities: tuple[Array | None, ...]) -> float:
    errors = [expected_calibration_error(truth[:, i], p) for i, p in enumerate(probabilities) if p is not None]
    errors = [error for error in errors if not math.isnan(error)]
    return float(np.mean(errors)) if errors else float("nan")


def _interval(truth: Codes, probabilities: tuple[Array | None, ...]) -> tuple[float, float]:
    """Return the interval; where some true values are not known, from the examples of which all are."""
    rows = np.asarray((truth >= 0).all(axis=1))
    if not rows.all():
        truth, probabilities = truth[rows], tuple(None if p is None else p[rows] for p in probabilities)
    if not len(truth):
        return math.nan, math.nan
    columns = [_confidence(truth[:, i], p) for i, p in enumerate(probabilities) if p is not None]
    if not columns:
        return math.nan, math.nan
    confidence, right = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return calibration_interval(confidence, right)


Columns = Callable[[Evidence], tuple[Codes, tuple[Array | None, ...]]]


def calibration_metric(what: str, columns: Columns) -> Metric:
    """Register the expected calibration error of labels or concepts, averaged over those that have probabilities."""
    metric: Metric = overall(
        f"{what}_ece",
        f"expected calibration error of the {what}s, averaged over {what}s",
        better="lower",
        interval=lambda evidence: _interval(*columns(evidence)),
    )(lambda evidence: _over_columns(*columns(evidence)))
    return metric


label_ece = calibration_metric("label", lambda evidence: (evidence.labels, evidence.label_probabilities))
concept_ece = calibration_metric("concept", lambda evidence: (evidence.concepts, evidence.concept_probabilities))
