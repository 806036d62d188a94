"""Pictures of the drawn scenes: a background, drawn from a few numbers, and the objects before it.

Where a picture has another shape than 640 x 480, ground and sky go on.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.families.coco.drawing import figures, objects
from assay.families.coco.drawing.brush import GLASS, WHITE, Appearance, Brush, paint, shade
from assay.families.coco.drawing.scene_templates import HEIGHT, OBJECT_KINDS, TABLE_TOP, WIDTH, SceneKind
from assay.render import Canvas, Colour, Letterbox, Picture, ellipse_points


class BackdropCanvas:
    """A canvas in the measure of a scene, 640 x 480, with the numbers that make one scene unlike another.

    Where the picture has another shape, the scene lies in its middle, and what is behind it goes on to `left`, `top`,
    `right` and `bottom`.
    """

    def __init__(self, canvas: Canvas, fit: Letterbox, horizon: float, lights: Sequence[float]) -> None:
        self.canvas = canvas
        self.scale = fit.width / WIDTH
        self.corner = np.array([fit.left, fit.top])
        self.line = horizon * HEIGHT
        self.lights = lights
        self.left, self.top = -fit.left / self.scale - 1, -fit.top / self.scale - 1
        height, width = canvas.instances.shape
        self.right, self.bottom = width / self.scale + self.left + 2, height / self.scale + self.top + 2

    def number(self, which: int, turn: int = 0) -> float:
        """Return one of the scene's numbers from 0 to 1, or another that follows from it."""
        return (self.lights[which % len(self.lights)] * (1 + 7.31 * turn) + 0.618 * turn) % 1.0

    def shape(self, spots: Sequence[tuple[float, float]], fill: Colour) -> None:
        """Fill a closed shape."""
        self.canvas.polygon(np.array(spots) * self.scale + self.corner, fill)

    def block(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Fill a rectangle."""
        self.shape([(left, top), (right, top), (right, bottom), (left, bottom)], fill)

    def disc(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        """Fill an ellipse."""
        place = x * self.scale + self.corner[0], y * self.scale + self.corner[1]
        self.canvas.polygon(ellipse_points(place, (across * self.scale, down * self.scale)), fill)

    def bands(self, top: float, bottom: float, first: Colour, last: Colour, count: int = 8) -> None:
        """Fill from edge to edge, one colour passing into another."""
        for step in range(count):
            share = step / max(1, count - 1)
            red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, last, strict=True))
            high = top + (bottom - top) * step / count
            self.block(self.left, high, self.right, bottom + 1, (red, green, blue))

    def patch(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Fill a rectangle that lies on the ground: its sides run to the middle of the horizon; `left` is at `top`."""
        grow = (bottom - self.line) / (top - self.line)
        far = [(left, top), (right, top)]
        near = [(WIDTH / 2 + (x - WIDTH / 2) * grow, bottom) for x in (right, left)]
        self.shape([*far, *near], fill)

    def across(self, step: int) -> range:
        """Return places from edge to edge."""
        return range(step * int(self.left // step), int(self.right) + 1, step)

    def sky(self) -> None:
        """Draw a sky from clear blue to dusk, with or without clouds."""
        hue, late = 0.56 + 0.05 * self.number(0), self.number(1)
        high, low = paint(hue, 0.5, 0.95 - 0.35 * late), paint(hue + 0.5 * (late > 0.75), 0.12 + 0.2 * late, 0.97)
        self.bands(self.top, self.line, high, low)
        for cloud in range(int(4 * self.number(2))):
            x, y = WIDTH * self.number(3, cloud + 1), self.line * (0.15 + 0.5 * self.number(4, cloud + 1))
            for shift in (-34, -10, 16, 38):
                self.disc(x + shift, y - 5 * (abs(shift) < 20), 30, 13, shade(low, 1.03))

    def trees(self, count: int, base: float, size: float) -> None:
        """Draw a row of trees."""
        for place in range(count):
            x = WIDTH * self.number(5, place + 1)
            tall = size * (0.7 + 0.6 * self.number(3, place + 3))
            leaf = paint(0.27 + 0.1 * self.number(4, place), 0.5, 0.38 + 0.2 * self.number(0, place))
            self.block(x - tall * 0.05, base - tall * 0.5, x + tall * 0.05, base, (104, 78, 56))
            self.disc(x, base - tall * 0.68, tall * 0.32, tall * 0.34, leaf)
            self.disc(x - tall * 0.16, base - tall * 0.5, tall * 0.22, tall * 0.2, shade(leaf, 0.88))


def _street(backdrop: BackdropCanvas) -> None:
    backdrop.sky()
    left, place = backdrop.left - 30.0, 0
    base = backdrop.line + (HEIGHT - backdrop.line) * 0.06
    while left < backdrop.right:
        wide = 60 + 90 * backdrop.number(2, place + 1)
        tall = backdrop.line * (0.3 + 0.6 * backdrop.number(3, place + 1))
        wall = paint(
            backdrop.number(4, place), 0.12 + 0.2 * backdrop.number(5, place), 0.5 + 0.3 * backdrop.number(1, place)
        )
        backdrop.block(left, backdrop.line - tall, left + wide, base + 2, wall)
        for row in range(int(tall // 26)):
            for column in range(int(wide // 24)):
                x, y = left + 9 + 24 * column, backdrop.line - tall + 9 + 26 * row
                backdrop.block(x, y, x + 10, y + 13, shade(wall, 0.62))
        left, place = left + wide, place + 1
    kerb = backdrop.line + (HEIGHT - backdrop.line) * 0.1
    backdrop.block(backdrop.left, base, backdrop.right, kerb, (176, 172, 166))
    grey = 84 + int(40 * backdrop.number(0))
    backdrop.bands(kerb, backdrop.bottom, (grey + 18, grey + 18, grey + 20), (grey, grey, grey + 3))
    middle = kerb + (HEIGHT - kerb) * 0.42
    for x in backdrop.across(120):
        backdrop.patch(x, middle, x + 60, middle + 6, (226, 222, 206))


def _rail(backdrop: BackdropCanvas) -> None:
    backdrop.sky()
    hill = paint(0.3 + 0.08 * backdrop.number(3), 0.35, 0.55)
    backdrop.disc(WIDTH * backdrop.number(4), backdrop.line, 330, 60, hill)
    backdrop.trees(5, backdrop.line + 6, 70)
    backdrop.bands(backdrop.line, backdrop.bottom, paint(0.25, 0.3, 0.5), (150, 140, 128))
    for share in (0.22, 0.38):
        y = backdrop.line + (HEIGHT - backdrop.line) * share
        backdrop.block(backdrop.left, y - 9, backdrop.right, y + 9, (134, 124, 114))
        for x in backdrop.across(26):
            backdrop.patch(x, y - 6, x + 10, y + 7, (98, 78, 60))
        for rail in (-4, 4):
            backdrop.block(backdrop.left, y + rail - 1, backdrop.right, y + rail + 1, (178, 178, 182))
    platform = backdrop.line + (HEIGHT - backdrop.line) * 0.55
    backdrop.block(backdrop.left, platform, backdrop.right, backdrop.bottom, (188, 182, 172))
    backdrop.block(backdrop.left, platform, backdrop.right, platform + 7, (238, 214, 104))


def _field(backdrop: BackdropCanvas) -> None:
    backdrop.sky()
    dry = backdrop.number(3) > 0.6
    grass = paint(0.15 if dry else 0.26 + 0.07 * backdrop.number(4), 0.45, 0.68)
    for hill in range(3):
        x = WIDTH * backdrop.number(5, hill + 1)
        backdrop.disc(x, backdrop.line + 8, 240, 30 + 40 * backdrop.number(2, hill), shade(grass, 0.75 + 0.07 * hill))
    backdrop.trees(int(5 * backdrop.number(1, 2)), backdrop.line + 10, 80)
    backdrop.bands(backdrop.line, backdrop.bottom, shade(grass, 0.92), shade(grass, 1.08))
    if backdrop.number(0, 3) > 0.5:
        y = backdrop.line + 14
        for x in backdrop.across(56):
            backdrop.block(x, y - 20, x + 5, y + 12, (122, 98, 72))
        for rail in (-14, 0):
            backdrop.block(backdrop.left, y + rail, backdrop.right, y + rail + 3, (136, 110, 82))


def _park(backdrop: BackdropCanvas) -> None:
    backdrop.sky()
    grass = paint(0.27 + 0.06 * backdrop.number(4), 0.5, 0.62)
    backdrop.block(backdrop.left, backdrop.line - 16, backdrop.right, backdrop.line + 4, shade(grass, 0.62))
    backdrop.trees(3 + int(6 * backdrop.number(2)), backdrop.line + 12, 120)
    backdrop.bands(backdrop.line, backdrop.bottom, shade(grass, 0.95), shade(grass, 1.1))
    start, end = WIDTH * backdrop.number(3), WIDTH * backdrop.number(5)
    reach = (backdrop.bottom - backdrop.line) / (HEIGHT - backdrop.line)
    near, wide = start + (end - start) * reach, 14 + 116 * reach
    far = [(start - 14, backdrop.line), (start + 14, backdrop.line)]
    backdrop.shape([*far, (near + wide, backdrop.bottom), (near - wide, backdrop.bottom)], (206, 194, 168))


def _beach(backdrop: BackdropCanvas) -> None:
    backdrop.sky()
    sea = paint(0.5 + 0.08 * backdrop.number(3), 0.55, 0.72)
    shore = backdrop.line + (HEIGHT - backdrop.line) * 0.2
    backdrop.bands(backdrop.line, shore + 4, shade(sea, 0.85), shade(sea, 1.15))
    for wave in range(5):
        y = backdrop.line + (shore - backdrop.line) * (0.2 + 0.18 * wave)
        x = WIDTH * backdrop.number(4, wave + 1)
        backdrop.disc(x, y, 60 + 50 * backdrop.number(5, wave), 2.2, WHITE)
    sand = paint(0.1 + 0.03 * backdrop.number(2), 0.3, 0.92)
    backdrop.bands(shore, backdrop.bottom, shade(sand, 0.9), sand)
    backdrop.block(backdrop.left, shore - 2, backdrop.right, shore + 3, WHITE)


def _wall(backdrop: BackdropCanvas, floor: float) -> None:
    """Draw a wall with a window or a picture on it."""
    wall = paint(backdrop.number(0), 0.06 + 0.18 * backdrop.number(1), 0.7 + 0.25 * backdrop.number(2))
    backdrop.block(backdrop.left, backdrop.top, backdrop.right, floor + 1, wall)
    x = 90 + (WIDTH - 260) * backdrop.number(3)
    if backdrop.number(4) > 0.35:
        backdrop.block(x - 6, 34, x + 126, 166, WHITE)
        backdrop.block(x, 40, x + 120, 160, shade(GLASS, 1.1))
        backdrop.block(x + 57, 40, x + 63, 160, WHITE)
        backdrop.block(x, 97, x + 120, 103, WHITE)
    else:
        backdrop.block(x, 50, x + 110, 130, (96, 72, 54))
        backdrop.block(x + 7, 57, x + 103, 123, paint(backdrop.number(5), 0.4, 0.8))
        backdrop.disc(x + 55, 100, 30, 18, paint(backdrop.number(5) + 0.3, 0.5, 0.6))
    backdrop.block(backdrop.left, floor - 8, backdrop.right, floor + 1, shade(wall, 0.85))


def _room(backdrop: BackdropCanvas) -> None:
    floor = 0.58 * HEIGHT
    _wall(backdrop, floor)
    wood = paint(0.07 + 0.03 * backdrop.number(2), 0.45, 0.5 + 0.25 * backdrop.number(5))
    backdrop.block(backdrop.left, floor, backdrop.right, backdrop.bottom, wood)
    for share in (0.12, 0.3, 0.55, 0.85):
        y = floor + (HEIGHT - floor) * share
        backdrop.block(backdrop.left, y, backdrop.right, y + 1.5, shade(wood, 0.85))
    if backdrop.number(1, 2) > 0.4:
        rug = paint(backdrop.number(4, 2), 0.35, 0.7)
        backdrop.disc(WIDTH * (0.3 + 0.4 * backdrop.number(3, 2)), HEIGHT * 0.82, 200, 48, rug)


def _behind_table(backdrop: BackdropCanvas) -> None:
    _wall(backdrop, 0.6 * HEIGHT)
    backdrop.block(backdrop.left, 0.6 * HEIGHT, backdrop.right, backdrop.bottom, paint(0.07, 0.3, 0.5))


def table(backdrop: BackdropCanvas) -> None:
    """Draw the table that things stand on, before all that stands behind it."""
    top = TABLE_TOP * HEIGHT
    cloth = backdrop.number(4, 3) > 0.55
    board = paint(backdrop.number(5, 2), 0.15, 0.93) if cloth else paint(0.07, 0.5, 0.45 + 0.35 * backdrop.number(2, 2))
    backdrop.block(backdrop.left, top, backdrop.right, backdrop.bottom, board)
    backdrop.block(backdrop.left, top, backdrop.right, top + 5, shade(board, 1.12))
    for line in range(1, 6):
        y = top + (HEIGHT - top) * (line / 6) ** 1.4
        backdrop.block(backdrop.left, y, backdrop.right, y + 1.5, shade(board, 0.93))


BACKDROPS: Mapping[SceneKind, Callable[[BackdropCanvas], None]] = {
    "street": _street,
    "rail": _rail,
    "field": _field,
    "park": _park,
    "beach": _beach,
    "room": _room,
    "table": _behind_table,
}


DRAWINGS: Mapping[str, Callable[[Brush, Appearance], None]] = {
    "traffic_light": objects.traffic_light,
    "bicycle": objects.bicycle,
    "bus": objects.bus,
    "train": objects.train,
    "bottle": objects.bottle,
    "cup": objects.cup,
    "pizza": objects.pizza,
    "cow": figures.cow,
    "elephant": figures.elephant,
    "sheep": figures.sheep,
    "person": figures.person,
    "dog": figures.dog,
    "car": objects.car,
    "bowl": objects.bowl,
    "truck": objects.truck,
    "couch": objects.couch,
    "chair": objects.chair,
    "motorcycle": objects.motorcycle,
    "surfboard": objects.surfboard,
}
"""The drawing of each object class: the nineteen that the rules of COCOLogic-V2 mention."""


def draw_scene(content: Mapping[str, Any], size: tuple[int, int]) -> Picture:
    """Return the picture of an embedded scene: near things hide far ones."""
    fit = Letterbox.of((WIDTH, HEIGHT), size)
    canvas = Canvas(*size)
    backdrop = BackdropCanvas(canvas, fit, content["horizon"], content["lights"])
    BACKDROPS[content["scene"]](backdrop)
    with_table = content["scene"] == "table"
    rows = sorted(content["objects"], key=lambda row: float(row[2]))
    on_table = [row for row in rows if with_table and OBJECT_KINDS[row[0]].table]
    for row in rows:
        if row not in on_table:
            _draw(row, backdrop)
    if with_table:
        table(backdrop)
    for row in on_table:
        _draw(row, backdrop)
    return Picture(canvas.image, canvas.things, canvas.instances)


def _draw(row: Sequence[Any], backdrop: BackdropCanvas) -> None:
    """Draw one object; those that do not count are drawn, but are no things."""
    name, x, y, tall, left, hue, tone, pose, counts = row
    scale, corner = backdrop.scale, backdrop.corner
    brush = Brush(backdrop.canvas, x * scale + corner[0], y * scale + corner[1], tall * scale, bool(left))
    if not counts:
        DRAWINGS[name](brush, Appearance(hue, tone, pose))
        return
    with backdrop.canvas.thing(name):
        DRAWINGS[name](brush, Appearance(hue, tone, pose))
