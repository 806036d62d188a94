"""The ten solids by their measures: how wide and high they are, where they are narrow, and which turns leave them alike."""

import numpy as np
import pytest

from assay.families.clevr.placement import CameraView
from assay.families.clevr.scene import COLOURS, FLOORS, LAMPS, SHAPES, ClevrObject, scene_of, shape_mesh
from assay.render.scene import linear_rgb, pose


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
