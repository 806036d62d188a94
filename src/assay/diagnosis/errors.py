"""Wrong labels by cause: the one count that `diagnose` and `attribute` share, so that a word means the same in both.

Each wrong label has one cause. The true rule tells which, over the annotated and over the predicted concepts:

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

from assay.base import Array, Codes, join_words

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
