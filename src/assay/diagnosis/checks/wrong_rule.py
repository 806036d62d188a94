"""Labels are wrong where every concept that the rule uses is right: the label head has another rule."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.checks.missed_region import region_of
from assay.diagnosis.thresholds import Concepts, Rivals, Section, threshold
from assay.diagnosis.views import SplitView
from assay.metrics import at_least


@dataclass(frozen=True)
class WrongRule(Section):
    """When wrong labels are the rule's."""

    section: ClassVar[str] = "wrong rule"
    share: float = threshold(0.8, "share of a wrong label's errors that must come with right concepts", "built zoo")


@register
class WrongRuleCheck(Check):
    """Another rule than the true one."""

    name = "wrong rule"
    summary = "Labels are wrong where every concept that the rule uses is right."
    tone = "bad"
    severity = 74
    measure = "label_accuracy"
    null = "where concepts are right, a label is wrong in at most 5 %, and each of its values in at most 12 %"
    statistic = "wrong labels among examples whose concepts are right, by label and by value; exact binomial test"
    settings = WrongRule
    needs_rule = True
    why = "wrong labels in {wrong} of {examples} examples whose concepts are right"
    claims: ClassVar = {
        "labels": Claim(
            "Labels are wrong where every concept that the rule uses is right.",
            "On {split}, in {examples} examples every concept that the rule uses is right and sure enough, and no "
            "annotation contradicts it, yet {named} there.",
            "Give the model the rule as its label head, or let it learn one: `assay train cbm DATA --set head=rule`.",
        ),
        "value": Claim(
            "A label value is often missed where every concept that the rule uses is right.",
            "On {split}, in {examples} examples every concept that the rule uses is right and sure enough, and no "
            "annotation contradicts it, yet {named} there.",
            "Train with more examples of these values, or give the model the rule as its label head.",
        ),
        "region": Claim(
            "Labels are wrong in a region of the concepts, where every concept that the rule uses is right.",
            "Labels are wrong where {where}, though most concepts are right there: in {inside/size} ({held%} on worlds "
            "not used to find it), while elsewhere {right/outside} are right.",
            "Look at training labels where {where}: they are wrong there, or there are none.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels are wrong though concepts are right, and a region of such labels."""
        if not case.ruled:
            return
        before = False
        for view in case.usual.values():
            found = self._labels(case, view)
            if found is not None:
                before = True
                yield found
        region = region_of(case)
        if region is not None and region.spoken and not region.of_new_worlds and not before:
            yield region.as_found("region")

    def _labels(self, case: Case, view: SplitView) -> Found | None:
        rows = view.concepts_right & ~view.contradicts & ~view.unsure.any(axis=1)
        total = int(rows.sum())
        if total < case.settings(Rivals).fewest:
            return None
        blamed = view.in_rows(view.causes["rule"], rows)
        shared, own = case.settings(Concepts), case.settings(WrongRule)
        each = view.level / len(view.labels)
        often, values = [], []
        for place, label in enumerate(view.labels):
            count, wrong = int(blamed[:, place].sum()), int(view.wrong[:, place].sum())
            clearly = at_least(count, total, shared.tolerated) <= each
            if clearly or (label.standing == "wrong" and count >= own.share * wrong):
                often.append((place, count))
            elif missed := _missed(view, place, blamed, rows, each, 1 - shared.recall):
                values.append((place, missed))
        if not often and not values:
            return None
        if often:
            texts = [f"{view.labels[place].label} is wrong in {count:,}" for place, count in often]
        else:
            texts = [text for _, missed in values for text in missed]
        places = [place for place, _ in [*often, *values]]
        concerned = np.isin(np.arange(len(view.labels)), places)
        accounted = case.wrong_where(lambda view: view.in_rows(view.causes["rule"] & concerned, view.concepts_right))
        numbers: dict[str, Number] = {
            "split": view.name,
            "examples": total,
            "wrong": int(blamed.any(axis=1).sum()),
            "named": join_first(texts),
        }
        labels = tuple(view.labels[place].label for place in places)
        return Found("labels" if often else "value", view.name, numbers, labels=labels, rows=accounted)


def _missed(view: SplitView, place: int, blamed: np.ndarray, rows: np.ndarray, level: float, share: float) -> list[str]:
    """Return the values of a label that are clearly missed where concepts are right, in words."""
    truth, label, texts = view.truth[:, place], view.evidence.knowledge.labels[place], []
    values = np.unique(truth[rows])
    for value in values.tolist():
        own = rows & (truth == value)
        count, total = int(blamed[own, place].sum()), int(own.sum())
        if at_least(count, total, share) <= level / len(values):
            texts.append(f"{label.name} is wrong in {count:,} of the {total:,} where it is {label.values[value]}")
    return texts
