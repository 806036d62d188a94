"""Trains in three dimensions: every concept shows, parts are where they belong, backgrounds differ."""

from itertools import pairwise

import numpy as np
import pytest

from assay.families.trains.drawing import blocks, cars, loads, roofs
from assay.families.trains.drawing.appearance import TrainAppearance
from assay.families.trains.drawing.scene import positions, train_scene
from assay.families.trains.source import VALUES
from assay.render import Scene, label_pixels
from assay.tasks import TASKS

STYLES = ["trains", "blocks"]
BACKGROUNDS = ["base", "desert", "desert_sky", "fisheye"]
CAR = {"colour": "yellow", "length": "long", "wall": "braced", "roof": "solid", "axles": 2, "loads": 2, "load": "box"}
TRAIN = [CAR, {**CAR, "colour": "blue", "length": "short", "wall": "solid", "roof": "none"}, {**CAR, "loads": 1}]


def scene(train=TRAIN, angle=20.0, style="trains", background="base", width=160) -> Scene:
    return train_scene(train, angle, TrainAppearance(style, background, 4, width, width * 9 // 16))


def small(name="trains", **settings):
    return TASKS[name](width=64, quality="draft", **settings)


def worlds_of(task, count=1, split="test"):
    found = {one.name: one for one in task.splits()}[split]
    return task.worlds_in(found, 0).worlds(np.arange(count))


@pytest.mark.parametrize("style", STYLES)
def test_things_and_parts_have_their_names(style):
    found = scene(style=style)
    assert found.things == ("rail", "locomotive", "car1", "car2", "car3")
    parts = [name for name in found.parts if name.startswith("car1/")]
    assert set(parts) >= {"car1/wall", "car1/wheels", "car1/roof", "car1/payload1", "car1/payload2"}
    assert ("car2/roof" in found.parts) == (style == "blocks")  # a block always has its shape


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("angle", [-60, 0, 45, 120, 180, 240])
def test_cars_follow_the_engine_in_their_order(style, angle):
    at = positions(scene(angle=angle, style=style))
    ahead = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    order = [np.dot(at[name][:2], ahead) for name in ("locomotive", "car1", "car2", "car3")]
    assert all(one > other + 0.5 for one, other in pairwise(order))
    assert all(at[f"car{n}/payload1"][2] > at[f"car{n}/wheels"][2] for n in (1, 2, 3))


@pytest.mark.parametrize("style", STYLES)
def test_nothing_floats_and_nothing_sinks(style):
    made = scene(style=style)
    lowest = min(
        float((one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3])[:, 2].min()) for one in made.instances
    )
    assert abs(lowest) < 1e-6


def test_cars_do_not_overlap():
    at = positions(scene(angle=0))
    gap = abs(at["car1"][0] - at["car2"][0])
    assert gap == pytest.approx(0.5 * (cars.SPACE["long"] + cars.SPACE["short"]) / 2, abs=0.1)


@pytest.mark.parametrize("length", ["short", "long"])
def test_loads_stay_inside_their_car_and_under_its_roof(length):
    """Also where an intervention puts three loads into a short car."""
    for kind in VALUES["load"][1:]:
        for count in (1, 2, 3):
            made = scene([{**CAR, "length": length, "load": kind, "loads": count}], angle=0.0)
            boxes = {}
            for one in made.instances:
                points = one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3]
                low, high = boxes.get(one.part, (points.min(axis=0), points.max(axis=0)))
                boxes[one.part] = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
            for number in range(1, count + 1):
                low, high = boxes[f"payload{number}"]
                assert (low[:2] >= boxes["wall"][0][:2]).all() and (high[:2] <= boxes["wall"][1][:2]).all()
                assert high[2] < (roofs.TOP + 0.02 - 0.2) * 0.5 and low[2] > 0.5
            spans = [boxes[f"payload{number}"] for number in range(1, count + 1)]
            assert all(one[0][0] >= other[1][0] - 0.02 for one, other in pairwise(spans))


def test_meshes_are_made_once():
    assert cars.walls("braced", "short") is cars.walls("braced", "short")
    assert loads.load("barrel") is loads.load("barrel") and blocks.load("barrel") is blocks.load("barrel")
    assert roofs.roof("peaked", "long").faces.shape[1] == 3


@pytest.mark.parametrize("style", STYLES)
def test_every_car_and_part_is_seen_from_every_side(style):
    """At the steepest angles too, each car shows some hundred pixels at full size, and its parts some of them."""
    for angle in (-60, -20, 0, 40, 60, 120, 150, 240):
        train = [CAR, CAR, {**CAR, "length": "short"}, {**CAR, "length": "short", "loads": 1}]
        shot = label_pixels(scene(train, angle, style, width=480))
        seen = np.bincount(shot.things.ravel(), minlength=7)[1:]
        assert (seen[2:] > 300).all(), (angle, seen)
        made = scene(train, angle, style, width=480)
        parts = dict(zip(made.parts, np.bincount(shot.parts.ravel(), minlength=len(made.parts) + 1)[1:], strict=True))
        hidden = [name for name, count in parts.items() if count < 8]
        assert not hidden, (angle, hidden)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_trains_of_seven_cars_are_all_in_the_picture(style, background):
    train = [{**CAR, "length": "long" if place % 2 else "short"} for place in range(7)]
    for angle in (0, 60, 200):
        made = scene(train, angle, style, background, width=240)
        things = label_pixels(made).things
        assert set(range(2, 10)) <= set(np.unique(things).tolist())
        cars_seen = things > 1
        assert not cars_seen[:, 0].any() and not cars_seen[:, -1].any() and not cars_seen[0].any(), (angle, background)


@pytest.mark.parametrize("name", ["trains", "blocks"])
def test_changing_any_one_concept_changes_pixels(name):
    task = small(name)
    world = next(world for world in worlds_of(task, 30) if world["car4.colour"] != "absent")
    before = task.render(world)
    for car in ("car1", "car4"):
        for attribute, values in VALUES.items():
            concept = f"{car}.{attribute}"
            other = next(value for value in values if value not in (world[concept], "none", 0))
            after = task.render(world.do({concept: other}))
            assert (after.image != before.image).any(), concept


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
