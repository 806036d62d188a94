"""A scene as Blender gets it, which needs no Blender: frames look along -z, numbers point to what they mean."""

import numpy as np
import pytest

from assay.render import (
    AreaLight,
    Camera,
    Ground,
    Instance,
    Material,
    Mesh,
    Scene,
    Sun,
    Texture,
    box,
    label_pixels,
    mesh_of,
    pose,
    rectangle,
)
from assay.render.engines.blender import describe_scene

CUBE, SQUARE = mesh_of("cube", box(1, 1, 1)), rectangle("square", -1, -1, 1, 1)
PAPER = Texture(np.zeros((2, 2, 3), dtype=np.uint8), (1.0, 2.0), (3.0, 4.0))


def scene():
    instances = (
        Instance(CUBE, Material((1.0, 0.0, 0.0)), pose([0, 0, 5]), "a"),
        Instance(SQUARE, Material(texture=PAPER), pose([1, 0, 0]), "b"),
        Instance(CUBE, Material(metallic=1.0, emission=2.0), pose([0, 7, 0], turn=90), "c"),
    )
    lights = (Sun((0.0, 0.0, 1.0), 2.0, 90.0), AreaLight((0.0, -3.0, 0.0), (0.0, 0.0, 0.0), 0.5, 40.0))
    return Scene(
        8, 6, Camera((0, -10, 0), (0, 0, 0), 60.0), instances, lights, ground=Ground(Material((0, 1.0, 0)), -1.0)
    )


def test_meshes_and_textures_are_named_once():
    facts, arrays = describe_scene(scene(), 16)
    assert (facts["width"], facts["height"], facts["samples"], facts["meshes"], facts["textures"]) == (8, 6, 16, 2, 1)
    assert facts["instances"] == [{"mesh": 0, "material": 0}, {"mesh": 1, "material": 1}, {"mesh": 0, "material": 2}]
    assert facts["materials"][1]["texture"] == 0 and facts["materials"][1]["corner"] == (1.0, 2.0)
    assert facts["materials"][1]["size"] == (3.0, 4.0) and facts["materials"][0]["texture"] is None
    assert [m["color"] for m in facts["materials"]][3] == (0, 1.0, 0) and facts["ground"]["material"] == 3
    assert facts["ground"]["z"] == -1.0 and facts["ground"]["near"] == 40.0  # four times as far as what is farthest
    assert (arrays["matrices"][2][:3, 3] == [0, 7, 0]).all() and arrays["vertices1"].shape == (4, 3)


def test_lights_and_the_camera_look_along_their_own_minus_z():
    facts, _ = describe_scene(scene(), 16)
    sun, lamp = facts["lights"]
    assert sun["kind"] == "SUN" and sun["energy"] == 2.0 and sun["angle"] == pytest.approx(np.pi / 2)
    assert -np.array(sun["matrix"])[:3, 2] == pytest.approx([0, 0, -1])  # from the sun down
    assert lamp["kind"] == "AREA" and lamp["size"] == 0.5 and lamp["energy"] == 40.0
    assert -np.array(lamp["matrix"])[:3, 2] == pytest.approx([0, 1, 0])
    assert np.array(lamp["matrix"])[:3, 3].tolist() == [0, -3, 0]
    frame = np.array(facts["camera"]["matrix"])
    assert -frame[:3, 2] == pytest.approx([0, 1, 0]) and frame[:3, 1] == pytest.approx([0, 0, 1])
    assert frame[:3, 0] == pytest.approx([1, 0, 0]) and facts["camera"]["fov"] == pytest.approx(np.pi / 3)


def test_faces_that_are_lines_are_left_out():
    mesh = Mesh("thin", SQUARE.vertices, SQUARE.normals, np.array([[0, 1, 2], [0, 0, 2], [1, 2, 1]]))
    thin = Scene(4, 4, Camera((0, -5, 0), (0, 0, 0)), (Instance(mesh, Material(), np.eye(4)),), ())
    assert describe_scene(thin, 1)[1]["faces0"].tolist() == [[0, 1, 2]]


def test_a_triangle_is_hit_inside_of_its_three_sides_only():
    points = np.array([[-1.0, 0, -1], [1, 0, -1], [-1, 0, 1]])
    mesh = Mesh("triangle", points, np.tile([0.0, -1, 0], (3, 1)), np.array([[0, 1, 2]]))
    seen = label_pixels(
        Scene(60, 60, Camera((0, -10, 0), (0, 0, 0), 20.0), (Instance(mesh, Material(), np.eye(4), "t"),), ())
    )
    scale = 30 / (10 * np.tan(np.radians(10)))
    x, z = (np.arange(60) + 0.5 - 30) / scale, (30 - np.arange(60) - 0.5) / scale
    inside = (x[None] > -1) & (z[:, None] > -1) & (x[None] + z[:, None] < 0)
    clear = np.abs(x[None] + z[:, None]) > 1e-6  # not on the slanted side itself
    assert ((seen.things == 1) == inside)[clear].all() and inside.sum() > 200


def test_materials_name_their_own_texture_and_small_scenes_have_some_ground():
    other = Texture(np.ones((1, 2, 3), dtype=np.uint8), (5.0, 6.0), (7.0, 8.0))
    materials = (Material(texture=PAPER), Material((0.1, 0.2, 0.3), 0.4, 0.5, 0.6), Material(texture=other))
    instances = tuple(Instance(SQUARE, material, np.eye(4)) for material in materials)
    camera = Camera((0, -0.1, 0), (0, 0, 0), 60.0, up=(1, 0, 0), projection="fisheye")
    small = Scene(4, 3, camera, instances, (), ground=Ground(Material(texture=PAPER), 0.5))
    facts, arrays = describe_scene(small, 1)
    assert [material["texture"] for material in facts["materials"]] == [0, None, 1, 0] and facts["textures"] == 2
    assert facts["materials"][2]["corner"] == (5.0, 6.0) and arrays["texture1"].shape == (1, 2, 3)
    plain = {key: facts["materials"][1][key] for key in ("color", "metallic", "roughness", "emission")}
    assert plain == {"color": (0.1, 0.2, 0.3), "metallic": 0.4, "roughness": 0.5, "emission": 0.6}
    assert facts["ground"] == {"material": 3, "z": 0.5, "near": 1.0}
    frame = np.array(facts["camera"]["matrix"])
    assert frame[:3, 1] == pytest.approx([1, 0, 0]) and facts["camera"]["projection"] == "fisheye"
    assert frame[:3, 3].tolist() == [0, -0.1, 0]
    bare = describe_scene(Scene(4, 3, camera, (), ()), 1)
    assert bare[0]["ground"] is None and bare[0]["materials"] == [] and bare[1]["matrices"].shape == (0, 4, 4)
    far = Scene(4, 3, camera, (Instance(CUBE, Material(), pose([0, 0, -9])),), (), ground=Ground(Material()))
    assert describe_scene(far, 1)[0]["ground"]["near"] == 36.0
    sky = describe_scene(scene(), 1)[0]["sky"]
    assert sky == {"zenith": (0.05,) * 3, "horizon": (0.05,) * 3, "below": (0.05,) * 3}
