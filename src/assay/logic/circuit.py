"""Exact inference: formulas compiled into a layered multi-valued decision diagram.

Layer `l` reads one concept; a node is a residual of the formulas; equal residuals are one node. Every path from the
root to an outcome is one set of worlds, so probabilities, counts, the best world, and the world of a given rank are
each one sweep over the layers. `assay.models` has the same sweep in torch, with gradients.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import Array, Codes, TooLarge, rng_for
from assay.logic.build import names_in
from assay.logic.concepts import ABSENT, ConceptSpace, Kind, Value
from assay.logic.formula import Formula
from assay.logic.ground import ground_formula, shape_of
from assay.logic.residual import Residuals, Term

Outcome = tuple[Value, ...]
State = tuple[Term, ...]

BUDGET = 300_000
WIDE = 200
UNDOUBTED = 2_000
"""Up to so many nodes nobody asks how many more there will be."""
SAMPLED = 2_000
"""By so many random worlds the size of a diagram is estimated."""
ROUNDS = 4
"""How often others are drawn for worlds that are decided."""
IMPOSSIBLE = -1e9
"""What a value of probability 0 adds to a log probability: finite, so that a wanted outcome still comes first."""


@dataclass(frozen=True)
class Diagram:
    """A layered decision diagram: `layers[l][node, code]` is the next layer's node when concept `order[l]` has `code`.

    After the last layer, nodes are the `outcomes`: the tuples of values that the formulas take.
    """

    space: ConceptSpace
    order: tuple[int, ...]
    layers: tuple[Array, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def size(self) -> int:
        """The number of nodes, outcomes included."""
        return sum(len(layer) for layer in self.layers) + len(self.outcomes)

    @property
    def width(self) -> int:
        """The number of nodes in the widest layer."""
        return max(len(layer) for layer in self.layers)

    def outcome_of(self, codes: Codes) -> Array:
        """Return the number of the outcome of each world."""
        nodes = np.zeros(len(codes), dtype=np.int64)
        for place, layer in zip(self.order, self.layers, strict=True):
            nodes = layer[nodes, codes[:, place]]
        return nodes

    def probabilities(self, distributions: Sequence[Array]) -> Array:
        """Return the probability of each outcome, for a batch of independent concept distributions.

        `distributions[i]` has a row per example and a column per value of concept `i`.
        """
        mass = np.ones((len(distributions[0]), 1))
        for place, layer, width in zip(self.order, self.layers, self.next_widths, strict=True):
            shares = mass[:, :, None] * np.asarray(distributions[place])[:, None, :]
            mass = _gathered(shares.reshape(len(mass), layer.size), layer.ravel(), width)
        return mass

    @cached_property
    def next_widths(self) -> tuple[int, ...]:
        """The number of nodes in the layer after each layer."""
        return (*(len(layer) for layer in self.layers[1:]), len(self.outcomes))

    @cached_property
    def counts(self) -> dict[Outcome, int]:
        """The exact number of worlds of each outcome."""
        ways = np.ones(1, dtype=object)
        for layer, width in zip(self.layers, self.next_widths, strict=True):
            following = np.zeros(width, dtype=object)
            np.add.at(following, layer.ravel(), np.repeat(ways, layer.shape[1]))
            ways = following
        return dict(zip(self.outcomes, (int(way) for way in ways), strict=True))

    def among(self, wanted: Array) -> "WorldRanking":
        """Return the ranking of the worlds whose outcome is wanted (a truth value for each outcome)."""
        ways = np.where(wanted, 1, 0).astype(object)
        below = [ways]
        for layer in reversed(self.layers):
            ways = ways[layer].sum(axis=1)
            below.append(ways)
        total = int(below[-1][0])
        exact: Any = np.int64 if total < 2**62 else object
        return WorldRanking(self, total, tuple(ways.astype(exact) for ways in reversed(below)))

    def most_probable(self, distributions: Sequence[Array], wanted: Array) -> tuple[Codes, Array]:
        """Return, for each example, the most probable world with a wanted outcome, and its log probability.

        Where no such world has any probability, it is one with as few impossible values as can be.
        """
        scores = [log_probabilities(np.asarray(distribution)) for distribution in distributions]
        batch = len(scores[0])
        best = np.broadcast_to(np.where(wanted, 0.0, -np.inf), (batch, len(self.outcomes)))
        choices = []
        for place, layer in zip(reversed(self.order), reversed(self.layers), strict=True):
            options = best[:, layer] + scores[place][:, None, :]
            choices.append(options.argmax(axis=2))
            best = options.max(axis=2)
        codes = np.zeros((batch, len(self.space)), dtype=np.int64)
        nodes, rows = np.zeros(batch, dtype=np.int64), np.arange(batch)
        for place, layer, choice in zip(self.order, self.layers, reversed(choices), strict=True):
            codes[:, place] = choice[rows, nodes]
            nodes = layer[nodes, codes[:, place]]
        return codes, np.where(best[:, 0] > IMPOSSIBLE / 2, best[:, 0], -np.inf)


@dataclass(frozen=True)
class WorldRanking:
    """The worlds with some outcomes, numbered from 0: worlds can be looked up by rank, and ranks by world."""

    diagram: Diagram
    total: int
    below: tuple[Array, ...]

    def worlds(self, ranks: Array) -> Codes:
        """Return the worlds of these ranks; a uniform rank gives a uniform world."""
        diagram = self.diagram
        ranks = np.array(ranks, dtype=self.below[0].dtype)
        if len(ranks) and not (ranks.min() >= 0 and ranks.max() < self.total):
            raise ValueError(f"ranks run from 0 to {self.total - 1}")
        nodes = np.zeros(len(ranks), dtype=np.int64)
        codes = np.zeros((len(ranks), len(diagram.space)), dtype=np.int64)
        for place, layer, below in zip(diagram.order, diagram.layers, self.below[1:], strict=True):
            starts = _starts(below[layer])
            code = (ranks[:, None] >= starts[nodes, 1:]).sum(axis=1)
            ranks = ranks - starts[nodes, code]
            codes[:, place] = code
            nodes = layer[nodes, code]
        return codes

    def ranks(self, codes: Codes) -> Array:
        """Return the rank of each world, -1 for a world that is not among them."""
        diagram = self.diagram
        nodes = np.zeros(len(codes), dtype=np.int64)
        ranks = np.zeros(len(codes), dtype=self.below[0].dtype)
        for place, layer, below in zip(diagram.order, diagram.layers, self.below[1:], strict=True):
            starts = _starts(below[layer])
            ranks = ranks + starts[nodes, codes[:, place]]
            nodes = layer[nodes, codes[:, place]]
        return np.where(self.below[-1][nodes] > 0, ranks, -1)


def _starts(ways: Array) -> Array:
    """Return, for each node, the rank at which each value's worlds begin (one column a value, and the end)."""
    ends = np.cumsum(ways, axis=1)
    return np.concatenate([np.zeros_like(ends[:, :1]), ends[:, :-1]], axis=1)


def log_probabilities(array: Array) -> Array:
    """Return logarithms, of 0 a finite one far below all others."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(array), IMPOSSIBLE)


def _gathered(shares: Array, targets: Array, width: int) -> Array:
    """Add up columns that lead to the same node."""
    order = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[order], np.arange(width))
    return np.add.reduceat(shares[:, order], starts, axis=1)


def compile_diagram(
    formulas: Sequence[Formula], space: ConceptSpace, order: Sequence[str] | None = None, budget: int = BUDGET
) -> Diagram:
    """Compile formulas into one diagram whose outcomes are their values together.

    >>> from assay.logic.concepts import digits
    >>> from assay.logic import parse
    >>> compile_diagram([parse("a + b")], digits(["a", "b"])).counts[(7,)]
    8

    Parameters
    ----------
    formulas
        What an outcome has the values of, in this order.
    space
        The concepts, all of which the diagram reads.
    order
        The names of all concepts as they are read; by default the better of two orders.
    budget
        The most nodes; a diagram that would have more is refused.
    """
    kinds = [shape_of(formula, space).kind for formula in formulas]
    flat = [ground_formula(formula, space) for formula in formulas]
    if order is not None:
        places = tuple(space.place(name) for name in order)
        return _labelled(_compiled(flat, space, places, budget), kinds)
    return _labelled(compile_part(flat, space, budget), kinds)


def compile_part(formulas: Sequence[Formula], space: ConceptSpace, budget: int = BUDGET) -> Diagram:
    """Compile grounded parts of formulas that were checked as wholes, in the better of two orders of concepts.

    Parameters
    ----------
    formulas
        Grounded parts.
    space
        The concepts that they are about.
    budget
        The most nodes; a diagram that would have more is refused.
    """
    by_use = _order_of_use(formulas, space)
    by_space = tuple(range(len(space)))
    try:
        diagram = _compiled(formulas, space, by_use, budget)
    except TooLarge:
        if by_use == by_space:
            raise
        return _compiled(formulas, space, by_space, budget)
    if diagram.width <= WIDE or by_use == by_space:
        return diagram
    try:
        other = _compiled(formulas, space, by_space, diagram.size)
    except TooLarge:
        return diagram
    return min(diagram, other, key=lambda candidate: candidate.size)


def _labelled(diagram: Diagram, kinds: Sequence[Kind]) -> Diagram:
    """Write each outcome's values in the kinds of their formulas: a count of one truth value is a number."""

    def plain(value: Value, kind: Kind) -> Value:
        return int(value) if kind == "int" and value != ABSENT else value

    return replace(diagram, outcomes=tuple(tuple(map(plain, outcome, kinds)) for outcome in diagram.outcomes))


def _order_of_use(formulas: Sequence[Formula], space: ConceptSpace) -> tuple[int, ...]:
    """Return the concepts as the formulas name them, those that no formula names last."""
    named = dict.fromkeys(name for formula in formulas for name in names_in(formula))
    return tuple(space.place(name) for name in dict.fromkeys((*named, *space.names)))


def _compiled(formulas: Sequence[Formula], space: ConceptSpace, order: tuple[int, ...], budget: int) -> Diagram:
    terms = Residuals(space)
    states: dict[State, int] = {tuple(terms.term(formula) for formula in formulas): 0}
    first, estimated = next(iter(states)), False
    layers, size = [], 0
    for place in order:
        following: dict[State, int] = {}
        rows = np.empty((len(states), space.sizes[place]), dtype=np.int32)
        size += len(states)
        for state, node in states.items():
            for code in range(space.sizes[place]):
                residual = tuple(terms.restrict(term, place, code) for term in state)
                rows[node, code] = following.setdefault(residual, len(following))
            if size + len(following) > budget:  # asked at each node: a layer can be ten times the one before
                raise TooLarge(f"{_outgrows(budget)}; use fewer concepts or simpler rules")
            if not estimated and size + len(following) > UNDOUBTED:
                _require_fitting(terms, first, order, budget)
                estimated = True
        layers.append(rows)
        states = following
    outcomes = [tuple(_decided(terms.value(term)) for term in state) for state in states]
    return merge_nodes(space, order, layers, outcomes)


def _outgrows(budget: int) -> str:
    return f"the rule's decision diagram outgrows {budget:,} nodes"


def _require_fitting(terms: Residuals, first: State, order: tuple[int, ...], budget: int) -> None:
    """Refuse a diagram that will be too large by an estimate, long before it is."""
    nodes = 0.0
    for found in _sampled_layers(terms, first, order):
        nodes += least_classes(found)
        if nodes > budget:
            raise TooLarge(f"{_outgrows(budget)}: it has {nodes:.1e} or more; use fewer concepts or simpler rules")


def _sampled_layers(terms: Residuals, first: State, order: tuple[int, ...]) -> Iterator[list[int]]:
    """Give for each layer how many of some random worlds come through each of its nodes that any comes through.

    Worlds that are decided are replaced by others that are not, since no more can be learned from them.
    """
    rng = rng_for(0, "size of a diagram")
    states = [first] * SAMPLED
    for place in order:
        reached: list[State] = []
        for _ in range(ROUNDS):
            drawn = [states[row] for row in rng.integers(len(states), size=SAMPLED)] if reached else states
            codes = rng.integers(terms.space.sizes[place], size=len(drawn)).tolist()
            reached += [
                tuple(terms.restrict(term, place, code) for term in state)
                for state, code in zip(drawn, codes, strict=True)
            ]
            undecided = [state for state in reached if any(terms.value(term) is None for term in state)]
            if len(undecided) >= SAMPLED or not undecided:
                break
        states = undecided[:SAMPLED] or reached
        yield list(Counter(states).values())


def least_classes(found: Sequence[int]) -> float:
    """Return how many classes there are at least, by how often each that was seen was seen: Chao's lower bound.

    It is lowered by what chance may do, so that a handful of samples proves nothing.

    >>> round(least_classes([1] * 1900 + [2] * 50))
    28833
    >>> least_classes([500, 700, 800])
    3.0
    """
    once, twice = (sum(1 for count in found if count == wanted) for wanted in (1, 2))
    return len(found) + once**2 / (2 * (twice + 2 * math.sqrt(twice) + 3))


def _decided(value: Value | None) -> Value:
    if value is None:
        raise AssertionError("a formula is undecided although every concept is known")
    return value


def merge_nodes(space: ConceptSpace, order: tuple[int, ...], layers: list[Array], outcomes: list[Outcome]) -> Diagram:
    """Merge, from the last layer up, nodes that lead to the same places; number outcomes in sorted order."""
    ranked = sorted(set(outcomes), key=lambda outcome: tuple((isinstance(v, str), v) for v in outcome))
    numbers = {outcome: number for number, outcome in enumerate(ranked)}
    renumber: Array = np.array([numbers[outcome] for outcome in outcomes], dtype=np.int32)
    merged = []
    for layer in reversed(layers):
        led = renumber[layer]
        numbers_of, first = _numbered(led)
        renumber = numbers_of.astype(np.int32)
        merged.append(led[first])
    return Diagram(space, order, tuple(reversed(merged)), tuple(ranked))


def _numbered(rows: Array) -> tuple[Array, Array]:
    """Return the number of each row among the distinct rows in order, and where each first occurs."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    for place in letters(rows)[0].tolist():  # a column that comes again tells nothing
        numbers = np.unique(numbers * (int(rows.max()) + 1) + rows[:, place], return_inverse=True)[1]
    return numbers, np.unique(numbers, return_index=True)[1]


def letters(layer: Array) -> tuple[Array, Array]:
    """Return a code for each letter, and the letter of each code: codes that lead alike everywhere are one letter.

    >>> [found.tolist() for found in letters(np.array([[0, 1, 0], [2, 2, 2]]))]
    [[0, 1], [0, 1, 0]]
    """
    numbers: dict[bytes, int] = {}
    of_code = [numbers.setdefault(column.tobytes(), len(numbers)) for column in np.ascontiguousarray(layer.T)]
    return np.unique(of_code, return_index=True)[1], np.array(of_code, dtype=np.int64)
