"""Constrained decoding: the most probable world that keeps every constraint, given independent concept probabilities.

Constraints are decision diagrams: each on its own, some of them joined, or all. Where the most probable world keeps
every constraint, it is the answer. Where it breaks some, the best world that keeps those is found by their joint
diagram; if that breaks others they are added, until none is broken. A relaxed problem whose best world keeps every
constraint is solved. Where the joint diagram would be too large, the diagrams of groups of constraints are walked
through side by side, with each group's best way to the end as a bound; that is exact as long as the open states fit,
and says so. Large spaces whose constraints all say that concepts differ (a sudoku of 9 x 9 cells) have an exact search
of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from math import prod

import numpy as np

from assay.base import Array, Codes, KnowledgeError, TooLarge
from assay.logic.all_different import DifferentGroups, most_probable_different
from assay.logic.circuit import Diagram, Outcome, letters, log_probabilities, merge_nodes
from assay.logic.formula import TRUE, Formula
from assay.logic.ground import well_formed
from assay.logic.knowledge import Knowledge
from assay.logic.tally import true_outcomes, truth_diagram

CELLS = 20_000_000
"""How many numbers a batch may hold at once."""
BEAM = 256
STATES = 50_000
"""How many open states a search may hold in one layer before it leaves some out."""
FEW_WORLDS, MOST_VALUES = 2**40, 12
"""The search for concepts that differ is for more worlds than that, with so many values at most."""


BUDGET = 150_000
"""How many nodes a diagram of constraints may have."""
SLOTS = "slots_are_whole"
"""The name of the constraint that all attributes of an empty slot are absent."""


class Limits:
    """The constraints of a knowledge, and that slots are whole. Diagrams are compiled on demand and cached."""

    def __init__(self, knowledge: Knowledge, budget: int = BUDGET) -> None:
        self.knowledge = knowledge
        self.space = knowledge.space
        self.budget = budget
        named = {constraint.name: constraint.formula for constraint in knowledge.constraints}
        if len(named) < len(knowledge.constraints):
            raise KnowledgeError("two constraints have the same name; give each its own")
        whole = well_formed(self.space)
        self.formulas: dict[str, Formula] = named if whole == TRUE else {SLOTS: whole, **named}
        self._made: dict[frozenset[str], Diagram | None] = {}

    def only(self, names: Iterable[str]) -> "Limits":
        """Return the limits with only these constraints."""
        wanted = frozenset(names)
        limits = Limits(self.knowledge, self.budget)
        limits.formulas = {name: formula for name, formula in self.formulas.items() if name in wanted}
        return limits

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the constraints, in order."""
        return tuple(self.formulas)

    def diagram(self, names: Iterable[str]) -> Diagram | None:
        """Return the diagram of some constraints joined, or None if it is larger than the budget."""
        key = frozenset(names)
        if key not in self._made:
            diagram = self._compiled(key)
            self._made[key] = diagram if diagram is not None and diagram.size <= self.budget else None
        return self._made[key]

    def _compiled(self, names: frozenset[str]) -> Diagram | None:
        try:
            if len(names) == 1:
                return truth_diagram(self.formulas[next(iter(names))], self.space, self.budget)
            *others, largest = self.small_first(names)
            rest, single = self.diagram(others), self.diagram([largest])
            return None if rest is None or single is None else conjoin(rest, single, self.budget)
        except TooLarge:
            return None

    def small_first(self, names: Iterable[str]) -> list[str]:
        """Return constraints in order of the size of their diagrams, those that have none last."""
        diagrams = {name: self.diagram([name]) for name in names}
        sizes = {name: self.budget if diagram is None else diagram.size for name, diagram in diagrams.items()}
        return sorted(sizes, key=lambda name: (sizes[name], name))

    def as_many(self, names: Iterable[str]) -> list[str]:
        """Return as many of these constraints as have a joint diagram, small ones first."""
        joined: list[str] = []
        for name in self.small_first(names):
            if self.diagram([*joined, name]) is None:
                break
            joined.append(name)
        return joined

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """All constraints in groups, each with a diagram within the budget; one group if it holds them all.

        A constraint that is too large on its own is in no group; `left_out` has it.
        """
        groups: list[tuple[str, ...]] = []
        for name in self.names:
            if self.diagram([name]) is None:
                continue
            for number, group in enumerate(groups):
                if self.diagram([*group, name]) is not None:
                    groups[number] = (*group, name)
                    break
            else:
                groups.append((name,))
        return tuple(groups)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The constraints that have no diagram within the budget."""
        return tuple(name for name in self.names if self.diagram([name]) is None)

    @cached_property
    def exact(self) -> bool:
        """Whether one diagram holds all constraints, so that the probability of all of them together is exact."""
        return len(self.groups) <= 1 and not self.left_out

    def of_groups(self) -> list[Diagram]:
        """Return the diagram of each group."""
        diagrams = [self.diagram(group) for group in self.groups]
        for diagram, group in zip(diagrams, self.groups, strict=True):
            if diagram is not None and not true_outcomes(diagram).any():
                raise KnowledgeError(f"no world keeps these constraints together: {', '.join(group)}")
        return [diagram for diagram in diagrams if diagram is not None]


def conjoin(left: Diagram, right: Diagram, budget: int = BUDGET) -> Diagram:
    """Return the diagram of "both hold", of two diagrams of one truth value in the same order of concepts."""
    if left.order != right.order:
        raise ValueError("diagrams in different orders cannot be joined")
    lost = dead_ends(left), dead_ends(right)
    pairs, layers, size = np.zeros((1, 2), dtype=np.int64), [], 0
    for depth, (first, second) in enumerate(zip(left.layers, right.layers, strict=True)):
        size += len(pairs)
        if size > budget:
            raise TooLarge(f"the constraints' decision diagram outgrows {budget:,} nodes")
        codes, of_code = letters(np.concatenate([first, second]))
        reached = first[:, codes][pairs[:, 0]].astype(np.int64), second[:, codes][pairs[:, 1]]
        over = lost[0][depth + 1][reached[0]] | lost[1][depth + 1][reached[1]] | (pairs[:, :1] < 0)
        keys = np.where(over, -1, reached[0] * (int(second.max()) + 1) + reached[1])
        distinct, targets = np.unique(keys, return_inverse=True)
        layers.append(targets.reshape(keys.shape)[:, of_code].astype(np.int32))
        pairs = np.stack(np.divmod(distinct, int(second.max()) + 1), axis=1)
        pairs[distinct < 0] = -1
    truth = true_outcomes(left), true_outcomes(right)
    outcomes: list[Outcome] = [(bool(a >= 0 and truth[0][a] and truth[1][b]),) for a, b in pairs.tolist()]
    return merge_nodes(left.space, left.order, layers, outcomes)


def dead_ends(diagram: Diagram) -> list[Array]:
    """Return for each layer, and the outcomes, which nodes lead to no true outcome."""
    lost = [~true_outcomes(diagram)]
    for layer in reversed(diagram.layers):
        lost.append(np.asarray(lost[-1][layer].all(axis=1)))
    return lost[::-1]


@dataclass(frozen=True)
class TrueSteps:
    """Steps from the nodes of a layer that can still end true, each on a *letter*: codes that all nodes treat alike."""

    of_code: Array
    """The letter of each code."""
    source: Array
    letter: Array
    target: Array


def true_steps(diagram: Diagram) -> Iterator[TrueSteps]:
    """Give for each layer of a diagram of one true-or-false formula the steps that can still end true."""
    lost = dead_ends(diagram)
    for number, layer in enumerate(diagram.layers):
        codes, of_code = letters(layer)
        table = layer[:, codes]
        sources, read = np.nonzero(~lost[number + 1][table] & ~lost[number][:, None])
        yield TrueSteps(of_code, sources, read, table[sources, read])


def best_completions(diagram: Diagram, costs: Sequence[Array]) -> list[Array]:
    """Return for each layer, and the outcomes, the least cost from each node on to a true outcome, for one example."""
    costs_to_go = [np.where(true_outcomes(diagram), 0.0, np.inf)]
    for place, layer in zip(reversed(diagram.order), reversed(diagram.layers), strict=True):
        costs_to_go.append((costs_to_go[-1][layer] + costs[place][None, :]).min(axis=1))
    return costs_to_go[::-1]


@dataclass(frozen=True)
class Decoded:
    """The best world found for each example: its codes (-1 where none was found), and whether it is proven the best."""

    codes: Codes
    logs: Array
    """The log probability of the world under the model."""
    proven: Array
    changed: Array
    """How many concepts differ from the most probable value."""

    @property
    def solved(self) -> Array:
        """For which examples there is a world."""
        return np.asarray((self.codes >= 0).all(axis=1))


class Decoder:
    """Decodes batches for one knowledge; compiled diagrams are cached."""

    def __init__(self, knowledge: Knowledge, limits: Limits | None = None, states: int = STATES) -> None:
        self.knowledge = knowledge
        self.limits = limits or Limits(knowledge)
        self.states = states

    def __call__(self, distributions: Sequence[Array]) -> Decoded:
        """Return the most probable world of each example that keeps every constraint."""
        likely = np.stack([np.asarray(distribution).argmax(axis=1) for distribution in distributions], axis=1)
        codes, proven = likely.copy(), np.ones(len(likely), dtype=bool)
        broken = self._broken(codes)
        for constraints, rows in _by_set(broken):
            if constraints.any():
                some = [np.asarray(distribution)[rows] for distribution in distributions]
                codes[rows], proven[rows] = self._solved(constraints, some)
        pairs = zip(distributions, codes.T, strict=True)
        logs = np.sum(
            [
                log_probabilities(np.asarray(distribution))[np.arange(len(codes)), column]
                for distribution, column in pairs
            ],
            axis=0,
        )
        lost = (codes < 0).any(axis=1)
        return Decoded(codes, np.where(lost, -np.inf, logs), proven & ~lost, (codes != likely).sum(axis=1))

    def _broken(self, codes: Codes) -> Array:
        """Return which constraints each world breaks, a column a name of the limits."""
        flags = self.knowledge.violations(codes)
        if SLOTS not in self.limits.formulas:
            return flags
        diagram = self.limits.diagram([SLOTS])
        if diagram is None:
            raise KnowledgeError("the slots of this space are too large to decode under")
        return np.concatenate([~true_outcomes(diagram)[diagram.outcome_of(codes)][:, None], flags], axis=1)

    def _solved(self, constraints: Array, distributions: list[Array]) -> tuple[Codes, Array]:
        """Return the best worlds that keep these constraints and all that those worlds break, and if that is proven."""
        if self.different is not None:
            return self._placed(self.different, distributions)
        diagram = self.limits.diagram(compress(self.limits.names, constraints))
        if diagram is None:
            searches = [
                self._searched([distribution[row] for distribution in distributions])
                for row in range(len(distributions[0]))
            ]
            return np.stack([codes for codes, _ in searches]), np.array([proven for _, proven in searches])
        if not true_outcomes(diagram).any():
            raise KnowledgeError("no world keeps all constraints: there is nothing to decode to")
        codes = _most_probable(diagram, distributions)
        proven = np.ones(len(codes), dtype=bool)
        for more, rows in _by_set(self._broken(codes)):
            if more.any():
                codes[rows], proven[rows] = self._solved(
                    constraints | more, [distribution[rows] for distribution in distributions]
                )
        return codes, proven

    @cached_property
    def different(self) -> DifferentGroups | None:
        """The groups of concepts that differ, where that is all that the constraints say, of a large space."""
        space = self.knowledge.space
        if space.worlds <= FEW_WORLDS or max(space.sizes) > MOST_VALUES:
            return None
        return DifferentGroups.of(self.limits.formulas.values(), space)

    def _placed(self, groups: DifferentGroups, distributions: list[Array]) -> tuple[Codes, Array]:
        """Return the best worlds in which the concepts of all groups differ, and if that is proven."""
        logs = [log_probabilities(distribution) for distribution in distributions]
        results = [
            most_probable_different(groups, [scores[row].max() - scores[row] for scores in logs])
            for row in range(len(distributions[0]))
        ]
        return np.stack([result.codes for result in results]), np.array([result.proven for result in results])

    def _searched(self, distributions: list[Array]) -> tuple[Codes, bool]:
        """Return the best world of one example by walking through all groups side by side."""
        costs = [scores.max() - scores for scores in map(log_probabilities, distributions)]
        diagrams = self.limits.of_groups()
        if self.limits.left_out:
            raise KnowledgeError(f"too large to decode under: constraint {self.limits.left_out[0]!r}")
        ways = [best_completions(diagram, costs) for diagram in diagrams]
        beam = _walk(diagrams, ways, costs, BEAM, np.inf)
        if beam.exact:
            return beam.codes, True
        full = _walk(diagrams, ways, costs, self.states, beam.cost)
        best = full if full.cost < beam.cost else beam
        return best.codes, full.exact


@dataclass(frozen=True)
class _Walk:
    codes: Codes
    cost: float
    exact: bool
    """Whether no state was left out that could have led to a lower cost."""


def _walk(
    diagrams: Sequence[Diagram], ways: Sequence[Sequence[Array]], costs: list[Array], most: int, known: float
) -> _Walk:
    """Read the concepts one by one, keeping the `most` most promising states, none that cannot beat a known cost."""
    nodes, spent = np.zeros((1, len(diagrams)), dtype=np.int64), np.zeros(1)
    trail: list[tuple[Array, Array]] = []
    exact = True
    for depth, place in enumerate(diagrams[0].order):
        reached = np.stack([d.layers[depth][nodes[:, n]] for n, d in enumerate(diagrams)], axis=2)
        total = spent[:, None] + costs[place][None, :]
        least = total + np.max([way[depth + 1][reached[:, :, n]] for n, way in enumerate(ways)], axis=0)
        parents, codes = np.nonzero(np.isfinite(least) & (least < known))
        parents, codes = _distinct(reached, total, parents, codes)
        if len(parents) > most:
            chosen = np.argpartition(least[parents, codes], most)[:most]
            parents, codes, exact = parents[chosen], codes[chosen], False
        if not len(parents):
            return _Walk(np.full(len(costs), -1), np.inf, exact)
        trail.append((parents, codes))
        nodes, spent = reached[parents, codes], total[parents, codes]
    return _Walk(_traced(trail, int(spent.argmin()), diagrams[0].order), float(spent.min()), exact)


def _distinct(reached: Array, total: Array, parents: Array, codes: Array) -> tuple[Array, Array]:
    """Of states that are in the same nodes, leave the cheapest."""
    cheap = np.argsort(total[parents, codes], kind="stable")
    parents, codes = parents[cheap], codes[cheap]
    nodes, widths = reached[parents, codes], reached.max(axis=(0, 1)) + 1
    keys = nodes @ np.cumprod([1, *widths[:-1]]) if prod(widths.tolist()) < 2**62 else _row_numbers(nodes)
    first = np.unique(keys, return_index=True)[1]
    return parents[first], codes[first]


def _row_numbers(rows: Array) -> Array:
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1].ravel())


def _traced(trail: list[tuple[Array, Array]], state: int, order: tuple[int, ...]) -> Codes:
    world = np.zeros(len(order), dtype=np.int64)
    for place, (parents, codes) in zip(reversed(order), reversed(trail), strict=True):
        world[place], state = codes[state], int(parents[state])
    return world


def _by_set(flags: Array) -> list[tuple[Array, Array]]:
    """Return each set of flags that occurs, with its rows."""
    kinds, which = np.unique(flags, axis=0, return_inverse=True)
    return [(kind, np.flatnonzero(which.ravel() == number)) for number, kind in enumerate(kinds)]


def _most_probable(diagram: Diagram, distributions: list[Array]) -> Codes:
    """Return the best worlds, in batches that fit into memory."""
    rows, size = len(distributions[0]), max(1, CELLS // (diagram.size + 13 * diagram.width))
    parts = [[distribution[start : start + size] for distribution in distributions] for start in range(0, rows, size)]
    return np.concatenate([diagram.most_probable(part, true_outcomes(diagram))[0] for part in parts])


def decode(knowledge: Knowledge, distributions: Sequence[Array]) -> Decoded:
    """Return, for each example, the most probable world that keeps every constraint.

    `distributions[i]` has a row an example and a column a value of concept `i`.

    >>> from assay.logic.concepts import bits
    >>> from assay.logic import Constraint
    >>> from assay.logic import parse
    >>> known = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("one", parse("count(a, b) == 1"))])
    >>> decode(known, [np.array([[0.1, 0.9]]), np.array([[0.3, 0.7]])]).codes.tolist()
    [[1, 0]]
    """
    return Decoder(knowledge)(distributions)
