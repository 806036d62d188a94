"""Readings that may also confuse which concept is which: each concept is read from one concept, no two from the same.

With every world in the support, and a rule that tells all values of a concept apart or none, a concept that matters is
read from one that matters, and all its values are kept apart; so these readings are the symmetries of the rule's truth
table, times any way of reading the concepts that do not matter from one another. Symmetries are counted as a group: a
product of orbit sizes along a chain of stabilisers, each orbit found by asking whether a symmetry with given first
readings exists. Otherwise one concept after the other is read, and readings are merged that lead every world to the
same node of the rule's decision diagram. Where maps of values are too many for that, every permutation of the concepts
is counted by itself.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import blake2b
from itertools import permutations, product

import numpy as np

from assay.base import Array, Codes, TooLarge
from assay.counting.counterexample_guided import all_worlds
from assay.counting.problem import equals
from assay.counting.solver import Solver, check_time
from assay.logic import TRUE, AllDifferent, Concept, ConceptSpace, Formula, Knowledge, Var, ground_formula, substitute

MOST_CELLS = 2**21
MOST_MAPS = 5000


def count_block(knowledge: Knowledge, support: Codes | None, one_to_one: bool, seconds: float) -> tuple[int, str]:
    """Return the number of optimal readings and the method; `support` None stands for every possible world."""
    deadline = time.monotonic() + seconds
    if support is None:
        total = _by_symmetry(knowledge, one_to_one, deadline)
        if total is not None:
            return total, "symmetries of the truth table"
        support = all_worlds(knowledge)
        if support is None:
            raise TooLarge(f"{knowledge.space.worlds:,} worlds are too many for family 'block'; give a smaller support")
    merged = MergedReadings(knowledge, np.unique(support, axis=0), one_to_one, deadline)
    if merged.maps <= MOST_MAPS and merged.maps * len(merged.support) <= MOST_CELLS:
        return merged.count(0, np.zeros(len(merged.support), dtype=np.int32)), "merged readings, concept by concept"
    total = _by_permutation(knowledge, merged.support, one_to_one, deadline)
    return total, "residual constraints, permutation by permutation"


def _by_symmetry(knowledge: Knowledge, one_to_one: bool, deadline: float) -> int | None:
    """Count with every world in the support, or return None where that is not a matter of symmetries alone."""
    space = knowledge.space
    if knowledge.possible != TRUE or space.worlds * len(knowledge.diagram.outcomes) > MOST_CELLS:
        return None
    table = truth_table(knowledge)
    distinct = [count_distinct_values(table, axis) for axis in range(len(space))]
    idle = [axis for axis, values in enumerate(distinct) if values == 1]
    symmetries = Symmetries(table[tuple(0 if axis in idle else slice(None) for axis in range(len(distinct)))], deadline)
    whole = all(values in (1, size) for values, size in zip(distinct, space.sizes, strict=True))
    if not whole or symmetries.maps > MOST_MAPS:
        return None
    return symmetries.order() * count_idle_readings([space.sizes[axis] for axis in idle], one_to_one)


def count_idle_readings(sizes: list[int], one_to_one: bool) -> int:
    """Return in how many ways concepts with so many values, which do not matter, can be read from one another.

    >>> count_idle_readings([2, 3], one_to_one=False), count_idle_readings([2, 3], one_to_one=True)
    (180, 12)
    """

    @cache
    def ways(place: int, left: frozenset[tuple[int, int]]) -> int:
        if place == len(sizes):
            return 1
        total = 0
        for size, count in left:
            rest = Counter(dict(left)) - Counter([size])
            total += count * count_maps(sizes[place], size, one_to_one) * ways(place + 1, frozenset(rest.items()))
        return total

    return ways(0, frozenset(Counter(sizes).items()))


def count_maps(targets: int, sources: int, one_to_one: bool) -> int:
    """Return the number of maps from so many values to so many."""
    return math.perm(targets, sources) if one_to_one else targets**sources


@dataclass
class MergedReadings:
    """Counts by reading the concepts in the diagram's order, each from any concept that is not yet used."""

    knowledge: Knowledge
    support: Codes
    one_to_one: bool
    deadline: float
    counted: dict[tuple[int, bytes], int] = field(default_factory=dict)

    @cached_property
    def support_values(self) -> list[tuple[Array, Array]]:
        """For each concept, its values in the support, and the place among them of each world's value."""
        columns = [np.unique(column, return_inverse=True) for column in self.support.T]
        return [(values, places.ravel()) for values, places in columns]

    @property
    def maps(self) -> int:
        """The most ways in which one concept can be read from one other."""
        return int(max(self.knowledge.space.sizes) ** max(len(values) for values, _ in self.support_values))

    @cached_property
    def alive(self) -> list[Array]:
        """For each layer of the diagram, which nodes can still come to which outcome."""
        diagram = self.knowledge.diagram
        reachable: list[Array] = [np.eye(len(diagram.outcomes), dtype=bool)]
        for layer in reversed(diagram.layers):
            reachable.append(np.any(reachable[-1][layer], axis=1))
        return reachable[::-1]

    @cached_property
    def goal(self) -> Array:
        """The outcome that each world must come to."""
        return self.knowledge.diagram.outcome_of(self.support)

    def count(self, sources: int, nodes: Array) -> int:
        """Return in how many ways the other concepts can be read, once the taken ones led the worlds to these nodes."""
        depth, diagram = sources.bit_count(), self.knowledge.diagram
        if depth == len(diagram.order):
            return 1
        key = sources, blake2b(nodes.tobytes(), digest_size=16).digest()
        if key in self.counted:
            return self.counted[key]
        check_time(self.deadline)
        total = 0
        for source, (_, places) in enumerate(self.support_values):
            if sources >> source & 1:
                continue
            values, unseen = self._values(depth, source)
            following = diagram.layers[depth][nodes, values[:, places]]
            survivors = following[self.alive[depth + 1][following, self.goal].all(axis=1)]
            total += unseen * sum(self.count(sources | 1 << source, row) for row in survivors)
        self.counted[key] = total
        return total

    def _values(self, depth: int, source: int) -> tuple[Array, int]:
        """Return the maps of the values seen, one a row, and the number of maps of the values that are not."""
        sizes = self.knowledge.space.sizes
        targets, observed = sizes[self.knowledge.diagram.order[depth]], len(self.support_values[source][0])
        rows = permutations(range(targets), observed) if self.one_to_one else product(range(targets), repeat=observed)
        unseen = count_maps(
            max(targets - observed, 0) if self.one_to_one else targets, sizes[source] - observed, self.one_to_one
        )
        return np.array(list(rows), dtype=np.int64).reshape(-1, observed), unseen


def _by_permutation(knowledge: Knowledge, support: Codes, one_to_one: bool, deadline: float) -> int:
    sizes = knowledge.space.sizes
    total = 0
    for order in permutations(range(len(sizes))):
        check_time(deadline)
        total += _with_order(knowledge, support, order, one_to_one, deadline - time.monotonic())
    return total


def _with_order(knowledge: Knowledge, support: Codes, order: tuple[int, ...], one_to_one: bool, seconds: float) -> int:
    """Count the maps of values when concept `i` is read from concept `order[i]`; unseen values count too."""
    concepts = knowledge.space.concepts
    entries = {
        (i, code): f"e{i}_{code}" for i, source in enumerate(order) for code in range(len(concepts[source].values))
    }
    space = ConceptSpace(tuple(Concept(name, concepts[i].values) for (i, _), name in entries.items()))
    solver = Solver(space, seconds)
    formulas = [(label, ground_formula(label.formula, knowledge.space)) for label in knowledge.labels]
    constraints: list[Formula] = []
    for codes, labels in zip(support.tolist(), knowledge.labels_of(support).tolist(), strict=True):
        meanings: dict[str, Formula] = {
            concepts[i].name: Var(entries[i, codes[source]]) for i, source in enumerate(order)
        }
        for (label, formula), code in zip(formulas, labels, strict=True):
            constraints.append(equals(substitute(formula, meanings), label, code))
    if one_to_one:
        for i, source in enumerate(order):
            names = [Var(entries[i, code]) for code in range(len(concepts[source].values))]
            constraints.append(AllDifferent(tuple(names)))
    return solver.total(solver.part(dict.fromkeys(constraints)))


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
