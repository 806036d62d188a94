"""Misread concepts: a reasoning shortcut, in which the rule still gives the right labels; noise; or unused concepts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from assay.base import Array, Codes, distinct_rows, join_first, rng_for
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, register
from assay.diagnosis.checks.annotations import WrongAnnotations, disagreement, shuffles, whose_error
from assay.diagnosis.concepts import SYSTEMATIC, WRONG, ConceptState, read_by_maps
from assay.diagnosis.reading import describe_concepts
from assay.diagnosis.thresholds import Concepts, Rivals, Section, threshold
from assay.diagnosis.views import SplitView
from assay.metrics import at_least, percent, wilson


@dataclass(frozen=True)
class Shortcut(Section):
    """When misreadings that keep labels are a shortcut."""

    section: ClassVar[str] = "shortcut"
    kept: float = threshold(0.75, "share of labels that the rule surely keeps under the misreadings", "built zoo")
    excess: float = threshold(
        0.1, "share of labels kept beyond random errors of the same rate", "review 1.9: stripe, 0.89 of 0.87"
    )


def _by_annotations(case: Case, mine: Found, _: Found) -> bool:
    return whose_error(case, case.usual[mine.split]) == "annotations"


@register
class ShortcutCheck(Check):
    """A reasoning shortcut."""

    name = "shortcut"
    summary = "A reasoning shortcut: concepts that the rule uses are misread, yet the rule keeps the labels."
    tone = "bad"
    severity = 90
    measure = "concept_f1"
    null = "concepts err at random, as often as they do"
    statistic = (
        "share of misread examples whose labels the rule keeps, against random errors of the same rate; binomial"
    )
    settings = Shortcut
    needs_rule = True
    detailed = True
    rivals = (Rival("annotations", _by_annotations, "wrong annotations explain the disagreement of model and table"),)
    why = "labels kept in {kept} of {misread} misread examples"
    claims: ClassVar = {
        "kept": Claim(
            "A reasoning shortcut: concepts that the rule uses are systematically misread, and the rule still gives "
            "the right labels.",
            "On {split}, {concepts} {are} systematically misread in {misread/examples} examples, and the rule gives "
            "the right labels for the predicted concepts in {kept/misread}; random errors of these concepts would keep "
            "{random%}.",
            "{next}",
        ),
        "training": Claim(
            "A reasoning shortcut: concepts that the rule uses are systematically misread, and training labels cannot "
            "reveal it.",
            "On {split}, {concepts} {are} systematically misread in {misread/examples} examples; with this concept "
            "mapping {agreement%} of the training worlds keep their labels, and {kept/misread} of the misread "
            "examples.",
            "{next}",
        ),
        "mixed": Claim(
            "A reasoning shortcut: concepts that the rule uses are misread together in a way that keeps the labels.",
            "On {split}, {concepts} {are} misread in {misread/examples} examples, and the rule gives the right labels "
            "for the predicted concepts in {kept/misread}; independent errors would keep {random%}.",
            "{next}",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which misread concepts keep the labels."""
        for view in case.usual.values() if case.ruled else ():
            wrong = view.in_state(SYSTEMATIC)
            found = self._systematic(case, view, wrong) if wrong else self._mixed(case, view)
            if found is not None:
                yield found

    def _systematic(self, case: Case, view: SplitView, wrong: Sequence[ConceptState]) -> Found | None:
        names = tuple(state.concept for state in wrong)
        misread = view.misread_of(names) & view.complete
        count, kept = int(misread.sum()), int((misread & view.implied_right).sum())
        if not count:
            return None
        key = f"{view.name} {names}"
        agreed = case.remember(f"kept in training {key}", lambda: kept_in_training(wrong, case.training, view))
        columns = [view.evidence.knowledge.space.place(name) for name in names]
        random = case.remember(f"kept by random {key}", lambda: kept_by_random(view, columns))
        concepts = case.settings(Concepts)
        always = agreed is not None and agreed.share >= 1 - concepts.tolerated and agreed.least >= concepts.recall
        if not always and not _keeps(case, view, kept, count, random):
            return None
        claim = "kept" if _keeps(case, view, kept, count, random) else "training"
        known: dict[str, Number] = {} if agreed is None else {"agreement": agreed.share}
        return self._found(case, view, claim, wrong, known | {"kept": kept, "random": random})

    def _mixed(self, case: Case, view: SplitView) -> Found | None:
        """Return errors of concepts that together keep the labels, though no concept by itself is mostly misread."""
        noisy = view.in_state(["noisy", "not learned"])
        misread = view.misread
        count, kept = int(misread.sum()), int((misread & view.implied_right).sum())
        if not noisy or not kept:
            return None
        expected = case.remember(f"kept by independent {view.name}", lambda: kept_by_independent(view))
        contradicted = int((misread & view.contradicts & view.implied_right).sum())
        if contradicted:
            if whose_error(case, view) in ("annotations", "undecided"):
                return None
            explained = min(
                kept, round(disagreement(case, view).explained(case.settings(WrongAnnotations).sure)[1] * count)
            )
            rest, rest_kept = count - explained, kept - explained  # what wrong annotations explain is no misreading
            if rest < case.settings(Rivals).fewest or not _keeps(case, view, rest_kept, rest, expected):
                return None
        elif not _keeps(case, view, kept, count, expected):
            return None
        return self._found(case, view, "mixed", noisy, {"kept": kept, "random": expected})

    def _found(
        self, case: Case, view: SplitView, claim: str, states: Sequence[ConceptState], numbers: Mapping[str, Number]
    ) -> Found:
        names = tuple(state.concept for state in states)
        rows = view.misread_of(names)
        misread = view.misread if claim == "mixed" else rows & view.complete
        told: dict[str, Number] = {
            "split": view.name, "misread": int(misread.sum()),
            "examples": int(view.complete.sum()), "next": advice(case, names), **named(names),
        }  # fmt: skip
        accounted = case.wrong_where(lambda v: v.in_rows(v.by_concepts | v.causes["both"], v.misread_of(names)))
        details = tuple(describe_concepts(states, view.evidence))
        if "agreement" in numbers and claim == "kept":
            share = percent(float(numbers["agreement"]))
            details = (*details, f"With this concept mapping {share} of the training worlds keep their labels.")
        return Found(claim, view.name, {**told, **numbers}, names, details=details, rows=accounted)


def _keeps(case: Case, view: SplitView, kept: int, count: int, random: float) -> bool:
    settings = case.settings(Shortcut)
    beyond = at_least(kept, count, min(1.0, random + settings.excess)) <= view.level
    return beyond and wilson(kept, count)[0] >= settings.kept


@dataclass(frozen=True)
class KeptInTraining:
    """How many of the distinct training worlds keep their labels under a concept mapping."""

    share: float
    least: float
    """The same of the worlds of one label value, where it is lowest: a value that is always lost is revealed."""


def kept_in_training(wrong: Sequence[ConceptState], training: Codes | None, view: SplitView) -> KeptInTraining | None:
    """Return how many training worlds keep their labels when these concepts are read by their maps."""
    if training is None or not len(training):
        return None
    whole = training[(training >= 0).all(axis=1)]
    if not len(whole):
        return None
    worlds, knowledge = whole[distinct_rows(whole).first], view.evidence.knowledge
    labels, read = knowledge.labels_of(worlds), knowledge.labels_of(read_by_maps(wrong, worlds, knowledge.space))
    kept = labels == read
    cells = ((place, column == value) for place, column in enumerate(labels.T) for value in np.unique(column))
    least = min(kept[rows, place].mean() for place, rows in cells)
    return KeptInTraining(float(kept.all(axis=1).mean()), float(least))


def kept_by_independent(view: SplitView) -> float:
    """Return how often labels stay right if each concept errs as it does, but independently of the others."""
    truth, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    rng, kept, count = rng_for(0, "shuffled errors", len(truth)), 0, 0
    for _ in range(shuffles(view)):
        mixed = predicted.copy()
        for column in view.columns:
            for code in np.unique(truth[:, column]):
                rows = np.flatnonzero(truth[:, column] == code)
                mixed[rows, column] = predicted[rng.permutation(rows), column]
        right, wrong = _right_where_wrong(view, mixed, view.columns)
        kept, count = kept + right, count + wrong
    return kept / max(1, count)


def kept_by_random(view: SplitView, columns: Sequence[int]) -> float:
    """Return how often labels stay right if these concepts err as often, in random places and with random values."""
    truth, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    sizes, rng = view.evidence.knowledge.space.sizes, rng_for(0, "random errors", len(truth))
    rows, kept, count = np.flatnonzero(view.complete), 0, 0
    for _ in range(shuffles(view)):
        mixed = truth.copy()
        for column in columns:
            if sizes[column] < 2 or not len(rows):
                continue
            share = (predicted[rows, column] != truth[rows, column]).mean()
            hit = rows[rng.random(len(rows)) < share]
            mixed[hit, column] = (truth[hit, column] + rng.integers(1, sizes[column], len(hit))) % sizes[column]
        right, wrong = _right_where_wrong(view, mixed, columns)
        kept, count = kept + right, count + wrong
    return kept / max(1, count)


def _right_where_wrong(view: SplitView, mixed: Codes, columns: Sequence[int]) -> tuple[int, int]:
    """Return how many labels stay right among examples in which these columns are wrong, and how many there are."""
    wrong = (mixed[:, list(columns)] != view.evidence.concepts[:, list(columns)]).any(axis=1) & view.complete
    right = wrong & (view.labels_implied_by(mixed) == view.truth).all(axis=1)
    return int(right.sum()), int(wrong.sum())


def named(names: Sequence[str]) -> dict[str, str]:
    """Return names of concepts for a sentence, and the verb that goes with them."""
    return {"concepts": join_first(list(names)), "are": "is" if len(names) == 1 else "are"}


def advice(case: Case, names: Sequence[str]) -> str:
    """Return what to do about misread concepts: supervise these first."""
    return f"Annotate {join_first(list(names))} in some training examples: `assay mend RUN` plans which to buy first."


def _by_shortcut(case: Case, mine: Found, theirs: Found) -> bool:
    return mine.split == theirs.split and set(mine.concepts) <= set(theirs.concepts)


@register
class NoisyCheck(Check):
    """Concepts that are misread too often."""

    name = "noisy"
    summary = "Some concepts that the rule uses are misread too often."
    tone = "weak"
    severity = 64
    measure = "concept_f1"
    null = "a concept is wrong in at most 5 % of the examples, and each of its values is recalled in 88 %"
    statistic = "wrong predictions of each concept, and of each value; exact binomial test"
    why = "often misread: {concepts}"
    rivals = (
        Rival("annotations", _by_annotations, "wrong annotations explain the disagreement of model and table"),
        Rival("shortcut", _by_shortcut, "the misreadings keep the labels"),
    )
    claims: ClassVar = {
        "used": Claim(
            "Some concepts that the rule uses are misread too often.",
            "On {split}: {first}",
            "{next}",
        ),
        "together": Claim(
            "Concepts are misread seldom one by one, but together they make labels wrong too often.",
            "On {split}, some concept that the rule uses is misread in {misread/examples} examples, and {wrong} labels "
            "are wrong because of that.",
            "{next}",
        ),
        "any": Claim(
            "Some concepts are misread too often.",
            "On {split}: {first}",
            "{next}",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits with concepts that are wrong too often."""
        for view in case.usual.values():
            wrong = view.in_state(WRONG)
            if not wrong:
                yield from _together(case, view)
                continue
            if whose_error(case, view) == "undecided" and not view.in_state(SYSTEMATIC):
                continue
            names = tuple(state.concept for state in wrong)
            explained = view.causes["perception"]
            if case.ruled and 2 * int(view.in_rows(explained, view.misread_of(names)).sum()) < int(explained.sum()):
                yield from _together(case, view)
            sentences = describe_concepts(wrong, view.evidence)
            numbers: dict[str, Number] = {
                "split": view.name, "first": sentences[0], "count": len(wrong), "next": advice(case, names),
            }  # fmt: skip
            rows = case.wrong_where(partial(_by_misreading, names))
            claim = "used" if case.ruled else "any"
            yield Found(claim, view.name, numbers | named(names), names, details=tuple(sentences[1:]), rows=rows)


def _by_misreading(names: Sequence[str], view: SplitView) -> Array:
    """Return which labels are wrong because these concepts are misread, or any is uncertain."""
    cells = view.by_concepts | view.causes["both"] if view.evidence.knowledge.has_rule else view.wrong
    return view.in_rows(cells, view.misread_of(names)) | view.causes["unsure"]


def _together(case: Case, view: SplitView) -> Iterator[Found]:
    """Yield that concepts, none of which is clearly wrong by itself, make labels wrong too often."""
    if not case.ruled or whose_error(case, view) != "model":
        return
    cells = view.causes["perception"]
    wrong = int(cells.sum())
    if at_least(int(cells.any(axis=1).sum()), max(1, len(view)), case.settings(Concepts).tolerated) > view.level:
        return
    misread = [(int((view.misread_of([state.concept])).sum()), state.concept) for state in view.concepts if state.used]
    names = tuple(name for count, name in sorted(misread, reverse=True) if count)
    numbers: dict[str, Number] = {
        "split": view.name, "misread": int(view.misread.sum()), "examples": int(view.complete.sum()), "wrong": wrong,
        "count": len(names), "next": advice(case, names), **named(names),
    }  # fmt: skip
    yield Found("together", view.name, numbers, names, rows=case.wrong_where(lambda view: view.causes["perception"]))


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
