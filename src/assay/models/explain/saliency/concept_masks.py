"""Which pixels show which concept: by exact masks, by boxes of things, or by the regions of a fixed layout.

A concept shows where things of its name are (`e4`, `person`). A concept of a slot shows in the part of that name
(`car1/roof` for `car1.roof`) where the picture has one, and else on the whole object (`car1`). Where no thing shows a
concept, its region of the layout does, if there is one.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from assay.base import Array
from assay.dataset import SplitData
from assay.render import ObjectBox


class ConceptMasks:
    """The masks of concepts in the pictures of a split, which are decoded as a whole: give it few rows at a time."""

    def __init__(self, data: SplitData) -> None:
        self.data = data
        self.things: Sequence[Sequence[ObjectBox]] = data.things if "things" in data.columns else [()] * len(data)
        self.slots = {name: slot.name for slot in data.knowledge.space.slots for name in slot.concepts}

    @property
    def kind(self) -> str:
        """What the masks come from: `masks`, `boxes` or `regions`; nothing where the data has none of them."""
        if "things" in self.data.columns:
            return "masks" if "instances" in self.data.columns else "boxes"
        return "regions" if self.data.layout.regions else ""

    def of_concept(self, name: str) -> Array:
        """Return which pixels of each picture show a concept; none of a picture where it does not show."""
        masks = self._empty()
        for row, things in enumerate(self.things):
            for number in self._numbers(name, things):
                masks[row] |= self._thing(row, number)
        region = self.data.layout.regions.get(name)
        if region is not None:
            hidden = ~masks.any(axis=(1, 2))
            masks[hidden, region.top : region.bottom, region.left : region.right] = True
        return masks

    def of_concepts(self, names: Iterable[str]) -> Array:
        """Return which pixels of each picture show any of some concepts."""
        masks = self._empty()
        for name in names:
            masks |= self.of_concept(name)
        return masks

    def _empty(self) -> Array:
        return np.zeros((len(self.data), self.data.layout.height, self.data.layout.width), dtype=bool)

    def _numbers(self, name: str, things: Sequence[ObjectBox]) -> list[int]:
        """Return the numbers of the things that show a concept in a picture."""
        slot = self.slots.get(name)
        wanted = [name] if slot is None else [name, f"{slot}/{name.removeprefix(f'{slot}.')}", slot]
        for candidate in wanted:
            numbers = [number for number, thing in enumerate(things, start=1) if thing.name == candidate]
            if any(_is_seen(things[number - 1]) for number in numbers):
                return numbers
        return []

    def _thing(self, row: int, number: int) -> Array:
        """Return the pixels of a thing: those of its mask, or else of its box."""
        thing = self.things[row][number - 1]
        column = "parts" if "/" in thing.name else "instances"
        if column in self.data.columns:
            return np.asarray((self.data.parts if column == "parts" else self.data.instances)[row] == number)
        mask, box = np.zeros((self.data.layout.height, self.data.layout.width), dtype=bool), thing.box
        mask[max(0, box.top) : max(0, box.bottom), max(0, box.left) : max(0, box.right)] = True
        return mask


def _is_seen(thing: ObjectBox) -> bool:
    """Return whether a thing has pixels in the picture."""
    return thing.box.right > thing.box.left and thing.box.bottom > thing.box.top
