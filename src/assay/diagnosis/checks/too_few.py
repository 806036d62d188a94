"""There are too few examples to tell whether labels and concepts are right."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from assay.base import join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.checks.annotations import whose_error
from assay.diagnosis.concepts import surely_right
from assay.diagnosis.labels import LabelState
from assay.diagnosis.thresholds import Concepts, Labels
from assay.diagnosis.views import SplitView
from assay.metrics import at_least, share_of

STEPS = 1.05 ** np.arange(0, 140)
"""By which factors more examples are tried."""


def undecided(case: Case) -> bool:
    """Return whether labels, concepts of the rule, or how labels follow, are not decided on the first split."""
    view = case.first
    return (
        bool(undecided_labels(case)) or bool(view.in_state(["too few"])) or not follows_surely(case) or contested(case)
    )


def undecided_labels(case: Case) -> list[LabelState]:
    """Return the labels that are not surely right; without predicted concepts, those that are surely wrong are not."""
    view, tolerated = case.first, case.settings(Concepts).tolerated
    spoken, each = bool(view.complete.any()), view.level / len(view.labels)
    return [
        label
        for label in view.labels
        if label.standing != "right"
        and (spoken or (not label.missed and at_least(label.examples - label.right, label.examples, tolerated) > each))
    ]


def follows_surely(case: Case) -> bool:
    """Return whether labels surely follow from the predicted concepts, where there is a rule."""
    view = case.first
    total, follow = int(view.complete.sum()), int((view.complete & view.follows).sum())
    if not total:  # without a concept that is silent, the truth of some is nowhere known beside that of the others
        return not case.ruled or bool(view.in_state(["absent"]))
    return not case.ruled or surely_right(follow, total, case.settings(Labels))


def contested(case: Case) -> bool:
    """Return whether it cannot be told whose error the disagreement of model and table is."""
    return whose_error(case, case.first) == "undecided" and bool(case.first.wrong_used)


@register
class TooFewCheck(Check):
    """Too few examples."""

    name = "too few"
    summary = "There are too few examples to tell."
    tone = "unknown"
    severity = 10
    measure = "label_accuracy"
    fallback = True
    null = "what is not decided is wrong in a tenth of the examples"
    statistic = "right answers; exact binomial test; more examples at the same rate until it decides"
    why = "{named}"
    claims: ClassVar = {
        "undecided": Claim(
            "There are too few examples to tell whether labels and concepts are right.",
            "On {split}, {examples} examples do not decide whether these are right: {named}.",
            "{next}",
        ),
        "never whole": Claim(
            "No example has the truth of all concepts that the rule uses, so that it cannot be told whether labels "
            "follow from them.",
            "On {split}, {examples} examples have gaps in the truth of the {used} concepts that the rule uses, or are "
            "not predicted in all of them.",
            "Annotate every concept that the rule uses in some examples.",
        ),
        "contested": Claim(
            "There are too few examples to tell whether the model errs or the annotations.",
            "On {split}, predicted and annotated concepts differ in {differ} examples; in {contradict} of these the "
            "annotated concepts contradict the annotated label, which is too few to tell whose error it is.",
            "Check these {differ} annotations by hand, or annotate more examples.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield what the first split does not decide, and how many examples would."""
        view = case.first
        if contested(case):
            differ = int(view.misread.sum())
            numbers: dict[str, Number] = {
                "split": view.name, "differ": differ, "contradict": int((view.misread & view.contradicts).sum()),
                "named": f"{differ:,} disagreements of model and annotations",
            }  # fmt: skip
            yield Found("contested", view.name, numbers, tuple(c.concept for c in view.wrong_used))
        elif undecided(case):
            yield self._undecided(case, view)

    def _undecided(self, case: Case, view: SplitView) -> Found:
        labels = undecided_labels(case)
        concepts = view.in_state(["too few"])
        parts = [part for label in labels for part in _parts_of(case, view, label)]
        parts += [(x.concept, x.right, x.answered) for x in concepts]
        total = int(view.complete.sum())
        if not total and not parts:
            numbers: dict[str, Number] = {"split": view.name, "examples": len(view), "used": len(view.columns)}
            return Found("never whole", view.name, numbers | {"named": "no example has all used concepts"})
        if total and not follows_surely(case):
            parts.append(("labels that follow from the concepts", int((view.complete & view.follows).sum()), total))
        needed = [(more_needed(case, right, total), total) for _, right, total in parts]
        more = [round(found * len(view) / max(1, total)) for found, total in needed if found is not None]
        advice = f"Predict about {max(more):,} more examples: at these rates they would decide." if more else ""
        numbers = {
            "split": view.name, "examples": len(view), "more": max(more, default=0),
            "named": join_first([f"{name} ({share_of(right, total)})" for name, right, total in parts]),
            "next": advice or "Predict more examples; at these rates many more are needed.",
        }  # fmt: skip
        concerned = tuple(x.concept for x in concepts), tuple(x.label for x in labels)
        return Found("undecided", view.name, numbers, *concerned)


def _parts_of(case: Case, view: SplitView, label: LabelState) -> list[tuple[str, int, int]]:
    """Return what of a label is not decided, with how often it is right: all of it, or some of its values."""
    if not label.missed or not surely_right(label.right, label.examples, case.settings(Labels)):
        return [(f"label {label.label}", label.right, label.examples)]
    place = view.evidence.knowledge.label_names.index(label.label)
    values, parts = view.evidence.knowledge.labels[place].values, []
    for code, value in enumerate(values):
        if str(value) in label.missed:
            own = view.truth[:, place] == code
            parts.append(
                (f"label {label.label} where it is {value}", int((own & ~view.wrong[:, place]).sum()), int(own.sum()))
            )
    return parts


def more_needed(case: Case, right: int, total: int) -> int | None:
    """Return how many more examples at this rate would show it right, or wrong; None if very many."""
    share = right / max(1, total)
    settings = case.settings(Concepts)
    counts: list[int] = np.unique(np.round(max(total, 10) * STEPS).astype(int)).tolist()
    for count in counts:
        hits = round(share * count)
        wrong = at_least(count - hits, count, settings.tolerated) <= case.level / 10
        if count > total and (surely_right(hits, count, settings) or wrong):
            return count - total
    return None
