"""Robots as pictures: one drawing in units of its own, at any size, from cached bands.

A robot is drawn in three bands that share no ink: head, arms, legs. Each band depends on few parts (16, 24 and 20
combinations), so that all bands of a look are drawn once, as amounts of three inks: the left paint, the right paint and
black. Averaging down to a size, blurring and mixing are linear, so that a picture is the sum of its bands' inks times
the colours: the same as if the whole robot were drawn large and averaged, but by adding three cached tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from PIL import Image, ImageFilter

from assay.base import Array
from assay.render import Canvas, Colour, ellipse_points

HEIGHT = 12.0
"""The side of the picture in units of the drawing."""
MASTER = 512
"""How wide a picture is drawn at least, in pixels, before it is averaged to its size."""
LEFT, RIGHT, BLACK, BLANK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0)
"""The inks as colours of the canvas; blank is the white of the paper."""

PALETTE: Mapping[str, Colour] = {
    "red": (214, 48, 49), "orange": (240, 130, 30), "yellow": (248, 212, 60), "lime": (164, 214, 60),
    "green": (56, 160, 84), "teal": (24, 150, 150), "cyan": (96, 210, 230), "blue": (52, 120, 226),
    "indigo": (96, 84, 204), "purple": (150, 72, 190), "magenta": (214, 60, 170), "pink": (250, 164, 194),
    "brown": (160, 100, 60), "olive": (142, 146, 48), "grey": (140, 146, 156), "beige": (226, 202, 164),
}  # fmt: skip

HEAD_TOP, HEAD_BOTTOM, BODY_BOTTOM, LEG_BOTTOM = 2.0, 3.75, 7.75, 10.2
MIDDLE, HEAD_HALF, BODY_HALF, BODY_RADIUS = 6.0, 0.875, 1.75, 2.0
ARM_Y, HAND_X, LEG_X = HEAD_BOTTOM + 1.32, 4.35, 0.875
HAND, FOOT = 0.8, (0.95, 0.85)


@dataclass(frozen=True)
class Band:
    """A strip of the picture: the places of its parts among a robot's parts, their numbers of values, and its box."""

    parts: tuple[int, ...]
    values: tuple[int, ...]
    box: tuple[float, float, float, float]


BANDS = (
    Band((0, 4, 5, 6), (2, 2, 2, 2), (3.9, 1.0, 8.1, HEAD_BOTTOM)),
    Band((1, 3, 7), (2, 2, 6), (0.8, HEAD_BOTTOM, 11.2, BODY_BOTTOM)),
    Band((2, 8), (2, 10), (4.4, BODY_BOTTOM, 7.6, 11.3)),
)


PAPERS = {"white": (255, 255, 255), "yellow": (255, 238, 170), "blue": (190, 215, 255)}
"""The colours of the paper that robots may be drawn on."""


@dataclass(frozen=True)
class RobotAppearance:
    """How robots are drawn. Lengths are in units: a twelfth of the picture.

    `size`       of the picture in pixels, both ways
    `dot`        the diameter of knees and elbows
    `toe`        how deep the point of a pointy foot is, as a share of the foot
    `line`       the width of outlines
    `contrast`   of the whole picture: 0 is blank paper
    `blur`       the spread of a Gaussian blur
    `visible`    for each of the nine parts how far its values look different: 1 as drawn, 0 all alike
    """

    size: int = 32
    dot: float = 0.5
    toe: float = 0.35
    line: float = 0.12
    contrast: float = 1.0
    blur: float = 0.0
    visible: tuple[float, ...] = (1.0,) * 9


@dataclass(frozen=True)
class InkTable:
    """All ways that a band can look: inks by combination of its parts, and where in the picture they go."""

    inks: Array
    left: int
    top: int

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return int(self.inks.shape[1]), int(self.inks.shape[2])


def draw_robots(robots: Array, colours: Array, appearance: RobotAppearance, channels: int = 3) -> Array:
    """Return pictures of robots (rows of nine codes) in pairs of colours (robots x 2 x channels): a pure function."""
    images = np.empty((len(robots), appearance.size, appearance.size, channels), dtype=np.uint8)
    step = max(1, 2**19 // (appearance.size * appearance.size))
    for start in range(0, len(robots), step):
        stop = start + step
        images[start:stop] = _mix_inks(robots[start:stop], colours[start:stop], appearance)
    return images


def _mix_inks(robots: Array, colours: Array, appearance: RobotAppearance) -> Array:
    darkness = np.full((len(robots), 3, colours.shape[2]), 255.0, dtype=np.float32)  # of each ink in each channel
    darkness[:, :2] -= colours
    darkness *= appearance.contrast
    dark = np.zeros((len(robots), appearance.size, appearance.size, colours.shape[2]), dtype=np.float32)
    for band, table in zip(BANDS, ink_tables(appearance), strict=True):
        which = _combination(robots, band)
        (height, width), channels = table.shape, colours.shape[2]
        inks = table.inks.reshape(len(table.inks), -1, 3)[which] @ darkness
        place = np.s_[:, table.top : table.top + height, table.left : table.left + width]
        dark[place] += inks.reshape(len(robots), height, width, channels)
    np.subtract(255.5, dark, out=dark)  # and the half that makes cutting off rounding
    return np.clip(dark, 0, 255, out=dark).astype(np.uint8)


def picture_codes(robots: Array, appearance: RobotAppearance) -> Array:
    """Return for each robot a number for how each band looks: the same numbers, the same picture in any colours."""
    columns = []
    for band, table in zip(BANDS, ink_tables(appearance), strict=True):
        shades = np.rint(255 * appearance.contrast * table.inks).reshape(len(table.inks), -1)
        _, looks = np.unique(shades, axis=0, return_inverse=True)
        columns.append(looks.ravel()[_combination(robots, band)])
    return np.stack(columns, axis=1)


def _combination(robots: Array, band: Band) -> Array:
    return np.asarray(np.ravel_multi_index(tuple(robots[:, part] for part in band.parts), band.values))


@lru_cache(maxsize=8)
def ink_tables(appearance: RobotAppearance) -> tuple[InkTable, ...]:
    """Return the inks of each band in all its combinations."""
    return tuple(_ink_table(band, appearance) for band in BANDS)


def _ink_table(band: Band, appearance: RobotAppearance) -> InkTable:
    scale = appearance.size / HEIGHT
    margin = 3 * appearance.blur
    left, top = (max(0, int(np.floor((edge - margin) * scale))) for edge in band.box[:2])
    right, bottom = (min(appearance.size, int(np.ceil((edge + margin) * scale))) for edge in band.box[2:])
    shape = bottom - top, right - left
    inks = np.stack(
        [_inks(band, codes, appearance, (left, top), shape) for codes in product(*map(range, band.values))],
        dtype=np.float32,
    ).reshape(*band.values, *shape, 3)
    for axis, part in enumerate(band.parts):
        visibility = np.float32(appearance.visible[part])
        if visibility < 1:
            inks = visibility * inks + (1 - visibility) * inks.mean(axis=axis, keepdims=True)
    return InkTable(inks.reshape(-1, *shape, 3), left, top)


def _inks(
    band: Band, codes: Sequence[int], appearance: RobotAppearance, corner: tuple[int, int], shape: tuple[int, int]
) -> Array:
    """Return the inks of one combination, drawn large and averaged down."""
    times = 2 * -(-MASTER // (2 * appearance.size))  # an even number, so that the middle lies between two pixels
    canvas = Canvas(shape[1] * times, shape[0] * times, BLANK)
    pen = Pen(canvas, appearance.size * times / HEIGHT, corner, times, appearance)
    (head, arms, legs)[BANDS.index(band)](pen, *codes)
    image = pen.canvas.image
    first, last = (round(edge * pen.scale) - corner[1] * times for edge in (band.box[1], band.box[3]))
    image[: max(0, first)] = 0  # each line of the drawing belongs to one band
    image[max(0, last) :] = 0
    if appearance.blur:
        gaussian = ImageFilter.GaussianBlur(appearance.blur * pen.scale)
        image = np.asarray(Image.fromarray(image).filter(gaussian))
    blocks = image.reshape(shape[0], times, shape[1], times, 3)
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32) / 255)


@dataclass(frozen=True)
class Pen:
    """Draws in units on a canvas that shows a part of the picture."""

    canvas: Canvas
    scale: float
    corner: tuple[int, int]
    times: int
    appearance: RobotAppearance

    def at(self, points: Array) -> Array:
        """Return points in units as pixels of the canvas."""
        return np.asarray(points * self.scale - np.array(self.corner) * self.times, dtype=np.float64)

    def shape(self, points: Array, paint: Colour, line: bool = True) -> None:
        """Draw a closed shape in a paint, with an outline around it."""
        self.canvas.polygon(self.at(points), paint, BLACK if line else None, self.appearance.line * self.scale)

    def halves(self, points: Array) -> None:
        """Draw a closed shape, left of the middle in one paint and right of it in the other."""
        self.shape(points, RIGHT)
        west = np.minimum(points, np.array([MIDDLE, np.inf]))  # folds the right half onto the middle
        self.shape(west, LEFT, line=False)
        self.stroke(np.vstack([points, points[:1]]), self.appearance.line)

    def stroke(self, points: Array, width: float, ink: Colour = BLACK) -> None:
        """Draw lines from point to point."""
        self.canvas.line(self.at(points), ink, width * self.scale)

    def disc(self, x: float, y: float, radius: float, ink: Colour = BLACK) -> None:
        """Draw a filled circle without an outline."""
        if radius:
            points = ellipse_points((0, 0), (radius * self.scale,) * 2) / self.scale
            self.shape(points + np.array([x, y]), ink, line=False)


def box(left: float, top: float, right: float, bottom: float) -> Array:
    """Return the corners of a rectangle."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def ring(x: float, y: float, across: float, down: float) -> Array:
    """Return the corners of an ellipse with these radii."""
    turns = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    return np.stack([x + across * np.cos(turns), y + down * np.sin(turns)], axis=1)


def head(pen: Pen, shape: int, antennae: int, ears: int, mouth: int) -> None:
    """Draw the head: square or round; antennae; ears square or triangular; mouth closed or open."""
    half, line = HEAD_HALF - pen.appearance.line / 2, pen.appearance.line
    top, bottom = HEAD_TOP + line / 2, HEAD_BOTTOM - line / 2
    centre = (HEAD_TOP + HEAD_BOTTOM) / 2
    if antennae:
        for side in (-1, 1):
            tip = MIDDLE + side * 0.85, HEAD_TOP - 0.62
            pen.stroke(np.array([[MIDDLE + side * 0.25, centre], tip]), line)
            pen.disc(*tip, 0.16)
    for side, paint in ((-1, LEFT), (1, RIGHT)):
        edge, out = MIDDLE + side * HEAD_HALF, MIDDLE + side * (HEAD_HALF + 0.5)
        triangle = np.array([[edge, centre - 0.32], [edge, centre + 0.32], [out, centre]])
        square = box(min(edge, out), centre - 0.25, max(edge, out), centre + 0.25)
        pen.shape(triangle if ears else square, paint)
    pen.halves(ring(MIDDLE, centre, half, half) if shape else box(MIDDLE - half, top, MIDDLE + half, bottom))
    for side in (-1, 1):
        pen.disc(MIDDLE + side * 0.32, centre - 0.22, 0.17, BLANK)
        pen.disc(MIDDLE + side * 0.32, centre - 0.22, 0.1)
    low = HEAD_TOP + 0.67 * (HEAD_BOTTOM - HEAD_TOP)
    if not mouth:
        pen.shape(box(MIDDLE - 0.4, low - 0.05, MIDDLE + 0.4, low + 0.05), BLACK, line=False)
        return
    pen.shape(box(MIDDLE - 0.4, low - 0.16, MIDDLE + 0.4, low + 0.16), BLACK, line=False)
    for tooth in range(4):
        left = MIDDLE - 0.4 + 0.05 + tooth * 0.1875
        pen.shape(box(left, low - 0.11, left + 0.1375, low + 0.11), BLANK, line=False)


def arms(pen: Pen, shape: int, elbows: int, hand: int) -> None:
    """Draw the body, square or round, and the arms: elbows or none, and hands of six kinds."""
    line = pen.appearance.line
    for side, paint in ((-1, LEFT), (1, RIGHT)):
        end = MIDDLE + side * HAND_X
        pen.stroke(np.array([[MIDDLE, ARM_Y], [end, ARM_Y]]), line)
        if elbows:
            pen.disc(MIDDLE + side * (BODY_HALF + HAND_X - HAND / 2) / 2, ARM_Y, pen.appearance.dot / 2)
        pen.shape(hand_shape(hand) * np.array([side, 1]) * HAND + np.array([end, ARM_Y]), paint)
        x = MIDDLE + side * LEG_X  # where the legs begin, seen beside a round body
        pen.shape(box(x - line / 2, BODY_BOTTOM - 0.4, x + line / 2, BODY_BOTTOM), BLACK, line=False)
    middle, half = (HEAD_BOTTOM + BODY_BOTTOM) / 2, BODY_HALF - line / 2
    square = box(MIDDLE - half, HEAD_BOTTOM + line / 2, MIDDLE + half, BODY_BOTTOM - line / 2)
    pen.halves(ring(MIDDLE, middle, BODY_RADIUS - line / 2, BODY_RADIUS - line / 2) if shape else square)


def hand_shape(kind: int) -> Array:
    """Return the outline of a right hand about its middle: circle, ovals, triangle, square, trapezoid."""
    return (
        ring(0, 0, 0.5, 0.5),
        ring(0.1, 0, 0.75, 0.42),
        ring(0, 0, 0.42, 0.75),
        np.array([[-0.5, -0.55], [0.6, 0.0], [-0.5, 0.55]]),
        box(-0.5, -0.5, 0.5, 0.5),
        np.array([[-0.5, -0.25], [0.5, -0.6], [0.5, 0.6], [-0.5, 0.25]]),
    )[kind]


def legs(pen: Pen, knees: int, foot: int) -> None:
    """Draw the legs: knees or none, and feet of ten kinds."""
    line = pen.appearance.line
    for side, paint in ((-1, LEFT), (1, RIGHT)):
        x = MIDDLE + side * LEG_X
        pen.shape(box(x - line / 2, BODY_BOTTOM, x + line / 2, LEG_BOTTOM + 0.1), BLACK, line=False)
        if knees:
            pen.disc(x, (BODY_BOTTOM + LEG_BOTTOM) / 2, pen.appearance.dot / 2)
        outline = foot_shape(foot, pen.appearance.toe) * np.array([side * FOOT[0], FOOT[1]])
        pen.shape(outline + np.array([x, LEG_BOTTOM]), paint)


def foot_shape(kind: int, toe: float) -> Array:
    """Return the outline of a right foot below its leg, in a box of 1 x 1: five flat kinds, then five pointy ones."""
    curve = np.pi * np.linspace(1, 2, 24)
    dome = np.stack([0.5 * np.cos(curve), 0.5 + 0.5 * np.sin(curve)], axis=1)
    five = np.array([[0.0, 0.0], [0.5, 0.4], [0.3, 1.0], [-0.3, 1.0], [-0.5, 0.4]])
    boot = np.array([[-0.35, 0.0], [0.1, 0.0], [0.1, 0.55], [0.6, 0.55], [0.6, 1.0], [-0.35, 1.0]])
    if kind in (3, 4):
        return (five, boot)[kind - 3]
    if kind in (8, 9):
        kite = np.array([[0.0, 0.0], [0.5, 0.4], [0.0, 1.0], [-0.5, 0.4]])
        return (np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 1.0]]), kite)[kind - 8]
    upper = (np.array([[-0.25, 0.0], [0.25, 0.0]]), dome, np.array([[-0.5, 0.0], [0.5, 0.0]]))[kind % 5]
    if kind < 5:
        return np.vstack([upper, [[0.5, 1.0], [-0.5, 1.0]]])
    return np.vstack([upper, [[0.5, 1.0 - toe], [0.0, 1.0], [-0.5, 1.0 - toe]]])
