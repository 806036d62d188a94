"""The labels are right, and they follow from concepts that are right."""

from collections.abc import Iterator
from typing import ClassVar

from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.checks.too_few import undecided


def _right(case: Case) -> Found | None:
    """Return that labels and concepts are right on the first split, with the lowest bounds of both."""
    if undecided(case):
        return None
    view = case.first
    used = [state for state in view.concepts if state.used]
    numbers: dict[str, Number] = {
        "split": view.name, "examples": len(view), "used": len(used),
        "least": int(100 * min((state.interval[0] for state in used), default=1.0)) / 100,
        "labels": int(100 * min(label.interval[0] for label in view.labels)) / 100,
        "follow": int((view.complete & view.follows).sum()), "complete": int(view.complete.sum()),
    }  # fmt: skip
    return Found("right", view.name, numbers)


@register
class SoundCheck(Check):
    """Nothing is wrong."""

    name = "sound"
    summary = "The labels are right, and they follow from concepts that are right."
    tone = "good"
    severity = 0
    measure = "label_f1"
    fallback = True
    needs_rule = True
    null = "some label or concept is wrong in a tenth of the examples"
    statistic = "right labels, each of their values, right concepts, labels that follow; exact binomial tests"
    why = "labels and concepts are right, and follow by the rule"
    claims: ClassVar = {
        "right": Claim(
            "The labels are right, and they follow from concepts that are right.",
            "On {split}, every label is right in at least {labels%}, each of the {used} concepts that the rule uses in "
            "at least {least%} (lower ends of 95 % intervals, {examples} examples), and labels follow from the "
            "predicted concepts in {follow} of {complete}.",
            "Look where it may break: predict a split `ood`, and counterfactual pairs.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield that all is right."""
        found = _right(case) if case.ruled else None
        if found is not None:
            yield found


@register
class NoRuleCheck(Check):
    """Nothing is wrong, as far as can be told without a rule."""

    name = "no rule"
    summary = "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts."
    tone = "unknown"
    severity = 1
    measure = "label_f1"
    fallback = True
    null = "some label or concept is wrong in a tenth of the examples"
    statistic = "right labels, each of their values, right concepts; exact binomial tests"
    why = "labels and concepts are right"
    claims: ClassVar = {
        "right": Claim(
            "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts.",
            "On {split}, every label is right in at least {labels%}, and each of the {used} concepts in at least "
            "{least%} (lower ends of 95 % intervals, {examples} examples).",
            "Have rules proposed: `assay train rules|tree|ilp|synthesis DATA`.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield that all is right, where no rule is known."""
        found = _right(case) if not case.ruled else None
        if found is not None:
            yield found
