"""Whose fault a wrong label is: perception's, the rule's, or both's. Found by swapping in what is true.

A label follows from what a model perceives by the rule that it has learned. Two swaps tell the two apart: the true
concepts with the learned rule, and the perceived concepts with the true rule.

`perception`  true concepts mend it, the true rule does not
`rule`        the true rule mends it, true concepts do not
`both`        neither swap by itself mends it
`either`      each swap by itself mends it: the learned rule errs only where perception does
`luck`        the label is right, although it would be wrong with true concepts: two errors that cancel out
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.interventions.intervenable import EVERY, IntervenableModel, one_hot
from assay.errors import ConfigError
from assay.logic.knowledge import Knowledge

CAUSES = ("perception", "rule", "both", "either")


@dataclass(frozen=True)
class Share:
    """The errors of one label, or of all together, by cause."""

    label: str
    examples: int
    wrong: int
    perception: int
    rule: int
    both: int
    either: int
    luck: int
    with_true_concepts: float
    """The accuracy of the learned rule on true concepts."""
    with_true_rule: float
    """The accuracy of the true rule on perceived concepts."""

    @property
    def accuracy(self) -> float:
        """The share of right labels as the model answers."""
        return 1 - self.wrong / self.examples

    @property
    def text(self) -> str:
        """The causes in a sentence."""
        if not self.wrong:
            return "No label is wrong."
        parts = [f"{getattr(self, cause)} {cause}" for cause in CAUSES if getattr(self, cause)]
        return f"Of {self.wrong} wrong labels ({self.wrong / self.examples:.1%}): {', '.join(parts)}."


@dataclass(frozen=True)
class Blame:
    """How often a concept is misread, and how many wrong labels its true value alone would make right."""

    concept: str
    misread: int
    mends: int


@dataclass(frozen=True)
class Attribution:
    """The errors of a model by cause: for each label and in all, and which concepts are behind those of perception."""

    model: str
    split: str
    labels: tuple[Share, ...]
    whole: Share
    concepts: tuple[Blame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        shares = {share.label: {**asdict(share), "accuracy": share.accuracy} for share in self.labels}
        return {
            "model": self.model,
            "split": self.split,
            "labels": shares,
            "whole": {**asdict(self.whole), "accuracy": self.whole.accuracy},
            "concepts": [asdict(blame) for blame in self.concepts],
        }

    def rows(self) -> list[list[str]]:
        """Return the table: a row a label, and one for all."""
        both = [*self.labels, self.whole] if len(self.labels) > 1 else [self.whole]
        return [_row(share) for share in both]


HEAD = (
    "label", "examples", "accuracy", "wrong", *CAUSES, "luck", "with true concepts", "with true rule",
)  # fmt: skip


def _row(share: Share) -> list[str]:
    counts = [share.wrong, *(getattr(share, cause) for cause in CAUSES), share.luck]
    ends = [share.with_true_concepts, share.with_true_rule]
    return [
        share.label, f"{share.examples:,}", f"{share.accuracy:.3f}",
        *(f"{count:,}" for count in counts), *(f"{end:.3f}" for end in ends),
    ]  # fmt: skip


def attribute(
    held: IntervenableModel, knowledge: Knowledge, concepts: Codes, labels: Codes, split: str = "test"
) -> Attribution:
    """Attribute the errors of a model with its pictures at hand, given the true concepts and labels."""
    sizes = knowledge.space.sizes
    if len(held.concepts) != len(sizes):
        raise ConfigError(f"model {held.name!r} does not speak of every concept, so none can be swapped")
    true = {place: one_hot(concepts[:, place], size) for place, size in enumerate(sizes)}
    own = held.answer(EVERY, {})
    answered = own.label_codes == labels
    told = held.answer(EVERY, true).label_codes == labels
    perceived = own.concept_codes
    ruled = knowledge.labels_of(perceived) == labels
    names = knowledge.label_names
    shares = [_share(name, answered[:, i], told[:, i], ruled[:, i]) for i, name in enumerate(names)]
    whole = _share("all", answered.ravel(), told.ravel(), ruled.ravel())
    return Attribution(
        held.name, split, tuple(shares), whole, tuple(_blames(held, knowledge, true, perceived != concepts, labels))
    )


def _share(name: str, answered: Array, told: Array, ruled: Array) -> Share:
    wrong = ~answered
    return Share(
        name,
        len(answered),
        int(wrong.sum()),
        perception=int((wrong & told & ~ruled).sum()),
        rule=int((wrong & ~told & ruled).sum()),
        both=int((wrong & ~told & ~ruled).sum()),
        either=int((wrong & told & ruled).sum()),
        luck=int((answered & ~told).sum()),
        with_true_concepts=float(told.mean()),
        with_true_rule=float(ruled.mean()),
    )


def _blames(
    held: IntervenableModel, knowledge: Knowledge, true: dict[int, Array], misread: Array, labels: Codes
) -> Sequence[Blame]:
    """Return the concepts that are misread somewhere, those first that would mend most."""
    wrong = held.answer(EVERY, {}).label_codes != labels
    found = []
    for place, name in enumerate(knowledge.space.names):
        rows = np.flatnonzero(misread[:, place] & wrong.any(axis=1))
        mended = 0
        if len(rows):
            after = held.answer(rows, {place: true[place][rows]}).label_codes
            mended = int((wrong[rows] & (after == labels[rows])).sum())
        if misread[:, place].any():
            found.append(Blame(name, int(misread[:, place].sum()), mended))
    return sorted(found, key=lambda blame: (-blame.mends, -blame.misread, blame.concept))
