"""Meshes, canvases, pictures and packed scenes in exact numbers, with shapes and sizes that differ along each axis."""

import numpy as np
import pytest
from manifold3d import Manifold
from PIL import Image

from assay.errors import DataError, UnknownName
from assay.render import (
    NO_IMAGE,
    Camera,
    Canvas,
    Ground,
    Instance,
    Letterbox,
    Material,
    Picture,
    Scene,
    Texture,
    engines,
    linear_rgb,
    mark_picture,
    open_image,
    picture_of,
    pose,
    read_photograph,
    solids,
)
from assay.render import open_image as opening
from assay.render.engines import blender, jit, ray_tracer
from assay.render.engines.packed_scene import LEAF, mipmaps, pack_mesh, pack_scene
from assay.render.engines.passes import encode_srgb, look_axes
from assay.render.scene import Shot

# -- meshes ------------------------------------------------------------------------------------------------------------


def test_normals_are_weighted_by_the_angle_of_each_face():
    """Where a flat roof of two slopes meets: the faces' angles decide, not how many triangles they are cut into."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, -1, -0.3]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 4, 1]])  # two of the plane above, one of the slope
    flat, slope = np.array([0.0, 0, 1]), np.cross([0, -1, -0.3], [1, 0, 0])
    slope = slope / np.linalg.norm(slope)
    normals = solids._corner_normals(points, faces, 40.0).reshape(3, 3, 3)
    ends = {0: np.pi / 2 * flat + np.pi / 2 * slope, 2: flat, 3: flat, 4: slope}
    ends[1] = np.pi / 2 * flat + np.arctan(np.hypot(1, 0.3)) * slope
    for face, corners in enumerate(faces):
        for place, corner in enumerate(corners):
            assert normals[face, place] == pytest.approx(ends[corner] / np.linalg.norm(ends[corner])), (face, place)
    sharp = solids._corner_normals(points, faces, 10.0).reshape(3, 3, 3)
    assert sharp[:2].reshape(-1, 3) == pytest.approx(np.tile(flat, (6, 1)))
    assert sharp[2] == pytest.approx(np.tile(slope, (3, 1)))


def test_angles_between_vectors_of_any_length():
    first, second = np.array([[2.0, 0, 0], [3, 3, 0], [1, 0, 0], [0, 0, 0]]), np.array([[0.0, 5, 0], [4, 0, 0], [-2, 0, 0], [1, 0, 0]])  # fmt: skip
    assert solids._angle(first, second) == pytest.approx([np.pi / 2, np.pi / 4, np.pi, np.pi / 2])


def test_a_face_without_area_has_some_normal_and_harms_no_other():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0]])
    normals = solids._corner_normals(points, np.array([[0, 1, 2], [0, 1, 3]]), 35.0)
    assert np.isfinite(normals).all() and normals[:3] == pytest.approx(np.tile([0.0, 0, 1], (3, 1)))


def test_corners_are_one_vertex_where_place_and_normal_agree():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1e-9]], dtype=float)
    normals = np.tile([0.0, 0, 1], (6, 1))
    assert len(solids._welded("w", points, normals, 2).vertices) == 4
    normals[3] = [0, 1, 0]
    split = solids._welded("w", points, normals, 2)
    assert len(split.vertices) == 5 and split.vertices[split.faces].reshape(-1, 3) == pytest.approx(points, abs=1e-8)
    points[5, 2] = 0.01
    assert len(solids._welded("w", points, normals, 2).vertices) == 6


def test_faces_back_to_back_keep_normals_of_their_own_where_all_is_smooth():
    points = np.array([[0.0, 0, 0], [2, 0, 0], [0, 3, 0]])
    normals = solids._corner_normals(points, np.array([[0, 1, 2], [0, 2, 1]]), 180.0)  # they add up to nothing
    assert normals.tolist() == [[0, 0, 1]] * 3 + [[0, 0, -1]] * 3


def test_edges_of_more_than_35_degrees_are_sharp_by_default():
    sharp, smooth = (solids.mesh_of("p", solids.prism(sides, 1, 1)) for sides in (10, 11))
    assert (len(sharp.vertices), len(smooth.vertices)) == (10 * 6, 11 * 4)
    assert (sharp.name, len(sharp.faces), len(smooth.faces)) == ("p", 4 * 10 - 4, 4 * 11 - 4)


def test_slivers_are_left_out_and_other_faces_keep_their_order():
    points = np.array([[0, 0, 0], [0, 0, 1e-9], [1, 0, 0], [5, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=float)
    mesh = solids._welded("w", points, np.tile([0.0, 1, 0], (6, 1)), 2)
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [5, 0, 0]] and mesh.faces.tolist() == [[2, 0, 1]]
    assert mesh.normals.tolist() == [[0, 1, 0]] * 3 and mesh.name == "w"


def test_a_rectangle_has_its_corners_in_turn():
    mesh = solids.rectangle("r", -1, -2, 3, 5, 0.25)
    assert mesh.vertices.tolist() == [[-1, -2, 0.25], [3, -2, 0.25], [3, 5, 0.25], [-1, 5, 0.25]]
    assert mesh.normals.tolist() == [[0, 0, 1]] * 4 and mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_round_boxes_turned_profiles_and_frustums_have_their_reach():
    low, high = np.reshape(solids.box(2, 3, 4, 0.5).bounding_box(), (2, 3))
    assert (low, high) == (pytest.approx([-1, -1.5, 0]), pytest.approx([1, 1.5, 4]))
    assert solids.box(2, 3, 4, 0.5).volume() == pytest.approx(
        2 * 3 * 4 - (1 - np.pi / 4) * 0.25 * 4 * (1 + 2 + 3) - (1 - np.pi / 6) * 1.0, rel=0.01
    )
    coarse, fine = (solids.revolve([(0, 0), (1, 0), (1, 1), (0, 1)], sides) for sides in (6, 60))
    assert coarse.volume() == pytest.approx(3 * np.sqrt(3) / 2) and fine.volume() == pytest.approx(np.pi, rel=0.01)
    assert solids.prism(4, 1.0, 3.0, top=0.5).volume() == pytest.approx(3 / 3 * (2 + 0.5 + 1), rel=1e-6)
    assert solids.cylinder(1.0, 2.0, top=0.0).volume() == pytest.approx(np.pi * 2 / 3, rel=0.01)
    parts = [Manifold.cube((1, 1, 1)).translate((3 * k, 0, 0)) for k in range(4)]
    assert solids.union(*parts).volume() == pytest.approx(4) and solids.union(parts[0]).volume() == pytest.approx(1)
    area = 12 * 0.25 * np.sin(2 * np.pi / 24)  # of a circle of 24 corners, carried around in 48 steps
    assert solids.torus(2.0, 0.5).volume() == pytest.approx(2 * area * 48 * np.sin(2 * np.pi / 48), rel=1e-5)
    assert solids.prism(5, 1.0, 2.0).volume() == pytest.approx(2 * 2.5 * np.sin(2 * np.pi / 5), rel=1e-6)


def test_leans_and_turns_are_not_exchanged():
    matrix = pose([1, 2, 3], turn=90, tilt=90, scale=(2, 3, 4))
    assert (matrix @ [1, 0, 0, 1]).round(9).tolist() == [1, 4, 3, 1]
    assert (matrix @ [0, 1, 0, 1]).round(9).tolist() == [1, 2, 6, 1]
    assert (matrix @ [0, 0, 1, 1]).round(9).tolist() == [5, 2, 3, 1]


@pytest.mark.parametrize(
    ("byte", "light"), [(0, 0.0), (10, 10 / 255 / 12.92), (11, ((11 / 255 + 0.055) / 1.055) ** 2.4), (255, 1.0)]
)
def test_dark_colours_are_linear(byte, light):
    assert linear_rgb(byte, 0, 255) == pytest.approx((light, 0.0, 1.0))


def test_parts_belong_to_things():
    square = solids.rectangle("s", 0, 0, 1, 1)
    names = [Instance(square, Material(), np.eye(4), *pair).part_name for pair in (("a", "b"), ("a", ""), ("", "b"))]
    assert names == ["a/b", "", ""]


# -- canvases and pictures ---------------------------------------------------------------------------------------------


def test_things_may_lie_in_things_and_outlines_fill_nothing():
    canvas = Canvas(30, 20)
    square = np.array([[2.0, 2.0], [12.0, 2.0], [12.0, 9.0], [2.0, 9.0]])
    with canvas.thing("outer"):
        with canvas.thing("inner"):
            canvas.polygon(square + np.array([14, 8]), fill=(0, 0, 0))
        canvas.polygon(square, line=(0, 0, 0), width=3.0)
    canvas.polygon(square + np.array([0, 9]), fill=(0, 0, 0))
    assert canvas.names == ["outer", "inner"] and canvas.current == 0
    assert canvas.instances[5, 7] == 0 and canvas.instances[2, 7] == 1 and canvas.instances[14, 20] == 2
    assert not (canvas.instances == 1)[10:].any() and canvas.instances[:6, 7].tolist() == [0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("exact", [True, False])
def test_a_picture_may_have_exactly_as_many_pixels_as_are_read(tmp_path, monkeypatch, exact):
    Image.new("RGB", (6, 4)).save(tmp_path / "a.png")
    monkeypatch.setattr(opening, "MOST_PIXELS", 24 if exact else 23)
    if exact:
        with open_image(tmp_path / "a.png", "a.png") as opened:
            assert opened.size == (6, 4)
    else:
        with pytest.raises(DataError, match="has 6 x 4 pixels, at most 23"):
            open_image(tmp_path / "a.png", "a.png")


def test_grey_and_tall_photographs_are_read_in_colour(tmp_path):
    pixels = np.zeros((40, 10), np.uint8)
    pixels[20:] = 200
    Image.fromarray(pixels).save(tmp_path / "grey.png")
    read = read_photograph(tmp_path / "grey.png", (30, 20))
    assert read.shape == (20, 30, 3) and read[4, 15].tolist() == [0, 0, 0] and read[15, 15].tolist() == [200] * 3
    assert (read[:, :12] == 114).all() and (read[:, 18:] == 114).all()
    with pytest.raises(DataError):
        read_photograph(tmp_path / "none.png", (30, 20))


def test_boxes_are_cut_at_the_picture_and_not_at_the_bars():
    fit = Letterbox.of((100, 50), (40, 60))  # 40 x 20, 20 down
    assert fit == Letterbox(40, 20, 0, 20)
    box = fit.box((90, 40, 30, 30), (100, 50))
    assert (box.left, box.top, box.right, box.bottom) == (36, 36, 40, 40)
    box = fit.box((-30, -20, 40, 40), (100, 50))
    assert (box.left, box.top, box.right, box.bottom) == (0, 20, 4, 28)


def test_a_picture_without_pixels_keeps_its_words():
    told = Picture(text="a robot")
    assert mark_picture(told, "frame", 1, 2) is told and mark_picture(told, "position", 1, 2) is told
    assert told.image is NO_IMAGE


# -- packed scenes -----------------------------------------------------------------------------------------------------

RED, BLUE = (
    Texture(np.full((h, w, 3), v, np.uint8), (k, 2 * k), (3.0, 4.0)) for h, w, v, k in ((2, 4, 255, 1), (1, 2, 0, 5))
)


def packed():
    """Two meshes and three instances, two of them with a texture, over a ground that has one."""
    cube, square = solids.mesh_of("cube", solids.box(1, 2, 3)), solids.rectangle("square", 0, 0, 2, 1)
    instances = (
        Instance(square, Material((0.1, 0.2, 0.3), 0.4, 0.5, 0.6), pose([10, 0, 0])),
        Instance(cube, Material(texture=BLUE), pose([0, 20, 0], scale=2)),
        Instance(square, Material(texture=RED), pose([0, 0, 30], turn=90)),
    )
    return (
        cube,
        square,
        pack_scene(
            Scene(
                8,
                6,
                Camera((0, -9, 1), (0, 0, 0)),
                instances,
                (),
                ground=Ground(Material((0.9, 0.8, 0.7), texture=RED)),
            )
        ),
    )


def test_instances_point_at_what_their_mesh_has():
    cube, square, world = packed()
    flat, solid = pack_mesh(square), pack_mesh(cube)
    kind = world.solid.kind
    assert kind[:, 1:5].tolist() == [[0, 2, 0, 4], [2, 12, 4, 24], [0, 2, 0, 4], [0, 0, 0, 0]]
    assert kind[:, 5:].tolist() == [[0, 0, -1], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert kind[:3, 0].tolist() == [5, 5 + len(flat.nodes), 5]  # after the tree over three instances
    assert (world.faces[:2] == flat.faces).all() and (world.faces[2:] == solid.faces + 4).all()
    assert (world.corners[4:] == solid.corners).all() and world.solid.triangles.shape == (14, 9)
    assert (world.solid.nodes[kind[1, 0]] == solid.nodes[0]).all() and len(world.solid.nodes) == 5 + len(flat.nodes) + len(solid.nodes)  # fmt: skip


def test_leaves_of_the_scene_are_instances_and_those_of_meshes_triangles():
    _, square, world = packed()
    links, kind = world.solid.links, world.solid.kind
    leaves = {int(k): links[k].tolist() for k in range(5) if links[k, 1] > 0}
    assert sorted(first for first, _ in leaves.values()) == [0, 1, 2]
    for node, (instance, _) in leaves.items():
        assert world.solid.nodes[node] == pytest.approx(world.solid.rows[instance, 28:34])
    start = kind[1, 0]
    inner = [k for k in range(start, len(links)) if links[k, 1] == 0]
    assert inner and all(links[k, 0] > k for k in inner)
    firsts = [tuple(links[k]) for k in range(start, len(links)) if links[k, 1] > 0]
    assert sorted(t for first, count in firsts for t in range(first, first + count)) == list(range(2, 14))
    assert max(count for _, count in firsts) <= LEAF and links[kind[0, 0]].tolist() == [0, 2]
    assert len(pack_mesh(square).nodes) == 1


def test_rows_hold_places_boxes_and_materials():
    _, _, world = packed()
    rows = world.solid.rows
    assert rows[0, :12] == pytest.approx([1, 0, 0, 10, 0, 1, 0, 0, 0, 0, 1, 0])
    assert rows[1, 12:24] == pytest.approx([0.5, 0, 0, 0, 0, 0.5, 0, -10, 0, 0, 0.5, 0])
    assert rows[1, 28:34] == pytest.approx([-1, 18, 0, 1, 22, 6]) and rows[1, 24:27] == pytest.approx([0, 20, 3])
    assert rows[1, 27] == pytest.approx(np.sqrt(4 + 16 + 36) / 2) and rows[2, 28:34] == pytest.approx(
        [-1, 0, 30, 0, 2, 30]
    )
    assert rows[0, 34:40] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) and rows[3, 34:37] == pytest.approx(
        [0.9, 0.8, 0.7]
    )
    assert rows[1, 40:].tolist() == [5, 10, 3, 4] and rows[2, 40:].tolist() == rows[3, 40:].tolist() == [1, 2, 3, 4]


def test_textures_are_joined_one_after_another():
    _, _, world = packed()
    blue, red = mipmaps(BLUE)[0], mipmaps(RED)[0]
    assert (world.texels == np.concatenate([blue, red])).all()
    assert world.levels[0, :2].tolist() == [[0, 1, 2], [2, 1, 1]]
    assert world.levels[1, :3].tolist() == [[3, 2, 4], [3 + 8, 1, 2], [3 + 10, 1, 1]]


def test_light_is_cut_off_after_the_exposure():
    assert encode_srgb(np.array([1.5, 7.0, 0.25]), 0.5).tolist() == [225, 255, 99]
    assert encode_srgb(np.array([0.25, 0.6]), 2.0).tolist() == [188, 255]


def test_views_nearly_along_their_up_vector_keep_it():
    for slope, north in ((0.0, True), (0.004, True), (0.01, False)):
        right, up, forward = look_axes((slope, 0.0, -1.0))
        assert (abs(float(up @ [0, 1, 0])) > 0.99) == north
        assert np.cross(right, forward) == pytest.approx(up) and float(up @ forward) == pytest.approx(0, abs=1e-9)


# -- pictures of scenes ------------------------------------------------------------------------------------------------


def test_an_engine_gets_the_scene_and_the_quality_that_were_asked_for(monkeypatch):
    scene, asked = Scene(3, 2, Camera((0, -5, 0), (0, 0, 0)), (), ()), []
    for module, name in ((ray_tracer, "trace_scene"), (blender, "render_with_blender")):
        monkeypatch.setattr(module, name, lambda *given, name=name: asked.append((name, *given)) or name)
    assert engines.shoot(scene, quality="high") == engines.shoot(scene) == "trace_scene"
    assert engines.shoot(scene, "blender", "draft") == engines.shoot(scene, "blender") == "render_with_blender"
    assert asked == [
        ("trace_scene", scene, "high"), ("trace_scene", scene, "standard"),
        ("render_with_blender", scene, "draft"), ("render_with_blender", scene, "standard"),
    ]  # fmt: skip
    for engine, quality, said in (
        ("blender", "blender", "no quality"),
        ("embedded", "best", "no quality"),
        ("draft", "draft", "no engine"),
    ):
        with pytest.raises(UnknownName, match=f"{said} named"):
            engines.shoot(scene, engine, quality)
    assert len(asked) == 4


@pytest.mark.parametrize("count", [2, 255, 256])
def test_pictures_number_parts_after_things_and_cut_depth(monkeypatch, count):
    square = solids.rectangle("s", 0, 0, 1, 1)
    things = tuple(Instance(square, Material(), np.eye(4), f"t{k}") for k in range(count - 1))
    scene = Scene(
        3, 2, Camera((0, -5, 0), (0, 0, 0)), (*things, Instance(square, Material(), np.eye(4), "t0", "lid")), ()
    )
    numbers, parts = np.array([[0, 1, count - 1], [1, 0, 0]]), np.array([[0, 1, 0], [0, 0, 0]])
    depth = np.array([[np.inf, 2.0, 8.0], [4.0, 0.0, 16.0]])
    asked = []

    def shoot(scene, engine, quality):
        asked.append((engine, quality))
        return Shot(np.zeros((2, 3, 3), np.uint8), numbers, parts, depth)

    monkeypatch.setattr(engines, "shoot", shoot)
    picture = picture_of(scene, 8.0, "blender", "draft")
    assert asked == [("blender", "draft")]
    assert picture.depth.tolist() == [[65535, 16384, 65535], [32768, 0, 65535]] and picture.depth.dtype == np.uint16
    assert picture.instances.tolist() == numbers.tolist() and picture.parts.tolist() == [[0, count, 0], [0, 0, 0]]
    assert picture.parts.dtype == picture.instances.dtype == (np.uint8 if count < 256 else np.uint16)
    assert [thing.name for thing in picture.things][-2:] == [f"t{count - 2}", "t0/lid"]
    plain = picture_of(Scene(3, 2, scene.camera, things, ()), 8.0)
    assert plain.parts is None and asked[-1] == ("embedded", "standard")


def test_machine_code_is_kept_where_it_can_be_written(tmp_path, monkeypatch):
    name = jit.cache_folder().name
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    find = jit.cache_folder.__wrapped__
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "own"))
    assert find() == tmp_path / "own" / name
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "file"))  # no folder can be made there
    assert find() == tmp_path / "home" / "assay" / name
    monkeypatch.setattr(jit.config, "CACHE_DIR", "")
    assert find() == tmp_path / "home" / "assay" / name
    monkeypatch.setattr(jit, "_writable", lambda path: False)
    assert find().name == name and tmp_path not in find().parents


def test_the_name_of_the_cache_follows_from_what_is_compiled_only(tmp_path, monkeypatch):
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "cache"))
    find, here = jit.cache_folder.__wrapped__, tmp_path / "source"
    here.mkdir()
    for stem in ("bvh", "blender", "passes"):
        (here / f"{stem}.py").write_text("a = 1\n")
    monkeypatch.setattr(jit, "HERE", here)
    before = find().name
    (here / "blender.py").write_text("a = 2\n")
    (here / "passes.py").write_text("a = 2\n")
    assert find().name == before
    (here / "bvh.py").write_text("a = 2\n")
    assert find().name != before


def test_compiling_leaves_the_settings_of_numba_as_they_were(monkeypatch):
    monkeypatch.setattr(jit.config, "CACHE_DIR", "before")
    kept = []
    monkeypatch.setattr(jit, "jit", lambda **options: kept.append((jit.config.CACHE_DIR, options)) or (lambda f: f))
    assert jit.kernel(max) is max and jit.config.CACHE_DIR == "before"
    assert kept[0][0] == str(jit.cache_folder()) and kept[0][1]["cache"] and kept[0][1]["error_model"] == "numpy"
