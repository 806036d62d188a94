"""Random small tasks: a space, labels, the labels of every vector by the plain reading, and a support."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from assay.base import Codes, KnowledgeError, rng_for
from assay.counting import count_shortcuts
from assay.logic import (
    ABSENT,
    Concept,
    ConceptSpace,
    Const,
    Count,
    EncoderGroup,
    Formula,
    If,
    Knowledge,
    Member,
    Slot,
    Var,
)
from tests.counting.brute import World, deciding, every_world
from tests.logic.formulas import Rng, Scope, meaning, number, pick, symbol, truth

KINDS = [(False, True), (True, False), (0, 1), (-1, 0, 2), ("red", "green"), ("red", "green", "blue"), (5,)]
MOST_READINGS = 3000
MOST_WORLDS = 12


@dataclass(frozen=True)
class Task:
    """Knowledge, what its rule says of every vector, and the worlds that training shows."""

    knowledge: Knowledge
    labels: dict[World, Hashable]
    support: list[World]

    @property
    def space(self) -> ConceptSpace:
        return self.knowledge.space

    @property
    def codes(self) -> Codes:
        names = self.space.names
        return self.space.encode([dict(zip(names, world, strict=True)) for world in self.support])

    def readings(self, family: str) -> int:
        """Return how many readings there are to try."""
        tables = {
            (owner, tuple(world[c] for c in columns), place)
            for world in self.support
            for place, (owner, columns) in enumerate(deciding(self.space, family))
        }
        return prod({(owner, seen): len(self.space.concepts[p].present) for owner, seen, p in tables}.values())


def flat_space(rng: Rng, least: int = 2, most: int = 3) -> ConceptSpace:
    """Return a few concepts of any kind, the first two read by one encoder if they can be."""
    concepts = tuple(Concept(name, pick(rng, KINDS)) for name in "abcd"[: rng.integers(least, most + 1)])
    if rng.random() < 0.5:
        concepts = (concepts[0], Concept("b", concepts[0].values), *concepts[2:])
        rest = tuple(EncoderGroup(concept.name, (concept.name,)) for concept in concepts[2:])
        return ConceptSpace(concepts, encoders=(EncoderGroup("both", ("a", "b")), *rest))
    return ConceptSpace(concepts)


def slot_space(rng: Rng) -> ConceptSpace:
    """Return two like objects that may be absent or not, and sometimes a concept beside them."""
    empty = (ABSENT,) if rng.random() < 0.7 else ()
    kinds = {"size": (1, 2), "flag": (False, True), "hue": ("red", "green")}
    names = tuple(rng.permutation(list(kinds))[: rng.integers(1, 3)].tolist())
    slots = tuple(Slot(name, "things", names) for name in ("x", "y"))
    concepts = [Concept(slot.concept(name), (*kinds[name], *empty)) for slot in slots for name in names]
    beside = [Concept("b", (False, True))] if rng.random() < 0.3 else []
    return ConceptSpace((*concepts, *beside), slots)


def every_reading(knowledge: Knowledge, family: str, support: Codes | None = None) -> Any:
    """Return the readings of all concepts, those that no label depends on counted with the others."""
    found = count_shortcuts(knowledge, family, support, used=frozenset(range(len(knowledge.space))))
    assert found.readings is not None
    return found.readings


def any_function(rng: Rng, space: ConceptSpace) -> Formula:
    """Return a random function of the concepts, which may ignore some and take some values for one another."""
    kinds = [rng.integers(rng.integers(1, size + 1), size=size) for size in space.sizes]
    holds = rng.random(tuple(int(kind.max()) + 1 for kind in kinds)) < 0.5
    rows = [
        tuple(world.values())
        for codes in space.all_codes()
        if holds[tuple(kind[code] for kind, code in zip(kinds, codes, strict=True))] and (world := space.decode(codes))
    ]
    return Member(tuple(Var(name) for name in space.names), tuple(rows))


def any_label(rng: Rng, space: ConceptSpace) -> Formula:
    """Return a random function or formula that is a truth, a number or a symbol."""
    one, other = any_function(rng, space), any_function(rng, space)
    scope = Scope(space, {concept.name: concept for concept in space.concepts})
    written = [truth, truth, number, *([symbol] if scope.having("symbol") else [])]
    made = [one, one, Count((one, other)), If(one, Const("p"), If(other, Const("q"), Const("r")))]
    return pick(rng, [*made, *(make(rng, scope, 3) for make in written)])


def random_task(
    seed: int, make: Callable[[Rng], ConceptSpace], family: str = "per-concept", partial: bool = False
) -> Task:
    """Return a random task that is small enough to try every reading of a family, on all possible worlds or some."""
    for attempt in range(1000):
        rng = rng_for(seed, make.__name__, family, partial, attempt)
        space = make(rng)
        try:
            labels = {name: any_label(rng, space) for name in ("y", "z")[: rng.integers(1, 3)]}
            knowledge = Knowledge.of(space, labels)
        except KnowledgeError:  # a label with one value
            continue
        support = possible = [world for world in every_world(space) if whole(space, world)]
        if partial:
            support = [possible[i] for i in rng.permutation(len(possible))[: rng.integers(1, len(possible) + 1)]]
        task = Task(knowledge, said(knowledge), support)
        if space.worlds <= MOST_WORLDS if family.startswith("block") else task.readings(family) <= MOST_READINGS:
            return task
    raise AssertionError("no task is small enough")


def said(knowledge: Knowledge) -> dict[World, Hashable]:
    """Return the labels of every vector whose slots are whole, read off the formulas one by one."""
    found = {}
    for world in filter(lambda world: whole(knowledge.space, world), every_world(knowledge.space)):
        row = dict(zip(knowledge.space.names, world, strict=True))
        values = [meaning(label.formula, row, knowledge.space) for label in knowledge.labels]
        kinds = [label.kind for label in knowledge.labels]
        found[world] = tuple(v is True if k == "bool" else v for v, k in zip(values, kinds, strict=True))
    return found


def whole(space: ConceptSpace, world: World) -> bool:
    """Return whether each slot is wholly there or wholly absent."""
    row = dict(zip(space.names, world, strict=True))
    return all(len({row[name] == ABSENT for name in slot.concepts}) == 1 for slot in space.slots)


def shuffled_rows(codes: Codes, seed: int) -> Codes:
    """Return rows in another order, some of them twice."""
    rng = np.random.default_rng(seed)
    return codes[rng.permutation(np.concatenate([np.arange(len(codes)), rng.integers(len(codes), size=3)]))]
