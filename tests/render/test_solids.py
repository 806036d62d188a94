"""Solids: volumes, outward normals, sharp and smooth edges."""

import numpy as np
import pytest

from assay.render import pose, solids

MADE = {
    "box": (solids.box(2, 3, 4), 24.0),
    "round box": (solids.box(2, 3, 4, 0.2), 24.0 - 1.2),
    "cylinder": (solids.cylinder(1, 2), 2 * np.pi),
    "cone": (solids.cylinder(1, 3, top=0.0), np.pi),
    "round cylinder": (solids.cylinder(1, 2, rim=0.1), 2 * np.pi),
    "sphere": (solids.sphere(1), 4 / 3 * np.pi),
    "torus": (solids.torus(1, 0.25), 2 * np.pi**2 * 0.0625),
    "prism": (solids.prism(6, 1, 2), 3 * np.sqrt(3)),
    "turned": (solids.revolve([(0, 0), (1, 0), (1, 1), (0, 1)]), np.pi),
    "extruded": (solids.extrude([(0, 0), (1, 0), (0, 1)], 2), 1.0),
    "hull": (solids.hull(solids.box(1, 1, 1), solids.box(1, 1, 1).translate((0, 0, 2))), 3.0),
    "union": (solids.union(solids.box(1, 1, 1), solids.box(1, 1, 1).translate((5, 0, 0))), 2.0),
}


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", MADE)
def test_a_solid_has_its_volume_and_faces_outwards(name):
    solid, expected = MADE[name]
    mesh = solids.mesh_of(name, solid)
    assert volume(mesh) == pytest.approx(expected, rel=0.06)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    assert ((flat[:, None] * mesh.normals[mesh.faces]).sum(-1) > -1e-9).all()


def test_a_ball_is_smooth_and_a_box_is_sharp():
    ball = solids.mesh_of("ball", solids.sphere(1))
    assert (ball.normals * ball.vertices).sum(axis=1).min() > 0.99
    box = solids.mesh_of("box", solids.box(1, 1, 1))
    assert len(box.vertices) == 24
    assert np.abs(box.normals).max(axis=1) == pytest.approx(1)


def test_crease_decides_what_is_sharp():
    prism = solids.prism(12, 1, 1)
    sharp, smooth = solids.mesh_of("prism", prism, crease=20), solids.mesh_of("prism", prism, crease=40)
    assert len(sharp.vertices) == 12 * 6
    assert len(smooth.vertices) == 12 * 4


def test_a_rectangle_faces_up_and_is_placed():
    mesh = solids.rectangle("board", -1, -2, 1, 2, z=0.5)
    assert mesh.vertices[:, 2].tolist() == [0.5] * 4
    matrix = pose([1, 2, 3], turn=90, scale=2)
    moved = mesh.vertices @ matrix[:3, :3].T + matrix[:3, 3]
    assert moved.min(axis=0).round(6).tolist() == [-3, 0, 4]


def test_a_sliver_that_lost_a_side_is_left_out():
    thin = solids.extrude([(0, 0), (1, 0), (1, 1e-9), (1, 1)], 1)
    faces = solids.mesh_of("thin", thin).faces
    assert all(len(set(face)) == 3 for face in faces.tolist())


@pytest.mark.parametrize(("top", "rim"), [(None, 0.2), (0.5, 0.1), (1.5, 0.2)])
def test_a_round_rim_keeps_the_reach_of_a_cylinder_and_of_a_cone(top, rim):
    mesh = solids.mesh_of("round", solids.cylinder(1.0, 3.0, top=top, rim=rim))
    reach = np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1])
    z = mesh.vertices[:, 2]
    assert (z.min(), z.max()) == pytest.approx((0, 3), abs=1e-6)
    end = 1.0 if top is None else top
    assert reach[z < rim + 1e-6].max() == pytest.approx(1.0, abs=1e-6)
    assert reach[z > 3 - rim - 1e-6].max() == pytest.approx(end, abs=1e-6)
    assert reach[z < 1e-6].max() == pytest.approx(1.0 - rim, abs=1e-6)  # flat ends lie inside of the rim
    assert reach[z > 3 - 1e-6].max() == pytest.approx(end - rim, abs=1e-6)


def test_lengths_of_solids_are_those_asked_for():
    def size(solid):
        low, high = solid.bounding_box()[:3], solid.bounding_box()[3:]
        return [round(b - a, 3) for a, b in zip(low, high, strict=True)], round(low[2], 3)

    assert size(solids.box(1, 2, 3)) == ([1, 2, 3], 0) and size(solids.box(1, 2, 3, 0.2)) == ([1, 2, 3], 0)
    assert size(solids.sphere(2))[0] == [4, 4, 4] and size(solids.torus(2, 0.5))[0] == [5, 5, 1]
    assert size(solids.prism(4, 1, 2, top=0.0))[0] == [2, 2, 2]
    assert size(solids.extrude([(0, 0), (2, 0), (0, 1)], 5)) == ([2, 1, 5], 0)
