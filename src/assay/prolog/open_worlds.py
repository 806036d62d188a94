"""Worlds of unknown values as terms: one for each choice of objects that are there."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from assay.base import NoSymbols
from assay.logic import ABSENT, ConceptSpace, Formula, Slot, Var
from assay.prolog.symbols import symbol
from assay.prolog.templates import WorldTemplate, fill_place
from assay.prolog.terms import Term


def open_worlds(space: ConceptSpace, template: str, packed: bool) -> Iterator[tuple[list[Formula], Term]]:
    """Give, for each choice of present slots, the conditions for it and the term of a world with unknown values."""
    optional = {
        group: [slot for slot in slots if space.concept(slot.concepts[0]).optional]
        for group, slots in space.groups.items()
    }
    if not packed and sum(len(slots) for slots in optional.values()) > 8:
        raise NoSymbols("too many objects may be absent to write the program as a formula")
    for choice in product(*(_choices(slots, packed) for slots in optional.values())):
        there = {slot.name for slots in choice for slot in slots}
        guards = [
            Var(slot.concepts[0]).ne(ABSENT) if slot.name in there else Var(slot.concepts[0]).eq(ABSENT)
            for slots in optional.values()
            for slot in slots
        ]
        gone = {slot.name for slots in optional.values() for slot in slots} - there
        yield guards, _OpenForm(space, template, frozenset(gone)).build(())


def _choices(slots: Sequence[Slot], packed: bool) -> list[tuple[Slot, ...]]:
    if packed:
        return [tuple(slots[:number]) for number in range(len(slots) + 1)]
    return [some for number in range(len(slots) + 1) for some in combinations(slots, number)]


class _OpenForm(WorldTemplate):
    """A template whose values are left open."""

    def __init__(self, space: ConceptSpace, template: str, gone: frozenset[str]) -> None:
        super().__init__(space, template)
        object.__setattr__(self, "gone", gone)

    def _value(self, name: str, slot: Slot | None, renamed: dict[Term, Term]) -> Callable[[Sequence[int]], Term]:
        super()._value(name, slot, renamed)
        value = symbol(name if slot is None else slot.concept(name), self.space, renamed)
        return lambda row: value

    def _member(self, slot: Slot, number: int, template: Term) -> Callable[[Sequence[int]], Term]:
        if slot.name in self.gone:  # type: ignore[attr-defined]
            return lambda row: None
        return self._part(fill_place(template, number), slot)
