"""Small functions of the ray tracer in exact numbers, as Python runs them: rays, boxes, triangles, lobes, texels."""

from types import SimpleNamespace

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
    mesh_of,
    pose,
    rectangle,
)
from assay.render.engines import (
    antialiasing,
    brdf,
    bvh,
    direct_lighting,
    gbuffer,
    hash_noise,
    indirect_lighting,
    intersection,
    packed_scene,
    rasterizer,
    reflections,
    shadows,
    textures,
)
from assay.render.engines.packed_scene import _light, camera_numbers, pack_scene

MODULES = (
    antialiasing, brdf, bvh, direct_lighting, gbuffer, hash_noise, indirect_lighting, intersection,
    packed_scene, rasterizer, reflections, shadows, textures,
)  # fmt: skip


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Let all of the tracer's functions be those of Python, also where they call each other."""
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)


def unit(*vector):
    return np.array(vector, dtype=float) / np.linalg.norm(vector)


# -- boxes and triangles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [3.0, -0.25, 1e-19, -1e-19])
def test_one_over_a_number_is_finite(x):
    assert bvh.safe_inverse(x) == 1 / x
    assert bvh.safe_inverse(0.0) == bvh.safe_inverse(1e-21) == 1e20 and bvh.safe_inverse(-1e-21) == -1e20


NODE = np.array([[9.0] * 6, [1.0, 2.0, 3.0, 2.0, 4.0, 6.0]])


def entry(origin, towards, most=1e9):
    inverse = [bvh.safe_inverse(part) for part in towards]
    return bvh.box_entry(NODE, 1, *map(float, origin), *inverse, most)


@pytest.mark.parametrize(
    ("origin", "towards", "near"),
    [
        ((0, 3, 4), (1, 0, 0), 1.0),
        ((5, 3, 4), (-1, 0, 0), 3.0),
        ((1.5, 0, 4), (0, 1, 0), 2.0),
        ((1.5, 3, 10), (0, 0, -2), 2.0),
        ((1.5, 3, 4), (1, 0, 0), -0.5),  # from within
        ((0, 1, 2), (1, 1, 1), 1.0),
        ((0, 3, 4), (-1, 0, 0), bvh.FAR),
        ((0, 5, 4), (1, 0, 0), bvh.FAR),
        ((0, 3, 7), (1, 0, 0), bvh.FAR),
        ((0, 0, 0), (1, 1, 1), bvh.FAR),
    ],
)
def test_a_ray_enters_a_box_where_it_is_in_all_three_slabs(origin, towards, near):
    assert entry(origin, towards) == pytest.approx(near)


def test_a_box_beyond_the_end_of_a_ray_is_missed():
    assert entry((0, 3, 4), (1, 0, 0), 1.0) == 1.0 and entry((0, 3, 4), (1, 0, 0), 0.99) == bvh.FAR


TRIANGLE = np.array([[1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 4.0, 0.0]])
"""A corner at (1, 1, 2), edges of 2 along x and 4 along y."""


@pytest.mark.parametrize(
    ("place", "hit"),
    [
        ((1.5, 2.0), (5.0, 0.25, 0.25)),
        ((1.0, 1.0), (5.0, 0.0, 0.0)),
        ((3.0, 1.0), (5.0, 1.0, 0.0)),
        ((1.0, 5.0), (5.0, 0.0, 1.0)),
        ((2.0, 3.0), (5.0, 0.5, 0.5)),
        ((2.01, 3.01), None),
        ((0.99, 2.0), None),
        ((1.5, 0.99), None),
        ((3.01, 1.0), None),
    ],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_a_triangle_is_hit_inside_and_on_its_edges_from_both_sides(place, hit, side):
    found = intersection.hit_triangle(TRIANGLE, 0, *place, 2.0 - 10 * side, 0.0, 0.0, 2.0 * side)
    assert found == (pytest.approx(hit) if hit else (bvh.FAR, 0.0, 0.0))


def test_a_ray_along_a_triangle_misses_it():
    assert intersection.hit_triangle(TRIANGLE, 0, 0.0, 2.0, 2.0, 1.0, 0.0, 0.0)[0] == bvh.FAR


def turned(*instances, lights=(), ground=None, camera=None, **settings):
    return pack_scene(
        Scene(8, 6, camera or Camera((0, -9, 1), (0, 0, 0)), instances, lights, ground=ground, **settings)
    )


CUBE = mesh_of("cube", box(1, 1, 1))


def test_points_and_directions_go_to_the_mesh_and_back():
    world = turned(Instance(CUBE, Material(), pose([5, 6, 7], turn=90, scale=(1, 2, 4))))
    rows = world.solid.rows
    assert intersection.point_to_scene(rows, 0, 1.0, 1.0, 1.0) == pytest.approx((5 - 2, 6 + 1, 7 + 4))
    assert intersection.point_to_mesh(rows, 0, 3.0, 7.0, 11.0) == pytest.approx((1, 1, 1))
    assert intersection.direction_to_mesh(rows, 0, -2.0, 1.0, 4.0) == pytest.approx((1, 1, 1))
    assert gbuffer.normal_to_scene(world, 0, 0.0, 1.0, 0.0) == pytest.approx((-1, 0, 0))
    slanted = unit(-1 / 2, 1, 1 / 4)  # normals go by the inverse
    assert gbuffer.normal_to_scene(world, 0, 1.0, 1.0, 1.0) == pytest.approx(tuple(slanted))
    assert gbuffer.normal_to_scene(world, 0, 0.0, 0.0, 0.0) == (0.0, 0.0, 1.0)


def test_the_first_hit_of_a_scene_is_the_nearest_thing_or_the_ground():
    things = [Instance(CUBE, Material(), pose([0, y, 0])) for y in (4, 0, 8)]
    world = turned(*things, ground=Ground(Material(), -1.0))

    def hit(y, z, towards, most=1e9, anywhere=False):
        return intersection.hit_scene(world.solid, -1.0, 0.1, y, z, *map(float, towards), most, anywhere)[:2]

    assert hit(-5.0, 0.5, (0, 1, 0)) == (pytest.approx(4.5), 1) and hit(20.0, 0.5, (0, -2, 0)) == (
        pytest.approx(5.75),
        2,
    )
    assert hit(2.0, 0.5, (0, 1, 0)) == (pytest.approx(1.5), 0) and hit(2.0, 0.5, (0, 0, -1)) == (pytest.approx(1.5), 3)
    assert hit(0.1, 5.0, (0, 0, -1)) == (pytest.approx(4.0), 1) and hit(2.0, 5.0, (0, 0, 1))[1] == -1
    assert hit(-5.0, 0.5, (0, 1, 0), 4.5)[1] == -1 and hit(-5.0, 0.5, (0, 1, 0), 4.6)[1] == 1
    assert hit(-5.0, 0.5, (0, 1, 0), anywhere=True)[1] in (0, 1, 2)
    assert intersection.scene_blocks(world.solid, 0.1, -5.0, 0.5, 0.0, 1.0, 0.0, 9.0)
    assert not intersection.scene_blocks(world.solid, 0.1, 2.0, 0.5, 0.0, 0.0, -1.0, 9.0)  # the ground blocks nothing
    assert not intersection.scene_blocks(world.solid, 0.1, -5.0, 0.5, 0.0, 1.0, 0.0, 4.0)
    bare = turned(ground=Ground(Material(), -1.0))
    assert intersection.hit_scene(bare.solid, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 1e9, False)[:2] == (2.0, 0)
    assert intersection.hit_scene(bare.solid, bvh.FAR, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 1e9, False)[1] == -1


def test_convex_is_what_no_corner_stands_out_of():
    def convex(points, faces):
        a, b, c = (points[faces[:, k]] for k in range(3))
        return intersection.is_convex(points, np.concatenate([a, b - a, c - a], axis=1))

    assert convex(CUBE.vertices, CUBE.faces)
    dented = CUBE.vertices.copy()
    dented[(dented == dented.max(axis=0)).all(axis=1)] *= 0.6
    assert not convex(dented, CUBE.faces)
    nearly = CUBE.vertices.copy()
    nearly[(nearly == nearly.max(axis=0)).all(axis=1)] -= 1e-5
    assert convex(nearly, CUBE.faces)


# -- cameras -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["perspective", "fisheye"])
def test_a_ray_through_the_place_of_a_point_meets_the_point(projection):
    camera = camera_numbers(Camera((1, -4, 2), (0.5, 1, 1), 100.0, (0.1, 0, 1), projection), 40, 30)
    for point in ((0.3, 2.0, 1.5), (-2.0, 1.0, 0.0), (1.5, 5.0, 4.0)):
        x, y, far = rasterizer.project_point(camera, *point)
        *ray, good = rasterizer.camera_ray(camera, x, y)
        assert good == 1.0 and np.array([1, -4, 2]) + far * np.array(ray) == pytest.approx(point)
        if projection == "fisheye":
            assert np.linalg.norm(ray) == pytest.approx(1) and far == pytest.approx(
                np.linalg.norm(np.subtract(point, (1, -4, 2)))
            )


def test_places_in_a_perspective_picture_by_hand():
    camera = camera_numbers(Camera((0, 0, 0), (0, 1, 0), 90.0), 40, 30)  # 20 pixels a unit at distance 1
    assert rasterizer.project_point(camera, 1.0, 4.0, 2.0) == pytest.approx((25.0, 5.0, 4.0))
    assert rasterizer.project_point(camera, 1.0, -4.0, 2.0) == (0.0, 0.0, 0.0)
    assert rasterizer.camera_ray(camera, 25.0, 5.0) == pytest.approx((0.25, 1.0, 0.5, 1.0))


def test_a_fisheye_sees_behind_itself_up_to_its_circle():
    camera = camera_numbers(Camera((0, 0, 0), (0, 1, 0), 180.0, projection="fisheye"), 40, 40)
    focal = 20 / (2 * np.sin(np.pi / 4))
    assert rasterizer.camera_ray(camera, 40.0, 20.0) == pytest.approx((1, 0, 0, 1), abs=1e-9)
    assert rasterizer.camera_ray(camera, 20.0, 20.0) == pytest.approx((0, 1, 0, 1))
    assert rasterizer.camera_ray(camera, 20.0, 20 - 1.9 * focal)[1] < -0.7
    assert rasterizer.camera_ray(camera, 20.0, 20 - 2.01 * focal) == (0.0, 0.0, 0.0, 0.0)
    assert rasterizer.project_point(camera, 0.0, 3.0, 0.0) == pytest.approx((20, 20, 3))


def test_the_bounds_of_a_triangle_are_its_corners_or_the_whole_picture():
    view = np.array([[10.0, 40.0, 2.0], [12.0, 2.0, 4.0], [9.0, 9.0, 1.0], [1.0, 1.0, 0.00005]])
    assert rasterizer.bounds(view, 0, 1, 2, 40, 30) == (3.0, 0.5, 9.0, 20.0)
    assert rasterizer.bounds(view, 0, 3, 2, 40, 30) == (0.0, 0.0, 40.0, 30.0)


def test_edge_functions_have_one_sign_inside_and_give_the_depth():
    places, depths = np.array([[2.0, 3.0], [8.0, 4.0], [4.0, 9.0]]), np.array([2.0, 4.0, 5.0])
    view = np.column_stack([places * depths[:, None], depths])
    for order, one_sided in (((0, 1, 2), False), ((0, 2, 1), False), ((0, 2, 1), True)):
        det, *weights = rasterizer.edge_functions(view, *order, one_sided)
        inside = np.array([4.5, 5.0, 1.0])
        values = [inside @ weights[k : k + 3] for k in (0, 3, 6)]
        assert len({np.sign(value) for value in values} | {np.sign(det)}) == 1
        share = np.linalg.solve(np.column_stack([places, np.ones(3)]).T, inside)
        assert det / sum(values) == pytest.approx(1 / (share / depths).sum())
    assert rasterizer.edge_functions(view, 0, 1, 2, True)[0] == 0.0  # seen from behind
    assert rasterizer.edge_functions(view * [1, 1, 1e-6], 0, 1, 2, False)[0] == 0.0  # all behind the eye


@pytest.mark.parametrize(
    ("at", "seen"),
    [((0, 0, 0), True), ((0, -8.8, 0), True), ((0, -8.9, 0), False), ((9.2, 0, 0), True), ((-9.25, 0, 0), False),
     ((0, 0, 7.05), True), ((0, 0, -7.1), False), ((0, 90, 60), True)],
)  # fmt: skip
def test_what_is_in_view(at, seen):
    world = turned(Instance(CUBE, Material(), pose([*at[:2], at[2] - 0.5])), camera=Camera((0, -8, 0), (0, 0, 0), 90.0))
    assert rasterizer.in_view(world, 0, 8, 6) == seen


# -- light -------------------------------------------------------------------------------------------------------------


def test_noise_is_spread_evenly_and_its_own_for_each_key():
    found = np.array([hash_noise.hash_noise(key) for key in range(4000)])
    assert found.min() > 0 and found.max() < 1 and found.mean() == pytest.approx(0.5, abs=0.02)
    assert np.histogram(found, 10, (0, 1))[0].min() > 330 and len(set(found)) == 4000
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.05
    assert hash_noise.hash_noise(1) != hash_noise.hash_noise(1 + (1 << 32))


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 2, 3), (-2, 1, -0.5)])
def test_a_basis_is_square_to_its_normal(normal):
    n = unit(*normal)
    basis = np.reshape(brdf.tangent_basis(*n), (2, 3))
    frame = np.vstack([basis, n])
    assert frame @ frame.T == pytest.approx(np.eye(3)) and np.linalg.det(frame) == pytest.approx(1)


def test_scattered_rays_are_dense_by_the_cosine():
    n, step = unit(1, -2, 2), (np.arange(40) + 0.5) / 40
    rays = np.array([brdf.sample_cosine(*n, s, t) for s in step for t in step])
    assert np.linalg.norm(rays, axis=1) == pytest.approx(1)
    assert (rays @ n).mean() == pytest.approx(2 / 3, abs=0.002) and rays.mean(axis=0) == pytest.approx(
        n * 2 / 3, abs=0.003
    )


def test_a_mirror_reflects_and_a_rough_one_around_it():
    n, v = np.array([0.0, 0, 1]), unit(1, 0.5, 1)
    mirrored = 2 * (n @ v) * n - v
    assert brdf.sample_ggx(*n, *v, 1e-6, 0.3, 0.7) == pytest.approx(mirrored, abs=1e-4)
    step = (np.arange(30) + 0.5) / 30
    means = [
        np.mean([brdf.sample_ggx(*n, *v, alpha, s, t) for s in step for t in step], axis=0) for alpha in (0.05, 0.4)
    ]
    assert means[0] @ unit(*mirrored) > 0.97 > np.linalg.norm(means[1]) and means[1] @ mirrored > 0.5
    grazing = [brdf.sample_ggx(*n, *unit(1, 0, 0.01), 0.9, s, t)[2] for s in step for t in step]
    assert min(grazing) == pytest.approx(0.01)


def test_the_lobe_is_that_of_trowbridge_and_reitz():
    nl, nv, nh, alpha = 0.8, 0.6, 0.95, 0.3
    d = alpha**2 / (np.pi * (nh**2 * (alpha**2 - 1) + 1) ** 2)

    def lambda_(c):
        return (np.sqrt(1 + alpha**2 * (1 / c**2 - 1)) - 1) / 2

    g = 1 / (1 + lambda_(nl) + lambda_(nv))
    assert brdf.ggx_lobe(alpha**2, alpha, nl, nv, nh) == pytest.approx(d * g / (4 * nl * nv))


@pytest.mark.parametrize(
    ("rough", "front", "a", "b"), [(0.0, 1.0, 1.0013, 0.0013), (0.5, 0.7, 0.724, 0.0007), (1.0, 0.2, 0.452, 0.002)]
)
def test_even_light_is_reflected_by_the_fit_of_karis(rough, front, a, b):
    found = brdf.environment_brdf(rough, front)
    r = np.array([1, 0.0425, 1.04, -0.04]) + rough * np.array([-1, -0.0275, -0.572, 0.022])
    fit = min(r[0] ** 2, 2 ** (-9.28 * front)) * r[0] + r[1]
    assert found == pytest.approx((-1.04 * fit + r[2], 1.04 * fit + r[3]))
    assert found == pytest.approx((a, b), abs=0.05)


def test_a_reflected_ray_rises_from_its_facet():
    facet = np.array([0.0, 0, 1])
    assert brdf.turn_outwards(*facet, *unit(1, 0, 0.5)) == pytest.approx(unit(1, 0, 0.5))
    low = np.array(brdf.turn_outwards(*facet, *unit(1, 0, -0.5)))
    assert np.linalg.norm(low) == pytest.approx(1) and low[2] == pytest.approx(0.02, rel=0.3) and low[0] > 0
    assert brdf.turn_outwards(0.0, 0.0, 1.0, 1.0, 0.0, 0.02) == (1.0, 0.0, 0.02)
    assert brdf.turn_outwards(0.0, 0.0, 1.0, 1.0, 0.0, 0.01)[2] == pytest.approx(0.02, rel=1e-3)


def lit(*lights):
    return SimpleNamespace(lights=np.array([_light(light) for light in lights]))


def test_places_on_a_lamp_and_its_light():
    world = lit(Sun((0, 0, 1), 1.0), AreaLight((0, 0, 4), (0, 0, 0), 2.0, 10.0))
    dx, dy, dz, far, light = direct_lighting.light_point(world, 1, 1.0, -0.5, 0.5, 0.0, 0.0)
    at = world.lights[1, 1:4] + world.lights[1, 4:7] - 0.5 * world.lights[1, 7:10]
    way = at - [0.5, 0, 0]
    assert far == pytest.approx(np.linalg.norm(way)) and (dx, dy, dz) == pytest.approx(tuple(unit(*way)))
    assert light == pytest.approx(unit(*way)[2] * 4.0 / far**2)
    assert direct_lighting.light_point(world, 1, 0.0, 0.0, 0.0, 0.0, 9.0)[4] == 0.0  # from behind
    assert direct_lighting.irradiance(world, 1, 0.0, 0.0, 0.0, 0.0, 0.6, 0.8) == pytest.approx(0.8 * 4 / 16)
    assert direct_lighting.irradiance(world, 1, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0) == 0.0


@pytest.mark.parametrize(
    ("place", "disc"), [((0, 0), (0, 0)), ((1, 0), (1, 0)), ((0, -0.5), (0, -0.5)), ((1, 1), (0.5**0.5, 0.5**0.5)),
                        ((-1, 0.5), (-np.cos(np.pi / 8), np.sin(np.pi / 8))), ((0.5, 1), (np.sin(np.pi / 8), np.cos(np.pi / 8)))],
)  # fmt: skip
def test_places_on_a_square_go_to_the_disc_of_the_sun(place, disc):
    world = lit(Sun((0, 0, 1), 1.0, angle=90.0))
    s, t = map(float, place)
    dx, dy, dz, far, light = direct_lighting.light_point(world, 0, s, t, 7.0, 8.0, 9.0)
    side, over = world.lights[0, 4:7], world.lights[0, 7:10]
    wanted = unit(*(world.lights[0, 1:4] + disc[0] * side + disc[1] * over))
    assert (dx, dy, dz) == pytest.approx(tuple(wanted)) and (far, light) == (1e20, 1.0)


@pytest.mark.parametrize(
    ("slope", "alpha", "metal", "cells"),
    [(0.0, 0.1, 1.0, 1), (0.14, 0.5, 0.0, 1), (0.14, 0.5, 1.0, 1), (0.14, 0.1, 1.0, 2), (0.14, 0.07, 1.0, 4), (0.14, 0.28, 1.0, 2), (0.14, 0.29, 1.0, 1),
     (0.15, 0.5, 0.0, 2), (0.2, 0.1, 0.09, 2), (0.2, 0.1, 0.1, 4), (0.2, 0.11, 1.0, 2), (0.2, 0.01, 0.0, 2)],
)  # fmt: skip
def test_lamps_are_cut_into_more_cells_the_larger_they_are_and_the_smoother_metal_is(slope, alpha, metal, cells):
    world = SimpleNamespace(lights=np.array([[0.0] * 18 + [slope]]))
    assert direct_lighting.cell_count(world, 0, alpha, metal) == cells


def test_light_of_the_sky_rises_from_the_horizon():
    frame = np.zeros(26)
    frame[16:25] = [1, 2, 3, 0.5, 0.25, 0.125, 7, 8, 9]
    world = SimpleNamespace(frame=frame)
    assert textures.sky_radiance(world, 3.0, 0.0, 0.0) == (0.5, 0.25, 0.125)
    assert textures.sky_radiance(world, 0.0, 0.0, 5.0) == (1, 2, 3) and textures.sky_radiance(
        world, 0.0, 1.0, -0.01
    ) == (7, 8, 9)
    assert textures.sky_radiance(world, 4.0, 0.0, 3.0) == pytest.approx((0.8, 0.25 + 1.75 * 0.6, 0.125 + 2.875 * 0.6))
    mean = np.array([0.2, 0.4, 0.6])
    assert indirect_lighting.ambient(world, mean, 1, 1.0) == pytest.approx(0.7 * (2 + 0.25) / 2)
    assert indirect_lighting.ambient(world, mean, 2, -1.0) == pytest.approx(0.7 * 0.6)
    assert indirect_lighting.ambient(world, mean, 0, 0.0) == pytest.approx(0.7 * (0.75 / 2 + 0.2 / 2))


# -- textures ----------------------------------------------------------------------------------------------------------

PIXELS = np.zeros((2, 4, 3), np.uint8)
PIXELS[..., 0] = [[255, 0, 0, 0], [0, 0, 255, 0]]
PIXELS[1, 3, 1] = 255


def papered(**place):
    sheet = Texture(PIXELS, (1.0, 2.0), (4.0, 2.0))
    square = rectangle("s", 0, 0, 8, 8)
    return turned(Instance(square, Material(texture=sheet), pose(**place)), ground=Ground(Material(texture=sheet)))


def test_a_texture_lies_from_its_corner_over_its_size():
    world = papered(at=[10, 0, 0], scale=2)
    assert textures.texture_place(world, 0, 10 + 2 * 3.0, 2 * 2.5, 0.0) == pytest.approx((0.5, 0.25))
    assert textures.texture_place(world, 1, 3.0, 2.5, 0.0) == pytest.approx((0.5, 0.25))  # the ground has no matrix


def test_texels_are_mixed_with_their_neighbours_and_go_round():
    world = papered(at=[0, 0, 0])

    def red(s, t, level=0):
        return textures.sample_texel(world, 0, level, s, t)[0]

    assert red(1 / 8, 0.75) == 1.0 and red(5 / 8, 0.25) == 1.0 and red(3 / 8, 0.75) == 0.0
    assert red(2 / 8, 0.75) == pytest.approx(0.5) and red(0.0, 0.75) == pytest.approx(0.5)  # half of the last column
    assert red(1 / 8, 0.5) == pytest.approx(0.5) and red(1 / 8, 1.0) == pytest.approx(0.5)
    assert red(15 / 16, 0.75) == pytest.approx(0.25) and red(1 / 8, 1 / 16) == pytest.approx(0.375)
    assert red(2 / 8, 0.625) == pytest.approx(0.5 * 0.75) and red(1 + 1 / 8, -0.25) == 1.0
    assert textures.sample_texel(world, 0, 0, 7 / 8, 0.25)[1] == 1.0
    assert textures.sample_texel(world, 0, 2, 0.3, 0.4) == pytest.approx((2 / 8, 1 / 8, 0))


def test_levels_are_blended_and_bounded():
    world = papered(at=[0, 0, 0])
    fine, coarse = (np.array(textures.sample_texel(world, 0, k, 0.2, 0.6)) for k in (0, 1))
    assert textures.sample_level(world, 0, 0.25, 0.2, 0.6) == pytest.approx(0.75 * fine + 0.25 * coarse)
    assert textures.sample_level(world, 0, -3.0, 0.2, 0.6) == pytest.approx(fine)
    assert textures.sample_level(world, 0, 99.0, 0.2, 0.6) == pytest.approx((0.25, 0.125, 0))


def test_a_longer_reach_takes_a_coarser_level():
    world = papered(at=[0, 0, 0], scale=2)
    assert textures.mip_level(world, 0, 8.0) == pytest.approx(2)  # 4 texels over a width of 4, on a mesh twice as large
    assert textures.mip_level(world, 1, 8.0) == pytest.approx(3)
    assert textures.surface_colour(world, 0, 2 * 1.5, 2 * 3.5, 0.0, 0.0) == pytest.approx((1, 0, 0))
    assert textures.surface_colour(world, 0, 3.0, 7.0, 0.0, 99.0) == pytest.approx((0.25, 0.125, 0))
    bare = turned(Instance(CUBE, Material((0.1, 0.2, 0.3)), np.eye(4)))
    assert textures.surface_colour(bare, 0, 0.0, 0.0, 0.0, 1.0) == pytest.approx((0.1, 0.2, 0.3))


def test_a_pixel_takes_the_mean_of_what_it_covers():
    world = papered(at=[0, 0, 0])

    def colour(across, down, x=1.5, y=3.5):
        return textures.filter_texture(world, 0, x, y, 0.0, *across, 0.0, *down, 0.0)

    assert colour((0.5, 0.0), (0.0, 0.5)) == pytest.approx((1, 0, 0))
    assert colour((99.0, 0.0), (0.0, 99.0))[0] == pytest.approx(0.25, abs=0.01)
    along = colour((4.0, 0.0), (0.0, 0.1))  # a whole row of four texels: one of them is red
    assert along == pytest.approx((0.25, 0, 0), abs=0.02) == colour((0.0, 0.1), (4.0, 0.0))
    assert colour((4.0, 0.0), (0.0, 0.1), y=2.5) == pytest.approx((0.25, 0.25, 0), abs=0.02)
    s, t = textures.texture_place(world, 0, 1.7, 3.2, 0.0)
    for across, taps, level in ((10.0, 8, 0.0), (2.5, 2, np.log2(1.3))):  # many samples need no blend of two levels
        samples = [
            textures.sample_level(world, 0, level, s + across / 4 * ((k + 0.5) / taps - 0.5), t) for k in range(taps)
        ]
        assert colour((across, 0.0), (0.0, 1.3), 1.7, 3.2) == pytest.approx(tuple(np.mean(samples, axis=0)))


# -- shadows and neighbours --------------------------------------------------------------------------------------------


def test_a_ball_blocks_a_shaft_where_it_touches_it():
    rows = np.zeros((1, 44))

    def blocks(x, y, z, ball, r=0.0, lr=0.0):
        rows[0, 24:28] = x, y, z, ball
        return bool(shadows.may_block(rows, 0, 0.0, 0.0, 0.0, r, 0.0, 0.0, 10.0, lr))

    assert blocks(0.9, 0, 5, 1.0) and not blocks(1.1, 0, 5, 1.0)
    assert (
        blocks(0, 0, -0.9, 1.0)
        and not blocks(0, 0, -1.1, 1.0)
        and blocks(0, 0, 10.9, 1.0)
        and not blocks(0, 0, 11.1, 1.0)
    )
    assert blocks(0, 0, -1.9, 1.0, r=1.0) and not blocks(0, 0, -2.1, 1.0, r=1.0)
    assert blocks(0, 0, 11.9, 1.0, lr=1.0) and not blocks(0, 0, 12.1, 1.0, lr=1.0)
    assert blocks(1.9, 0, 5, 1.0, r=1.0, lr=1.0) and not blocks(2.1, 0, 5, 1.0, r=1.0, lr=1.0)
    assert blocks(2.4, 0, 9.0, 0.5, lr=2.0) and not blocks(2.4, 0, 1.0, 0.5, lr=2.0)  # wider towards the lamp


def test_only_what_reaches_above_a_surface_can_shade_it():
    rows = np.zeros((1, 44))
    rows[0, 28:34] = -1, -1, -1, 1, 1, 0.5
    assert shadows.reaches_above(rows, 0, 0.0, 0.0, 0.4, 0.0, 0.0, 1.0) and not shadows.reaches_above(
        rows, 0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0
    )
    assert shadows.reaches_above(rows, 0, 0.0, 0.0, -0.9, 0.0, 0.0, -1.0) and not shadows.reaches_above(
        rows, 0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0
    )
    assert shadows.reaches_above(rows, 0, 0.0, -0.5, 0.0, 0.0, -1.0, 0.0) and not shadows.reaches_above(
        rows, 0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0
    )


def test_a_ball_around_a_lamp_or_far_away_around_the_sun():
    world = lit(AreaLight((1, 2, 3), (0, 0, 0), 2.0, 10.0), Sun((0, 0, 1), 1.0, angle=90.0))
    assert shadows.light_ball(world, 0, 9.0, 9.0, 9.0) == pytest.approx((1, 2, 3, 1.4143))
    assert shadows.light_ball(world, 1, 5.0, 6.0, 7.0) == pytest.approx((5, 6, 7 + 1e4, 1.4143e4 * np.tan(np.pi / 4)))


def test_neighbours_look_at_other_parts_of_a_lamp_and_every_fourth_at_the_same():
    def part(x, y):
        s, t = shadows.interleaved_place(x, y, 100, 1)
        assert -1 <= s < 1 and -1 <= t < 1
        return int((s + 1) * 2), int((t + 1) * 2)

    parts = {(x, y): part(x, y) for x in range(8) for y in range(8)}
    assert all(parts[x, y] == parts[x % 4, y % 4] for x, y in parts)
    assert all(parts[x, y] != parts[x + 1, y] and parts[x, y] != parts[x, y + 1] for x in range(7) for y in range(7))
    assert {column for column, _ in parts.values()} == {row for _, row in parts.values()} == {0, 1, 2, 3}
    assert shadows.interleaved_place(0, 0, 100, 1) != shadows.interleaved_place(0, 0, 100, 2)


def points(owner, normal, at, depth=2.0):
    shape = np.shape(owner)
    return SimpleNamespace(
        owner=np.array(owner), normal=np.array(normal, dtype=float).reshape(*shape, 3),
        at=np.array(at, dtype=float).reshape(*shape, 3), depth=np.full(shape, depth),
    )  # fmt: skip


def test_light_is_shared_on_one_plane_only():
    tilted = unit(0, 0.5, 1)
    held = points(
        [[0, 0, 0, -1, 0]], [(0, 0, 1), (0, 0, 1), tilted, (0, 0, 1), (1, 0, 0)],
        [(0, 0, 0), (1, 0, 0.25), (0, 0, 0), (0, 0, 0), (0, 0, 0)],
    )  # fmt: skip

    def weight(a, near=1.0):
        return indirect_lighting.similarity(None, held, 0, 0, a, 0, near)

    assert weight(0) == 1.0 and weight(1) == pytest.approx(0.75) and weight(1, 0.2) == 0.0
    assert weight(2) == pytest.approx(tilted[2] ** 8) and weight(3) == weight(4) == 0.0
    assert shadows.normals_alike(held, 0, 0, 2, 0, 0.89) and not shadows.normals_alike(held, 0, 0, 2, 0, 0.9)


def test_edges_are_where_neighbours_show_other_surfaces():
    world = SimpleNamespace(solid=SimpleNamespace(kind=np.zeros((3, 8))), frame=np.array([0.0] * 12 + [10.0]))
    held = points(
        [[0, 0, 0, 1, 2, 2, -1, -1]], [(0, 0, 1)] * 2 + [unit(0, 0.6, 1)] + [(0, 0, 1)] * 2 + [(1, 0, 0)] + [(0, 0, 1)] * 2,
        [(0, 0, 0), (0, 0, 0.81), (0, 0, 0.81)] + [(0, 0, 0)] * 5,
    )  # fmt: skip
    marks = np.zeros((1, 8), np.uint8)
    differ = [bool(antialiasing.surfaces_differ(world, held, x, 0, x + 1, 0)) for x in range(7)]
    assert differ == [True, True, True, True, False, True, False]  # another height, another slope, another thing, ...
    held.at[0, 1:3, 2] = 0.79
    assert not antialiasing.surfaces_differ(world, held, 0, 0, 1, 0)
    antialiasing.mark_edges(world, held, marks)
    assert marks.tolist() == [[0, 1, 1, 1, 1, 1, 1, 0]]


def test_the_pixel_that_shows_a_point_must_show_the_thing_at_that_depth():
    frame = np.zeros(26)
    frame[:16] = camera_numbers(Camera((0, 0, 0), (0, 1, 0), 90.0), 8, 6)
    held = points(np.full((6, 8), 3), np.zeros((48, 3)), np.zeros((48, 3)), depth=4.0)
    world = SimpleNamespace(frame=frame)

    def pixel(x, y, z, thing=3):
        return indirect_lighting.visible_pixel(world, held, thing, x, y, z)

    assert pixel(1.5, 4.0, 1.5) == (5, 1) and pixel(1.5, 4.0, 1.5, 2) == (-1, -1)
    assert pixel(1.5, 4.03, 1.5) == (5, 1) and pixel(1.5, 4.2, 1.5) == (-1, -1)
    assert pixel(4.1, 4.0, 0.0) == pixel(-4.1, 4.0, 0.0) == pixel(0.0, 4.0, 3.1) == pixel(0.0, 4.0, -3.1) == (-1, -1)
    assert pixel(0.0, -4.0, 0.0) == (-1, -1)


def test_weights_of_a_point_on_a_triangle_are_cut_to_it():
    square = rectangle("s", 0, 0, 4, 2)
    world = turned(Instance(square, Material(), np.eye(4)))
    first = next(k for k in range(2) if world.solid.triangles[k, 3:9].tolist() == [4, 0, 0, 4, 2, 0])
    assert gbuffer.barycentric_weights(world, 0, first, 3.0, 0.5, 0.0) == pytest.approx((0.5, 0.25))
    assert gbuffer.barycentric_weights(world, 0, first, -1.0, 0.0, 0.0) == (0.0, 0.0)
    u, v = gbuffer.barycentric_weights(world, 0, first, 9.0, 2.0, 0.0)
    assert u + v == pytest.approx(1) and min(u, v) >= 0


def test_a_step_to_the_next_pixel_stays_on_the_surface():
    frame = np.zeros(26)
    frame[:16] = camera_numbers(Camera((0, 0, 2), (0, 1, 2), 90.0), 8, 6)
    world = SimpleNamespace(frame=frame)
    x, y, z = 1.0, 4.0, 0.0  # on the ground: at place (5, 5)
    assert rasterizer.project_point(frame, x, y, z) == pytest.approx((5.0, 5.0, 4.0))
    step = gbuffer.pixel_step(world, 6.0, 5.0, x, y, z, 0.0, 0.0, 1.0)
    assert step == pytest.approx((1.0, 0.0, 0.0))
    assert gbuffer.pixel_step(world, 5.0, 4.0, x, y, z, 0.0, 0.0, 1.0) == pytest.approx((1.0, 4.0, 0.0))
    assert gbuffer.pixel_step(world, 5.0, 2.0, x, y, z, 0.0, 0.0, 1.0) == pytest.approx((1.0, 4.0, -2.0))  # the horizon


def test_highlights_widen_on_mirrors_only_where_normals_turn():
    rows = np.zeros((2, 44))
    rows[0, 37:39], rows[1, 37:39] = (1.0, 0.1), (0.0, 0.1)
    world = SimpleNamespace(solid=SimpleNamespace(rows=rows))
    held = points([[0, 0], [0, 1]], [(0, 0, 1), (0, 0.3, 1), (0.1, 0, 1), (0, 0, 1)], np.zeros((4, 3)))
    assert gbuffer.pixel_alpha(world, held, 1, 1) == pytest.approx(0.01)
    spread = 0.3**2 + 0.1**2
    assert gbuffer.pixel_alpha(world, held, 0, 0) == pytest.approx(np.sqrt(1e-4 + spread / 6))
    assert gbuffer.pixel_alpha(world, held, 1, 0) == pytest.approx(np.sqrt(1e-4 + 0.3**2 / 6))  # only to its left
    held.normal[0, 1] = (0, 2, 1)
    assert gbuffer.pixel_alpha(world, held, 0, 0) == pytest.approx(np.sqrt(1e-4 + 0.04))  # never much wider
    rows[0, 38] = 0.2
    assert gbuffer.pixel_alpha(world, held, 0, 0) == pytest.approx(0.04)


def test_all_light_of_a_pixel_is_summed():
    rows = np.zeros((3, 44))
    rows[:, 37], rows[:, 38], rows[:, 39] = (0.0, 1.0, 0.5), (0.5, 0.3, 0.7), (0.0, 0.0, 2.0)
    frame = np.zeros(26)
    frame[2] = 5.0
    world = SimpleNamespace(solid=SimpleNamespace(rows=rows), frame=frame)
    held = points(
        [[0, 1, 2, -1]], [(0, 0, 1), unit(0, 1, 1), (0, 0, 1), (0, 0, 1)], [(0, 0, 0), (1, 0, 0), (0, 3, 0), (0, 0, 0)]
    )
    rng = np.random.default_rng(0)
    held.colour, diffuse, indirect, specular, reflected = (rng.random((1, 4, 3)) for _ in range(5))
    base, rest, out = np.zeros((3, 1, 4, 3))
    reflections.sum_light(world, held, diffuse, indirect, specular, reflected, base, rest)
    for x in range(3):
        metal, rough, own = rows[x, 37:40]
        view = np.array([0, 0, 5]) - held.at[0, x]
        nv = max(held.normal[0, x] @ view / np.linalg.norm(view), 0.02)
        a, b = brdf.environment_brdf(rough, nv)
        assert base[0, x] == pytest.approx((1 - metal) * (1 - 0.04 * a - b) * (diffuse + indirect)[0, x] + own)
        tint = 0.04 + (held.colour[0, x] - 0.04) * metal
        assert rest[0, x] == pytest.approx(
            specular[0, x] + (tint * a + b) * (1 + tint * (1 / (a + b) - 1)) * reflected[0, x]
        )
    assert not base[0, 3].any() and not rest[0, 3].any()
    mean = np.array([0.1, 0.2, 0.3])
    frame[16:25] = np.arange(9) / 10
    for guess in (False, True):
        reflections.fill_diffuse(world, held, diffuse, indirect, mean, guess, out)
        for x in range(3):
            more = [indirect_lighting.ambient(world, mean, c, held.normal[0, x, 2]) for c in range(3)]
            light = diffuse[0, x] + (more if guess else indirect[0, x])
            keep = 0.96 - 0.36 * rows[x, 37]
            assert out[0, x] == pytest.approx(held.colour[0, x] * (keep * light + rows[x, 39]))


def test_lone_pixels_copy_the_light_of_another_in_their_square():
    held = points([[0, 0, 1, 0], [0, 0, 0, 0]], [(0, 0, 1)] * 5 + [(1, 0, 0)] + [(0, 0, 1)] * 2, np.zeros((8, 3)))
    left = np.ones((2, 4), np.uint8)
    indirect_lighting.mark_followers(held, left)
    assert left.tolist() == [[1, 2, 1, 1], [2, 1, 2, 2]]
    out = np.arange(24.0).reshape(2, 4, 3)
    indirect_lighting.copy_to_followers(held, left, out)
    assert out[..., 0].tolist() == [[0, 0, 6, 9], [0, 15, 9, 9]]


def test_an_edge_borrows_the_light_of_the_nearest_pixel_of_its_surface():
    rows = np.zeros((2, 44))
    world = SimpleNamespace(solid=SimpleNamespace(rows=rows), frame=np.array([0.0] * 12 + [10.0]))
    held = points([[0, 0, 1], [0, 0, 0]], [(0, 0, 1)] * 3 + [(1, 0, 0)] + [(0, 0, 1)] * 2, np.zeros((6, 3)))

    def lender(a, b, z=0.0, thing=0):
        return antialiasing.nearest_lender(world, held, thing, 0.0, 0.0, z, 0.0, 0.0, 1.0, 2.0, a, b)

    assert lender(0.6, 0.5) == (0, 0) and lender(1.6, 0.4) == (1, 0) and lender(2.9, 0.4) == (2, 1)
    assert lender(2.5, 0.5, thing=1) == (2, 0) and lender(0.5, 0.5, thing=1) == (-1, -1)
    assert lender(0.5, 1.4) == (0, 0) and lender(0.6, 1.5) == (1, 1)  # the wall below looks another way
    assert lender(0.6, 0.5, z=1.19) == (0, 0) and lender(0.6, 0.5, z=1.21) == (-1, -1)
    held.normal[0, 0] = unit(0, 0.6, 1)  # a pixel that looks another way counts as farther away
    assert lender(0.9, 0.5) == (1, 0) and lender(0.2, 0.5) == (0, 0)
    rows[0, 37:39] = 1.0, 0.1
    held.normal[0, :2] = held.normal[1] = (1, 0, 0)
    assert lender(0.6, 0.5) == (0, 0)  # on a mirror any will do
    rows[0, 38] = 0.2
    assert lender(0.6, 0.5) == (-1, -1)


# -- whole pixels ------------------------------------------------------------------------------------------------------


def test_the_light_of_one_cell_is_diffuse_and_twice_specular():
    world = lit(AreaLight((0, 0, 4), (0, 0, 0), 2.0, 10.0), Sun((0, 0, 1), 1.0, angle=60.0))
    n, v = np.array([0.0, 0, 1]), unit(1, 0, 1)
    for lamp, grid, blend in ((0, 2, 0.6), (1, 1, 0.2)):
        dx, dy, dz, far, light = direct_lighting.light_point(world, lamp, 0.5, -0.5, 0.0, 0.0, 0.0)
        way = np.array([dx, dy, dz])
        half = unit(*(way + v))
        wide = world.lights[lamp, 16] / grid / (far if lamp == 0 else 1)
        lobe = brdf.ggx_lobe(0.3**2 + wide**2 * blend, 0.3, way[2], v[2], half[2])
        rim = (1 - v @ half) ** 5
        found = direct_lighting.light_cell(world, lamp, 0.5, -0.5, grid, 0.0, 0.0, 0.0, *n, *v, 0.3, v[2], blend)
        soft = light * way[2]
        assert found == pytest.approx((soft, soft * lobe * (1 - rim), soft * lobe * rim))
    dark = direct_lighting.light_cell(world, 0, 0.0, 0.0, 1, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, *v, 0.3, 0.5, 0.2)
    behind = direct_lighting.light_cell(world, 0, 0.0, 0.0, 1, 0.0, 0.0, 9.0, 0.0, 0.0, -1.0, *v, 0.3, 0.5, 0.2)
    assert dark == behind == (0.0, 0.0, 0.0)


def test_light_of_a_pixel_adds_lamps_by_their_free_share_and_colour():
    lights = (AreaLight((0, 0, 4), (0, 0, 0), 0.1, 10.0, (1, 0.5, 0.2)), Sun((0, 1, 1), 2.0, 0.5, (0.1, 0.2, 0.3)))
    world = turned(
        lights=lights, ground=Ground(Material((0.5, 0.5, 0.5), 0.0, 0.6)), camera=Camera((0, -3, 3), (0, 0, 0))
    )
    held = points([[0, 0]], [(0, 0, 1)] * 2, [(0, 0, 0), (0, 0, 0)])
    held.colour = np.array([[[0.9, 0.5, 0.1]] * 2])
    diffuse, specular = np.zeros((2, 1, 2, 3))
    direct_lighting.add_direct_light(world, held, np.array([[[0.5, 0.0]], [[1.0, 1.0]]]), diffuse, specular)
    sun = np.array([0.2, 0.4, 0.6]) * np.sqrt(0.5) / np.pi
    lamp = 10 / (np.pi * 0.01) * 0.01 / 16 * np.array([1, 0.5, 0.2]) / np.pi
    assert diffuse[0, 1] == pytest.approx(sun) and diffuse[0, 0] == pytest.approx(sun + 0.5 * lamp, rel=1e-3)
    assert (specular[0, 0] > specular[0, 1]).all() and (specular > 0).all()
    for metal in (0.0, 1.0):
        world.solid.rows[0, 37] = metal
        specular[:] = 0
        direct_lighting.add_direct_light(world, held, np.array([[[0.0, 0.0]], [[1.0, 1.0]]]), diffuse, specular)
        view = unit(0, -3, 3)
        cell = (world, 1, 0.0, 0.0, 1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *view, 0.36, view[2], 0.2)
        _, full, rim = direct_lighting.light_cell(*cell)
        base = 0.04 + (held.colour[0, 0] - 0.04) * metal
        a, b = brdf.environment_brdf(0.6, view[2])
        again = 1 + base * (1 / (a + b) - 1)
        assert specular[0, 0] == pytest.approx(np.array([0.2, 0.4, 0.6]) * (base * full + rim) * again)
    world.solid.rows[0, 37] = 0.0
    specular[:] = 0
    direct_lighting.add_direct_light(world, held, np.array([[[0.0, 0.0]], [[1.0, 1.0]]]), diffuse, specular)
    ratio = specular[0, 1] / np.array([0.1, 0.2, 0.3])
    assert ratio == pytest.approx(np.full(3, ratio[0]))  # what is no metal reflects all colours alike


def test_shares_of_shadow_are_smoothed_where_they_are_near_and_sure():
    held = points([[0, 0, 0, 0, 1]], [(0, 0, 1)] * 4 + [(0, 0, 1)], np.zeros((5, 3)))
    free = np.array([[[0.0, 0.25, 0.5, 1.0, 0.5]]], np.float32)
    doubt = np.array([[[0, 2, 2, 1, 2]]], np.uint8)
    smooth = free.copy()
    shadows.smooth_shares(held, free, doubt, 0.5, 2, smooth)
    assert smooth[0, 0] == pytest.approx([0.0, 0.25, 0.25, 1.0, 0.5])  # one that is not sure (1) lends nothing
    shadows.smooth_shares(held, free, doubt, 0.25, 2, smooth)
    assert smooth[0, 0] == pytest.approx([0.0, 0.25, 0.375, 1.0, 0.5])
    shadows.smooth_shares(held, free, doubt, 0.25, 1, smooth)
    assert smooth[0, 0] == pytest.approx([0.0, 0.25, 0.375, 1.0, 0.5])


def test_neighbours_disagree_within_two_pixels_on_one_surface():
    held = points([[0, 0, 0, 0, 1, 0]], [(0, 0, 1)] * 5 + [(1, 0, 0)], np.zeros((6, 3)))
    free = np.array([[[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]], np.float32)
    found = [bool(shadows.neighbours_disagree(held, free, 0, x, 0)) for x in range(6)]
    assert found == [False, True, True, True, False, False]


def test_the_ground_is_drawn_below_the_horizon():
    camera = Camera((0, 0, 2), (0, 1, 2), 90.0)
    for height, rows in ((0.0, [3, 4, 5]), (5.0, [0, 1, 2])):
        world = turned(ground=Ground(Material(), height), camera=camera)
        owner, tri, depth = rasterizer.rasterize(world, 8, 6)
        assert sorted(set(np.nonzero(owner == 0)[0].tolist())) == rows and (tri == -1).all()
        slope = (3 - (rows[0] + 0.5)) / 4
        assert depth[rows[0], 0] == pytest.approx((height - 2) / slope) and np.isinf(depth[owner < 0]).all()
    assert (rasterizer.rasterize(turned(camera=camera), 8, 6)[0] == -1).all()


def test_corners_are_projected_as_points_are():
    world = turned(
        Instance(CUBE, Material(), np.eye(4)), Instance(CUBE, Material(), pose([1, 2, 0.5], turn=30, scale=2))
    )
    view, matrix = np.zeros((len(world.corners), 3)), np.zeros((3, 4))
    rasterizer.project_instance(world, 1, view, matrix)
    for k, corner in enumerate(world.corners[:, :3]):
        place = intersection.point_to_scene(world.solid.rows, 1, *corner)
        x, y, far = rasterizer.project_point(world.frame, *place)
        assert view[k] == pytest.approx([x * far, y * far, far])


def test_the_nearest_triangle_is_shown_at_the_middles_that_it_covers():
    places, depths = np.array([[1.5, 1.5], [5.5, 1.5], [1.5, 5.5]]), np.array([2.0, 2.0, 2.0])
    view = np.concatenate([np.column_stack([places * 2, depths]), np.column_stack([places * 4, 2 * depths])])
    faces = np.array([[0, 1, 2], [3, 4, 5], [0, 2, 1]])
    owner, tri, depth = np.full((7, 8), -1), np.full((7, 8), -1), np.full((7, 8), np.inf)
    rasterizer.fill_triangle(view, faces, 1, 7, False, owner, tri, depth)
    wanted = [(y, x) for y in range(7) for x in range(8) if x >= 1 and y >= 1 and x + y <= 6]
    assert np.argwhere(owner == 7).tolist() == [list(place) for place in wanted] and (tri[owner == 7] == 1).all()
    assert (depth[owner == 7] == 4.0).all()
    rasterizer.fill_triangle(view, faces, 0, 8, False, owner, tri, depth)
    assert (owner == 8).sum() == len(wanted) and (depth[owner == 8] == 2.0).all()
    rasterizer.fill_triangle(view, faces, 1, 9, False, owner, tri, depth)
    rasterizer.fill_triangle(view, faces, 2, 9, False, owner, tri, depth)
    assert not (owner == 9).any()  # farther away, and as near as what is there
    one_sided = [rasterizer.edge_functions(view, *faces[k], True)[0] != 0 for k in (0, 2)]
    assert sorted(one_sided) == [False, True]


def test_reflections_are_smoothed_over_more_pixels_the_rougher_they_are():
    rows = np.zeros((3, 44))
    world = SimpleNamespace(solid=SimpleNamespace(rows=rows))
    held = points([[0] * 7], [(0, 0, 1)] * 7, np.zeros((7, 3)))
    light = np.zeros((1, 7, 3))
    light[0, 3] = 6.0

    def smoothed(metal, rough):
        rows[0, 37:39] = metal, rough
        out = light.copy()
        reflections.smooth_reflections(world, held, light, out)
        return out[0, :, 0].tolist()

    assert smoothed(1.0, 0.05) == smoothed(0.0, 0.4) == light[0, :, 0].tolist()
    assert smoothed(1.0, 0.06) == smoothed(0.1, 0.9) == pytest.approx([0, 0, 2, 2, 2, 0, 0])
    assert smoothed(0.0, 0.39) == pytest.approx([0, 6 / 4, 1.2, 1.2, 1.2, 6 / 4, 0])
    held.normal[0, 3] = unit(0, 0.6, 1)
    assert smoothed(1.0, 0.3) == pytest.approx([0, 0, 0, 6, 0, 0, 0])


def test_cells_of_light_are_spread_over_their_plane():
    world = SimpleNamespace(frame=np.array([0.0] * 12 + [10.0]))
    held = points([[0] * 8] * 4, [(0, 0, 1)] * 32, [(x, y, 0) for y in range(4) for x in range(8)])
    cells = np.array([[[1.0, 2, 3], [5.0, 6, 7]]])
    middles = np.array([[[2, 2], [2, 6]]])
    out, left, calm = np.zeros((4, 8, 3)), np.zeros((4, 8), np.uint8), np.zeros_like(cells)
    indirect_lighting.interpolate_cells(world, held, cells, 4, out, left)
    assert not left.any() and out[2, 2] == pytest.approx((1 * 1 + 0.25 * 5) / 1.25 + np.arange(3))
    weights = np.array([(1 - 2 / 8) ** 2] * 2)
    assert out[2, 4, 0] == pytest.approx(weights @ [1, 5] / weights.sum())
    held.owner[:, 6:] = -1
    held.normal[3] = (1, 0, 0)
    indirect_lighting.interpolate_cells(world, held, cells, 4, out, left)
    assert left.tolist() == [[0] * 8] * 3 + [[1] * 6 + [0] * 2]
    wide = points([[0] * 10], [(0, 0, 1)] * 10, [(x, 0, 0) for x in range(10)])
    alone, lacking = np.zeros((1, 10, 3)), np.zeros((1, 10), np.uint8)
    indirect_lighting.interpolate_cells(world, wide, np.array([[[1.0, 2, 3]]]), 4, alone, lacking)
    assert lacking.tolist() == [[0] * 9 + [1]] and alone[0, 8].tolist() == [1, 2, 3]  # the last is too far away
    held.owner[:, 6:] = 0
    indirect_lighting.smooth_cells(world, held, middles, cells, 4, calm)
    assert calm == pytest.approx(np.array([[[3.0, 4, 5], [3.0, 4, 5]]]))


def test_normals_face_the_viewer_and_shadow_rays_begin_on_their_side():
    square = rectangle("s", 0, 0, 4, 2)
    world = turned(
        Instance(square, Material(), np.eye(4)), ground=Ground(Material(), -1.0), camera=Camera((1, 1, 4), (1, 1, 0))
    )
    for towards, side in (((0.0, 0.0, -1.0), 1), ((0.0, 0.0, 1.0), -1)):
        found = gbuffer.facing_normal(world, 0, 0, 1.0, 1.0, 0.0, *towards)
        assert found[:3] == pytest.approx((0, 0, side)) and found[3:] == pytest.approx((1, 1, side * (4e-4 + 1e-6)))
        ground = gbuffer.facing_normal(world, 1, -1, 3.0, 1.0, -1.0, *towards)
        assert ground[:3] == (0.0, 0.0, side) and ground[3:] == pytest.approx((3, 1, -1 + side * (7e-4 + 1e-6)))


def test_points_are_lifted_to_the_round_surface_that_their_normals_mean():
    corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0]])
    normals = np.array([unit(-1, -1, 3), unit(1, 0, 3), unit(0, 1, 3)])
    mesh = Mesh("patch", corners, normals, np.array([[0, 1, 2]]))
    world = turned(Instance(mesh, Material(), pose([0, 0, 1])))
    u = v = 0.25
    point = np.array([0.5, 0.5, 1.0])
    lifted = point.copy()
    for weight, corner, normal in zip((0.5, u, v), corners + np.array([0, 0, 1]), normals, strict=True):
        lifted -= weight * min(0.0, (point - corner) @ normal) * normal
    assert gbuffer.lift_to_smooth(world, 0, 0, u, v, *point) == pytest.approx(tuple(lifted)) and lifted[2] > 1.0
    smooth = unit(*(0.5 * normals[0] + u * normals[1] + v * normals[2]))
    assert gbuffer.smooth_normal(world, 0, 0, u, v) == pytest.approx(tuple(smooth))
    assert gbuffer.flat_normal(world, 0, 0) == pytest.approx((0, 0, 1))
    off = 1e-4 * np.abs(point - world.frame[:3]).sum() + 1e-6
    outside, inside = (gbuffer.facing_normal(world, 0, 0, *point, 0.0, 0.0, z) for z in (-1.0, 1.0))
    assert outside == pytest.approx((*smooth, *(lifted + np.array([0, 0, off])))) and inside[:3] == pytest.approx(
        tuple(-smooth)
    )
    assert inside[3:] == pytest.approx(tuple(point - [0, 0, off]))  # what is seen from within is not lifted


def test_occluders_of_a_tile_and_of_a_pixel():
    near = [Instance(CUBE, Material(), pose([x, 0, 2])) for x in (0, 5, 0.4)]
    world = turned(*near, lights=(Sun((0, 0, 1), 1.0, 1.0),), ground=Ground(Material()))
    held = points(np.full((9, 9), 3), [(0, 0, 1)] * 81, [(0.01 * x, 0.01 * y, 0) for y in range(9) for x in range(9)])
    held.start = held.at
    found, kept = np.zeros(4, np.int64), np.zeros(4, np.int64)
    assert shadows.tile_occluders(world, held, 0, 0, 0, found) == 2 and found[:2].tolist() == [0, 2]
    assert shadows.pixel_occluders(world, held, 0, 0, 0, found, 2, kept) == 2
    held.normal[0, 1] = (0, 0, -1)
    assert shadows.pixel_occluders(world, held, 0, 1, 0, found, 2, kept) == -1
    held.owner[0, 2] = 0  # a convex thing does not shade itself
    assert shadows.pixel_occluders(world, held, 0, 2, 0, found, 2, kept) == 1 and kept[0] == 2
    world.solid.kind[0, 6] = 0
    assert shadows.pixel_occluders(world, held, 0, 2, 0, found, 2, kept) == 2
    held.owner[:] = -1
    assert shadows.tile_occluders(world, held, 0, 0, 0, found) == 0
    kept[:2] = 0, 2
    assert shadows.light_reaches(world, 0, 0.0, 0.0, 0.7, 0.0, 0.0, kept, 2) == 0.0 and kept[:2].tolist() == [2, 0]
    assert shadows.light_reaches(world, 0, 0.0, 0.0, 2.0, 0.0, 0.0, kept, 2) == 1.0


def test_gathered_rays_leave_the_surface_and_the_sky_gathers_nothing():
    held = points([[0, -1]], [(0, 0, 1)] * 2, np.zeros((2, 3)))
    held.start = held.at + np.array([0.1, 0.2, 0.3])
    rays = np.zeros((2 * 9, 7))
    indirect_lighting.scatter_rays(held, np.array([[0, 1], [0, 0]]), 3, rays)
    assert (
        not rays[:9].any()
        and (rays[9:, 5] > 0).all()
        and rays[9:, :3] == pytest.approx(np.tile([0.1, 0.2, 0.3], (9, 1)))
    )
    around = np.sort(np.arctan2(rays[9:, 4], rays[9:, 3]) % (2 * np.pi))
    assert [int(turn * 3 / (2 * np.pi)) for turn in around] == [0] * 3 + [1] * 3 + [2] * 3
    steep = np.sort(1 - rays[9:, 5] ** 2)
    assert [int(part * 3) for part in steep] == [0] * 3 + [1] * 3 + [2] * 3
