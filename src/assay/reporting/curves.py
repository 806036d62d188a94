"""Curves of how sure a model is: risk-coverage curves, and reliability (accuracy at each confidence)."""

import numpy as np

from assay.base import Array, Codes, Line
from assay.diagnosis import coverage_curve
from assay.metrics import BINS, Evidence

CoverageCurve = tuple[Array, Array]
"""Coverage and accuracy on what is covered, from the most confident examples to all."""
MOST_POINTS = 60


def coverage_of(evidence: Evidence) -> CoverageCurve | None:
    """Return the curve of a model that gives probabilities for every label."""
    probabilities = [p for p in evidence.label_probabilities if p is not None]
    if len(probabilities) < len(evidence.label_probabilities):
        return None
    confidence = np.prod([p.max(axis=1) for p in probabilities], axis=0)
    right = (evidence.labels == evidence.predicted_labels).all(axis=1)
    return thin_curve(coverage_curve(confidence, right))


def thin_curve(curve: CoverageCurve) -> CoverageCurve:
    """Return no more points of a curve than can be seen, its ends among them."""
    x, y = curve
    places = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[places], y[places]


def label_reliability(evidence: Evidence) -> Line | None:
    """Return how often labels are right at each confidence, all labels that have probabilities together."""
    pairs = [(evidence.labels[:, i], p) for i, p in enumerate(evidence.label_probabilities) if p is not None]
    known = [(codes[codes >= 0], p[codes >= 0]) for codes, p in pairs]
    if not sum(len(codes) for codes, _ in known):
        return None
    confidence = np.concatenate([p.max(axis=1) for _, p in known])
    right = np.concatenate([p.argmax(axis=1) == codes for codes, p in known])
    return _reliability("labels", confidence, right)


def reliability_of(name: str, truth: Codes, probabilities: Array) -> Line:
    """Return how often the most likely value is right at each confidence, as a line."""
    return _reliability(name, probabilities.max(axis=1), probabilities.argmax(axis=1) == truth)


def _reliability(name: str, confidence: Array, right: Array) -> Line:
    place = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    bins = [n for n in range(BINS) if (place == n).any()]
    means = [float(confidence[place == n].mean()) for n in bins]
    return Line(name, means, [float(right[place == n].mean()) for n in bins])
