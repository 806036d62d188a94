"""Flat primitives (squares, circles, triangles, ...): where they lie in a figure, and how they look.

Places and sizes are multiples of half a pixel, so that a few hundred sprites, drawn once, make up all pictures. The
circles around any two primitives of a figure stay apart, whatever their shapes: a shape can change without a collision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image

from assay.base import Array
from assay.render import Box, Canvas, Colour, ObjectBox, Picture, Points, regular_polygon

HALVES = 2
GAP = 2 * HALVES
"""Between two primitives: no pixel shows both, smooth edges included."""
MARGIN = HALVES
BORDER = 1
"""Around a cutout, in its own pixels."""
ATTEMPTS, DARTS = 6, 12
SMALL = 32 * HALVES
"""The radius up to which sprites are kept; larger ones are drawn each time."""

Spot = Sequence[float]
"""Where a primitive lies in its figure: the centre's x and y, and the radius of the circle around it, in pixels."""


def _star() -> Points:
    outer, inner = regular_polygon(5), 0.45 * regular_polygon(5, -np.pi / 2 + np.pi / 5)
    return np.stack([outer, inner], axis=1).reshape(-1, 2)


def _cross() -> Points:
    arm = np.array([[-0.32, -0.94], [0.32, -0.94], [0.32, -0.32], [0.94, -0.32], [0.94, 0.32], [0.32, 0.32]])
    return np.concatenate([arm, -arm])


SHAPES: dict[str, Points] = {
    "square": 0.95 * regular_polygon(4, -np.pi / 4),
    "circle": 0.85 * regular_polygon(64),
    "triangle": regular_polygon(3),
    "diamond": regular_polygon(4) * np.array([0.7, 1.0]),
    "pentagon": 0.95 * regular_polygon(5),
    "hexagon": 0.92 * regular_polygon(6),
    "star": _star(),
    "cross": _cross(),
}
"""The corners of each shape in the unit circle, of about the same size to the eye."""

COLOURS: dict[str, Colour] = {
    "red": (220, 30, 30),
    "yellow": (250, 205, 20),
    "blue": (30, 80, 220),
    "green": (25, 150, 60),
    "orange": (245, 125, 20),
    "purple": (140, 50, 170),
    "cyan": (40, 190, 210),
    "pink": (250, 130, 180),
    "brown": (120, 75, 40),
}
BACKGROUNDS: dict[str, Colour] = {"white": (255, 255, 255), "grey": (150, 150, 150), "black": (0, 0, 0)}
LINES: dict[str, Colour] = {"white": (110, 110, 110), "grey": (60, 60, 60), "black": (150, 150, 150)}
"""The line between two figures on each background."""


def most_that_fit(side: int, smallest: float) -> int:
    """Return how many primitives of the smallest radius surely fit in a square figure: as many as a grid has cells.

    >>> most_that_fit(64, 6.0)
    16
    """
    cells = (side * HALVES - 2 * MARGIN + GAP) // (2 * round(smallest * HALVES) + GAP)
    return int(cells) ** 2


def scatter_spots(rng: np.random.Generator, count: int, side: int, radii: tuple[float, float]) -> list[list[float]]:
    """Draw where primitives lie, apart from one another, ordered by their distance from the figure's upper left corner.

    Radii are drawn evenly between the two, and from a smaller range if they leave no room.
    """
    width = side * HALVES
    low, high = (min(round(radius * HALVES), width // 2 - MARGIN) for radius in radii)
    for attempt in range(ATTEMPTS):
        most = high - (high - low) * attempt // (ATTEMPTS - 1)
        discs = _throw_discs(rng.random(count * (1 + 2 * DARTS)).tolist(), count, width, (low, most))
        if discs is not None:
            break
    else:
        discs = _on_grid(rng, count, width, low)
    discs.sort(key=lambda spot: (spot[0] ** 2 + spot[1] ** 2, spot[0]))
    return [[x / HALVES, y / HALVES, radius / HALVES] for x, y, radius in discs]


Disc = tuple[int, int, int]


def _throw_discs(draws: list[float], count: int, width: int, radii: tuple[int, int]) -> list[Disc] | None:
    """Return discs thrown one by one, the largest first, or None if one finds no room."""
    low, high = radii
    sizes = sorted((low + int(draw * (high - low + 1)) for draw in draws[:count]), reverse=True)
    placed: list[Disc] = []
    darts = iter(draws[count:])
    for radius in sizes:
        start, room = MARGIN + radius, width - 2 * (MARGIN + radius) + 1
        for _ in range(DARTS):
            x, y = start + int(next(darts) * room), start + int(next(darts) * room)
            if all((x - a) ** 2 + (y - b) ** 2 >= (radius + c + GAP) ** 2 for a, b, c in placed):
                placed.append((x, y, radius))
                break
        else:
            return None
    return placed


def _on_grid(rng: np.random.Generator, count: int, width: int, radius: int) -> list[Disc]:
    """Return discs of one size in cells of a grid, each somewhere in its cell."""
    cells = int(np.ceil(np.sqrt(count)))
    cell = (width - 2 * MARGIN + GAP) // cells
    chosen = rng.permutation(cells**2)[:count]
    shifts = rng.integers(cell - GAP - 2 * radius + 1, size=(count, 2))
    corners = np.stack([chosen % cells, chosen // cells], axis=1) * cell + MARGIN + radius
    return [(int(x), int(y), radius) for x, y in corners + shifts]


@dataclass(frozen=True)
class Sprite:
    """A primitive in one colour, to be added to a picture of the background.

    `tint`         what is added to the background, in bytes that wrap around
    `mask`         1 for each pixel that is mostly inside
    `left`, `top`  where its corner lies from the whole pixel of the centre
    `box`          the box around the mask, from the sprite's corner
    """

    tint: Array
    mask: Array
    left: int
    top: int
    box: Box


def sprite_at(shape: str, colour: str, background: str, spot: Spot) -> tuple[Sprite, int, int]:
    """Return the sprite of a primitive, and the column and row of its corner in the figure."""
    x, y, radius = (round(number * HALVES) for number in spot)
    stamp = _cached(radius, _sprite)(shape, colour, background, radius, x % HALVES, y % HALVES)
    return stamp, x // HALVES + stamp.left, y // HALVES + stamp.top


def cutout(shape: str, colour: str, background: str, spot: Spot, side: int) -> Sprite:
    """Return a primitive cut out of its figure by the box around it, and scaled to fill a square of this side."""
    x, y, radius = (round(number * HALVES) for number in spot)
    return _cached(radius, _cutout)(shape, colour, background, radius, x % HALVES, y % HALVES, side)


def stamp_sprites(empty: Array, stamps: Sequence[tuple[str, Sprite, int, int]]) -> Picture:
    """Return a picture with named sprites, each at a column and a row; no pixel may lie in two of them."""
    image = empty.copy()
    instances = np.zeros(empty.shape[:2], dtype=np.uint8 if len(stamps) < 256 else np.uint16)
    things = []
    for number, (name, stamp, left, top) in enumerate(stamps, start=1):
        height, width = stamp.mask.shape
        image[top : top + height, left : left + width] += stamp.tint
        instances[top : top + height, left : left + width] += np.multiply(stamp.mask, number, dtype=instances.dtype)
        box = stamp.box
        things.append(ObjectBox(name, Box(left + box.left, top + box.top, left + box.right, top + box.bottom)))
    return Picture(image, tuple(things), instances)


def _cached(radius: int, make: Callable[..., Sprite]) -> Callable[..., Sprite]:
    return make if radius <= SMALL else make.__wrapped__  # type: ignore[attr-defined]


@lru_cache(maxsize=4096)
def _sprite(shape: str, colour: str, background: str, radius: int, right: int, down: int) -> Sprite:
    ink, left, top = _ink(shape, radius, right, down)
    return _tint(ink, colour, background, left, top)


@lru_cache(maxsize=4096)
def _cutout(shape: str, colour: str, background: str, radius: int, right: int, down: int, side: int) -> Sprite:
    ink, _, _ = _ink(shape, radius, right, down)
    inside = side - 2 * BORDER
    height, width = (max(1, round(size * inside / max(ink.shape))) for size in ink.shape)
    square = np.zeros((side, side), dtype=np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    scaled = Image.fromarray(ink).resize((width, height), Image.Resampling.BILINEAR)
    square[top : top + height, left : left + width] = np.array(scaled)
    return _tint(square, colour, background, 0, 0)


def _ink(shape: str, radius: int, right: int, down: int) -> tuple[Array, int, int]:
    """Return how much of each pixel a shape covers, cut to where it covers any, and its corner from the centre."""
    middle = radius // HALVES + 3
    canvas = Canvas(2 * middle, 2 * middle)
    centre = np.array([middle + right / HALVES, middle + down / HALVES])
    canvas.polygon(SHAPES[shape] * (radius / HALVES) + centre, fill=(0, 0, 0))
    ink = 255 - canvas.image[:, :, 0]
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return cut, int(columns[0]) - middle, int(rows[0]) - middle


def _tint(ink: Array, colour: str, background: str, left: int, top: int) -> Sprite:
    behind = np.array(BACKGROUNDS[background])
    step = (ink[:, :, None].astype(np.int64) * (np.array(COLOURS[colour]) - behind) + 127) // 255
    mask = (ink >= 128).astype(np.uint8)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = Box(int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return Sprite(step.astype(np.uint8), mask, left, top, box)
