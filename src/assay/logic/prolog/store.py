"""Bindings: unification with a trail, copies, and the standard order of terms."""

from functools import cmp_to_key
from typing import Any

from assay.logic.prolog.limits import Meter
from assay.logic.prolog.terms import NIL, PAIR, Term, Text, Variable, deref


class Store:
    """The trail of bound variables, so that they can be unbound again."""

    def __init__(self, meter: Meter) -> None:
        self.trail: list[Variable] = []
        self.meter = meter

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

    def copy(self, term: Term, fresh: dict[int, Variable] | None = None) -> Term:
        """Return a term with new variables and all bindings filled in."""
        term = deref(term)
        if type(term) is not tuple and type(term) is not Variable:
            return term
        return self._copy(term, {} if fresh is None else fresh)

    def _copy(self, term: Term, fresh: dict[int, Variable]) -> Term:
        term = deref(term)
        if type(term) is Variable:
            if id(term) not in fresh:
                fresh[id(term)] = Variable()
            return fresh[id(term)]
        if type(term) is not tuple:
            return term
        self.step()
        if term[0] != PAIR or len(term) != 3:
            return (term[0], *[self._copy(part, fresh) for part in term[1:]])
        heads = []
        while type(term) is tuple and len(term) == 3 and term[0] == PAIR:
            self.step()
            heads.append(self._copy(term[1], fresh))
            term = deref(term[2])
        copied = NIL if term == NIL else self._copy(term, fresh)
        for head in reversed(heads):
            copied = (PAIR, head, copied)
        return copied


def rank(term: Term) -> int:
    """Return where a kind of term comes in the standard order."""
    if type(term) is Variable:
        return 0
    if type(term) is tuple:
        return 4
    return 3 if type(term) is Text else 2 if type(term) is str else 1


def compare(left: Term, right: Term) -> int:
    """Return -1, 0 or 1 by the standard order: variables, numbers, atoms, texts, compounds."""
    while True:
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
            if sign := compare(left[place], right[place]):
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


ORDER = cmp_to_key(compare)


def in_order(terms: list[Term], distinct: bool) -> list[Term]:
    """Return terms in standard order, equal ones once if `distinct`."""
    ordered = sorted(terms, key=ORDER)
    if not distinct:
        return ordered
    return [term for place, term in enumerate(ordered) if place == 0 or compare(ordered[place - 1], term)]
