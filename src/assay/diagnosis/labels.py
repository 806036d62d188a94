"""Labels: whether each is right, mostly right or wrong, by tested bounds; and wrong labels by cause.

`diagnose` and `attribute` share the count by cause, so that a word means the same in both. Each wrong label has one
cause. The true rule tells which, over the annotated and over the predicted concepts:

`table`       the rule gives for the annotated concepts the label that is predicted: the label's annotation is at fault
`rule`        the rule gives the right label for the predicted concepts, the model another: its label head errs
`unsure`      the predicted concepts imply another label, but so uncertainly that the rule makes this one most probable
`perception`  the label is the one that the rule gives for the predicted concepts, which are misread
`both`        neither: the misread concepts imply a wrong label, and the model predicts another wrong one
`unknown`     a concept that the rule uses is not predicted, or its truth is not known, or there is no rule

A right label is `luck` where the rule gives a wrong one for the predicted concepts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.base import Array, Codes, join_words
from assay.diagnosis.concepts import clearly_missed, surely_right
from assay.diagnosis.thresholds import DEFAULTS, Concepts, Labels, Thresholds
from assay.metrics import Evidence, at_most, confusion, wilson

Standing = Literal["right", "mostly right", "wrong", "undecided"]
STANDINGS: tuple[Standing, ...] = ("wrong", "undecided", "mostly right", "right")
"""From the worst to the best."""
CAUSES = {
    "table": "because of their annotation",
    "rule": "because of the label head",
    "perception": "because of misread concepts",
    "both": "because of both the label head and misread concepts",
    "unsure": "because of uncertain concepts",
    "unknown": "of an unknown cause",
}
"""The causes, as the text names them."""


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


@dataclass(frozen=True)
class Errors:
    """How many labels are wrong, and of which cause; and how many are right by luck."""

    labels: int
    wrong: int
    table: int
    rule: int
    unsure: int
    perception: int
    both: int
    unknown: int
    luck: int

    @property
    def text(self) -> str:
        """The causes in a sentence; none where no label is wrong."""
        if not self.wrong:
            return ""
        counts = {cause: getattr(self, cause) for cause in CAUSES}
        parts = [f"{count:,} {CAUSES[cause]}" for cause, count in counts.items() if count]
        return f"{self.wrong:,} {'label is' if self.wrong == 1 else 'labels are'} wrong: {join_words(parts)}."

    def to_dict(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return asdict(self)


def causes_of(
    truth: Codes, predicted: Codes, implied: Codes, known: Array, unsure: Array, table: Array
) -> Mapping[str, Array]:
    """Return for each cause which labels are wrong because of it; every wrong label has exactly one.

    `truth` and `predicted` are labels, `implied` those that the rule gives for the predicted concepts; `known` says
    where there are such, `unsure` where the rule makes another label most probable for their probabilities, and that
    is predicted, `table` where the rule gives the predicted label for the annotated concepts. All have one shape.

    >>> import numpy as np
    >>> truth, predicted, implied = np.array([1, 1, 2, 0]), np.array([0, 0, 1, 0]), np.array([1, 0, 0, 1])
    >>> causes = causes_of(truth, predicted, implied, known=truth >= 0, unsure=truth < 0, table=truth < 0)
    >>> [[name for name, rows in causes.items() if rows[place]] for place in range(4)]
    [['rule'], ['perception'], ['both'], []]
    """
    wrong = (predicted != truth) & ~table
    told = known & wrong
    repairs, follows = implied == truth, implied == predicted
    return {
        "table": table & (predicted != truth),
        "rule": told & repairs & ~unsure,
        "perception": told & follows,
        "both": told & ~repairs & ~follows & ~unsure,
        "unsure": told & ~follows & unsure,
        "unknown": wrong & ~known,
    }


def errors_of(truth: Codes, predicted: Codes, implied: Codes, known: Array, unsure: Array, table: Array) -> Errors:
    """Return the wrong labels by cause; the arrays are those of `causes_of`."""
    causes = causes_of(truth, predicted, implied, known, unsure, table)
    counts = {cause: int(rows.sum()) for cause, rows in causes.items()}
    luck = int(((predicted == truth) & known & (implied != truth)).sum())
    return Errors(labels=truth.size, wrong=sum(counts.values()), luck=luck, **counts)
