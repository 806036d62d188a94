"""Traffic scenes: what shows each concept is there, is seen, and looks like itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from assay.families.driving.drawing import cars, obstacles, people, signals, town
from assay.families.driving.drawing.road import CROSSINGS
from assay.families.driving.drawing.scene import ELSEWHERE, HEIGHT, SPOTS, WIDTH, draw_style, traffic_scene
from assay.families.driving.rules import CONCEPTS, OBSTACLES
from assay.render import Scene, label_pixels, shoot
from assay.seeds import rng_for

NAMES = (*CONCEPTS, "emergency")
LEAST = 200
"""How many pixels of a picture of the usual size show each concept, at least."""


def style(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {**draw_style(rng_for(number, "driving style")), **changes}


def facts(*true: str) -> dict[str, bool]:
    return {name: name in true for name in NAMES}


def visible(made: Scene) -> dict[str, int]:
    seen = np.bincount(label_pixels(made).things.ravel(), minlength=len(made.things) + 1)
    return dict(zip(made.things, seen[1:].tolist(), strict=True))


def seen(true: Mapping[str, bool], held: Mapping[str, Any], width: int = 235, height: int = 194) -> Any:
    made = traffic_scene(true, held, width, height)
    shot = shoot(made, quality="draft")
    return shot.image.astype(int), {name: shot.things == place + 1 for place, name in enumerate(made.things)}


def test_each_concept_that_holds_has_its_thing() -> None:
    for number in range(20):
        rng = rng_for(number, "facts")
        true = {name: bool(rng.integers(2)) for name in NAMES}
        held = style(number)
        signs = set() if true["stop_sign"] or held["sign"] == "none" else {"other_sign"}
        wanted = {name for name in NAMES if true[name] and name != "clear"} | signs
        assert set(traffic_scene(true, held).things) == wanted


def test_nothing_hides_behind_anything_even_where_all_are_there() -> None:
    for number in range(24):
        for name, pixels in visible(traffic_scene(dict.fromkeys(NAMES, True), style(number))).items():
            assert pixels >= LEAST, (number, name)


@pytest.mark.parametrize("name", [*SPOTS, "stop_sign"])
def test_a_concept_is_seen_at_several_places(name: str) -> None:
    still = {**style(1), "camera": [0.0] * 4}
    things = {other: [*drawn[:2], 0.0, 0.0, 0.0] for other, drawn in still["things"].items()}
    middles = []
    for first, elsewhere, side in ((False, [], "left"), (True, list(ELSEWHERE), "right")):
        held = {**still, "things": things, "mirrored": first, "elsewhere": elsewhere, "sign_side": side}
        made = traffic_scene(facts(name), held)
        shows = label_pixels(made).things == made.things.index(name) + 1
        assert shows.sum() >= LEAST
        middles.append(np.argwhere(shows).mean(axis=0))
    assert np.abs(middles[0] - middles[1]).max() > 3, "in pixels"


def test_places_and_crossings_are_drawn_equally_often() -> None:
    drawn = [style(number) for number in range(400)]
    assert {one["crossing"] for one in drawn} == set(CROSSINGS)
    for kind in CROSSINGS:
        assert 70 < sum(one["crossing"] == kind for one in drawn) < 130
    assert 160 < sum(one["sign_side"] == "left" for one in drawn) < 240
    for name in ELSEWHERE:
        assert 160 < sum(name in one["elsewhere"] for one in drawn) < 240


def test_crossings_differ_and_hide_nothing() -> None:
    true = dict.fromkeys(NAMES, True)
    made = {kind: traffic_scene(true, style(3, crossing=kind), 235, 194) for kind in CROSSINGS}
    counts = [visible(scene) for scene in made.values()]
    assert all(other == counts[0] for other in counts)
    images = [seen(facts(), style(3, crossing=kind), WIDTH, HEIGHT)[0] for kind in CROSSINGS]
    for place, image in enumerate(images):
        assert all((np.abs(image - other).max(axis=2) > 20).sum() > 60 for other in images[:place])


@pytest.mark.parametrize("mirrored", [False, True])
def test_every_kind_of_thing_is_seen_in_its_place(mirrored: bool) -> None:
    kinds = {"car": cars.KINDS, "follow": cars.KINDS, "rider": people.BIKES, "other_obstacle": obstacles.LOW}
    kinds |= dict.fromkeys(("left_obstacle", "right_obstacle"), obstacles.LARGE)
    for name, options in kinds.items():
        for kind in options:
            held = style(1, mirrored=mirrored)
            things = {**held["things"], name: [kind, 3, 0.0, 0.0, 0.0]}
            assert visible(traffic_scene(facts(name), {**held, "things": things}))[name] >= LEAST


def test_small_and_wide_pictures_show_the_whole_scene() -> None:
    for width, height in ((WIDTH // 2, HEIGHT // 2), (448, 252), (300, 400)):
        shown = visible(traffic_scene(dict.fromkeys(NAMES, True), style(2), width, height))
        assert min(shown.values()) > 20 and len(shown) == 21


def test_lamps_are_lit_in_their_colours_and_dark_otherwise() -> None:
    for lamp in signals.HEADS:
        image, masks = seen(facts(lamp), style(3))
        red, green, _ = image[masks[lamp]].mean(axis=0)
        assert red > 2 * green if lamp == "red_light" else green > 1.3 * red
        dark, _ = seen(facts(), style(3))
        assert image[masks[lamp]].max() > 150 > dark[masks[lamp]].mean()


def test_arrows_of_the_signals_point_their_way() -> None:
    arrows = {name: np.asarray(signals.lamp(name)[0].mesh.vertices) for name in signals.HEADS}
    tips = {name: points[np.hypot(points[:, 0], points[:, 2]).argmax()] for name, points in arrows.items()}
    assert tips["green_light"][2] > 0.4 and abs(tips["green_light"][0]) < 0.05
    assert tips["left_green_light"][0] < -0.4 and tips["right_green_light"][0] > 0.4


def test_left_is_left_and_right_is_right() -> None:
    pairs = ["lane", "green_light", "follow", "obstacle", "solid_line"]
    made = traffic_scene(dict.fromkeys(NAMES, True), style(5))
    things = label_pixels(made).things
    middle = {name: np.nonzero(things == place + 1)[1].mean() for place, name in enumerate(made.things)}
    for part in pairs:
        assert middle[f"left_{part}"] < middle[f"right_{part}"]
    assert middle["no_left_lane"] < WIDTH / 2 < middle["no_right_lane"]


def test_a_rider_rides_and_a_walker_walks() -> None:
    for kind in people.BIKES:
        assert {"tyres", "helmet"} <= {piece.mesh.name for piece in people.rider(kind)}
    assert not {"tyres", "frame"} & {piece.mesh.name for piece in people.walker()}


def test_cars_head_where_their_concept_says() -> None:
    def heading(name: str, mirrored: bool = False) -> np.ndarray:
        held = style(6, mirrored=mirrored)
        body = next(one for one in traffic_scene(facts(name), held).instances if one.thing == name)
        return np.asarray(body.matrix[:3, 1])

    assert heading("follow")[1] > 0.99
    for mirrored in (False, True):
        assert abs(heading("car", mirrored)[0]) > 0.98
    assert heading("left_follow")[0] < -0.7 and heading("right_follow")[0] > 0.7
    lit = {
        name: {piece.paint for piece in cars.car("sedan", blinks)}
        for name, blinks in (("turning", -1), ("following", 0))
    }
    assert "amber_on" in lit["turning"] and "amber_on" not in lit["following"]


def test_a_solid_line_has_no_gaps() -> None:
    held = style(7, day="clear", line=[0, 0.2, 0.2])
    solid, masks = seen(facts("left_solid_line"), held, WIDTH, HEIGHT)
    dashed, _ = seen(facts(), held, WIDTH, HEIGHT)
    gaps = np.abs(solid - dashed).max(axis=2) > 40
    share = gaps[masks["left_solid_line"]].mean()
    assert 0.25 < share < 0.8  # the rest is dashes
    assert solid[masks["left_solid_line"]].mean() > 1.5 * dashed[gaps & masks["left_solid_line"]].mean()


def test_meshes_are_made_once() -> None:
    first, second = (traffic_scene(dict.fromkeys(NAMES, True), style(8)) for _ in range(2))
    assert all(one.mesh is other.mesh for one, other in zip(first.instances, second.instances, strict=True))


def test_models_are_closed_and_face_outwards() -> None:
    models = [cars.car(kind) for kind in cars.KINDS] + [people.rider(kind) for kind in people.BIKES] + [people.walker()]
    models += [obstacles.obstacle(kind) for kind in (*obstacles.LOW, *obstacles.LARGE)]
    models += [signals.gantry(), cars.bonnet(), cars.beacons(), *(town.building(kind) for kind in town.KINDS)]
    models += [signals.sign(name) for name in ("stop", *signals.SIGNS[1:])]
    for model in models:
        for piece in model:
            a, b, c = (piece.mesh.vertices[piece.mesh.faces[:, k]] for k in range(3))
            assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0, piece.mesh.name
            whole = piece.mesh.faces[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-9]
            assert np.allclose(np.linalg.norm(piece.mesh.normals[whole], axis=2), 1.0, atol=1e-5)


def test_objects_stand_on_the_road() -> None:
    for number in range(5):
        for one in traffic_scene(facts(*SPOTS), style(number)).instances:
            if one.thing in SPOTS and one.thing in (*OBSTACLES, "follow"):
                lowest = (one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3])[:, 2].min()
                assert lowest > -0.05, (one.thing, one.mesh.name)
