"""Trains in three dimensions: every concept shows, parts are where they belong, masks and boxes agree, scenes differ."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from assay.families.trains.drawing.appearance import TrainAppearance
from assay.families.trains.drawing.scene import train_scene
from assay.render import label_pixels, shoot
from assay.tasks import TASKS
from assay.worlds import World

STYLES = ["trains", "blocks"]
BACKGROUNDS = ["base", "desert", "desert_sky", "fisheye"]
CAR = {"colour": "yellow", "length": "long", "wall": "braced", "roof": "solid", "axles": 2, "loads": 2, "load": "box"}
SHORT = {**CAR, "length": "short"}
TRAIN = [CAR, {**SHORT, "colour": "blue", "wall": "solid", "roof": "none"}, {**CAR, "loads": 1}]
VALUES = {concept.partition(".")[2]: TASKS["trains"](image=False, min_cars=4).space.concept(concept).values
          for concept in (f"car1.{name}" for name in CAR)}  # fmt: skip


def scene(train=TRAIN, angle=20.0, style="trains", background="base", width=160):
    return train_scene(train, angle, TrainAppearance(style, background, 4, width, width * 9 // 16))


def boxes(made):
    """Return the lowest and the highest corner of each thing and part in space."""
    found = {}
    for one in made.instances:
        points = one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3]
        for name in {one.thing, f"{one.thing}/{one.part}"}:
            low, high = found.get(name, (points.min(axis=0), points.max(axis=0)))
            found[name] = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    return found


def small(name="trains", **settings):
    return TASKS[name](width=64, quality="draft", **settings)


def worlds_of(task, count=1, split="test"):
    found = {one.name: one for one in task.splits()}[split]
    return task.source_for(found, 0).worlds(np.arange(count))


@pytest.mark.parametrize("style", STYLES)
def test_things_and_parts_have_their_names(style):
    found = scene(style=style)
    assert found.things == ("rail", "locomotive", "car1", "car2", "car3")
    parts = [name for name in found.parts if name.startswith("car1/")]
    assert set(parts) >= {"car1/wall", "car1/wheels", "car1/roof", "car1/payload1", "car1/payload2"}
    assert ("car2/roof" in found.parts) == (style == "blocks")  # a block always has its shape


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("angle", [-60, 0, 45, 120, 180, 240])
def test_cars_follow_the_engine_in_their_order_above_the_ground(style, angle):
    corners = boxes(scene(angle=angle, style=style))
    ahead = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    order = [np.sum(corners[name], axis=0)[:2] @ ahead / 2 for name in ("locomotive", "car1", "car2", "car3")]
    assert all(one > other + 0.5 for one, other in pairwise(order))
    assert all(corners[f"car{n}/payload1"][0][2] > corners[f"car{n}/wheels"][0][2] for n in (1, 2, 3))
    assert min(low[2] for low, _ in corners.values()) == pytest.approx(0, abs=1e-6)  # nothing floats and nothing sinks


@pytest.mark.parametrize("length", ["short", "long"])
def test_loads_stay_inside_their_car_under_its_roof_and_apart(length):
    """Also where an intervention puts three loads into a short car."""
    for kind in VALUES["load"][1:]:
        for count in (1, 2, 3):
            made = boxes(scene([{**CAR, "length": length, "load": kind, "loads": count}], angle=0.0))
            wall, roof = made["car1/wall"], made["car1/roof"]
            spans = [made[f"car1/payload{number}"] for number in range(1, count + 1)]
            for low, high in spans:
                assert (low[:2] >= wall[0][:2]).all() and (high[:2] <= wall[1][:2]).all() and high[2] < roof[1][2]
            assert all(one[0][0] >= other[1][0] - 0.02 for one, other in pairwise(spans))


@pytest.mark.parametrize("style", STYLES)
def test_every_car_and_part_is_seen_from_every_side(style):
    """At the steepest angles too, each car shows some hundred pixels at full size, and its parts some of them."""
    for angle in (-60, 0, 60, 120, 240):
        made = scene([CAR, CAR, SHORT, {**SHORT, "loads": 1}], angle, style, width=480)
        shot = label_pixels(made)
        cars = np.bincount(shot.things.ravel(), minlength=7)[3:]
        parts = np.bincount(shot.parts.ravel(), minlength=len(made.parts) + 1)[1:]
        assert (cars > 300).all() and (parts >= 8).all(), angle


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_trains_of_seven_cars_are_all_in_the_picture(style, background):
    train = [{**CAR, "length": "long" if place % 2 else "short"} for place in range(7)]
    for angle in (0, 60, 200):
        things = label_pixels(scene(train, angle, style, background, width=240)).things
        assert set(range(2, 10)) <= set(np.unique(things).tolist())
        seen = things > 1
        assert not seen[:, 0].any() and not seen[:, -1].any() and not seen[0].any(), (angle, background)


@pytest.mark.parametrize("name", STYLES)
def test_changing_any_one_concept_changes_pixels(name):
    task = small(name)
    world = next(world for world in worlds_of(task, 30) if world["car4.colour"] != "absent")
    before = task.render(world).image
    for car in ("car1", "car4"):
        for attribute, values in VALUES.items():
            concept = f"{car}.{attribute}"
            other = next(value for value in values if value not in (world[concept], "none", 0))
            assert (task.render(world.do({concept: other})).image != before).any(), concept


@pytest.mark.parametrize("style", STYLES)
def test_every_value_of_an_attribute_looks_unlike_every_other(style):
    for attribute, values in VALUES.items():
        images = []
        for value in values:
            car = {**CAR, attribute: value}
            if value in ("none", 0) and attribute in ("load", "loads"):
                car |= {"loads": 0, "load": "none"}
            images.append(shoot(scene([car], 20.0, style, width=192), quality="draft").image.astype(int))
        for one, other in combinations(images, 2):
            assert (np.abs(one - other).max(axis=2) > 30).sum() > 8, (attribute, style)


def test_backgrounds_and_styles_differ_and_masks_do_not_depend_on_light():
    pictures = {}
    for background in BACKGROUNDS:
        task = small(background=background)
        pictures[background] = task.render(worlds_of(task)[0])
    assert len({picture.image.tobytes() for picture in pictures.values()}) == 4
    assert (pictures["base"].instances == pictures["desert"].instances).all()
    assert (pictures["base"].instances != pictures["desert_sky"].instances).any()
    task = small("blocks")
    assert (task.render(worlds_of(task)[0]).image != pictures["base"].image).any()
    studio = small(background="desert")
    world = worlds_of(studio)[0]
    assert (studio.render(World(world.space, world.codes, {**world.style, "background": "base"})).image
            == pictures["base"].image).all()  # a world's own background goes before that of the settings  # fmt: skip


def test_a_picture_has_maps_that_fit_its_boxes():
    task = small()
    picture = task.render(worlds_of(task)[0])
    names = [thing.name for thing in picture.things]
    assert names[:3] == ["rail", "locomotive", "car1"] and picture.depth.dtype == np.uint16
    for number, thing in enumerate(picture.things, start=1):
        pixels = (picture.parts if "/" in thing.name else picture.instances) == number
        rows, columns = np.nonzero(pixels)
        box = thing.box
        found = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) if len(rows) else (0, 0, 0, 0)
        assert (box.left, box.top, box.right, box.bottom) == found, thing.name
        if "/" in thing.name:
            whole = picture.instances == names.index(thing.name.split("/")[0]) + 1
            assert whole[pixels].all()


@pytest.mark.parametrize(("occlusion", "steepest"), [(False, 60), (True, 70)])
def test_trains_turn_to_either_side_and_face_either_way(occlusion, steepest):
    task = TASKS["trains"](image=False, occlusion=occlusion)
    angles = {task.style(np.random.default_rng(seed), (), "train")["angle"] for seed in range(4000)}
    assert angles == {*range(-steepest, steepest + 1), *range(180 - steepest, 180 + steepest + 1)}
