"""Concept probabilities from matched units: a logistic curve for each value, on the unit that it is matched with."""

from dataclasses import dataclass

import numpy as np

from assay.base import Array
from assay.logic import ConceptSpace
from assay.metrics.discovery.matching import UnitMatch, UnitSplit

STEPS, RIDGE, SMALLEST = 25, 1e-2, 1e-9


@dataclass(frozen=True)
class ValueCurve:
    """The probability of a value given its unit: the logistic function of `bias + slope * (unit - mean) / scale`."""

    mean: float
    scale: float
    slope: float
    bias: float

    def __call__(self, numbers: Array) -> Array:
        """Return the probability of the value where its unit has these numbers."""
        return _sigmoid(self.bias + self.slope * (numbers - self.mean) / self.scale)


@dataclass(frozen=True)
class Readout:
    """The concepts as the matched units say them."""

    space: ConceptSpace
    matches: tuple[UnitMatch, ...]
    curves: tuple[ValueCurve, ...]

    def probabilities(self, units: Array) -> list[Array]:
        """Return the probabilities of each concept: those of its values, made to add up to 1."""
        columns = [np.full((len(units), size), SMALLEST) for size in self.space.sizes]
        for match, curve in zip(self.matches, self.curves, strict=True):
            numbers = np.zeros(len(units)) if match.unit is None else units[:, match.unit]
            columns[match.value.concept][:, match.value.value] += curve(numbers)
        for column in columns:
            if column.shape[1] == 2:
                column[:, 0] = 1 - column[:, 1] + 2 * SMALLEST
        return [column / column.sum(axis=1, keepdims=True) for column in columns]


def fit_readout(split: UnitSplit, matches: tuple[UnitMatch, ...], space: ConceptSpace) -> Readout:
    """Fit a curve for each value; a value without a unit is as probable as it is common."""
    holds, known = split.truth(tuple(match.value for match in matches))
    curves = []
    for match, h, k in zip(matches, holds.T, known.T, strict=True):
        numbers = np.zeros(int(k.sum())) if match.unit is None else split.units[k, match.unit]
        curves.append(_fit_curve(numbers, h[k].astype(np.float64)))
    return Readout(space, matches, tuple(curves))


def _fit_curve(numbers: Array, holds: Array) -> ValueCurve:
    """Return the logistic curve of least cross-entropy, by Newton's steps, with a small penalty on its slope."""
    if not len(holds):
        return ValueCurve(0.0, 1.0, 0.0, 0.0)
    mean, scale = float(numbers.mean()), float(numbers.std()) or 1.0
    rows = np.stack([np.ones(len(numbers)), (numbers - mean) / scale], axis=1)
    penalty = np.diag([RIDGE, RIDGE * len(numbers) / 10])
    weights = np.zeros(2)
    for _ in range(STEPS):
        chances = _sigmoid(rows @ weights)
        slope = rows.T @ (holds - chances) - penalty @ weights
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + penalty
        step = np.linalg.solve(bend, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()) / 2)
    return ValueCurve(mean, scale, float(weights[1]), float(weights[0]))


def _sigmoid(numbers: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(numbers, -50, 50))))
