"""Bindings (unification with a trail, copies, the standard order of terms), and what a proof may use up."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cmp_to_key
from pathlib import Path
from typing import Any

from assay.prolog.terms import NIL, PAIR, PrologError, Term, Text, Tick, Variable, deref, items_of

BETWEEN_LOOKS = 2_000
"""How many inferences are made between two looks at the clock."""
STATUS = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ProofLimits:
    """What a rule may use up.

    `seconds`       wall time for each 10,000 worlds that are labelled in one call
    `inferences`    predicate calls for one world, and steps of work inside built-in ones
    `depth`         goals that wait on one another
    `parts`         parts of terms that built-in predicates build for one world
    `megabytes`     by which this process may grow
    """

    seconds: float = 60.0
    inferences: int = 1_000_000
    depth: int = 40_000
    parts: int = 2_000_000
    megabytes: int = 1_000

    def __post_init__(self) -> None:
        if min(self.seconds, self.inferences, self.parts, self.megabytes) <= 0 or not 0 < self.depth <= 200_000:
            raise PrologError(f"limits must be above 0, and depth at most 200000, not {self}")

    def time_for(self, worlds: int) -> float:
        """Return how many seconds so many worlds may take."""
        return self.seconds * max(1, -(-worlds // 10_000))


class Meter:
    """Counts inferences, and raises where a limit is passed; `left[0]` is what remains until the next look."""

    def __init__(self, limits: ProofLimits, rule: str) -> None:
        self.limits = limits
        self.rule = rule
        self.left = [0]
        self.granted = 0
        self.used = 0
        self.built = 0
        self.restart()

    def start(self) -> None:
        """Begin to count for one world."""
        self.used = self.built = 0
        self.granted = self.left[0] = min(BETWEEN_LOOKS, self.limits.inferences)

    def restart(self, worlds: int = 1) -> None:
        """Begin the time of a call that labels so many worlds."""
        self.seconds = self.limits.time_for(worlds)
        self.ends = time.monotonic() + self.seconds
        self.before = megabytes_used()

    def build(self, parts: int) -> None:
        """Count parts of terms, and raise where there are too many."""
        self.built += parts
        if self.built > self.limits.parts:
            raise self.limit_error(f"the limit of {self.limits.parts:,} parts of terms for one world")

    def look(self) -> None:
        """Raise if a limit is passed, else let it run on."""
        self.used += self.granted - self.left[0]
        if time.monotonic() > self.ends:
            raise self.limit_error(f"the time limit of {self.seconds:g} seconds")
        if self.used >= self.limits.inferences:
            raise self.limit_error(f"the limit of {self.limits.inferences:,} inferences for one world")
        if megabytes_used() - self.before > self.limits.megabytes:
            raise self.limit_error(f"the memory limit of {self.limits.megabytes:,} MB")
        self.granted = self.left[0] = min(BETWEEN_LOOKS, self.limits.inferences - self.used)

    def limit_error(self, limit: str) -> PrologError:
        """Return the error that says which rule was stopped, and by what."""
        return PrologError(f"rule {self.rule} was stopped at {limit}; it may loop")


def megabytes_used() -> float:
    """Return the memory of this process; 0 where the system does not say."""
    try:
        return int(STATUS.read_bytes().split()[1]) * PAGE / 1e6
    except OSError:
        return 0.0


class Store:
    """The trail of bound variables, so that they can be unbound again."""

    def __init__(self, meter: Meter) -> None:
        self.trail: list[Variable] = []
        self.meter = meter
        self.order = cmp_to_key(self.compare)
        """A key that sorts terms in the standard order."""

    def undo(self, mark: int) -> None:
        """Unbind what was bound since the trail had this length."""
        trail = self.trail
        while len(trail) > mark:
            trail.pop().ref = None

    def unify(self, left: Term, right: Term) -> bool:
        """Make two terms equal, binding variables; where it fails some may stay bound until `undo`."""
        while True:
            while type(left) is Variable and left.ref is not None:
                left = left.ref
            while type(right) is Variable and right.ref is not None:
                right = right.ref
            if left is right:
                return True
            if type(left) is Variable:
                left.ref = right
                self.trail.append(left)
                return True
            if type(right) is Variable:
                right.ref = left
                self.trail.append(right)
                return True
            if type(left) is not tuple or type(right) is not tuple:
                return type(left) is type(right) and bool(left == right)
            if len(left) != len(right) or left[0] != right[0]:
                return False
            self.step()
            for place in range(1, len(left) - 1):
                if not self.unify(left[place], right[place]):
                    return False
            left, right = left[-1], right[-1]

    def step(self, work: int = 1) -> None:
        """Count work inside one inference, such as a large unification, which could go on for ever on a cyclic term."""
        left = self.meter.left
        left[0] -= work
        if left[0] < 0:
            self.meter.look()

    def items(self, term: Term) -> Iterator[Term]:
        """Give the items of a proper list, each of which counts as work."""
        for item in items_of(term):
            self.step()
            yield item

    def compare(self, left: Term, right: Term) -> int:
        """Return -1, 0 or 1 by the standard order."""
        return compare(left, right, self.step)

    def in_order(self, terms: list[Term], distinct: bool) -> list[Term]:
        """Return terms in standard order, equal ones once if `distinct`."""
        ordered = sorted(terms, key=self.order)
        if not distinct:
            return ordered
        return [term for place, term in enumerate(ordered) if place == 0 or self.compare(ordered[place - 1], term)]

    def copy(self, term: Term) -> Term:
        """Return a term with new variables and all bindings filled in; what it shares, the copy shares."""
        term = deref(term)
        if type(term) is not tuple and type(term) is not Variable:
            return term
        return self._copy(term, {})

    def _copy(self, term: Term, copies: dict[int, Term]) -> Term:
        term = deref(term)
        if type(term) is Variable:
            if id(term) not in copies:
                copies[id(term)] = Variable()
            return copies[id(term)]
        if type(term) is not tuple:
            return term
        if id(term) in copies:
            return self._known(copies[id(term)])
        self.build()
        if term[0] != PAIR or len(term) != 3:
            copies[id(term)] = None
            copies[id(term)] = copied = (term[0], *[self._copy(part, copies) for part in term[1:]])
            return copied
        return self._copy_list(term, copies)

    def _copy_list(self, term: Term, copies: dict[int, Term]) -> Term:
        """Return the copy of a list, however long, without going deeper."""
        cells, heads = [], []
        while type(term) is tuple and len(term) == 3 and term[0] == PAIR and id(term) not in copies:
            self.build()
            copies[id(term)] = None
            cells.append(id(term))
            heads.append(self._copy(term[1], copies))
            term = deref(term[2])
        copied = NIL if term == NIL else self._copy(term, copies)
        for cell, head in zip(reversed(cells), reversed(heads), strict=True):
            copies[cell] = copied = (PAIR, head, copied)
        return copied

    @staticmethod
    def _known(copied: Term) -> Term:
        if copied is None:  # it is under way: the term holds itself
            raise PrologError("a cyclic term cannot be copied")
        return copied

    def build(self, parts: int = 1) -> None:
        """Count parts of terms that are built inside one inference."""
        self.step(parts)
        self.meter.build(parts)


def rank(term: Term) -> int:
    """Return where a kind of term comes in the standard order."""
    if type(term) is Variable:
        return 0
    if type(term) is tuple:
        return 4
    return 3 if type(term) is Text else 2 if type(term) is str else 1


def compare(left: Term, right: Term, tick: Tick) -> int:
    """Return -1, 0 or 1 by the standard order: variables, numbers, atoms, texts, compounds."""
    while True:
        tick()
        left, right = deref(left), deref(right)
        if left is right:
            return 0
        rank_left, rank_right = rank(left), rank(right)
        if rank_left != rank_right:
            return -1 if rank_left < rank_right else 1
        if rank_left != 4:
            return _atomic(left, right, rank_left)
        here, there = (len(left), left[0]), (len(right), right[0])
        if here != there:
            return -1 if here < there else 1
        for place in range(1, len(left) - 1):
            if sign := compare(left[place], right[place], tick):
                return sign
        left, right = left[-1], right[-1]


def _atomic(left: Any, right: Any, kind: int) -> int:
    if kind == 0:
        return -1 if id(left) < id(right) else 1
    if left == right:
        if type(left) is type(right):
            return 0
        return -1 if type(left) is float else 1
    return -1 if left < right else 1
