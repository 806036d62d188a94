"""The constraints of a knowledge as decision diagrams: each on its own, some of them joined, or all."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from assay.base import Array, KnowledgeError, TooLarge
from assay.logic.circuit import Diagram, Outcome, letters, merge_nodes
from assay.logic.formula import TRUE, Formula
from assay.logic.ground import well_formed
from assay.logic.knowledge import Knowledge
from assay.logic.tally import true_outcomes, truth_diagram

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


def best_completions(diagram: Diagram, costs: Sequence[Array]) -> list[Array]:
    """Return for each layer, and the outcomes, the least cost from each node on to a true outcome, for one example."""
    costs_to_go = [np.where(true_outcomes(diagram), 0.0, np.inf)]
    for place, layer in zip(reversed(diagram.order), reversed(diagram.layers), strict=True):
        costs_to_go.append((costs_to_go[-1][layer] + costs[place][None, :]).min(axis=1))
    return costs_to_go[::-1]
