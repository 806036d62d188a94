"""The ten solids by their measures: how wide and high they are, where they are narrow, and which turns leave them alike."""

import numpy as np
import pytest

from assay.families.clevr.placement import CameraView
from assay.families.clevr.scene import COLOURS, FLOORS, LAMPS, SHAPES, ClevrObject, scene_of, shape_mesh
from assay.render import linear_rgb, pose
from tests.families.probes import require_matter


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def reach(mesh, low=-1.0, high=9.0):
    """How far from its axis a solid reaches, between two heights."""
    points = mesh.vertices[(mesh.vertices[:, 2] >= low) & (mesh.vertices[:, 2] <= high)]
    return float(np.hypot(points[:, 0], points[:, 1]).max())


def outline(mesh):
    """How far a solid reaches in each of 360 directions."""
    turns = np.radians(np.arange(360))
    return (mesh.vertices[:, :2] @ np.stack([np.cos(turns), np.sin(turns)])).max(axis=0)


MEASURES = {  # the height, how far it reaches, the volume, and how often it looks alike in a whole turn
    "cube": (2**0.5, 1.0, 2**1.5, 4),
    "sphere": (2.0, 1.0, 4 / 3 * np.pi, None),
    "cylinder": (1.6, 0.8, np.pi * 0.64 * 1.6, None),
    "cone": (2.0, 0.9, np.pi * 2 / 3 * (0.81 + 0.063 + 0.0049), None),
    "pyramid": (1.38, 0.64 * 2**0.5 + 0.08, None, 4),
    "ring": (0.62, 1.0, 2 * np.pi**2 * 0.69 * 0.31**2, None),
    "star": (0.6, 1.0, None, 5),
    "cross": (1.9, None, 3 * 1.9 * 0.56**2 - 2 * 0.56**3, 4),
    "hourglass": (1.8, 0.82, None, None),
    "diamond": (1.55, 0.92, None, 8),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_solid_has_its_measures(name):
    mesh = shape_mesh(name)
    height, wide, filled, alike = MEASURES[name]
    assert mesh.vertices[:, 2].min() == pytest.approx(0, abs=1e-4)
    assert mesh.vertices[:, 2].max() == pytest.approx(height, abs=5e-3)
    if wide is not None:
        assert reach(mesh) == pytest.approx(wide, abs=0.13 if name == "cube" else 0.01)  # whose edges are planed off
    if filled is not None:
        assert volume(mesh) == pytest.approx(filled, rel=0.05)
    around = outline(mesh)
    if alike is None:
        assert np.ptp(around) < 0.01
    else:
        assert np.abs(around - np.roll(around, 360 // alike)).max() < 0.01 and np.ptp(around) > 0.03
        fewer = [times for times in range(alike + 1, 13) if 360 % times == 0 and times % alike]
        assert all(np.abs(around - np.roll(around, 360 // times)).max() > 0.01 for times in fewer)


def test_narrow_and_wide_places():
    glass, stone, pyramid = shape_mesh("hourglass"), shape_mesh("diamond"), shape_mesh("pyramid")
    assert reach(glass, 0.85, 0.95) == pytest.approx(0.17, abs=0.02)
    assert reach(glass, 0.0, 0.2) == pytest.approx(reach(glass, 1.6, 1.8), abs=0.01) == pytest.approx(0.82, abs=0.01)
    assert reach(stone, -1, 0.03) < 0.06 and reach(stone, 1.0, 1.15) == pytest.approx(0.92, abs=0.01)
    assert reach(stone, 1.48, 2.0) == pytest.approx(0.53, abs=0.01)
    assert reach(pyramid, 1.3, 2.0) < 0.09 and reach(pyramid, -1, 0.01) == pytest.approx(0.64 * 2**0.5, abs=0.05)
    ring = shape_mesh("ring").vertices
    assert np.hypot(ring[:, 0], ring[:, 1]).min() == pytest.approx(0.38, abs=0.01)
    star = shape_mesh("star").vertices
    turns, far = np.degrees(np.arctan2(star[:, 1], star[:, 0])) % 72, np.hypot(star[:, 0], star[:, 1])
    assert np.minimum(turns, 72 - turns)[far > 0.95].max() < 5 and far[np.abs(turns - 36) < 4].max() < 0.5
    cross = shape_mesh("cross").vertices
    assert np.abs(cross[:, :2]).max(axis=0) == pytest.approx([0.95, 0.95], abs=1e-3)
    arms = cross[np.abs(cross[:, 0]) > 0.5]
    assert (arms[:, 2].min(), arms[:, 2].max()) == pytest.approx((0.95 - 0.28, 0.95 + 0.28), abs=1e-3)
    cone = shape_mesh("cone")
    assert reach(cone, 1.9, 2.1) < 0.15 and reach(cone, -1, 0.1) == pytest.approx(0.9, abs=0.01)


def test_an_object_is_a_solid_of_its_size_in_its_place():
    solid = ClevrObject("object2", "cyan", "ring", "metal", "medium", (1.5, -2.0, 40.0))
    assert solid.radius == 0.5 and solid.middle == pytest.approx(0.5 * 0.31, abs=1e-3)
    assert ClevrObject("x", "red", "cube", "metal", "small", (0, 0, 0)).middle == pytest.approx(
        0.3 * 2**0.5 / 2, abs=1e-3
    )
    made = solid.instance
    assert made.matrix == pytest.approx(pose((1.5, -2.0, 0.0), 40.0, 0.5)) and made.thing == "object2"
    assert made.mesh is shape_mesh("ring") and made.material.color == linear_rgb(*COLOURS["cyan"])
    assert (made.material.metallic, made.material.roughness) == (1.0, 0.08)
    rubber = ClevrObject("x", "red", "cube", "rubber", "small", (0, 0, 0)).instance.material
    assert (rubber.metallic, rubber.roughness) == (0.0, 0.85)


def test_a_scene_has_its_objects_lamps_and_floor_as_the_view_shows_them():
    view = CameraView(96, 72, jitter=(0.1, 0.2, 0.3))
    solids = [ClevrObject(f"object{n}", "red", "cube", "metal", "small", (n, 0, 0)) for n in (1, 2)]
    jitter = {"key": (0.1, 0.2, 0.3), "fill": (-0.1, 0.0, 0.5), "back": (1.0, -1.0, 0.25)}
    scene = scene_of(solids, view, jitter, "brown")
    assert (scene.width, scene.height, scene.camera) == (96, 72, view.camera)
    assert [one.thing for one in scene.instances] == ["object1", "object2"]
    for light, (name, lamp) in zip(scene.lights, LAMPS.items(), strict=True):
        assert light.position == pytest.approx(tuple(np.add(lamp.position, jitter[name])))
        assert (light.size, light.power, light.target) == (lamp.size, lamp.power, (0.0, 0.0, 0.0))
    assert scene.ground.material.color == linear_rgb(*FLOORS["brown"])
    assert scene_of(solids, view, jitter).ground.material.color == linear_rgb(*FLOORS["grey"])


HALF = 2**0.5 / 2


def ways(times, radius, height, off=0.0):
    """Points at a distance from the axis, so many in a whole turn."""
    turns = 2 * np.pi * (np.arange(times) + off) / times
    return [(radius * float(np.cos(a)), radius * float(np.sin(a)), height) for a in turns]


PROBES = {  # where there is matter, and where edges are rounded off or nothing is
    "cube": (
        [*ways(4, 2**0.5 * (HALF - 0.05), HALF, 0.5), (0, HALF - 0.05, 0.05), (HALF - 0.05, 0, 2 * HALF - 0.05)],
        [*ways(4, 2**0.5 * (HALF - 0.03), HALF, 0.5), (0, HALF - 0.03, 0.03), (HALF - 0.03, 0, 2 * HALF - 0.03)],
    ),
    "sphere": ([(0.97, 0, 1), (0, 0, 0.02), (0, 0, 1.98)], [(1.02, 0, 1), (0.75, 0, 0.3)]),
    "cylinder": (
        [(0.77, 0, 0.03), (0.77, 0, 1.57), (0.78, 0, 0.8)],
        [(0.785, 0, 0.015), (0.785, 0, 1.585), (0.82, 0, 0.8)],
    ),
    "cone": ([(0.86, 0, 0.05), (0.47, 0, 1.0), (0, 0, 1.98)], [(0.89, 0, 0.01), (0.5, 0, 1.0), (0.08, 0, 1.95)]),
    "pyramid": (
        [*ways(4, 2**0.5 * 0.66, 0.08, 0.5), (0, 0, 1.36), (0.05, 0, 1.3)],
        [*ways(4, 2**0.5 * 0.71, 0.08, 0.5), *ways(4, 2**0.5 * 0.68, 0.015, 0.5), (0.1, 0, 1.33)],
    ),
    "ring": ([*ways(4, 0.69, 0.31), (0.97, 0, 0.31), (0.4, 0, 0.31)], [(0, 0, 0.31), (0.36, 0, 0.31), (0.95, 0, 0.55)]),
    "star": (
        [*ways(5, 0.97, 0.3), *ways(5, 0.42, 0.3, 0.5), (0, 0, 0.58), *ways(5, 0.7, 0.57)],
        [*ways(5, 0.5, 0.3, 0.5), *ways(5, 0.99, 0.02), (0, 0, 0.62)],
    ),
    "cross": (
        [*ways(4, 0.92, 0.95), (0.8, 0.26, 0.95), (0.8, 0, 1.2), (0, 0, 0.03), (0, 0, 1.87), (0.26, 0, 0.5)],
        [*ways(4, 0.5, 0.95, 0.5), (0.93, 0.26, 0.95), (0.8, 0.3, 0.95), (0.3, 0, 0.5), (0.5, 0, 1.3)],
    ),
    "hourglass": (
        [(0.8, 0, 0.1), (0.8, 0, 1.7), (0.15, 0, 0.9), (0.45, 0, 0.5), (0.45, 0, 1.3)],
        [(0.2, 0, 0.9), (0.53, 0, 0.5), (0.53, 0, 1.3), (0.81, 0, 0.02)],
    ),
    "diamond": (
        [*ways(8, 0.89, 1.07), *ways(8, 0.5, 1.5), (0, 0, 0.02), (0.4, 0, 0.6)],
        [(0.57, 0, 1.5), (0.94, 0, 1.07), *ways(8, 0.9, 1.07, 0.5), (0.06, 0, 0.03), (0.6, 0, 0.6)],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_edges_are_as_round_as_they_should_be(name):
    require_matter(SHAPES[name](), *PROBES[name])
