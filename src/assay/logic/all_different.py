"""Exact search for the most probable world where all constraints say that some concepts differ, as in a sudoku.

Concepts have domains, which shrink by propagation: a value that one concept of a group has is lost to the others, and
where a group has as many concepts as values, a value that one concept alone can have is its own. Costs are distances
from the most probable value; the least costs that the domains leave add up to a bound. Worlds are searched within a
limit of cost that is raised step by step, so that what is improbable is tried only when nothing else is left. Before,
costs that no world can avoid are taken out: a group that needs every value has each value once, so that what all of its
concepts pay for a value can be taken from them, and is paid anyway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from assay.base import Array, Codes
from assay.logic.concepts import ConceptSpace
from assay.logic.formula import AllDifferent, Formula, Var

FIRST_LIMIT, GROWTH = 0.25, 1.6
ROUNDS = 40
"""How often costs are balanced before the search."""
NODES = 20_000
"""How many branches are tried in all before the best world so far is given as not proven."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class DifferentGroups:
    """Groups of concepts that differ, as places in a space whose concepts all have the same values."""

    concepts: int
    values: int
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, formulas: Iterable[Formula], space: ConceptSpace) -> "DifferentGroups | None":
        """Return the groups of constraints, None if one of them says anything else."""
        groups = []
        for formula in formulas:
            if not isinstance(formula, AllDifferent) or not all(isinstance(part, Var) for part in formula.parts):
                return None
            groups.append(tuple(space.place(part.name) for part in formula.parts if isinstance(part, Var)))
        if not groups or len({concept.values for concept in space.concepts}) > 1:
            return None
        return cls(len(space), space.sizes[0], tuple(groups))

    @cached_property
    def peers(self) -> list[tuple[int, ...]]:
        """For each concept those that must differ from it."""
        found: list[set[int]] = [set() for _ in range(self.concepts)]
        for group in self.groups:
            for place in group:
                found[place] |= set(group) - {place}
        return [tuple(sorted(others)) for others in found]

    @cached_property
    def full(self) -> list[list[tuple[int, ...]]]:
        """For each concept its groups that need every value."""
        whole = [group for group in self.groups if len(group) == self.values]
        return [[group for group in whole if place in group] for place in range(self.concepts)]


@dataclass(frozen=True)
class BestPlacement:
    """The best world found, -1 for every concept if there is none, and whether it is proven the best."""

    codes: Codes
    proven: bool


@dataclass
class _Node:
    domains: list[int]
    bound: float

    def copy(self) -> "_Node":
        return _Node(self.domains.copy(), self.bound)


def most_probable_different(groups: DifferentGroups, costs: Sequence[Array], nodes: int = NODES) -> BestPlacement:
    """Return the world of least cost in which the concepts of every group differ.

    >>> groups = DifferentGroups(2, 2, ((0, 1),))
    >>> most_probable_different(groups, [np.array([0.0, 1.0]), np.array([0.0, 3.0])]).codes.tolist()
    [1, 0]
    """
    return _Search(groups, costs, nodes).run()


def some_different(places: Sequence[Sequence[int]], values: int, domains: Sequence[int], most: int) -> Codes:
    """Return some worlds in which concepts differ, each with a value of its own domain.

    >>> some_different([(0, 1)], 2, [3, 3], 5).tolist()
    [[0, 1], [1, 0]]

    Parameters
    ----------
    places
        The groups of concepts that differ from one another.
    values
        How many values every concept has.
    domains
        The values that each concept may have, as bits.
    most
        After so many worlds the search ends.
    """
    groups = _groups_of(len(domains), values, tuple(map(tuple, places)))
    search, found = _Search(groups, [np.zeros(groups.values)] * groups.concepts, 0), list[list[int]]()

    def branch(node: _Node) -> None:
        place = _fewest(node.domains)
        if place is None:
            found.append([domain.bit_length() - 1 for domain in node.domains])
            return
        for code in range(groups.values):
            child = node.copy()
            if len(found) < most and node.domains[place] >> code & 1 and search.restrict(child, [(place, 1 << code)]):
                branch(child)

    root = _Node([search.everything] * groups.concepts, 0.0)
    if search.restrict(root, list(enumerate(domains))):
        branch(root)
    return np.array(found, dtype=np.int64).reshape(len(found), groups.concepts)


@lru_cache(maxsize=8)
def _groups_of(concepts: int, values: int, places: tuple[tuple[int, ...], ...]) -> DifferentGroups:
    return DifferentGroups(concepts, values, places)  # kept with what it has worked out of them


def _fewest(domains: Sequence[int]) -> int | None:
    """Return the place of the smallest domain that is not decided, None if all are."""
    places = [place for place, domain in enumerate(domains) if domain & (domain - 1)]
    return min(places, key=lambda place: domains[place].bit_count()) if places else None


class _Search:
    """A search for one example."""

    def __init__(self, groups: DifferentGroups, costs: Sequence[Array], nodes: int) -> None:
        self.groups, self.left = groups, nodes
        self.costs = _avoidable(groups, np.asarray(costs, dtype=np.float64)).tolist()
        self.least = [_least_costs(cost) for cost in self.costs]
        self.everything = (1 << groups.values) - 1
        self.limit = self.exceeded = np.inf
        self.best: list[int] | None = None

    def run(self) -> BestPlacement:
        """Search within a limit that grows until a world is found, or there is none, or too many nodes were tried."""
        bound = sum(table[self.everything] for table in self.least)
        self.limit = bound + FIRST_LIMIT
        while self.left > 0:
            self.exceeded = np.inf
            root = _Node([self.everything] * self.groups.concepts, bound)
            if self._affordable(root):
                self._branch(root)
            if self.best is not None or np.isinf(self.exceeded):
                break
            self.limit = max(self.exceeded + ROUNDING, bound + (self.limit - bound) * GROWTH)
        if self.best is None:
            return BestPlacement(np.full(self.groups.concepts, -1), self.left > 0)
        return BestPlacement(np.array([domain.bit_length() - 1 for domain in self.best]), self.left > 0)

    def _branch(self, node: _Node) -> None:
        """Try the values of the concept with the fewest, the cheapest first."""
        self.left -= 1
        place = _fewest(node.domains)
        if place is None:
            self.best, self.limit = node.domains, node.bound - ROUNDING
            return
        values = [code for code in range(self.groups.values) if node.domains[place] >> code & 1]
        for code in sorted(values, key=self.costs[place].__getitem__):
            child = node.copy()
            if self.left > 0 and self.restrict(child, [(place, 1 << code)]) and self._affordable(child):
                self._branch(child)

    def _affordable(self, node: _Node) -> bool:
        """Take from all domains what would cost more than the limit leaves; return whether a world may be left."""
        todo, slack = [], self.limit - node.bound
        for place, domain in enumerate(node.domains):
            costs, most = self.costs[place], self.least[place][domain] + slack
            if not domain & (domain - 1) or max(costs) <= most:
                continue
            dear = [cost for code, cost in enumerate(costs) if domain >> code & 1 and cost > most]
            if dear:
                self.exceeded = min(self.exceeded, node.bound + min(dear) - self.least[place][domain])
                todo.append((place, sum(1 << code for code, cost in enumerate(costs) if cost <= most)))
        return self.restrict(node, todo)

    def restrict(self, node: _Node, todo: list[tuple[int, int]]) -> bool:
        """Leave a concept only the values of a mask, and do what follows; return whether a world may be left."""
        domains = node.domains
        while todo:
            place, mask = todo.pop()
            before, domain = domains[place], domains[place] & mask
            if domain == before:
                continue
            if not domain:
                return False
            domains[place] = domain
            node.bound += self.least[place][domain] - self.least[place][before]
            if node.bound > self.limit:
                self.exceeded = min(self.exceeded, node.bound)
                return False
            if not domain & (domain - 1):
                todo += [(peer, ~domain) for peer in self.groups.peers[place] if domains[peer] & domain]
            if not self._claim(domains, place, before ^ domain, todo):
                return False
        return True

    def _claim(self, domains: list[int], place: int, lost: int, todo: list[tuple[int, int]]) -> bool:
        """Give each value that a concept lost to the only one of a full group that can have it, if one can."""
        for group in self.groups.full[place]:
            once = twice = 0
            for other in group:
                twice |= once & domains[other]
                once |= domains[other]
            if lost & ~once:
                return False
            single = lost & once & ~twice
            if single:
                todo += [(other, domains[other] & single) for other in group if domains[other] & single]
        return True


def _avoidable(groups: DifferentGroups, costs: Array) -> Array:
    """Return costs that differ from these by the same sum in every world, the least of each concept 0.

    Of each concept, and of each value of a full group, exactly one cost is paid. So half of what the two least of them
    add up to is taken from all, in turn, which raises the bound to near the best that such steps can reach.
    """
    whole = [list(group) for group in groups.groups if len(group) == groups.values]
    reduced = costs.copy()
    for _ in range(ROUNDS if whole and groups.values > 1 else 0):
        reduced -= np.partition(reduced, 1, axis=1)[:, :2].mean(axis=1, keepdims=True)
        for group in whole:
            reduced[group] -= np.partition(reduced[group], 1, axis=0)[:2].mean(axis=0)
    return np.asarray(reduced - reduced.min(axis=1, keepdims=True))


def _least_costs(costs: Sequence[float]) -> list[float]:
    """Return for each set of values, as bits, the least cost of one of them."""
    least = [np.inf]
    for cost in costs:
        least += [min(cost, other) for other in least]
    return least
