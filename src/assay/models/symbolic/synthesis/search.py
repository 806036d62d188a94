"""The search: programs in order of cost, until no cheaper one can explain the examples.

The bank has the programs found so far, in order of cost, no two of which hold in the same examples. Level by level they
are joined into dearer ones. Beside that, each level is *closed* against the target: of all programs that hold wherever
the target does, two whose conjunction is the target; of all that hold only where it does, two whose disjunction is; and
for any program the one that makes up the difference. So only half of the target's program has to be enumerated, and of
the version space only what can be part of an explanation is ever looked at.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.base import GOLDEN, Array
from assay.logic import And, Compare, Const, Formula, Not, Operator, Or, Quantified, Xor
from assay.models.symbolic.examples import count_bits, pack_bits
from assay.models.symbolic.synthesis.language import UNITS, Costs, LeafBlock, units

LEAF, NOT, AND, OR, XOR = range(5)
MIX = np.uint64(GOLDEN)
ROWS = 1 << 20
"""How many programs are joined at a time."""
RIVALS = 5
NEAR = 800
"""How many programs that miss the target a little are tried in pairs."""
WEIGHTS = {AND: (1.0, 0.25), OR: (0.25, 1.0), XOR: (1.0, 1.0)}
"""The weights of false negatives and false positives of one part of a pair: the other part may correct one of them."""


# -- the bank ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgramBatch:
    """Programs of one form that are to be taken in: bits, the operation, and what it is applied to.

    For leaves, `left` is the number of the block and `right` the row in it.
    """

    words: Array
    operation: int
    left: Array
    right: Array

    def take(self, rows: Array) -> "ProgramBatch":
        """Return some of the programs."""
        return ProgramBatch(self.words[rows], self.operation, self.left[rows], self.right[rows])


def keys_of(words: Array) -> Array:
    """Return a number for each row of words that stands for it: the word itself, or a mixture of several."""
    if words.shape[1] == 1:
        return words[:, 0]
    mixed = np.zeros(len(words), dtype=np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed


class Bank:
    """Programs in order of cost, each the first that was found to hold in its examples."""

    def __init__(self, blocks: Sequence[LeafBlock], width: int) -> None:
        self.blocks = blocks
        self.words = np.zeros((0, width), dtype=np.uint64)
        self.costs = np.zeros(0, dtype=np.int64)
        self.levels: dict[int, slice] = {}
        self._origins: list[tuple[int, int, Array, Array]] = []
        self._runs: list[tuple[Array, Array]] = []

    def __len__(self) -> int:
        return len(self.costs)

    def add_level(self, cost: int, batches: Sequence[ProgramBatch]) -> slice:
        """Take in programs of one cost, but for those that hold in the examples of another; return where they are."""
        start, new = len(self), list[Array]()
        for batch in batches:
            fresh = batch.take(self._fresh(batch.words))
            if len(fresh.words):
                place = start + sum(len(words) for words in new)
                self._origins.append((place, fresh.operation, fresh.left, fresh.right))
                self._remember(keys_of(fresh.words), place)
                new.append(fresh.words)
        if new:
            self.words = np.concatenate([self.words, *new])
            self.costs = np.concatenate([self.costs, np.full(len(self.words) - start, cost)])
        self.levels[cost] = slice(start, len(self))
        return self.levels[cost]

    def _fresh(self, words: Array) -> Array:
        """Return the rows that are like none in the bank, nor like an earlier row, in order."""
        keys = keys_of(words)
        _, first = np.unique(keys, return_index=True)
        first.sort()
        return first[self.find(keys[first]) < 0] if len(first) else first

    def find(self, keys: Array) -> Array:
        """Return the number of the program with each key, -1 where there is none."""
        numbers = np.full(len(keys), -1, dtype=np.int64)
        for run, places in self._runs:
            at = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            hit = run[at] == keys
            numbers[hit] = places[at[hit]]
        return numbers

    def _remember(self, keys: Array, start: int) -> None:
        order = np.argsort(keys)
        self._runs.append((keys[order], order + start))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            (last, places), (previous, more) = self._runs.pop(), self._runs.pop()
            both, numbers = np.concatenate([last, previous]), np.concatenate([places, more])
            order = np.argsort(both, kind="stable")
            self._runs.append((both[order], numbers[order]))

    def formula(self, number: int) -> Formula:
        """Return a program as a formula."""
        starts = [origin[0] for origin in self._origins]
        start, operation, left, right = self._origins[int(np.searchsorted(starts, number, side="right")) - 1]
        return self.build_formula(operation, int(left[number - start]), int(right[number - start]))

    def build_formula(self, operation: int, left: int, right: int) -> Formula:
        """Return the formula of an operation on programs of the bank."""
        if operation == LEAF:
            return self.blocks[left].make(right)
        if operation == NOT:
            return negate(self.formula(left))
        return join(operation, self.formula(left), self.formula(right))


def negate(body: Formula) -> Formula:
    """Return "not", written as a comparison where it can be.

    >>> from assay.logic import parse
    >>> negate(parse("a >= 1")), negate(parse("a and b"))
    (<a < 1>, <not (a and b)>)
    """
    opposite: dict[Operator, Operator] = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    if isinstance(body, Compare) and not isinstance(body.left, Quantified):
        if body.operator == ">=" and body.right == Const(1):
            return Compare("<", body.left, body.right)
        return Compare(opposite[body.operator], body.left, body.right)
    return Not(body)


def join(operation: int, left: Formula, right: Formula) -> Formula:
    """Return two programs joined, without brackets in brackets."""
    if operation == XOR:
        return Xor((left, right))
    kind: type[And] | type[Or] = And if operation == AND else Or
    parts = [part for program in (left, right) for part in (program.parts if isinstance(program, kind) else (program,))]
    return kind(tuple(parts))


# -- the search --------------------------------------------------------------------------------------------------------


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
