"""Who takes part in traffic, and what is in its way: cars, people on foot, riders, obstacles. They go towards +y.

A car is a body, a cabin of glass under a roof, wheels and lamps; a pose turns it. Low obstacles lie on our lane, larger
ones stand on the lanes beside it.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from manifold3d import CrossSection, Manifold

from assay.families.driving.drawing.model import Model, Piece, ball, extrude_side, limb, piece, ring, wheel
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


BIKES = ("bicycle", "motorbike")
CLOTHES = (
    (214, 40, 50), (36, 88, 190), (240, 190, 40), (46, 140, 80), (236, 120, 30),
    (150, 60, 150), (235, 235, 235), (40, 160, 180),
)  # fmt: skip
TROUSERS = ((38, 44, 66), (60, 54, 50), (96, 90, 84), (30, 30, 34))
SKINS = ((242, 206, 178), (222, 176, 140), (176, 124, 88), (120, 80, 56))
HAIRS = ((40, 28, 20), (92, 60, 32), (196, 160, 96), (60, 60, 64))


def _legs(*legs: tuple[Vector, Vector, Vector]) -> list[Piece]:
    """Return legs, each from hip over knee to foot, in trousers and shoes."""
    parts = [part for hip, knee, foot in legs for part in (limb(hip, knee, 0.105, 0.08), limb(knee, foot, 0.08, 0.06))]
    shoes = [limb(foot, (foot[0], foot[1] + 0.15, foot[2] - 0.02), 0.07, 0.055) for _, _, foot in legs]
    return [piece("trousers", union(*parts), "trousers"), piece("shoes", union(*shoes), "black")]


def _arms(*arms: tuple[Vector, Vector, Vector]) -> list[Piece]:
    sleeves = [part for a, b, c in arms for part in (limb(a, b, 0.07, 0.06), limb(b, c, 0.06, 0.048))]
    return [
        piece("sleeves", union(*sleeves), "top"),
        piece("hands", union(*(ball(hand, 0.062) for _, _, hand in arms)), "skin"),
    ]


@cache
def walker(stride: bool = True) -> Model:
    """Return somebody walking, one foot before the other; or with the other foot first."""
    step = 0.26 if stride else -0.26
    torso = limb((0, 0, 0.94), (0, 0.03, 1.38), 0.165, 0.19).scale((1.12, 0.85, 1.0))
    hair = (ball((0, -0.015, 1.66), 0.125) - box(0.4, 0.3, 0.22).translate((0, 0.17, 1.46))) + ball(
        (0, -0.02, 1.7), 0.115
    )
    return (
        *_legs(
            ((-0.09, 0, 0.9), (-0.09, step * 0.6, 0.5), (-0.09, step, 0.08)),
            ((0.09, 0, 0.9), (0.09, -step * 0.35, 0.5), (0.09, -step, 0.1)),
        ),
        piece("torso", torso, "top"),
        *_arms(
            ((-0.24, 0.02, 1.36), (-0.28, -step * 0.5, 1.1), (-0.26, -step * 0.5 + 0.14, 0.9)),
            ((0.24, 0.02, 1.36), (0.28, step * 0.5, 1.1), (0.26, step * 0.5 + 0.14, 0.9)),
        ),
        piece("neck and head", limb((0, 0.02, 1.45), (0, 0.03, 1.58), 0.06) + ball((0, 0.03, 1.63), 0.115), "skin"),
        piece("hair", hair, "hair"),
    )


def _wheel(y: float, radius: float, tube: float) -> Manifold:
    return ring(radius - tube, tube).rotate((0, 90, 0)).translate((0, y, radius))


@cache
def rider(kind: str) -> Model:
    """Return a rider on a bicycle or a motorbike."""
    return _cyclist() if kind == "bicycle" else _biker()


def _cyclist() -> Model:
    spokes = cylinder(0.33, 0.012).rotate((0, 90, 0))
    rear, front, pedal, seat, bars = (
        (0, -0.56, 0.38), (0, 0.6, 0.38), (0, -0.08, 0.36), (0, -0.26, 0.96), (0, 0.42, 1.0),
    )  # fmt: skip
    tubes = [(rear, pedal), (rear, seat), (pedal, seat), (pedal, bars), (seat, bars), (front, bars)]
    grip = limb((-0.26, 0.46, 1.06), (0.26, 0.46, 1.06), 0.03)
    return (
        piece("tyres", _wheel(-0.56, 0.38, 0.045) + _wheel(0.6, 0.38, 0.045), "tyre"),
        piece("spokes", spokes.translate((0, -0.56, 0.38)) + spokes.translate((0, 0.6, 0.38)), "steel"),
        piece("frame", union(*(limb(a, b, 0.035) for a, b in tubes), grip), "frame"),
        piece("saddle", ball((0, -0.27, 1.0), 0.1, (1.0, 1.5, 0.5)), "black"),
        *_legs(
            ((-0.1, -0.22, 1.0), (-0.12, 0.22, 0.86), (-0.12, 0.0, 0.46)),
            ((0.1, -0.22, 1.0), (0.12, 0.1, 0.62), (0.12, -0.12, 0.2)),
        ),
        piece("torso", limb((0, -0.2, 1.08), (0, 0.14, 1.48), 0.16, 0.18), "top"),
        *_arms(
            ((-0.22, 0.16, 1.46), (-0.27, 0.3, 1.24), (-0.24, 0.45, 1.1)),
            ((0.22, 0.16, 1.46), (0.27, 0.3, 1.24), (0.24, 0.45, 1.1)),
        ),
        piece("head", limb((0, 0.18, 1.54), (0, 0.24, 1.66), 0.06) + ball((0, 0.26, 1.72), 0.115), "skin"),
        piece("helmet", ball((0, 0.24, 1.78), 0.14, (0.95, 1.25, 0.75)), "helmet"),
    )


def _biker() -> Model:
    engine = box(0.34, 0.5, 0.34).translate((0, 0.02, 0.3))
    fork = limb((0, 0.46, 1.0), (0, 0.72, 0.34), 0.055)
    seat = limb((0, -0.5, 0.84), (0, -0.12, 0.78), 0.11)
    tail = extrude_side([(-0.75, 0.82), (-0.2, 0.62), (-0.2, 0.8), (-0.7, 0.95)], 0.26)
    pipe = limb((0.2, 0.1, 0.36), (0.2, -0.6, 0.42), 0.06)
    return (
        piece("tyres", _wheel(-0.62, 0.33, 0.1) + _wheel(0.72, 0.33, 0.1), "tyre"),
        piece(
            "hubs",
            union(*(cylinder(0.16, 0.16).rotate((0, 90, 0)).translate((-0.08, y, 0.33)) for y in (-0.62, 0.72))),
            "rim",
        ),
        piece("engine", union(engine, fork, pipe), "steel"),
        piece(
            "tank", union(ball((0, 0.2, 0.88), 0.24, (0.75, 1.35, 0.75)), tail, ball((0, 0.52, 1.02), 0.16)), "frame"
        ),
        piece("seat", seat, "black"),
        piece("bars", limb((-0.36, 0.4, 1.1), (0.36, 0.4, 1.1), 0.03), "dark"),
        piece("lamp", ball((0, 0.68, 1.0), 0.085), "head"),
        *_legs(
            ((-0.13, -0.3, 0.9), (-0.24, 0.12, 0.72), (-0.22, -0.12, 0.36)),
            ((0.13, -0.3, 0.9), (0.24, 0.12, 0.72), (0.22, -0.12, 0.36)),
        ),
        piece("torso", limb((0, -0.3, 0.98), (0, -0.02, 1.38), 0.17, 0.2), "top"),
        *_arms(
            ((-0.24, 0.0, 1.36), (-0.36, 0.18, 1.2), (-0.33, 0.38, 1.12)),
            ((0.24, 0.0, 1.36), (0.36, 0.18, 1.2), (0.33, 0.38, 1.12)),
        ),
        piece("helmet", ball((0, 0.06, 1.62), 0.165), "helmet"),
        piece("visor", ball((0, 0.11, 1.62), 0.14, (0.9, 1.0, 0.6)), "glass"),
    )


LOW = ("cones", "crates", "rock", "tyres")
"""What lies on our lane."""
LARGE = ("barrier", "blocks", "skip", "cones")
"""What stands on a lane beside ours."""


@cache
def obstacle(kind: str) -> Model:
    """Return an obstacle: about a metre and a half wide on our lane, more beside it."""
    if kind == "cones":
        return _cones([(-0.62, 0.1), (0.0, -0.12), (0.62, 0.1)])
    return {"crates": _crates, "rock": _rock, "tyres": _tyres, "barrier": _barrier, "blocks": _blocks, "skip": _skip}[
        kind
    ]()


def _cones(spots: list[tuple[float, float]]) -> Model:
    foot, cone = box(0.46, 0.46, 0.06), cylinder(0.19, 0.72, 0.045).translate((0, 0, 0.05))
    bands = [
        cylinder(0.165 - z * 0.2 + 0.035, 0.13, 0.165 - z * 0.2 + 0.012).translate((0, 0, z)) for z in (0.24, 0.48)
    ]
    rings = union(*bands)
    return (
        piece("cones", union(*((foot + cone).translate((x, y, 0)) for x, y in spots)), "orange"),
        piece("bands", union(*(rings.translate((x, y, 0)) for x, y in spots)), "white"),
    )


def _crates() -> Model:
    crate = box(0.62, 0.62, 0.6)
    whole = crate.translate((-0.42, 0, 0)) + crate.rotate((0, 0, 18)).translate((0.42, 0.05, 0))
    slats = [box(0.66, 0.06, 0.08).translate((x, -0.32, z)) for x in (-0.42,) for z in (0.03, 0.49)]
    slats += [
        box(0.66, 0.06, 0.08).translate((0, -0.32, z)).rotate((0, 0, 18)).translate((0.42, 0.05, 0))
        for z in (0.03, 0.49)
    ]
    return piece("crates", whole, "wood"), piece("slats", union(*slats), "bark")


def _rock() -> Model:
    lumps = [((-0.3, 0, 0.16), 0.34), ((0.28, 0.1, 0.2), 0.4), ((0.0, -0.16, 0.3), 0.32), ((0.56, -0.06, 0.08), 0.22)]
    whole = hull(*(Manifold.sphere(r, 8).rotate((17 * i, 31 * i, 0)).translate(at) for i, (at, r) in enumerate(lumps)))
    return (piece("rock", whole ^ box(4, 4, 2), "rock", 20.0),)


def _tyres() -> Model:
    tyre = ring(0.26, 0.13)
    spots = [(-0.42, 0, 0.13), (-0.42, 0.03, 0.38), (-0.4, -0.02, 0.62), (0.36, 0.05, 0.13), (0.38, 0.02, 0.38)]
    return (piece("tyres", union(*(tyre.translate(at) for at in spots)), "tyre"),)


def _barrier() -> Model:
    """Return a red and white board on two legs, with lamps on it."""
    width, parts = 2.5, 6
    red, white = list[Manifold](), list[Manifold]()
    for row, z in enumerate((0.42, 0.82)):
        for place in range(parts):
            plank = box(width / parts, 0.06, 0.28).translate(((place + 0.5) * width / parts - width / 2, 0, z))
            (red if (place + row) % 2 == 0 else white).append(plank)
    legs = [limb((x, y, 0.03), (x, 0.05, 1.1), 0.04) for x in (-0.95, 0.95) for y in (-0.3, 0.38)]
    return (
        piece("red boards", union(*red), "red"),
        piece("white boards", union(*white), "white"),
        piece("legs", union(*legs), "steel"),
        piece("lamps", ball((-0.95, 0.05, 1.2), 0.12) + ball((0.95, 0.05, 1.2), 0.12), "amber_on"),
    )


def _blocks() -> Model:
    outline = [
        (-0.34, 0), (0.34, 0), (0.34, 0.12), (0.16, 0.36), (0.12, 0.95), (-0.12, 0.95), (-0.16, 0.36), (-0.34, 0.12),
    ]  # fmt: skip
    block = extrude_side(outline, 1.25)
    marks = [box(0.3, 0.06, 0.22).translate((x, -0.16, 0.62)) for x in (-0.66, 0.66)]
    return (
        piece("blocks", block.translate((-0.66, 0, 0)) + block.translate((0.66, 0, 0)), "concrete"),
        piece("marks", union(*marks), "orange"),
    )


def _skip() -> Model:
    low, high = box(1.7, 1.1, 0.02), box(2.5, 1.7, 0.02)
    outer = hull(low.translate((0, 0, 0.08)), high.translate((0, 0, 1.15)))
    inner = hull(
        low.scale((0.94, 0.94, 1)).translate((0, 0, 0.16)), high.scale((0.94, 0.94, 1)).translate((0, 0, 1.25))
    )
    rubble = ball((-0.3, 0, 0.98), 0.5, (1.3, 1.2, 0.6)) + ball((0.5, 0.1, 0.95), 0.42, (1.2, 1.2, 0.6))
    return piece("skip", outer - inner, "yellow"), _rubble(rubble)


def _rubble(solid: Manifold) -> Piece:
    return piece("rubble", solid, "rock")
