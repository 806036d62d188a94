"""Drawing one object in its own measure: x to the right and y up from the middle of its foot, its height 1."""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from assay.base import Array
from assay.render import Canvas, Colour, ellipse_points

INK: Colour = (38, 38, 42)
WHITE: Colour = (245, 245, 242)
METAL: Colour = (150, 154, 160)
GLASS: Colour = (168, 200, 220)
RUBBER: Colour = (40, 40, 44)

_TURNS = np.concatenate([np.linspace(0, np.pi / 2, 5) + corner * np.pi / 2 for corner in range(4)])
_ROUND = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)
_SIDES = np.repeat([[1, 1], [-1, 1], [-1, -1], [1, -1]], 5, axis=0)
"""The corners of a rectangle, each five times, and a circle's points to set about them."""

Spots = Sequence[tuple[float, float]] | Array


@dataclass(frozen=True)
class Appearance:
    """What sets one object apart from others of its class: numbers from 0 to 1."""

    hue: float = 0.5
    tone: float = 0.5
    pose: float = 0.5


@dataclass(frozen=True)
class Brush:
    """A canvas seen from one object: where its foot stands, how high it is in pixels, and whether it looks left."""

    canvas: Canvas
    x: float
    y: float
    height: float
    left: bool = False

    def at(self, spots: Spots) -> Array:
        """Return where these spots are on the canvas."""
        sign = -1.0 if self.left else 1.0
        return np.asarray(spots, dtype=np.float64) * (sign * self.height, -self.height) + (self.x, self.y)

    def shape(self, spots: Spots, fill: Colour) -> None:
        """Fill a closed shape."""
        self.canvas.polygon(self.at(spots), fill)

    def block(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """Fill a rectangle."""
        self.shape([(left, bottom), (right, bottom), (right, top), (left, top)], fill)

    def round_block(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """Fill a rectangle with round corners."""
        reach = min(right - left, top - bottom) * 0.32
        middle = np.array([left + right, bottom + top]) / 2
        half = np.array([right - left, top - bottom]) / 2 - reach
        self.shape(middle + _SIDES * half + _ROUND * reach, fill)

    def disc(self, x: float, y: float, radius: float, fill: Colour, upright: float | None = None) -> None:
        """Fill a disc, or an ellipse with another radius upright."""
        centre = self.at([(x, y)])[0]
        radii = radius * self.height, (radius if upright is None else upright) * self.height
        self.canvas.polygon(ellipse_points((float(centre[0]), float(centre[1])), radii), fill)

    def stroke(self, spots: Spots, colour: Colour, width: float) -> None:
        """Draw a line with round joints; at least half a pixel wide, so that far things keep their lines."""
        pixels = max(0.5, width * self.height)
        points = self.at(spots)
        self.canvas.line(points, colour, pixels)
        if pixels >= 3:
            for x, y in points.tolist():
                self.canvas.ellipse((x, y), (pixels / 2, pixels / 2), colour)

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float) -> None:
        """Draw a circle's line."""
        centre = self.at([(x, y)])[0]
        around_it = ellipse_points((float(centre[0]), float(centre[1])), (radius * self.height, radius * self.height))
        self.canvas.polygon(around_it, None, colour, max(0.6, width * self.height))


def mirror(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return a shape from its right half, given from top to bottom."""
    return [*spots, *((-x, y) for x, y in reversed(spots))]


def paint(hue: float, strength: float = 0.6, light: float = 0.75) -> Colour:
    """Return a colour by hue, strength and brightness."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, strength, light)
    return round(255 * red), round(255 * green), round(255 * blue)


@lru_cache(maxsize=8192)
def shade(colour: Colour, factor: float) -> Colour:
    """Return a colour made darker (below 1) or brighter."""
    red, green, blue = (max(0, min(255, round(part * factor))) for part in colour)
    return red, green, blue


def coat(look: Appearance) -> Colour:
    """Return the colour of something painted: mostly strong, now and then white, grey or black."""
    if look.tone > 0.72:
        level = 0.2 + 0.75 * ((look.tone - 0.72) / 0.28)
        return paint(look.hue, 0.05, level)
    return paint(look.hue, 0.55 + 0.4 * look.tone, 0.55 + 0.4 * look.tone)
