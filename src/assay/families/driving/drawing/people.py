"""People: somebody walking, and riders on bicycles and motorbikes. They go towards +y."""

from functools import cache

from manifold3d import Manifold

from assay.families.driving.drawing.model import Model, Piece, ball, extrude_side, limb, piece, ring
from assay.render import Vector, box, cylinder, union

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
