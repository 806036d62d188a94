"""Things that lie or stand in the way: low ones on our lane, larger ones on the lanes beside it."""

from functools import cache

from manifold3d import Manifold

from assay.families.driving.drawing.model import Model, Piece, ball, extrude_side, limb, piece, ring
from assay.render import box, cylinder, hull, union

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
