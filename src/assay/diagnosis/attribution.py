"""Attribution of wrong labels to perception, to the learned rule, or to both, by swapping in the ground truth.

A label follows from the predicted concepts by the rule that the model has learned. Two swaps separate the two: the true
concepts with the learned rule, and the predicted concepts with the true rule.

`perception`  true concepts correct it, the true rule does not
`rule`        the true rule corrects it, true concepts do not
`both`        neither swap alone corrects it
`either`      each swap alone corrects it: the learned rule errs only where perception does
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
    """How often a concept is misread, and how many wrong labels its true value alone would correct."""

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
    model: IntervenableModel, knowledge: Knowledge, concepts: Codes, labels: Codes, split: str = "test"
) -> Attribution:
    """Attribute the errors of a model on some examples, from their true concepts and labels."""
    sizes = knowledge.space.sizes
    knowledge.require_rule("attributing errors to perception or the rule")
    if len(model.concepts) != len(sizes):
        raise ConfigError(f"model {model.name!r} does not predict every concept, so none can be swapped")
    true = {place: one_hot(concepts[:, place], size) for place, size in enumerate(sizes)}
    own = model.answer(EVERY, {})
    as_is = own.label_codes == labels
    with_concepts = model.answer(EVERY, true).label_codes == labels
    perceived = own.concept_codes
    with_rule = knowledge.labels_of(perceived) == labels
    names = knowledge.label_names
    shares = [_share(name, as_is[:, i], with_concepts[:, i], with_rule[:, i]) for i, name in enumerate(names)]
    whole = _share("all", as_is.ravel(), with_concepts.ravel(), with_rule.ravel())
    misread = (perceived != concepts) & (concepts >= 0)
    return Attribution(model.name, split, tuple(shares), whole, tuple(_blames(model, knowledge, true, misread, labels)))


def _share(name: str, as_is: Array, with_concepts: Array, with_rule: Array) -> Share:
    wrong = ~as_is
    return Share(
        name,
        len(as_is),
        int(wrong.sum()),
        perception=int((wrong & with_concepts & ~with_rule).sum()),
        rule=int((wrong & ~with_concepts & with_rule).sum()),
        both=int((wrong & ~with_concepts & ~with_rule).sum()),
        either=int((wrong & with_concepts & with_rule).sum()),
        luck=int((as_is & ~with_concepts).sum()),
        with_true_concepts=float(with_concepts.mean()),
        with_true_rule=float(with_rule.mean()),
    )


def _blames(
    model: IntervenableModel, knowledge: Knowledge, true: dict[int, Array], misread: Array, labels: Codes
) -> Sequence[Blame]:
    """Return the concepts that are misread somewhere, those that would correct most labels first."""
    wrong = model.answer(EVERY, {}).label_codes != labels
    blames = []
    for place, name in enumerate(knowledge.space.names):
        rows = np.flatnonzero(misread[:, place] & wrong.any(axis=1))
        mended = 0
        if len(rows):
            after = model.answer(rows, {place: true[place][rows]}).label_codes
            mended = int((wrong[rows] & (after == labels[rows])).sum())
        if misread[:, place].any():
            blames.append(Blame(name, int(misread[:, place].sum()), mended))
    return sorted(blames, key=lambda blame: (-blame.mends, -blame.misread, blame.concept))
