"""The embedded engine against what can be computed on paper: outlines, depths, shadows, light, mirrors, edges."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from assay.base import UnknownName
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
    cylinder,
    label_pixels,
    linear_rgb,
    mesh_of,
    picture_of,
    pose,
    prism,
    rectangle,
    shoot,
    sphere,
)

DARK = Sky((0, 0, 0), (0, 0, 0), (0, 0, 0))
GREY = Material((0.5, 0.5, 0.5), roughness=1.0)


@cache
def mesh(name):
    made = {
        "ball": lambda: sphere(1.0),
        "box": lambda: box(2, 2, 2),
        "cup": lambda: cylinder(1, 2) - cylinder(0.8, 3),
        "prism": lambda: prism(5, 1, 2, top=0.4),
        "frame": lambda: box(2, 2, 1) - box(1.2, 1.2, 3),
    }
    return rectangle("square", -1, -1, 1, 1) if name == "square" else mesh_of(name, made[name]())


def one(name, at=(0, 0, 0), material=GREY, thing="it", part="", **how):
    return Instance(mesh(name), material, pose(at, **how), thing, part)


def scene_of(*instances, eye=(0, -6, 0), target=(0, 0, 0), fov=40.0, size=(96, 72), **more):
    camera = Camera(eye, target, fov, projection=more.pop("projection", "perspective"))
    return Scene(*size, camera, instances, **({"lights": ()} | more))


def room(size=(96, 72)):
    """A small scene with all there is: metal, rubber, a texture, a sun, a lamp, a ground and a sky."""
    board = Texture(
        np.kron(np.indices((4, 4)).sum(0) % 2 * 255, np.ones((8, 8)))[..., None].repeat(3, 2).astype(np.uint8)
    )
    return scene_of(
        one("ball", (-1.2, 0, 1), Material((0.9, 0.6, 0.2), 1.0, 0.2), "ball"),
        one("box", (1.2, 0.3, 0), Material((0.1, 0.2, 0.8)), "box", "body", turn=30, scale=0.6),
        one("cup", (0.2, -1.6, 0), Material((0.7, 0.1, 0.1), roughness=0.3), "cup", "body", scale=0.4),
        one("square", (1.2, 0.3, 1.21), Material(texture=board, emission=0.2), "box", "lid", turn=30, scale=0.6),
        eye=(0, -7, 3.5),
        target=(0, 0, 0.6),
        size=size,
        lights=(AreaLight((3, -3, 5), (0, 0, 0), 1.0, 200.0), Sun((-1, -1, 2), 1.0, 2.0)),
        sky=Sky((0.2, 0.3, 0.5), (0.5, 0.5, 0.5)),
        ground=Ground(Material((0.4, 0.4, 0.4), texture=board)),
    )  # fmt: skip


def rays(scene):
    """Directions through the pixels' middles, of length 1 along the axis; for a camera that looks along +y."""
    scale = scene.width / 2 / np.tan(np.radians(scene.camera.fov) / 2)
    rows, columns = np.mgrid[: scene.height, : scene.width] + 0.5
    x, z = (columns - scene.width / 2) / scale, (scene.height / 2 - rows) / scale
    return np.stack([x, np.ones_like(x), z], axis=-1)


def test_a_ball_has_the_outline_and_the_depth_of_a_ball():
    scene = scene_of(one("ball"), size=(160, 120))
    shot, d = label_pixels(scene), rays(scene)
    a, b = (d**2).sum(-1), d[..., 1] * 6.0
    root = b**2 - a * (36 - 1)
    outside = b**2 - a * (36 - 0.99**2) < 0  # the mesh has 48 sides, so it lies up to 1 % inside
    assert not shot.things[root < 0].any()
    assert shot.things[~outside].all()
    hit = ~outside
    nearest = (b[hit] - np.sqrt(np.maximum(root[hit], 0))) / a[hit]
    assert np.median(np.abs(shot.depth[hit] - nearest)) < 0.005
    assert np.isinf(shot.depth[shot.things == 0]).all()


def test_a_box_has_the_ids_that_projection_gives():
    scene = scene_of(one("box", (0, 0, -1)), eye=(0, -6, 0))
    d = rays(scene) * 5.0  # the front face lies at a depth of 5
    inside = (np.abs(d[..., 0]) < 1) & (np.abs(d[..., 2]) < 1)
    shot = label_pixels(scene)
    assert np.array_equal(shot.things > 0, inside)
    assert np.allclose(shot.depth[inside], 5.0)


def test_what_is_near_hides_what_is_far_and_parts_are_told_apart():
    scene = scene_of(one("ball", thing="far"), one("box", (0, -3, -0.3), thing="near", part="lid", scale=0.3))
    shot = label_pixels(scene)
    middle = shot.things.shape[0] // 2, shot.things.shape[1] // 2
    assert scene.things == ("far", "near")
    assert scene.parts == ("near/lid",)
    assert (shot.things[middle], shot.parts[middle]) == (2, 1)
    assert set(np.unique(shot.things)) == {0, 1, 2}


def test_a_triangle_is_hit_inside_of_its_three_sides_only():
    points = np.array([[-1.0, 0, -1], [1, 0, -1], [-1, 0, 1]])
    triangle = Mesh("triangle", points, np.tile([0.0, -1, 0], (3, 1)), np.array([[0, 1, 2]]))
    scene = scene_of(Instance(triangle, GREY, np.eye(4), "it"), eye=(0, -10, 0), fov=20.0, size=(60, 60))
    d = rays(scene) * 10.0
    x, z = d[..., 0], d[..., 2]
    inside, clear = (x > -1) & (z > -1) & (x + z < 0), np.abs(x + z) > 1e-6  # not on the slanted side itself
    assert ((label_pixels(scene).things == 1) == inside)[clear].all() and inside.sum() > 200


def brute_force(scene, origins, directions):
    """Return the first instance that each ray meets, or -1, and how far away that is, by trying every triangle."""
    nearest, owner = np.full(len(origins), np.inf), np.full(len(origins), -1)
    for number, instance in enumerate(scene.instances):
        points = instance.mesh.vertices @ instance.matrix[:3, :3].T + instance.matrix[:3, 3]
        for a, b, c in points[instance.mesh.faces]:
            across = np.cross(directions, c - a)
            size = across @ (b - a)
            with np.errstate(divide="ignore", invalid="ignore"):
                u = ((origins - a) * across).sum(axis=1) / size
                over = np.cross(origins - a, b - a)
                v, t = (directions * over).sum(axis=1) / size, over @ (c - a) / size
                hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-6) & (t < nearest)
            nearest[hit], owner[hit] = t[hit], number
    return owner, nearest


def heap(seed, count=40):
    """Return boxes, prisms, frames and sheets at random, some of them outside of the view and some behind the eye."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["box", "prism", "frame", "square"], count)
    return [
        one(
            kind, at, thing=f"thing{n}", turn=rng.uniform(0, 360), tilt=rng.uniform(0, 90), scale=rng.uniform(0.15, 0.6)
        )
        for n, (kind, at) in enumerate(zip(kinds, rng.uniform((-3, -7, -2), (3, 3, 2), (count, 3)), strict=True))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_each_pixel_shows_what_brute_force_finds_first(seed):
    scene = scene_of(*heap(seed), size=(44, 32), fov=60.0)
    shot, towards = label_pixels(scene), rays(scene).reshape(-1, 3)
    owner, depth = brute_force(scene, np.tile([0.0, -6, 0], (len(towards), 1)), towards)
    same = shot.things.ravel() == owner + 1
    assert same.mean() > 0.998 and len(np.unique(owner)) > 12  # a pixel may lie on an edge
    assert np.allclose(shot.depth.ravel()[same], depth[same], rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_sun_reaches_what_brute_force_says_it_reaches(seed):
    sun = np.array([0.5, -0.6, 1.0])
    things = [replace(thing, matrix=pose((0, 0, 1)) @ thing.matrix) for thing in heap(seed, 30)]
    scene = scene_of(
        *things, eye=(0, -9, 6), target=(0, 0, 0), size=(112, 80), fov=50.0, sky=DARK,
        lights=(Sun(tuple(sun), 3.0, 0.01),), ground=Ground(GREY, -1.5),
    )  # fmt: skip
    shot = shoot(scene, quality="draft")
    forward = np.array([0, 9, -6]) / np.sqrt(117)
    right, up = np.array([1.0, 0, 0]), np.cross([1.0, 0, 0], forward)
    x, _, z = np.moveaxis(rays(scene), -1, 0)
    towards = x[..., None] * right + forward + z[..., None] * up
    ground = np.isfinite(shot.depth) & (shot.things == 0)
    spots = np.array([0.0, -9, 6]) + towards[ground] * shot.depth[ground][:, None]
    assert np.allclose(spots[:, 2], -1.5, atol=1e-6)
    blocked = brute_force(scene, spots, np.tile(sun, (len(spots), 1)))[0] >= 0
    dark = shot.image[ground].max(axis=1) < 100  # the sun alone gives 180 and more
    assert (dark == blocked).mean() > 0.97 and (dark & blocked).sum() > 0.75 * blocked.sum() > 100  # edges are smooth


def test_a_surface_that_passes_the_eye_is_drawn():
    road = Instance(mesh("square"), GREY, pose((0, 0, -1), scale=(2, 100, 1)), "road")
    shot = label_pixels(scene_of(road, eye=(0, 0, 0), target=(0, 1, 0), fov=90))
    assert shot.things[-1].all()
    assert not shot.things[0].any()


def test_a_fisheye_puts_a_ray_at_twice_the_focal_length_times_the_sine_of_half_its_angle():
    degrees = 40.0
    x, y = 10 * np.sin(np.radians(degrees)), 10 * np.cos(np.radians(degrees))
    ball = one("ball", (x, y, 0), scale=0.3)
    scene = scene_of(ball, eye=(0, 0, 0), target=(0, 1, 0), fov=120, size=(200, 100), projection="fisheye")
    shot = label_pixels(scene)
    focal = 100 / (2 * np.sin(np.radians(120) / 4))
    place = np.argwhere(shot.things).mean(axis=0) + 0.5
    assert np.allclose(place, [50, 100 + 2 * focal * np.sin(np.radians(degrees) / 2)], atol=0.3)
    assert abs(shot.depth[shot.things > 0].min() - 9.7) < 0.05


def value(image):
    """Bytes of a screen back to linear light."""
    light = image / 255
    return np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)


def test_in_even_light_from_all_sides_a_grey_ball_takes_the_light_it_should():
    even = Sky((0.6, 0.6, 0.6), (0.6, 0.6, 0.6), (0.6, 0.6, 0.6))
    shot = shoot(scene_of(one("ball"), sky=even, size=(48, 36)), quality="draft")
    inner = shot.depth < 5.2
    light = value(shot.image[inner]).mean()
    assert 0.27 < light < 0.34  # half of 0.6, and the 4 % that it mirrors
    assert shot.image[inner].std() < 4
    white = Material((1, 1, 1), roughness=1.0)
    bright = shoot(scene_of(one("ball", material=white), sky=even, size=(48, 36)), quality="draft")
    assert value(bright.image[inner]).mean() <= 0.615  # no light is made


def test_a_lamp_lights_a_surface_as_much_as_its_power_says():
    lamp = AreaLight((0, 0, 3), (0, 0, 0), 0.2, 30.0)
    shot = shoot(scene_of(one("square", scale=4), eye=(0, -0.5, 6), lights=(lamp,), sky=DARK, size=(48, 36)))
    light = value(shot.image[16:20, 22:26]).mean()
    assert abs(light - 0.48 * 30 / (np.pi * 9) / np.pi) < 0.02 * 30 / 9  # albedo x irradiance / pi


def test_a_shadow_falls_away_from_the_sun():
    scene = scene_of(
        one("ball", (0, 0, 1)),
        eye=(0, 0, 14),
        target=(0, 0.01, 0),
        lights=(Sun((1, 0, 1), 3.0),),
        sky=DARK,
        ground=Ground(GREY),
    )
    shot = shoot(scene, quality="draft")
    ground, row = shot.things == 0, 36
    left, right = shot.image[row, 28:36].mean(), shot.image[row, 60:68].mean()  # the shadow's tip is at x = -2.4
    assert left < 40 < 150 < right
    assert ground[row, 28:36].all()


def test_only_what_stands_between_shades():
    under = scene_of(
        one("square", scale=3), one("ball", (0, 0, -2)), eye=(0, -1, 8), lights=(Sun((0, 0, 1), 2.0),), sky=DARK
    )
    over = replace(under, instances=(under.instances[0], one("ball", (0, 0, 2), scale=0.5)))
    assert shoot(under, quality="draft").image[36, 48, 0] > 150
    shaded = shoot(over, quality="draft")
    assert shaded.image[shaded.things == 1].min() < 20


def test_a_texture_lies_where_it_should():
    pixels = np.zeros((2, 2, 3), dtype=np.uint8)
    pixels[0, 0], pixels[0, 1], pixels[1, 0], pixels[1, 1] = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
    large = np.kron(pixels, np.ones((16, 16, 1), dtype=np.uint8))
    skin = Material(texture=Texture(large, (-1.0, -1.0), (2.0, 2.0)), emission=1.0, roughness=1.0)
    for scene in (
        scene_of(one("square", material=skin), eye=(0, 0, 5), target=(0, 0, 0), sky=DARK, size=(64, 64), fov=20),
        scene_of(eye=(0, 0, 5), target=(0, 0, 0), sky=DARK, ground=Ground(skin), size=(64, 64), fov=20),
    ):
        image = shoot(scene, quality="draft").image
        corners = [image[16, 16], image[16, 48], image[48, 16], image[48, 48]]  # y is up when one looks down
        assert [tuple(int(c) // 250 for c in corner) for corner in corners] == [
            (1, 0, 0),
            (0, 1, 0),
            (0, 0, 1),
            (1, 1, 1),
        ]


def test_a_texture_far_away_is_its_mean_and_not_a_pattern():
    stripes = np.zeros((64, 64, 3), dtype=np.uint8)
    stripes[:, ::2] = 255
    skin = Material(texture=Texture(stripes, size=(2.0, 2.0)), emission=1.0, roughness=1.0)
    scene = scene_of(eye=(0, 0, 2), target=(0, 20, 0), sky=DARK, ground=Ground(skin))
    far = shoot(scene, quality="draft").image[40:44]
    assert far.std() < 3
    assert abs(value(far).mean() - 0.5) < 0.05


def test_metal_mirrors_what_is_around_it():
    red = Sky((0.8, 0, 0), (0.8, 0, 0), (0.8, 0, 0))
    mirror = Material((1, 1, 1), metallic=1.0, roughness=0.02)
    shot = shoot(scene_of(one("ball", material=mirror), sky=red, size=(48, 36)), quality="draft")
    assert np.allclose(value(shot.image[18, 24]), [0.8, 0, 0], atol=0.03)


def test_a_mirror_shows_what_is_opposite():
    """What stands over a flat mirror is seen as far below it as it is above, on the other side of nothing else."""
    eye, height = np.array([0.0, -6.0, 3.0]), 1.5
    mirror = one("square", material=Material((1, 1, 1), metallic=1.0, roughness=0.02), thing="mirror", scale=4)
    ball = one("ball", (0.6, 1.0, height), Material((1.0, 0, 0), emission=1.0), "ball", scale=0.4)
    how = {"eye": tuple(eye), "target": (0, 0, 0), "sky": DARK, "size": (96, 96), "fov": 50.0}
    shot, alone = (shoot(scene_of(*things, **how), quality="draft") for things in ((mirror, ball), (mirror,)))
    forward = -eye / np.linalg.norm(eye)
    up = np.array([0, -forward[2], forward[1]]) * np.sign(forward[1])
    towards = np.array([0.6, 1.0, -height]) - eye
    column, row = 48 + 48 / np.tan(np.radians(25)) / (towards @ forward) * np.array([towards[0], -(towards @ up)])
    red = (shot.image[..., 0].astype(int) - alone.image[..., 0] > 100) & (shot.things == 1)
    assert np.argwhere(red).mean(axis=0) == pytest.approx([row, column], abs=1.5)
    assert not shot.image[~red & (shot.things == 1)].any()
    rough = replace(mirror, material=Material((1, 1, 1), metallic=1.0, roughness=0.5))
    blurred = shoot(scene_of(rough, ball, **how), quality="draft").image[..., 0]
    assert blurred[int(row), int(column)] < shot.image[int(row), int(column), 0] - 50


def test_a_larger_lamp_throws_a_softer_shadow():
    soft = []
    for size in (0.2, 2.0):
        how = {
            "eye": (0, 0, 12), "target": (0, 0.01, 0), "size": (192, 144), "fov": 30.0, "sky": DARK,
            "lights": (AreaLight((0, 0, 6), (0, 0, 0), size, 80.0),), "ground": Ground(GREY),
        }  # fmt: skip
        shaded, free = shoot(scene_of(one("box", (0, 0, 1), scale=0.5), **how)), shoot(scene_of(**how))
        share = value(shaded.image[72, :, 0]) / value(free.image[72, :, 0])
        soft.append(((share > 0.1) & (share < 0.9) & (shaded.things[72] == 0)).sum())
    assert soft[1] > 2 * soft[0]


def test_edges_are_smooth_and_light_is_finite():
    white = Material((1, 1, 1), emission=1.0)
    shot = shoot(scene_of(one("ball", material=white), sky=DARK), quality="standard")
    between = (shot.image[..., 0] > 30) & (shot.image[..., 0] < 220)
    assert between.sum() > 40
    assert between.mean() < 0.1


def test_standard_is_close_to_high_and_draft_not_far():
    draft, standard, high = (shoot(room(), quality=q).image.astype(int) for q in ("draft", "standard", "high"))
    assert np.abs(standard - high).mean() < 2.0
    assert np.abs(draft - high).mean() < 4.0


def test_same_bytes_with_two_threads_and_in_another_process():
    mine = shoot(room(), quality="draft").image
    with ThreadPoolExecutor(2) as pool:
        images = [shot.image for shot in pool.map(lambda _: shoot(room(), quality="draft"), range(4))]
    assert all(np.array_equal(mine, image) for image in images)
    code = (
        "import sys, hashlib; from tests.render.test_engines import room; from assay.render.engines import shoot;"
        "print(hashlib.sha256(shoot(room(), quality='draft').image.tobytes()).hexdigest())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert told == hashlib.sha256(mine.tobytes()).hexdigest()


def test_the_picture_does_not_depend_on_the_order_of_what_stands_in_it():
    usual = room()
    turned = replace(usual, instances=usual.instances[::-1], lights=usual.lights)
    one_, other = (shoot(scene, quality="draft") for scene in (usual, turned))
    assert (np.abs(one_.image.astype(int) - other.image).max(axis=2) > 1).mean() < 0.002
    names = [np.array(["", *scene.things])[shot.things] for scene, shot in ((usual, one_), (turned, other))]
    assert (names[0] == names[1]).all() and np.allclose(one_.depth, other.depth)


def test_a_task_picture_has_boxes_that_fit_its_masks():
    scene = room()
    picture = picture_of(scene, 20.0, quality="draft")
    assert [thing.name for thing in picture.things] == ["ball", "box", "cup", "box/body", "cup/body", "box/lid"]
    for number, thing in enumerate(picture.things[:3], start=1):
        rows, columns = np.nonzero(picture.instances == number)
        assert (thing.box.left, thing.box.right) == (columns.min(), columns.max() + 1)
        assert (thing.box.top, thing.box.bottom) == (rows.min(), rows.max() + 1)
    assert np.array_equal(np.bincount(picture.instances.ravel()), np.bincount(label_pixels(scene).things.ravel()))
    assert picture.depth.dtype == np.uint16
    assert picture.depth.max() == 65_535
    assert (picture.parts > 0).sum() < (picture.instances > 0).sum()


def test_a_scene_without_objects_is_drawn():
    shot = shoot(
        scene_of(ground=Ground(GREY), lights=(Sun((0, 0, 1), 1.0),), eye=(0, 0, 1), target=(0, 5, 0)), quality="draft"
    )
    assert not shot.things.any()
    assert shot.image.std() > 0


def test_a_camera_may_look_straight_down_and_a_matrix_may_mirror():
    mirrored = Instance(mesh("cup"), GREY, np.diag([-1.0, 1, 1, 1]), "cup")
    shot = shoot(scene_of(mirrored, eye=(0, 0, 6), target=(0, 0, 0), ground=Ground(GREY)), quality="draft")
    assert (shot.things == 1).sum() > 100
    assert shot.image.std() > 0


def test_colours_come_out_as_they_went_in():
    glowing = Material(linear_rgb(200, 100, 50), emission=1.0, roughness=1.0)
    shot = shoot(scene_of(one("box", material=glowing), sky=DARK, size=(48, 36)), quality="draft")
    assert np.abs(shot.image[12, 24].astype(int) - [200, 100, 50]).max() <= 1


def test_unknown_engines_and_qualities_are_named():
    with pytest.raises(UnknownName, match="no engine named 'blendr'; did you mean 'blender'"):
        shoot(room(), engine="blendr")
    with pytest.raises(UnknownName, match="no quality named 'best'; there is: draft, high, standard"):
        shoot(room(), quality="best")


@pytest.mark.parametrize("projection", ["perspective", "fisheye"])
def test_a_small_picture_is_the_middle_of_a_large_one(projection):
    """What lies across the edges, outside and behind the eye is left out of neither by mistake."""
    rng = np.random.default_rng(8)
    balls = [one("ball", at, thing=f"ball{n}", scale=0.25) for n, at in enumerate(rng.uniform(-3, 3, (60, 3)))]
    narrow, eye = 50.0, (0.5, -4.5, 1.5)
    half = np.radians(narrow / 2)
    wide = 2 * (np.arctan(2 * np.tan(half)) if projection == "perspective" else 2 * np.arcsin(2 * np.sin(half / 2)))
    how = {"eye": eye, "target": (0.2, 0, 0.3), "projection": projection}
    small = label_pixels(scene_of(*balls, fov=narrow, size=(44, 36), **how))
    large = label_pixels(scene_of(*balls, fov=float(np.degrees(wide)), size=(88, 72), **how))
    middle = np.s_[18:-18, 22:-22]
    assert (small.things == large.things[middle]).all() and len(np.unique(small.things)) > 15
    assert np.allclose(small.depth, large.depth[middle], rtol=1e-6)
