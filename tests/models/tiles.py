"""Two tiles side by side: a small task with objects, parts, masks, texts, nuisances, two labels and a constraint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch

from assay.contracts import CONCEPT
from assay.dataset import NUISANCES, Dataset
from assay.logic import Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, Slot, parse
from assay.models import MODELS
from assay.render import Box, Layout, ObjectBox, Picture
from assay.tasks import Column, Task
from assay.worlds import Style, World
from tests.toys import written

SIDE = 8
SIDES = ("left", "right")
TOPS, HEIGHT = {"left": 1, "right": 2}, SIDE + 3


class Tiles(Task):
    """A tile on each side has a shade and a size."""

    name = "tiles"
    sizes: ClassVar[Mapping[str, int]] = {"train": 24, "valid": 22, "test": 26}

    @cached_property
    def knowledge(self) -> Knowledge:
        """Shades of three values and sizes of two; one label is true or false, the other a number."""
        shades = [Concept(f"{side}.shade", (0, 1, 2)) for side in SIDES]
        sizes = [Concept(f"{side}.big", (False, True)) for side in SIDES]
        space = ConceptSpace(
            (shades[0], sizes[0], shades[1], sizes[1]),
            tuple(Slot(side, "tiles", ("shade", "big")) for side in SIDES),
            (
                EncoderGroup("shades", tuple(shade.name for shade in shades)),
                EncoderGroup("sizes", tuple(size.name for size in sizes)),
            ),
        )
        rules = {"y": "left.shade == right.shade or (left.big and not right.big)", "total": "left.shade + right.big"}
        return Knowledge.of(space, rules, [Constraint("dark", parse("implies(left.big, right.shade != 0)"))])

    @cached_property
    def layout(self) -> Layout:
        """Room for two tiles."""
        parts = {
            side: Box(place * SIDE, TOPS[side], (place + 1) * SIDE, TOPS[side] + SIDE)
            for place, side in enumerate(SIDES)
        }
        return Layout(2 * SIDE, HEIGHT, 3, {name: parts[name.split(".")[0]] for name in self.knowledge.space.names})

    @property
    def columns(self) -> tuple[Column, ...]:
        """Pictures, masks and texts."""
        return ("image", "things", "instances", "text")

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw a nuisance, and the noise."""
        return {NUISANCES: {"frame": int(rng.integers(2))}, "noise": rng.integers(60, size=2 * SIDE * HEIGHT).tolist()}

    def render(self, world: World) -> Picture:
        """Paint the tiles over the noise."""
        image = np.array(world.style["noise"], dtype=np.uint8).reshape(HEIGHT, 2 * SIDE, 1).repeat(3, axis=2)
        instances, things = np.zeros((HEIGHT, 2 * SIDE), dtype=np.uint8), []
        for number, side in enumerate(SIDES, start=1):
            edge = 1 if world[f"{side}.big"] else 3
            top = TOPS[side]
            box = Box((number - 1) * SIDE + edge, top + edge, number * SIDE - edge, top + SIDE - edge)
            inside = np.s_[box.top : box.bottom, box.left : box.right]
            things.append(ObjectBox(side, box))
            image[inside] += np.array([180, 90, 30], dtype=np.uint8)
            image[inside][..., 1] += np.uint8(50 * int(world[f"{side}.shade"]))
            instances[inside] = number
        words = [f"{'big' if world[f'{side}.big'] else 'small'} {world[f'{side}.shade']} {side}" for side in SIDES]
        return Picture(image, tuple(things), instances, text=", ".join(words))


_FOLDER = TemporaryDirectory()


@cache
def tiles() -> Dataset:
    """Return the dataset, made once."""
    return written(Tiles(), Path(_FOLDER.name) / "data", **Tiles.sizes)


@cache
def batch(missing: bool = True) -> Any:
    """Return the training examples with their pictures; in some of them a concept is missing if that is asked."""
    train = tiles()["train"]
    if missing:
        shades = [None if row % 5 == 1 else int(code) for row, code in enumerate(train.concepts[:, 2])]
        train = replace(train, table=train.table.append_column("given_" + CONCEPT + "right.shade", pa.array(shades)))
    return model_of("blackbox").feed(train, torch.device("cpu")).take(torch.arange(len(train)))


def model_of(name: str, settings: Mapping[str, Any] = {}, seed: int = 3) -> Any:
    """Return a model of these settings before training."""
    return MODELS[name](tiles(), settings={"backbone": "mlp", "device": "cpu", **settings}, seed=seed)
