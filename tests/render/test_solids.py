"""Solids: volumes and lengths, outward normals, sharp and smooth edges."""

import numpy as np
import pytest

from assay.render import box, cylinder, extrude, hull, mesh_of, prism, rectangle, revolve, sphere, torus, union


def apart():
    return box(1, 1, 1).translate((5, 0, 0))


MADE = {  # the solid, its volume, and its lengths
    "box": (lambda: box(2, 3, 4), 24.0, (2, 3, 4)),
    "round box": (
        lambda: box(2, 3, 4, 0.5), 24 - (1 - np.pi / 4) * 0.25 * 4 * (1 + 2 + 3) - (1 - np.pi / 6), (2, 3, 4)
    ),
    "cylinder": (lambda: cylinder(1, 2), 2 * np.pi, (2, 2, 2)),
    "cone": (lambda: cylinder(1, 3, top=0.0), np.pi, (2, 2, 3)),
    "round cylinder": (lambda: cylinder(1, 2, rim=0.1), 2 * np.pi, (2, 2, 2)),
    "round cone": (lambda: cylinder(1, 3, top=1.5, rim=0.1), np.pi * (1 + 1.5 + 2.25), (3, 3, 3)),
    "sphere": (lambda: sphere(2), 4 / 3 * np.pi * 8, (4, 4, 4)),
    "torus": (lambda: torus(2, 0.5), 2 * np.pi**2 * 2 * 0.25, (5, 5, 1)),
    "prism": (lambda: prism(6, 1, 2), 3 * np.sqrt(3), (2, np.sqrt(3), 2)),
    "frustum": (lambda: prism(4, 1, 3, top=0.5), 3.5, (2, 2, 3)),
    "turned": (lambda: revolve([(0, 0), (1, 0), (1, 1), (0, 1)]), np.pi, (2, 2, 1)),
    "extruded": (lambda: extrude([(0, 0), (2, 0), (0, 1)], 5), 5.0, (2, 1, 5)),
    "hull": (lambda: hull(box(1, 1, 1), box(1, 1, 1).translate((0, 0, 2))), 3.0, (1, 1, 3)),
    "union": (lambda: union(box(1, 1, 1), apart()), 2.0, (6, 1, 1)),
    "union of one": (lambda: union(apart()), 1.0, (1, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_solid_has_its_volume_and_lengths_and_faces_outwards(name):
    make, volume, lengths = MADE[name]
    mesh = mesh_of(name, make())
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=0.05)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(lengths, abs=1e-2)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)
    assert ((np.cross(b - a, c - a)[:, None] * mesh.normals[mesh.faces]).sum(-1) > -1e-9).all()


def test_a_ball_is_smooth_and_a_box_is_sharp():
    ball = mesh_of("ball", sphere(1))
    assert (ball.normals * ball.vertices).sum(axis=1).min() > 0.99
    cube = mesh_of("box", box(1, 1, 1))
    assert len(cube.vertices) == 24
    assert np.abs(cube.normals).max(axis=1) == pytest.approx(1)


def test_crease_decides_what_is_sharp():
    sharp, smooth = (mesh_of("p", prism(12, 1, 1), crease=crease) for crease in (20, 40))
    assert (len(sharp.vertices), len(smooth.vertices)) == (12 * 6, 12 * 4)
    sharp, smooth = (mesh_of("p", prism(sides, 1, 1)) for sides in (10, 11))  # 36 and 33 degrees
    assert (len(sharp.vertices), len(smooth.vertices)) == (10 * 6, 11 * 4)


def test_a_rectangle_faces_up_at_its_height():
    mesh = rectangle("board", -1, -2, 3, 5, z=0.25)
    assert mesh.vertices.tolist() == [[-1, -2, 0.25], [3, -2, 0.25], [3, 5, 0.25], [-1, 5, 0.25]]
    assert mesh.normals.tolist() == [[0, 0, 1]] * 4 and mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_a_sliver_that_lost_a_side_is_left_out():
    thin = extrude([(0, 0), (1, 0), (1, 1e-9), (1, 1)], 1)
    faces = mesh_of("thin", thin).faces
    assert all(len(set(face)) == 3 for face in faces.tolist())
