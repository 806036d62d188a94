"""Pictures of the embedded scenes and of photographs, all fitted into one size with bars where the shapes differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.arrays import Array
from assay.errors import DataError
from assay.render.backdrop import BACKDROPS, Ground, table
from assay.render.brush import Brush, Look
from assay.render.canvas import Canvas
from assay.render.objects import DRAWINGS
from assay.render.picture import Box, Picture, Thing
from assay.worlds.scenery import HEIGHT, KINDS, WIDTH

BAR = 114
"""The grey of the bars."""


@dataclass(frozen=True)
class Fit:
    """How a picture of one size fits into another: its size there, and how far from the left and the top."""

    width: int
    height: int
    left: int
    top: int

    @classmethod
    def of(cls, inner: tuple[float, float], outer: tuple[int, int]) -> "Fit":
        """Return the largest fit of one width and height into another, in the middle.

        >>> Fit.of((640, 480), (224, 224))
        Fit(width=224, height=168, left=0, top=28)
        """
        scale = min(outer[0] / inner[0], outer[1] / inner[1])
        width, height = max(1, round(inner[0] * scale)), max(1, round(inner[1] * scale))
        return cls(width, height, (outer[0] - width) // 2, (outer[1] - height) // 2)

    def framed(self, image: Array, outer: tuple[int, int], bar: int = BAR) -> Array:
        """Return an image of the inner size with bars around it."""
        whole = np.full((outer[1], outer[0], *image.shape[2:]), bar, dtype=image.dtype)
        whole[self.top : self.top + self.height, self.left : self.left + self.width] = image
        return whole

    def box(self, box: Sequence[float], inner: tuple[float, float]) -> Box:
        """Return where a box (left, top, width, height) of the inner picture lies in the outer one."""
        across, down = self.width / inner[0], self.height / inner[1]
        ends = (box[0] * across, box[1] * down, (box[0] + box[2]) * across, (box[1] + box[3]) * down)
        left, right = (min(max(round(end), 0), self.width) + self.left for end in ends[::2])
        top, bottom = (min(max(round(end), 0), self.height) + self.top for end in ends[1::2])
        return Box(left, top, right, bottom)


def drawn_scene(content: Mapping[str, Any], size: tuple[int, int]) -> Picture:
    """Return the picture of an embedded scene: near things hide far ones."""
    fit = Fit.of((WIDTH, HEIGHT), size)
    canvas = Canvas(fit.width, fit.height)
    ground = Ground(canvas, fit.width / WIDTH, content["horizon"], content["lights"])
    BACKDROPS[content["scene"]](ground)
    with_table = content["scene"] == "table"
    rows = sorted(content["objects"], key=lambda row: float(row[2]))
    on_table = [row for row in rows if with_table and KINDS[row[0]].table]
    for row in rows:
        if row not in on_table:
            _draw(row, ground)
    if with_table:
        table(ground)
    for row in on_table:
        _draw(row, ground)
    image, instances = fit.framed(canvas.image, size), fit.framed(canvas.instances, size, bar=0)
    things = [Thing(thing.name, _shifted(thing.box, fit)) for thing in canvas.things]
    return Picture(image, tuple(things), instances)


def _draw(row: Sequence[Any], ground: Ground) -> None:
    """Draw one object; those that do not count are drawn, but are no things."""
    name, x, y, tall, left, hue, tone, pose, counts = row
    scale = ground.scale
    brush = Brush(ground.canvas, x * scale, y * scale, tall * scale, bool(left))
    if not counts:
        DRAWINGS[name](brush, Look(hue, tone, pose))
        return
    with ground.canvas.thing(name):
        DRAWINGS[name](brush, Look(hue, tone, pose))


def _shifted(box: Box, fit: Fit) -> Box:
    if box.right == 0:
        return box
    return Box(box.left + fit.left, box.top + fit.top, box.right + fit.left, box.bottom + fit.top)


def photograph(path: Path, size: tuple[int, int]) -> Array:
    """Return an image file fitted into a size."""
    try:
        with Image.open(path) as opened:
            fit = Fit.of(opened.size, size)
            opened.draft("RGB", (fit.width, fit.height))  # a JPEG is decoded at about the size that is wanted
            small = opened.convert("RGB").resize((fit.width, fit.height), Image.Resampling.BILINEAR, reducing_gap=2.0)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"image {path.name!r} cannot be read: {error}") from None
    return fit.framed(np.asarray(small), size)
