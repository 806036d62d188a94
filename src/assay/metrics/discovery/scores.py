"""All scores of discovered units, each beside chance: the same score where the examples of the units are shuffled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, rng_for
from assay.logic import ConceptSpace
from assay.metrics.discovery.disentanglement import completeness, disentanglement, information_gap, predict_columns
from assay.metrics.discovery.matching import MatchScore, UnitSplit, concept_values, fit_matches, score_matches
from assay.metrics.discovery.stability import stability
from assay.metrics.metric import mean

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

    def of_concept(self, place: int) -> tuple[MatchScore, ...]:
        """Return the matches of one concept's values that could be scored."""
        return tuple(s for s in self.matches if s.match.value.concept == place and not np.isnan(s.f1))


def score_units(fit: UnitSplit, test: UnitSplit, space: ConceptSpace, seed: int, repetitions: int) -> UnitScores:
    """Score units: matches, thresholds and forests are fitted on one split, and all is scored on another."""
    values = concept_values(space)
    matches = score_matches(test, fit_matches(fit, values))
    own = _numbers(fit, test, matches, space, seed)
    shuffled = []
    for repetition in range(repetitions):
        rng = rng_for(seed, "chance", repetition)
        other_fit, other_test = fit.shuffled(rng), test.shuffled(rng)
        by_chance = score_matches(other_test, fit_matches(other_fit, values))
        shuffled.append(_numbers(other_fit, other_test, by_chance, space, seed))
    return UnitScores(matches, {name: ChanceScore.of(own[name], [s[name] for s in shuffled]) for name in own})


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
    """Return the stability of the units of several seeds, beside that of shuffled examples."""

    def shuffle(repetition: int) -> list[Array]:
        rng = rng_for(seed, "chance of stability", repetition)
        return [rows[rng.permutation(len(rows))] for rows in units]

    return ChanceScore.of(stability(units), [stability(shuffle(repetition)) for repetition in range(repetitions)])
