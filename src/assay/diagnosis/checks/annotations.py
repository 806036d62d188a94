"""Wrong annotations: where model and table differ, the table contradicts its own label by the rule."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.base import rng_for
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.thresholds import Section, threshold
from assay.diagnosis.views import SplitView
from assay.metrics import at_least, wilson

Whose = Literal["model", "annotations", "both", "undecided"]


SHUFFLES, ENOUGH_SHUFFLED = 20, 2_000_000
"""How often errors are shuffled, and after how many examples no more: the share is then known to about 0.001."""


@dataclass(frozen=True)
class WrongAnnotations(Section):
    """Whose error a disagreement of model and table is."""

    section: ClassVar[str] = "annotations"
    partly: float = threshold(
        0.2, "share of the disagreement from which on annotations explain a part", "review: 0.00 against 0.90-1.18"
    )
    mostly: float = threshold(
        0.5, "share of the disagreement that annotations may explain where it cannot be told", "spike, 62 of 64"
    )
    rest: float = threshold(
        0.02,
        "share of examples that the model may misread beside wrong annotations",
        "spike: 27 of 32 real misreadings",
    )
    rows: float = threshold(
        0.01,
        "share of examples that surely contradict themselves where the model is right",
        "a rule and its labels never do",
    )
    sure: float = threshold(0.99, "confidence of the interval of the explained share", "review: 46 of 48", 0.5, 0.9999)
    implied: float = threshold(
        0.5, "share of contradictions in which the model's concepts must imply the label", "built zoo"
    )


@dataclass(frozen=True)
class Disagreement:
    """Examples whose predicted concepts differ from the annotated ones, and how many contradict their own label."""

    examples: int
    differ: int
    contradict: int
    implied: int
    """In how many of those that contradict, the predicted concepts imply the annotated label."""
    kept: float
    """The share of labels that independent errors of the annotations would keep."""
    usual: float
    """The share of examples that contradict their own label where model and table agree."""

    def explained(self, sure: float) -> tuple[float, float, float]:
        """The share of the disagreement that wrong annotations explain: the estimate between its ends."""
        low, high = wilson(self.contradict, self.differ, sure)
        room = max(1e-6, 1 - self.kept)
        shares = (low, self.contradict / max(1, self.differ), high)
        least, middle, most = ((share - self.usual) / room for share in shares)
        return least, middle, most

    def whose(self, settings: WrongAnnotations) -> Whose:
        """Return whose error it is."""
        low, _, high = self.explained(settings.sure)
        if not self.contradict or high < settings.partly or wilson(self.implied, self.contradict)[1] < settings.implied:
            return "model"
        rest = self.differ * (1 - min(1.0, high)) / max(1, self.examples) <= settings.rest
        if low >= settings.partly and wilson(self.implied, self.contradict)[0] >= settings.implied:
            return "annotations" if rest else "both"
        return "undecided" if high >= settings.mostly and rest else "model"


def disagreement(case: Case, view: SplitView) -> Disagreement:
    """Return how model and table disagree on a split."""
    differ = view.misread
    contradict = differ & view.contradicts
    kept, alike = 0.0, view.complete & ~differ
    if contradict.any():
        kept = case.remember(f"kept by annotations {view.name}", lambda: kept_by_annotations(view))
    implied = int((contradict & view.implied_right).sum())
    usual = float((alike & view.contradicts).sum() / max(1, alike.sum()))
    return Disagreement(int(view.complete.sum()), int(differ.sum()), int(contradict.sum()), implied, kept, usual)


def whose_error(case: Case, view: SplitView) -> Whose:
    """Return whose error the disagreement of model and table is; the model's where the rule cannot tell."""
    if not case.ruled or view.evidence.knowledge.stochastic:
        return "model"
    return disagreement(case, view).whose(case.settings(WrongAnnotations))


def kept_by_annotations(view: SplitView) -> float:
    """Return how often annotations keep the label that the predicted concepts imply, if they err independently.

    Annotated values are exchanged among examples with the same predicted value, concept by concept.
    """
    table, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    rng, kept, count = rng_for(0, "shuffled annotations", len(table)), 0, 0
    for _ in range(shuffles(view)):
        mixed = np.where(view.complete[:, None], table, predicted)
        for column in view.columns:
            for code in np.unique(predicted[view.complete, column]):
                rows = np.flatnonzero(view.complete & (predicted[:, column] == code))
                mixed[rows, column] = table[rng.permutation(rows), column]
        wrong = (mixed[:, view.columns] != predicted[:, view.columns]).any(axis=1) & view.complete
        right = wrong & (view.labels_implied_by(mixed) == view.implied_labels).all(axis=1)
        kept, count = kept + int(right.sum()), count + int(wrong.sum())
    return kept / max(1, count)


def shuffles(view: SplitView) -> int:
    """Return how often errors of a split are shuffled."""
    return max(1, min(SHUFFLES, ENOUGH_SHUFFLED // max(1, len(view))))


@register
class AnnotationsCheck(Check):
    """Wrong annotations."""

    name = "annotations"
    summary = "The annotations contradict the rule where the model disagrees with them."
    tone = "unknown"
    severity = 66
    measure = "concept_f1"
    null = "the model errs; annotated concepts contradict their own label as rarely as elsewhere"
    statistic = (
        "share of disagreeing examples whose annotated concepts contradict the annotated label, divided by the share "
        "that independent errors would contradict; Wilson interval"
    )
    settings = WrongAnnotations
    needs_rule = True
    claims: ClassVar = {
        "concepts": Claim(
            "The annotated concepts contradict the annotated labels where the model disagrees with them.",
            "On {split}, predicted and annotated concepts differ in {differ} of {examples} examples; in "
            "{contradict/differ} the annotated concepts contradict the annotated label by the rule, and in {implied} "
            "of these {contradict} the predicted concepts imply it.",
            "Correct the annotations: `assay audit DATA` lists the rows that contradict the rule.",
        ),
        "labels": Claim(
            "Annotated labels contradict the annotated concepts where the model disagrees with them.",
            "On {split}, {by_table} of {wrong} wrong labels are those that the rule gives for the annotated concepts: "
            "there the annotated label contradicts the annotated concepts.",
            "Correct the labels: `assay audit DATA` lists the rows that contradict the rule.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits where annotations explain the disagreement, of concepts or of labels."""
        if not case.ruled or case.first.evidence.knowledge.stochastic:
            return
        for view in case.usual.values():
            yield from self._concepts(case, view)
            yield from self._labels(case, view)

    def _concepts(self, case: Case, view: SplitView) -> Iterator[Found]:
        found = disagreement(case, view)
        often = at_least(found.implied, max(1, found.examples), case.settings(WrongAnnotations).rows) <= view.level
        if not view.wrong_used and not often:
            return
        if found.whose(case.settings(WrongAnnotations)) not in ("annotations", "both"):
            return
        numbers: dict[str, Number] = {
            "split": view.name, "differ": found.differ, "examples": found.examples, "implied": found.implied,
        }  # fmt: skip
        explained: dict[str, Number] = {
            "contradict": found.contradict,
            "explained": min(1.0, found.explained(case.settings(WrongAnnotations).sure)[1]),
        }
        rows = {view.name: view.by_table | view.in_rows(view.by_concepts, view.misread & view.contradicts)}
        yield Found("concepts", view.name, numbers | explained, tuple(c.concept for c in view.wrong_used), rows=rows)

    def _labels(self, case: Case, view: SplitView) -> Iterator[Found]:
        least, wrong, count = case.settings(WrongAnnotations).rows, int(view.wrong.sum()), int(view.by_table.sum())
        total, each = view.wrong.size, view.level / len(view.labels)
        often = [at_least(int(own.sum()), len(view), least) <= each for own in view.by_table.T]
        if any(often) and 2 * count >= wrong:
            names = tuple(s.label for s, own in zip(view.labels, often, strict=True) if own)
            numbers: dict[str, Number] = {"split": view.name, "by_table": count, "wrong": wrong, "labels": total}
            yield Found("labels", view.name, numbers, labels=names, rows=case.wrong_where(lambda view: view.by_table))
