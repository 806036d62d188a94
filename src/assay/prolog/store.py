"""Bindings: unification with a trail, copies, and the standard order of terms."""

from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

from assay.prolog.limits import Meter
from assay.prolog.terms import NIL, PAIR, PrologError, Term, Text, Tick, Variable, deref, items_of


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
