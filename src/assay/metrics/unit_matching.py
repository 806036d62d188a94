"""Matching of discovered units with concept values: which unit stands for which value, and how well.

A *unit* is a number for each example that some method found in a network or in pictures, without a name. Every value
of a concept ("digit is 3") is true or false of an example; of a concept with two values, one says it all. Each value
gets a unit of its own so that the sum of F1 is the largest (Hungarian assignment). The unit, its direction (whether
it is large or small where the value holds) and its threshold are chosen on one split, and scored on another. A
`Readout` gives the probabilities of concepts from matched units: a logistic curve for each value.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic import ConceptSpace

BINS = 10
"""Into how many bins of alike size units are cut where mutual information is counted."""
TOP_SHARE, FEWEST_TOP = 0.05, 8
"""Purity is judged on this share of the examples, at least so many, and on no more than have the value."""
STEPS, RIDGE, SMALLEST = 25, 1e-2, 1e-9


@dataclass(frozen=True)
class ConceptValue:
    """One value of one concept, as something that is true or false of an example."""

    concept: int
    value: int
    name: str


def concept_values(space: ConceptSpace) -> tuple[ConceptValue, ...]:
    """Return what units can stand for: each value of each concept, or the second of two.

    >>> from assay.logic.concepts import Concept
    >>> space = ConceptSpace((Concept("big", (False, True)), Concept("n", (0, 1, 2))))
    >>> [value.name for value in concept_values(space)]
    ['big', 'n = 0', 'n = 1', 'n = 2']
    """
    values = []
    for place, concept in enumerate(space.concepts):
        for code in range(len(concept.values)) if len(concept.values) > 2 else (len(concept.values) - 1,):
            plain = concept.kind == "bool" and len(concept.values) == 2
            values.append(
                ConceptValue(place, code, concept.name if plain else f"{concept.name} = {concept.values[code]}")
            )
    return tuple(values)


@dataclass(frozen=True)
class UnitSplit:
    """Units of the examples of a split, a column each, beside the true concepts and labels (-1 where not known)."""

    units: Array
    concepts: Codes
    labels: Codes

    def shuffled(self, rng: np.random.Generator) -> "UnitSplit":
        """Return the same units, each row beside the truth of another example."""
        return replace(self, units=self.units[rng.permutation(len(self.units))])

    def truth(self, values: tuple[ConceptValue, ...]) -> tuple[Array, Array]:
        """Return for each example and value whether it holds, and whether that is known."""
        columns = self.concepts[:, [value.concept for value in values]]
        return columns == np.array([value.value for value in values]), columns >= 0


@dataclass(frozen=True)
class UnitMatch:
    """The unit of a concept value: the value is predicted where `direction * unit` is at least the threshold."""

    value: ConceptValue
    unit: int | None
    """None where there are fewer units than values, or the value does not vary."""
    direction: int = 1
    threshold: float = -np.inf

    def predicted(self, units: Array) -> Array:
        """Return which examples are said to have the value."""
        if self.unit is None:
            return np.zeros(len(units), dtype=bool)
        return np.asarray(self.direction * units[:, self.unit] >= self.threshold)


def fit_matches(split: UnitSplit, values: tuple[ConceptValue, ...]) -> tuple[UnitMatch, ...]:
    """Return the unit of each value, so that the sum of the best F1 of all is the largest."""
    from scipy.optimize import linear_sum_assignment

    holds, known = split.truth(values)
    varies = np.array([(h & k).any() and (~h & k).any() for h, k in zip(holds.T, known.T, strict=True)], dtype=bool)
    f1, thresholds = _best_f1(split.units, holds & known, known)
    rows, columns = linear_sum_assignment(-f1.max(axis=1)[:, varies])
    units = dict(zip(np.flatnonzero(varies)[columns].tolist(), rows.tolist(), strict=True))
    matches = []
    for place, value in enumerate(values):
        if place not in units:
            matches.append(UnitMatch(value, None))
            continue
        unit = units[place]
        side = int(f1[unit, :, place].argmax())
        matches.append(UnitMatch(value, unit, (1, -1)[side], float(thresholds[unit, side, place])))
    return tuple(matches)


def _best_f1(units: Array, holds: Array, known: Array) -> tuple[Array, Array]:
    """Return the highest F1 of every unit, direction and value, and the threshold that gives it."""
    shape = (units.shape[1], 2, holds.shape[1])
    best, thresholds = np.zeros(shape), np.full(shape, -np.inf)
    positives = holds.sum(axis=0)
    for unit in range(units.shape[1]):
        for side, sign in enumerate((1, -1)):
            numbers = sign * units[:, unit]
            order = np.argsort(-numbers, kind="stable")
            falling = numbers[order]
            hits, claims = np.cumsum(holds[order], axis=0), np.cumsum(known[order], axis=0)
            f1 = 2 * hits / np.maximum(claims + positives, 1)
            f1[:-1][falling[:-1] == falling[1:]] = 0  # no threshold lies between equal numbers
            cut = f1.argmax(axis=0)
            best[unit, side] = f1[cut, np.arange(len(cut))]
            below = np.append(falling, -np.inf)[cut + 1]
            thresholds[unit, side] = np.where(np.isinf(below), -np.inf, (falling[cut] + below) / 2)
    return best, thresholds


@dataclass(frozen=True)
class MatchScore:
    """How well a unit stands for its value on a split that it was not chosen on."""

    match: UnitMatch
    f1: float
    """NaN where the value does not vary on the split."""
    information: float
    """The mutual information of unit and value, as a share of the value's entropy."""
    purity: float
    """Of the examples where the unit is largest in its direction, the share that has the value."""
    share: float
    """The share of the examples that have the value."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        numbers = {name: _number(getattr(self, name)) for name in ("f1", "information", "purity", "share")}
        match = self.match
        place = {"unit": match.unit, "direction": match.direction, "threshold": _number(match.threshold)}
        return {"value": match.value.name, "concept": match.value.concept, **place, **numbers}


def _number(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def score_matches(split: UnitSplit, matches: tuple[UnitMatch, ...]) -> tuple[MatchScore, ...]:
    """Return the scores of matches on a split."""
    holds, known = split.truth(tuple(match.value for match in matches))
    return tuple(
        _score(split.units[k], h[k], match) for match, h, k in zip(matches, holds.T, known.T, strict=True)
    )  # fmt: skip


def _score(units: Array, holds: Array, match: UnitMatch) -> MatchScore:
    share = float(holds.mean()) if len(holds) else np.nan
    if not 0 < share < 1:
        return MatchScore(match, np.nan, np.nan, np.nan, share)
    if match.unit is None:
        return MatchScore(match, 0.0, 0.0, 0.0, share)
    predicted, column = match.predicted(units), units[:, match.unit]
    f1 = 2 * (predicted & holds).sum() / max(1, predicted.sum() + holds.sum())
    information = unit_information(column[:, None], holds.astype(np.int64)[:, None], [2])[0, 0]
    return MatchScore(match, float(f1), float(information), purity(match.direction * column, holds), share)


def purity(numbers: Array, holds: Array) -> float:
    """Return the share of the examples with the largest numbers that have a value.

    >>> purity(np.array([0.9, 0.8, 0.1, 0.2]), np.array([True, False, False, True]))
    0.5
    """
    top = min(int(holds.sum()), max(FEWEST_TOP, round(TOP_SHARE * len(holds))))
    return float(holds[np.argsort(-numbers, kind="stable")[:top]].mean()) if top else np.nan


def unit_information(units: Array, codes: Codes, sizes: list[int]) -> Array:
    """Return the mutual information of each unit with each column of codes, as a share of that column's entropy.

    Units are cut into bins of alike size, equal numbers into one; rows whose code is not known are left out.

    >>> unit_information(np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([[1], [0], [1], [0]]), [2]).round(3)
    array([[1.]])
    """
    bins = np.stack([_bins(column) for column in units.T], axis=1)
    members = (bins[:, :, None] == np.arange(BINS)).reshape(len(bins), -1).astype(np.float64)
    shares = np.zeros((units.shape[1], codes.shape[1]))
    for place, size in enumerate(sizes):
        has = (codes[:, place, None] == np.arange(size)).astype(np.float64)
        counts = (members.T @ has).reshape(units.shape[1], BINS, size)
        joint = counts / np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1)
        whole = _entropies(joint.sum(axis=1))
        gained = _entropies(joint.sum(axis=2)) + whole - _entropies(joint.reshape(len(joint), -1))
        shares[:, place] = np.maximum(0, gained) / np.where(whole > 0, whole, 1)
    return shares


def _bins(column: Array) -> Array:
    """Return the bin of each number: equal numbers share one, and bins are as alike in size as that allows."""
    edges = np.unique(np.quantile(column, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    return np.searchsorted(edges, column, side="left")


def _entropies(shares: Array) -> Array:
    """Return the entropy of each row of shares."""
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1))


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

    @classmethod
    def of(cls, split: UnitSplit, matches: tuple[UnitMatch, ...], space: ConceptSpace) -> "Readout":
        """Fit a curve for each value; a value without a unit is as probable as it is common."""
        holds, known = split.truth(tuple(match.value for match in matches))
        curves = []
        for match, h, k in zip(matches, holds.T, known.T, strict=True):
            numbers = np.zeros(int(k.sum())) if match.unit is None else split.units[k, match.unit]
            curves.append(_fit_curve(numbers, h[k].astype(np.float64)))
        return cls(space, matches, tuple(curves))

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
