"""Beam search over clauses: each is refined by one literal at a time, as the modes allow, and the best are kept.

A mode says how a literal may enter a clause: an argument is `+`, an object that the clause has already, or `-`, one
that enters with it. All modes are generated from the space: the literals are those that every ILP learner is given.

A clause is scored by how much it holds in positive examples less how much it holds in negative ones. (The original
counts positive examples only, so that the most general clauses win.) The search goes round once for each rule: in the
next round, positive examples count as much as the best clauses so far leave them unexplained. Clauses are told apart by
their form, whatever their objects' names are, and one that holds in all examples as much as a shorter one is dropped.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Literal as Choice

import numpy as np
import torch
from torch import Tensor

from assay.base import Array
from assay.models.symbolic.alpha_ilp.soft_reasoning import (
    CELLS,
    FALSE,
    TRUE,
    GroundAtoms,
    GroundBodies,
    SoftOr,
    alike_pairs,
    clause_values,
)
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral, Places, canonical
from assay.prolog import Bias, Literal, Vocabulary

MOST_ATOMS = 4096
"""Literals with more ground atoms are left out: three of many objects."""
Sign = Choice["+", "-"]
SIGNS: tuple[Sign, Sign] = ("+", "-")
LENGTH_COST = 0.01
"""What a literal costs: with it, a clause must be right in one per cent more of the examples."""
DIGITS = 4
"""To how many digits clauses must agree in all examples to count as the same."""
MOST_AT_ONCE = 1024
"""How many clauses are valued between two looks at the clock."""
Form = tuple[tuple[int, Places], ...]


# -- modes -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mode:
    """One way in which a literal enters a clause, and how often it may."""

    number: int
    literal: Literal
    signs: tuple[Sign, ...]
    recall: int

    def text(self, vocabulary: Vocabulary) -> str:
        """Return it as a declaration: `modeb(2,roof_none(-car))`."""
        arguments = [f"{s}{vocabulary.kinds[g]}" for s, g in zip(self.signs, self.literal.groups, strict=True)]
        return f"modeb({self.recall},{self.literal.name}({','.join(arguments) or '+world'}))"


@dataclass(frozen=True)
class Modes:
    """The literals of a bias that are used, the ways in which they enter, and which do not go together."""

    bias: Bias

    @cached_property
    def literals(self) -> tuple[Literal, ...]:
        """The literals that have few enough ground atoms."""
        sizes = {group: len(slots) for group, slots in self.bias.space.groups.items()}
        return tuple(
            literal
            for literal in self.bias.literals
            if int(np.prod([sizes[g] for g in literal.groups], initial=1)) <= MOST_ATOMS
        )

    @cached_property
    def declarations(self) -> tuple[Mode, ...]:
        """All modes: each literal with known and with new objects."""
        modes = []
        for number, literal in enumerate(self.literals):
            often = self.bias.language.objects if literal.arity == 1 else 1
            for signs in product(SIGNS, repeat=literal.arity):
                if signs.count("-") > self.bias.language.objects or (literal.symmetric and signs == ("-", "+")):
                    continue
                modes.append(Mode(number, literal, signs, often))
        return tuple(modes)

    def texts(self) -> list[str]:
        """Return all declarations."""
        return [mode.text(self.bias.vocabulary) for mode in self.declarations]

    @cached_property
    def idle(self) -> Array:
        """Which two literals on one object can never hold together, or say no more than one of them alone."""
        return alike_pairs(self.literals, lambda a, b: not (a & b).any() or not (a & ~b).any() or not (b & ~a).any())


# -- clauses -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClauseNode:
    """A clause in search: groups of its objects, body as numbers of literals with places, and its ground body."""

    groups: tuple[str, ...]
    body: Form
    slots: Array
    """Which slots its objects are: a row for each choice of objects."""
    atoms: Array
    """The atoms of its body for each choice."""


ROOT = ClauseNode((), (), np.zeros((1, 0), dtype=np.int64), np.full((1, 0), TRUE, dtype=np.int64))


def add_objects(node: ClauseNode, groups: tuple[str, ...], ground: GroundAtoms) -> ClauseNode:
    """Return a clause with more objects, which are present."""
    slots, atoms = node.slots, node.atoms
    for group in groups:
        there = ground.presence(group)
        size, before = len(there), len(slots)
        slots = np.concatenate([np.repeat(slots, size, axis=0), np.tile(np.arange(size), before)[:, None]], axis=1)
        atoms = np.repeat(atoms, size, axis=0)
        if (there != TRUE).any():
            atoms = np.concatenate([atoms, np.tile(there, before)[:, None]], axis=1)
    return ClauseNode((*node.groups, *groups), node.body, slots, atoms)


def add_literal(node: ClauseNode, number: int, places: Places, ground: GroundAtoms) -> ClauseNode:
    """Return a clause with one more literal, without the choices of objects for which it can never hold."""
    column = ground.atoms(number, node.slots[:, list(places)])
    column = np.where((node.atoms == column[:, None]).any(axis=1), TRUE, column)  # said twice is said once
    possible = column != FALSE
    for other, there in node.body:
        if len(places) == 1 and ground.clashing[number, other]:
            possible &= node.slots[:, places[0]] != node.slots[:, there[0]]
    atoms = node.atoms if (column[possible] == TRUE).all() else np.concatenate([node.atoms, column[:, None]], axis=1)
    return ClauseNode(node.groups, (*node.body, (number, places)), node.slots[possible], atoms[possible])


def ground_clause(clause: IlpClause, ground: GroundAtoms) -> Array:
    """Return the ground body of a clause: choices of objects x atoms."""
    numbers = {literal: number for number, literal in enumerate(ground.literals)}
    node = add_objects(ROOT, clause.groups, ground)
    for placed in clause.body:
        node = add_literal(node, numbers[placed.literal], placed.places, ground)
    return node.atoms


@dataclass(frozen=True)
class SearchLimits:
    """How wide, how deep and how long to search."""

    beam: int
    depth: int
    rounds: int
    clauses: int
    ends: float
    """When it must be over, on the clock of `time.monotonic`."""
    way: SoftOr = "noisy"


@dataclass(frozen=True, eq=False)
class ClausePool:
    """The clauses found, how much each holds in each example (clauses x examples), and its score in each round."""

    clauses: tuple[IlpClause, ...]
    values: Tensor
    scores: Tensor
    tried: int
    complete: bool
    """Whether the search ended before its time was over."""


class Beam:
    """A search for clauses that separate positive from negative examples."""

    def __init__(self, modes: Modes, ground: GroundAtoms, values: Tensor, target: Tensor, limits: SearchLimits) -> None:
        self.modes, self.ground, self.values, self.limits = modes, ground, values, limits
        self.target = target.to(values)
        self.tried, self.complete = 0, True
        self._symmetric = [literal.symmetric for literal in modes.literals]
        self._ways: dict[tuple[str, ...], list[tuple[Mode, Places, tuple[str, ...]]]] = {}

    def run(self) -> ClausePool:
        """Search once for each rule, and return the clauses."""
        clauses: dict[tuple[tuple[str, ...], Form], tuple[ClauseNode, Tensor]] = {}
        left, worth = self.target.clone(), []
        for _ in range(self.limits.rounds):
            weights = self._weights(left)
            worth.append(weights)
            best = self._round(weights)
            for _, node, values in best:
                clauses.setdefault((node.groups, node.body), (node, values))
            if best:
                left = left * (1 - best[0][2])
            if left.sum() < 0.5:
                break
        nodes = [node for node, _ in clauses.values()]
        values = torch.stack([v for _, v in clauses.values()]) if clauses else self.values.new_zeros(0, len(left))
        cost = LENGTH_COST * torch.tensor([len(node.body) for node in nodes]).to(values)
        scores = values @ torch.stack(worth, dim=1) - cost[:, None]
        return ClausePool(tuple(self._clause(node) for node in nodes), values, scores, self.tried, self.complete)

    def _weights(self, left: Tensor) -> Tensor:
        """Return what it is worth to hold in each example: positive ones together 1, negative ones together -1."""
        against = 1 - self.target
        return left / left.sum().clamp_min(1e-9) - against / against.sum().clamp_min(1e-9)

    def _round(self, weights: Tensor) -> list[tuple[float, ClauseNode, Tensor]]:
        """Return the best clauses of one search, the best first."""
        best: list[tuple[float, ClauseNode, Tensor]] = []
        beam = [ROOT]
        seen: set[tuple[tuple[str, ...], Form]] = set()
        value_keys: set[bytes] = set()
        for _ in range(self.limits.depth):
            fresh = []
            for score, node, values in self._scored(self._refined(beam, seen), weights):
                key = (values * 10**DIGITS).round().to(torch.int16).numpy().tobytes()
                if key not in value_keys:
                    value_keys.add(key)
                    fresh.append((score, node, values))
                if len(fresh) == self.limits.beam:
                    break
            best += fresh
            beam = [node for _, node, _ in fresh]
            if not beam or self._late():
                break
        best.sort(key=lambda scored: -scored[0])
        return best[: max(1, self.limits.clauses // self.limits.rounds)]

    def _late(self) -> bool:
        if time.monotonic() < self.limits.ends:
            return False
        self.complete = False
        return True

    def _refined(self, beam: Sequence[ClauseNode], seen: set[tuple[tuple[str, ...], Form]]) -> Iterator[ClauseNode]:
        """Give all clauses that have one literal more than one of the beam, each once."""
        for node in beam:
            wider: dict[tuple[str, ...], ClauseNode] = {(): node}
            for mode, places, new in self._enter(node.groups):
                if self._idle(node, mode, places):
                    continue
                groups = (*node.groups, *new)
                body = (*node.body, (mode.number, places))
                form = canonical(groups, [(n, p, self._symmetric[n]) for n, p in body])
                if (groups, form) in seen or self._repeats(groups, body):
                    continue
                seen.add((groups, form))
                if new not in wider:
                    wider[new] = add_objects(node, new, self.ground)
                refined = add_literal(wider[new], mode.number, places, self.ground)
                if len(refined.slots):
                    yield refined

    def _enter(self, groups: tuple[str, ...]) -> list[tuple[Mode, Places, tuple[str, ...]]]:
        """Return the ways in which literals enter a clause of such objects: places, and the groups of new ones."""
        if groups not in self._ways:
            ways = []
            for mode in self.modes.declarations:
                new = tuple(g for sign, g in zip(mode.signs, mode.literal.groups, strict=True) if sign == "-")
                if len(groups) + len(new) <= self.modes.bias.language.objects:
                    ways += [(mode, places, new) for places in _places(mode, groups)]
            self._ways[groups] = ways
        return self._ways[groups]

    def _idle(self, node: ClauseNode, mode: Mode, places: Places) -> bool:
        """Return whether a literal has been used as often as allowed, or adds nothing about its object."""
        same = [there for number, there in node.body if number == mode.number]
        if len(same) >= mode.recall or places in same:
            return True
        return any(there == places and self.modes.idle[mode.number, number] for number, there in node.body)

    def _repeats(self, groups: tuple[str, ...], body: Form) -> bool:
        """Return whether an object of a clause is redundant: all that is required of it is required of another."""
        parts = set(body)
        for place_from, place_to in permutations(range(len(groups)), 2):
            if groups[place_from] != groups[place_to]:
                continue
            moved = [(n, tuple(place_to if place == place_from else place for place in places)) for n, places in body]
            if all(part in parts or self._sure(*part) for part in moved):
                return True
        return False

    def _sure(self, number: int, places: Places) -> bool:
        """Return whether a literal holds of an object and itself, whatever that is."""
        literal = self.modes.literals[number]
        same = len({term.attribute for term in literal.terms}) == 1
        return len(set(places)) < len(places) and same and literal.way in ("==", "<=", ">=", "all_equal")

    def _scored(self, nodes: Iterator[ClauseNode], weights: Tensor) -> list[tuple[float, ClauseNode, Tensor]]:
        """Return clauses with scores and values, the best first; those that are not reached in time are left out."""
        scored: list[tuple[float, ClauseNode, Tensor]] = []
        most = max(1, CELLS // max(1, self.values.shape[1]))
        waiting: list[ClauseNode] = []
        rows = 0
        for node in nodes:
            waiting.append(node)
            rows += len(node.atoms)
            if rows >= most or len(waiting) >= MOST_AT_ONCE:
                scored += self._valued(waiting, weights)
                waiting, rows = [], 0
                if self._late():
                    break
        else:
            scored += self._valued(waiting, weights)
        scored.sort(key=lambda entry: -entry[0])
        return scored

    def _valued(self, nodes: list[ClauseNode], weights: Tensor) -> list[tuple[float, ClauseNode, Tensor]]:
        if not nodes:
            return []
        self.tried += len(nodes)
        values = clause_values(self.values, GroundBodies.of([node.atoms for node in nodes]), self.limits.way)
        cost = LENGTH_COST * torch.tensor([len(node.body) for node in nodes]).to(values)
        scores = values @ weights - cost
        few = torch.argsort(scores, descending=True, stable=True)[: 4 * self.limits.beam].tolist()
        return [(float(scores[place]), nodes[place], values[place].clone()) for place in few]

    def _clause(self, node: ClauseNode) -> IlpClause:
        return IlpClause(node.groups, tuple(PlacedLiteral(self.modes.literals[n], places) for n, places in node.body))


def _places(mode: Mode, groups: tuple[str, ...]) -> Iterator[Places]:
    """Give the arguments that a literal may have as it enters: known objects of its groups, and new ones after them."""
    known = [[at for at, own in enumerate(groups) if own == group] for group in mode.literal.groups]
    fresh = len(groups)
    choices = []
    for sign, there in zip(mode.signs, known, strict=True):
        choices.append(there if sign == "+" else [fresh])
        fresh += sign == "-"
    for places in product(*choices):
        if len(set(places)) == len(places) and not (mode.literal.symmetric and list(places) != sorted(places)):
            yield places
