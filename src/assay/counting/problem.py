"""The counting problem: entries as variables, and one constraint for each world in the training support."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.concepts import ABSENT, Concept, ConceptSpace, Value
from assay.counting.reading_classes import Cell, ReadingClass, ReadingEntry, cells, entry_of
from assay.errors import ConfigError, FormulaError
from assay.logic.formula import Compare, Const, Formula, Not, Var, conjunction
from assay.logic.ground import ground_formula
from assay.logic.knowledge import Knowledge, Label
from assay.logic.traverse import substitute

Supervised = Mapping[str, Iterable[Value] | None]
"""Concepts with supervision, on all of their values (None) or some."""


@dataclass(frozen=True)
class Problem:
    """Knowledge, a class of readings, the support (distinct worlds as codes), and the supervised entries."""

    knowledge: Knowledge
    family: ReadingClass
    support: Codes
    supervised: frozenset[tuple[str, tuple[Value, ...]]] = frozenset()

    def supervise(self, supervised: Supervised) -> "Problem":
        """Return the problem with supervision on the entries that decide these concepts, or some of their values."""
        space, keys = self.knowledge.space, set(self.supervised)
        for name, values in supervised.items():
            column = space.place(name)
            wanted = None if values is None else {space.concept(name).code(value) for value in values}
            for codes in self.support.tolist():
                if wanted is None or codes[column] in wanted:
                    entry = entry_of(space, self.cells[column], codes)
                    keys.add((entry.owner, entry.truth))
        return replace(self, supervised=frozenset(keys))

    @cached_property
    def cells(self) -> list[Cell]:
        """What decides how each concept is read."""
        return cells(self.knowledge.space, self.family)

    @cached_property
    def entries(self) -> tuple[ReadingEntry, ...]:
        """The entries that decide how the worlds of the support are read."""
        entries: dict[tuple[str, tuple[Value, ...]], ReadingEntry] = {}
        for cell in self.cells:
            _, rows = np.unique(self.support[:, list(cell.columns)], axis=0, return_index=True)
            for codes in self.support[np.sort(rows)].tolist():
                entry = entry_of(self.knowledge.space, cell, codes)
                entries.setdefault((entry.owner, entry.truth), entry)
        return tuple(entries[key] for key in sorted(entries, key=_order(entries)))

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
            meanings: dict[str, Formula] = {}
            for cell in self.cells:
                entry = entry_of(space, cell, codes)
                meanings[space.names[cell.concept]] = Var(f"e{self.numbers[entry.owner, entry.truth]}")
            for label, formula, code in zip(self.knowledge.labels, formulas, label_codes, strict=True):
                yield equals(substitute(formula, meanings), label, code)
        for key in self.supervised:
            number = self.numbers[key]
            entry = self.entries[number]
            yield Compare("==", Var(f"e{number}"), Const(entry.values[entry.right]))

    def as_knowledge(self) -> Knowledge:
        """Return the problem as knowledge over the entries, whose label says whether a reading is optimal."""
        try:
            return Knowledge.of(self.space, {"optimal": conjunction(*dict.fromkeys(self.constraints()))})
        except FormulaError:
            if not any(concept.optional for concept in self.knowledge.space.concepts):
                raise  # else an entry is there or absent, and a test for `absent` does not fit it
            raise ConfigError("a rule about objects that may be absent cannot be written over entries") from None


def _order(
    entries: Mapping[tuple[str, tuple[Value, ...]], ReadingEntry],
) -> Callable[[tuple[str, tuple[Value, ...]]], Any]:
    """Sort entries by owner as first met, then by what is truly there: entries of one map stand together."""
    owners = list(dict.fromkeys(owner for owner, _ in entries))
    return lambda key: (owners.index(key[0]), [(isinstance(value, str), value) for value in key[1]])


def equals(formula: Formula, label: Label, code: int) -> Formula:
    """Return "the formula has this value of a label", where the code -1 stands for a label that is absent."""
    value = label.values[code] if code >= 0 else ABSENT
    if isinstance(value, bool):
        return formula if value else Not(formula)
    return Compare("==", formula, Const(value))
