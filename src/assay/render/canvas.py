"""Drawing in two dimensions: smooth shapes on a picture, and beside it which pixel shows which object."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import aggdraw
import numpy as np
from PIL import Image, ImageDraw

from assay.base import Array
from assay.render.picture import ObjectBox, boxes_of

Colour = tuple[int, int, int]
Points = Array
"""Corners of a shape: a row each, x to the right and y down, in pixels; numbers with fractions."""


class Canvas:
    """A picture being drawn. Later shapes hide earlier ones; `thing` sets the object that shapes belong to."""

    def __init__(self, width: int, height: int, background: Colour = (255, 255, 255)) -> None:
        self.picture = Image.new("RGB", (width, height), background)
        self.drawing = aggdraw.Draw(self.picture)
        self.map = Image.new("L", (width, height), 0)
        self.marking = ImageDraw.Draw(self.map)
        self.names: list[str] = []
        self.current = 0

    @contextmanager
    def thing(self, name: str) -> Iterator[None]:
        """Draw one object: all shapes drawn inside are its own."""
        before = self.current
        self.names.append(name)
        self.current = len(self.names)
        yield
        self.current = before

    def polygon(
        self, corners: Points, fill: Colour | None = None, line: Colour | None = None, width: float = 1.0
    ) -> None:
        """Draw a closed shape, filled, outlined, or both."""
        flat = np.asarray(corners, dtype=np.float64).ravel().tolist()
        pen = None if line is None else aggdraw.Pen(line, width)
        brush = None if fill is None else aggdraw.Brush(fill)
        self.drawing.polygon(flat, pen, brush)
        if self.current and fill is not None:
            self.marking.polygon([round(v) for v in flat], fill=self.current)
        if self.current and line is not None:
            self.marking.polygon([round(v) for v in flat], outline=self.current, width=max(1, round(width)))

    def ellipse(
        self,
        centre: tuple[float, float],
        radii: tuple[float, float],
        fill: Colour | None = None,
        line: Colour | None = None,
        width: float = 1.0,
        angle: float = 0.0,
    ) -> None:
        """Draw an ellipse, turned by an angle in radians."""
        self.polygon(ellipse_points(centre, radii, angle), fill, line, width)

    def line(self, points: Points, colour: Colour, width: float = 1.0) -> None:
        """Draw straight lines from point to point."""
        flat = np.asarray(points, dtype=np.float64).ravel().tolist()
        self.drawing.line(flat, aggdraw.Pen(colour, width))
        if self.current:
            self.marking.line([round(v) for v in flat], fill=self.current, width=max(1, round(width)))

    @property
    def image(self) -> Array:
        """The picture so far: height x width x 3 bytes."""
        self.drawing.flush()
        return np.array(self.picture)

    @property
    def instances(self) -> Array:
        """For each pixel the number of the object that it shows, 0 for none."""
        return np.array(self.map)

    @property
    def things(self) -> tuple[ObjectBox, ...]:
        """The objects drawn, with their boxes."""
        return boxes_of(self.instances, self.names)


@lru_cache(maxsize=64)
def _circle(corners: int) -> Array:
    turns = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


def ellipse_points(centre: tuple[float, float], radii: tuple[float, float], angle: float = 0.0) -> Points:
    """Return the corners of an ellipse.

    Parameters
    ----------
    centre
        Where its middle is, in pixels.
    radii
        Half of its width and half of its height.
    angle
        By how many radians it is turned.
    """
    corners = _circle(max(12, min(128, int(4 * max(radii)) // 4 * 4)))
    return move_points(corners * np.array(radii), centre, angle)


def move_points(points: Points, to: tuple[float, float], angle: float = 0.0, scale: float = 1.0) -> Points:
    """Return points about the origin, scaled, then turned by an angle in radians, then moved."""
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    turned = np.asarray(points, dtype=np.float64) @ np.array([[cos, sin], [-sin, cos]])
    return np.asarray(turned + np.array(to))


def regular_polygon(corners: int, start: float = -np.pi / 2) -> Points:
    """Return the corners of a regular shape in the unit circle, the first one at the top."""
    turns: Sequence[float] | Array = start + 2 * np.pi * np.arange(corners) / corners
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)
