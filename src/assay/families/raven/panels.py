"""How puzzles look: shapes in the cells of panels, the matrix on the left and the candidates on the right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from assay.base import Array
from assay.families.raven.rules import CONTEXT, panel_names
from assay.logic import Value
from assay.render import Box, Canvas, Points, regular_polygon

GRID = 3
"""A panel has so many rows and columns of cells."""
GAP, SPACE = 3, 14
"""Pixels between two panels, and between matrix and candidates."""
PAPER, FRAME, EMPTY, INK = 255, 90, 200, 20


SHAPES: dict[str, Points] = {
    "triangle": regular_polygon(3),
    "square": regular_polygon(4, -np.pi / 4),
    "circle": 0.85 * regular_polygon(48),
    "star": np.stack([regular_polygon(5), -0.42 * np.roll(regular_polygon(5), 2, axis=0)], axis=1).reshape(-1, 2),
    "hexagon": regular_polygon(6, 0),
    "diamond": regular_polygon(4) * np.array([0.6, 1.0]),
}
"""The corners of each shape in the unit circle."""


@dataclass(frozen=True)
class PanelSheet:
    """Where the panels of a puzzle lie, each `side` pixels wide and high."""

    side: int
    candidates: int

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """The box of each panel by its name."""
        step, width, left = self.side + GAP, -(-self.candidates // GRID), GAP + (self.side + GAP) * GRID + SPACE
        corners = [(GAP + step * (i % GRID), GAP + step * (i // GRID)) for i in range(CONTEXT)]
        corners += [(left + step * (i % width), GAP + step * (i // width)) for i in range(self.candidates)]
        named = zip(panel_names(self.candidates), corners, strict=True)
        return {name: Box(x, y, x + self.side, y + self.side) for name, (x, y) in named}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return max(box.right for box in self.boxes.values()) + GAP, GAP + (self.side + GAP) * GRID

    @cached_property
    def empty(self) -> Array:
        """The frames of all panels; that of the missing one is light."""
        width, height = self.size
        image = np.full((height, width), PAPER, dtype=np.uint8)
        last = GAP + (self.side + GAP) * (GRID - 1)
        missing = Box(last, last, last + self.side, last + self.side)
        for box, line in [(missing, EMPTY), *((box, FRAME) for box in self.boxes.values())]:
            image[box.top : box.bottom, box.left : box.right] = line
            image[box.top + 1 : box.bottom - 1, box.left + 1 : box.right - 1] = PAPER
        return image

    def draw(self, panels: Mapping[str, Mapping[str, Value]], cells: Sequence[Sequence[int]], most: int) -> Array:
        """Return the picture of panels; `cells` has for each panel the order in which its cells are filled.

        Every panel tells `number`, `shape`, `size` (1 to 4) and `shade` (1 to `most`).
        """
        image, cell = self.empty.copy(), (self.side - 2) // GRID
        for (name, panel), order in zip(panels.items(), cells, strict=True):
            shade = round(235 - (235 - INK) * (int(panel["shade"]) - 1) / max(1, most - 1))
            sprite = shape_sprite(str(panel["shape"]), int(panel["size"]), shade, cell)
            box = self.boxes[name]
            for place in order[: int(panel["number"])]:
                row, column = divmod(place, GRID)
                top, left = box.top + 1 + row * cell, box.left + 1 + column * cell
                image[top : top + cell, left : left + cell] = sprite
        return image


@lru_cache(maxsize=4096)
def shape_sprite(shape: str, size: int, shade: int, cell: int) -> Array:
    """Return one shape in a cell of so many pixels: filled in its shade, with a dark outline."""
    radius = (cell - 3) / 2 * (0.46 + 0.18 * (size - 1))
    canvas = Canvas(cell, cell, (PAPER, PAPER, PAPER))
    canvas.polygon(SHAPES[shape] * radius + cell / 2, fill=(shade,) * 3, line=(INK,) * 3, width=1.0)
    return np.ascontiguousarray(canvas.image[:, :, 0])
