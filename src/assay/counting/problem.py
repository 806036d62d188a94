"""The counting problem: entries as variables, and one constraint for each world in the training support.

Only concepts that the rule uses have entries: what is read of the others changes no label.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.base import AssayError, Codes, ConfigError, FormulaError
from assay.counting.reading_classes import Cell, ReadingClass, ReadingEntry, cells, entry_of
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
