"""The labels are better than the predicted concepts allow: information goes past the concepts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import distinct_rows
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.thresholds import Concepts, Section, threshold
from assay.diagnosis.told_by_concepts import accuracy_from_concepts
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import matches_within
from assay.metrics import at_least, wilson


@dataclass(frozen=True)
class LeakingLabels(Section):
    """When labels are better than concepts allow."""

    section: ClassVar[str] = "leaking"
    better: float = threshold(
        0.05, "share of labels beyond the best rule over the predicted concepts", "spike: 8 to 0 of 16 false"
    )
    depth: int = threshold(12, "questions of a tree from concepts to labels at most", "no cell is left out", 1, 30)
    leaf: int = threshold(2, "examples of a leaf of such a tree at least", "no cell is left out", 1, 1000)
    examples: int = threshold(30, "examples that a comparison needs, without a rule", "1 of 120 false", 2, 10_000)
    excess: float = threshold(
        0.02, "share of labels beyond equal concepts, without a rule", "spike: 78 of 80 at 7.5 points, 1 of 120 false"
    )


@register
class LeakingCheck(Check):
    """Information that goes past the concepts."""

    name = "leaking"
    summary = "The labels are better than the predicted concepts allow: information leaks past the concepts."
    tone = "bad"
    severity = 73
    measure = "concept_f1"
    null = "labels are no better than the best labels that the predicted concepts allow"
    statistic = (
        "right labels against the rule over predicted concepts and over their probabilities, McNemar's exact test; "
        "without a rule, against labels exchanged among examples whose true and predicted concepts are equal"
    )
    settings = LeakingLabels
    why = "labels right in {right} of {examples}, concepts imply {implied}"
    claims: ClassVar = {
        "rule": Claim(
            "The labels are better than the predicted concepts allow: information leaks past the concepts.",
            "On {split}, the labels are right in {right/examples} examples; the rule over the predicted concepts is "
            "right in {implied%}, and other rules over them, learned on half of the examples, in {by_concepts%}.",
            "Train the label head on concepts alone: `assay train cbm DATA --set mode=independent`.",
        ),
        "cells": Claim(
            "The labels are better than the concepts allow: information leaks past the concepts.",
            "On {split}, {label} is right in {right/examples} examples; exchanged among examples whose true and "
            "predicted concepts are all equal, it would be right in {expected%}.",
            "Train the label head on concepts alone: `assay train cbm DATA --set mode=independent`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits whose labels are better than their concepts."""
        for view in case.usual.values():
            found = self._by_rule(case, view) if case.ruled else self._within_cells(case, view)
            if found is not None:
                yield found

    def _by_rule(self, case: Case, view: SplitView) -> Found | None:
        implied = view.best_implied_right
        better = int((view.complete & ~implied & view.right).sum())
        worse = int((view.complete & implied & ~view.right).sum())
        total = int(view.complete.sum())
        if not total or at_least(better, total, case.settings(Concepts).tolerated) > view.level:
            return None
        if at_least(better, better + worse, 0.5) > view.level:
            return None
        settings = case.settings(LeakingLabels)
        by_concepts = case.remember(
            f"by concepts {view.name}", lambda: accuracy_from_concepts(view, settings.depth, settings.leaf)
        )
        own = int((view.complete & view.right).sum())
        if wilson(own, total)[0] <= by_concepts + settings.better:
            return None
        share = int((view.complete & implied).sum()) / total
        numbers: dict[str, Number] = {
            "split": view.name, "right": own, "implied": share, "examples": total, "by_concepts": by_concepts,
        }  # fmt: skip
        return Found("rule", view.name, numbers)

    def _within_cells(self, case: Case, view: SplitView) -> Found | None:
        evidence = view.evidence
        rows = np.flatnonzero(evidence.known.all(axis=1))
        if not evidence.has_concepts or len(rows) < case.settings(LeakingLabels).examples:
            return None
        cells = distinct_rows(
            np.concatenate([evidence.concepts[rows], evidence.predicted_concepts[rows]], axis=1)
        ).which
        for place, label in enumerate(view.labels):
            found = matches_within(view.truth[rows, place], evidence.predicted_labels[rows, place], cells)
            beyond = (found.right - found.expected) / len(rows)
            if beyond >= case.settings(LeakingLabels).excess and found.chance <= view.level / len(view.labels):
                numbers: dict[str, Number] = {
                    "split": view.name, "label": label.label, "right": found.right, "examples": len(rows),
                    "expected": found.expected / len(rows), "implied": found.expected / len(rows),
                }  # fmt: skip
                return Found("cells", view.name, numbers, labels=(label.label,))
        return None
