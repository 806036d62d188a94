"""Scenes as arrays for compiled code, and passes as pictures: every number by hand."""

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
    Sky,
    Sun,
    Texture,
    box,
    check_engine,
    engines,
    mesh_of,
    pose,
    rectangle,
)
from assay.render.engines import blender
from assay.render.engines.antialiasing import sample_offsets
from assay.render.engines.bvh import build_tree
from assay.render.engines.packed_scene import (
    LEVELS,
    _boxes,
    _closed,
    _frame,
    _light,
    camera_numbers,
    mipmaps,
    pack_mesh,
)
from assay.render.engines.passes import encode_srgb, look_axes, object_numbers, shot_from_passes, unit_vector
from assay.render.engines.ray_tracer import SAMPLE_COUNTS, SampleCounts

SQUARE = rectangle("square", -1, -1, 1, 1)


def test_axes_of_a_view_are_square_to_each_other():
    right, up, forward = look_axes((0, 3, 0))
    assert (right.tolist(), up.tolist(), forward.tolist()) == ([1, 0, 0], [0, 0, 1], [0, 1, 0])
    right, up, forward = look_axes((0, 0, -2))  # straight down: north is up
    assert (right.tolist(), up.tolist(), forward.tolist()) == ([1, 0, 0], [0, 1, 0], [0, 0, -1])
    right, up, forward = look_axes((1, 0, 0), (0, 1, 0))
    assert (right.tolist(), up.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert look_axes((0.01, 0, 1))[1] @ [0, 1, 0] == pytest.approx(0)  # nearly upwards is not straight up
    assert unit_vector([3, 0, 4]).tolist() == [0.6, 0, 0.8]


def test_a_camera_is_its_place_its_axes_and_its_scale():
    camera = Camera((1, -2, 3), (1, 4, 3), fov=90.0)
    assert camera_numbers(camera, 40, 30) == pytest.approx([1, -2, 3, 1, 0, 0, 0, 0, 1, 0, 1, 0, 20, 0, 20, 15])
    wide = Camera((1, -2, 3), (1, 4, 3), fov=120.0, projection="fisheye")
    assert camera_numbers(wide, 40, 30)[12:] == pytest.approx([20 / (2 * np.sin(np.radians(30))), 1, 20, 15])


def test_the_frame_ends_with_the_sky_and_the_height_of_the_ground():
    sky, camera = Sky((1, 2, 3), (4, 5, 6), (7, 8, 9)), Camera((0, -5, 0), (0, 0, 0))
    grounded = Scene(4, 3, camera, (), (), sky, Ground(Material(), 0.25))
    assert _frame(grounded)[16:].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0.25]
    assert _frame(Scene(4, 3, camera, (), (), sky))[25] == 1e30


def test_a_lamp_is_its_place_its_sides_and_its_radiance():
    lamp = AreaLight((0, 0, 4), (0, 0, 1), size=3.0, power=18 * np.pi, color=(1.0, 0.5, 0.25))
    packed = _light(lamp)
    assert packed[:4].tolist() == [0, 0, 0, 4]
    assert packed[4:13] == pytest.approx([1.5, 0, 0, 0, 1.5, 0, 0, 0, -1])
    assert packed[13:] == pytest.approx([2.0, 1.0, 0.5, 1.5, 9.0, 0.5])


def test_a_sun_is_its_direction_and_half_its_width():
    packed = _light(Sun((0, 2, 0), 3.0, angle=2 * np.degrees(np.arctan(0.25)), color=(1.0, 0.5, 0.2)))
    assert packed == pytest.approx([1, 0, 1, 0, 0.25, 0, 0, 0, 0, 0.25, 0, -1, 0, 3.0, 1.5, 0.6, 0.25, 0, 0])


def test_textures_are_halved_in_linear_light():
    pixels = np.zeros((2, 5, 3), np.uint8)
    pixels[:, :, 0] = [[0, 255, 0, 0, 255], [255, 255, 0, 255, 255]]
    texels, table = mipmaps(Texture(pixels))
    assert table[:4].tolist() == [[0, 2, 5], [10, 1, 2], [12, 1, 1], [12, 1, 1]] and len(table) == LEVELS
    assert texels[:10, 0].tolist() == [0, 1, 0, 0, 1, 1, 1, 0, 1, 1] and (texels[:, 1:] == 0).all()
    assert texels[10:, 0].tolist() == [0.75, 0.25, 0.5] and len(texels) == 13  # the odd last column is left out
    dark, _ = mipmaps(Texture(np.array([[[10, 11, 128]]], np.uint8)))
    assert dark[0] == pytest.approx([10 / 255 / 12.92, ((11 / 255 + 0.055) / 1.055) ** 2.4, 0.21586], rel=1e-4)


def test_only_a_mesh_without_a_hole_is_closed():
    solid = mesh_of("solid", box(1, 2, 3))
    assert _closed(solid.vertices, solid.faces) and not _closed(solid.vertices, solid.faces[1:])
    assert not _closed(solid.vertices, np.concatenate([solid.faces, solid.faces[:1]]))
    assert not _closed(SQUARE.vertices, SQUARE.faces)
    turned = np.concatenate([solid.faces[:1, ::-1], solid.faces[1:]])
    assert not _closed(solid.vertices, turned)


def test_boxes_hold_instances_that_are_turned_and_scaled():
    packed = pack_mesh(Mesh("off", np.array([[0.0, 0, 0], [2, 0, 0], [0, 4, 1]]), np.eye(3), np.array([[0, 1, 2]])))
    places = np.stack([pose((10, 20, 30), scale=(1, 2, 3)), pose((0, 0, 1), turn=90)])
    assert _boxes([packed], [0, 0], places) == pytest.approx(
        np.array([[10, 20, 30, 12, 28, 33], [-4, 0, 1, 0, 2, 2]]), abs=1e-9
    )
    assert _boxes([], [], np.zeros((0, 4, 4))).shape == (0, 6)


def test_numbers_of_things_and_parts_end_with_ground_and_sky():
    named = [("car", "roof"), ("", ""), ("tree", ""), ("car", "wheel")]
    instances = tuple(Instance(SQUARE, Material(), np.eye(4), thing, part) for thing, part in named)
    scene = Scene(3, 2, Camera((0, -5, 0), (0, 0, 0)), instances, (), exposure=2.0)
    things, parts = object_numbers(scene)
    assert things.tolist() == [1, 0, 2, 1, 0, 0] and parts.tolist() == [1, 0, 0, 2, 0, 0]
    owner = np.array([[0, 3, 4], [2, -1, 1]])
    shot = shot_from_passes(scene, np.full((2, 3, 3), 0.25), owner, np.ones((2, 3)))
    assert shot.things.tolist() == [[1, 1, 0], [2, 0, 0]] and shot.parts.tolist() == [[1, 2, 0], [0, 0, 0]]
    assert (shot.image == 188).all()  # half of the light is 188 of a screen


def test_light_becomes_the_bytes_of_a_screen():
    light = np.array([-1.0, 0.0, 0.002, 0.0031308, 0.21586, 0.5, 1.0, 7.0])
    assert encode_srgb(light, 1.0).tolist() == [0, 0, 7, 10, 128, 188, 255, 255]
    assert encode_srgb(light, 0.5)[[5, 6]].tolist() == [137, 188]


def test_samples_are_spread_as_the_window_of_blackman_and_harris():
    def share(x):  # of the window's area that lies below
        turn = np.pi * x / 0.75
        waves = 0.48829 * np.sin(turn) + 0.14128 / 2 * np.sin(2 * turn) + 0.01168 / 3 * np.sin(3 * turn)
        return 0.5 + (0.35875 * x + waves * 0.75 / np.pi) / (2 * 0.75 * 0.35875)

    places = sample_offsets(8)
    assert share(places[:, 0]) == pytest.approx((np.arange(8) + 0.5) / 8, abs=2e-3)
    golden = (np.sqrt(5) - 1) / 2
    assert share(places[:, 1]) == pytest.approx((0.5 + golden * np.arange(8)) % 1, abs=2e-3)


def test_qualities_have_their_counts_of_samples():
    assert SAMPLE_COUNTS["draft"] == SampleCounts(2, 6, 3, 3, 4)
    assert SAMPLE_COUNTS["standard"] == SampleCounts(2, 4, 4, 8, 8)
    assert SAMPLE_COUNTS["high"] == SampleCounts(5, 3, 6, 24, 16)
    assert blender.SAMPLES == {"draft": 8, "standard": 32, "high": 128}


def test_an_engine_asks_for_what_it_needs_and_no_more(monkeypatch):
    asked = []
    monkeypatch.setattr(engines, "import_extra", lambda name, _: asked.append(name))
    check_engine("embedded")
    assert asked == ["manifold3d", "numba"]
    monkeypatch.setattr(blender, "interpreter", lambda: None)
    with pytest.raises(engines.MissingExtra, match="drawing with Blender needs"):
        check_engine("blender")
    monkeypatch.setattr(blender, "interpreter", lambda: "python")
    check_engine("blender")
    assert asked[2:] == ["manifold3d", "manifold3d"]


def test_blenders_python_is_the_one_named_or_ours_where_it_has_bpy(monkeypatch):
    monkeypatch.setenv("ASSAY_BLENDER_PYTHON", "/opt/blender/python")
    assert blender.interpreter() == "/opt/blender/python"
    monkeypatch.delenv("ASSAY_BLENDER_PYTHON")
    monkeypatch.setattr(blender.importlib.util, "find_spec", lambda name: None)
    assert blender.interpreter() is None
    monkeypatch.setattr(blender.importlib.util, "find_spec", lambda name: name == "bpy" or None)
    assert blender.interpreter() == blender.sys.executable


def test_a_tree_parts_boxes_where_their_faces_cost_least():
    """Three clusters along x, y and z: no box of a node is larger than it need be, and leaves hold few."""
    rng = np.random.default_rng(4)
    middles = np.concatenate([rng.normal(0, 0.3, (8, 3)) + at for at in ((0, 0, 0), (9, 0, 1), (8, 7, 0))])
    low, high = middles - rng.uniform(0.1, 0.3, (24, 3)), middles + rng.uniform(0.1, 0.3, (24, 3))
    nodes, links, order = build_tree(low.copy(), high.copy(), 2)
    assert sorted(order.tolist()) == list(range(24))
    held = {}

    def gather(k):
        first, count = links[k]
        mine = order[first : first + count].tolist() if count else [*gather(first), *gather(first + 1)]
        held[k] = sorted(mine)
        assert nodes[k].tolist() == [*low[mine].min(axis=0), *high[mine].max(axis=0)] and count <= 2
        return mine

    assert sorted(gather(0)) == list(range(24)) and len(held) == len(nodes)
    clusters = ([*range(16, 24)], [*range(16)], [*range(8)], [*range(8, 16)])  # a flat box of two is the smaller one
    assert all(cluster in held.values() for cluster in clusters)
    faces = nodes[:, 3:] - nodes[:, :3]
    cost = (faces * np.roll(faces, 1, axis=1)).sum()
    assert cost == pytest.approx(207.3601, rel=1e-6)  # as it was before
