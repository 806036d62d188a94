"""Soft leakage: does the confidence in a concept depend on the label, where the concept itself is known?

Where a concept is predicted right, its probabilities should carry no more than its value. If, among examples with the
same true value, the probabilities still differ with the label, they leak. Measured by ranks within each true value: the
share of the variance of ranks that the label explains (epsilon squared of the Kruskal-Wallis test), 0 without leakage,
tested against chance. Unlike a comparison with the true concepts, this does not vanish where the rule uses every
concept.
"""

from dataclasses import dataclass

import numpy as np

from assay.base import Array, join_first
from assay.diagnosis.information import PRECISION
from assay.diagnosis.views import SplitView
from assay.metrics import Evidence

LEAST = 0.1
"""The share of variance from which on a leak is reported."""
FEWEST = 30
MOST_TESTS = 20_000


@dataclass(frozen=True)
class SoftLeak:
    """A concept whose probabilities carry information about a label beyond the concept's value."""

    concept: str
    label: str
    strength: float
    chance: float
    """The p-value: how likely so much is without leakage."""


def soft_leaks(evidence: Evidence) -> list[SoftLeak]:
    """Return how much each concept's probabilities depend on each label where the concept is right."""
    space, labels = evidence.knowledge.space, evidence.knowledge.labels
    soft = [(i, p) for i, p in enumerate(evidence.concept_probabilities) if p is not None]
    tests = len(labels) * sum(p.shape[1] ** 2 for _, p in soft)
    leaks = []
    for place, probabilities in soft:
        right = evidence.predicted_concepts[:, place] == evidence.concepts[:, place]
        columns = probabilities if tests <= MOST_TESTS else probabilities.max(axis=1, keepdims=True)
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns  # the first follows from the second
        rounded = np.round(columns / PRECISION)
        varying = [column for column in rounded.T if right.sum() >= FEWEST and np.ptp(column[right]) > 0]
        for number, label in enumerate(labels):
            results = [
                explained_ranks(column[right], evidence.labels[right, number], evidence.concepts[right, place])
                for column in varying
            ]
            strength, chance = max(results, default=(0.0, 1.0))
            leaks.append(SoftLeak(space.names[place], label.name, strength, min(1.0, chance * max(1, len(results)))))
    return leaks


def explained_ranks(numbers: Array, labels: Array, strata: Array) -> tuple[float, float]:
    """Return how much of the variance of ranks within strata the label explains, corrected for chance, and a p-value.

    >>> explained_ranks(np.arange(20.0), np.arange(20) // 10, np.zeros(20))[0] > 0.6
    True
    """
    from scipy.special import chdtrc  # `scipy.stats` takes a second to import

    between = total = statistic = 0.0
    freedom = 0
    for value in np.unique(strata):
        rows = strata == value
        ranks, classes = mean_ranks(numbers[rows]), np.unique(labels[rows], return_inverse=True)[1].ravel()
        variance = float(((ranks - ranks.mean()) ** 2).sum())
        kinds, count = int(classes.max()) + 1, len(ranks)
        if kinds < 2 or variance == 0:
            continue
        sums, sizes = np.bincount(classes, ranks), np.bincount(classes)
        explained = float((sums**2 / sizes).sum() - count * ranks.mean() ** 2)
        between += explained - (kinds - 1) * variance / (count - 1)  # what chance explains
        total += variance
        statistic += (count - 1) * explained / variance
        freedom += kinds - 1
    if not freedom:
        return 0.0, 1.0
    return max(0.0, between / total), float(chdtrc(freedom, statistic))


def mean_ranks(numbers: Array) -> Array:
    """Return the rank of each number, from 1, equal ones sharing the mean of theirs.

    >>> mean_ranks(np.array([30, 10, 30])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which.ravel()])


def describe_soft_leaks(view: SplitView) -> str:
    """Say whose probabilities depend on a label beyond the concept's value; no fault by itself."""
    judged = {c.concept for c in view.concepts if c.state in ("right", "noisy", "too few")}
    leaks = soft_leaks(view.evidence)
    strong = [x for x in leaks if x.concept in judged and x.strength >= LEAST and x.chance * len(leaks) <= view.level]
    if not strong:
        return ""
    strong.sort(key=lambda leak: -leak.strength)
    named = [f"{leak.concept} on {leak.label} ({100 * leak.strength:.0f} %)" for leak in strong]
    return (
        f"On {view.name}, the confidence in a concept depends on the label beyond the concept's value (share of the "
        f"ranks that the label explains where the concept is right): {join_first(named)}. By itself this is no fault."
    )
