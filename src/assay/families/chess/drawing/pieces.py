"""The six pieces: five turned on the lathe, the knight carved. A square's side is 1; a piece stands on z = 0."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from manifold3d import CrossSection, Manifold

from assay.render import Mesh, Point, box, extrude, hull, mesh_of, prism, revolve

KINDS = "PNBRQK"
SEGMENTS = 32
BODY = 9
"""How many rings the curve of a body has."""
HORSE = (
    (-0.25, 0.00), (0.25, 0.00), (0.27, 0.14), (0.17, 0.30), (0.12, 0.44), (0.18, 0.50), (0.34, 0.47), (0.42, 0.52),
    (0.44, 0.61), (0.33, 0.72), (0.22, 0.84), (0.12, 0.92), (0.05, 1.02), (-0.02, 0.93), (-0.14, 0.88), (-0.25, 0.76),
    (-0.31, 0.58), (-0.31, 0.38), (-0.28, 0.18),
)  # fmt: skip
"""The outline of a horse's head and neck, seen from its right: forward, and up from the foot."""
FRONT = (
    (-0.23, 0.0), (0.23, 0.0), (0.19, 0.35), (0.16, 0.62), (0.10, 1.05), (-0.10, 1.05), (-0.16, 0.62), (-0.19, 0.35),
)  # fmt: skip
"""The same seen from the front: to the side, and up."""


@cache
def piece(kind: str) -> Mesh:
    """Return the mesh of a piece: P, N, B, R, Q or K."""
    return mesh_of(f"chess {kind}", SOLIDS[kind](), crease=55.0 if kind == "N" else 40.0)


def _foot(radius: float) -> list[Point]:
    """Return the profile of the foot, from the middle of its underside up."""
    steps = ((1.0, 0.0), (1.0, 0.07), (0.96, 0.11), (0.86, 0.13), (0.83, 0.15), (0.84, 0.19), (0.79, 0.22))
    return [(0.0, 0.0), *((radius * part, height) for part, height in steps)]


def _body(radius: float, neck: float, collar: float) -> list[Point]:
    """Return foot, waist and collar, up to the collar's upper edge."""
    parts = np.linspace(0.06, 1, BODY)
    wide, low, high = 0.74 * radius, 0.22, collar - 0.06
    waist = [(neck + (wide - neck) * float((1 - t) ** 2.4), low + (high - low) * float(t)) for t in parts]
    ring = [(neck + 0.07, collar - 0.05), (neck + 0.09, collar - 0.02), (neck + 0.07, collar + 0.01)]
    return [*_foot(radius), *waist, *ring]


def _ball(radius: float, centre: float, start: float = -60.0) -> list[Point]:
    """Return the profile of a ball, from an angle in degrees up to its top."""
    turns = np.radians(np.linspace(start, 90, 9))
    return [(max(0.0, radius * float(np.cos(a))), centre + radius * float(np.sin(a))) for a in turns[:-1]] + [
        (0.0, centre + radius)
    ]


def _pearl(radius: float) -> Manifold:
    """Return a small ball."""
    return Manifold.sphere(radius, 12)


def _lathe(profile: Sequence[Point]) -> Manifold:
    return revolve(profile, SEGMENTS)


def _pawn() -> Manifold:
    return _lathe([*_body(0.30, 0.10, 0.56), (0.10, 0.59), *_ball(0.175, 0.73, -55)])


def _rook() -> Manifold:
    head = [(0.24, 0.73), (0.29, 0.78), (0.31, 0.82), (0.31, 1.06), (0.21, 1.06), (0.21, 0.93), (0.0, 0.93)]
    tower = _lathe([*_foot(0.35), (0.27, 0.28), (0.24, 0.45), (0.235, 0.62), (0.28, 0.66), (0.28, 0.69), *head])
    for turn in (45.0, 135.0):
        tower -= box(0.8, 0.17, 0.2).translate((0, 0, 0.94)).rotate((0, 0, turn))
    return tower


def _bishop() -> Manifold:
    mitre = [(0.11, 0.90), (0.17, 0.96), (0.195, 1.04), (0.185, 1.13), (0.14, 1.23), (0.085, 1.31), (0.05, 1.345)]
    whole = _lathe([*_body(0.33, 0.10, 0.86), *mitre, *_ball(0.062, 1.385, -50)])
    cut = box(0.30, 0.9, 0.055).translate((0.19, 0, -0.027)).rotate((0, -52, 0)).translate((0.02, 0, 1.10))
    return whole - cut.rotate((0, 0, -90))


def _queen() -> Manifold:
    crown = [(0.12, 1.10), (0.145, 1.20), (0.20, 1.34), (0.275, 1.47), (0.225, 1.475), (0.15, 1.40), (0.0, 1.42)]
    whole = _lathe([*_body(0.37, 0.12, 1.06), *crown])
    for turn in np.arange(8) * 45.0:
        notch = prism(16, 0.07, 0.5).rotate((0, 90, 0)).translate((0.05, 0, 1.50))
        whole -= notch.rotate((0, 0, float(turn)))
    return whole + Manifold.sphere(0.10, 20).translate((0, 0, 1.47))


def _king() -> Manifold:
    head = [(0.13, 1.14), (0.15, 1.22), (0.19, 1.34), (0.225, 1.44), (0.20, 1.47), (0.10, 1.53), (0.0, 1.55)]
    cross = box(0.10, 0.10, 0.34).translate((0, 0, 1.50)) + box(0.29, 0.10, 0.10).translate((0, 0, 1.64))
    return _lathe([*_body(0.38, 0.13, 1.10), *head]) + cross


def _knight() -> Manifold:
    head = (_rounded_horse() ^ extrude(FRONT, 1.2).translate((0, 0, -0.6)).rotate((90, 0, 90))) + _ears()
    eyes = [_pearl(0.036).translate((0.17, y, 0.75)) for y in (-0.12, 0.12)]
    mouth = box(0.20, 0.6, 0.03).rotate((0, -14, 0)).translate((0.40, 0, 0.535))
    head = (head - mouth) + eyes[0] + eyes[1]
    return _lathe([*_foot(0.35), (0.25, 0.24), (0.0, 0.24)]) + head.translate((-0.04, 0, 0.19))


def _rounded_horse() -> Manifold:
    """Return the head and neck, thinner towards their outline."""
    middle, horse = np.array([-0.03, 0.5]), Manifold()
    outline = CrossSection([[(x - middle[0], z - middle[1]) for x, z in HORSE]])
    start, size = 0.0, 1.0
    for end, less in ((0.09, 0.97), (0.15, 0.90), (0.20, 0.76)):
        slab = Manifold.extrude(outline.scale((size, size)), end - start, scale_top=(less / size, less / size))
        slab = slab.translate((0, 0, start))
        horse = horse + slab + slab.mirror((0, 0, 1))
        start, size = end, less
    return horse.translate((middle[0], middle[1], 0)).rotate((90, 0, 0))


def _ears() -> Manifold:
    ears = [
        hull(_pearl(0.04).translate((0.02, y, 0.86)), _pearl(0.014).translate((0.03, 1.2 * y, 1.08)))
        for y in (-0.075, 0.075)
    ]
    return ears[0] + ears[1]


SOLIDS = {"P": _pawn, "N": _knight, "B": _bishop, "R": _rook, "Q": _queen, "K": _king}
