"""Which clauses make the program: the fewest bits for clauses and for the examples that they leave wrong.

The bits of a program are those of its clauses and log2 of the number of ways to choose which examples are exceptions.
The latter grows ever more slowly with their number, so that the best program is also best for some fixed price of an
exception: each of a few prices is solved as a set cover (greedily with exchanges, then by mixed-integer programming
where that is small enough), and the bits decide among the answers. Noise is thus neither forbidden nor free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from assay.base import Array
from assay.models.symbolic.examples import WORD, count_bits, unpack_bits
from assay.models.symbolic.ilp.search import Candidate, Clock, choose_bits

MOST_EXACT = 150
"""The most clauses that programs are made of by integer programming."""
LONGEST = 3.0
"""The most seconds for integer programming."""
HOPE = 1.5
"""How much more than it saves alone a clause may save together with others, as far as is hoped for."""
EXCHANGES = 200
MOST_ROWS = 20_000
"""The most rows of an integer program."""


@dataclass(frozen=True, eq=False)
class Theory:
    """Some clauses, which examples they cover, and what they cost."""

    clauses: tuple[Candidate, ...]
    covers: Array
    errors: int
    bits: float
    proved: bool = False


class CoverSolver:
    """Chooses clauses for some examples."""

    def __init__(self, positive: Array, negative: Array, most: int) -> None:
        self.positive = positive
        self.negative = negative
        self.most = most
        self.size = int(count_bits(positive) + count_bits(negative))

    @property
    def least(self) -> float:
        """The bits of a program of one clause that has no exceptions, but for those of the clause."""
        return 1.0 + self.exceptions(0)

    def savings(self, best: Theory, most: int) -> Array:
        """Return how many bits it saves a program to have 0, 1, ... more examples right, at the very most."""
        rest = [best.errors - number for number in range(most + 1)]
        saved = np.array([self.exceptions(best.errors) - self.exceptions(max(number, 0)) for number in rest])
        price = self.exceptions(1) - self.exceptions(0)
        return np.minimum(HOPE * saved, price * np.arange(most + 1)) if best.clauses else price * np.arange(most + 1)

    def theory(self, clauses: Sequence[Candidate], proved: bool = False) -> Theory:
        """Return clauses with what they cost together."""
        covers = np.zeros_like(self.positive)
        for clause in clauses:
            covers = covers | clause.covers
        errors = int(count_bits(self.positive & ~covers) + count_bits(self.negative & covers))
        bits = sum(clause.bits for clause in clauses) + log2(1 + len(clauses)) + self.exceptions(errors)
        return Theory(tuple(clauses), covers, errors, bits, proved)

    def without_each(self, theory: Theory) -> list[Theory]:
        """Return a program without its first clause, without its second, and so on."""
        clauses = theory.clauses
        return [self.theory(clauses[:at] + clauses[at + 1 :]) for at in range(len(clauses))]

    def exceptions(self, errors: int) -> float:
        """Return the bits that say which examples are exceptions."""
        most = self.size // 2
        return log2(self.size + 1) + choose_bits(min(errors, most), self.size) + max(errors - most, 0)

    def prices(self) -> list[float]:
        """Return prices of an exception, from those of many exceptions to those of the first."""
        numbers = sorted({0, 1, 3, *(round(self.size * share) for share in (0.01, 0.03, 0.1, 0.2, 0.3))})
        return sorted(
            {self.exceptions(n + 1) - self.exceptions(n) for n in numbers if n + 1 <= self.size // 2} or {1.0}
        )

    def best(self, pool: Sequence[Candidate], clock: Clock, known: Theory) -> Theory:
        """Return the program with the fewest bits that is found greedily, or the one that is known."""
        theories = [known]
        for price in reversed(self.prices()):
            if clock.over and len(theories) > 1:
                break
            theories.append(self.theory(self._greedy(pool, price, clock)))
        return min(theories, key=lambda theory: theory.bits)

    def _greedy(self, pool: Sequence[Candidate], price: float, clock: Clock) -> list[Candidate]:
        """Return clauses taken one by one, then exchanged as long as that pays."""
        if not pool:
            return []
        covers, bits = np.stack([clause.covers for clause in pool]), np.array([clause.bits for clause in pool])
        chosen: list[int] = []
        for _ in range(EXCHANGES):
            move = self._move(covers, bits, chosen, price)
            if move is None or clock.over:
                break
            chosen = move
        return [pool[place] for place in chosen]

    def _move(self, covers: Array, bits: Array, chosen: list[int], price: float) -> list[int] | None:
        """Return the choice after the best addition, omission or exchange; None if none pays."""
        best, gain = None, 1e-9
        now = self._cost(covers, bits, chosen, price)
        for left_out in [None, *range(len(chosen))]:
            rest = chosen if left_out is None else chosen[:left_out] + chosen[left_out + 1 :]
            base = self._cost(covers, bits, rest, price)
            if now - base > gain:
                best, gain = rest, now - base
            if len(rest) >= self.most:
                continue
            covered = np.bitwise_or.reduce(covers[rest], axis=0) if rest else np.zeros_like(self.positive)
            new = covers & ~covered
            saved = price * (count_bits(new & self.positive) - count_bits(new & self.negative)) - bits
            at = int(saved.argmax())
            if now - base + saved[at] > gain:
                best, gain = [*rest, at], now - base + float(saved[at])
        return best

    def _cost(self, covers: Array, bits: Array, chosen: list[int], price: float) -> float:
        covered = np.bitwise_or.reduce(covers[chosen], axis=0) if chosen else np.zeros_like(self.positive)
        wrong = count_bits(self.positive & ~covered) + count_bits(self.negative & covered)
        return float(bits[chosen].sum() + price * wrong)

    def prove(self, pool: Sequence[Candidate], clock: Clock, best: Theory) -> Theory:
        """Return the best program at the price that the number of exceptions suggests, by integer programming."""
        if clock.left < 0.5 or not pool:
            return best
        price = self.exceptions(best.errors + 1) - self.exceptions(best.errors)
        chosen = self._promising(pool, best, price)
        candidates = drop_dominated([pool[place] for place in chosen], self.positive, self.negative)
        problem = SetCover(candidates, self.positive, self.negative, price, self.most)
        places, sure = problem.solve(min(clock.left / 2, LONGEST))
        if places is None:
            return best
        theory = self.theory([candidates[place] for place in places], sure and len(chosen) == len(pool))
        return theory if theory.bits <= best.bits + 1e-9 else best

    def _promising(self, pool: Sequence[Candidate], best: Theory, price: float) -> list[int]:
        """Return the clauses that save most alone, with the best program, or with it but for one of its clauses."""
        covers, bits = np.stack([clause.covers for clause in pool]), np.array([clause.bits for clause in pool])
        bases = [self.theory(()), best, *self.without_each(best)]
        promising: list[int] = []
        for base in bases:
            new = covers & ~base.covers
            saved = price * (count_bits(new & self.positive) - count_bits(new & self.negative)) - bits
            promising += np.argsort(-saved, kind="stable")[: MOST_EXACT // len(bases)].tolist()
        return list(dict.fromkeys(promising))


def drop_dominated(pool: Sequence[Candidate], positive_bits: Array, negative_bits: Array) -> list[Candidate]:
    """Return the clauses of which no other covers as many of the positive, as few of the negative, for as few bits."""
    ranked = sorted(pool, key=lambda clause: clause.bits)
    if not ranked:
        return []
    positive = np.stack([clause.covers & positive_bits for clause in ranked])
    negative = np.stack([clause.covers & negative_bits for clause in ranked])
    undominated: list[int] = []
    for place in range(len(ranked)):
        if undominated:
            more = (positive[place] & ~positive[undominated]).any(axis=1)
            fewer = (negative[undominated] & ~negative[place]).any(axis=1)
            if not (more | fewer).all():
                continue
        undominated.append(place)
    return [ranked[place] for place in undominated]


@dataclass(frozen=True, eq=False)
class SetCover:
    """A set cover: which clauses cost least together with their errors, at a price for each of these."""

    pool: Sequence[Candidate]
    positive: Array
    negative: Array
    price: float
    most: int

    def solve(self, seconds: float) -> tuple[list[int] | None, bool]:
        """Return the clauses chosen, and whether no choice is better.

        A variable for each clause, and one for each set of examples that the same clauses cover: whether it is wrong.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, eye_array, hstack

        (missed, few), (hit, many) = self._columns(self.positive), self._columns(self.negative)
        clause, row = np.nonzero(hit)
        if len(row) > MOST_ROWS or missed.shape[1] > MOST_ROWS:
            return None, False
        number, pos, neg, pairs = len(self.pool), len(few), len(many), np.arange(len(row))
        there = csr_array((np.ones(len(row)), (pairs, clause)), shape=(len(row), number))
        wrong = csr_array((np.ones(len(row)), (pairs, row)), shape=(len(row), neg))
        right = hstack([csr_array(missed.T.astype(float)), eye_array(pos), csr_array((pos, neg))])
        whole = np.concatenate([np.ones(number), np.zeros(pos + neg)])
        limits = [LinearConstraint(whole[None], ub=float(self.most)), LinearConstraint(right, lb=1.0)]
        if len(row):
            limits.append(LinearConstraint(hstack([-there, csr_array((len(row), pos)), wrong]), lb=0.0))
        cost = np.concatenate([[candidate.bits for candidate in self.pool], self.price * few, self.price * many])
        solution = milp(
            cost, integrality=whole, bounds=Bounds(0.0, 1.0), constraints=limits, options={"time_limit": seconds}
        )
        if solution.x is None:
            return None, False
        return [int(place) for place in np.flatnonzero(solution.x[:number] > 0.5)], solution.status == 0

    def _columns(self, wanted: Array) -> tuple[Array, Array]:
        """Return the sets of clauses that cover some of the wanted examples, and how many each."""
        size = len(wanted) * WORD
        covers = np.stack([unpack_bits(candidate.covers, size) for candidate in self.pool])
        columns, counts = np.unique(covers[:, unpack_bits(wanted, size)], axis=1, return_counts=True)
        return columns, counts
