"""Scenes whose objects are placed first: where they stand gives concepts, and their looks are drawn until all fits.

Not every combination of positions has room on the floor, so positions are not drawn as other concepts are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from assay.base import Array, Codes, KnowledgeError, rng_for
from assay.logic import ABSENT, Evaluator, Formula, Knowledge, conjunction
from assay.worlds import SeededSource, Split, Style, World

LAYOUTS, LOOKS = 300, 4096
"""How many layouts are tried for a scene, and how many looks of its objects for each."""
REMEMBERED = 4096


@dataclass(frozen=True)
class SceneKind:
    """A kind of scenes of one label: what holds of them, and how many objects they have at least."""

    where: Formula
    least: int


@dataclass(frozen=True)
class PlacedObjects:
    """A style with places for some objects, and what these give of each object, by attribute."""

    style: Style
    positions: dict[str, list[Any]]


@dataclass(frozen=True)
class ScenePlanner:
    """How scenes are planned: where so many objects could stand, if anywhere, and whether enough is seen of each."""

    place: Callable[[np.random.Generator, int], PlacedObjects | None]
    shows_all: Callable[[World], bool]


class PlacedSource(SeededSource):
    """The scenes of a split: labels in turn, of each label its kinds in turn, of each kind all numbers of objects."""

    def __init__(
        self,
        knowledge: Knowledge,
        split: Split,
        seed: int,
        *purpose: object,
        kinds: Sequence[Sequence[SceneKind]],
        planner: ScenePlanner,
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose)
        self.kinds, self.planner = kinds, planner
        self._scene = lru_cache(maxsize=REMEMBERED)(self._draw_scene)

    @property
    def total(self) -> int:
        """How many different worlds there can be at most."""
        return prod(self.knowledge.space.sizes)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the scenes at these places."""
        worlds = self.worlds(places)
        return np.array([world.codes for world in worlds], dtype=np.int64).reshape(len(worlds), -1)

    def worlds(self, places: Array) -> list[World]:
        """Return the scenes at these places."""
        return [self._scene(int(place)) for place in np.asarray(places).tolist()]

    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split."""
        return np.asarray(self._inside(codes))

    @cached_property
    def _inside(self) -> Evaluator:
        return Evaluator(self.knowledge.space, conjunction(self.knowledge.possible, self.split.formula))

    @cached_property
    def _fits(self) -> list[list[Evaluator]]:
        """Whether worlds are of each kind."""
        space = self.knowledge.space
        return [[Evaluator(space, kind.where) for kind in kinds] for kinds in self.kinds]

    def _draw_scene(self, place: int) -> World:
        own = place % self.split.size  # a place further on by whole splits has the same label, as confounders look for
        label, rest = int(self._deck(len(self.kinds), "label").deal(np.array([own]))[0]), place // len(self.kinds)
        kinds = self.kinds[label]
        which = int(self._deck(len(kinds), "kind", label).deal(np.array([rest]))[0])
        slots = self.knowledge.space.slots
        numbers = range(kinds[which].least, len(slots) + 1)
        deck = self._deck(len(numbers), "number", label, which)
        number = numbers[int(deck.deal(np.array([rest // len(kinds)]))[0])]
        rng = rng_for(self.seed, *self.purpose, self.split.name, place)
        for _ in range(LAYOUTS):
            placed = self.planner.place(rng, number)
            if placed is None:
                continue
            codes = self._looks(rng, number, placed)
            fitting = codes[self._fits[label][which](codes)]
            fitting = fitting[self._inside(fitting)]
            for row in fitting[:1].tolist():
                world = World(self.knowledge.space, tuple(row), placed.style)
                if self.planner.shows_all(world):
                    return world
        raise KnowledgeError(
            f"split {self.split.name!r}: no scene of {number} objects in which {kinds[which].where} was found in "
            f"{LAYOUTS} layouts; change the number of objects or 'min_pixels'"
        )

    def _looks(self, rng: np.random.Generator, number: int, placed: PlacedObjects) -> Codes:
        """Return worlds with these positions and any looks, a row each."""
        space, codes = self.knowledge.space, np.zeros((LOOKS, len(self.knowledge.space)), dtype=np.int64)
        for row, slot in enumerate(space.slots):
            for attribute in slot.attributes:
                concept = space.concept(slot.concept(attribute))
                column = codes[:, space.place(concept.name)]
                if row >= number:
                    column[:] = concept.code(ABSENT)
                elif attribute in placed.positions:
                    column[:] = concept.code(placed.positions[attribute][row])
                else:
                    column[:] = rng.integers(len(concept.present), size=LOOKS)
        return codes
