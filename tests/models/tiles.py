"""Two tiles side by side: a small task with objects, parts, masks, texts, nuisances, two labels and a constraint."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import torch

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits
from assay.config import Settings
from assay.data import NUISANCES, Dataset
from assay.logic import Constraint, Knowledge, parse
from assay.models import MODELS
from assay.models.core.tensors import Batch
from assay.render import Box, Layout, Picture
from assay.render.picture import boxes_of
from assay.seeds import rng_for
from assay.tasks import Column, Task
from assay.worlds import Style, World
from tests.toys import written

SIDE, EXAMPLES = 8, 24
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
        instances = np.zeros((HEIGHT, 2 * SIDE), dtype=np.uint8)
        for number, side in enumerate(SIDES, start=1):
            edge = 1 if world[f"{side}.big"] else 3
            top = TOPS[side]
            inside = np.s_[top + edge : top + SIDE - edge, (number - 1) * SIDE + edge : number * SIDE - edge]
            image[inside] += np.array([180, 90, 30], dtype=np.uint8)
            image[inside][..., 1] += np.uint8(50 * int(world[f"{side}.shade"]))
            instances[inside] = number
        words = [f"{'big' if world[f'{side}.big'] else 'small'} {world[f'{side}.shade']} {side}" for side in SIDES]
        return Picture(image, boxes_of(instances, SIDES), instances, text=", ".join(words))


_FOLDER = TemporaryDirectory()


@cache
def tiles() -> Dataset:
    """Return the dataset, made once."""
    return written(Tiles(), Path(_FOLDER.name) / "data", **Tiles.sizes)


SWITCHES = Knowledge.of(
    ConceptSpace((Concept("a", (0, 1)), Concept("b", (False, True)), Concept("c", ("x", "y", "z")))),
    {"y": "a == 1 and b or c == 'y'"},
)
LAMPS = Knowledge.of(bits([*"abc"]), {"y": "a and b and c", "other": "xor(a, c)"})
WORLDS = {"switches": (SWITCHES, Layout(5, 4)), "lamps": (LAMPS, Layout(5, 4, 2))}
"""Other concepts, whose pictures are noise: of two values that are no truth values, and of truth values only."""


@cache
def batch(world: str = "tiles", missing: bool = True) -> Batch:
    """Return two dozen examples with their pictures, in some of which a concept is missing if that is asked."""
    task, rng = Tiles(), rng_for(0, world)
    knowledge, layout = (task.knowledge, task.layout) if world == "tiles" else WORLDS[world]
    every = np.tile(knowledge.space.all_codes().astype(np.int64), (3, 1))
    if knowledge.constraints:
        every = every[~knowledge.violations(every).any(axis=1)]
    codes = rng.permutation(every)[:EXAMPLES]
    images = rng.integers(0, 255, (EXAMPLES, layout.channels, layout.height, layout.width), dtype=np.uint8)
    if world == "tiles":
        styles = [task.style(rng_for(0, world, row), own, "train") for row, own in enumerate(codes.tolist())]
        worlds = [World(task.space, tuple(own), style) for own, style in zip(codes.tolist(), styles, strict=True)]
        images = np.stack([task.render(world).image for world in worlds]).transpose(0, 3, 1, 2)
    concepts = torch.from_numpy(codes.copy())
    if missing:
        concepts[1::5, 2] = -1
    labels = torch.from_numpy(np.ascontiguousarray(knowledge.labels_of(codes)))
    return Batch(labels, concepts, torch.arange(EXAMPLES), torch.from_numpy(np.ascontiguousarray(images)))


def model_of(name: str, settings: Mapping[str, Any], world: str = "tiles", whole: bool = False, seed: int = 3) -> Any:
    """Return a model of these settings before training, one that sees the whole picture only where that is asked."""
    task = Tiles()
    knowledge, layout = (task.knowledge, task.layout) if world == "tiles" else WORLDS[world]
    seen = Layout(layout.width, layout.height, layout.channels) if whole else layout
    return MODELS[name](knowledge, seen, Settings({"backbone": "mlp", "device": "cpu", **settings}), {}, seed)
