"""Labels do not follow from the predicted concepts, where these are wrong or uncertain."""

from collections.abc import Iterator
from typing import ClassVar

from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.thresholds import Concepts
from assay.metrics import at_least


@register
class InconsistentCheck(Check):
    """Labels that do not follow from the concepts."""

    name = "inconsistent"
    summary = "The labels do not follow from the predicted concepts by the rule, where these are wrong."
    tone = "bad"
    severity = 62
    measure = "rule_consistency"
    null = "labels follow from the predicted concepts, or from their probabilities, in at least 95 %"
    statistic = "examples with a misread concept whose labels do not follow by the rule; exact binomial test"
    needs_rule = True
    why = "labels follow from the concepts in {follow} of {examples} examples"
    claims: ClassVar = {
        "apart": Claim(
            "The labels do not follow from the predicted concepts by the rule, where these are wrong.",
            "On {split}, the labels follow from the predicted concepts, or from their probabilities, in "
            "{follow/examples} examples; of the {misread} examples with a misread concept, in {misread_follow}.",
            "Give the model the rule as its label head, so that labels follow: `assay train cbm DATA --set head=rule`.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels do not follow from misread concepts."""
        for view in case.usual.values() if case.ruled else ():
            apart = view.misread & ~view.follows
            total = int(view.complete.sum())
            if not total or at_least(int(apart.sum()), total, case.settings(Concepts).tolerated) > view.level:
                continue
            numbers: dict[str, Number] = {
                "split": view.name, "follow": int((view.complete & view.follows).sum()), "examples": total,
                "misread": int(view.misread.sum()), "misread_follow": int((view.misread & view.follows).sum()),
            }  # fmt: skip
            cells = view.causes["both"] | view.causes["rule"]
            yield Found("apart", view.name, numbers, rows={view.name: view.in_rows(cells, apart)})
