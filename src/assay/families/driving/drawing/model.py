"""Models: meshes with the names of their paints, and how one is put into a scene; the shapes that many models share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from manifold3d import Manifold

from assay.base import Array
from assay.render import Instance, Material, Mesh, Point, Vector, extrude, hull, linear_rgb, mesh_of, revolve

SMOOTH = 16
"""How many sides the limbs of a small thing have."""


@dataclass(frozen=True)
class Piece:
    """A mesh, and the name of the paint it has."""

    mesh: Mesh
    paint: str


Model = tuple[Piece, ...]


def paint(red: int, green: int, blue: int, roughness: float = 0.6, metallic: float = 0.0) -> Material:
    """Return a paint of a screen colour."""
    return Material(linear_rgb(red, green, blue), metallic, roughness)


def lamp_material(red: int, green: int, blue: int, strength: float = 1.2) -> Material:
    """Return the material of a lit lamp."""
    return Material(linear_rgb(red, green, blue), 0.0, 0.5, strength)


PAINTS: Mapping[str, Material] = {
    "glass": paint(30, 38, 48, 0.15),
    "tyre": paint(22, 22, 24, 0.9),
    "rim": paint(150, 152, 156, 0.4, 0.6),
    "black": paint(16, 16, 18, 0.8),
    "dark": paint(48, 50, 54, 0.6),
    "steel": paint(120, 124, 130, 0.45, 0.4),
    "white": paint(238, 238, 234),
    "plate": paint(225, 225, 215),
    "red": paint(200, 24, 28),
    "orange": paint(238, 100, 20),
    "yellow": paint(246, 196, 24),
    "blue": paint(24, 72, 180),
    "concrete": paint(168, 166, 160, 0.9),
    "wood": paint(166, 116, 66, 0.8),
    "bark": paint(92, 66, 44, 0.9),
    "rock": paint(120, 112, 104, 0.9),
    "tail": lamp_material(220, 16, 20, 0.9),
    "head": paint(250, 250, 240, 0.2),
    "amber_off": paint(190, 120, 30),
    "amber_on": lamp_material(255, 160, 10, 1.6),
}
"""Paints that are the same on whatever they are."""


def place(model: Model, matrix: Array, thing: str = "", paints: Mapping[str, Material] | None = None) -> list[Instance]:
    """Return a model in its place; `paints` give or replace paints by name."""
    known = {**PAINTS, **(paints or {})}
    return [Instance(piece.mesh, known[piece.paint], matrix, thing) for piece in model]


def piece(name: str, solid: Manifold, with_paint: str, crease: float = 35.0) -> Piece:
    """Return a solid as a piece."""
    return Piece(mesh_of(name, solid, crease), with_paint)


def limb(start: Vector, end: Vector, radius: float, last: float | None = None) -> Manifold:
    """Return a round bar from one point to another, as thick at the end as `last`."""
    ends = ((start, radius), (end, radius if last is None else last))
    return hull(*(Manifold.sphere(thick, SMOOTH).translate(at) for at, thick in ends))


def ball(at: Vector, radius: float, stretch: Vector = (1.0, 1.0, 1.0)) -> Manifold:
    """Return a ball, stretched along the axes."""
    return Manifold.sphere(radius, 20).scale(stretch).translate(at)


def extrude_side(outline: Sequence[Point], width: float) -> Manifold:
    """Return an outline seen from the side, as points (y, z), drawn out over a width in x around the middle."""
    return extrude(outline, width).rotate((90, 0, 90)).translate((-width / 2, 0, 0))


def extrude_front(outline: Sequence[Point], depth: float) -> Manifold:
    """Return an outline seen from the front, as points (x, z), whose face looks towards -y from y = 0."""
    return extrude(outline, depth).rotate((90, 0, 0)).translate((0, depth, 0))


def ring(radius: float, tube: float) -> Manifold:
    """Return a ring that lies flat around the origin, with fewer faces than a torus seen from near."""
    circle = np.linspace(0, 2 * np.pi, 11)[:-1]
    return revolve([(radius + tube * float(np.cos(a)), tube * float(np.sin(a))) for a in circle], 28)


def wheel(radius: float, width: float) -> Manifold:
    """Return a wheel that rolls along y, in the middle of x, standing on z = 0."""
    bevel = 0.12 * radius
    profile = [(0.0, 0.0), (radius - bevel, 0.0), (radius, bevel), (radius, width - bevel), (radius - bevel, width)]
    return revolve([*profile, (0.0, width)], 28).rotate((0, 90, 0)).translate((-width / 2, 0, radius))
