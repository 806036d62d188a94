"""Traffic scenes: what shows each concept is there, is seen, and looks like itself."""

from itertools import combinations

import numpy as np
import pytest

from assay.base import rng_for
from assay.families.driving.rules import CONCEPTS
from assay.families.driving.task import SddOia
from assay.render import label_pixels, shoot
from assay.worlds import World

TASK = SddOia()
NAMES = (*CONCEPTS, "emergency")
LEAST = 200
"""How many pixels of a picture of the usual size show each concept, at least."""


def world(number, *true, task=TASK, **style):
    """Return a world where these concepts hold, possible or not, in one of the styles that are drawn."""
    codes = tuple(int(name in true) for name in NAMES)
    return World(task.space, codes, {**task.style(rng_for(number, "driving style"), codes, "train"), **style})


def visible(made):
    """Return how many pixels show each thing of a scene."""
    seen = np.bincount(label_pixels(made).things.ravel(), minlength=len(made.things) + 1)
    return dict(zip(made.things, seen[1:].tolist(), strict=True))


def seen(held, width=235, height=194):
    """Return a picture and the pixels of each of its things."""
    made = SddOia(width=width, height=height).scene(held)
    shot = shoot(made, quality="draft")
    return shot.image.astype(int), {name: shot.things == place + 1 for place, name in enumerate(made.things)}


def test_each_concept_that_holds_has_its_thing():
    for number in range(20):
        rng = rng_for(number, "facts")
        true = {name for name in NAMES if rng.integers(2)}
        things = set(TASK.scene(world(number, *true)).things)
        assert things - {"other_sign"} == true - {"clear"}
        assert not ("other_sign" in things and "stop_sign" in true)


def test_nothing_hides_behind_anything_even_where_all_are_there():
    for number in range(24):
        for name, pixels in visible(TASK.scene(world(number, *NAMES))).items():
            assert pixels >= LEAST, (number, name)


def test_small_and_wide_pictures_show_the_whole_scene():
    for width, height in ((TASK.config.width // 2, TASK.config.height // 2), (448, 252), (300, 400)):
        shown = visible(SddOia(width=width, height=height).scene(world(2, *NAMES)))
        assert min(shown.values()) > 20 and len(shown) == 21


def test_things_stand_in_several_places_and_days_look_unlike():
    middles = {name: [] for name in CONCEPTS if name != "clear"}
    for number in range(16):
        made = SddOia(width=235, height=194).scene(world(number, *NAMES))
        things = label_pixels(made).things
        for name in middles:
            middles[name].append(np.argwhere(things == made.things.index(name) + 1).mean(axis=0))
    assert all(np.ptp(places, axis=0).max() > 3 for places in middles.values())
    days = [seen(world(3, day=day))[0] for day in TASK.style_choices["day"]]
    assert all((np.abs(one - other).max(axis=2) > 20).mean() > 0.1 for one, other in combinations(days, 2))


def test_lamps_are_lit_in_their_colours_and_dark_otherwise():
    for lamp in ("red_light", "green_light", "left_green_light", "right_green_light"):
        image, masks = seen(world(3, lamp))
        red, green, _ = image[masks[lamp]].mean(axis=0)
        assert red > 2 * green if lamp == "red_light" else green > 1.3 * red
        dark, _ = seen(world(3))
        assert image[masks[lamp]].max() > 150 > dark[masks[lamp]].mean()


def test_arrows_of_the_signals_point_their_way():
    """An arrow has more of its lit pixels on the side of its tip; the middle one is alike on both sides."""
    leaning = {}
    for side in ("left_", "", "right_"):
        made = SddOia(width=1400, height=1160).scene(world(3, f"{side}green_light"))
        columns = np.nonzero(label_pixels(made).things == made.things.index(f"{side}green_light") + 1)[1]
        leaning[side] = np.mean(columns) - (columns.min() + columns.max()) / 2
    assert leaning["left_"] < leaning[""] - 1 and leaning["right_"] > leaning[""] + 1, leaning


@pytest.mark.parametrize("number", range(4))
def test_left_is_left_and_right_is_right(number):
    made = TASK.scene(world(number, *NAMES))
    things = label_pixels(made).things
    middle = {name: np.nonzero(things == place + 1)[1].mean() for place, name in enumerate(made.things)}
    for part in ("lane", "green_light", "follow", "obstacle", "solid_line"):
        assert middle[f"left_{part}"] < middle[f"right_{part}"]
    assert middle["no_left_lane"] < TASK.config.width / 2 < middle["no_right_lane"]


def test_a_solid_line_has_no_gaps():
    held = {"day": "clear", "line": [0, 0.2, 0.2]}
    solid, masks = seen(world(7, "left_solid_line", **held), TASK.config.width, TASK.config.height)
    dashed, _ = seen(world(7, **held), TASK.config.width, TASK.config.height)
    gaps = np.abs(solid - dashed).max(axis=2) > 40
    share = gaps[masks["left_solid_line"]].mean()
    assert 0.25 < share < 0.8  # the rest is dashes
    assert solid[masks["left_solid_line"]].mean() > 1.5 * dashed[gaps & masks["left_solid_line"]].mean()


def test_objects_stand_on_the_road():
    for number in range(5):
        made = TASK.scene(world(number, "car", "person", "rider", "other_obstacle", "follow"))
        for one in made.instances:
            if one.thing in ("car", "person", "rider", "other_obstacle", "follow"):
                assert (one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3])[:, 2].min() > -0.05, one.thing


def test_models_are_closed_and_face_outwards():
    """So that they look alike from both sides, and throw whole shadows: the volume of each is positive."""
    meshes = {id(one.mesh): one.mesh for n in range(12) for one in TASK.scene(world(n, *NAMES)).instances if one.thing}
    for mesh in meshes.values():
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0, mesh.name


def test_styles_know_nothing_of_the_concepts():
    first, second = np.zeros(22, dtype=int), np.ones(22, dtype=int)
    styles = [TASK.style(rng_for(4, "style"), codes.tolist(), "train") for codes in (first, second)]
    assert styles[0] == styles[1]
