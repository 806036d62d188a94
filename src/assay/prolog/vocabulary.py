"""A space as Prolog: its worlds as facts, or by a template as one term each.

A concept becomes `<concept>(World, value)`. Of slots `car1 .. car4`, a world says `has_car(World, Car)` for each that
is there, and of it `<attribute>(Car, value)`, `car_num(Car, N)` and `before(Car, Other)`. Names that Prolog has already
or that would clash get the kind of object in front: `car_length`.

A task declares a template for terms such as V-LoL's `[c(1, rectangle, short, ...), ...]`. In it `{name}` stands for the
value of a concept, and `{each(cars, c({colour}, ...))}` for a list with one term for each object of a group that is
there; inside it `{name}` is an attribute and `{place}` counts slots from 1. For other atoms than the values, write
`{colour: [yellow-rectangle, green-bucket]}`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from assay.base import Codes, suggestion
from assay.logic import ABSENT, Concept, ConceptSpace, Slot, Value
from assay.prolog.program import BUILT_IN, library
from assay.prolog.reader import read_term
from assay.prolog.terms import CURLY, Key, PrologError, Term, Variable, as_list, intern, items_of, quoted_atom, show

WORLD = "w"
"""The world where facts are about one only."""
BEFORE = "before"
What = Literal["concept", "has", "attribute", "number", "before"]
Fact = tuple[Term, ...]


@dataclass(frozen=True)
class Relation:
    """A predicate of facts: what it says, the types of its arguments, and of which group and attribute or concept."""

    name: str
    what: What
    types: tuple[str, ...]
    group: str = ""
    attribute: str = ""
    values: tuple[Value, ...] = ()

    @property
    def key(self) -> Key:
        """Its name and number of arguments."""
        return self.name, len(self.types)


def atom_of(value: Value) -> Term:
    """Return a value as Prolog has it: truth values are the atoms `true` and `false`.

    >>> atom_of(True), atom_of(3), atom_of("red")
    ('true', 3, 'red')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, int) else intern(value)


def value_text(value: Value) -> str:
    """Return a value as Prolog writes it.

    >>> value_text(True), value_text(3), value_text("Red one")
    ('true', '3', "'Red one'")
    """
    atom = atom_of(value)
    return str(atom) if isinstance(atom, int) else quoted_atom(str(atom))


def plain_name(text: str) -> str:
    """Return a name that Prolog takes without quotes.

    >>> plain_name("Red.one"), plain_name("_1st")
    ('red_one', 'c__1st')
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return name[0].lower() + name[1:] if name[:1].isalpha() else f"c_{name}"


def kind_of_slots(slots: Sequence[Slot]) -> str:
    """Return what the slots of a group hold: the name that they share (`car` of `car1`, `car2`)."""
    stems = {re.sub(r"_?\d+$", "", slot.name) for slot in slots}
    return plain_name(stems.pop() if len(stems) == 1 and "" not in stems else slots[0].group)


@dataclass(frozen=True)
class Vocabulary:
    """The predicates of a space, and its worlds as facts."""

    space: ConceptSpace
    _tables: dict[Key, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kind of object of each group of slots, all different."""
        kinds: dict[str, str] = {}
        for group, slots in self.space.groups.items():
            kinds[group] = unused_name(kind_of_slots(slots), kinds.values())
        return kinds

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """All predicates of facts."""
        taken: set[str] = set()
        relations: list[Relation] = []
        for group, kind in self.kinds.items():
            relations.append(Relation(unused_name(f"has_{kind}", taken), "has", ("world", kind), group))
            relations.append(Relation(unused_name(f"{kind}_num", taken), "number", (kind, "int"), group))
            taken.update(relation.name for relation in relations)
        if any(len(slots) > 1 for slots in self.space.groups.values()):
            kinds = tuple(self.kinds.values())
            relations.append(Relation(BEFORE, "before", (kinds[0], kinds[0])))
            taken.add(BEFORE)
        for group, slots in self.space.groups.items():
            for attribute in dict.fromkeys(name for slot in slots for name in slot.attributes):
                relations.append(self._attribute(group, attribute, taken))
                taken.add(relations[-1].name)
        for concept in self._plain:
            name = _free(plain_name(concept.name), 2, taken, "concept")
            relations.append(Relation(name, "concept", ("world", name), attribute=concept.name, values=concept.present))
            taken.add(name)
        return tuple(relations)

    def _attribute(self, group: str, attribute: str, taken: set[str]) -> Relation:
        kind = self.kinds[group]
        slots = [slot for slot in self.space.groups[group] if attribute in slot.attributes]
        values = dict.fromkeys(v for slot in slots for v in self.space.concept(slot.concept(attribute)).present)
        name = _free(plain_name(attribute), 2, taken, kind)
        return Relation(name, "attribute", (kind, plain_name(attribute)), group, attribute, tuple(values))

    @cached_property
    def _plain(self) -> tuple[Concept, ...]:
        """The concepts that belong to no slot."""
        slotted = {name for slot in self.space.slots for name in slot.concepts}
        return tuple(concept for concept in self.space.concepts if concept.name not in slotted)

    @cached_property
    def by_key(self) -> Mapping[Key, Relation]:
        """The predicates by name and number of arguments."""
        return {relation.key: relation for relation in self.relations}

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The predicates' names and numbers of arguments."""
        return tuple(relation.key for relation in self.relations)

    def relation(self, what: What, group: str = "", attribute: str = "") -> Relation:
        """Return the predicate for this."""
        for relation in self.relations:
            if (relation.what, relation.attribute) == (what, attribute) and group in (relation.group, ""):
                return relation
        raise KeyError((what, group, attribute))

    def facts(self, codes: Codes) -> Iterator[list[list[Fact]]]:
        """Give for each world the rows of each predicate, in the order of `keys`; objects have their slots' names."""
        cells, groups = self._cells, self._groups
        number = len(self.relations)
        for row in np.asarray(codes).tolist():
            tables: list[list[Fact]] = [[] for _ in range(number)]
            for choices, code in zip(cells, row, strict=True):
                cell = choices[code]
                if cell is not None:
                    tables[cell[0]].append(cell[1])
            for group, members in groups:
                for place, rows in self._of_group(group, tuple(row[first] == gone for first, gone in members)):
                    tables[place].extend(rows)
            yield tables

    @cached_property
    def _places(self) -> Mapping[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def _cells(self) -> list[list[tuple[int, Fact] | None]]:
        """For each concept and code the fact that it is, and in which table."""
        owners = {name: slot for slot in self.space.slots for name in slot.concepts}
        cells = []
        for concept in self.space.concepts:
            slot = owners.get(concept.name)
            if slot is None:
                relation, subject = self.relation("concept", attribute=concept.name), WORLD
            else:
                attribute = concept.name[len(slot.name) + 1 :]
                relation, subject = (
                    self.relation("attribute", slot.group, attribute),
                    intern(plain_name(slot.name)),
                )
            place = self._places[relation.key]
            gone = slot is not None and concept.optional
            cells.append(
                [None if gone and value == ABSENT else (place, (subject, atom_of(value))) for value in concept.values]
            )
        return cells

    @cached_property
    def _groups(self) -> list[tuple[str, list[tuple[int, int]]]]:
        """For each group the column and the code that says that a slot is absent."""
        groups = []
        for group, slots in self.space.groups.items():
            firsts = [self.space.concept(slot.concepts[0]) for slot in slots]
            gone = [first.values.index(ABSENT) if first.optional else -1 for first in firsts]
            groups.append((group, [(self.space.place(f.name), code) for f, code in zip(firsts, gone, strict=True)]))
        return groups

    @cached_property
    def _presence(self) -> dict[tuple[str, tuple[bool, ...]], list[tuple[int, list[Fact]]]]:
        return {}

    def _of_group(self, group: str, gone: tuple[bool, ...]) -> list[tuple[int, list[Fact]]]:
        """Return the facts of which objects of a group are present, and in what order."""
        key = group, gone
        if key not in self._presence:
            slots = self.space.groups[group]
            names = [
                (intern(plain_name(s.name)), n + 1)
                for n, (s, out) in enumerate(zip(slots, gone, strict=True))
                if not out
            ]
            rows: list[tuple[int, list[Fact]]] = [
                (self._places[self.relation("has", group).key], [(WORLD, name) for name, _ in names]),
                (self._places[self.relation("number", group).key], list(names)),
            ]
            if (BEFORE, 2) in self._places:
                pairs: list[Fact] = [(a, b) for at, (a, _) in enumerate(names) for b, _ in names[at + 1 :]]
                rows.append((self._places[BEFORE, 2], pairs))
            self._presence[key] = rows
        return self._presence[key]


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with underscores after it if it is taken."""
    while name in taken:
        name += "_"
    return name


def _free(name: str, arity: int, taken: set[str], kind: str) -> str:
    """Return a predicate name that neither Prolog nor the vocabulary has yet."""
    while name in taken or (name, arity) in BUILT_IN or (name, arity) in library():
        name = f"{kind}_{name}"
    return name


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
