"""Worlds as one Prolog term each, by a template that a task declares: V-LoL's `[c(1, rectangle, short, ...), ...]`.

In a template `{name}` stands for the value of a concept, and `{each(cars, c({colour}, ...))}` for a list with one term
for each object of a group that is there; inside it `{name}` is an attribute and `{place}` counts slots from 1.
`{colour: [yellow-rectangle, green-bucket]}` writes other atoms for the values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import Codes, suggestion
from assay.logic import ABSENT, ConceptSpace, Slot
from assay.prolog.reader import read_term
from assay.prolog.terms import CURLY, PrologError, Term, Variable, as_list, items_of, show
from assay.prolog.vocabulary import atom_of

Build = Callable[[Sequence[int]], Term]


@dataclass(frozen=True)
class WorldTemplate:
    """A template compiled for a space.

    >>> from assay.logic.concepts import digits
    >>> list(WorldTemplate(digits(["a", "b"]), "pair({a}, {b})").terms(np.array([[3, 4]])))
    [('pair', 3, 4)]
    """

    space: ConceptSpace
    template: str

    @cached_property
    def build(self) -> Build:
        """The function that gives the term of a row of codes."""
        return self._part(read_term(self.template, "template"), None)

    def terms(self, codes: Codes) -> Iterator[Term]:
        """Give the term of each world."""
        build = self.build
        for row in np.asarray(codes).tolist():
            yield build(row)

    def _part(self, term: Term, slot: Slot | None) -> Build:
        if type(term) is Variable:
            raise PrologError(f"template {self.template!r}: a variable has no value; write {{name}}")
        if type(term) is not tuple:
            return lambda row: term
        if term[0] != CURLY:
            name, parts = term[0], [self._part(part, slot) for part in term[1:]]
            return lambda row: (name, *[part(row) for part in parts])
        inner = term[1]
        if type(inner) is tuple and inner[0] == "each" and len(inner) == 3 and slot is None:
            return self._each(inner[1], inner[2])
        renamed = {}
        if type(inner) is tuple and inner[0] == ":" and len(inner) == 3:
            inner, renamed = inner[1], self._renamed(inner[2])
        if type(inner) is not str:
            raise PrologError(f"template {self.template!r}: {show(term)} names no concept, attribute or group")
        return self._value(inner, slot, renamed)

    def _renamed(self, pairs: Term) -> dict[Term, Term]:
        items = list(items_of(pairs))
        if not all(type(pair) is tuple and pair[0] == "-" and len(pair) == 3 for pair in items):
            raise PrologError(f"template {self.template!r}: other names are written [value-name, ...]")
        return {pair[1]: pair[2] for pair in items}

    def _value(self, name: str, slot: Slot | None, renamed: dict[Term, Term]) -> Build:
        concept = name if slot is None else slot.concept(name)
        if concept not in self.space.places:
            known = self.space.names if slot is None else slot.attributes
            raise PrologError(f"template {self.template!r}: no concept or attribute {name!r}{suggestion(name, known)}")
        place = self.space.place(concept)
        values = [atom_of(value) for value in self.space.concepts[place].values]
        atoms = [renamed.get(value, value) for value in values]
        return lambda row: atoms[row[place]]

    def _each(self, group: Term, template: Term) -> Build:
        if group not in self.space.groups:
            raise PrologError(
                f"template {self.template!r}: no group of slots {show(group)}"
                f"{suggestion(str(group), self.space.groups)}"
            )
        members = [self._member(slot, place + 1, template) for place, slot in enumerate(self.space.groups[group])]

        def build(row: Sequence[int]) -> Term:
            return as_list([term for term in [member(row) for member in members] if term is not None])

        return build

    def _member(self, slot: Slot, number: int, template: Term) -> Callable[[Sequence[int]], Any]:
        """Return the function that gives the term of one object, or None if it is absent."""
        columns = [self.space.place(name) for name in slot.concepts]
        first = self.space.concepts[columns[0]]
        gone = first.values.index(ABSENT) if first.optional else -1
        build = self._part(fill_place(template, number), slot)
        start, stop = columns[0], columns[-1] + 1
        whole = columns == list(range(start, stop))
        known: dict[tuple[int, ...], Term] = {}

        def member(row: Sequence[int]) -> Term:
            if row[start] == gone:
                return None
            key = tuple(row[start:stop]) if whole else tuple(row[column] for column in columns)
            if key not in known:
                known[key] = build(row)
            return known[key]

        return member


def fill_place(term: Term, number: int) -> Term:
    """Return a template with `{place}` filled in."""
    if type(term) is not tuple:
        return term
    if term == (CURLY, "place"):
        return number
    return (term[0], *[fill_place(part, number) for part in term[1:]])
