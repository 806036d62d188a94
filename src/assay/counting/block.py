"""Readings that may also confuse which concept is which: each concept is read from one concept, no two from the same.

With every world in the support, and a rule that tells all values of a concept apart or none, such readings are the
symmetries of the rule's truth table. They form a group, whose size is a product of orbit sizes along a chain of
stabilisers; each orbit is found by asking whether a symmetry with given first readings exists. Otherwise every
permutation is counted by itself.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Concept, ConceptSpace
from assay.counting.problem import equals
from assay.counting.solver import OutOfTime, Solver
from assay.errors import TooLarge
from assay.logic.formula import AllDifferent, Formula, Var
from assay.logic.ground import grounded
from assay.logic.knowledge import Knowledge
from assay.logic.traverse import substituted

MOST_CELLS = 2**20
MOST_MAPS = 5000
MOST_IDLE = 8

Choice = tuple[int, tuple[int, ...]]
"""Which true concept is read, and for each of its values the value that is said."""


def block_count(knowledge: Knowledge, support: Codes | None, one_to_one: bool, seconds: float) -> tuple[int, str]:
    """Return the number of optimal readings and the method; `support` None stands for every world."""
    deadline = time.monotonic() + seconds
    if support is None:
        if knowledge.space.worlds > MOST_CELLS:
            raise TooLarge(f"{knowledge.space.worlds:,} worlds are too many for family 'block'; give a smaller support")
        table = truth_table(knowledge)
        told = [_values_told_apart(table, axis) for axis in range(len(knowledge.space))]
        idle = [axis for axis, values in enumerate(told) if values == 1]
        whole = all(values in (1, size) for values, size in zip(told, knowledge.space.sizes, strict=True))
        symmetries = Symmetries(table[tuple(0 if axis in idle else slice(None) for axis in range(len(told)))], deadline)
        if (
            whole
            and symmetries.maps <= MOST_MAPS
            and (len(idle) <= MOST_IDLE or len({knowledge.space.sizes[axis] for axis in idle}) == 1)
        ):
            ways = _idle_ways([knowledge.space.sizes[axis] for axis in idle], one_to_one)
            return symmetries.order() * ways, "symmetries of the truth table"
        support = knowledge.space.all_codes().astype(np.int64)
    return _by_permutation(knowledge, support, one_to_one, deadline), "residual constraints, permutation by permutation"


def truth_table(knowledge: Knowledge) -> Array:
    """Return an array with an axis for each concept and, along the last, a 1 at the number of the joint label."""
    space = knowledge.space
    labels = knowledge.labels_of(space.all_codes())
    _, numbers = np.unique(labels, axis=0, return_inverse=True)
    table: Array = np.eye(int(numbers.max()) + 1, dtype=np.int64)[numbers.ravel()].reshape(*space.sizes, -1)
    return table


def _values_told_apart(table: Array, axis: int) -> int:
    """Return how many kinds of values a concept has, as far as the labels can tell; one if it does not matter."""
    return len(np.unique(np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1), axis=0))


def _idle_ways(sizes: list[int], one_to_one: bool) -> int:
    """Return in how many ways concepts that do not matter can be read from one another."""

    def maps(said: int, true: int) -> int:
        if one_to_one:
            return math.factorial(said) if said == true else 0
        return int(said**true)

    if len(set(sizes)) == 1:
        return int(math.factorial(len(sizes)) * maps(sizes[0], sizes[0]) ** len(sizes))
    orders = permutations(sizes)
    found = [math.prod(maps(said, true) for said, true in zip(sizes, order, strict=True)) for order in orders]
    return int(sum(found))


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

    def choices(self, axis: int, made: list[Choice]) -> Iterator[Choice]:
        """Yield the ways in which the next concept could be read."""
        taken = {other for other, _ in made}
        for other, size in enumerate(self.sizes):
            if other not in taken and size == self.sizes[axis]:
                for values in permutations(range(size)):
                    yield other, values

    def exists(self, made: list[Choice]) -> bool:
        """Return whether some symmetry begins with these readings."""
        if time.monotonic() > self.deadline:
            raise OutOfTime("the time for counting is used up")
        if not self.fits(made):
            return False
        if len(made) == len(self.sizes):
            return True
        return any(self.exists([*made, choice]) for choice in self.choices(len(made), made))

    def fits(self, made: list[Choice]) -> bool:
        """Return whether the labels are spread alike once these concepts are known, read this way and as they are."""
        width = len(made)
        left = [axis for axis in range(len(self.sizes)) if axis not in {other for other, _ in made}]
        said = self.table.sum(axis=tuple(range(width, len(self.sizes))))
        true = self.table.transpose([other for other, _ in made] + left + [len(self.sizes)])
        true = true.sum(axis=tuple(range(width, len(self.sizes))))
        for axis, (_, values) in enumerate(made):
            said = np.take(said, values, axis=axis)
        return bool(np.array_equal(said, true))


def _by_permutation(knowledge: Knowledge, support: Codes, one_to_one: bool, deadline: float) -> int:
    sizes = knowledge.space.sizes
    total = 0
    for order in permutations(range(len(sizes))):
        left = deadline - time.monotonic()
        if left < 0:
            raise OutOfTime("the time for counting is used up")
        total += _with_order(knowledge, support, order, one_to_one, left)
    return total


def _with_order(knowledge: Knowledge, support: Codes, order: tuple[int, ...], one_to_one: bool, seconds: float) -> int:
    """Count the maps of values when concept `i` is read from concept `order[i]`; unseen values count too."""
    concepts = knowledge.space.concepts
    entries = {
        (i, code): f"e{i}_{code}" for i, source in enumerate(order) for code in range(len(concepts[source].values))
    }
    space = ConceptSpace(tuple(Concept(name, concepts[i].values) for (i, _), name in entries.items()))
    solver = Solver(space, seconds)
    formulas = [(label, grounded(label.formula, knowledge.space)) for label in knowledge.labels]
    constraints: list[Formula] = []
    for codes, labels in zip(support.tolist(), knowledge.labels_of(support).tolist(), strict=True):
        meanings: dict[str, Formula] = {
            concepts[i].name: Var(entries[i, codes[source]]) for i, source in enumerate(order)
        }
        for (label, formula), code in zip(formulas, labels, strict=True):
            constraints.append(equals(substituted(formula, meanings), label.values[code]))
    if one_to_one:
        for i, source in enumerate(order):
            names = [Var(entries[i, code]) for code in range(len(concepts[source].values))]
            constraints.append(AllDifferent(tuple(names)))
    return solver.total(solver.part(dict.fromkeys(constraints)))
