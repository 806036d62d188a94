"""Trains as rows of blocks: the same concepts in simple shapes.

The roof is the shape of the block: cube, cylinder, dome, frustum, hexagonal prism. A braced wall is a black top, three
axles are a black bottom, and loads are small orange solids on top.
"""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Material, Mesh, cylinder, hull, mesh_of, prism, sphere, torus, union

SPACE = {"short": 2.0, "long": 3.0}
ENGINE, GAP, STRIP = 3.2, 0.4, 0.1
HEIGHT, LOW, HIGH = 2.0, 0.5, 1.5
"""The height of a block, where its bottom ends, and where its top begins."""
SPACING = {1: 0.0, 2: 0.66, 3: 0.62}
TOP = 0.62
"""The half width of the frustum's upper side."""


@cache
def block(roof: str, length: str, layer: str) -> Mesh:
    """Return the bottom, the middle or the top of a block, standing where it belongs."""
    low, high = {"bottom": (0.0, LOW), "middle": (LOW, HIGH), "top": (HIGH, HEIGHT)}[layer]
    slab = Manifold.cube((6, 6, high - low), True).translate((0, 0, (low + high) / 2))
    whole = SHAPES[roof]().scale((SPACE[length] / 2, 1, 1))
    return mesh_of(f"block-{roof}-{length}-{layer}", whole ^ slab, 20 if roof in ("foundation", "solid") else 30)


def _dome() -> Manifold:
    half = Manifold.cube((4, 4, 2), True).translate((0, 0, 1))
    return (sphere(1.0) ^ half).scale((1, 1, HEIGHT))


def _frustum() -> Manifold:
    low, high = (Manifold.cube((2 * half, 2 * half, 0.02), True) for half in (1.0, TOP))
    return hull(low.translate((0, 0, 0.01)), high.translate((0, 0, HEIGHT - 0.01)))


SHAPES: Mapping[str, Callable[[], Manifold]] = {
    "none": lambda: bevelled_box(2, 2, HEIGHT, 0.04),
    "foundation": lambda: cylinder(1.0, HEIGHT, rim=0.04),
    "solid": _dome,
    "braced": _frustum,
    "peaked": lambda: prism(6, 1.0, HEIGHT),
}


def height_at(roof: str, length: str, x: float) -> float:
    """Return how high a block is above a point of its length."""
    if roof != "solid":
        return HEIGHT
    return HEIGHT * float(np.sqrt(max(0.0, 1 - (2 * x / SPACE[length]) ** 2))) - 0.06


def load_places(count: int, length: str) -> list[float]:
    """Return where along a block its loads stand."""
    spacing = SPACING[count] * (1.15 if length == "long" else 1.0 if count < 3 else 0.9)
    return [(place - (count - 1) / 2) * spacing for place in range(count)]


@cache
def load(kind: str) -> Mesh:
    """Return a load, standing on z = 0."""
    return mesh_of(f"block-load-{kind}", LOADS[kind](), 30)


LOADS: Mapping[str, Callable[[], Manifold]] = {
    "box": lambda: sphere(0.28).translate((0, 0, 0.27)),
    "golden_vase": lambda: prism(4, 0.46, 0.46, 0.0).rotate((0, 0, 45)),
    "barrel": lambda: bevelled_box(0.5, 0.5, 0.5, 0.02),
    "diamond": lambda: cylinder(0.23, 0.56),
    "metal_pot": lambda: cylinder(0.22, 0.76, 0.0),
    "oval_vase": lambda: torus(0.22, 0.1).rotate((90, 0, 0)).translate((0, 0, 0.31)),
}


@cache
def engine() -> tuple[tuple[str, Mesh, Material], ...]:
    """Return the pieces of the engine: a long base, a cab, a boiler and a chimney."""
    base = bevelled_box(ENGINE, 2.0, 0.9, 0.05)
    boiler = cylinder(0.62, 1.9).rotate((0, 90, 0)).translate((-0.3, 0, 1.3))
    cab = bevelled_box(1.2, 1.9, 1.5, 0.04).translate((-0.95, 0, 0.85))
    chimney = cylinder(0.24, 0.8).translate((1.0, 0, 1.7))
    return (
        ("body", mesh_of("block-engine", union(base, cab)), materials.WALNUT),
        ("body", mesh_of("block-boiler", union(boiler, chimney)), materials.OAK),
    )


@cache
def strip(length: int) -> Mesh:
    """Return the flat strip that blocks stand on."""
    return mesh_of(f"strip-{length}", bevelled_box(float(length), 2.5, STRIP, 0.02))
