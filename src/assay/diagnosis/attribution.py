"""Attribution of wrong labels: each has one cause, and the model is asked again with the true concepts.

The causes are those that `diagnose` counts (`assay.diagnosis.labels`), from the same predictions by the same code. With
the model at hand more can be known: which labels become right once the label head is given the true concepts. A label
that stays wrong there shows that the label head errs on true concepts too; its cause keeps its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from assay.base import Array, Codes, ConfigError, join_words
from assay.contracts import EVERY, IntervenableModel, one_hot
from assay.diagnosis.concepts import used_concepts
from assay.diagnosis.labels import CAUSES, Errors, causes_of, errors_of
from assay.diagnosis.views import SplitView
from assay.metrics import Evidence


@dataclass(frozen=True)
class Swap:
    """What the model's own label head predicts when it is given the true concepts."""

    asked: int
    """How many labels: those of examples whose concepts are all known."""
    right: int
    corrected: Mapping[str, int]
    """How many of the wrong labels become right, by cause."""
    still_wrong: int
    """How many of the wrong labels stay wrong: there the label head errs on true concepts too."""
    spoiled: int
    """How many of the right labels become wrong: two errors of the model cancelled out."""


@dataclass(frozen=True)
class Share:
    """The errors of one label, or of all together, by cause; and what became of them with the true concepts."""

    label: str
    errors: Errors
    with_true_rule: float | None
    """The accuracy of the true rule on the predicted concepts, where their truth is known."""
    swap: Swap | None
    """None where the model's label head is not at hand."""

    @property
    def accuracy(self) -> float:
        """The share of right labels as the model answers."""
        return 1 - self.errors.wrong / self.errors.labels

    @property
    def with_true_concepts(self) -> float | None:
        """The accuracy of the model's label head on true concepts."""
        return None if self.swap is None else self.swap.right / self.swap.asked

    @property
    def text(self) -> str:
        """The causes in a sentence, and in another what true concepts would change."""
        if not self.errors.wrong or self.swap is None:
            return self.errors.text or "No label is wrong."
        corrected = {cause: count for cause, count in self.swap.corrected.items() if count}
        parts = [f"{count:,} of those {CAUSES[cause]}" for cause, count in corrected.items()]
        return f"{self.errors.text} With the true concepts, {join_words(parts) or 'none of them'} would be right."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        counts = self.errors.to_dict()
        examples = counts.pop("labels")
        ends = {"with_true_concepts": self.with_true_concepts, "with_true_rule": self.with_true_rule}
        swap = None if self.swap is None else asdict(self.swap)
        return {"label": self.label, "examples": examples, **counts, **ends, "accuracy": self.accuracy, "swap": swap}


@dataclass(frozen=True)
class ConceptErrors:
    """How often a concept is misread, and how many wrong labels its true value alone would correct."""

    concept: str
    misread: int
    mends: int


@dataclass(frozen=True)
class Attribution:
    """The errors of a model by cause: for each label and in all, and which concepts are behind those of perception."""

    head: ClassVar = (
        *("label", "examples", "accuracy", "wrong", *CAUSES, "luck"),
        *("still wrong", "with true concepts", "with true rule"),
    )
    """The head of the table."""
    model: str
    split: str
    labels: tuple[Share, ...]
    whole: Share
    concepts: tuple[ConceptErrors, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "model": self.model,
            "split": self.split,
            "labels": {share.label: share.to_dict() for share in self.labels},
            "whole": self.whole.to_dict(),
            "concepts": [asdict(blame) for blame in self.concepts],
        }

    def rows(self) -> list[list[str]]:
        """Return the table: a row a label, and one for all."""
        both = [*self.labels, self.whole] if len(self.labels) > 1 else [self.whole]
        return [_row(share) for share in both]


def _row(share: Share) -> list[str]:
    errors = share.errors
    counts = [errors.wrong, *(getattr(errors, cause) for cause in CAUSES), errors.luck]
    still = "-" if share.swap is None else f"{share.swap.still_wrong:,}"
    ends = ["-" if end is None else f"{end:.3f}" for end in (share.with_true_concepts, share.with_true_rule)]
    counted = [f"{count:,}" for count in counts]
    return [share.label, f"{errors.labels:,}", f"{share.accuracy:.3f}", *counted, still, *ends]


def attribute(model: IntervenableModel, evidence: Evidence, own_head: bool = True) -> Attribution:
    """Attribute the errors that predictions show, and ask the model that made them, on the same examples.

    Parameters
    ----------
    model
        The model on the examples of the evidence, with a prediction for every concept.
    evidence
        What the model said of these examples, which is what is attributed.
    own_head
        Whether it answers by its own label head; predictions alone have none, and the rule stands in.
    """
    knowledge, truth = evidence.knowledge, evidence.concepts
    knowledge.require_rule("attributing errors to perception or the rule")
    if len(model.concepts) != len(knowledge.space):
        raise ConfigError(f"model {model.name!r} does not predict every concept, so none can be swapped")
    view = SplitView(evidence.split, evidence, (), (), used_concepts(knowledge), 1.0)
    known = np.broadcast_to(view.complete[:, None], view.truth.shape)
    cells = (view.truth, evidence.predicted_labels, view.implied_labels, known, view.unsure, view.by_table)
    true = {place: one_hot(truth[:, place], size) for place, size in enumerate(knowledge.space.sizes)}
    given = model.answer(EVERY, true).label_codes if own_head else None
    whole = np.broadcast_to(np.asarray(truth >= 0).all(axis=1, keepdims=True), known.shape)
    parts = {name: [place] for place, name in enumerate(knowledge.label_names)}
    shares = []
    for name, columns in [*parts.items(), ("all", list(range(len(parts))))]:
        own = tuple(cell[:, columns] for cell in cells)
        swap = None if given is None else _swap(own, given[:, columns], whole[:, columns])
        shares.append(_share(name, own, swap))
    blames = _blames(model, evidence, view.truth, true)
    return Attribution(model.name, evidence.split, tuple(shares[:-1]), shares[-1], tuple(blames))


Cells = tuple[Array, ...]
"""The arguments of `errors_of`."""


def _share(name: str, cells: Cells, swap: Swap | None) -> Share:
    truth, _, implied, known = cells[:4]
    right = (truth == implied)[known]
    return Share(name, errors_of(*cells), float(right.mean()) if right.size else None, swap)


def _swap(cells: Cells, given: Codes, whole: Array) -> Swap | None:
    """Return what labels become with the true concepts, where these are all known."""
    if not whole.any():
        return None
    truth, predicted = cells[:2]
    right = (given == truth) & whole
    corrected = {cause: int((rows & right).sum()) for cause, rows in causes_of(*cells).items()}
    still = int(((predicted != truth) & (given != truth) & whole).sum())
    spoiled = int(((predicted == truth) & (given != truth) & whole).sum())
    return Swap(int(whole.sum()), int(right.sum()), corrected, still, spoiled)


def _blames(
    model: IntervenableModel, evidence: Evidence, labels: Codes, true: Mapping[int, Array]
) -> Sequence[ConceptErrors]:
    """Return the concepts that are misread somewhere, those that would correct most labels first.

    A wrong label counts as corrected if the model too, asked as it is, has it wrong.
    """
    misread = (evidence.predicted_concepts != evidence.concepts) & (evidence.concepts >= 0)
    wrong = (evidence.predicted_labels != labels) & (model.answer(EVERY, {}).label_codes != labels)
    blames = []
    for place, name in enumerate(evidence.knowledge.space.names):
        rows = np.flatnonzero(misread[:, place] & wrong.any(axis=1))
        mended = 0
        if len(rows):
            after = model.answer(rows, {place: true[place][rows]}).label_codes
            mended = int((wrong[rows] & (after == labels[rows])).sum())
        if misread[:, place].any():
            blames.append(ConceptErrors(name, int(misread[:, place].sum()), mended))
    return sorted(blames, key=lambda blame: (-blame.mends, -blame.misread, blame.concept))
