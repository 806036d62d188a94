"""Concepts that the rule uses are not predicted, so that they cannot be judged."""

from collections.abc import Iterator
from typing import ClassVar

from assay.base import join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.views import SplitView


@register
class OpaqueCheck(Check):
    """Concepts that are not predicted."""

    name = "opaque"
    summary = "The model does not predict some concepts that the rule uses, so that they cannot be judged."
    tone = "unknown"
    severity = 30
    measure = "label_f1"
    null = "every concept that the rule uses is predicted in at least 95 % of the examples"
    statistic = "examples without a prediction of a concept; exact binomial test"
    why = "does not predict {concepts}"
    claims: ClassVar = {
        "all": Claim(
            "The model predicts no concept, so that it cannot be told what its labels rest on.",
            "On {split}, it predicts none of the {used} concepts that could decide labels; all labels are right in "
            "{right/examples} examples.",
            "Probe its features for the concepts: `assay probe RUN`.",
        ),
        "some": Claim(
            "The model does not predict some concepts that the rule uses, so that they cannot be judged.",
            "On {split}, of {used} concepts that could decide labels it does not predict {concepts}; all labels are "
            "right in {right/examples} examples.",
            "Probe its features for these concepts: `assay probe RUN`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which concepts are not predicted."""
        for view in case.usual.values():
            silent = view.in_state(["absent"])
            if not silent:
                continue
            whole = [c.concept for c in silent if not c.answered]
            parts = [
                f"{c.concept} in {c.examples - c.answered:,} of {c.examples:,} examples" for c in silent if c.answered
            ]
            used, names = len(view.columns), join_first([*whole, *parts])
            counts: dict[str, Number] = {"right": int(view.right.sum()), "examples": len(view)}
            numbers: dict[str, Number] = {
                "split": view.name, "used": used, "silent": len(silent), "concepts": names, **counts,
            }  # fmt: skip
            details = tuple(missed_values(view))
            claim = "all" if len(whole) == used else "some"
            yield Found(claim, view.name, numbers, tuple(c.concept for c in silent), details=details)


def missed_values(view: SplitView) -> Iterator[str]:
    """Yield the label values that are clearly missed, in words."""
    for place, label in enumerate(view.labels):
        values = view.evidence.knowledge.labels[place].values
        for code, value in enumerate(values):
            own = view.truth[:, place] == code
            if str(value) in label.missed and own.any():
                wrong = int(view.wrong[own, place].sum())
                yield f"{label.label} is wrong in {wrong:,} of the {int(own.sum()):,} examples where it is {value}."
