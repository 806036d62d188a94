"""Small tasks of a user's own: one whose label is drawn, and one with boxes, instance maps, depth and text."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from assay.base import Array, Settings
from assay.dataset import Dataset, Recipe, make
from assay.logic import Concept, ConceptSpace, Knowledge, LabelNoise, bits, parse
from assay.render import Box, Layout, ObjectBox, Picture
from assay.tasks import Column, Task
from assay.worlds import Style, World

SIDE = 8
PAINT = {"red": (255, 0, 0), "blue": (0, 0, 255)}
FAR = 65_535


class Coin(Task):
    """Three lamps, and a label that is likelier the more of them are lit."""

    name = "coin"
    sizes: ClassVar[Mapping[str, int]] = {"train": 600, "valid": 100, "test": 300}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The lamps, and the odds."""
        odds = {"y": LabelNoise(parse("2 * (a + b + c) - 3"), 0.7)}
        return Knowledge.of(bits([*"abc"]), {"y": "a + b + c >= 2", "first": "a"}, odds=odds)

    @cached_property
    def layout(self) -> Layout:
        """A pixel for each lamp."""
        return Layout(3, 1)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw nothing."""
        return {}

    def render(self, world: World) -> Picture:
        """Light the pixels."""
        return Picture(255 * np.array([world.codes], dtype=np.uint8))


class Shelf(Task):
    """Two boxes on a shelf, the second of which may be missing or behind the first: are they of one colour?"""

    name = "shelf"
    sizes: ClassVar[Mapping[str, int]] = {"train": 40, "valid": 8, "test": 24, "hard": 12}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The colours, and whether the second box is hidden."""
        colours = Concept("one", ("red", "blue")), Concept("two", ("red", "blue", "none"))
        space = ConceptSpace((*colours, Concept("hidden", (False, True))))
        return Knowledge.of(space, {"same": "one == two", "pile": "two != 'none' and hidden"})

    @cached_property
    def layout(self) -> Layout:
        """Room for two boxes."""
        return Layout(2 * SIDE, SIDE, 3)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All that a picture can have."""
        return ("image", "things", "instances", "depth", "text")

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw how far away the shelf is."""
        return {"distance": int(rng.integers(1000, 60_000))}

    def render(self, world: World) -> Picture:
        """Paint the boxes, the hidden one first."""
        image = np.zeros((SIDE, 2 * SIDE, 3), dtype=np.uint8)
        instances = np.zeros((SIDE, 2 * SIDE), dtype=np.uint8)
        depth = np.full((SIDE, 2 * SIDE), FAR, dtype=np.uint16)
        named = [name for name in ("one", "two") if world[name] != "none"]
        for number, name in reversed(list(enumerate(named, start=1))):
            left = 1 if name == "one" or world["hidden"] else SIDE + 1
            inside = np.s_[1 : SIDE - 1, left : left + SIDE - 2]
            image[inside], instances[inside] = PAINT[str(world[name])], number
            depth[inside] = world.style["distance"] + (300 if name == "two" else 0)
        text = " and ".join(f"a {world[name]} box" for name in named)
        boxes = tuple(ObjectBox(name, box_around(instances == n)) for n, name in enumerate(named, start=1))
        return Picture(image, boxes, instances, depth=depth, text=text)


def box_around(mask: Array) -> Box:
    """Return the box around the pixels of a thing, an empty one where it is hidden."""
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return Box(0, 0, 0, 0)
    return Box(int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)


def written(task: Task, folder: Path, **sizes: int) -> Dataset:
    """Make the dataset of a task that no registry knows."""
    recipe = Recipe(task.name, Settings(), sizes=tuple(sizes.items()))
    recipe.__dict__["task"] = task
    make(recipe, folder)
    return Dataset.open(folder)


EMPTY = ObjectBox("two", Box(0, 0, 0, 0))
"""The second box where the first one hides it."""
