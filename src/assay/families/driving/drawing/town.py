"""Surroundings that are no concepts: trees, houses and daylight."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.driving.drawing.model import Model, ball, extrude_side, limb, paint, piece
from assay.render import Material, Sky, Sun, Vector, box, cylinder, union

KINDS = ("tree", "poplar", "house", "block")
WALLS = ((214, 196, 168), (196, 120, 92), (226, 222, 214), (168, 176, 186), (222, 190, 120), (150, 98, 80))
LEAVES = ((70, 112, 52), (90, 128, 50), (52, 96, 60), (140, 130, 50))


@dataclass(frozen=True)
class Weather:
    """The light of a day: the sky from above to the horizon, the sun's strength, width, colour and height."""

    zenith: Vector
    horizon: Vector
    strength: float
    angle: float
    color: Vector
    heights: tuple[float, float]
    exposure: float


WEATHER = {
    "clear": Weather((0.2, 0.38, 0.8), (0.62, 0.76, 0.95), 2.6, 0.6, (1.0, 0.96, 0.88), (35.0, 65.0), 1.0),
    "overcast": Weather((0.62, 0.66, 0.72), (0.78, 0.8, 0.83), 0.7, 25.0, (1.0, 1.0, 1.0), (50.0, 70.0), 1.0),
    "evening": Weather((0.3, 0.36, 0.6), (0.95, 0.62, 0.4), 2.0, 1.5, (1.0, 0.72, 0.45), (16.0, 28.0), 1.0),
    "dusk": Weather((0.1, 0.14, 0.32), (0.34, 0.3, 0.42), 0.35, 15.0, (0.7, 0.8, 1.0), (30.0, 50.0), 1.7),
}
DAYS = tuple(WEATHER)


def daylight(day: str, azimuth: float, height: float) -> tuple[Sky, Sun, float]:
    """Return sky, sun and exposure of a day; `height` from 0 to 1 between the least and the greatest of that day."""
    weather = WEATHER[day]
    low, high = weather.heights
    up, around = np.radians(low + height * (high - low)), np.radians(azimuth)
    flat = float(np.cos(up))
    direction = flat * float(np.sin(around)), flat * float(np.cos(around)), float(np.sin(up))
    below = (0.16, 0.17, 0.15)
    return (
        Sky(weather.zenith, weather.horizon, below),
        Sun(direction, weather.strength, weather.angle, weather.color),
        weather.exposure,
    )


@cache
def building(kind: str) -> Model:
    """Return a tree or a house; its paints are `leaves`, or `wall` and `roof`."""
    if kind == "tree":
        crown = union(ball((0, 0, 3.6), 1.5), ball((0.9, 0.2, 3.1), 1.0), ball((-0.8, -0.3, 3.0), 1.05))
        return piece("trunk", limb((0, 0, 0), (0, 0, 2.6), 0.22, 0.15), "bark"), piece("crown", crown, "leaves")
    if kind == "poplar":
        crown = ball((0, 0, 3.9), 1.0, (0.95, 0.95, 2.9))
        return piece("trunk", cylinder(0.2, 2.0), "bark"), piece("crown", crown, "leaves")
    if kind == "house":
        gable = extrude_side([(-3.3, 4.2), (3.3, 4.2), (0, 6.8)], 8.4)
        panes = _windows(8.0, 6.0, (1.3,), 3)
        return (
            piece("walls", box(8.0, 6.0, 4.25), "wall"),
            piece("roof", gable, "roof"),
            piece("windows", panes, "glass"),
        )
    return (
        piece("walls", box(9.0, 7.0, 9.0), "wall"),
        piece("windows", _windows(9.0, 7.0, (1.2, 3.7, 6.2), 4), "glass"),
        piece("ledge", box(9.3, 7.3, 0.3).translate((0, 0, 9.0)), "concrete"),
    )


def _windows(x: float, y: float, floors: tuple[float, ...], across: int) -> Manifold:
    """Return windows that look out of all four walls."""
    panes = list[Manifold]()
    for z in floors:
        for place in range(across):
            at = (place + 0.5) / across - 0.5
            panes.append(box(1.0, y + 0.08, 1.4).translate((at * x, 0, z)))
            panes.append(box(x + 0.08, 1.0, 1.4).translate((0, at * y, z)))
    return union(*panes)


def colours(kind: str, tone: int) -> dict[str, Material]:
    """Return the paints of a tree or a house."""
    if kind in ("tree", "poplar"):
        return {"leaves": paint(*LEAVES[tone % len(LEAVES)], 0.95)}
    roofs = ((120, 62, 48), (84, 84, 90), (96, 72, 56))
    return {"wall": paint(*WALLS[tone % len(WALLS)], 0.9), "roof": paint(*roofs[tone % len(roofs)], 0.85)}
