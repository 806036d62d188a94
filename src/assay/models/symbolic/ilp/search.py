"""The search for clauses: from general to special, all literals at once, level by level.

Clauses of no object, of one, of two and of three are searched apart, all of them to the same level before the next.
Each level adds a literal to every clause that is kept: of the first levels all, of later ones those that promise most.
Facts about generality cut the search short. A literal added covers no more examples and takes more bits; so a clause
that covers too few positive examples to pay for itself is left, one that covers no negative example is done, and one
that takes more bits than a whole program that is known already is left too.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import lgamma, log, log2

import numpy as np

from assay.base import Array, rng_for
from assay.models.symbolic.examples import count_bits
from assay.models.symbolic.ilp.clauses import (
    Coverage,
    IlpClause,
    LiteralBatch,
    PlacedLiteral,
    Places,
    canonical,
    refined_covers,
)
from assay.prolog import Bias

Step = tuple[int, Places]
TRIED = 200_000
"""About how many clauses are tried on one level of a structure."""
FEWEST, MOST = 50, 600
"""How many clauses of a level are kept, at least and at most."""
ALL_BELOW = 1_000
"""Levels with fewer clauses than this are kept whole."""
ALIKE = 3
"""How many clauses that cover the same examples go on to the next level."""
LARGEST = 1 << 22
"""The most words of the bits of one clause: structures with more choices of objects are not searched."""
POOL = 400
"""How many clauses are kept for programs, by each score."""


@dataclass(frozen=True)
class Clock:
    """When a search must end."""

    ends: float

    @classmethod
    def of(cls, seconds: float) -> "Clock":
        """Return the clock of a search that may take so long from now on."""
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.ends - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left <= 0

    def share(self, part: float) -> "Clock":
        """Return a clock for a part of what is left."""
        return Clock.of(max(self.left, 0.0) * part)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A clause, its description length in bits, and the examples that it covers."""

    clause: IlpClause
    bits: float
    covers: Array


@dataclass(frozen=True, eq=False)
class Target:
    """Which examples clauses should cover and which not, as bits; and what it saves to cover so many, in bits."""

    positive: Array
    negative: Array
    savings: Array

    def counts(self, covers: Array) -> tuple[Array, Array]:
        """Return how many of either are covered."""
        return count_bits(covers & self.positive), count_bits(covers & self.negative)


def choose_bits(number: float, of: float) -> float:
    """Return log2 of the number of ways to choose so many of so many.

    >>> round(choose_bits(2, 4), 6)
    2.584963
    """
    return (lgamma(of + 1) - lgamma(number + 1) - lgamma(of - number + 1)) / log(2)


@dataclass(frozen=True, eq=False)
class SearchNode:
    """A partial clause in the search: its steps, its bits, and for which choices of objects it holds."""

    steps: tuple[Step, ...]
    bits: float
    choices: Array

    @property
    def objects(self) -> set[int]:
        """The objects that occur in it."""
        return {place for _, places in self.steps for place in places}


@dataclass(frozen=True, eq=False)
class Refinements:
    """A clause refined by each of some literals: the literals, bits, coverage, and covered positives and negatives."""

    node: SearchNode
    places: Places
    numbers: Array
    bits: Array
    covers: Array
    pos: Array
    neg: Array

    def only(self, rows: Array) -> "Refinements":
        """Return some of them."""
        parts = (self.numbers, self.bits, self.covers, self.pos, self.neg)
        return Refinements(self.node, self.places, *(part[rows] for part in parts))

    def steps(self, row: int) -> tuple[Step, ...]:
        """Return the steps of one of them."""
        return (*self.node.steps, (int(self.numbers[row]), self.places))


@dataclass(eq=False)
class CandidatePool:
    """The most promising clauses found, one for each set of examples that is covered: the one with the fewest bits."""

    clauses: dict[bytes, Candidate] = field(default_factory=dict)

    def add(self, candidate: Candidate) -> None:
        """Take a clause, unless a shorter one covers the same."""
        key = candidate.covers.tobytes()
        if key not in self.clauses or candidate.bits < self.clauses[key].bits:
            self.clauses[key] = candidate


class Search:
    """Searches the clauses of a bias for some examples; `limit` is the most bits that a clause may take."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.bias: Bias = coverage.bias
        self.limit = np.inf
        self.seen = 0
        self.complete = True

    def run(self, target: Target, clock: Clock) -> Iterator[CandidatePool]:
        """Give the most promising clauses after each level, as far as time allows."""
        started = [Structure(self, groups, target) for groups in self.bias.structures if self._fits(groups)]
        for depth in range(1, self.bias.language.literals + 1):
            for place, structure in enumerate(started):
                structure.advance(depth, clock.share(1 / (len(started) - place)))
            pool = CandidatePool()
            for structure in started:
                structure.best.into(pool)
            yield pool
            if clock.over or not any(structure.level for structure in started):
                return

    def _fits(self, groups: tuple[str, ...]) -> bool:
        choices = self.coverage.words
        for group in groups:
            choices *= len(self.coverage.present[group])
        self.complete &= choices <= LARGEST
        return choices <= LARGEST

    def prices(self, batches: Sequence[LiteralBatch]) -> list[Array]:
        """Return the bits of each literal of each batch: which kind, and which one of the kind, placed where."""
        kinds = [[self.bias.literals[number].kind for number in batch.numbers] for batch in batches]
        every = [kind for batch_kinds in kinds for kind in batch_kinds]
        price = {kind: log2(len(set(every))) + log2(every.count(kind)) for kind in set(every)}
        return [np.array([price[kind] for kind in batch_kinds]) for batch_kinds in kinds]

    def key(self, groups: tuple[str, ...], steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Return steps as they are whatever their order and the names of objects."""
        return canonical(groups, ((n, places, self.bias.literals[n].symmetric) for n, places in steps))


class Structure:
    """The search among clauses of certain objects."""

    def __init__(self, search: Search, groups: tuple[str, ...], target: Target) -> None:
        self.search, self.groups, self.target = search, groups, target
        self.level = [SearchNode((), log2(len(search.bias.structures)), search.coverage.start(groups))]
        self.best = BestClauses(search, groups, target)
        self.before = float(count_bits(target.positive)), float(count_bits(target.negative))
        rng = rng_for(0, "ilp", "hash")  # only to tell covers apart: no result depends on which numbers these are
        self.mix = rng.integers(1, 2**63, search.coverage.words, dtype=np.uint64) | np.uint64(1)

    def advance(self, depth: int, clock: Clock) -> None:
        """Go on to the next level: try every literal with every clause kept, and keep the best."""
        if not self.level:
            return
        batches = self.search.coverage.batches(self.groups)
        prices, refinements = self.search.prices(batches), list[Refinements]()
        for node in self.level:
            if clock.over:
                self.search.complete = False
                break
            for batch, price in zip(batches, prices, strict=True):
                grown = self._grown(node, batch, price - log2(depth))
                if grown is not None:
                    refinements.append(grown)
        last = depth == self.search.bias.language.literals
        tried = sum(len(batch.numbers) for batch in batches)
        self.level = [] if last or clock.over else list(self._chosen(refinements, tried, clock))

    def _grown(self, node: SearchNode, batch: LiteralBatch, price: Array) -> Refinements | None:
        """Return a clause with every literal of a batch that pays, those that go on to the next level only."""
        covers = refined_covers(node.choices, batch)
        self.search.seen += len(covers)
        pos, neg = self.target.counts(covers)
        bits = node.bits + price
        useful = (self.target.savings[pos] > bits) & (bits < self.search.limit)
        for number, places in node.steps:
            if places == batch.places:
                useful &= batch.numbers != number
        if not useful.any():
            return None
        grown = Refinements(node, batch.places, batch.numbers, bits, covers, pos, neg).only(np.flatnonzero(useful))
        if len(node.objects | set(batch.places)) == len(self.groups):
            self.best.look(grown)
        return grown.only(np.flatnonzero(grown.neg > 0))

    def _chosen(self, refinements: Sequence[Refinements], tried: int, clock: Clock) -> Iterator[SearchNode]:
        """Give the clauses that go on to the next level, each once."""
        at = np.repeat(np.arange(len(refinements)), [len(refined.numbers) for refined in refinements])
        if not len(at):
            return
        row = np.concatenate([np.arange(len(refined.numbers)) for refined in refinements])
        bits, pos, neg = (
            np.concatenate([getattr(refined, name) for refined in refinements]) for name in ("bits", "pos", "neg")
        )
        marks = np.concatenate([refined.covers @ self.mix for refined in refinements])
        whole, beam = len(at) <= ALL_BELOW, min(max(TRIED // tried, FEWEST), MOST)
        seen: set[tuple[Step, ...]] = set()
        alike: dict[int, int] = {}
        for place in range(len(at)) if whole else self._ranked(bits, pos, neg, 20 * beam):
            mark, refined = int(marks[place]), refinements[at[place]]
            if clock.over or (len(seen) >= beam and not whole):
                self.search.complete = False
                return
            if bits[place] >= self.search.limit or (alike.get(mark, 0) >= ALIKE and not whole):
                continue
            steps = refined.steps(row[place])
            key = self.search.key(self.groups, steps)
            if key in seen:
                continue
            seen.add(key)
            alike[mark] = alike.get(mark, 0) + 1
            choices = refined.node.choices & self.search.coverage.literal_bits(
                steps[-1][0], steps[-1][1], len(self.groups)
            )
            yield SearchNode(steps, float(bits[place]), choices)

    def _ranked(self, bits: Array, pos: Array, neg: Array, most: int) -> list[int]:
        """Return rows, the best by each of two scores in turn: examples set right, and information gained."""
        whole, other = self.before
        share = np.log2(np.maximum(pos, 1) / np.maximum(pos + neg, 1)) - log2(max(whole, 1) / max(whole + other, 1))
        scores = (pos - neg - 1e-6 * bits, pos * share - 1e-6 * bits)
        ranks = [np.argsort(-score, kind="stable")[:most].tolist() for score in scores]
        return list(dict.fromkeys(place for pair in zip(*ranks, strict=True) for place in pair))


class BestClauses:
    """The clauses of one structure that a program may be made of: the best by some scores."""

    def __init__(self, search: Search, groups: tuple[str, ...], target: Target) -> None:
        self.search, self.groups = search, groups
        most = int(count_bits(target.positive))
        first = float(target.savings[1]) if most else 1.0
        self.scores = ((first, 1.0), (first, 4.0), (first / 3, 1.0))
        """The price of an example that is set right, and how many of these one that is set wrong is worth."""
        self.by_score: list[dict[bytes, tuple[float, tuple[Step, ...], float, Array]]] = [{} for _ in self.scores]
        self.floors = [0.0] * len(self.scores)

    def look(self, grown: Refinements) -> None:
        """Keep what is among the best by some score."""
        for which, (price, weight) in enumerate(self.scores):
            score = price * (grown.pos - weight * grown.neg) - grown.bits
            best = self.by_score[which]
            for row in np.flatnonzero(score > self.floors[which]).tolist():
                covers = grown.covers[row]
                key, value = covers.tobytes(), float(score[row])
                if key not in best or best[key][0] < value:
                    best[key] = (value, grown.steps(row), float(grown.bits[row]), covers.copy())
            if len(best) > 4 * POOL:
                self._trim(which)

    def _trim(self, which: int) -> None:
        best = sorted(self.by_score[which].items(), key=lambda item: -item[1][0])[:POOL]
        self.by_score[which] = dict(best)
        self.floors[which] = best[-1][1][0] if len(best) == POOL else self.floors[which]

    def into(self, pool: CandidatePool) -> None:
        """Add what was kept to a pool."""
        for which in range(len(self.by_score)):
            self._trim(which)
            for _, steps, bits, covers in self.by_score[which].values():
                body = tuple(PlacedLiteral(self.search.bias.literals[number], places) for number, places in steps)
                pool.add(Candidate(IlpClause(self.groups, body), bits, covers))
