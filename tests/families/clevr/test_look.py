"""CLE4EVR's pictures agree with their worlds: objects are where these say, each shows, and looks as its attributes say."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from assay.base import ConfigError
from assay.families.clevr.scene import COLOURS, MATERIALS, SHAPES, SIZES
from assay.families.clevr.task import Clevr
from assay.render import label_pixels, shoot
from assay.worlds import World

SMALL = {"width": 96, "height": 72, "quality": "draft"}
MOVES = ("camera", "key", "fill", "back")


def worlds(task, count):
    return task.source_for(task.splits()[0], 0).worlds(np.arange(count))


def standing(*objects, **settings):
    """Return a task and its world of objects, each (colour, shape, material, size, x, y), with nothing moved."""
    task = Clevr(objects=len(objects), min_pixels=1, **settings)
    values = [value for one in objects for value in one[:4]]
    codes = tuple(concept.code(value) for concept, value in zip(task.space.concepts, values, strict=True))
    still = {name: [0.0, 0.0, 0.0] for name in MOVES}
    return task, World(task.space, codes, {**still, "spots": [[*one[4:], 20.0] for one in objects]})


def pixels(scene):
    """Return how many pixels show each object."""
    return np.bincount(label_pixels(scene).things.ravel(), minlength=len(scene.things) + 1)[1:]


def test_colours_are_well_apart():
    assert len(COLOURS) == len(SHAPES) == 10 and len(MATERIALS) == 2 and len(SIZES) == 3
    for one, other in combinations(COLOURS.values(), 2):
        assert np.linalg.norm(np.subtract(one, other)) > 60


def test_a_ball_is_seen_where_the_world_says_and_as_large():
    task, world = standing(("red", "sphere", "rubber", "large", 0.8, -0.4), width=160, height=120)
    view, (ball,) = task.view(world), task.objects_of(world)
    rows, columns = np.nonzero(label_pixels(task.scene(world)).things)
    column, row, depth = view.project(np.array([0.8, -0.4, ball.middle]))
    assert columns.mean() == pytest.approx(column, abs=1) and rows.mean() == pytest.approx(row, abs=1)
    assert len(rows) == pytest.approx(np.pi * (0.7 * view.focus / depth) ** 2, rel=0.05)


def test_objects_are_numbered_from_left_to_right_stand_apart_and_each_shows():
    task = Clevr(objects=(2, 5), min_pixels=120, **SMALL)
    for world in worlds(task, 10):
        assert pixels(task.scene(world)).min() >= 120 * 96 * 72 / (320 * 240)
        spots = np.array([one.spot[:2] for one in task.objects_of(world)])
        assert (np.diff(task.view(world).project(np.c_[spots, np.zeros(len(spots))])[:, 0]) > 0).all()
        gaps = np.linalg.norm(spots[:, None] - spots[None], axis=-1)[np.triu_indices(len(spots), 1)]
        assert gaps.min() >= 2 * 0.7 + 0.25  # two large ones, and the least distance


def test_without_occlusion_every_object_shows_wholly():
    task = Clevr(objects=4, occlusion=False, **SMALL)
    for world in worlds(task, 4):
        scene = task.scene(world)
        alone = [pixels(replace(scene, instances=(one,)))[0] for one in scene.instances]
        assert alone == pixels(scene).tolist()


def test_a_small_object_shows_even_if_all_others_were_large_and_tall():
    task = Clevr(objects=4, width=160, height=120)
    for world in worlds(task, 3):
        for hidden in range(4):
            others = {f"object{n + 1}.{name}": value for n in range(4) if n != hidden
                      for name, value in (("shape", "cylinder"), ("size", "large"))}  # fmt: skip
            own = {f"object{hidden + 1}.shape": "star", f"object{hidden + 1}.size": "small"}
            scene = task.scene(world.do({**others, **own}))
            alone = pixels(replace(scene, instances=(scene.instances[hidden],)))[0]
            assert pixels(scene)[hidden] >= 0.15 * alone


def test_changing_any_concept_changes_pixels_and_nothing_else():
    task = Clevr(**SMALL)
    (world,) = worlds(task, 1)
    image = task.render(world).image
    for concept in task.space.concepts:
        value = next(value for value in concept.values if value != world[concept.name])
        other = task.change_world(world, {concept.name: value})
        assert other.style == world.style and (task.render(other).image != image).any(), concept.name


def test_every_value_of_an_attribute_looks_unlike_every_other():
    base = {"colour": "red", "shape": "cube", "material": "rubber", "size": "large"}
    values = {"colour": COLOURS, "shape": SHAPES, "material": MATERIALS, "size": SIZES}
    for attribute, names in values.items():
        images = []
        for name in names:
            task, world = standing((*{**base, attribute: name}.values(), 0.0, 0.0), width=96, height=72)
            images.append(shoot(task.scene(world), quality="draft").image.astype(int))
        for one, other in combinations(images, 2):
            assert (np.abs(one - other).max(axis=2) > 30).sum() > 40, attribute


def test_the_floor_has_the_colour_of_the_style():
    task, world = standing(("red", "cube", "rubber", "large", 0.0, 0.0), **SMALL)
    floors = [task.render(World(world.space, world.codes, {**world.style, "floor": floor})).image[-5:].mean(axis=(0, 1))
              for floor in task.style_choices["floor"]]  # fmt: skip
    assert all(np.abs(one - other).max() > 15 for one, other in combinations(floors, 2))


def seen(*objects):
    task, world = standing(*objects)
    shot = shoot(task.scene(world))
    return shot.image.astype(int), shot.things == 1


def inside(mask):
    """Return the pixels of a mask that are more than three from its outline, where nothing else shines through."""
    for _ in range(3):
        mask = mask & np.all([np.roll(mask, step, axis) for step in (-1, 1) for axis in (0, 1)], axis=0)
    return mask


def test_a_metal_ball_mirrors_the_object_beside_it_and_a_rubber_one_does_not():
    reds = {}
    for material in MATERIALS:
        ball, cube = ("gray", "sphere", material, "large", -1.2, 1.2), ("red", "cube", "rubber", "large", 0.5, 1.2)
        (alone, shows), (beside, _) = seen(ball), seen(ball, cube)
        redder = (beside[..., 0] - beside[..., 1]) - (alone[..., 0] - alone[..., 1])
        reds[material] = int((redder[inside(shows)] > 40).sum())
    assert reds["metal"] > 30 and reds["rubber"] == 0


def test_lamps_on_a_metal_ball_are_spots_and_not_rows_of_dots():
    image, ball = seen(("green", "sphere", "metal", "large", -1.2, 1.2))
    light = np.where(inside(ball), image[..., 2], 0)
    near = [np.roll(light, (v, u), (0, 1)) for v in (-1, 0, 1) for u in (-1, 0, 1) if (v, u) != (0, 0)]
    dots = inside(ball) & (light > 40) & (light >= np.max(near, axis=0) + 8)
    assert light.max() > 120 and dots.sum() <= 3  # 13 where the cells of the lamps show


# -- places ------------------------------------------------------------------------------------------------------------


def test_places_say_nothing_of_what_stands_there():
    task = Clevr(min_pixels=1, **SMALL)
    codes = [world.codes for world in worlds(task, 2)]
    one, other = (task.style(np.random.default_rng(3), row, "train") for row in codes)
    assert one == other


def test_the_camera_and_each_lamp_are_moved_by_what_is_set_for_them():
    most = {"camera": 0.1, "key": 0.0, "fill": 2.0, "back": 0.5}
    settings = {"camera_jitter": 0.1, **{f"{name}_light_jitter": most[name] for name in ("key", "fill", "back")}}
    styles = [world.style for world in worlds(Clevr(**settings, **SMALL), 40)]
    for name, reach in most.items():
        drawn = np.array([style[name] for style in styles])
        assert np.abs(drawn).max() <= reach and (not reach or np.abs(drawn).max() > 0.8 * reach)


def test_places_that_cannot_be_found_are_refused_in_one_line():
    with pytest.raises(ConfigError, match="about") as caught:
        Clevr(min_pixels=50_000, sizes=["large"], objects=9, **SMALL)
    most = int(str(caught.value).split("about ")[1].split()[0])
    with pytest.raises(ConfigError, match="no places for 9 objects of which each shows; lower 'objects'"):
        worlds(Clevr(min_pixels=most, sizes=["large"], objects=9, **SMALL), 1)
