"""Cars: a body, a cabin of glass under a roof, wheels, lamps. They drive towards +y; `turn` steers them."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from manifold3d import CrossSection, Manifold

from assay.families.driving.drawing.model import Model, Piece, extrude_side, piece, wheel
from assay.render import Vector, box, cylinder, extrude, hull, union

WHEEL = 0.33


@dataclass(frozen=True)
class CarShape:
    """Lengths of a car in metres: the heights of belt, bonnet, boot and roof; where the cabin begins and ends below
    and above, from the rear to the front.
    """

    length: float
    width: float
    belt: float
    bonnet: float
    boot: float
    roof: float
    below: tuple[float, float]
    above: tuple[float, float]


SHAPES = {
    "sedan": CarShape(4.5, 1.82, 0.92, 0.86, 0.92, 1.46, (-1.55, 0.85), (-0.95, 0.25)),
    "hatch": CarShape(3.9, 1.76, 0.94, 0.88, 0.94, 1.52, (-1.88, 0.85), (-1.5, 0.25)),
    "suv": CarShape(4.5, 1.9, 1.08, 1.04, 1.08, 1.76, (-2.15, 0.95), (-1.85, 0.4)),
    "van": CarShape(4.7, 1.9, 1.2, 1.12, 1.2, 2.0, (-2.3, 1.5), (-2.2, 0.85)),
}
CARS = tuple(SHAPES)
COLOURS = (
    (206, 30, 34), (32, 78, 168), (232, 232, 230), (52, 54, 60), (166, 170, 176),
    (30, 120, 84), (232, 176, 30), (120, 70, 150), (224, 108, 34), (92, 160, 206),
)  # fmt: skip


def _plan(length: float, width: float, high: float) -> Manifold:
    """Return the outline from above with round corners, drawn up."""
    inner = CrossSection.square((width - 0.5, length - 0.5), True)
    return Manifold.extrude(inner.offset(0.25, circular_segments=32), high)


def _body(shape: CarShape) -> Manifold:
    half, low = shape.length / 2, 0.22
    front, rear = shape.below[1], shape.below[0]
    outline = [
        (-half, 0.4), (-half + 0.1, low), (half - 0.15, low), (half, 0.36), (half - 0.02, shape.bonnet - 0.2),
        (half - 0.22, shape.bonnet - 0.08), (front, shape.belt), (rear, shape.belt), (-half + 0.1, shape.boot - 0.02),
        (-half, shape.boot - 0.14),
    ]  # fmt: skip
    whole = extrude_side(outline, shape.width) ^ _plan(shape.length, shape.width, 3.0)
    arch = cylinder(WHEEL + 0.07, shape.width + 1).rotate((0, 90, 0)).translate((-shape.width / 2 - 0.5, 0, WHEEL))
    for y in _axles(shape):
        whole = whole - arch.translate((0, y, 0))
    return whole


def _axles(shape: CarShape) -> tuple[float, float]:
    return -shape.length / 2 + 0.82, shape.length / 2 - 0.86


def _corners(shape: CarShape) -> list[tuple[Vector, Vector]]:
    """Return the four corners of the cabin, below and above."""
    low, high = shape.width / 2 - 0.08, shape.width / 2 - 0.3
    return [
        ((side * low, below, shape.belt), (side * high, above, shape.roof - 0.05))
        for side in (-1, 1)
        for below, above in zip(shape.below, shape.above, strict=True)
    ]


def _cabin(shape: CarShape) -> tuple[Manifold, Manifold]:
    """Return the glass and the roof with its pillars."""
    dot = box(0.02, 0.02, 0.02)
    post = box(0.09, 0.1, 0.05)
    corners = _corners(shape)
    glass = hull(*(dot.translate(at) for pair in corners for at in pair))
    roof = hull(*(box(0.1, 0.12, 0.07).translate(high) for _, high in corners))
    pillars = [hull(post.translate(low), post.translate(high)) for low, high in corners]
    middle = [
        hull(post.translate((x0, -0.25, shape.belt)), post.translate((x1, -0.25, shape.roof - 0.05)))
        for x0, x1 in {(low[0], high[0]) for low, high in corners}
    ]
    return glass, union(roof, *pillars, *middle)


def _lamps(shape: CarShape, y: float, z: float, wide: float, high: float, inset: float = 0.28) -> Manifold:
    lamp, reach = box(wide, 0.1, high), shape.width / 2 - inset
    return union(*(lamp.translate((side * reach, y, z)) for side in (-1, 1)))


@cache
def car(kind: str, blinks: int = 0) -> Model:
    """Return a car; it blinks to the left (-1), to the right (1) or not at all (0). Its paint is `body`."""
    shape = SHAPES[kind]
    half = shape.length / 2
    glass, roof = _cabin(shape)
    rear, front = -half + 0.04, half - 0.05
    lamps = shape.boot - 0.34
    pieces = [
        piece("body", _body(shape), "body"),
        piece("glass", glass, "glass"),
        piece("roof", roof, "body"),
        piece("tail lamps", _lamps(shape, rear, lamps, 0.34, 0.17), "tail"),
        piece("head lamps", _lamps(shape, front, shape.bonnet - 0.3, 0.34, 0.16), "head"),
        piece("plates", box(0.5, shape.length - 0.02, 0.13).translate((0, 0, 0.46)), "plate"),
        piece("bumper", box(shape.width - 0.3, shape.length + 0.02, 0.12).translate((0, 0, 0.28)), "dark"),
        *_wheels(shape),
        *_blinkers(shape, rear, front, lamps - 0.16, blinks),
    ]
    return tuple(pieces)


def _wheels(shape: CarShape) -> list[Piece]:
    tyre, hub = wheel(WHEEL, 0.22), wheel(WHEEL * 0.62, 0.25).translate((0, 0, WHEEL * 0.38))
    reach = shape.width / 2 - 0.12
    spots = [(side * reach, y, 0) for side in (-1, 1) for y in _axles(shape)]
    return [
        piece("tyres", union(*(tyre.translate(at) for at in spots)), "tyre"),
        piece("hubs", union(*(hub.translate(at) for at in spots)), "rim"),
    ]


def _blinkers(shape: CarShape, rear: float, front: float, z: float, blinks: int) -> list[Piece]:
    size = 0.22 if blinks else 0.14
    lamp, pieces = box(size, 0.12, size * 0.8), list[Piece]()
    for side in (-1, 1):
        x = side * (shape.width / 2 - 0.2)
        both = lamp.translate((x, rear, z)) + lamp.translate((x, front, z))
        pieces.append(piece("blinkers", both, "amber_on" if side == blinks else "amber_off"))
    return pieces


@cache
def bonnet() -> Model:
    """Return the bonnet of the car that the picture is taken from, as seen over the wheel; its paint is `body`."""
    angles = np.linspace(0, np.pi, 25)
    plan = [(1.35 * float(np.cos(a)), 0.75 * float(np.sin(a))) for a in angles]
    rim = extrude(plan, 0.04)
    top = extrude([(0.86 * x, 0.8 * y - 0.2) for x, y in plan], 0.04).translate((0, 0, 0.14))
    ridge = [box(0.035, 0.9, 0.03).translate((side * 0.42, 0.02, 0.165)) for side in (-1, 1)]
    return piece("bonnet", hull(rim, top), "body"), piece("ridges", union(*ridge), "trim")


@cache
def beacons() -> Model:
    """Return what an ambulance has on its bonnet: two blue beacons, a red stripe, a red cross."""
    dome = cylinder(0.11, 0.2, 0.08)
    foot = cylinder(0.13, 0.06)
    spots = [(side * 0.86, 0.18, 0.1) for side in (-1, 1)]
    cross = box(0.4, 0.13, 0.02) + box(0.13, 0.36, 0.02)
    stripe = [box(0.1, 0.8, 0.02).rotate((0, 0, -side * 12)).translate((side * 0.6, 0.0, 0.175)) for side in (-1, 1)]
    return (
        piece("beacons", union(*(dome.translate((x, y, z + 0.05)) for x, y, z in spots)), "beacon"),
        piece("feet", union(*(foot.translate(at) for at in spots)), "dark"),
        piece("cross", union(cross.translate((0, 0.16, 0.175)), *stripe), "red"),
    )
