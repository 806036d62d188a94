"""The leaves of the search: predicates, comparisons, and one predicate asked of several objects, as bits over examples.

A program is known by which examples it holds in: packed bits, in words of 64.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, factorial, log2

import numpy as np

from assay.base import Array, Codes
from assay.logic import Compare, ConceptSpace, Formula, Operator, at_least, conjunction, disjunction, exactly, parity
from assay.models.symbolic.bits import pack_bits
from assay.models.symbolic.synthesis.language import (
    Costs,
    Family,
    NumberTerms,
    ProgramLanguage,
    numbers,
    symbol_pairs,
    truths,
)

UNITS = 8
"""Costs are counted in eighths of a bit, so that programs of equal cost form a level."""
MOST_SUBSETS = 20_000
"""Groups of more objects are left out where there would be more of them in a family."""

Make = Callable[[int], Formula]


@dataclass(frozen=True)
class LeafBlock:
    """Leaves of one form, the cheapest first: their bits (a row each), their costs in units, and how one is written."""

    words: Array
    costs: Array
    make: Make

    @classmethod
    def of(cls, holds: Array, bits: Array, make: Make) -> "LeafBlock":
        """Return the block of leaves that hold in these examples (leaves x examples) and cost so many bits."""
        costs = np.maximum(1, np.round(bits * UNITS)).astype(np.int64)
        order = np.argsort(costs, kind="stable")
        return cls(pack_bits(holds[order]), costs[order], lambda row: make(int(order[row])))

    def of_cost(self, cost: int) -> slice:
        """Return the rows of one cost."""
        return slice(*np.searchsorted(self.costs, [cost, cost + 1]).tolist())


def units(bits: float) -> int:
    """Return a cost in bits as a whole number of units."""
    return max(1, round(bits * UNITS))


def leaves_of(language: ProgramLanguage, space: ConceptSpace, codes: Codes, largest: int) -> list[LeafBlock]:
    """Return all leaves over these examples; groups have up to `largest` objects."""
    blocks: list[LeafBlock] = []
    for family in language.families:
        blocks += _of_family(family, language.costs, truths(family.objects, space, codes), largest)
    for terms in language.terms:
        blocks += _of_terms(terms, language.costs, numbers(terms.formulas, space, codes))
    same = symbol_pairs(space)
    if same:
        bits = np.full(len(same), language.costs.eq + language.costs.two_ints + log2(len(same) + 1))
        blocks.append(LeafBlock.of(truths(same, space, codes), bits, lambda row: same[row]))
    return blocks


def names(truths: Array, costs: Costs) -> Array:
    """Return what naming each object costs in bits: less if it is seen in more examples (a row each)."""
    share = truths.sum(axis=1) + costs.unseen * truths.shape[1]
    return np.asarray(-np.log2(share / share.sum()))


def _of_family(family: Family, costs: Costs, truth: Array, largest: int) -> Iterator[LeafBlock]:
    many = len(family.objects)
    naming = names(truth, costs) + (1 if many == 1 else 0)
    yield LeafBlock.of(truth, family.cost + naming, lambda row: family.objects[row])
    for size in range(2, min(largest, many) + 1) if family.grouped else ():
        if comb(many, size) > MOST_SUBSETS:
            return
        chosen = np.array(list(combinations(range(many), size)))
        counts = truth[chosen].sum(axis=1, dtype=np.uint8)
        unordered = naming[chosen].sum(axis=1) - log2(factorial(size))
        shared = family.cost + unordered + costs.several + costs.another * (size - 1)
        for extra, holds, join in _joins(counts, size, costs):
            yield LeafBlock.of(holds, shared + extra, _writer(family, chosen, join))


Join = Callable[..., Formula]


def _joins(counts: Array, size: int, costs: Costs) -> Iterator[tuple[float, Array, Join]]:
    """Give the ways to ask a predicate of several objects: what it costs, where it holds, and how it is written."""
    yield costs.disj, counts >= 1, disjunction
    yield costs.conj, counts == size, conjunction
    if size == 2:
        yield costs.xor, counts == 1, parity
        return
    for number in range(1, size):
        counted = costs.addb * size + costs.of_number(number)
        yield costs.eq + counted, counts == number, partial(exactly, number)
        if number > 1:
            yield costs.gt + counted, counts >= number, partial(at_least, number)


def _writer(family: Family, chosen: Array, join: Join) -> Make:
    return lambda row: join(*(family.objects[place] for place in chosen[row].tolist()))


def _of_terms(terms: NumberTerms, costs: Costs, values: Array) -> Iterator[LeafBlock]:
    """Give the comparisons of two Ints."""
    many = len(terms.formulas)
    naming = names(values != 0, costs) + np.array(terms.costs)
    ordered = np.array([(a, b) for a in range(many) for b in range(many) if a != b])
    unordered = ordered[ordered[:, 0] < ordered[:, 1]]
    kinds: list[tuple[Operator, Array, float]] = [(">", ordered, costs.gt), ("==", unordered, costs.eq - 1)]
    for operator, pairs, cost in kinds:
        left, right = values[pairs[:, 0]], values[pairs[:, 1]]
        holds = left > right if operator == ">" else left == right
        yield LeafBlock.of(holds, cost + costs.two_ints + naming[pairs].sum(axis=1), _compare(terms, pairs, operator))


def _compare(terms: NumberTerms, pairs: Array, operator: Operator) -> Make:
    return lambda row: Compare(operator, terms.formulas[pairs[row, 0]], terms.formulas[pairs[row, 1]])
