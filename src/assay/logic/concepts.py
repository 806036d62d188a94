"""What can be true of a world: concepts with finite values, in a space with slots and encoder groups."""

import keyword
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from assay.base import Codes, ConfigError, UnknownName, shorten, suggestion

Value = bool | int | str
Kind = Literal["bool", "int", "symbol"]

ABSENT = "absent"
"""The value of every attribute of an empty slot."""

ABSENT_NUMBER = -(2**31)
"""What `absent` counts as where numbers are compared: equal to itself, to no number that occurs."""


@dataclass(frozen=True)
class Concept:
    """A name and a finite tuple of values; with `counts` the values 0, 1, 2, ... are numbers of objects.

    `nothing` names the value that says that nothing is there, such as the empty square of a board.

    >>> Concept("digit", tuple(range(10))).kind
    'int'
    """

    name: str
    values: tuple[Value, ...]
    counts: bool = False
    nothing: Value | None = None

    def __post_init__(self) -> None:
        if not all(_can_be_read(part) for part in self.name.split(".")):
            raise ConfigError(
                f"concept name {self.name!r} is no identifier (letters, digits, '_', and '.') or reserved"
            )
        if any(type(value) not in (bool, int, str) or value == ABSENT_NUMBER for value in self.values):
            raise ConfigError(
                f"concept {self.name!r} needs truth values, whole numbers or symbols, got {self.values!r}"
            )
        if len(self.values) < 1 or len({(type(v), v) for v in self.values}) < len(self.values):
            raise ConfigError(f"concept {self.name!r} needs distinct values, got {self.values!r}")
        if self.counts and self.values != tuple(range(len(self.values))):
            raise ConfigError(
                f"concept {self.name!r} counts things, so its values are 0, 1, 2, ..., not {self.values!r}"
            )
        if len({kind_of_value(v) for v in self.present}) > 1:
            raise ConfigError(f"concept {self.name!r} mixes kinds of values: {self.values!r}")
        if self.nothing is not None and (type(self.nothing), self.nothing) not in self.codes:
            raise ConfigError(f"concept {self.name!r} says nothing by {self.nothing!r}, which is none of its values")

    @cached_property
    def present(self) -> tuple[Value, ...]:
        """The values but `absent`."""
        return tuple(v for v in self.values if v != ABSENT) or self.values

    @cached_property
    def kind(self) -> Kind:
        """Whether its values are truth values, numbers or symbols."""
        return kind_of_value(self.present[0])

    @cached_property
    def optional(self) -> bool:
        """Whether `absent` is among its values."""
        return ABSENT in self.values and len(self.values) > 1

    @cached_property
    def nothing_code(self) -> int:
        """The code of the value that means that nothing is there, -1 if there is no such value.

        It is the one declared, or else `absent`, or else false, or 0 of things that are counted.

        >>> Concept("square", ("empty", "king"), nothing="empty").nothing_code, Concept("a", (False, True)).nothing_code
        (0, 0)
        """
        usual: list[Value] = [ABSENT, *([False] if self.kind == "bool" else []), *([0] if self.counts else [])]
        candidates = usual if self.nothing is None else [self.nothing]
        return next((self.codes[type(value), value] for value in candidates if (type(value), value) in self.codes), -1)

    @cached_property
    def codes(self) -> Mapping[tuple[type, Value], int]:
        """The code of each value, by type and value, since True == 1 in Python."""
        return {(type(value), value): code for code, value in enumerate(self.values)}

    def code(self, value: Value) -> int:
        """Return the place of `value`, taking 1 for True and 0 for False where the concept is boolean."""
        if self.kind == "bool" and value in (0, 1):
            value = bool(value)
        code = self.codes.get((type(value), value))
        if code is None:
            raise UnknownName(f"concept {self.name!r} has no value {value!r}; it has: {listing(self.values)}")
        return code


def _can_be_read(name: str) -> bool:
    """Return whether a formula's text can hold this name, and gives it back as it is."""
    reserved = keyword.iskeyword(name) or name in ("true", "false") or name.startswith("__")
    return name.isidentifier() and not reserved and unicodedata.normalize("NFKC", name) == name


def kind_of_value(value: Value) -> Kind:
    """Return the kind of one value."""
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "symbol"


def listing(values: Iterable[Value], most: int = 12) -> str:
    """Write values for a message, the first few of many."""
    texts = [str(value) for value in values]
    return ", ".join(texts[:most]) + (f", ... ({len(texts)} in all)" if len(texts) > most else "")


@dataclass(frozen=True)
class Slot:
    """One of several like objects (`car1 .. car4`): its name, the group it belongs to, and its attributes.

    The attribute `colour` of the slot `car1` is the concept `car1.colour`.
    """

    name: str
    group: str
    attributes: tuple[str, ...]

    def concept(self, attribute: str) -> str:
        """Return the concept that holds this attribute."""
        return f"{self.name}.{attribute}"

    @property
    def concepts(self) -> tuple[str, ...]:
        """The concepts of all attributes."""
        return tuple(self.concept(attribute) for attribute in self.attributes)


@dataclass(frozen=True)
class EncoderGroup:
    """Concepts that one shared extractor reads, such as all digits, or the colour of every object."""

    name: str
    concepts: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ConceptSpace:
    """Ordered concepts; slots of like objects; and which concepts share an encoder."""

    concepts: tuple[Concept, ...]
    slots: tuple[Slot, ...] = ()
    encoders: tuple[EncoderGroup, ...] = field(default=())

    def __post_init__(self) -> None:
        names = [concept.name for concept in self.concepts]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice or not names:
            raise ConfigError(f"a space needs concepts with distinct names; twice: {twice}" if twice else "empty space")
        self._check_slots()
        if not self.encoders:
            own = tuple(EncoderGroup(name, (name,)) for name in names)
            object.__setattr__(self, "encoders", own)
        self._check_encoders()

    def _check_slots(self) -> None:
        for slot in self.slots:
            concepts = [self.concept(name) for name in slot.concepts]
            if not concepts:
                raise ConfigError(f"slot {slot.name!r} has no attributes")
            if len({concept.optional for concept in concepts}) > 1:
                raise ConfigError(f"slot {slot.name!r}: either all attributes may be absent or none")

    def _check_encoders(self) -> None:
        grouped = [name for group in self.encoders for name in group.concepts]
        if sorted(grouped) != sorted(self.names):
            raise ConfigError("encoder groups must hold every concept of the space exactly once")
        for group in self.encoders:
            if len({self.concept(name).values for name in group.concepts}) > 1:
                raise ConfigError(f"encoder group {group.name!r} holds concepts with different values")

    def __len__(self) -> int:
        return len(self.concepts)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the concepts, in order."""
        return tuple(concept.name for concept in self.concepts)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The column of each concept."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def groups(self) -> Mapping[str, tuple[Slot, ...]]:
        """The slots of each group, in order."""
        names = dict.fromkeys(slot.group for slot in self.slots)
        return {name: tuple(slot for slot in self.slots if slot.group == name) for name in names}

    @cached_property
    def kinds(self) -> tuple[tuple[Slot, ...], ...]:
        """The slots of each kind: those that have the same attributes with the same values, in whatever group."""
        by_looks: dict[tuple[object, ...], list[Slot]] = {}
        for slot in self.slots:
            looks = tuple((name, self.concept(slot.concept(name)).values) for name in slot.attributes)
            by_looks.setdefault(looks, []).append(slot)
        return tuple(tuple(slots) for slots in by_looks.values())

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each concept."""
        return tuple(len(concept.values) for concept in self.concepts)

    @cached_property
    def worlds(self) -> int:
        """The number of concept vectors, all slots and constraints left aside."""
        total = 1
        for size in self.sizes:
            total *= size
        return total

    def concept(self, name: str) -> Concept:
        """Return the concept of this name."""
        return self.concepts[self.place(name)]

    def place(self, name: str) -> int:
        """Return the column of the concept of this name."""
        if name not in self.places:
            raise UnknownName(f"no concept named {name!r}{suggestion(name, self.names)}")
        return self.places[name]

    def encode(self, rows: Sequence[Mapping[str, Value]]) -> Codes:
        """Return the codes of rows of values, one column a concept."""
        for row in rows:
            if missing := [name for name in self.names if name not in row]:
                raise UnknownName(f"a row without the concept {missing[0]!r}; it has: {listing(row)}")
        codes = [[concept.code(row[concept.name]) for concept in self.concepts] for row in rows]
        return np.array(codes, dtype=np.int64).reshape(len(rows), len(self))

    def decode(self, codes: Sequence[int] | Codes) -> dict[str, Value]:
        """Return the values of one row of codes; what is not known (-1) is left out."""
        pairs = zip(self.concepts, codes, strict=True)
        return {concept.name: concept.values[int(code)] for concept, code in pairs if code >= 0}

    def all_codes(self) -> Codes:
        """Return every concept vector; the caller knows that there are few."""
        grid = np.indices(self.sizes, dtype=np.int16 if max(self.sizes) < 2**15 else np.int64)
        return grid.reshape(len(self), -1).T

    def __repr__(self) -> str:
        return f"ConceptSpace({len(self.concepts)} concepts: {shorten(', '.join(self.names), 160)})"


def digits(names: Sequence[str], values: Sequence[int] = tuple(range(10))) -> ConceptSpace:
    """Return a space of number concepts that one encoder reads.

    >>> digits(["a", "b"]).worlds
    100
    """
    concepts = tuple(Concept(name, tuple(values)) for name in names)
    return ConceptSpace(concepts, encoders=(EncoderGroup("digit", tuple(names)),))


def bits(names: Sequence[str], shared: bool = False) -> ConceptSpace:
    """Return a space of truth values, read by one encoder or by one each."""
    concepts = tuple(Concept(name, (False, True)) for name in names)
    return ConceptSpace(concepts, encoders=(EncoderGroup("bit", tuple(names)),) if shared else ())
