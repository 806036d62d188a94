"""Soft leakage: does how sure a model is of a concept tell the label, where the concept itself is known?

In the examples where a concept is read right, all that its probabilities should say is said by its value. If, among
examples with the same true value, the probabilities still differ with the label, they carry something else there.
Measured by ranks within each true value: the share of the variance of ranks that the label explains (epsilon squared of
the Kruskal-Wallis test), 0 without leakage, tested against chance. Unlike a comparison with the true concepts, this
does not vanish where the rule uses every concept.
"""

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.metrics.evidence import Evidence

PRECISION = 0.01
"""Probabilities that differ by less are taken for the same."""
LEAST = 0.1
"""The share of variance from which on a leak is told."""
FEWEST = 30
MOST_TESTS = 20_000


@dataclass(frozen=True)
class SoftLeak:
    """A concept whose probabilities tell a label beyond the concept's value."""

    concept: str
    label: str
    strength: float
    chance: float
    """How likely so much is without leakage."""


def soft_leaks(evidence: Evidence) -> list[SoftLeak]:
    """Return for each concept with probabilities and each label what they tell of it beyond the concept's value."""
    space, labels = evidence.knowledge.space, evidence.knowledge.labels
    spoken = [(i, p) for i, p in enumerate(evidence.concept_probabilities) if p is not None]
    tests = len(labels) * sum(p.shape[1] ** 2 for _, p in spoken)
    found = []
    for place, probabilities in spoken:
        right = evidence.predicted_concepts[:, place] == evidence.concepts[:, place]
        columns = probabilities if tests <= MOST_TESTS else probabilities.max(axis=1, keepdims=True)
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns  # the first follows from the second
        rounded = np.round(columns / PRECISION)
        kept = [column for column in rounded.T if right.sum() >= FEWEST and np.ptp(column[right]) > 0]
        for number, label in enumerate(labels):
            tried = [
                explained_ranks(column[right], evidence.labels[right, number], evidence.concepts[right, place])
                for column in kept
            ]
            strength, chance = max(tried, default=(0.0, 1.0))
            found.append(SoftLeak(space.names[place], label.name, strength, min(1.0, chance * max(1, len(tried)))))
    return found


def explained_ranks(numbers: Array, labels: Array, strata: Array) -> tuple[float, float]:
    """Return how much of the variance of ranks within strata the label explains, corrected for chance, and a p-value.

    >>> explained_ranks(np.arange(20.0), np.arange(20) // 10, np.zeros(20))[0] > 0.6
    True
    """
    from scipy.stats import chi2, rankdata

    between = total = statistic = 0.0
    freedom = 0
    for value in np.unique(strata):
        rows = strata == value
        ranks, classes = rankdata(numbers[rows]), np.unique(labels[rows], return_inverse=True)[1].ravel()
        spread = float(((ranks - ranks.mean()) ** 2).sum())
        kinds, count = int(classes.max()) + 1, len(ranks)
        if kinds < 2 or spread == 0:
            continue
        sums, sizes = np.bincount(classes, ranks), np.bincount(classes)
        explained = float((sums**2 / sizes).sum() - count * ranks.mean() ** 2)
        between += explained - (kinds - 1) * spread / (count - 1)  # what chance explains
        total += spread
        statistic += (count - 1) * explained / spread
        freedom += kinds - 1
    if not freedom:
        return 0.0, 1.0
    return max(0.0, between / total), float(chi2.sf(statistic, freedom))
