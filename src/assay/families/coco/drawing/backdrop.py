"""Backgrounds of the embedded scenes, each drawn from a few numbers."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from assay.families.coco.drawing.brush import GLASS, WHITE, paint, shaded
from assay.families.coco.scene_templates import HEIGHT, TABLE_TOP, WIDTH, Look
from assay.render.canvas import Canvas, Colour, around


class Ground:
    """A canvas in the measure of a scene, 640 x 480, with the numbers that make one scene unlike another."""

    def __init__(self, canvas: Canvas, scale: float, horizon: float, lights: Sequence[float]) -> None:
        self.canvas = canvas
        self.scale = scale
        self.line = horizon * HEIGHT
        self.lights = lights

    def number(self, which: int, turn: int = 0) -> float:
        """Return one of the scene's numbers from 0 to 1, or another that follows from it."""
        return (self.lights[which % len(self.lights)] * (1 + 7.31 * turn) + 0.618 * turn) % 1.0

    def shape(self, spots: Sequence[tuple[float, float]], fill: Colour) -> None:
        """Fill a closed shape."""
        self.canvas.polygon(np.array(spots) * self.scale, fill)

    def block(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Fill a rectangle."""
        self.shape([(left, top), (right, top), (right, bottom), (left, bottom)], fill)

    def disc(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        """Fill an ellipse."""
        place = x * self.scale, y * self.scale
        self.canvas.polygon(around(place, (across * self.scale, down * self.scale)), fill)

    def bands(self, top: float, bottom: float, first: Colour, last: Colour, count: int = 8) -> None:
        """Fill from edge to edge, one colour passing into another."""
        for step in range(count):
            share = step / max(1, count - 1)
            red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, last, strict=True))
            high = top + (bottom - top) * step / count
            self.block(-1, high, WIDTH + 1, bottom + 1, (red, green, blue))

    def sky(self) -> None:
        """Draw a sky from clear blue to dusk, with or without clouds."""
        hue, late = 0.56 + 0.05 * self.number(0), self.number(1)
        high, low = paint(hue, 0.5, 0.95 - 0.35 * late), paint(hue + 0.5 * (late > 0.75), 0.12 + 0.2 * late, 0.97)
        self.bands(0, self.line, high, low)
        for cloud in range(int(4 * self.number(2))):
            x, y = WIDTH * self.number(3, cloud + 1), self.line * (0.15 + 0.5 * self.number(4, cloud + 1))
            for shift in (-34, -10, 16, 38):
                self.disc(x + shift, y - 5 * (abs(shift) < 20), 30, 13, shaded(low, 1.03))

    def trees(self, count: int, base: float, size: float) -> None:
        """Draw a row of trees."""
        for place in range(count):
            x = WIDTH * self.number(5, place + 1)
            tall = size * (0.7 + 0.6 * self.number(3, place + 3))
            leaf = paint(0.27 + 0.1 * self.number(4, place), 0.5, 0.38 + 0.2 * self.number(0, place))
            self.block(x - tall * 0.05, base - tall * 0.5, x + tall * 0.05, base, (104, 78, 56))
            self.disc(x, base - tall * 0.68, tall * 0.32, tall * 0.34, leaf)
            self.disc(x - tall * 0.16, base - tall * 0.5, tall * 0.22, tall * 0.2, shaded(leaf, 0.88))


def _street(ground: Ground) -> None:
    ground.sky()
    left, place = -30.0, 0
    while left < WIDTH:
        wide = 60 + 90 * ground.number(2, place + 1)
        tall = ground.line * (0.3 + 0.6 * ground.number(3, place + 1))
        wall = paint(ground.number(4, place), 0.12 + 0.2 * ground.number(5, place), 0.5 + 0.3 * ground.number(1, place))
        ground.block(left, ground.line - tall, left + wide, ground.line + 2, wall)
        for row in range(int(tall // 26)):
            for column in range(int(wide // 24)):
                x, y = left + 9 + 24 * column, ground.line - tall + 9 + 26 * row
                ground.block(x, y, x + 10, y + 13, shaded(wall, 0.62))
        left, place = left + wide, place + 1
    kerb = ground.line + (HEIGHT - ground.line) * 0.1
    ground.block(-1, ground.line, WIDTH + 1, kerb, (176, 172, 166))
    grey = 84 + int(40 * ground.number(0))
    ground.bands(kerb, HEIGHT, (grey + 18, grey + 18, grey + 20), (grey, grey, grey + 3))
    middle = kerb + (HEIGHT - kerb) * 0.42
    for x in range(-40, WIDTH, 120):
        ground.shape([(x, middle), (x + 60, middle), (x + 54, middle + 6), (x - 8, middle + 6)], (226, 222, 206))


def _rail(ground: Ground) -> None:
    ground.sky()
    hill = paint(0.3 + 0.08 * ground.number(3), 0.35, 0.55)
    ground.disc(WIDTH * ground.number(4), ground.line, 330, 60, hill)
    ground.trees(5, ground.line + 6, 70)
    ground.bands(ground.line, HEIGHT, paint(0.25, 0.3, 0.5), (150, 140, 128))
    for share in (0.22, 0.38):
        y = ground.line + (HEIGHT - ground.line) * share
        ground.block(-1, y - 9, WIDTH + 1, y + 9, (134, 124, 114))
        for x in range(0, WIDTH, 26):
            ground.block(x, y - 6, x + 10, y + 7, (98, 78, 60))
        for rail in (-4, 4):
            ground.block(-1, y + rail - 1, WIDTH + 1, y + rail + 1, (178, 178, 182))
    platform = ground.line + (HEIGHT - ground.line) * 0.55
    ground.block(-1, platform, WIDTH + 1, HEIGHT, (188, 182, 172))
    ground.block(-1, platform, WIDTH + 1, platform + 7, (238, 214, 104))


def _field(ground: Ground) -> None:
    ground.sky()
    dry = ground.number(3) > 0.6
    grass = paint(0.15 if dry else 0.26 + 0.07 * ground.number(4), 0.45, 0.68)
    for hill in range(3):
        x = WIDTH * ground.number(5, hill + 1)
        ground.disc(x, ground.line + 8, 240, 30 + 40 * ground.number(2, hill), shaded(grass, 0.75 + 0.07 * hill))
    ground.trees(int(5 * ground.number(1, 2)), ground.line + 10, 80)
    ground.bands(ground.line, HEIGHT, shaded(grass, 0.92), shaded(grass, 1.08))
    if ground.number(0, 3) > 0.5:
        y = ground.line + 14
        for x in range(10, WIDTH, 56):
            ground.block(x, y - 20, x + 5, y + 12, (122, 98, 72))
        for rail in (-14, 0):
            ground.block(-1, y + rail, WIDTH + 1, y + rail + 3, (136, 110, 82))


def _park(ground: Ground) -> None:
    ground.sky()
    grass = paint(0.27 + 0.06 * ground.number(4), 0.5, 0.62)
    ground.block(-1, ground.line - 16, WIDTH + 1, ground.line + 4, shaded(grass, 0.62))
    ground.trees(3 + int(6 * ground.number(2)), ground.line + 12, 120)
    ground.bands(ground.line, HEIGHT, shaded(grass, 0.95), shaded(grass, 1.1))
    start, end = WIDTH * ground.number(3), WIDTH * ground.number(5)
    path = [(start - 14, ground.line), (start + 14, ground.line), (end + 130, HEIGHT + 1), (end - 130, HEIGHT + 1)]
    ground.shape(path, (206, 194, 168))


def _beach(ground: Ground) -> None:
    ground.sky()
    sea = paint(0.5 + 0.08 * ground.number(3), 0.55, 0.72)
    shore = ground.line + (HEIGHT - ground.line) * 0.2
    ground.bands(ground.line, shore + 4, shaded(sea, 0.85), shaded(sea, 1.15))
    for wave in range(5):
        y = ground.line + (shore - ground.line) * (0.2 + 0.18 * wave)
        x = WIDTH * ground.number(4, wave + 1)
        ground.disc(x, y, 60 + 50 * ground.number(5, wave), 2.2, WHITE)
    sand = paint(0.1 + 0.03 * ground.number(2), 0.3, 0.92)
    ground.bands(shore, HEIGHT, shaded(sand, 0.9), sand)
    ground.block(-1, shore - 2, WIDTH + 1, shore + 3, WHITE)


def _wall(ground: Ground, floor: float) -> None:
    """Draw a wall with a window or a picture on it."""
    wall = paint(ground.number(0), 0.06 + 0.18 * ground.number(1), 0.7 + 0.25 * ground.number(2))
    ground.block(-1, -1, WIDTH + 1, floor + 1, wall)
    x = 90 + (WIDTH - 260) * ground.number(3)
    if ground.number(4) > 0.35:
        ground.block(x - 6, 34, x + 126, 166, WHITE)
        ground.block(x, 40, x + 120, 160, shaded(GLASS, 1.1))
        ground.block(x + 57, 40, x + 63, 160, WHITE)
        ground.block(x, 97, x + 120, 103, WHITE)
    else:
        ground.block(x, 50, x + 110, 130, (96, 72, 54))
        ground.block(x + 7, 57, x + 103, 123, paint(ground.number(5), 0.4, 0.8))
        ground.disc(x + 55, 100, 30, 18, paint(ground.number(5) + 0.3, 0.5, 0.6))
    ground.block(-1, floor - 8, WIDTH + 1, floor + 1, shaded(wall, 0.85))


def _room(ground: Ground) -> None:
    floor = 0.58 * HEIGHT
    _wall(ground, floor)
    wood = paint(0.07 + 0.03 * ground.number(2), 0.45, 0.5 + 0.25 * ground.number(5))
    ground.block(-1, floor, WIDTH + 1, HEIGHT + 1, wood)
    for share in (0.12, 0.3, 0.55, 0.85):
        y = floor + (HEIGHT - floor) * share
        ground.block(-1, y, WIDTH + 1, y + 1.5, shaded(wood, 0.85))
    if ground.number(1, 2) > 0.4:
        rug = paint(ground.number(4, 2), 0.35, 0.7)
        ground.disc(WIDTH * (0.3 + 0.4 * ground.number(3, 2)), HEIGHT * 0.82, 200, 48, rug)


def _behind_table(ground: Ground) -> None:
    _wall(ground, 0.6 * HEIGHT)
    ground.block(-1, 0.6 * HEIGHT, WIDTH + 1, HEIGHT + 1, paint(0.07, 0.3, 0.5))


def table(ground: Ground) -> None:
    """Draw the table that things stand on, before all that stands behind it."""
    top = TABLE_TOP * HEIGHT
    cloth = ground.number(4, 3) > 0.55
    board = paint(ground.number(5, 2), 0.15, 0.93) if cloth else paint(0.07, 0.5, 0.45 + 0.35 * ground.number(2, 2))
    ground.block(-1, top, WIDTH + 1, HEIGHT + 1, board)
    ground.block(-1, top, WIDTH + 1, top + 5, shaded(board, 1.12))
    for line in range(1, 6):
        y = top + (HEIGHT - top) * (line / 6) ** 1.4
        ground.block(-1, y, WIDTH + 1, y + 1.5, shaded(board, 0.93))


BACKDROPS: Mapping[Look, Callable[[Ground], None]] = {
    "street": _street,
    "rail": _rail,
    "field": _field,
    "park": _park,
    "beach": _beach,
    "room": _room,
    "table": _behind_table,
}
