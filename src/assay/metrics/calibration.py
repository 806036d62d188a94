"""Does a model that says 80 % turn out right 80 % of the time?"""

import numpy as np

from assay.arrays import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.metric import overall

BINS = 10


def expected_calibration_error(truth: Codes, probabilities: Array, bins: int = BINS) -> float:
    """Return the mean gap between confidence and accuracy over bins of confidence, weighted by their size.

    >>> round(expected_calibration_error(np.array([0, 1]), np.array([[0.8, 0.2], [0.8, 0.2]])), 3)
    0.3
    """
    confidence = probabilities.max(axis=1)
    right = (probabilities.argmax(axis=1) == truth).astype(float)
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(truth))


def _over_columns(truth: Codes, spreads: tuple[Array | None, ...]) -> float:
    found = [expected_calibration_error(truth[:, i], p) for i, p in enumerate(spreads) if p is not None]
    return float(np.mean(found)) if found else float("nan")


@overall("label_ece", "expected calibration error of the labels, averaged over labels", better="lower")
def label_ece(evidence: Evidence) -> float:
    """Return the expected calibration error of each label that has probabilities, averaged."""
    return _over_columns(evidence.labels, evidence.label_probabilities)


@overall("concept_ece", "expected calibration error of the concepts, averaged over concepts", better="lower")
def concept_ece(evidence: Evidence) -> float:
    """Return the expected calibration error of each concept that has probabilities, averaged."""
    return _over_columns(evidence.concepts, evidence.concept_probabilities)
