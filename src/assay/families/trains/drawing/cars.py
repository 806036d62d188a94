"""Cars without their roofs and loads: the floor with its coupling, walls solid or braced, wheels on their axles."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Material, Mesh, cylinder, mesh_of, union

Pieces = tuple[tuple[Mesh, Material], ...]

SPACE = {"short": 2.48875, "long": 3.54121}
"""What a car takes of the train's length."""
GAP = 0.34
WIDTH = 1.66
FLOOR, DECK = 1.12, 1.50
"""The height of the floor's lower and upper side."""
WALL = 0.6
"""The height of a wall above the deck."""
THICK = 0.12
STAND = 0.14
"""How high above the deck loads stand, so that walls hide less of them."""
RADIUS = 0.41
AXLE = 0.5 + RADIUS
"""The height of the axles; wheels stand on the rails, at 0.5."""


def body(length: str) -> float:
    """Return how long a car is without its coupling."""
    return SPACE[length] - GAP


@cache
def floor(length: str) -> Mesh:
    """Return the floor of a car, with the coupling to the car behind it."""
    deck = bevelled_box(body(length), WIDTH, DECK - FLOOR, 0.05).translate((0, 0, FLOOR))
    beam = bevelled_box(body(length) - 0.3, 0.5, 0.2, 0.03).translate((0, 0, FLOOR - 0.16))
    stand = bevelled_box(body(length) - 3 * THICK, WIDTH - 3 * THICK, STAND + 0.1, 0.02).translate((0, 0, DECK - 0.1))
    return mesh_of(f"floor-{length}", union(deck, beam, stand))


@cache
def coupling() -> Mesh:
    """Return the bar between two cars, around the middle of the gap."""
    bar = bevelled_box(GAP + 0.36, 0.16, 0.1, 0.02)
    pin = cylinder(0.1, 0.22).translate((0, 0, -0.06))
    return mesh_of("coupling", (bar + pin).translate((0, 0, FLOOR + 0.04)))


@cache
def walls(kind: str, length: str) -> Mesh:
    """Return the four walls of a car: boards, or a frame with crosses that one sees through."""
    make = _boards if kind == "solid" else _crosses
    x, y = body(length), WIDTH
    sides = [make(x, 3 if length == "long" else 2).translate((0, sign * (y - THICK) / 2, DECK)) for sign in (-1, 1)]
    ends = [make(y, 1).rotate((0, 0, 90)).translate((sign * (x - THICK) / 2, 0, DECK)) for sign in (-1, 1)]
    return mesh_of(f"walls-{kind}-{length}", union(*sides, *ends))


def _boards(length: float, fields: int) -> Manifold:
    """Return a closed wall along x, with a batten between fields, so that long walls can be told from near ones."""
    step = length / fields
    battens = [bevelled_box(0.13, THICK + 0.07, WALL - 0.04, 0.03) for _ in range(fields - 1)]
    placed = [batten.translate((place * step - length / 2, 0, 0)) for place, batten in enumerate(battens, start=1)]
    return union(bevelled_box(length, THICK, WALL, 0.03), *placed)


def _crosses(length: float, fields: int) -> Manifold:
    """Return a frame along x whose fields hold a cross each."""
    bar = 0.1
    rails = [bevelled_box(length, THICK, bar, 0.02).translate((0, 0, z)) for z in (0, WALL - bar)]
    posts, crosses = [], []
    step = (length - bar) / fields
    for place in range(fields + 1):
        posts.append(bevelled_box(bar, THICK, WALL, 0.02).translate((-length / 2 + bar / 2 + place * step, 0, 0)))
    for place in range(fields):
        middle = -length / 2 + bar / 2 + (place + 0.5) * step
        for sign in (-1, 1):
            crosses.append(
                beam((middle - step / 2, sign * (bar - WALL) / 2), (middle + step / 2, sign * (WALL - bar) / 2))
            )
    return union(*rails, *posts, *crosses)


def beam(start: tuple[float, float], end: tuple[float, float], thick: float = 0.09, deep: float = 0.07) -> Manifold:
    """Return a slanted beam in the plane of x and z, between two points; z is measured from the middle of the wall."""
    (x, z), (far, up) = start, end
    length, angle = float(np.hypot(far - x, up - z)), float(np.degrees(np.arctan2(up - z, far - x)))
    bar = Manifold.cube((length, deep, thick), True).rotate((0, -angle, 0))
    return bar.translate(((x + far) / 2, 0, (z + up) / 2 + WALL / 2))


@cache
def wheels(axles: int, length: str) -> Pieces:
    """Return the wheels of a car on their axles: dark tyres around light discs, so that they can be counted."""
    reach = body(length) / 2 - RADIUS - 0.05
    places = [float(x) for x in np.linspace(-reach, reach, axles)]
    return wheels_at(f"wheels-{axles}-{length}", places)


def wheels_at(name: str, places: Sequence[float]) -> Pieces:
    """Return a pair of wheels on an axle at each of these places along x."""
    tyres, discs = tyre_pair(), disc_pair()
    dark = mesh_of(name, union(*(tyres.translate((x, 0, AXLE)) for x in places)), 40)
    light = mesh_of(f"{name}-discs", union(*(discs.translate((x, 0, AXLE)) for x in places)), 40)
    return (dark, materials.RUBBER), (light, materials.DISC)


def tyre_pair() -> Manifold:
    """Return two tyres with a flange on the inside, on an axle along y, around the origin."""
    tyre = cylinder(RADIUS, 0.14) - cylinder(RADIUS - 0.1, 0.14)
    flange = cylinder(RADIUS + 0.045, 0.04)
    rod = cylinder(0.06, WIDTH - 0.3).translate((0, 0, (0.3 - WIDTH) / 2)).rotate((90, 0, 0))
    return union(*_both_sides(tyre + flange), rod)


def disc_pair() -> Manifold:
    """Return the discs inside of two tyres, with their hubs."""
    return union(*_both_sides(cylinder(RADIUS - 0.09, 0.09) + cylinder(0.1, 0.18)))


def _both_sides(wheel: Manifold) -> tuple[Manifold, Manifold]:
    near = wheel.rotate((-90, 0, 0)).translate((0, WIDTH / 2 - 0.1, 0))
    far = wheel.rotate((90, 0, 0)).translate((0, 0.1 - WIDTH / 2, 0))
    return near, far
