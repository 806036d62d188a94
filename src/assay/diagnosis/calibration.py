"""Calibration after training: Platt scaling for labels of two values, one temperature for labels of more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes

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

    def to_dict(self) -> dict[str, float]:
        """Return the scaling as plain data."""
        return {"slope": self.slope, "shift": self.shift}


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
