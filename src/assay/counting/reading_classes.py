"""Classes of readings (concept mappings, `--family`): what a reading may depend on when it decides a concept's value.

A reading maps true concepts to predicted ones. It is a table of *entries*: an entry belongs to what is read (a concept,
an encoder group, an object's attribute) and to its ground truth, and its value is what the reading predicts. A class of
readings says which entry decides which concept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.base import ConfigError, suggestion
from assay.logic import ABSENT, ConceptSpace, Slot, Value

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
