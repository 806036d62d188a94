"""Whether labels are right, mostly right or wrong, by tested bounds; and whether they beat the most frequent value."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.base import Array, Codes
from assay.diagnosis.concepts import clearly_missed, surely_right
from assay.diagnosis.thresholds import DEFAULTS, Concepts, Labels, Thresholds
from assay.metrics import Evidence, at_most, confusion, wilson

Standing = Literal["right", "mostly right", "wrong", "undecided"]
STANDINGS: tuple[Standing, ...] = ("wrong", "undecided", "mostly right", "right")
"""From the worst to the best."""


@dataclass(frozen=True)
class LabelState:
    """How right one label is on one split."""

    label: str
    standing: Standing
    examples: int
    right: int
    majority: int
    """How many the most frequent value would get right."""
    missed: tuple[str, ...]
    """The values that are clearly missed."""

    @property
    def accuracy(self) -> float:
        """The share of right labels."""
        return self.right / self.examples

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy."""
        return wilson(self.right, self.examples)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        low, high = self.interval
        return {
            "label": self.label,
            "standing": self.standing,
            "examples": self.examples,
            "right": self.right,
            "accuracy": self.accuracy,
            "low": low,
            "high": high,
            "majority": self.majority / self.examples,
            "missed_values": list(self.missed),
        }


def expected_labels(evidence: Evidence) -> Codes:
    """Return the labels to be expected: the true ones, or the likelier value of a stochastic label."""
    labels = evidence.labels
    if evidence.knowledge.stochastic:
        drawn = np.array([label.odds is not None for label in evidence.knowledge.labels])
        labels = np.where(drawn, evidence.knowledge.labels_of(evidence.concepts), labels)
    return labels


def judge_labels(evidence: Evidence, level: float, thresholds: Thresholds = DEFAULTS) -> tuple[LabelState, ...]:
    """Return how right each label is; `level` is the chance of a false alarm over all of them."""
    truth, predicted = expected_labels(evidence), evidence.predicted_labels
    labels = evidence.knowledge.labels
    return tuple(
        _judge(label.name, tuple(map(str, label.values)), truth[:, i], predicted[:, i], level / len(labels), thresholds)
        for i, label in enumerate(labels)
    )


def worst(states: tuple[LabelState, ...]) -> Standing:
    """Return the standing of the worst label."""
    return min((state.standing for state in states), key=STANDINGS.index)


def _judge(
    name: str, values: tuple[str, ...], truth: Array, predicted: Array, level: float, thresholds: Thresholds
) -> LabelState:
    counts = confusion(np.maximum(truth, 0), predicted, len(values))
    total, right = len(truth), int((truth == predicted).sum())
    majority = int(counts.sum(axis=1).max())
    missed = clearly_missed(counts, 0.05, thresholds.of(Concepts).recall)
    standing = _standing(right, total, majority, counts, level, bool(missed), thresholds.of(Labels))
    return LabelState(name, standing, total, right, majority, tuple(values[code] for code in missed))


def _standing(
    right: int, total: int, majority: int, counts: Array, level: float, missed: bool, settings: Labels
) -> Standing:
    no_better = right <= majority < total and bool(clearly_missed(counts, level, 0.5))
    halfway = (total + majority) / (2 * total)
    if no_better or at_most(right, total, min(settings.mostly, halfway)) <= level:
        return "wrong"
    learned = right > majority or majority == total
    if learned and not missed and surely_right(right, total, settings):
        return "right"
    return "mostly right" if learned and wilson(right, total)[0] >= settings.mostly else "undecided"
