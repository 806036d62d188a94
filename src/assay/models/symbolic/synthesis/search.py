"""The search: programs in order of cost, until no cheaper one can explain the examples.

Level by level, programs of the bank are joined into dearer ones; one that holds in the same examples as a cheaper one
is dropped. Beside that, each level is *closed* against the target: of all programs that hold wherever the target does,
two whose conjunction is the target; of all that hold only where it does, two whose disjunction is; and for any program
the one that makes up the difference. So only half of the target's program has to be enumerated, and of the version
space only what can be part of an explanation is ever looked at.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from assay.base import Array
from assay.logic import Const, Formula
from assay.models.symbolic.bits import count_bits, pack_bits
from assay.models.symbolic.synthesis.bank import AND, LEAF, NOT, OR, XOR, Bank, ProgramBatch, join, keys_of, negate
from assay.models.symbolic.synthesis.language import Costs
from assay.models.symbolic.synthesis.leaves import UNITS, LeafBlock, units

ROWS = 1 << 20
"""How many programs are joined at a time."""
RIVALS = 5
NEAR = 800
"""How many programs that miss the target a little are tried in pairs."""
WEIGHTS = {AND: (1.0, 0.25), OR: (0.25, 1.0), XOR: (1.0, 1.0)}
"""The weights of false negatives and false positives of one part of a pair: the other part may correct one of them."""


@dataclass(frozen=True)
class SearchBudget:
    """When to stop: after so many seconds, or with so many programs in the bank."""

    seconds: float = 300.0
    programs: int = 300_000
    error_bits: float | None = None
    """What an example costs that a program has wrong; by default two bits and log2 of their number."""


@dataclass(frozen=True)
class ProgramCandidate:
    """A program with its cost in bits and how many examples it has wrong."""

    formula: Formula
    bits: float
    errors: int = 0


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: the best program, costlier ones that also explain the examples, and statistics."""

    best: ProgramCandidate
    rivals: tuple[ProgramCandidate, ...]
    programs: int
    seconds: float
    complete: bool
    """Whether no cheaper program explains the examples: the search did not end for want of time or room."""


@dataclass
class _Known:
    """The explanations found so far: operation, operands, and cost in units."""

    explanations: list[tuple[int, int, int, int, int, bool]] = field(default_factory=list)

    def add(self, cost: int, operation: int, left: int, right: int, turned: bool = False) -> None:
        self.explanations.append((cost, len(self.explanations), operation, left, right, turned))

    @property
    def least(self) -> int:
        return min((explanation[0] for explanation in self.explanations), default=1 << 40)


class _Target:
    """Where a program must hold, and the programs of the bank that hold at least there, or nowhere else."""

    def __init__(self, words: Array) -> None:
        self.words = words
        self.above: Array = np.zeros(0, dtype=np.int64)
        self.below: Array = np.zeros(0, dtype=np.int64)

    def take_in(self, words: Array, numbers: Array) -> None:
        """Sort new programs into those above and those below."""
        above = ((words & self.words) == self.words).all(axis=1)
        below = ((words & ~self.words) == 0).all(axis=1)
        self.above = np.concatenate([self.above, numbers[above]])
        self.below = np.concatenate([self.below, numbers[below]])


class ProgramSearch:
    """One search: leaves, a target, costs and a budget."""

    def __init__(self, blocks: list[LeafBlock], target: Array, costs: Costs, budget: SearchBudget) -> None:
        self.budget, self.size = budget, len(target)
        self.target = pack_bits(target[None, :])[0]
        self.all = pack_bits(np.ones((1, len(target)), dtype=bool))[0]
        self.prices = {NOT: units(costs.negation), AND: units(costs.conj), OR: units(costs.disj), XOR: units(costs.xor)}
        self.bank = Bank(blocks, len(self.target))
        self.known = _Known()
        self.start = time.perf_counter()
        opposite = self.all & ~self.target
        self.targets = ((_Target(self.target), 0), (_Target(opposite), self.prices[NOT]))

    def run(self) -> SearchResult:
        """Search until the cheapest explanation is known, or the budget is spent."""
        self._leaves_that_fit()
        cheapest = cost = min(int(block.costs[0]) for block in self.bank.blocks)
        dearest = max(int(block.costs[-1]) for block in self.bank.blocks)
        complete = False
        while not complete and not self.is_out_of_budget():
            level = self.bank.add_level(cost, list(self._of_cost(cost)))
            for target, extra in self.targets:
                self._close(target, extra, level, cost)
            cost += 1
            complete = cost + cheapest + min(self.prices.values()) > self.known.least
            if cost > max(dearest, 2 * int(self.bank.costs[-1]) + max(self.prices.values())):
                complete = True  # there are no other programs
        return self._result(complete)

    def _leaves_that_fit(self) -> None:
        """Record the leaves that explain the examples by themselves, or negated."""
        for number, block in enumerate(self.bank.blocks):
            for target, extra in self.targets:
                for row in np.flatnonzero((block.words == target.words).all(axis=1))[: RIVALS + 1].tolist():
                    self.known.add(int(block.costs[row]) + extra, LEAF, number, row, extra > 0)

    def is_out_of_budget(self) -> bool:
        """Return whether time or room is used up."""
        return len(self.bank) >= self.budget.programs or time.perf_counter() - self.start > self.budget.seconds

    def _of_cost(self, cost: int) -> Iterator[ProgramBatch]:
        """Give all programs of one cost: leaves, then what can be made of cheaper ones."""
        for number, block in enumerate(self.bank.blocks):
            rows = block.of_cost(cost)
            if rows.stop > rows.start:
                places = np.arange(rows.start, rows.stop)
                yield ProgramBatch(block.words[rows], LEAF, np.full(len(places), number), places)
        body = self.bank.levels.get(cost - self.prices[NOT])
        if body is not None and body.stop > body.start:
            bodies = np.arange(body.start, body.stop)
            yield ProgramBatch(self.all & ~self.bank.words[body], NOT, bodies, bodies)
        for operation in (AND, OR, XOR):
            yield from self._pairs(cost - self.prices[operation], operation)

    def _pairs(self, cost: int, operation: int) -> Iterator[ProgramBatch]:
        """Give all programs that join two whose costs add up to this."""
        for own_cost, level in list(self.bank.levels.items()):
            other = self.bank.levels.get(cost - own_cost)
            if other is None or 2 * own_cost > cost or level.stop == level.start or other.stop == other.start:
                continue
            step = max(1, ROWS // (other.stop - other.start))
            for first in range(level.start, level.stop, step):
                if self.is_out_of_budget():
                    return
                left, right = np.arange(first, min(first + step, level.stop)), np.arange(other.start, other.stop)
                a, b = np.repeat(left, len(right)), np.tile(right, len(left))
                if level == other:
                    a, b = a[a < b], b[a < b]
                yield ProgramBatch(_applied(operation, self.bank.words[a], self.bank.words[b]), operation, a, b)

    # -- closing against the target --------------------------------------------------------------------------------

    def _close(self, target: "_Target", extra: int, level: slice, cost: int) -> None:
        """Note every explanation that joins a program of this level with one of the bank."""
        words, new = self.bank.words[level], np.arange(level.start, level.stop)
        target.take_in(words, new)
        self._close_with(AND, target, target.above, level.start, cost + extra)
        self._close_with(OR, target, target.below, level.start, cost + extra)
        if extra:  # what differs from the opposite is what is like the target
            return
        partners = self.bank.find(keys_of(words ^ target.words))
        for place in np.flatnonzero((partners >= 0) & (partners < new)).tolist():
            partner = int(partners[place])
            whole = cost + int(self.bank.costs[partner]) + self.prices[XOR]
            if whole <= self.known.least + RIVALS * UNITS:
                self.known.add(whole, XOR, partner, int(new[place]))

    def _close_with(self, operation: int, target: "_Target", fitting: Array, start: int, cost: int) -> None:
        words, costs = self.bank.words[fitting], self.bank.costs[fitting]
        turned = target is not self.targets[0][0]
        for place in range(int(np.searchsorted(fitting, start)), len(fitting)):
            limit = self.known.least + RIVALS * UNITS - cost - self.prices[operation]
            end = min(place, int(np.searchsorted(costs, limit, side="right")))
            joined = _applied(operation, words[:end], words[place])
            for hit in np.flatnonzero((joined == target.words).all(axis=1))[: RIVALS + 1].tolist():
                whole = cost + int(costs[hit]) + self.prices[operation]
                self.known.add(whole, operation, int(fitting[hit]), int(fitting[place]), turned)
            if not place % 256 and self.is_out_of_budget():
                return

    # -- what was found --------------------------------------------------------------------------------------------

    def _result(self, complete: bool) -> SearchResult:
        ranked = sorted(self.known.explanations)
        candidates = [
            ProgramCandidate(self._formula(*explanation[2:]), explanation[0] / UNITS)
            for explanation in ranked[: RIVALS + 1]
        ]
        if not candidates:
            candidates = [self._nearest()]
        seconds = time.perf_counter() - self.start
        return SearchResult(candidates[0], tuple(candidates[1:]), len(self.bank), seconds, complete)

    def _formula(self, operation: int, left: int, right: int, turned: bool) -> Formula:
        formula = self.bank.build_formula(operation, left, right)
        return negate(formula) if turned else formula

    def _nearest(self) -> ProgramCandidate:
        """Return the program that is the shortest account of the examples: its cost and that of what it has wrong.

        Leaves and programs of the bank are tried by themselves, and in pairs those that miss little of what matters.
        """
        price = self.budget.error_bits
        wrong = units(np.log2(max(2, self.size)) + 2 if price is None else price)
        blocks = self.bank.blocks
        words = np.concatenate([self.bank.words, *(block.words for block in blocks)])
        costs = np.concatenate([self.bank.costs, *(block.costs for block in blocks)])
        missing, extra = count_bits(~words & self.target), count_bits(words & ~self.target)
        never = int(count_bits(self.target[None, :])[0])
        worth = costs + wrong * (missing + extra)
        first = int(worth.argmin())
        best = (int(worth[first]), -1, first, first, int(missing[first] + extra[first]))
        for operation, (of_missing, of_extra) in WEIGHTS.items():
            near = np.argsort(costs + wrong * (of_missing * missing + of_extra * extra), kind="stable")[:NEAR]
            near_words, prices = words[near], costs[near] + self.prices[operation]
            for place in range(1, len(near)):
                errors = count_bits(_applied(operation, near_words[:place], near_words[place]) ^ self.target)
                whole = prices[:place] + costs[near[place]] + wrong * errors
                hit = int(whole.argmin())
                if whole[hit] < best[0]:
                    best = (int(whole[hit]), operation, int(near[hit]), int(near[place]), int(errors[hit]))
        if never * wrong <= best[0]:
            return ProgramCandidate(Const(False), 0.0, never)
        whole_cost, operation, left, right, errors_made = best
        parts = self._of_pool(left), self._of_pool(right)
        formula = parts[0] if operation < 0 else join(operation, *parts)
        return ProgramCandidate(formula, (whole_cost - errors_made * wrong) / UNITS, errors_made)

    def _of_pool(self, number: int) -> Formula:
        """Return a program of the bank, or of the leaves that follow it."""
        if number < len(self.bank):
            return self.bank.formula(number)
        number -= len(self.bank)
        for block in self.bank.blocks:
            if number < len(block.words):
                return block.make(number)
            number -= len(block.words)
        raise IndexError(number)


def _applied(operation: int, left: Array, right: Array) -> Array:
    if operation == AND:
        return left & right
    return left | right if operation == OR else left ^ right
