"""The symmetries of a rule's truth table, counted as a group: a product of orbit sizes along a chain of stabilisers.

Each orbit is found by asking whether a symmetry with given first readings exists.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from assay.base import Array
from assay.counting.solver import check_time
from assay.logic import Knowledge

Choice = tuple[int, tuple[int, ...]]
"""Which true concept is read, and for each of its values the predicted value."""


def truth_table(knowledge: Knowledge) -> Array:
    """Return an array with an axis for each concept and, along the last, a 1 at the number of the joint label."""
    space, diagram = knowledge.space, knowledge.diagram
    outcomes = diagram.outcome_of(space.all_codes())
    table: Array = np.eye(len(diagram.outcomes), dtype=np.int64)[outcomes].reshape(*space.sizes, -1)
    return table


def count_distinct_values(table: Array, axis: int) -> int:
    """Return how many values of a concept the labels distinguish; one if it does not matter."""
    return len(np.unique(np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1), axis=0))


@dataclass
class Symmetries:
    """The symmetries of a truth table: permutations of axes, and of the values along each, that leave it unchanged."""

    table: Array
    deadline: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values along each axis."""
        return tuple(int(size) for size in self.table.shape[:-1])

    @property
    def maps(self) -> int:
        """The most ways in which one concept can be read."""
        return max((self.sizes.count(size) * math.factorial(size) for size in self.sizes), default=1)

    def order(self) -> int:
        """Return the number of symmetries."""
        fixed: list[Choice] = []
        total = 1
        for axis, size in enumerate(self.sizes):
            total *= sum(self.exists([*fixed, choice]) for choice in self.choices(axis, fixed))
            fixed.append((axis, tuple(range(size))))
        return total

    def choices(self, axis: int, chosen: list[Choice]) -> Iterator[Choice]:
        """Yield the ways in which the next concept could be read."""
        used = {other for other, _ in chosen}
        for other, size in enumerate(self.sizes):
            if other not in used and size == self.sizes[axis]:
                for values in permutations(range(size)):
                    yield other, values

    def exists(self, chosen: list[Choice]) -> bool:
        """Return whether some symmetry begins with these readings."""
        check_time(self.deadline)
        if not self.fits(chosen):
            return False
        if len(chosen) == len(self.sizes):
            return True
        return any(self.exists([*chosen, choice]) for choice in self.choices(len(chosen), chosen))

    def fits(self, chosen: list[Choice]) -> bool:
        """Return whether the label counts agree once these concepts are known, as read this way and as they are."""
        width = len(chosen)
        left = [axis for axis in range(len(self.sizes)) if axis not in {other for other, _ in chosen}]
        read = self.table.sum(axis=tuple(range(width, len(self.sizes))))
        true = self.table.transpose([other for other, _ in chosen] + left + [len(self.sizes)])
        true = true.sum(axis=tuple(range(width, len(self.sizes))))
        for axis, (_, values) in enumerate(chosen):
            read = np.take(read, values, axis=axis)
        return bool(np.array_equal(read, true))
