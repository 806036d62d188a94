"""Responsiveness: how likely answers about some concepts are to change the prediction, and the sets where it is highest.

resp(S) = sum over the answers a to the concepts of S of p(a) [the prediction with S set to a is another one], where p is
the model's own probability of the answers and all other concepts stay as the model has them. It is exact, for concepts
of any number of values and labels of any kind; where there are several labels, a change of any is a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay.arrays import Array
from assay.diagnosis.interventions.answering import EVERY, Answerer
from assay.diagnosis.interventions.fronts import LinearFront

CHUNK = 1024
"""Rows at a time, so that what is computed stays near the processor."""
MARGIN = 1e-12
"""A set must be better by more than this than one before it: rounding must not ask about what changes nothing."""
Sets = Sequence[tuple[int, ...]]
"""Sets of concepts by place, smaller ones first."""


@dataclass(frozen=True)
class Best:
    """For each row the highest responsiveness of any set, and which set it is; of equal sets the first."""

    score: Array
    choice: Array


def best_sets(model: Answerer, sets: Sets) -> Best:
    """Return the best of some sets for each row."""
    if model.linear is not None and model.linear.binary:
        return _best_linear(model.linear, model.concepts, sets)
    best = _none(len(model.concepts[0]))
    for number, chosen in enumerate(sets):
        _improve(best, responsiveness(model, chosen), number)
    return best


def responsiveness(model: Answerer, chosen: Sequence[int]) -> Array:
    """Return for each row how likely answers about these concepts are to change the prediction."""
    own = model.concepts
    before = model.answer(EVERY, {}).label_codes
    found = np.zeros(len(before))
    for codes in product(*(range(own[place].shape[1]) for place in chosen)):
        chance = np.ones(len(before))
        given = {}
        for place, code in zip(chosen, codes, strict=True):
            chance = chance * own[place][:, code]
            given[place] = certain(len(before), own[place].shape[1], code)
        found += chance * (model.answer(EVERY, given).label_codes != before).any(axis=1)
    return found


def certain(rows: int, size: int, code: int) -> Array:
    """Return a certain answer for every row."""
    return np.broadcast_to(np.eye(size)[code], (rows, size))


def _none(rows: int) -> Best:
    return Best(np.zeros(rows), np.full(rows, -1, dtype=np.int64))


def _improve(best: Best, found: Array, number: int) -> None:
    better = found > best.score + MARGIN
    np.copyto(best.score, found, where=better)
    np.copyto(best.choice, number, where=better)


def _best_linear(front: LinearFront, concepts: Sequence[Array], sets: Sets) -> Best:
    """Do what `best_sets` does by adding up margins; sets that begin alike share what they begin with."""
    rows = len(concepts[0])
    best = _none(rows)
    beginnings = _by_beginning(sets)
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        flips = _Flips.of(front, [np.asarray(spread[part], dtype=np.float64) for spread in concepts])
        here = Best(best.score[part], best.choice[part])  # views: what is better is written through them
        for beginning, numbers, lasts in beginnings:
            for number, found in zip(numbers, flips.chances(beginning, lasts), strict=True):
                _improve(here, found, number)
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


@dataclass(frozen=True)
class _Flips:
    """Margins of rows on the side of the prediction: it changes where one falls below 0.

    All arrays have their rows last: `base` labels x rows; for each concept `moves` values x labels x rows, what each
    value adds to the margin, and `chance` values x rows.
    """

    base: Array
    moves: list[Array]
    chance: list[Array]
    below: Array
    """What a margin must stay above: just above 0 where a tie would go to the other side, else 0."""

    @classmethod
    def of(cls, front: LinearFront, concepts: list[Array]) -> "_Flips":
        weights, bias = front.margins()
        pairs = list(zip(concepts, weights, strict=True))
        margin = (sum((p @ w for p, w in pairs), bias)).T
        side = np.where(margin > 0, 1.0, -1.0)
        moves = [side * (w[:, :, None] - (p @ w).T) for p, w in pairs]
        chance = [np.ascontiguousarray(p.T) for p in concepts]
        return cls(np.abs(margin), moves, chance, np.where(side > 0, np.nextafter(0, 1), 0.0))

    def chances(self, beginning: tuple[int, ...], lasts: list[int]) -> Array:
        """Return for sets of a beginning and each last concept how likely a change is: sets x rows."""
        sums, weights = self._begun(beginning)
        size = max(len(self.chance[last]) for last in lasts)
        found = np.zeros((len(lasts), self.base.shape[1]))
        for code in range(size):
            those = [n for n, last in enumerate(lasts) if code < len(self.chance[last])]
            moves = np.stack([self.moves[lasts[n]][code] for n in those])
            chance = np.stack([self.chance[lasts[n]][code] for n in those])
            changed = self._changed(sums, moves)
            share = np.multiply(weights[:, None, :], changed).sum(axis=0)
            share *= chance
            found[those] += share
        return found

    def _begun(self, beginning: tuple[int, ...]) -> tuple[Array, Array]:
        """Return margins and chances for all answers to the beginning: answers x labels x rows, answers x rows."""
        sums, weights = self.base[None], np.ones((1, self.base.shape[1]))
        for place in beginning:
            sums = (sums[:, None] + self.moves[place][None]).reshape(-1, *self.base.shape)
            weights = (weights[:, None] * self.chance[place][None]).reshape(-1, self.base.shape[1])
        return sums, weights

    def _changed(self, sums: Array, moves: Array) -> Array:
        """Return whether the prediction changes: answers x sets x rows."""
        bars = self.below - moves
        changed = sums[:, None, 0] < bars[None, :, 0]
        for label in range(1, self.base.shape[0]):
            changed |= sums[:, None, label] < bars[None, :, label]
        return np.asarray(changed)
