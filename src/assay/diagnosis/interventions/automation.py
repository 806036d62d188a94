"""Selective prediction: decide where the model is confident enough, leave the rest to a person, and count.

Confidence is calibrated on held-out rows: Platt scaling for labels of two values, one temperature for labels of
more.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError

LEAST = 1e-12
STEPS = 50
RIDGE = 1e-6
"""A small penalty, so that separable classes do not send the slope to infinity."""


@dataclass(frozen=True)
class Scaling:
    """Log probabilities times a slope, plus a shift of the second of two values, normalised to add up to 1."""

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, probabilities: Array) -> Array:
        """Return the scaled probabilities."""
        if (self.slope, self.shift) == (1.0, 0.0):
            return np.asarray(probabilities, dtype=np.float64)
        logs = self.slope * np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), LEAST))
        if probabilities.shape[1] == 2:
            logs[:, 1] += self.shift
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_scalings(labels: Sequence[Array], truth: Codes) -> tuple[Scaling, ...]:
    """Return the scaling of each label, fitted on held-out rows."""
    return tuple(fit_scaling(probabilities, truth[:, place]) for place, probabilities in enumerate(labels))


def fit_scaling(probabilities: Array, truth: Array) -> Scaling:
    """Return the scaling with the least cross-entropy, found by Newton's method: the problem is convex."""
    logs = np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), LEAST))
    features = [logs] if probabilities.shape[1] > 2 else [logs, np.broadcast_to([0.0, 1.0], logs.shape)]
    stacked = np.stack(features)
    start = np.array([1.0, 0.0][: len(features)])
    parameters, rows = start, np.arange(len(truth))
    for _ in range(STEPS):
        score = np.tensordot(parameters, stacked, axes=1)
        powers = np.exp(score - score.max(axis=1, keepdims=True))
        chance = powers / powers.sum(axis=1, keepdims=True)
        mean = (stacked * chance).sum(axis=2)
        slope = (mean - stacked[:, rows, truth]).mean(axis=1) + RIDGE * (parameters - start)
        centred = stacked - mean[:, :, None]
        curve = np.einsum("inv,jnv,nv->ij", centred, centred, chance) / len(truth) + RIDGE * np.eye(len(parameters))
        step = np.linalg.solve(curve, slope)
        parameters = parameters - np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    if not np.isfinite(parameters).all() or parameters[0] <= 0:  # confidence that falls with accuracy is left as it is
        return Scaling()
    return Scaling(float(parameters[0]), float(parameters[1]) if len(parameters) > 1 else 0.0)


@dataclass(frozen=True)
class Abstention:
    """Decide where the calibrated confidence is at least a threshold, and abstain elsewhere."""

    scalings: tuple[Scaling, ...]
    threshold: float
    target: float

    def confidence(self, labels: Sequence[Array]) -> Array:
        """Return the confidence in all labels of each row together: the product over labels."""
        scaled = [scaling(p) for scaling, p in zip(self.scalings, labels, strict=True)]
        return np.asarray(np.prod([p.max(axis=1) for p in scaled], axis=0))

    def decides(self, labels: Sequence[Array]) -> Array:
        """Return which rows are decided."""
        return np.asarray(self.confidence(labels) >= self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        scalings = [asdict(scaling) for scaling in self.scalings]
        return {"target": self.target, "threshold": self.threshold, "scalings": scalings}


def fit_abstention(labels: Sequence[Array], truth: Codes, target: float) -> Abstention:
    """Fit scaling and threshold on validation probabilities of labels (rows x values each) and true codes."""
    if not 0 < target <= 1:
        raise ConfigError(f"a target accuracy is a number above 0 and up to 1, not {target:g}")
    rule = Abstention(fit_scalings(labels, truth), 0.0, target)
    right = np.stack([p.argmax(axis=1) for p in labels], axis=1) == truth
    threshold = fit_threshold(rule.confidence(labels), right.all(axis=1), target)
    return Abstention(rule.scalings, threshold, target)


def fit_threshold(confidence: Array, right: Array, target: float) -> float:
    """Return the lowest threshold whose decided rows are right often enough; rows of equal confidence stay together.

    >>> fit_threshold(np.array([0.9, 0.8, 0.8, 0.6]), np.array([True, True, True, False]), 0.9)
    0.8
    """
    coverage, accuracy = coverage_curve(confidence, right)
    fine = np.flatnonzero(accuracy >= target - 1e-12)
    if not len(fine):
        best = accuracy.argmax()
        raise ConfigError(
            f"no threshold reaches accuracy {target:g} on validation: the best is {accuracy[best]:.3f}, "
            f"deciding {100 * coverage[best]:.0f} %"
        )
    return float(np.unique(confidence)[::-1][fine[-1]])


def coverage_curve(confidence: Array, right: Array) -> tuple[Array, Array]:
    """Return the risk-coverage curve: coverage and selective accuracy at each distinct confidence, highest first."""
    order = np.argsort(-confidence, kind="stable")
    ranked, counts = confidence[order], np.arange(1, len(order) + 1)
    last_of_equal = np.append(ranked[1:] < ranked[:-1], True)
    return (counts / len(order))[last_of_equal], (np.cumsum(right[order]) / counts)[last_of_equal]


def net_work_automated(coverage: float, asked: float, concepts: int) -> float:
    """Return the share of work that is done without a person: coverage less the share of concepts asked about.

    >>> round(net_work_automated(0.45, 15.0, 27), 3)
    -0.106
    """
    return coverage - asked / concepts
