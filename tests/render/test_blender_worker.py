"""What Blender is told, with a stand-in for it that remembers all that is set: meshes, nodes, links, lights, labels."""

import io
import json
import sys
from collections import defaultdict
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from assay.render import AreaLight, Camera, Ground, Instance, Material, Mesh, Scene, Sky, Sun, Texture, pose
from assay.render.engines import blender
from assay.render.engines import blender_worker as worker
from tests.render.test_engines_blender import fake


class Node:
    """A node of a material or a world: sockets by name or place, each one only ever made once."""

    def __init__(self, kind):
        self.type = kind
        self.inputs = defaultdict(SimpleNamespace)
        self.outputs = defaultdict(SimpleNamespace)


class Nodes(list):
    """The nodes of a tree."""

    def new(self, kind):
        self.append(Node(kind.removeprefix("ShaderNode")))
        return self[-1]


class Links(list):
    """The links of a tree, as pairs of sockets."""

    def new(self, source, target):
        self.append((source, target))


def tree(*kinds):
    return SimpleNamespace(node_tree=SimpleNamespace(nodes=Nodes(map(Node, kinds)), links=Links()), use_nodes=False)


def socket(nodes, one):
    """Return which node has a socket, and under which name."""
    for node in nodes:
        for sockets in (node.inputs, node.outputs):
            for name, held in sockets.items():
                if held is one:
                    return node.type, name
    raise AssertionError("no node has this socket")


def wires(made):
    """Return the links of a tree in words."""
    nodes = made.node_tree.nodes
    return [(socket(nodes, source), socket(nodes, target)) for source, target in made.node_tree.links]


class Numbers(list):
    """Vertices, corners or faces of a mesh: how many were added, and what was set of them."""

    def __init__(self):
        self.count, self.held = 0, {}

    def add(self, count):
        self.count += count

    def foreach_set(self, name, values):
        self.held[name] = values


def stand_in():
    """Return a Blender whose data can be looked at."""
    bpy = MagicMock()
    bpy.data.materials.new.side_effect = lambda name: tree("BSDF_PRINCIPLED")
    bpy.data.worlds.new.side_effect = lambda name: tree("OUTPUT", "BACKGROUND")
    bpy.data.meshes.new.side_effect = lambda name: MagicMock(vertices=Numbers(), loops=Numbers(), polygons=Numbers())
    bpy.data.objects.new.side_effect = lambda name, data: SimpleNamespace(
        name=name, data=data, material_slots=[SimpleNamespace()], type="MESH"
    )
    bpy.data.lights.new.side_effect = lambda name, kind: SimpleNamespace(kind=kind)
    bpy.data.cameras.new.side_effect = lambda name: SimpleNamespace(cycles=SimpleNamespace())
    linked = []
    bpy.context.scene.collection.objects.link.side_effect = linked.append
    bpy.context.scene.objects = linked
    return bpy


# -- parts of a scene --------------------------------------------------------------------------------------------------


def test_a_mesh_has_its_corners_faces_and_normals():
    points = np.arange(12.0).reshape(4, 3)
    arrays = {"vertices3": points, "normals3": points / 2, "faces3": np.array([[0, 1, 2], [0, 2, 3]])}
    mesh = worker.build_mesh(stand_in(), arrays, 3)
    assert (mesh.vertices.count, mesh.loops.count, mesh.polygons.count) == (4, 6, 2)
    assert mesh.vertices.held["co"].tolist() == list(range(12))
    assert mesh.loops.held["vertex_index"].tolist() == [0, 1, 2, 0, 2, 3]
    assert (
        mesh.polygons.held["loop_start"].tolist() == [0, 3] and mesh.polygons.held["use_smooth"].tolist() == [True] * 2
    )
    mesh.update.assert_called_once_with(calc_edges=True)
    mesh.normals_split_custom_set_from_vertices.assert_called_once_with((points / 2).tolist())


def test_the_ground_is_nine_faces_that_meet():
    mesh = worker.build_ground(stand_in(), {"ground": {"near": 5.0, "z": -0.5}})
    points, edges, faces = mesh.from_pydata.call_args.args
    assert edges == [] and len(points) == 16 and len(faces) == 9
    assert points[0] == (-5e5, -5e5, -0.5) and points[5] == (-5.0, -5.0, -0.5) and points[15] == (5e5, 5e5, -0.5)
    for face in faces:  # counter-clockwise from above
        corners = np.array([points[k][:2] for k in face])
        ahead = np.roll(corners, -1, axis=0)
        assert (corners[:, 0] * ahead[:, 1] - corners[:, 1] * ahead[:, 0]).sum() > 0
        assert sorted(np.ptp(corners, axis=0))[0] > 0
    assert sorted(k for face in faces for k in face) == sorted([0, 3, 12, 15] + [1, 2, 4, 7, 8, 11, 13, 14] * 2 + [5, 6, 9, 10] * 4)  # fmt: skip


def test_an_image_is_written_from_below_in_shares_of_light():
    bpy = stand_in()
    image = worker.build_image(bpy, np.array([[[0, 51, 255]] * 3, [[255, 0, 102]] * 3], dtype=np.uint8))
    assert bpy.data.images.new.call_args.args[1:] == (3, 2)
    written = image.pixels.foreach_set.call_args.args[0].reshape(2, 3, 4)
    assert written[0, 0] == pytest.approx([1, 0, 0.4, 1]) and written[1, 2] == pytest.approx([0, 0.2, 1, 1])
    image.pack.assert_called_once_with()


PLAIN = {"color": (0.1, 0.2, 0.3), "metallic": 0.7, "roughness": 0.4, "emission": 0.0, "texture": None}


def test_a_material_has_its_colour_and_nothing_more():
    made = worker.build_material(stand_in(), PLAIN, [])
    (shader,) = made.node_tree.nodes
    assert made.use_nodes and {name: held.default_value for name, held in shader.inputs.items()} == {
        **{"Base Color": (0.1, 0.2, 0.3, 1), "Emission Color": (0.1, 0.2, 0.3, 1), "Metallic": 0.7, "Roughness": 0.4}
    }
    assert made.node_tree.links == []


@pytest.mark.parametrize("emission", [0.3, 2.0])
def test_a_lamp_is_seen_and_mirrored_but_lights_nothing(emission):
    made = worker.build_material(stand_in(), {**PLAIN, "emission": emission}, [])
    _, path, either, times = made.node_tree.nodes
    assert (path.type, either.type, times.type) == ("LightPath", "Math", "Math")
    assert (either.operation, times.operation) == ("MAXIMUM", "MULTIPLY")
    assert times.inputs[1].default_value == emission
    assert wires(made) == [
        (("LightPath", "Is Camera Ray"), ("Math", 0)),
        (("LightPath", "Is Glossy Ray"), ("Math", 1)),
        (("Math", 0), ("Math", 0)),
        (("Math", 0), ("BSDF_PRINCIPLED", "Emission Strength")),
    ]
    assert made.node_tree.links[2] == (either.outputs[0], times.inputs[0])
    assert made.node_tree.links[3][0] is times.outputs[0]


def test_a_texture_is_moved_then_scaled_and_gives_both_colours():
    spec = {**PLAIN, "texture": 1, "corner": (1.0, 2.0), "size": (3.0, 4.0)}
    made = worker.build_material(stand_in(), spec, ["other", "image"])
    _, place, move, scale, look = made.node_tree.nodes
    assert (move.operation, scale.operation) == ("SUBTRACT", "DIVIDE")
    assert move.inputs[1].default_value == (1.0, 2.0, 0) and scale.inputs[1].default_value == (3.0, 4.0, 1)
    assert (look.image, look.extension) == ("image", "REPEAT")
    assert made.node_tree.links[:3] == [
        (place.outputs["Object"], move.inputs[0]),
        (move.outputs[0], scale.inputs[0]),
        (scale.outputs[0], look.inputs["Vector"]),
    ]
    assert wires(made)[3:] == [
        (("TexImage", "Color"), ("BSDF_PRINCIPLED", "Base Color")),
        (("TexImage", "Color"), ("BSDF_PRINCIPLED", "Emission Color")),
    ]


def test_objects_stand_in_their_place_by_columns():
    bpy = stand_in()
    matrix = np.arange(16.0).reshape(4, 4)
    thing = worker.add_object(bpy, bpy.context.scene, "it", "mesh", matrix)
    assert thing.matrix_world == matrix.T.tolist() and bpy.context.scene.objects == [thing]


def test_lights_are_suns_or_squares_and_not_seen():
    bpy = stand_in()
    base = {"energy": 3.0, "color": (1, 0.5, 0), "matrix": np.eye(4).tolist()}
    worker.add_light(bpy, bpy.context.scene, {**base, "kind": "SUN", "angle": 0.2})
    worker.add_light(bpy, bpy.context.scene, {**base, "kind": "AREA", "size": 1.5})
    sun, lamp = bpy.context.scene.objects
    assert vars(sun.data) == {"kind": "SUN", "energy": 3.0, "color": (1, 0.5, 0), "angle": 0.2}
    assert vars(lamp.data) == {"kind": "AREA", "energy": 3.0, "color": (1, 0.5, 0), "shape": "SQUARE", "size": 1.5}
    assert sun.visible_camera is lamp.visible_camera is False


def test_the_sky_goes_from_the_horizon_up_and_down():
    spec = {"zenith": (0.1, 0.2, 0.9), "horizon": (0.5, 0.6, 0.7), "below": (0.2, 0.2, 0.1)}
    world = worker.build_sky(stand_in(), spec)
    nodes = world.node_tree.nodes
    back, place, part, high, under, up, down, both, total = nodes[1:]
    assert [node.operation for node in (high, under, up, down, both, total)] == [
        *("MAXIMUM", "LESS_THAN", "SCALE", "SCALE", "ADD", "ADD")
    ]
    assert high.inputs[1].default_value == under.inputs[1].default_value == 0.0
    assert up.inputs[0].default_value == pytest.approx([-0.4, -0.4, 0.2])
    assert down.inputs[0].default_value == pytest.approx([-0.3, -0.4, -0.6])
    assert total.inputs[1].default_value == pytest.approx([0.5, 0.6, 0.7])
    assert world.node_tree.links == [
        (place.outputs["Generated"], part.inputs[0]),
        (part.outputs["Z"], high.inputs[0]),
        (part.outputs["Z"], under.inputs[0]),
        (high.outputs[0], up.inputs["Scale"]),
        (under.outputs[0], down.inputs["Scale"]),
        (up.outputs[0], both.inputs[0]),
        (down.outputs[0], both.inputs[1]),
        (both.outputs[0], total.inputs[0]),
        (total.outputs[0], back.inputs["Color"]),
    ]


def test_cameras_are_flat_or_fisheyes():
    bpy = stand_in()
    for projection in ("perspective", "fisheye"):
        spec = {"projection": projection, "fov": 1.2, "matrix": np.diag([1.0, 2.0, 3.0, 1.0]).tolist()}
        worker.add_camera(bpy, bpy.context.scene, spec)
    flat, fisheye = bpy.context.scene.objects
    assert bpy.context.scene.camera is fisheye and fisheye.matrix_world[1][1] == 2.0
    assert (flat.data.angle_x, flat.data.sensor_fit, flat.data.sensor_width) == (1.2, "HORIZONTAL", 36.0)
    assert not hasattr(flat.data, "type") and fisheye.data.type == "PANO"
    assert vars(fisheye.data.cycles) == {
        **{"panorama_type": "FISHEYE_EQUISOLID", "fisheye_fov": 2 * np.pi},
        "fisheye_lens": pytest.approx(9.0 / np.sin(0.3)),
    }
    assert (flat.data.clip_start, flat.data.clip_end) == (1e-3, 1e9)


@pytest.mark.parametrize("newer", [False, True])
def test_cycles_is_told_its_size_and_samples(newer):
    settings = SimpleNamespace(**({"media_type": "VIDEO"} if newer else {}))
    scene = SimpleNamespace(render=SimpleNamespace(image_settings=settings), cycles=SimpleNamespace())
    worker.configure_render(scene, {"width": 8, "height": 6, "samples": 32})
    render, cycles = scene.render, scene.cycles
    assert (render.engine, render.resolution_x, render.resolution_y, render.resolution_percentage) == (
        "CYCLES",
        8,
        6,
        100,
    )
    assert getattr(settings, "media_type", None) == ("IMAGE" if newer else None)
    assert (settings.file_format, settings.color_mode, settings.color_depth) == ("OPEN_EXR", "RGB", "32")
    assert (cycles.device, cycles.seed, cycles.use_adaptive_sampling, cycles.samples) == ("CPU", 0, False, 32)
    assert (cycles.use_denoising, cycles.denoiser, render.use_persistent_data) == (True, "OPENIMAGEDENOISE", False)


def loaded(bpy, picture):
    """Let what is loaded from a file be a picture, given first row on top."""
    high, wide = picture.shape[:2]
    image = MagicMock(size=(wide, high))
    image.pixels.foreach_get.side_effect = lambda into: into.__setitem__(slice(None), picture[::-1].ravel())
    bpy.data.images.load.return_value = image
    return image


def test_a_rendered_picture_has_its_first_row_on_top(tmp_path):
    bpy, picture = stand_in(), np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    image = loaded(bpy, picture)
    found = worker.render_pixels(bpy, bpy.context.scene, tmp_path / "light.exr")
    assert found.tolist() == picture.tolist() and bpy.context.scene.render.filepath == str(tmp_path / "light.exr")
    bpy.ops.render.render.assert_called_once_with(write_still=True)
    assert image.colorspace_settings.name == "Non-Color"
    bpy.data.images.remove.assert_called_once_with(image)


@pytest.mark.parametrize(("projection", "depth"), [("perspective", "View Z Depth"), ("fisheye", "View Distance")])
def test_labels_are_drawn_without_light_one_ray_a_pixel(tmp_path, projection, depth):
    bpy = stand_in()
    loaded(bpy, np.zeros((1, 1, 4), np.float32))
    scene = bpy.context.scene
    scene.objects.extend([SimpleNamespace(type="LIGHT"), SimpleNamespace(type="MESH")])
    scene.view_layers = [SimpleNamespace()]
    worker.render_labels(bpy, scene, {"camera": {"projection": projection}}, tmp_path / "labels.exr")
    made = scene.view_layers[0].material_override
    assert [node.type for node in made.node_tree.nodes] == [
        *("OutputMaterial", "Emission", "CombineXYZ", "ObjectInfo", "CameraData")
    ]
    assert wires(made) == [
        (("ObjectInfo", "Object Index"), ("CombineXYZ", 0)),
        (("CameraData", depth), ("CombineXYZ", 1)),
        (("CombineXYZ", 0), ("Emission", "Color")),
        (("Emission", 0), ("OutputMaterial", "Surface")),
    ]
    assert [thing.hide_render for thing in scene.objects] == [True, False] and scene.world is None
    cycles = scene.cycles
    assert (cycles.samples, cycles.use_denoising, cycles.max_bounces, cycles.filter_width) == (1, False, 0, 0.01)


# -- whole scenes ------------------------------------------------------------------------------------------------------


def described(ground=True):
    """Return a scene of three instances of two meshes as the worker gets it."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    first, second = (Mesh(name, corners * k, corners + 1, np.array([[0, 1, 2]])) for name, k in (("a", 1), ("b", 2)))
    paper = Texture(np.zeros((2, 2, 3), np.uint8))
    instances = (
        Instance(first, Material((1, 0, 0)), pose([1, 0, 0])),
        Instance(second, Material(texture=paper), pose([2, 0, 0])),
        Instance(first, Material((0, 0, 1)), pose([3, 0, 0])),
    )
    lights = (Sun((0, 0, 1), 2.0), AreaLight((0, 0, 3), (0, 0, 0), 1.0, 5.0))
    soil = Ground(Material((0, 1, 0)), -1.0) if ground else None
    scene = Scene(4, 3, Camera((0, -5, 0), (0, 0, 0)), instances, lights, Sky(), soil)
    return blender.describe_scene(scene, 16)


@pytest.mark.parametrize("ground", [False, True])
def test_a_scene_is_built_of_its_instances_ground_and_lights(ground):
    bpy = stand_in()
    facts, arrays = described(ground)
    scene = worker.build_scene(bpy, facts, arrays)
    bpy.ops.wm.read_factory_settings.assert_called_once_with(use_empty=True)
    names = ["i0", "i1", "i2", *(["ground"] if ground else []), "light", "light", "camera"]
    assert [thing.name for thing in scene.objects] == names
    things = scene.objects[: 4 if ground else 3]
    assert [thing.pass_index for thing in things] == list(range(1, len(things) + 1))
    assert things[0].data is things[2].data is not things[1].data
    assert [thing.matrix_world[3][0] for thing in things] == [1, 2, 3, 0][: len(things)]
    assert all(thing.material_slots[0].link == "OBJECT" for thing in things)
    colours = [
        thing.material_slots[0].material.node_tree.nodes[0].inputs["Base Color"].default_value for thing in things
    ]
    assert colours == [(1, 0, 0, 1), (0.5, 0.5, 0.5, 1), (0, 0, 1, 1), (0, 1, 0, 1)][: len(things)]
    assert scene.camera is scene.objects[-1]


def test_a_drawn_scene_is_light_owners_and_depths(tmp_path, monkeypatch):
    facts, arrays = described()
    (tmp_path / "scene.json").write_text(json.dumps(facts))
    np.savez(tmp_path / "arrays.npz", **arrays)
    light = np.random.default_rng(0).random((3, 4, 4)).astype(np.float32)
    labels = np.zeros((3, 4, 4), np.float32)
    labels[..., 0], labels[..., 1] = [[1.0001, 2, 3, 0], [0, 3.999, 4, 4], [1, 1, 0, 0]], np.arange(12).reshape(3, 4)
    drawn = []
    monkeypatch.setattr(worker, "render_pixels", lambda bpy, scene, path: drawn.append(path.name) or light)
    monkeypatch.setattr(worker, "render_labels", lambda bpy, scene, spec, path: drawn.append(path.name) or labels)
    bpy = stand_in()
    worker.draw(bpy, tmp_path)
    assert drawn == ["light.exr", "labels.exr"] and bpy.context.scene.cycles.samples == 16
    with np.load(tmp_path / "shot.npz") as shot:
        assert (shot["light"] == light[..., :3]).all()
        assert shot["owner"].tolist() == [[0, 1, 2, -1], [-1, 3, 3, 3], [0, 0, -1, -1]]
        inf = np.inf
        assert shot["depth"].tolist() == [[0, 1, 2, inf], [inf, 5, 6, 7], [8, 9, inf, inf]]


def test_requests_are_answered_one_by_one(tmp_path, monkeypatch):
    answers = io.StringIO()
    files = dict.fromkeys(("dup", "dup2", "open"), lambda *_: 1)
    held = SimpleNamespace(fdopen=lambda *_: answers, devnull="", O_WRONLY=0, **files)
    monkeypatch.setattr(worker, "os", held)
    monkeypatch.setitem(sys.modules, "bpy", MagicMock())
    monkeypatch.setattr(sys, "stdin", io.StringIO("/good\n/bad one\n/good\n"))
    seen = []

    def draw(bpy, folder):
        seen.append(str(folder))
        if folder.name != "good":
            raise ValueError("two\n  lines")

    monkeypatch.setattr(worker, "draw", draw)
    worker.main()
    lines = answers.getvalue().splitlines()
    assert seen == ["/good", "/bad one", "/good"] and [line.split()[0] for line in lines] == [
        "ready",
        "done",
        "failed:",
        "done",
    ]
    assert lines[2] == "failed: two lines" and 0 <= float(lines[1].split()[1]) < 60
    monkeypatch.setitem(sys.modules, "bpy", None)
    answers.truncate(0)
    worker.main()
    assert "failed: " in answers.getvalue() and "ready" not in answers.getvalue()


DRAWS = """
import json, numpy as np, pathlib
print('ready', flush=True)
for line in sys.stdin:
    folder = pathlib.Path(line.strip())
    facts = json.loads((folder / 'scene.json').read_text())
    high, wide = facts['height'], facts['width']
    light = np.full((high, wide, 3), facts['samples'] / 1000, np.float32)
    owner = np.arange(high * wide).reshape(high, wide) % (len(facts['instances']) + 2) - 1
    np.savez(folder / 'shot.npz', light=light, owner=owner, depth=np.where(owner >= 0, 2.5, np.inf))
    print('done 1.25', flush=True)
"""


def test_a_blender_that_draws_is_kept_and_its_seconds_are_added_up(tmp_path, monkeypatch):
    monkeypatch.setattr(blender, "_running", {})
    monkeypatch.setenv("ASSAY_BLENDER_PYTHON", fake(tmp_path, DRAWS))
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    mesh = Mesh("a", corners, corners + 1, np.array([[0, 1, 2]]))
    things = tuple(Instance(mesh, Material(), np.eye(4), thing) for thing in ("car", "", "tree"))
    scene = Scene(5, 2, Camera((0, -5, 0), (0, 0, 0)), things, ())
    shots = [blender.render_with_blender(scene, quality) for quality in ("draft", "high")]
    running = blender.running_blender()
    assert running.alive and running.seconds == 2.5
    assert shots[0].things.tolist() == [[0, 1, 0, 2, 0], [0, 1, 0, 2, 0]] and shots[0].depth.dtype == np.float64
    assert [int(shot.image[0, 0, 0]) for shot in shots] == [22, 100]  # 8 and 128 samples, as the light of a screen
    running.stop()
    assert not running.alive
    again = blender.running_blender()
    assert again is not running and again.alive
    again.stop()
