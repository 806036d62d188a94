"""Labels against the concepts that they should come from.

Concepts may not be predicted (`opaque`), or not determine the labels (`incomplete`); labels may not follow from the
predicted concepts (`inconsistent`), or be better than these allow (`leaking`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import Array, distinct_rows, join_first, join_words, rng_for
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.explanations import grow, questions_of, rows_at
from assay.diagnosis.thresholds import Concepts, Section, threshold
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import matches_within
from assay.metrics import Ceiling, at_least, ceilings, wilson

MOST_SHARED = 3


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


@dataclass(frozen=True)
class Incomplete(Section):
    """When labels are at the ceiling of their concepts."""

    section: ClassVar[str] = "incomplete"
    below: float = threshold(
        0.02, "how far below the held-out ceiling a label may stay", "spike: 13 of 13, 0 of 160 complete"
    )
    apart: float = threshold(
        0.3, "by how much the ceiling may differ on examples not used, where it can be estimated", "spike: 13 of 13"
    )


@register
class IncompleteCheck(Check):
    """Concepts that do not determine the labels."""

    name = "incomplete"
    summary = "The concepts do not determine the labels, and the model is about as good as they allow."
    tone = "unknown"
    severity = 72
    measure = "label_accuracy"
    null = "examples that share all concepts have one label in at least 95 %"
    statistic = (
        "share of the most frequent label among examples that share all concepts; upper end of the 95 % interval"
    )
    settings = Incomplete
    refines = ("underfit", "noisy", "opaque")
    why = "{label}: the concepts determine at most {top%}, the model has {own%}"
    claims: ClassVar = {
        "ceiling": Claim(
            "The concepts do not determine the labels, and the model is about as good as they allow.",
            "On {split}, examples that share all concepts have different values of {label}: the concepts determine "
            "at most {top%} of its labels ({held%} on examples not used), and the model has {right/examples}.",
            "Annotate a further concept that tells such examples apart: `assay audit DATA` lists values that share all "
            "concepts.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels are about as right as their concepts allow, and clearly not all right."""
        for view in () if case.ruled else case.usual.values():
            capped = _capped(case, view)
            if not capped:
                continue
            place, ceiling = capped[0]
            label = view.labels[place]
            cells = np.zeros_like(view.wrong)
            cells[:, [place for place, _ in capped]] = view.wrong[:, [place for place, _ in capped]]
            numbers: dict[str, Number] = {
                "split": view.name, "label": ceiling.label, "top": ceiling.share,
                "held": ceiling.held_out / ceiling.examples, "right": label.right, "examples": label.examples,
                "own": label.accuracy,
            }  # fmt: skip
            names = tuple(found.label for _, found in capped)
            details = _shared_cells(view, place)
            yield Found("ceiling", view.name, numbers, labels=names, details=details, rows={view.name: cells})


def _capped(case: Case, view: SplitView) -> list[tuple[int, Ceiling]]:
    """Return the labels whose concepts do not determine them, and that are about as right as these allow."""
    names = tuple(label.label for label in view.labels)
    found = case.remember(f"ceilings {view.name}", lambda: ceilings(view.evidence.concepts, view.truth, names))
    settings, tolerated = case.settings(Incomplete), case.settings(Concepts).tolerated
    return [
        (place, ceiling)
        for place, ceiling in enumerate(found)
        if ceiling.upper < 1 - tolerated
        and ceiling.share - ceiling.held_out / ceiling.examples <= settings.apart
        and view.labels[place].interval[0] <= ceiling.upper
        and view.labels[place].interval[1] >= ceiling.held_out / ceiling.examples - settings.below
    ]


def _shared_cells(view: SplitView, place: int) -> tuple[str, ...]:
    """Return the combinations of concepts that most wrong labels share, in words."""
    rows = np.flatnonzero(view.evidence.known.all(axis=1))
    worlds = distinct_rows(view.evidence.concepts[rows])
    mixed = []
    for number in np.argsort(-worlds.counts)[:50].tolist():
        own = rows[worlds.which == number]
        values, counts = np.unique(view.truth[own, place], return_counts=True)
        if len(values) > 1:
            mixed.append((len(own) - int(counts.max()), own, values, counts))
    texts = []
    label, space = view.evidence.knowledge.labels[place], view.evidence.knowledge.space
    for _, own, values, counts in sorted(mixed, key=lambda entry: -entry[0])[:MOST_SHARED]:
        codes = view.evidence.concepts[own[0]].tolist()
        world = ", ".join(f"{c.name} {c.values[code]}" for c, code in zip(space.concepts, codes, strict=True))
        parts = [f"{label.values[v]} in {n:,}" for v, n in zip(values.tolist(), counts.tolist(), strict=True)]
        texts.append(f"Of the {len(own):,} examples with {world}, {label.name} is {join_words(parts)}.")
    return tuple(texts)


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


def accuracy_from_concepts(view: SplitView, depth: int, least: int) -> float:
    """Return the accuracy of labels that trees, grown on the other half, predict from the predicted used concepts."""
    rows = np.flatnonzero(view.complete)
    if not len(rows):
        return 0.0
    codes = view.evidence.predicted_concepts[rows]
    questions = questions_of(view.evidence.knowledge.space, view.columns)
    answers = np.stack([question.holds(codes) for question in questions], axis=1)
    halves = rng_for(0, "told by concepts", len(rows)).permutation(len(rows)) % 2
    right = np.ones(len(rows), dtype=bool)
    for place in range(view.truth.shape[1]):
        labels = view.truth[rows, place]
        for half in (0, 1):
            right[halves == half] &= _told(answers, labels, halves == half, depth, least)
    return float(right.mean())


def _told(answers: Array, labels: Array, judged: Array, depth: int, least: int) -> Array:
    """Return which judged labels are right by trees over the others: for each value, how likely it is."""
    values = np.unique(labels)
    likely = np.zeros((int(judged.sum()), len(values)))
    for place, value in enumerate(values):
        tree = grow(answers[~judged], labels[~judged] == value, least, depth)
        for path, leaf in tree.leaves():
            likely[rows_at(path, answers[judged]), place] = leaf.rate
    return np.asarray(values[likely.argmax(axis=1)] == labels[judged])


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
