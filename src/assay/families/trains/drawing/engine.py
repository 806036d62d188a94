"""The engine that pulls the train: boiler, cab, chimney, dome, buffer beam and wheels, its front towards +x."""

from functools import cache

import numpy as np

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.cars import FLOOR, GAP, RADIUS, WIDTH, wheels_at
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Material, Mesh, cylinder, extrude, mesh_of, revolve, sphere, union

ENGINE_SPACE = 3.75
EngineParts = tuple[tuple[str, Mesh, Material], ...]


@cache
def engine() -> EngineParts:
    """Return the pieces of the engine, each with the name of its part."""
    long = ENGINE_SPACE - GAP
    return (
        ("body", _frame(long), materials.WALNUT),
        ("body", _boiler(long), materials.BLACK),
        ("body", _cab(long), materials.OAK),
        ("body", _brass(long), materials.BRASS),
        *_wheels(long),
    )


def _frame(long: float) -> Mesh:
    deck = bevelled_box(long, WIDTH, 0.3, 0.05).translate((0, 0, FLOOR))
    catcher = extrude([(0, -0.7), (0.42, 0), (0, 0.7)], 0.42).translate((long / 2 - 0.12, 0, 0.72))
    return mesh_of("engine-frame", deck + catcher)


def _boiler(long: float) -> Mesh:
    radius, length = 0.62, long * 0.62
    barrel = cylinder(radius, length, rim=0.06).rotate((0, 90, 0)).translate((long / 2 - length - 0.1, 0, 2.02))
    chimney = revolve([(0.0, 0.0), (0.2, 0.0), (0.2, 0.5), (0.34, 0.86), (0.26, 0.86), (0.0, 0.6)])
    saddle = bevelled_box(length - 0.2, 0.8, 0.5, 0.03).translate((long / 2 - length / 2 - 0.1, 0, FLOOR + 0.2))
    return mesh_of("engine-boiler", union(barrel, saddle, chimney.translate((long / 2 - 0.55, 0, 2.5))), 40)


def _cab(long: float) -> Mesh:
    x, high = long * 0.36, 1.62
    middle = -long / 2 + x / 2 + 0.04
    shell = bevelled_box(x, WIDTH, high, 0.04)
    window = bevelled_box(x * 0.5, WIDTH + 1, 0.55, 0.02).translate((0, 0, 0.78))
    front = bevelled_box(x + 1, 1.0, 0.5, 0.02).translate((0, 0, 0.86))
    roof = extrude(_arch(), x + 0.3).rotate((90, 0, 90)).translate((-(x + 0.3) / 2, 0, high - 0.02))
    return mesh_of("engine-cab", (shell - window - front + roof).translate((middle, 0, FLOOR + 0.28)), 30)


def _arch() -> list[tuple[float, float]]:
    angles = np.linspace(0, np.pi, 13)
    return [((WIDTH / 2 + 0.1) * float(np.cos(a)), 0.28 * float(np.sin(a))) for a in angles]


def _brass(long: float) -> Mesh:
    length = long * 0.62
    bands = [
        (cylinder(0.65, 0.09) - cylinder(0.58, 0.09))
        .rotate((0, 90, 0))
        .translate((long / 2 - 0.1 - length * part, 0, 2.02))
        for part in (0.2, 0.55, 0.9)
    ]
    dome = sphere(0.26).scale((1, 1, 1.2)).translate((long / 2 - 0.1 - length * 0.55, 0, 2.62))
    lamp = cylinder(0.17, 0.14).rotate((0, 90, 0)).translate((long / 2 - 0.14, 0, 2.12))
    return mesh_of("engine-brass", union(*bands, dome, lamp), 40)


def _wheels(long: float) -> list[tuple[str, Mesh, Material]]:
    reach = long / 2 - RADIUS - 0.1
    pieces = wheels_at("engine-wheels", [float(x) for x in np.linspace(-reach, reach, 4)])
    return [("wheels", mesh, material) for mesh, material in pieces]
