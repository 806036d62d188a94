"""Concepts that the rule does not use are wrong, and those that it uses are right."""

from collections.abc import Iterator
from typing import ClassVar

from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.checks.shortcut import named
from assay.diagnosis.concepts import WRONG
from assay.diagnosis.reading import describe_concepts


@register
class UnidentifiedCheck(Check):
    """Wrong concepts that the rule does not use."""

    name = "unidentified"
    summary = "Concepts that the rule uses are right; others are wrong, which labels could not have supervised."
    tone = "weak"
    severity = 20
    measure = "concept_f1"
    null = "a concept that the rule does not use is wrong in at most 5 % of the examples"
    statistic = "wrong predictions of each concept; exact binomial test"
    needs_rule = True
    why = "only concepts that the rule does not use are clearly wrong: {concepts}"
    claims: ClassVar = {
        "unused": Claim(
            "Every concept that the rule uses is right; concepts that it does not use are clearly wrong, and labels "
            "could not have supervised them.",
            "On {split}, {concepts} {are} clearly wrong, and the rule does not use {them}.",
            "Annotate {concepts} if you need {them}; the labels do not.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits where only concepts that the rule does not use are clearly wrong."""
        for view in case.usual.values() if case.ruled else ():
            wrong = view.in_state(WRONG, used=False)
            if not wrong or any(state.used and state.state != "right" for state in view.concepts):
                continue
            names = tuple(state.concept for state in wrong)
            numbers: dict[str, Number] = {
                "split": view.name, "count": len(wrong), "them": "it" if len(wrong) == 1 else "them",
            }  # fmt: skip
            details = tuple(describe_concepts(wrong, view.evidence))
            yield Found("unused", view.name, numbers | named(names), names, details=details)
