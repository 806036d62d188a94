"""All scores of discovered units, each beside chance: the same score where the examples of the units are shuffled.

Beside the matches with concept values: DCI (Eastwood and Williams, 2018) asks a random forest how much each unit
matters to the prediction of each concept. *Disentanglement*: is each unit about one concept? *Completeness*: is each
concept in one unit? *Informativeness*: is the concept there at all? The mutual information gap (Chen et al., 2018)
asks the same of one concept at a time: by how much the unit that says most of it is ahead of the next. *Stability*:
do several seeds find the same units?
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.base import Array, Codes, import_extra, rng_for
from assay.logic import ConceptSpace
from assay.metrics.metric import mean
from assay.metrics.unit_matching import (
    MatchScore,
    UnitSplit,
    concept_values,
    fit_matches,
    score_matches,
    unit_information,
)

TREES, DEPTH = 20, 10
"""The random forests that concepts and labels are predicted by."""
STILL = 1e-9
"""Units that vary by less than this part of the largest are still: they say nothing."""
MEANINGS = {
    "f1": "F1 of each concept value by the one unit that it is matched with, averaged",
    "information": "mutual information of each value and its unit, as a share of the value's entropy",
    "purity": "of the examples where a unit is largest, the share that has the value it is matched with",
    "completeness": "how well the labels follow from all units (0: as the commonest label, 1: all right)",
    "disentanglement": "DCI: is each unit about one concept only?",
    "dci_completeness": "DCI: is each concept in one unit only?",
    "informativeness": "DCI: how well the concepts follow from all units (0: as the commonest value, 1: all right)",
    "mig": "mutual information gap: how far the best unit of a concept is ahead of the next",
    "stability": "correlation of the units of two seeds, each matched with one of the other",
}
"""What each score says, 1 being the best."""


@dataclass(frozen=True)
class ColumnPrediction:
    """How well some columns are predicted from units, and how much each unit matters to each: units x columns."""

    importance: Array
    skill: float
    """How much of the way from the commonest value to all right the accuracy goes, averaged over columns."""


def predict_columns(units: Array, codes: Codes, test_units: Array, test_codes: Codes, seed: int) -> ColumnPrediction:
    """Predict each column of codes from units by a random forest, fitted on some examples and scored on others."""
    columns, skills = [], []
    for place in range(codes.shape[1]):
        known, judged = codes[:, place] >= 0, test_codes[:, place] >= 0
        truth = test_codes[judged, place]
        if len(np.unique(codes[known, place])) < 2 or len(np.unique(truth)) < 2:
            continue
        forest = _forest(seed).fit(units[known], codes[known, place])
        common = np.bincount(codes[known, place]).argmax()
        accuracy, plain = (forest.predict(test_units[judged]) == truth).mean(), (truth == common).mean()
        columns.append(forest.feature_importances_)
        skills.append((accuracy - plain) / (1 - plain) if plain < 1 else np.nan)
    if not columns:
        return ColumnPrediction(np.zeros((units.shape[1], 0)), np.nan)
    return ColumnPrediction(np.stack(columns, axis=1), float(np.nanmean(skills)))


def _forest(seed: int) -> Any:
    ensemble = import_extra("sklearn.ensemble", "scoring discovered concepts")
    return ensemble.RandomForestClassifier(TREES, max_depth=DEPTH, random_state=seed)


def disentanglement(importance: Array) -> float:
    """Return whether each unit matters to one concept only, units weighted by how much they matter at all.

    >>> disentanglement(np.eye(3)), round(disentanglement(np.ones((3, 3))), 6)
    (1.0, 0.0)
    """
    if importance.shape[1] < 2 or importance.sum() <= 0:
        return np.nan
    weights = importance.sum(axis=1) / importance.sum()
    return float(weights @ _concentration(importance))


def completeness(importance: Array) -> float:
    """Return whether each concept depends on one unit only.

    >>> completeness(np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]])).__round__(3)
    0.685
    """
    if importance.shape[0] < 2 or not importance.shape[1]:
        return np.nan
    return float(_concentration(importance.T).mean())


def _concentration(rows: Array) -> Array:
    """Return 1 minus the entropy of each row, in units of its most: 1 if all is in one place; 0 for an empty row."""
    whole = rows.sum(axis=1, keepdims=True)
    shares = rows / np.where(whole > 0, whole, 1)
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1) / np.log(rows.shape[1])
    return np.where(whole[:, 0] > 0, 1 - entropies, 0)


def information_gap(split: UnitSplit, sizes: list[int]) -> float:
    """Return the mutual information gap (MIG): the share of a concept's entropy by which its best unit is ahead."""
    varying = [place for place, column in enumerate(split.concepts.T) if len(np.unique(column[column >= 0])) > 1]
    if not varying or split.units.shape[1] < 2:
        return np.nan
    shares = unit_information(split.units, split.concepts[:, varying], [sizes[place] for place in varying])
    ordered = np.sort(shares, axis=0)
    return float((ordered[-1] - ordered[-2]).mean())


def live_units(units: Array) -> Array:
    """Return the numbers of the units that vary."""
    deviations = units.std(axis=0)
    return np.flatnonzero(deviations > STILL * max(float(deviations.max(initial=0)), 1e-30))


def agreement(first: Array, second: Array) -> float:
    """Return the mean correlation, in size, of the units of two seeds when each is matched with one of the other.

    Units of the larger set that find no partner count as 0; units that do not vary are left out.

    >>> numbers = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    >>> round(agreement(numbers, -numbers[:, ::-1]), 6)
    1.0
    """
    from scipy.optimize import linear_sum_assignment

    rows = [units[:, live_units(units)] for units in (first, second)]
    most = max(part.shape[1] for part in rows)
    if min(part.shape[1] for part in rows) == 0:
        return 0.0
    scaled = [(part - part.mean(axis=0)) / part.std(axis=0) for part in rows]
    correlations = np.abs(scaled[0].T @ scaled[1]) / len(first)
    return float(correlations[linear_sum_assignment(-correlations)].sum() / most)


def stability(units: Sequence[Array]) -> float:
    """Return the agreement of all pairs of seeds, averaged; NaN for one seed."""
    pairs = [agreement(first, second) for first, second in combinations(units, 2)]
    return float(np.mean(pairs)) if pairs else np.nan


@dataclass(frozen=True)
class ChanceScore:
    """A score, and what the same units give for shuffled examples: the mean, and the highest of the repetitions."""

    value: float
    chance: float
    highest: float

    @classmethod
    def of(cls, value: float, shuffled: Sequence[float]) -> "ChanceScore":
        """Return a score beside those of shuffled examples."""
        known = [score for score in shuffled if not np.isnan(score)]
        return cls(value, mean(np.array(shuffled)), max(known, default=np.nan))

    @property
    def above_chance(self) -> bool:
        """Whether it is higher than every score of shuffled examples."""
        return bool(self.value > self.highest)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, None where a score does not apply."""
        numbers = {"value": self.value, "chance": self.chance, "highest_chance": self.highest}
        return {name: None if np.isnan(number) else number for name, number in numbers.items()}


@dataclass(frozen=True)
class UnitScores:
    """What units are worth: their matches with concept values, and every score beside chance."""

    matches: tuple[MatchScore, ...]
    scores: Mapping[str, ChanceScore]

    @classmethod
    def of(cls, fit: UnitSplit, test: UnitSplit, space: ConceptSpace, seed: int, repetitions: int) -> "UnitScores":
        """Score units: matches, thresholds and forests are fitted on one split, and all is scored on another.

        Parameters
        ----------
        fit, test
            The units of the examples that matches are chosen on, and of those that they are scored on.
        space
            The true concepts, whose values units are matched with.
        seed
            What the forests and the shuffled examples depend on.
        repetitions
            How often examples are shuffled to find what chance gives.
        """
        values = concept_values(space)
        matches = score_matches(test, fit_matches(fit, values))
        own = _numbers(fit, test, matches, space, seed)
        shuffled = []
        for repetition in range(repetitions):
            rng = rng_for(seed, "chance", repetition)
            other_fit, other_test = fit.shuffled(rng), test.shuffled(rng)
            by_chance = score_matches(other_test, fit_matches(other_fit, values))
            shuffled.append(_numbers(other_fit, other_test, by_chance, space, seed))
        return cls(matches, {name: ChanceScore.of(own[name], [s[name] for s in shuffled]) for name in own})

    def of_concept(self, place: int) -> tuple[MatchScore, ...]:
        """Return the matches of one concept's values that could be scored."""
        return tuple(s for s in self.matches if s.match.value.concept == place and not np.isnan(s.f1))


def _numbers(
    fit: UnitSplit, test: UnitSplit, matches: tuple[MatchScore, ...], space: ConceptSpace, seed: int
) -> dict[str, float]:
    concepts = predict_columns(fit.units, fit.concepts, test.units, test.concepts, seed)
    labels = predict_columns(fit.units, fit.labels, test.units, test.labels, seed)
    return {
        **{
            name: mean(np.array([getattr(score, name) for score in matches]))
            for name in ("f1", "information", "purity")
        },
        "completeness": labels.skill,
        "disentanglement": disentanglement(concepts.importance),
        "dci_completeness": completeness(concepts.importance),
        "informativeness": concepts.skill,
        "mig": information_gap(test, list(space.sizes)),
    }


def score_stability(units: Sequence[Array], seed: int, repetitions: int) -> ChanceScore:
    """Return the stability of the units of several seeds, beside that of shuffled examples.

    Parameters
    ----------
    units
        The units of the same examples by each seed, a column a unit.
    seed
        What the shuffled examples depend on.
    repetitions
        How often examples are shuffled to find what chance gives.
    """

    def shuffle(repetition: int) -> list[Array]:
        rng = rng_for(seed, "chance of stability", repetition)
        return [rows[rng.permutation(len(rows))] for rows in units]

    return ChanceScore.of(stability(units), [stability(shuffle(repetition)) for repetition in range(repetitions)])
