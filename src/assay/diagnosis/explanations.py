"""Explanations of wrong labels that neither annotations nor concepts explain, compared on held-out worlds.

Where a label head errs, or a model predicts no concepts, wrong labels may lie in a *region* of the concepts, on one
*split*, near the *boundary* of the rule, or on worlds that are *new*; or nowhere in particular. Each explanation is
a grouping of the examples. It is fitted on four fifths of the worlds and judged by the log-likelihood, in nats, of
the wrong labels on the last fifth, in turn: what has more groups does not look better for that alone.

Regions are the leaves of a small decision tree over yes-or-no questions about the concepts. It is grown by the Gini
index, to a few levels, with at least so many rows in a leaf.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import Array, Codes, distinct_rows, rng_for
from assay.diagnosis.thresholds import Regions
from assay.diagnosis.views import SplitView
from assay.logic import ConceptSpace
from assay.worlds import HARD

MOST_REGIONS = 2


@dataclass(frozen=True)
class TreeNode:
    """A leaf with its rate of errors, or a question with the node for `no` and that for `yes`."""

    rate: float
    question: int = -1
    no: "TreeNode | None" = None
    yes: "TreeNode | None" = None

    def leaves(
        self, path: tuple[tuple[int, bool], ...] = ()
    ) -> Iterator[tuple[tuple[tuple[int, bool], ...], "TreeNode"]]:
        """Yield every leaf with the answers that lead to it."""
        if self.no is None or self.yes is None:
            yield path, self
            return
        yield from self.no.leaves((*path, (self.question, False)))
        yield from self.yes.leaves((*path, (self.question, True)))


def grow(answers: Array, errors: Array, least: int, depth: int = 4, gain: float = 0.0) -> TreeNode:
    """Return a tree that says where errors are; `answers` has a row an example and a column a question.

    A leaf is split where that decreases the Gini index by more than `gain`, a share of all rows.

    >>> answers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=bool)
    >>> tree = grow(answers, answers[:, 1] & answers[:, 0], 2)
    >>> [path for path, leaf in tree.leaves() if leaf.rate > 0.5]
    [((0, True), (1, True))]
    """
    return _grow(answers.astype(np.float32), errors.astype(np.float32), least, depth, gain * len(errors))


def _grow(answers: Array, errors: Array, least: int, depth: int, enough: float) -> TreeNode:
    count, wrong = len(errors), float(errors.sum())
    smoothed = (wrong + 0.5 * wrong / max(1, count)) / (count + 0.5) if count else 0.0
    if depth == 0 or count < 2 * least or wrong in (0.0, count):
        return TreeNode(smoothed)
    yes, yes_wrong = answers.sum(axis=0), errors @ answers
    no, no_wrong = count - yes, wrong - yes_wrong
    with np.errstate(divide="ignore", invalid="ignore"):
        impurity = yes_wrong * (yes - yes_wrong) / yes + no_wrong * (no - no_wrong) / no
    impurity = np.where((yes >= least) & (no >= least), impurity, np.inf)
    best = int(impurity.argmin())
    gain = 2 * (wrong * (count - wrong) / count - float(impurity[best]))
    if not gain > enough:
        return TreeNode(smoothed)
    chosen = answers[:, best] > 0
    sides = [_grow(answers[rows], errors[rows], least, depth - 1, enough) for rows in (~chosen, chosen)]
    return TreeNode(smoothed, best, *sides)


def rows_at(path: tuple[tuple[int, bool], ...], answers: Array) -> Array:
    """Return which rows give these answers."""
    inside = np.ones(len(answers), dtype=bool)
    for question, answer in path:
        inside &= answers[:, question] == answer
    return inside


ASIDE = frozenset({HARD, "valid", "unconfounded", "reversed"})
"""Splits that are not compared: chosen near the boundary, used to stop training, or with other nuisances."""


@dataclass(frozen=True)
class NamedRegion:
    """A region of the concepts in words, the answers to questions that lead to it, and how many are wrong there."""

    where: str
    path: tuple[tuple["ConceptQuestion", bool], ...]
    wrong: int

    def holds(self, codes: Codes) -> Array:
        """Return which worlds lie in it."""
        inside = np.ones(len(codes), dtype=bool)
        for question, answer in self.path:
            inside &= question.holds(codes) == answer
        return inside


@dataclass(frozen=True)
class Explanations:
    """Examples of the splits that are compared, and how well each explanation predicts which are wrong."""

    names: tuple[str, ...]
    views: tuple[SplitView, ...]
    rows: tuple[Array, ...]
    """For each split which examples take part: those whose used concepts are known."""
    right: Array
    """Whether all labels of an example are right."""
    wrong: Array
    """Whether some label is wrong: one that neither annotations nor concepts explain, or any."""
    every: bool
    """Whether every wrong label counts."""
    settings: Regions
    worlds: Array
    cells: Array
    """The number of each example's combination of used concepts."""
    split: Array
    nearby: Array
    """The number of the set of labels whose boundary is near."""
    new: Array | None
    nats: Mapping[str, Array]
    """For each explanation the log-likelihood of each example, held out."""
    inside: Array
    """Whether an example lies in a region of errors that was found without its world."""
    leaf: Array
    named: Array
    """Whether an example lies in one of the regions that are named."""
    regions: tuple[NamedRegion, ...]
    """The regions of errors of a tree over all examples, those with most wrong labels, in words."""

    @property
    def told(self) -> bool:
        """Whether there are enough examples and wrong labels to compare explanations."""
        return bool(self.nats) and int(self.wrong.sum()) >= self.settings.wrong

    @cached_property
    def fit(self) -> dict[str, float]:
        """The log-likelihood of each explanation."""
        return {name: float(nats.sum()) for name, nats in self.nats.items()}

    def beats(self, name: str, rivals: Sequence[str], margin: float) -> bool:
        """Return whether an explanation is better than each of some rivals by a margin."""
        return name in self.fit and all(self.fit[name] >= self.fit[r] + margin for r in rivals if r in self.fit)

    def cells_of(self, chosen: Array) -> dict[str, Array]:
        """Return for each split the open wrong labels of chosen examples."""
        found, start = {}, 0
        for name, view, rows in zip(self.names, self.views, self.rows, strict=True):
            mask = np.zeros(len(view), dtype=bool)
            mask[rows] = chosen[start : start + len(rows)]
            start += len(rows)
            found[name] = view.in_rows(view.wrong if self.every else view.open, mask)
        return found

    def redraw(self, views: Sequence[SplitView], chosen: Sequence[Array]) -> "Explanations":
        """Return the same for examples that were drawn again: `chosen` are their rows in each split."""
        places, rows, start = [], [], 0
        for own, mine in zip(self.rows, chosen, strict=True):
            where = np.full(int(max(mine.max(initial=0), own.max(initial=0))) + 1, -1)
            where[own] = np.arange(len(own)) + start
            found = where[mine]
            rows.append(np.flatnonzero(found >= 0))
            places.append(found[found >= 0])
            start += len(own)
        take = np.concatenate(places)
        per_row = {
            name: getattr(self, name)[take]
            for name in ("right", "wrong", "worlds", "cells", "split", "nearby", "inside", "leaf", "named")
        }
        nats = {name: values[take] for name, values in self.nats.items()}
        new = None if self.new is None else self.new[take]
        return replace(self, views=tuple(views), rows=tuple(rows), new=new, nats=nats, **per_row)


def compared(views: Mapping[str, SplitView]) -> dict[str, SplitView]:
    """Return the splits that explanations compare; the first if there is none other."""
    usual = {name: view for name, view in views.items() if name not in ASIDE}
    return usual or dict(list(views.items())[:1])


def explain(
    views: Mapping[str, SplitView],
    new: Mapping[str, Array | None],
    fewest: int,
    every: bool = False,
    settings: Regions = Regions(),  # noqa: B008 - it is frozen
) -> Explanations:
    """Compare explanations of the wrong labels of some splits; `new` says which worlds training does not show.

    By default wrong labels are those that neither annotations nor concepts explain; with `every`, all of them.
    """
    parts = compared(views)
    first = next(iter(parts.values()))
    rows = tuple(np.flatnonzero(view.known) for view in parts.values())

    def column(values: Callable[[SplitView], Array]) -> Array:
        return np.concatenate([values(view)[own] for view, own in zip(parts.values(), rows, strict=True)])

    codes = column(lambda view: view.evidence.concepts)
    wrong = column(lambda view: np.asarray((view.wrong if every else view.open).any(axis=1)))
    ruled = first.evidence.knowledge.has_rule
    nearby = column(lambda v: v.near_types).astype(np.int64) if ruled else np.zeros((len(codes), 1), dtype=np.int64)
    masks = [new.get(name) for name in parts]
    known = [mask for mask in masks if mask is not None]
    basis: dict[str, Any] = {
        "right": column(lambda view: view.right),
        "wrong": wrong,
        "every": every,
        "settings": settings,
        "worlds": distinct_rows(codes).which,
        "cells": distinct_rows(codes[:, first.columns]).which,
        "split": np.concatenate([np.full(len(own), i) for i, own in enumerate(rows)]),
        "nearby": distinct_rows(nearby).which,
        "new": np.concatenate([m[own] for m, own in zip(known, rows, strict=True)])
        if len(known) == len(rows)
        else None,
    }
    groups = {"chance": np.zeros(len(wrong), dtype=np.int64), "boundary": basis["nearby"], "split": basis["split"]}
    if basis["new"] is not None:
        groups["new world"] = basis["new"].astype(np.int64)
    none = np.zeros(len(wrong), dtype=bool)
    found: dict[str, Any] = {"nats": {}, "inside": none, "leaf": none.astype(int), "named": none, "regions": ()}
    if len(wrong) >= 2 * fewest and wrong.sum() >= settings.wrong:
        found = _fit(first, codes, wrong, _folds(basis["worlds"], settings), groups, settings)
    return Explanations(tuple(parts), tuple(parts.values()), rows, **basis, **found)


def _folds(worlds: Array, settings: Regions) -> Array:
    """Return a fold for each example: by world where there are enough, so that a region holds for others too."""
    count = int(worlds.max()) + 1
    rng = rng_for(0, "explanations", len(worlds))
    by_world = count >= settings.worlds
    folds = rng.permutation(count if by_world else len(worlds)) % settings.folds
    return np.asarray(folds[worlds] if by_world else folds)


def _fit(
    first: SplitView,
    codes: Codes,
    wrong: Array,
    folds: Array,
    groups: Mapping[str, Array],
    settings: Regions,
) -> dict[str, Any]:
    questions = questions_of(first.evidence.knowledge.space, first.columns)
    answers = np.stack([question.holds(codes) for question in questions], axis=1)
    count = len(wrong)
    chances = {name: np.zeros(count) for name in (*groups, "region")}
    inside, leaves = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    for fold in range(settings.folds):
        held = folds == fold
        fitted = ~held
        if not held.any():
            continue
        for name, group in groups.items():
            chances[name][held] = _rates(group[fitted], wrong[fitted], group[held])
        tree = _grown(answers[fitted], wrong[fitted], settings)
        for number, (path, leaf) in enumerate(tree.leaves()):
            here = np.flatnonzero(held)[rows_at(path, answers[held])]
            chances["region"][here] = leaf.rate
            leaves[here] = number + 1000 * fold
            if leaf.rate >= max(settings.inside, 2 * wrong[fitted].mean()):
                inside[here] = True
    nats = {name: _likelihood(wrong, chance, settings.sure) for name, chance in chances.items()}
    regions = _named(answers, wrong, questions, settings)
    named = np.any([region.holds(codes) for region in regions], axis=0) if regions else np.zeros(count, dtype=bool)
    return {"nats": nats, "inside": inside, "leaf": leaves, "named": named, "regions": regions}


def _grown(answers: Array, wrong: Array, settings: Regions) -> TreeNode:
    return grow(answers, wrong, max(5, int(settings.smallest * len(wrong))), settings.depth, settings.gain)


def _named(
    answers: Array, wrong: Array, questions: Sequence["ConceptQuestion"], settings: Regions
) -> tuple[NamedRegion, ...]:
    """Return the regions of errors of a tree over all examples, those with most wrong labels first."""
    tree, found = _grown(answers, wrong, settings), []
    for path, leaf in tree.leaves():
        if leaf.rate >= max(settings.inside, 2 * wrong.mean()):
            steps = tuple((questions[number], answer) for number, answer in path)
            found.append(NamedRegion(describe(steps), steps, int(wrong[rows_at(path, answers)].sum())))
    return tuple(sorted(found, key=lambda region: -region.wrong)[:MOST_REGIONS])


def _likelihood(wrong: Array, chance: Array, sure: float) -> Array:
    clear = np.clip(chance, sure, 1 - sure)
    return np.asarray(np.where(wrong, np.log(clear), np.log(1 - clear)))


def _rates(groups: Array, wrong: Array, asked: Array) -> Array:
    """Return the share of wrong labels in each group, drawn to that of all by one example."""
    base = (float(wrong.sum()) + 0.5) / (len(wrong) + 1)
    size = int(max(groups.max(initial=0), asked.max(initial=0))) + 1
    rates = (np.bincount(groups, wrong, size) + base) / (np.bincount(groups, minlength=size) + 1)
    return np.asarray(rates[asked])


@dataclass(frozen=True)
class ConceptQuestion:
    """A yes-or-no question about one concept: is it this value, or at most this value."""

    column: int
    code: int
    up_to: bool
    yes: str
    no: str

    def holds(self, codes: Codes) -> Array:
        """Return the answer for each world."""
        own = codes[:, self.column]
        return np.asarray(own <= self.code if self.up_to else own == self.code)


def questions_of(space: ConceptSpace, columns: Sequence[int]) -> list[ConceptQuestion]:
    """Return the questions about some concepts."""
    questions = []
    for column in columns:
        concept = space.concepts[column]
        values = concept.values
        if concept.kind == "bool" and len(values) == 2:  # 0 and 1 equal False and True
            code = concept.code(True)
            questions.append(ConceptQuestion(column, code, False, concept.name, f"not {concept.name}"))
            continue
        start = 1 if len(values) == 2 else 0
        for code in range(start, len(values)):
            yes = f"{concept.name} is {values[code]}"
            questions.append(ConceptQuestion(column, code, False, yes, f"{concept.name} is not {values[code]}"))
        if len(values) > 3 and all(isinstance(value, (int, float)) for value in values):
            for code in range(1, len(values) - 1):
                above = f"{concept.name} is above {values[code]}"
                questions.append(
                    ConceptQuestion(column, code, True, f"{concept.name} is at most {values[code]}", above)
                )
    return questions


def describe(path: Sequence[tuple[ConceptQuestion, bool]]) -> str:
    """Return a path of a tree in words."""
    return " and ".join(question.yes if answer else question.no for question, answer in path) or "everywhere"
