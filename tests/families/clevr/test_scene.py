"""The solids of CLE4EVR and the places where they stand."""

from itertools import combinations

import numpy as np
import pytest

from assay.families.clevr.placement import TALL, Bodies, CameraView, Placement
from assay.families.clevr.scene import COLOURS, MATERIALS, SHAPES, SIZES, ClevrObject, scene_of, shape_mesh
from assay.render import label_pixels, shoot
from assay.seeds import rng_for

STILL = {"key": (0, 0, 0), "fill": (0, 0, 0), "back": (0, 0, 0)}


def placement(view=None, share=0.4):
    return Placement(view or CameraView(320, 240), least=0.3, most=0.7, apart=0.25, margin=0.4, share=share)


@pytest.mark.parametrize("name", SHAPES)
def test_solids_stand_on_the_floor_and_fit_their_radius(name):
    points = shape_mesh(name).vertices
    assert points[:, 2].min() == pytest.approx(0, abs=1e-6)
    assert 0.5 < points[:, 2].max() <= TALL + 1e-6
    assert 0.75 < np.hypot(points[:, 0], points[:, 1]).max() <= 1 + 1e-6


def test_a_mesh_is_made_once():
    assert shape_mesh("cube") is shape_mesh("cube")


def test_colours_are_well_apart():
    assert len(COLOURS) == len(SHAPES) == 10 and len(MATERIALS) == 2 and len(SIZES) == 3
    for one, other in combinations(COLOURS.values(), 2):
        assert np.linalg.norm(np.subtract(one, other)) > 60


def test_the_view_agrees_with_the_engine():
    """A ball shows where the view says that its middle is, as large as it says."""
    view = CameraView(160, 120, jitter=(0.4, -0.3, 0.2))
    ball = ClevrObject("object1", "red", "sphere", "rubber", "large", (0.8, -0.4, 30.0))
    things = label_pixels(scene_of([ball], view, STILL)).things
    rows, columns = np.nonzero(things)
    column, row, depth = view.project(np.array([0.8, -0.4, ball.middle]))
    assert columns.mean() == pytest.approx(column, abs=1) and rows.mean() == pytest.approx(row, abs=1)
    assert len(rows) == pytest.approx(np.pi * (0.7 * view.focus / depth) ** 2, rel=0.05)


def test_wide_pictures_see_more_and_nothing_less():
    spot = np.array([[2.5, -1.0, 0.0]])
    usual, wide = CameraView(320, 240), CameraView(640, 240)
    assert wide.project(spot)[0, 0] > 320 and wide.focus == pytest.approx(usual.focus)


def test_places_are_apart_in_the_picture_and_from_left_to_right():
    rng = rng_for(0, "places")
    for _ in range(10):
        own = placement().seen_from(rng.uniform(-0.5, 0.5, 3))
        spots = own.scatter(rng, 5)
        gaps = np.linalg.norm(spots[:, None] - spots[None], axis=-1)[np.triu_indices(5, 1)]
        assert gaps.min() >= 2 * 0.7 + 0.25
        assert (np.diff(own.columns(spots)) > 5).all()
        body = Bodies.at(own.view, spots, 0.7)
        assert (body.columns - body.halves > 0).all() and (body.columns + body.halves < 320).all()
        assert (own.visible_shares(spots) >= 0.4).all()


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_no_small_object_vanishes_behind_a_large_one(share):
    """Rendered in the worst case: one object small and thin, all others large and tall."""
    rng, view = rng_for(1, "worst"), CameraView(160, 120)
    for _ in range(4):
        spots = placement(view, share).find_spots(rng, 4, 60)
        assert spots is not None
        for hidden in range(4):
            small = [ClevrObject("object1", "red", "star", "rubber", "small", (*spots[hidden], 0.0))]
            large = [
                ClevrObject(f"big{i}", "red", "cylinder", "rubber", "large", (*spots[i], 0.0))
                for i in range(4)
                if i != hidden
            ]
            alone = (label_pixels(scene_of(small, view, STILL)).things == 1).sum()
            among = (label_pixels(scene_of(small + large, view, STILL)).things == 1).sum()
            assert among >= (0.15 if share < 1 else 1) * alone


def test_a_room_is_full_at_some_point():
    assert placement().holds(rng_for(0, "full"), 4)
    assert not placement(CameraView(320, 240, reach=2.0)).holds(rng_for(0, "full"), 12)
    assert placement(CameraView(320, 240, reach=1.0)).scatter(rng_for(0, "full"), 9) is None


def test_each_of_the_four_attributes_is_in_the_scene():
    spot = (0.0, 0.0, 0.0)
    usual = ClevrObject("object1", "red", "cube", "rubber", "large", spot).instance
    metal = ClevrObject("object1", "red", "cube", "metal", "large", spot).instance
    blue = ClevrObject("object1", "blue", "cube", "rubber", "large", spot).instance
    small = ClevrObject("object1", "red", "cube", "rubber", "small", spot).instance
    assert metal.material.metallic > usual.material.metallic and metal.material.roughness < usual.material.roughness
    assert blue.material.color != usual.material.color
    assert small.matrix[0, 0] == pytest.approx(0.3) and usual.matrix[0, 0] == pytest.approx(0.7)


def seen(*objects):
    """Return the picture of objects, each (colour, shape, material, x), and which pixels show the first."""
    solids = [
        ClevrObject(f"object{n}", colour, shape, material, "large", (x, 1.2, 20.0))
        for n, (colour, shape, material, x) in enumerate(objects, start=1)
    ]
    shot = shoot(scene_of(solids, CameraView(320, 240, reach=2.0), STILL))
    return shot.image.astype(int), shot.things == 1


def test_a_metal_ball_mirrors_the_object_beside_it_and_a_rubber_one_does_not():
    reds = {}
    for material in ("metal", "rubber"):
        alone, ball = seen(("gray", "sphere", material, -1.2))
        beside, _ = seen(("gray", "sphere", material, -1.2), ("red", "cube", "rubber", 0.5))
        redder = (beside[..., 0] - beside[..., 1]) - (alone[..., 0] - alone[..., 1])
        reds[material] = int((redder[ball] > 40).sum())
    assert reds["metal"] > 60 and reds["rubber"] == 0


def inside(mask):
    """Return the pixels of a mask that are more than three from its outline, where nothing else shines through."""
    for _ in range(3):
        mask = mask & np.all([np.roll(mask, step, axis) for step in (-1, 1) for axis in (0, 1)], axis=0)
    return mask


def test_lamps_on_a_metal_ball_are_spots_and_not_rows_of_dots():
    image, ball = seen(("green", "sphere", "metal", -1.2))
    light = np.where(inside(ball), image[..., 2], 0)
    near = [np.roll(light, (v, u), (0, 1)) for v in (-1, 0, 1) for u in (-1, 0, 1) if (v, u) != (0, 0)]
    dots = inside(ball) & (light > 40) & (light >= np.max(near, axis=0) + 8)
    assert light.max() > 120 and dots.sum() <= 3  # 13 where the cells of the lamps show


def test_the_round_edges_of_a_metal_cube_are_lines_and_not_dots():
    image, cube = seen(("red", "cube", "metal", 0.5))
    light = np.where(inside(cube), image[..., 1], 0)
    left, right = np.flatnonzero(inside(cube).any(axis=0))[[0, -1]]
    edges = light[:, left + 2 : right - 2].max(axis=0)
    assert edges.max() > 90 and np.abs(np.diff(edges)).max() < 45  # 124 where each pixel is a point
