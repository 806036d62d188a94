"""Clauses: objects and the literals that hold of them; as formulas, as Prolog, and by the examples that they cover.

Covered examples are packed bits, 64 a word, for every choice of objects at once: a literal of two objects of 4 slots
is an array of 4 x 4 x words. A clause holds for a choice of objects where all its literals do, which is an `and`; it
covers an example if it holds for some choice, which is an `or` over all choices. What an added literal does is computed
for all literals at once, without the axes of objects that it does not speak of.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic import ABSENT, NUMBER, TRUE, Formula, Quantified, Slot, conjunction, disjunction
from assay.models.symbolic.examples import WORD, pack_bits
from assay.prolog import (
    AttributeTerm,
    Bias,
    CountLiteral,
    Literal,
    literals_by_terms,
    merge_pairs,
    read_clauses,
)

Places = tuple[int, ...]


@dataclass(frozen=True)
class PlacedLiteral:
    """A literal and the objects of a clause that are its arguments."""

    literal: Literal
    places: Places


@dataclass(frozen=True)
class IlpClause:
    """The groups of the objects that there are, and the literals that hold of them."""

    groups: tuple[str, ...]
    body: tuple[PlacedLiteral, ...]

    def __len__(self) -> int:
        return len(self.body)

    def objects(self) -> set[int]:
        """Return the objects that occur in literals."""
        return {place for placed in self.body for place in placed.places}

    def formula(self, names: Sequence[str] = ("a", "b", "c", "d", "e", "f")) -> Formula:
        """Return it as a formula: objects that no literal ties together apart."""
        conditions: list[Formula] = [placed.literal.formula() for placed in self.body if not placed.places]
        for group in self._tied():
            conditions.append(merge_pairs(self._some(sorted(group), names, set())))
        return conjunction(*conditions)

    def _some(self, objects: list[int], names: Sequence[str], bound: set[int]) -> Formula:
        """Return "there are objects of which this holds", each literal as far out as it can be."""
        if not objects:
            return TRUE
        now = bound | {objects[0]}
        conditions = [
            placed.literal.formula([names[place] for place in placed.places])
            for placed in self.body
            if objects[0] in placed.places and set(placed.places) <= now
        ]
        inside = self._some(objects[1:], names, now)
        body = conjunction(*conditions, *([] if inside == TRUE else [inside]))
        return Quantified("any", (names[objects[0]],), self.groups[objects[0]], body)

    def _tied(self) -> list[set[int]]:
        """Return the objects in sets that literals tie together."""
        sets = [{place} for place in range(len(self.groups))]
        for placed in self.body:
            touched = [tied for tied in sets if tied & set(placed.places)]
            sets = [tied for tied in sets if tied not in touched] + ([set().union(*touched)] if touched else [])
        return sorted(sets, key=min)

    def text(self, head: str, bias: Bias) -> str:
        """Return it as Prolog.

        Objects are introduced first, then the literals about them.
        """
        names = ["W", *(f"X{place + 1}" for place in range(len(self.groups)))]
        has = [bias.vocabulary.relation("has", group).name for group in self.groups]
        goals = [f"{name}(W,{names[place + 1]})" for place, name in enumerate(has)]
        for placed in self.body:
            goals.append(placed.literal.head([names[place + 1] for place in placed.places] or ["W"]))
        return f"{head}(W) :- {', '.join(goals)}." if goals else f"{head}(W)."


def program_formula(clauses: Iterable[IlpClause]) -> Formula:
    """Return "one of the clauses holds"."""
    return disjunction(*dict.fromkeys(clause.formula() for clause in clauses))


def definitions(clauses: Iterable[IlpClause]) -> list[str]:
    """Return the definitions of the literals that clauses use, in Prolog."""
    return list(dict.fromkeys(placed.literal.definition for clause in clauses for placed in clause.body))


def placements(literal: Literal, groups: Sequence[str]) -> Iterator[Places]:
    """Give each choice of different objects as arguments of a literal."""
    fitting = [[place for place, own in enumerate(groups) if own == group] for group in literal.groups]
    for places in product(*fitting):
        if len(set(places)) == len(places) and not (literal.symmetric and list(places) != sorted(places)):
            yield places


def canonical(groups: Sequence[str], body: Iterable[tuple[int, Places, bool]]) -> tuple[tuple[int, Places], ...]:
    """Return a body (literals by number, places, whether these may be swapped) as it is whatever objects' names are."""
    body = list(body)
    best: tuple[tuple[int, Places], ...] | None = None
    for order in permutations(range(len(groups))):
        if any(groups[place] != groups[to] for place, to in enumerate(order)):
            continue
        moved = []
        for number, places, symmetric in body:
            there = tuple(order[place] for place in places)
            moved.append((number, tuple(sorted(there)) if symmetric else there))
        renamed = tuple(sorted(moved))
        best = renamed if best is None or renamed < best else best
    return best or ()


def clauses_of(text: str, head: str, bias: Bias) -> list[IlpClause]:
    """Return the clauses of a program that another learner wrote, their literals being those of the bias."""
    clauses = read_clauses(text, head, bias)
    return [IlpClause(groups, tuple(PlacedLiteral(*placed) for placed in body)) for groups, body in clauses]


# -- what clauses cover ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LiteralBatch:
    """Literals with the same objects of a clause as arguments: their numbers in the bias, and their bits."""

    places: Places
    numbers: Array
    bits: Array


class Coverage:
    """The bits of every literal of a bias, for some examples."""

    def __init__(self, bias: Bias, codes: Codes) -> None:
        self.bias = bias
        self.space = bias.space
        self.codes = np.asarray(codes)
        self.size = len(codes)
        self.words = -(-self.size // WORD)
        self._columns: dict[tuple[str, tuple[object, ...]], Array] = {}

    @cached_property
    def present(self) -> dict[str, Array]:
        """Which slots of each group hold an object: slots x words."""
        return {group: pack_bits(self._there(slots)) for group, slots in self.space.groups.items()}

    def _there(self, slots: Sequence[Slot]) -> Array:
        rows = []
        for slot in slots:
            first = self.space.concept(slot.concepts[0])
            column = self.codes[:, self.space.place(first.name)]
            rows.append(column != first.values.index(ABSENT) if first.optional else np.ones(self.size, dtype=bool))
        return np.stack(rows)

    @cached_property
    def bits(self) -> tuple[Array, ...]:
        """The bits of each literal: an axis for each object, and words."""
        literals = enumerate(self.bias.literals)
        tables = {number: self._counted(literal) for number, literal in literals if isinstance(literal, CountLiteral)}
        for (terms, groups), numbers in literals_by_terms(self.bias.literals).items():
            stacked = np.stack([self.bias.literals[number].table() for number in numbers])
            bits = self._tabled(stacked, terms, groups)
            tables.update(zip(numbers, bits, strict=True))
        return tuple(tables[number] for number in range(len(self.bias.literals)))

    def _tabled(self, tables: Array, terms: tuple[AttributeTerm, ...], groups: tuple[str, ...]) -> Array:
        """Return the bits of literals of the same terms, by looking up their tables."""
        slots = [self.space.groups[group] for group in groups]
        shape = tuple(len(members) for members in slots)
        bits = np.zeros((len(tables), *shape, self.words), dtype=np.uint64)
        for place in np.ndindex(shape):
            chosen = [members[at] for members, at in zip(slots, place, strict=True)]
            rows = tuple(self._column(term, chosen[term.argument] if chosen else None) for term in terms)
            bits[(slice(None), *place)] = pack_bits(_looked_up(tables, rows))
        for axis, group in enumerate(groups):
            there = self.present[group]
            bits &= there.reshape(1, *[len(there) if at == axis else 1 for at in range(len(shape))], self.words)
        return bits

    def _column(self, term: AttributeTerm, slot: Slot | None) -> Array:
        """Return the place of each example's value among those of a term; the last for absent."""
        if slot is None:
            name = term.attribute
        elif term.attribute == NUMBER and NUMBER not in slot.attributes:
            return np.full(self.size, self.space.groups[slot.group].index(slot), dtype=np.intp)
        else:
            name = slot.concept(term.attribute)
        key = (name, term.values)
        if key not in self._columns:
            places = {(type(value), value): at for at, value in enumerate(term.values)}
            values = self.space.concept(name).values
            lookup = np.array([places.get((type(value), value), len(places)) for value in values], dtype=np.intp)
            self._columns[key] = lookup[self.codes[:, self.space.place(name)]]
        return self._columns[key]

    def _counted(self, literal: CountLiteral) -> Array:
        slots = self.space.groups[literal.group]
        if literal.counted is None:
            truths = self._there(slots)
        else:
            term = literal.counted.terms[0]
            at = term.values.index(literal.counted.value)
            truths = np.stack([self._column(term, slot) == at for slot in slots])
        number = truths.sum(axis=0)
        return pack_bits(number == literal.value if literal.way == "==" else number >= int(literal.value))

    def batches(self, groups: tuple[str, ...]) -> list[LiteralBatch]:
        """Return all literals that a clause of such objects may have, by their arguments."""
        by_places: dict[Places, list[int]] = {}
        for number, literal in enumerate(self.bias.literals):
            for places in placements(literal, groups):
                by_places.setdefault(places, []).append(number)
        batches = []
        for places, numbers in by_places.items():
            ordered = tuple(sorted(places))
            axes = [places.index(place) for place in ordered]
            stacked = np.stack([np.moveaxis(self.bits[n], axes, range(len(axes))) for n in numbers])
            batches.append(LiteralBatch(places, np.array(numbers), stacked))
        return batches

    def start(self, groups: tuple[str, ...]) -> Array:
        """Return for which choices of objects, and in which examples, there are such objects."""
        choices = np.full((1,) * len(groups) + (self.words,), ~np.uint64(0), dtype=np.uint64)
        choices = choices & pack_bits(np.ones(self.size, dtype=bool))
        for axis, group in enumerate(groups):
            choices = choices & expand_axes(self.present[group], (axis,), len(groups))
        return choices

    def of(self, clause: IlpClause) -> Array:
        """Return which examples a clause covers, as bits."""
        choices = self.start(clause.groups)
        for placed in clause.body:
            number = self.bias.literals.index(placed.literal)
            choices = choices & self.literal_bits(number, placed.places, len(clause.groups))
        return covered_examples(choices)

    def literal_bits(self, number: int, places: Places, axes: int) -> Array:
        """Return the bits of a literal with these objects of a clause as arguments."""
        ordered = tuple(sorted(places))
        moved = np.moveaxis(self.bits[number], [places.index(p) for p in ordered], range(len(ordered)))
        return expand_axes(moved, ordered, axes)


def _looked_up(tables: Array, rows: tuple[Array, ...]) -> Array:
    """Return the entry of each table for each example."""
    where: Any = (slice(None), *rows)
    return np.asarray(tables[where])


def expand_axes(bits: Array, places: Places, axes: int) -> Array:
    """Return bits of some objects with an axis of length 1 for each other object."""
    shape = [1] * axes
    for place, size in zip(places, bits.shape[:-1], strict=True):
        shape[place] = size
    return bits.reshape(*shape, bits.shape[-1])


def covered_examples(choices: Array) -> Array:
    """Return the examples for which a clause holds for some choice of objects."""
    return np.asarray(np.bitwise_or.reduce(choices.reshape(-1, choices.shape[-1]), axis=0))


def refined_covers(choices: Array, batch: LiteralBatch) -> Array:
    """Return which examples a clause covers with each literal of a batch added: literals x words."""
    others = tuple(axis for axis in range(choices.ndim - 1) if axis not in batch.places)
    known = np.bitwise_or.reduce(choices, axis=others) if others else choices
    joined = batch.bits & known
    return np.asarray(np.bitwise_or.reduce(joined.reshape(len(batch.numbers), -1, choices.shape[-1]), axis=1))
