"""A small decision tree over yes-or-no questions, which tells where errors lie in words.

It is grown by the Gini index, to a few levels, with at least so many rows in a leaf; grown on one part of the rows, it
says of the others in which leaf they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.base import Array


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
