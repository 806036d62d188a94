"""Solids and their meshes: boxes with round edges, turned and extruded profiles, balls, joined, cut and moved.

A solid is a `Manifold`: `a + b` joins, `a - b` cuts, `a ^ b` keeps what both hold; it has `translate`, `rotate`
(degrees about x, y, z), `scale` and `mirror`. `mesh_of` makes a mesh of it, smooth where faces meet at less than
`crease` degrees.
"""

from collections.abc import Sequence

import numpy as np
from manifold3d import CrossSection, Manifold

from assay.base import Array
from assay.render.scene import Mesh

Point = tuple[float, float]
ROUND = 48
"""How many sides a circle has."""


def mesh_of(name: str, solid: Manifold, crease: float = 35.0) -> Mesh:
    """Return the mesh of a solid; edges sharper than `crease` degrees stay sharp.

    Parameters
    ----------
    name
        What it is.
    solid
        What to turn into triangles.
    crease
        Edges sharper than so many degrees stay sharp; others are shaded smoothly.
    """
    whole = solid.to_mesh()
    points, faces = np.asarray(whole.vert_properties, dtype=np.float64)[:, :3], np.asarray(whole.tri_verts, np.int64)
    corners = _corner_normals(points, faces, crease)
    return _welded(name, points[faces].reshape(-1, 3), corners.reshape(-1, 3), len(faces))


def _corner_normals(points: Array, faces: Array, crease: float) -> Array:
    """Return the normal at each corner of each face: of the faces there that are nearly parallel to this one."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    size = np.linalg.norm(areas, axis=1, keepdims=True)
    flat = areas / np.where(size > 0, size, 1.0)
    angles = np.stack([_angle(b - a, c - a), _angle(c - b, a - b), _angle(a - c, b - c)], axis=1)
    order = np.argsort(faces.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(faces.ravel(), minlength=len(points)))
    normals, least = np.zeros((faces.size, 3)), np.cos(np.radians(crease))
    for first, last in zip(np.r_[0, ends[:-1]], ends, strict=True):
        meeting = order[first:last]
        face = flat[meeting // 3]
        near = (face @ face.T) >= least
        normals[meeting] = near @ (face * angles.ravel()[meeting][:, None])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 0, normals / np.where(length > 0, length, 1.0), np.repeat(flat, 3, axis=0))


def _angle(first: Array, second: Array) -> Array:
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    angle: Array = np.arccos(np.clip((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1.0), -1, 1))
    return angle


def _welded(name: str, points: Array, normals: Array, faces: int) -> Mesh:
    """Return a mesh in which corners with the same place and the same normal are one vertex."""
    both = np.concatenate([points, normals], axis=1).round(7)
    _, first, numbers = np.unique(both, axis=0, return_index=True, return_inverse=True)
    corners = numbers.reshape(faces, 3)
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)  # a sliver may have lost a side
    return Mesh(name, points[first], normals[first], corners[whole])


def rectangle(name: str, left: float, low: float, right: float, high: float, z: float = 0.0) -> Mesh:
    """Return a rectangle that faces up; boards and roads are such, with a texture.

    Parameters
    ----------
    name
        What it is.
    left
        The least x.
    low
        The least y.
    right
        The greatest x.
    high
        The greatest y.
    z
        How high it lies.
    """
    points = np.array([[left, low, z], [right, low, z], [right, high, z], [left, high, z]], dtype=np.float64)
    return Mesh(name, points, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]))


def box(x: float, y: float, z: float, rim: float = 0.0) -> Manifold:
    """Return a box of these lengths, standing on z = 0 in the middle of x and y; `rim` is the radius of its edges.

    Parameters
    ----------
    x
        The length from left to right.
    y
        The length from front to back.
    z
        The height.
    rim
        The radius of rounded edges; 0: they are sharp.
    """
    if rim <= 0:
        return Manifold.cube((x, y, z), True).translate((0, 0, z / 2))
    ball = Manifold.sphere(rim, 24)
    reach = np.array([x, y, z]) / 2 - rim
    corners = [ball.translate(tuple(reach * (2 * np.array(corner) - 1))) for corner in np.ndindex(2, 2, 2)]
    return Manifold.batch_hull(corners).translate((0, 0, z / 2))


def cylinder(radius: float, height: float, top: float | None = None, rim: float = 0.0) -> Manifold:
    """Return a cylinder on z = 0, or a cone where `top` is another radius; `rim` rounds its edges.

    Parameters
    ----------
    radius
        That of the base.
    height
        How far up it reaches from z = 0.
    top
        The radius of a cone's upper end.
    rim
        The radius of rounded edges; 0: they are sharp.
    """
    top = radius if top is None else top
    if rim <= 0:
        return Manifold.cylinder(height, radius, top, ROUND)
    ring = np.linspace(0, np.pi / 2, 7)
    low = [(radius - rim + rim * float(np.sin(a)), rim - rim * float(np.cos(a))) for a in ring]
    high = [(top - rim + rim * float(np.cos(a)), height - rim + rim * float(np.sin(a))) for a in ring]
    return revolve([(0.0, 0.0), *low, *high, (0.0, height)])


def sphere(radius: float) -> Manifold:
    """Return a ball around the origin."""
    return Manifold.sphere(radius, ROUND)


def torus(radius: float, tube: float) -> Manifold:
    """Return a ring that lies flat around the origin: `radius` to the middle of its tube."""
    circle = np.linspace(0, 2 * np.pi, 25)[:-1]
    return revolve([(radius + tube * float(np.cos(a)), tube * float(np.sin(a))) for a in circle])


def revolve(profile: Sequence[Point], sides: int = ROUND) -> Manifold:
    """Return what a lathe makes of a profile of (radius, height) points, given counter-clockwise (outside upwards)."""
    return Manifold.revolve(CrossSection([[(float(r), float(z)) for r, z in profile]]), sides)


def extrude(outline: Sequence[Point], depth: float) -> Manifold:
    """Return an outline in x and y, given counter-clockwise, drawn up by `depth` from z = 0."""
    return Manifold.extrude(CrossSection([[(float(x), float(y)) for x, y in outline]]), depth)


def prism(sides: int, radius: float, height: float, top: float | None = None) -> Manifold:
    """Return an upright prism with a regular base, or a frustum (a pyramid for 0) where `top` is another radius.

    Parameters
    ----------
    sides
        How many corners the base has.
    radius
        From the middle of the base to a corner.
    height
        How far up it reaches from z = 0.
    top
        The radius of a frustum's upper end; 0 gives a pyramid.
    """
    return Manifold.cylinder(height, radius, radius if top is None else top, sides)


def hull(*solids: Manifold) -> Manifold:
    """Return the smallest convex solid around these."""
    return Manifold.batch_hull(list(solids))


def union(*solids: Manifold) -> Manifold:
    """Return these solids as one."""
    whole = solids[0]
    for solid in solids[1:]:
        whole = whole + solid
    return whole
