"""Figures of strokes: a closed or open line of straight sides or with a curved one, all corners outwards or one not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array
from assay.logic import Value
from assay.render import Box, Canvas, Points

FRAME_GAP, SPACE = 3, 16
"""Pixels between two figures, and between left, right and the figure in question."""
PAPER, FRAME, INK = 255, 170, 20
STEPS = 12
"""Into how many straight pieces a side is cut."""
BULGE = 0.24
"""How far the middle of the curved side lies from the straight line, in lengths of the side; no corner gets lost."""
OPENING = 0.4
"""The part of a side that is missing where a figure is open."""
DENT = 0.32
"""How far a corner that points inwards lies from the line between its neighbours, in radii."""


@dataclass(frozen=True)
class FigureStyle:
    """All of a figure that is no concept: how it is turned, and for each corner how far out and how far round it is.

    Whole numbers: `turn` in degrees, `zoom` in hundredths, `outs` in hundredths, `rounds` in degrees; `dent` and
    `gap` choose a corner and a side. The curved side, if there is one, lies opposite to the dent, and is never open.
    """

    turn: int
    zoom: int
    dent: int
    gap: int
    outs: tuple[int, ...]
    rounds: tuple[int, ...]

    @classmethod
    def draw(cls, rng: np.random.Generator, corners: int) -> "FigureStyle":
        """Draw a style for a figure of up to so many corners."""
        turn, zoom, dent, gap = rng.integers((0, 80, 0, 0), (360, 101, 5040, 5040)).tolist()
        outs, rounds = rng.integers(88, 101, corners).tolist(), rng.integers(-5, 6, corners).tolist()
        return cls(turn, zoom, dent, gap, tuple(outs), tuple(rounds))

    def to_list(self) -> list[int]:
        """Return the style as plain numbers."""
        return [self.turn, self.zoom, self.dent, self.gap, *self.outs, *self.rounds]

    @classmethod
    def from_list(cls, numbers: Sequence[int]) -> "FigureStyle":
        """Return the style that `to_list` wrote."""
        turn, zoom, dent, gap, *corners = numbers
        half = len(corners) // 2
        return cls(turn, zoom, dent, gap, tuple(corners[:half]), tuple(corners[half:]))


def corners_of(sides: int, convex: bool, style: FigureStyle) -> Points:
    """Return the corners of a figure about the origin, at most 1 away from it."""
    around = np.deg2rad(style.turn + 360 * np.arange(sides) / sides + np.array(style.rounds[:sides]))
    outs = np.array(style.outs[:sides]) / 100
    if not convex:
        outs[style.dent % sides] = np.cos(2 * np.pi / sides) - DENT
    return np.stack([outs * np.cos(around), outs * np.sin(around)], axis=1) * style.zoom / 100


def stroke_of(sides: int, curved: bool, closed: bool, convex: bool, style: FigureStyle) -> Points:
    """Return the points of a figure's line: once round it, or if it is open up to where it ends."""
    corners = corners_of(sides, convex, style)
    along = np.linspace(0, 1, STEPS + 1)[:, None]
    pieces = []
    bent = (style.dent + sides // 2) % sides
    for place, (start, end) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        step = end - start
        outwards = np.array([step[1], -step[0]])  # corners go round so that this points out of the figure
        bulge = BULGE if curved and place == bent else 0.0
        pieces.append(start + along * step + 4 * bulge * along * (1 - along) * outwards)
    if closed:
        return np.concatenate([piece[:-1] for piece in pieces])
    first = (bent + 1 + style.gap % (sides - 1)) % sides
    pieces = pieces[first:] + pieces[:first]
    cut = round(STEPS * (1 - OPENING) / 2)
    return np.concatenate([pieces[0][STEPS - cut :], *(piece[1:] for piece in pieces[1:]), pieces[0][1 : cut + 1]])


@dataclass(frozen=True)
class ProblemSheet:
    """Where the figures of a problem lie: those on the left, those on the right, and the one in question."""

    side: int
    examples: int

    @property
    def names(self) -> list[str]:
        """The names of the figures."""
        return [f"{where}{i + 1}" for where in ("left", "right") for i in range(self.examples)] + ["query"]

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """The box of each figure."""
        columns, step = 1 if self.examples == 1 else 2, self.side + FRAME_GAP
        rows = -(-self.examples // columns)
        block = columns * step + SPACE
        corners = [
            (FRAME_GAP + part * block + step * (i % columns), FRAME_GAP + step * (i // columns))
            for part in range(2)
            for i in range(self.examples)
        ]
        corners.append((FRAME_GAP + 2 * block, FRAME_GAP + step * (rows - 1) // 2))
        return {name: Box(x, y, x + self.side, y + self.side) for name, (x, y) in zip(self.names, corners, strict=True)}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        boxes = self.boxes.values()
        return max(box.right for box in boxes) + FRAME_GAP, max(box.bottom for box in boxes) + FRAME_GAP

    def draw(self, figures: Mapping[str, Mapping[str, Value]], styles: Sequence[Sequence[int]]) -> Array:
        """Return the picture of figures, each with `sides`, `curved`, `closed` and `convex`."""
        canvas = Canvas(*self.size, (PAPER,) * 3)
        for (name, figure), numbers in zip(figures.items(), styles, strict=True):
            box = self.boxes[name]
            corners = np.array(
                [[box.left, box.top], [box.right, box.top], [box.right, box.bottom], [box.left, box.bottom]]
            )
            canvas.polygon(corners, line=(FRAME,) * 3)
            middle = np.array([box.left + box.right, box.top + box.bottom]) / 2
            curved, closed, convex = (bool(figure[name]) for name in ("curved", "closed", "convex"))
            stroke = stroke_of(int(figure["sides"]), curved, closed, convex, FigureStyle.from_list(numbers))
            points, width = middle + stroke * (0.42 * self.side), max(1.0, self.side / 28)
            if closed:
                canvas.polygon(points, line=(INK,) * 3, width=width)
            else:
                canvas.line(points, (INK,) * 3, width)
        return np.ascontiguousarray(canvas.image[:, :, 0])
