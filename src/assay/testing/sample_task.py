"""A task small enough to train on in a second, for the laws of models: two squares, is the left one brighter?"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from assay.base import Settings
from assay.dataset import Dataset, Recipe, make
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge
from assay.render import Box, Layout, Picture
from assay.tasks import Task
from assay.worlds import Style, World

SIDE = 12


class TwoSquares(Task):
    """Two grey squares, each of three brightnesses; is the left one brighter?"""

    name = "two-squares"
    sizes: ClassVar[Mapping[str, int]] = {"train": 64, "valid": 16, "test": 16}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The two brightnesses and the comparison."""
        squares = tuple(Concept(name, (0, 1, 2)) for name in ("left", "right"))
        space = ConceptSpace(squares, encoders=(EncoderGroup("square", ("left", "right")),))
        return Knowledge.of(space, {"brighter": "left > right"})

    @cached_property
    def layout(self) -> Layout:
        """The squares side by side."""
        boxes = {"left": Box(0, 0, SIDE, SIDE), "right": Box(SIDE, 0, 2 * SIDE, SIDE)}
        return Layout(2 * SIDE, SIDE, 1, boxes)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw noise for each column of pixels."""
        return {"noise": rng.integers(0, 40, size=2 * SIDE).tolist()}

    def render(self, world: World) -> Picture:
        """Fill the squares."""
        row = 90 * np.repeat([int(code) for code in world.codes], SIDE) + np.array(world.style["noise"])
        return Picture(np.repeat(row.astype(np.uint8)[None, :], SIDE, axis=0))


def small_dataset(task: Task, folder: Path, most: int = 64) -> Dataset:
    """Make a dataset of a task, with few examples of each split."""
    sizes = {split.name: min(split.size, most if split.name.startswith("train") else 16) for split in task.splits()}
    values = task.config.model_dump(exclude_defaults=True)
    recipe = Recipe(task.name, Settings(values), sizes=(*sizes.items(), ("pairs", 0)))
    recipe.__dict__["task"] = task  # the task at hand, also where no registry knows it
    make(recipe, folder)
    return Dataset.open(folder)
