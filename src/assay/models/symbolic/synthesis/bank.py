"""The programs found so far, in order of cost, no two of which hold in the same examples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import GOLDEN, Array
from assay.logic import And, Compare, Const, Formula, Not, Operator, Or, Quantified, Xor
from assay.models.symbolic.synthesis.leaves import LeafBlock

LEAF, NOT, AND, OR, XOR = range(5)
MIX = np.uint64(GOLDEN)


@dataclass(frozen=True)
class ProgramBatch:
    """Programs of one form that are to be taken in: bits, the operation, and what it is applied to.

    For leaves, `left` is the number of the block and `right` the row in it.
    """

    words: Array
    operation: int
    left: Array
    right: Array

    def take(self, rows: Array) -> "ProgramBatch":
        """Return some of the programs."""
        return ProgramBatch(self.words[rows], self.operation, self.left[rows], self.right[rows])


def keys_of(words: Array) -> Array:
    """Return a number for each row of words that stands for it: the word itself, or a mixture of several."""
    if words.shape[1] == 1:
        return words[:, 0]
    mixed = np.zeros(len(words), dtype=np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed


class Bank:
    """Programs in order of cost, each the first that was found to hold in its examples."""

    def __init__(self, blocks: Sequence[LeafBlock], width: int) -> None:
        self.blocks = blocks
        self.words = np.zeros((0, width), dtype=np.uint64)
        self.costs = np.zeros(0, dtype=np.int64)
        self.levels: dict[int, slice] = {}
        self._origins: list[tuple[int, int, Array, Array]] = []
        self._runs: list[tuple[Array, Array]] = []

    def __len__(self) -> int:
        return len(self.costs)

    def add_level(self, cost: int, batches: Sequence[ProgramBatch]) -> slice:
        """Take in programs of one cost, but for those that hold in the examples of another; return where they are."""
        start, new = len(self), list[Array]()
        for batch in batches:
            fresh = batch.take(self._fresh(batch.words))
            if len(fresh.words):
                place = start + sum(len(words) for words in new)
                self._origins.append((place, fresh.operation, fresh.left, fresh.right))
                self._remember(keys_of(fresh.words), place)
                new.append(fresh.words)
        if new:
            self.words = np.concatenate([self.words, *new])
            self.costs = np.concatenate([self.costs, np.full(len(self.words) - start, cost)])
        self.levels[cost] = slice(start, len(self))
        return self.levels[cost]

    def _fresh(self, words: Array) -> Array:
        """Return the rows that are like none in the bank, nor like an earlier row, in order."""
        keys = keys_of(words)
        _, first = np.unique(keys, return_index=True)
        first.sort()
        return first[self.find(keys[first]) < 0] if len(first) else first

    def find(self, keys: Array) -> Array:
        """Return the number of the program with each key, -1 where there is none."""
        numbers = np.full(len(keys), -1, dtype=np.int64)
        for run, places in self._runs:
            at = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            hit = run[at] == keys
            numbers[hit] = places[at[hit]]
        return numbers

    def _remember(self, keys: Array, start: int) -> None:
        order = np.argsort(keys)
        self._runs.append((keys[order], order + start))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            (last, places), (previous, more) = self._runs.pop(), self._runs.pop()
            both, numbers = np.concatenate([last, previous]), np.concatenate([places, more])
            order = np.argsort(both, kind="stable")
            self._runs.append((both[order], numbers[order]))

    def formula(self, number: int) -> Formula:
        """Return a program as a formula."""
        starts = [origin[0] for origin in self._origins]
        start, operation, left, right = self._origins[int(np.searchsorted(starts, number, side="right")) - 1]
        return self.build_formula(operation, int(left[number - start]), int(right[number - start]))

    def build_formula(self, operation: int, left: int, right: int) -> Formula:
        """Return the formula of an operation on programs of the bank."""
        if operation == LEAF:
            return self.blocks[left].make(right)
        if operation == NOT:
            return negate(self.formula(left))
        return join(operation, self.formula(left), self.formula(right))


def negate(body: Formula) -> Formula:
    """Return "not", written as a comparison where it can be.

    >>> from assay.logic import parse
    >>> negate(parse("a >= 1")), negate(parse("a and b"))
    (<a < 1>, <not (a and b)>)
    """
    opposite: dict[Operator, Operator] = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    if isinstance(body, Compare) and not isinstance(body.left, Quantified):
        if body.operator == ">=" and body.right == Const(1):
            return Compare("<", body.left, body.right)
        return Compare(opposite[body.operator], body.left, body.right)
    return Not(body)


def join(operation: int, left: Formula, right: Formula) -> Formula:
    """Return two programs joined, without brackets in brackets."""
    if operation == XOR:
        return Xor((left, right))
    kind: type[And] | type[Or] = And if operation == AND else Or
    parts = [part for program in (left, right) for part in (program.parts if isinstance(program, kind) else (program,))]
    return kind(tuple(parts))
