"""Readings counted by trying every one, in plain Python: nothing here knows of `assay.counting`."""

from collections.abc import Callable, Hashable, Sequence
from itertools import permutations, product

from assay.logic import ABSENT, ConceptSpace, Value

World = tuple[Value, ...]
Rule = Callable[[World], Hashable]
ConceptMapping = dict[tuple[str, World], Value]
"""What is said for an owner (a concept, a group, an object's attribute) when this is truly there."""


def every_world(space: ConceptSpace) -> list[World]:
    """Return every concept vector, possible or not."""
    return list(product(*(concept.values for concept in space.concepts)))


def free(space: ConceptSpace, rule: Rule, support: Sequence[World]) -> int:
    """Count the maps on whole vectors."""
    worlds = every_world(space)
    maps = (dict(zip(worlds, said, strict=True)) for said in product(worlds, repeat=len(worlds)))
    return sum(all(rule(one[world]) == rule(world) for world in support) for one in maps)


def block(space: ConceptSpace, rule: Rule, support: Sequence[World], one_to_one: bool = False) -> int:
    """Count the permutations of concepts with a map of values for each concept."""
    values = [concept.values for concept in space.concepts]
    found = 0
    for order in permutations(range(len(values))):
        for said in product(*(product(values[i], repeat=len(values[source])) for i, source in enumerate(order))):
            if one_to_one and any(len(set(one)) < len(one) for one in said):
                continue
            maps = [dict(zip(values[source], one, strict=True)) for source, one in zip(order, said, strict=True)]
            found += all(
                rule(tuple(one[world[source]] for source, one in zip(order, maps, strict=True))) == rule(world)
                for world in support
            )
    return found


def deciding(space: ConceptSpace, family: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return, for each concept, whose table tells how it is read, and which true concepts are looked up there."""
    if family == "per-concept":
        return [(name, (place,)) for place, name in enumerate(space.names)]
    if family == "shared":
        owner = {name: group.name for group in space.encoders for name in group.concepts}
        return [(owner[name], (place,)) for place, name in enumerate(space.names)]
    found = {name: (name, (place,)) for place, name in enumerate(space.names)}
    for slot in space.slots:
        columns = tuple(space.names.index(name) for name in slot.concepts)
        for attribute, name in zip(slot.attributes, slot.concepts, strict=True):
            found[name] = (f"{slot.group} {attribute}", columns)
    return [found[name] for name in space.names]


def readings(space: ConceptSpace, rule: Rule, support: Sequence[World], family: str) -> list[ConceptMapping]:
    """Return the optimal readings, entries that no world of the support uses left out."""
    looked_up = deciding(space, family)
    options: dict[tuple[str, World], list[Value]] = {}
    for world in support:
        for place, (owner, columns) in enumerate(looked_up):
            present = [value for value in space.concepts[place].values if value != ABSENT]
            said = [ABSENT] if world[place] == ABSENT else present
            options[owner, tuple(world[column] for column in columns)] = said

    def read(reading: ConceptMapping, world: World) -> World:
        return tuple(reading[owner, tuple(world[column] for column in columns)] for owner, columns in looked_up)

    every = (dict(zip(options, said, strict=True)) for said in product(*options.values()))
    return [one for one in every if all(rule(read(one, world)) == rule(world) for world in support)]
