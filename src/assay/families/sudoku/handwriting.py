"""Handwritten symbols: real digits, and letters and digits drawn by strokes, in pools that share no image.

A stroke is a line through a few points, straight or smooth. Each image of a symbol moves the points a little, slants
and stretches them, and draws them with a pen of some width: 40 images of each symbol in each pool, always the same.
"""

from dataclasses import dataclass, field
from typing import Literal

import aggdraw
import numpy as np
from PIL import Image

from assay.base import Array, rng_for
from assay.families.handwriting.digits import POOLS, SIDE, DigitSource

Hand = Literal["digits", "strokes", "printed"]
VARIANTS = 40
STEPS = 6
TALL, WIDE = 10, 6
STROKES = {
    "0": "~30 12 05 18 3X 58 65 52 30",
    "1": "-12 30 3X",
    "2": "~02 10 40 62 55 28 0X,-0X 6X",
    "3": "~01 30 62 54 25,~25 57 68 3X 09",
    "4": "-40 07 67,-53 5X",
    "5": "-60 10 14,~14 44 67 4X 09",
    "6": "~50 22 06 19 3X 68 56 25 07",
    "7": "-00 60 2X",
    "8": "~62 30 02 35 67 3X 07 35 62",
    "9": "~62 40 11 03 25 54 62,~62 66 4X",
    "A": "-0X 30 6X,-16 56",
    "B": "-00 0X,~00 40 52 44 05,~05 45 68 4X 0X",
    "C": "~62 40 11 05 19 4X 68",
    "D": "-00 0X,~00 41 65 49 0X",
    "E": "-60 00 0X 6X,-05 55",
    "F": "-60 00 0X,-05 55",
    "G": "~62 40 11 05 19 4X 68,-6X 65 35",
    "a": "~54 23 06 19 3X 58,-54 59 6X",
    "h": "-00 0X,~06 34 56 5X",
    "k": "-00 0X,-53 07 5X",
    "x": "-03 6X,-63 0X",
}
"""Each symbol's strokes: `~` smooth or `-` straight, then points as x from 0 to 6 and y from 0 to 10 (X), y down."""


@dataclass(frozen=True)
class Writing:
    """Where the images of handwritten symbols come from; `numbers` of images name them."""

    digits: DigitSource | None
    cache: dict[tuple[str, str, int], Array] = field(default_factory=dict, compare=False, repr=False)

    def image(self, pool: str, symbol: str, draw: int) -> Array:
        """Return the image that a draw picks: 28 x 28 bytes, ink bright."""
        if self.digits is not None and symbol.isdecimal():
            picked: Array = self.digits.images[self.digits.image_number(pool, int(symbol), draw)]
            return picked
        key = pool, symbol, draw % VARIANTS
        if key not in self.cache:
            self.cache[key] = draw_strokes(*key)
        return self.cache[key]

    def name(self, pool: str, symbol: str, draw: int) -> str:
        """Return the name of the image that a draw picks."""
        if self.digits is not None and symbol.isdecimal():
            return f"digit {self.digits.image_number(pool, int(symbol), draw)}"
        return f"strokes {symbol} {POOLS.index(pool) * VARIANTS + draw % VARIANTS}"


def draw_strokes(pool: str, symbol: str, variant: int) -> Array:
    """Draw a symbol by its strokes; the same pool and variant always give the same image."""
    rng = rng_for(0, "strokes", pool, symbol, variant)
    pen = aggdraw.Pen(255, float(rng.uniform(1.7, 3.0)))
    stretch = np.array([rng.uniform(1.6, 2.2), rng.uniform(1.75, 2.05)])
    slant, turn = rng.uniform(-0.25, 0.15), rng.uniform(-0.12, 0.12)
    picture = Image.new("L", (SIDE, SIDE), 0)
    drawing = aggdraw.Draw(picture)
    for stroke in STROKES[symbol].split(","):
        points = np.array([["0123456789X".index(letter) for letter in pair] for pair in stroke[1:].split()], float)
        points = (points + rng.normal(0, 0.28, points.shape) - (WIDE / 2, TALL / 2)) * stretch
        points = points @ np.array([[1.0, turn], [slant, 1.0]]) + SIDE / 2
        line = smooth_line(points) if stroke[0] == "~" else points
        drawing.line(line.ravel().tolist(), pen)
    drawing.flush()
    return np.array(picture)


def smooth_line(points: Array) -> Array:
    """Return a smooth line through points (a Catmull-Rom spline)."""
    padded = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    before, start, end, after = (padded[i : len(padded) - 3 + i, None] for i in range(4))
    t = np.linspace(0, 1, STEPS, endpoint=False)[:, None]
    curve = 0.5 * (
        2 * start
        + (end - before) * t
        + (2 * before - 5 * start + 4 * end - after) * t**2
        + (3 * start - before - 3 * end + after) * t**3
    )
    return np.concatenate([curve.reshape(-1, 2), points[-1:]])
