"""The counting problem: entries as variables, and one constraint for each world in the training support.

A reading maps true concepts to predicted ones. It is a table of *entries*: an entry belongs to what is read (a concept,
an encoder group, an object's attribute) and to its ground truth, and its value is what the reading predicts. A class of
readings (`--family`) says which entry decides which concept. Only concepts that the rule uses have entries: what is
read of the others changes no label.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from assay.base import AssayError, Codes, ConfigError, FormulaError, suggestion
from assay.logic import (
    ABSENT,
    Compare,
    Concept,
    ConceptSpace,
    Const,
    Formula,
    Knowledge,
    Label,
    Not,
    Slot,
    Value,
    Var,
    compile_diagram,
    conjunction,
    ground_formula,
    names_in,
    substitute,
)

Supervised = Mapping[str, Iterable[Value] | None]
"""Concepts with supervision, on all of their values (None) or some."""


DIAGRAM = 20_000
"""How large the rule's diagram may get when the concepts that the rule uses are looked for."""


ReadingClass = Literal["free", "per-concept", "shared", "per-object", "per-world", "block", "block-permutation"]
READING_CLASSES: dict[str, str] = {
    "free": "any map on whole concept vectors",
    "per-concept": "one map for each concept",
    "shared": "one map for each encoder group",
    "per-object": "one joint map on an object's attributes, shared by all objects of a group",
    "per-world": "one joint map on all concepts that the rule uses",
    "block": "each concept is read from one concept, no two from the same, through any map of values",
    "block-permutation": "as block, and every map of values is one to one",
}


@dataclass(frozen=True)
class ReadingEntry:
    """An entry of a reading's table: what is read, the ground truth, and the values that may be predicted."""

    owner: str
    truth: tuple[Value, ...]
    values: tuple[Value, ...]
    right: int
    """The place of the right answer among `values`."""

    @property
    def text(self) -> str:
        """The cell in words."""
        return f"{self.owner} {', '.join(map(str, self.truth))}"


def check_reading_class(name: str) -> ReadingClass:
    """Return the class of readings of this name."""
    if name not in READING_CLASSES:
        raise ConfigError(f"no family of readings named {name!r}{suggestion(name, READING_CLASSES)}")
    return name  # type: ignore[return-value]


@dataclass(frozen=True)
class Cell:
    """Which entry decides a concept: the owner, and the columns whose true values select the entry."""

    owner: str
    columns: tuple[int, ...]
    concept: int


def cells(space: ConceptSpace, family: ReadingClass) -> list[Cell]:
    """Return, for each concept, what decides how it is read; for classes that read each concept in one place."""
    places = range(len(space))
    if family == "per-concept":
        return [Cell(space.names[i], (i,), i) for i in places]
    if family == "shared":
        group_of = {name: group.name for group in space.encoders for name in group.concepts}
        return [Cell(group_of[space.names[i]], (i,), i) for i in places]
    if family == "per-object":
        return [_object_cell(space, i) for i in places]
    raise ConfigError(f"family {family!r} is not read concept by concept")


def _object_cell(space: ConceptSpace, place: int) -> Cell:
    name = space.names[place]
    for slot in space.slots:
        if name in slot.concepts:
            _must_be_alike(space, space.groups[slot.group][0], slot)
            attribute = slot.attributes[slot.concepts.index(name)]
            return Cell(f"{slot.group} {attribute}", tuple(space.place(c) for c in slot.concepts), place)
    return Cell(name, (place,), place)


def _must_be_alike(space: ConceptSpace, first: Slot, second: Slot) -> None:
    values = [[space.concept(name).values for name in slot.concepts] for slot in (first, second)]
    if first.attributes != second.attributes or values[0] != values[1]:
        raise ConfigError(
            f"slots {first.name!r} and {second.name!r} of group {first.group!r} differ in attributes or values; "
            "family 'per-object' reads all slots of a group alike"
        )


def most_readings(space: ConceptSpace, family: ReadingClass) -> int:
    """Return the number of readings of a class, optimal or not, in worlds where slots are whole or empty."""
    ways = 1
    for cell in {cell.owner: cell for cell in cells(space, family)}.values():
        entries = math.prod(len(space.concepts[column].present) for column in cell.columns)
        ways *= len(space.concepts[cell.concept].present) ** entries
    return ways


def entry_of(space: ConceptSpace, cell: Cell, codes: Sequence[int]) -> ReadingEntry:
    """Return the entry that decides a concept in the world with these codes; what is absent is read as absent."""
    concept = space.concepts[cell.concept]
    truth = tuple(space.concepts[i].values[codes[i]] for i in cell.columns)
    value = concept.values[codes[cell.concept]]
    answers = (value,) if value == ABSENT and concept.optional else concept.present
    return ReadingEntry(cell.owner, truth, answers, answers.index(value))


def deciding_concepts(knowledge: Knowledge) -> frozenset[int]:
    """Return the columns of the concepts on which a label depends, in any world, possible or not.

    >>> from assay.logic.concepts import bits
    >>> sorted(deciding_concepts(Knowledge.of(bits(["a", "b", "c"]), {"y": "a and (b or not b)"})))
    [0]
    """
    formulas, space = [label.formula for label in knowledge.labels], knowledge.space
    try:
        diagram = compile_diagram(formulas, space, budget=DIAGRAM)
    except AssayError:  # too large, or a program: what the text names
        return frozenset(space.place(name) for formula in formulas for name in names_in(ground_formula(formula, space)))
    layers = zip(diagram.order, diagram.layers, strict=True)
    return frozenset(column for column, layer in layers if bool((layer != layer[:, :1]).any()))


@dataclass(frozen=True)
class Problem:
    """Knowledge, a class of readings, the support (distinct worlds as codes), and the supervised entries."""

    knowledge: Knowledge
    family: ReadingClass
    support: Codes
    supervised: frozenset[tuple[str, tuple[Value, ...]]] = frozenset()
    used: frozenset[int] | None = None
    """The columns of the concepts that are counted, by default all; the others are read right."""

    def supervise(self, supervised: Supervised) -> "Problem":
        """Return the problem with supervision on the entries that decide these concepts, or some of their values."""
        space, keys = self.knowledge.space, set(self.supervised)
        for name, values in supervised.items():
            column = space.place(name)
            wanted = None if values is None else {space.concept(name).code(value) for value in values}
            for codes in self.support.tolist():
                if wanted is None or codes[column] in wanted:
                    entry = entry_of(space, self.every_cell[column], codes)
                    keys.add((entry.owner, entry.truth))
        return replace(self, supervised=frozenset(keys))

    @cached_property
    def every_cell(self) -> list[Cell]:
        """What decides how each concept is read, by column."""
        return cells(self.knowledge.space, self.family)

    @cached_property
    def cells(self) -> list[Cell]:
        """What decides how each concept is read that is counted."""
        return [cell for cell in self.every_cell if self.used is None or cell.concept in self.used]

    @property
    def unused(self) -> tuple[str, ...]:
        """The concepts that are not counted, and that no concept that is counted shares a map with."""
        owners, names = {cell.owner for cell in self.cells}, self.knowledge.space.names
        return tuple(names[cell.concept] for cell in self.every_cell if cell.owner not in owners)

    @property
    def idle(self) -> int:
        """In how many ways the entries can be read that are not counted, in the worlds of the support."""
        idle = self._entries_of(self.every_cell).items() - self._entries_of(self.cells).items()
        return math.prod(len(entry.values) for key, entry in idle if key not in self.supervised)

    @cached_property
    def entries(self) -> tuple[ReadingEntry, ...]:
        """The entries that decide how the worlds of the support are read."""
        return _ordered(self._entries_of(self.cells))

    @property
    def supervised_entries(self) -> tuple[ReadingEntry, ...]:
        """The entries with supervision, those of concepts that are not counted among them."""
        entries = self._entries_of(self.every_cell)
        return _ordered({key: entry for key, entry in entries.items() if key in self.supervised})

    def _entries_of(self, chosen: Iterable[Cell]) -> dict[tuple[str, tuple[Value, ...]], ReadingEntry]:
        entries: dict[tuple[str, tuple[Value, ...]], ReadingEntry] = {}
        for cell in chosen:
            _, rows = np.unique(self.support[:, list(cell.columns)], axis=0, return_index=True)
            for codes in self.support[np.sort(rows)].tolist():
                entry = entry_of(self.knowledge.space, cell, codes)
                entries.setdefault((entry.owner, entry.truth), entry)
        return entries

    @cached_property
    def numbers(self) -> Mapping[tuple[str, tuple[Value, ...]], int]:
        """The number of each entry."""
        return {(entry.owner, entry.truth): number for number, entry in enumerate(self.entries)}

    @cached_property
    def space(self) -> ConceptSpace:
        """The entries as a concept space: a world of it is a reading."""
        return ConceptSpace(tuple(Concept(f"e{n}", entry.values) for n, entry in enumerate(self.entries)))

    @cached_property
    def truth(self) -> tuple[int, ...]:
        """The reading that is right, as codes."""
        return tuple(entry.right for entry in self.entries)

    def constraints(self) -> Iterator[Formula]:
        """Give the constraints of an optimal reading: it keeps all labels, and supervised entries are right."""
        space = self.knowledge.space
        formulas = [ground_formula(label.formula, space) for label in self.knowledge.labels]
        labels = self.knowledge.labels_of(self.support)
        for codes, label_codes in zip(self.support.tolist(), labels.tolist(), strict=True):
            meanings = self._read_right(codes)
            for cell in self.cells:
                entry = entry_of(space, cell, codes)
                meanings[space.names[cell.concept]] = Var(f"e{self.numbers[entry.owner, entry.truth]}")
            for label, formula, code in zip(self.knowledge.labels, formulas, label_codes, strict=True):
                yield equals(substitute(formula, meanings), label, code)
        for key in self.supervised & self.numbers.keys():
            number = self.numbers[key]
            entry = self.entries[number]
            yield Compare("==", Var(f"e{number}"), Const(entry.values[entry.right]))

    def _read_right(self, codes: Sequence[int]) -> dict[str, Formula]:
        """Return the true values of the concepts that are not counted, as the rule's text may name them."""
        if self.used is None:
            return {}
        others = [(i, concept) for i, concept in enumerate(self.knowledge.space.concepts) if i not in self.used]
        return {concept.name: Const(concept.values[codes[i]]) for i, concept in others}

    def as_knowledge(self) -> Knowledge:
        """Return the problem as knowledge over the entries, whose label says whether a reading is optimal."""
        try:
            return Knowledge.of(self.space, {"optimal": conjunction(*dict.fromkeys(self.constraints()))})
        except FormulaError:
            if not any(concept.optional for concept in self.knowledge.space.concepts):
                raise  # else an entry is there or absent, and a test for `absent` does not fit it
            raise ConfigError("a rule about objects that may be absent cannot be written over entries") from None


def _ordered(entries: Mapping[tuple[str, tuple[Value, ...]], ReadingEntry]) -> tuple[ReadingEntry, ...]:
    """Sort entries by owner as first met, then by what is truly there: entries of one map stand together."""
    owners = list(dict.fromkeys(owner for owner, _ in entries))
    keys = sorted(entries, key=lambda key: (owners.index(key[0]), [(isinstance(v, str), v) for v in key[1]]))
    return tuple(entries[key] for key in keys)


def equals(formula: Formula, label: Label, code: int) -> Formula:
    """Return "the formula has this value of a label", where the code -1 stands for a label that is absent."""
    value = label.values[code] if code >= 0 else ABSENT
    if isinstance(value, bool):
        return formula if value else Not(formula)
    return Compare("==", formula, Const(value))
