"""Responsiveness: how likely answers about some concepts are to change the prediction, and where it is highest.

resp(S) = sum over the answers a to the concepts of S of p(a) [the prediction with S set to a is another one]. Here p is
the model's own probability of the answers, and all other concepts stay as the model has them. It is exact, for concepts
of any number of values and labels of any kind; where there are several labels, a change of any is a change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay.base import Array, Codes
from assay.contracts import EVERY, IntervenableModel, LinearHead

CHUNK = 4096
"""Rows at a time, so that memory stays small."""
AT_ONCE = 8192
"""How many rows a model is asked about in one call, where there are few examples."""
MARGIN = 1e-12
"""A set must be better by more than this than one before it: rounding must not ask about what changes nothing."""
Sets = Sequence[tuple[int, ...]]
"""Sets of concepts by place, smaller ones first."""


@dataclass(frozen=True)
class Best:
    """For each row the highest responsiveness of any set, and which set it is; of equal sets the first."""

    score: Array
    choice: Array


def best_sets(model: IntervenableModel, sets: Sets, scores: dict[tuple[int, ...], Array] | None = None) -> Best:
    """Return the best of some sets for each row; `scores` keeps the responsiveness of each set for further calls."""
    if model.linear is not None and model.linear.binary:
        return _best_linear(model.linear, model.concepts, sets)
    scores = {} if scores is None else scores
    best, before = _none(len(model.concepts[0])), model.answer(EVERY, {}).label_codes
    for number, chosen in enumerate(sets):
        if chosen not in scores:
            scores[chosen] = responsiveness(model, chosen, before)
        _improve(best, scores[chosen], number)
    return best


def responsiveness(model: IntervenableModel, chosen: Sequence[int], before: Codes | None = None) -> Array:
    """Return for each row how likely answers about these concepts are to change the prediction from `before`."""
    own = model.concepts
    before = model.answer(EVERY, {}).label_codes if before is None else before
    rows, total = len(before), np.zeros(len(before))
    answers = np.array(list(product(*(range(own[place].shape[1]) for place in chosen))))
    for part in np.split(answers, range(at_once := max(1, AT_ONCE // max(1, rows)), len(answers), at_once)):
        changed = _label_codes(model, chosen, part, rows) != before
        for codes, moved in zip(part, changed.any(axis=2), strict=True):
            chance = np.ones(rows)
            for place, code in zip(chosen, codes, strict=True):
                chance = chance * own[place][:, code]
            total += chance * moved
    return total


def _label_codes(model: IntervenableModel, chosen: Sequence[int], answers: Codes, rows: int) -> Codes:
    """Return the labels of all rows under each of some answers about concepts: answers x rows x labels."""
    sizes = [model.concepts[place].shape[1] for place in chosen]
    do = {
        place: np.repeat(np.eye(size)[column], rows, axis=0)
        for place, size, column in zip(chosen, sizes, answers.T, strict=True)
    }
    asked = EVERY if len(answers) == 1 else np.tile(np.arange(rows), len(answers))
    return model.answer(asked, do).label_codes.reshape(len(answers), rows, -1)


def _none(rows: int) -> Best:
    return Best(np.zeros(rows), np.full(rows, -1, dtype=np.int64))


def _improve(best: Best, scores: Array, number: int) -> None:
    better = scores > best.score + MARGIN
    np.copyto(best.score, scores, where=better)
    np.copyto(best.choice, number, where=better)


def _best_linear(head: LinearHead, concepts: Sequence[Array], sets: Sets) -> Best:
    """Do what `best_sets` does by adding up margins; sets that begin alike share what they begin with."""
    rows = len(concepts[0])
    best = _none(rows)
    beginnings = _by_beginning(sets)
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        flips = _Flips(head, [np.asarray(p[part], dtype=np.float64) for p in concepts])
        here = Best(best.score[part], best.choice[part])  # views: what is better is written through them
        for beginning, numbers, lasts in beginnings:
            for number, scores in zip(numbers, flips.chances(beginning, lasts), strict=True):
                _improve(here, scores, number)
    return best


def _by_beginning(sets: Sets) -> list[tuple[tuple[int, ...], list[int], list[int]]]:
    """Return runs of sets that differ in the last concept only: the beginning, their numbers, their last concepts."""
    runs: list[tuple[tuple[int, ...], list[int], list[int]]] = []
    for number, chosen in enumerate(sets):
        if not runs or runs[-1][0] != chosen[:-1]:
            runs.append((chosen[:-1], [], []))
        runs[-1][1].append(number)
        runs[-1][2].append(chosen[-1])
    return runs


class _Flips:
    """Margins of rows on the side of the prediction: it changes where one falls below 0.

    All arrays have their rows last: `base` labels x rows; `moves` concepts x values x labels x rows, what a value adds
    to the margin; `chance` concepts x values x rows; `bars` like `moves`, what a margin must stay above so that the
    value does not change the prediction. Concepts of fewer values than others have values of chance 0.
    """

    def __init__(self, head: LinearHead, concepts: list[Array]) -> None:
        weights, bias = head.margins()
        rows, most = len(concepts[0]), max(p.shape[1] for p in concepts)
        self.sizes = [p.shape[1] for p in concepts]
        margin = sum((p @ w for p, w in zip(concepts, weights, strict=True)), bias).T
        side = np.where(margin > 0, 1.0, -1.0)
        self.base = np.abs(margin)
        self.moves = np.zeros((len(concepts), most, len(bias), rows))
        self.chance = np.zeros((len(concepts), most, rows))
        for place, (p, w) in enumerate(zip(concepts, weights, strict=True)):
            self.moves[place, : len(w)] = side * (w[:, :, None] - (p @ w).T)
            self.chance[place, : len(w)] = p.T
        bars = -self.moves  # a margin of 0 is no change from the first value, and a change from the second
        self.bars = np.where(side > 0, np.nextafter(bars, np.inf), bars)
        self.known: dict[tuple[int, ...], tuple[Array, Array]] = {(): (self.base[None], np.ones((1, rows)))}
        self.room = np.empty(0, dtype=bool), np.empty(0, dtype=bool), np.empty(0)

    def chances(self, beginning: tuple[int, ...], lasts: list[int]) -> Array:
        """Return for sets of a beginning and each last concept how likely a change is: sets x rows."""
        sums, weights = self.prefix_sums(beginning)
        those = slice(lasts[0], lasts[-1] + 1) if lasts[-1] - lasts[0] == len(lasts) - 1 else lasts
        shape = (len(weights), len(lasts), weights.shape[1])
        changed, other, shares = self._room(shape)
        total = None
        for code in range(max(self.sizes[last] for last in lasts)):
            bars = self.bars[those, code]
            np.less(sums[:, None, 0], bars[None, :, 0], out=changed)
            for label in range(1, self.base.shape[0]):
                np.less(sums[:, None, label], bars[None, :, label], out=other)
                np.logical_or(changed, other, out=changed)
            np.multiply(weights[:, None, :], changed, out=shares)
            share = np.add.reduce(shares, axis=0)
            share *= self.chance[those, code]
            total = share if total is None else np.add(total, share, out=total)
        return np.asarray(total)

    def prefix_sums(self, beginning: tuple[int, ...]) -> tuple[Array, Array]:
        """Return margins and chances for all answers to the beginning: answers x labels x rows, answers x rows."""
        if beginning not in self.known:
            sums, weights = self.prefix_sums(beginning[:-1])
            place, size = beginning[-1], self.sizes[beginning[-1]]
            sums = (sums[:, None] + self.moves[place, :size][None]).reshape(-1, *self.base.shape)
            weights = (weights[:, None] * self.chance[place, :size][None]).reshape(-1, self.base.shape[1])
            if len(beginning) > 1:  # those of one concept are few, and every longer one begins with one of them
                return sums, weights
            self.known[beginning] = sums, weights
        return self.known[beginning]

    def _room(self, shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Return the same memory for every set: asking for it anew would take longer than filling it."""
        cells = math.prod(shape)
        if len(self.room[0]) < cells:
            self.room = np.empty(cells, dtype=bool), np.empty(cells, dtype=bool), np.empty(cells)
        changed, other, shares = self.room
        return changed[:cells].reshape(shape), other[:cells].reshape(shape), shares[:cells].reshape(shape)
