"""Models and scenes by hand: where each piece is and what paint it has, and what each number of a style does."""

import numpy as np
import pytest

from assay.families.driving.drawing import cars, obstacles, people, road, signals, town
from assay.families.driving.drawing.model import (
    PAINTS,
    ball,
    extrude_front,
    extrude_side,
    lamp_material,
    limb,
    paint,
    piece,
    place,
    ring,
    wheel,
)
from assay.families.driving.drawing.scene import (
    AMBULANCE,
    ELSEWHERE,
    HEIGHT,
    LINES,
    SPOTS,
    WIDTH,
    draw_style,
    traffic_scene,
)
from assay.families.driving.rules import CONCEPTS
from assay.render import box, linear_rgb, mesh_of
from assay.seeds import rng_for

NAMES = (*CONCEPTS, "emergency")
STILL = {
    **{"camera": [0.0] * 4, "day": "clear", "sun": [90, 0.5], "surface": [1, 2], "line": [1, 0.25, 0.5], "arrow": 0.5},
    **{"mirrored": False, "elsewhere": [], "sign": "none", "sign_side": "left", "crossing": "plain", "bonnet": 3},
    **{"town": [], "first": 1},
    "things": {
        **{name: ["sedan", 13, 0.0, 0.0, 0.0] for name in ("follow", "car", "left_follow", "right_follow")},
        **{"person": ["first", 141, 0.0, 0.0, 0.0], "rider": ["bicycle", 141, 0.0, 0.0, 0.0]},
        **{"other_obstacle": ["rock", 0, 0.0, 0.0, 0.0]},
        **{name: ["skip", 0, 0.0, 0.0, 0.0] for name in ("left_obstacle", "right_obstacle")},
    },
}
"""A style without any jitter."""


def scene(*true, width=WIDTH, height=HEIGHT, **style):
    return traffic_scene({name: name in true for name in NAMES}, {**STILL, **style}, width, height)


def moved(name, jitter):
    kind, tone, *_ = STILL["things"][name]
    return {"things": {**STILL["things"], name: [kind, tone, *jitter]}}


def bounds(points):
    return [round(float(x), 3) for x in (*points.min(axis=0), *points.max(axis=0))]


def reach(solid):
    """Return the lowest and the highest corner of a solid."""
    return [round(float(x), 3) for x in solid.bounding_box()]


def instances(made, thing):
    return [one for one in made.instances if one.thing == thing]


def named(made, name):
    return [one for one in made.instances if one.mesh.name == name]


def points(one):
    return one.mesh.vertices @ one.matrix[:3, :3].T + one.matrix[:3, 3]


def pieces(model):
    return {one.mesh.name: one for one in model}


# -- shapes that models share ------------------------------------------------------------------------------------------


def test_paints_are_screen_colours_with_roughness_and_metal():
    made = paint(255, 0, 128, 0.3, 0.7)
    assert made.color == linear_rgb(255, 0, 128) and (made.roughness, made.metallic, made.emission) == (0.3, 0.7, 0.0)
    lamp = lamp_material(10, 20, 30, 1.7)
    assert (lamp.metallic, lamp.roughness, lamp.emission) == (0.0, 0.5, 1.7) and lamp_material(1, 1, 1).emission == 1.2


def test_a_placed_model_has_its_thing_and_its_own_paints_first():
    model = (piece("a", box(1, 1, 1), "red"), piece("b", box(2, 1, 1), "body"))
    own = {"body": paint(1, 2, 3), "red": paint(4, 5, 6)}
    matrix = np.diag([2.0, 1.0, 1.0, 1.0])
    first, second = place(model, matrix, "car", own)
    assert (first.material, second.material) == (own["red"], own["body"]) and first.thing == second.thing == "car"
    assert (first.matrix == matrix).all() and first.mesh is model[0].mesh
    assert place(model[:1], matrix)[0].material == PAINTS["red"] and place(model[:1], matrix)[0].thing == ""


def test_a_crease_keeps_edges_sharp():
    ball_ = ball((0, 0, 0), 1.0)
    smooth, sharp = piece("ball", ball_, "red", 60.0), piece("ball", ball_, "red", 1.0)
    assert len(sharp.mesh.vertices) > 3 * len(smooth.mesh.vertices)


def test_limbs_balls_and_outlines_lie_where_they_should():
    assert reach(limb((0, 0, 0), (0, 0, 2), 0.5)) == pytest.approx([-0.5, -0.5, -0.5, 0.5, 0.5, 2.5], abs=0.02)
    assert reach(limb((0, 0, 0), (0, 0, 2), 0.5, 0.1)) == pytest.approx([-0.5, -0.5, -0.5, 0.5, 0.5, 2.1], abs=0.02)
    assert reach(ball((1, 2, 3), 0.5, (2, 1, 0.5))) == pytest.approx([0, 1.5, 2.75, 2, 2.5, 3.25], abs=0.03)
    outline = [(0, 0), (3, 0), (3, 1)]  # y and z
    assert reach(extrude_side(outline, 4)) == pytest.approx([-2, 0, 0, 2, 3, 1])
    assert reach(extrude_front(outline, 4)) == pytest.approx([0, 0, 0, 3, 4, 1])
    assert reach(ring(2.0, 0.25)) == pytest.approx([-2.25, -2.25, -0.25, 2.25, 2.25, 0.25], abs=0.02)
    assert ring(2.0, 0.25).volume() == pytest.approx(2 * np.pi * 2 * np.pi * 0.25**2, rel=0.08)
    assert reach(wheel(0.4, 0.2)) == pytest.approx([-0.1, -0.4, 0.0, 0.1, 0.4, 0.8], abs=0.02)
    bevel = np.pi * 0.4 * 0.048**2 * 2  # about what the two edges lack
    assert wheel(0.4, 0.2).volume() == pytest.approx(np.pi * 0.16 * 0.2 * 0.99 - bevel, rel=0.01)


# -- cars --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", cars.KINDS)
def test_cars_have_their_pieces_where_they_belong(kind):
    shape = cars.SHAPES[kind]
    parts = pieces(cars.car(kind))
    half, wide = shape.length / 2, shape.width / 2
    paints = {name: one.paint for name, one in parts.items() if name != "blinkers"}
    assert paints == {
        **{"body": "body", "glass": "glass", "roof": "body", "tail lamps": "tail", "head lamps": "head"},
        **{"plates": "plate", "bumper": "dark", "tyres": "tyre", "hubs": "rim"},
    }
    body = bounds(parts["body"].mesh.vertices)
    assert body == pytest.approx([-wide, -half, 0.22, wide, half, shape.belt], abs=0.03)
    assert bounds(parts["roof"].mesh.vertices)[5] == pytest.approx(shape.roof + 0.02, abs=0.03)
    assert bounds(parts["glass"].mesh.vertices)[1::3] == pytest.approx(
        [shape.below[0] - 0.01, shape.below[1] + 0.01], abs=0.01
    )
    low = bounds(parts["glass"].mesh.vertices)
    assert low[2] == pytest.approx(shape.belt) and low[3] == pytest.approx(wide - 0.08 + 0.01)
    tails, heads = (bounds(parts[name].mesh.vertices) for name in ("tail lamps", "head lamps"))
    assert tails[1] == pytest.approx(-half - 0.01) and heads[4] == pytest.approx(half)
    assert tails[2] == pytest.approx(shape.boot - 0.34) and heads[2] == pytest.approx(shape.bonnet - 0.3)
    assert tails[3] == -tails[0] == pytest.approx(wide - 0.28 + 0.17)
    tyres, hubs = (bounds(parts[name].mesh.vertices) for name in ("tyres", "hubs"))
    assert tyres == pytest.approx(
        [-wide + 0.01, -half + 0.82 - 0.33, 0, wide - 0.01, half - 0.86 + 0.33, 0.66], abs=0.02
    )
    assert hubs[2] == pytest.approx(0.33 * 0.38, abs=0.01) and hubs[5] == pytest.approx(0.33 * 1.62, abs=0.01)
    corners = parts["body"].mesh.vertices
    y, z = corners[:, 1], corners[:, 2]
    assert z[y > half - 0.221].max() == pytest.approx(shape.bonnet - 0.08, abs=1e-3)
    assert z[y > half - 0.019].max() < shape.bonnet - 0.19
    assert z[(y > shape.below[0] - 0.01) & (y < shape.below[1] + 0.01)].max() == pytest.approx(shape.belt, abs=1e-3)
    for y in (-half + 0.82, half - 0.86):  # no body in the arches of the wheels
        assert np.hypot(corners[:, 1] - y, corners[:, 2] - 0.33).min() > 0.38


@pytest.mark.parametrize("blinks", [-1, 0, 1])
def test_a_car_blinks_on_the_side_it_turns_to(blinks):
    lamps = [one for one in cars.car("hatch", blinks) if one.mesh.name == "blinkers"]
    sides = [np.sign(one.mesh.vertices[:, 0].mean()) for one in lamps]
    assert sides == [-1, 1]
    assert [one.paint for one in lamps] == ["amber_on" if side == blinks else "amber_off" for side in sides]
    for one in lamps:
        low, high = one.mesh.vertices.min(axis=0), one.mesh.vertices.max(axis=0)
        assert high[0] - low[0] == pytest.approx(0.22 if blinks else 0.14)
        assert high[1] - low[1] == pytest.approx(3.9 - 0.09 + 0.12)  # in front and behind
        assert low[2] == pytest.approx(0.94 - 0.34 - 0.16)


def test_pillars_join_roof_and_body():
    roof = pieces(cars.car("sedan"))["roof"].mesh.vertices
    low = roof[roof[:, 2] < 0.92 + 0.01]
    assert {round(float(y), 2) for _, y, _ in low} == {-1.6, -1.5, -0.3, -0.2, 0.8, 0.9}
    assert {int(np.sign(x)) for x in low[:, 0]} == {-1, 1} and np.abs(low[:, 0]).min() > 0.75


def test_an_ambulance_has_beacons_a_cross_and_stripes_on_its_bonnet():
    parts = pieces(cars.beacons())
    assert {name: one.paint for name, one in parts.items()} == {"beacons": "beacon", "feet": "dark", "cross": "red"}
    assert bounds(parts["beacons"].mesh.vertices) == pytest.approx([-0.97, 0.07, 0.15, 0.97, 0.29, 0.35], abs=0.01)
    cross = parts["cross"].mesh.vertices
    right = cross[(cross[:, 0] > 0.4)]
    ahead, behind = right[right[:, 1] > 0.3][:, 0].mean(), right[right[:, 1] < -0.3][:, 0].mean()
    assert ahead - behind == pytest.approx(0.78 * np.sin(np.radians(12)), abs=0.03)  # stripes run apart ahead
    bonnet = pieces(cars.bonnet())
    assert bonnet["bonnet"].paint == "body" and bonnet["ridges"].paint == "trim"
    assert bounds(bonnet["bonnet"].mesh.vertices) == pytest.approx([-1.35, -0.2, 0, 1.35, 0.75, 0.18], abs=0.01)


# -- people and obstacles ----------------------------------------------------------------------------------------------


def test_walkers_set_one_foot_or_the_other_before():
    for stride in (True, False):
        parts = pieces(people.walker(stride))
        shoes, hands = parts["shoes"].mesh.vertices, parts["hands"].mesh.vertices
        ahead = {side: np.sign(shoes[np.sign(shoes[:, 0]) == side][:, 1].mean() - 0.05) for side in (-1, 1)}
        assert ahead == ({-1: 1, 1: -1} if stride else {-1: -1, 1: 1})
        reach_of = {side: hands[np.sign(hands[:, 0]) == side][:, 1].mean() for side in (-1, 1)}
        assert np.sign(reach_of[1] - reach_of[-1]) == (1 if stride else -1)  # the arm of the other side
        assert {name: one.paint for name, one in parts.items()} == {
            **{"trousers": "trousers", "shoes": "black", "torso": "top", "sleeves": "top", "hands": "skin"},
            **{"neck and head": "skin", "hair": "hair"},
        }
        for side in (-1, 1):  # toes point ahead
            own = shoes[np.sign(shoes[:, 0]) == side]
            assert own[:, 1].max() - own[:, 1].min() == pytest.approx(0.07 + 0.15 + 0.055, abs=0.02)


def test_riders_sit_on_their_machines():
    bicycle, motorbike = pieces(people.rider("bicycle")), pieces(people.rider("motorbike"))
    assert {"saddle", "spokes", "frame"} <= set(bicycle) and {"engine", "tank", "visor"} <= set(motorbike)
    assert bounds(bicycle["tyres"].mesh.vertices) == pytest.approx([-0.045, -0.94, 0, 0.045, 0.98, 0.76], abs=0.02)
    assert bounds(motorbike["tyres"].mesh.vertices) == pytest.approx([-0.1, -0.95, 0, 0.1, 1.05, 0.66], abs=0.02)
    assert bounds(bicycle["frame"].mesh.vertices)[4] == pytest.approx(0.6 + 0.035, abs=0.01)  # the fork
    assert bounds(motorbike["engine"].mesh.vertices)[3] == pytest.approx(0.26, abs=0.01)  # the pipe, on the right


@pytest.mark.parametrize(
    ("kind", "paints"),
    [
        ("cones", {"cones": "orange", "bands": "white"}),
        ("crates", {"crates": "wood", "slats": "bark"}),
        ("rock", {"rock": "rock"}),
        ("tyres", {"tyres": "tyre"}),
        ("barrier", {"red boards": "red", "white boards": "white", "legs": "steel", "lamps": "amber_on"}),
        ("blocks", {"blocks": "concrete", "marks": "orange"}),
        ("skip", {"skip": "yellow", "rubble": "rock"}),
    ],
)
def test_obstacles_are_made_of_their_pieces_and_stand_on_the_ground(kind, paints):
    model = obstacles.obstacle(kind)
    assert {one.mesh.name: one.paint for one in model} == paints
    assert min(one.mesh.vertices[:, 2].min() for one in model) >= -0.02


def test_a_barrier_is_a_chequered_board():
    parts = pieces(obstacles.obstacle("barrier"))
    red, white = (parts[f"{colour} boards"].mesh.vertices for colour in ("red", "white"))
    assert bounds(np.concatenate([red, white]))[::3] == pytest.approx([-1.25, 1.25])
    step = 2.5 / 6
    for row, low in enumerate((0.42, 0.82)):
        found = red[np.isclose(red[:, 2], low)][:, 0]
        starts = {-1.25 + step * (place + end) for place in range(row, 6, 2) for end in (0, 1)}
        assert sorted({round(float(x), 3) for x in found}) == sorted(round(x, 3) for x in starts)


def test_details_of_obstacles():
    bands = pieces(obstacles.obstacle("cones"))["bands"].mesh.vertices
    assert {round(float(z), 2) for z in bands[:, 2]} == {0.24, 0.37, 0.48, 0.61}
    skip = pieces(obstacles.obstacle("skip"))["skip"].mesh
    assert (np.abs(skip.vertices[:, 0]) < 0.81).any()  # it is hollow
    slats = pieces(obstacles.obstacle("crates"))["slats"].mesh.vertices
    right = slats[slats[:, 0] > 0.2]
    slope = np.polyfit(right[:, 0], right[:, 1], 1)[0]
    assert slope == pytest.approx(np.tan(np.radians(18)), abs=0.12)
    marks = pieces(obstacles.obstacle("blocks"))["marks"].mesh.vertices
    assert marks[:, 1].max() < -0.1  # towards us
    rock = pieces(obstacles.obstacle("rock"))["rock"].mesh.vertices
    assert rock[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    tyres = pieces(obstacles.obstacle("tyres"))["tyres"].mesh.vertices
    assert tyres[tyres[:, 0] > 0.1][:, 2].max() == pytest.approx(0.38 + 0.13, abs=0.01)
    assert tyres[tyres[:, 0] < 0][:, 2].max() == pytest.approx(0.62 + 0.13, abs=0.01)


# -- signals and town --------------------------------------------------------------------------------------------------


def test_the_gantry_has_a_housing_for_each_head():
    parts = pieces(signals.gantry())
    housings = parts["housings"].mesh.vertices
    for x, low in ((-3.3, 7 - 0.26 - 1.12), (0.0, 7 - 0.26 - 2.24), (3.3, 7 - 0.26 - 1.12)):
        own = housings[np.abs(housings[:, 0] - x) < 1]
        assert own[:, 2].min() == pytest.approx(low) and own[:, 2].max() == pytest.approx(7.0)
    assert [parts[name].paint for name in ("gantry", "frames", "housings")] == ["steel", "white", "black"]


def test_arrows_of_lamps_are_turned_and_red_is_round():
    def tip(name):
        corners = signals.lamp(name)[0].mesh.vertices
        return corners[:, [0, 2]].mean(axis=0), corners

    left, right, ahead = (tip(f"{side}green_light")[1] for side in ("left_", "right_", ""))
    assert np.ptp(left[:, 0]) == pytest.approx(0.76 * 1.15, abs=0.01) == np.ptp(right[:, 0])
    assert left[:, 0].min() == pytest.approx(-0.4 * 1.15, abs=0.01) and right[:, 0].max() == pytest.approx(
        0.46, abs=0.01
    )
    assert ahead[:, 2].max() == pytest.approx(0.46, abs=0.01)
    round_, hood = signals.lamp("red_light")
    assert bounds(round_.mesh.vertices) == pytest.approx([-0.5, -0.06, -0.5, 0.5, 0.0, 0.5], abs=0.01)
    assert hood.paint == "black" and hood.mesh.vertices[:, 2].min() > -0.25
    assert hood.mesh.vertices[:, 2].max() == pytest.approx(0.57, abs=0.01)
    assert signals.lamp("green_light")[0].paint == "lamp"


@pytest.mark.parametrize("lit", [False, True])
def test_lamps_that_are_lit_glow_in_their_colour(lit):
    red, green = signals.lamp_paint("red_light", lit), signals.lamp_paint("left_green_light", lit)
    assert (red.emission > 0) == (green.emission > 0) == lit
    assert red.color[0] > red.color[1] and green.color[1] > green.color[0]


def test_letters_stand_upright_side_by_side_around_the_origin():
    solid = signals.letters("T5", 0.5)
    assert reach(solid) == pytest.approx([-0.351, -0.03, -0.251, 0.351, 0.0, 0.251], abs=0.003)
    stem = signals.letters("T", 1.0)
    assert stem.volume() == pytest.approx(7 * 0.2 * 0.2 * 0.03, rel=0.05)
    upper = stem.trim_by_plane((0, 0, 1), 0.3)
    assert reach(upper)[0] == pytest.approx(-0.3, abs=0.01) and upper.volume() == pytest.approx(
        3 * 0.04 * 0.03, rel=0.1
    )


def test_signs_have_their_plates_and_letters():
    def volume(name):
        mesh = pieces(signals.sign(name))["digits"].mesh
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        return float((a * np.cross(b, c)).sum() / 6)

    assert {name: [one.paint for one in signals.sign(name)] for name in ("stop", "priority", "limit30")} == {
        **{"stop": ["white", "red", "white"], "priority": ["white", "yellow"], "limit30": ["red", "white", "black"]}
    }
    assert volume("limit30") == pytest.approx(volume("limit50"), rel=0.02) and volume("limit30") > 0
    for number in ("30", "50"):
        digits = mesh_of("digits", signals.letters(number, 0.48).translate((0, -0.09, 0)))
        assert (pieces(signals.sign(f"limit{number}"))["digits"].mesh.vertices == digits.vertices).all()
    stop, priority = (pieces(signals.sign(name))["border"].mesh.vertices for name in ("stop", "priority"))
    assert stop[:, 2].max() == pytest.approx(0.86 * np.cos(np.pi / 8), abs=1e-3)  # it stands on a side
    assert priority[:, 2].max() == pytest.approx(0.8, abs=1e-3)  # and this on a corner
    assert signals.plate(4, 1.0).bounding_box()[5] == pytest.approx(np.sqrt(0.5), abs=1e-3)
    assert reach(signals.disc(0.5, 0.2))[1::3] == pytest.approx([-0.2, 0.0])


@pytest.mark.parametrize(("day", "heights"), [("clear", (35, 65)), ("evening", (16, 28))])
def test_the_sun_stands_between_its_least_and_greatest_height(day, heights):
    for azimuth, height in ((0, 0.0), (90, 1.0), (200, 0.25)):
        sky, sun, exposure = town.daylight(day, azimuth, height)
        up = np.radians(heights[0] + height * (heights[1] - heights[0]))
        around = np.radians(azimuth)
        wanted = [np.cos(up) * np.sin(around), np.cos(up) * np.cos(around), np.sin(up)]
        assert sun.direction == pytest.approx(wanted) and exposure == town.WEATHER[day].exposure
        assert (sky.zenith, sky.horizon) == (town.WEATHER[day].zenith, town.WEATHER[day].horizon)
        assert (sun.strength, sun.angle, sun.color) == (
            town.WEATHER[day].strength, town.WEATHER[day].angle, town.WEATHER[day].color
        )  # fmt: skip


def test_buildings_have_their_windows_in_all_four_walls():
    block = pieces(town.building("block"))["windows"].mesh.vertices
    assert bounds(block) == pytest.approx([-4.54, -3.54, 1.2, 4.54, 3.54, 7.6])
    front = block[np.isclose(block[:, 1], -3.54)]
    assert {round(float(x), 3) for x in front[:, 0]} == {round(9 * ((k + 0.5) / 4 - 0.5) + s, 3) for k in range(4) for s in (-0.5, 0.5)}  # fmt: skip
    side = block[np.isclose(block[:, 0], 4.54)]
    assert {round(float(y), 3) for y in side[:, 1]} == {round(7 * ((k + 0.5) / 4 - 0.5) + s, 3) for k in range(4) for s in (-0.5, 0.5)}  # fmt: skip
    assert {round(float(z), 2) for z in front[:, 2]} == {1.2, 2.6, 3.7, 5.1, 6.2, 7.6}
    assert set(pieces(town.building("tree"))) == set(pieces(town.building("poplar"))) == {"trunk", "crown"}
    assert set(pieces(town.building("house"))) == {"walls", "roof", "windows"}


def test_colours_of_buildings_go_round():
    assert town.colours("poplar", 5) == town.colours("tree", 1) == {"leaves": paint(*town.LEAVES[1], 0.95)}
    house = town.colours("house", 8)
    assert house["wall"] == paint(*town.WALLS[2], 0.9) and house["roof"] == paint(96, 72, 56, 0.85)


# -- the road ----------------------------------------------------------------------------------------------------------


def test_specks_are_fine_and_coarse_around_their_colour():
    tile = road._speckled("test", (100, 150, 200), 0.1).astype(float)
    assert tile.shape == (128, 128, 3) and tile.mean(axis=(0, 1)) == pytest.approx([100, 150, 200], rel=0.02)
    assert tile.std() > 5 and (tile[:, :, 0] / 100).std() == pytest.approx(0.1 * np.hypot(0.6, 0.4), rel=0.1)
    blocks = (tile[:, :, 0] / 100 - 1).reshape(16, 8, 16, 8).mean(axis=(1, 3))
    assert blocks.std() == pytest.approx(0.1 * np.hypot(0.4, 0.6 / 8), rel=0.15)
    assert (road._speckled("test", (100, 150, 200), 0.1) == tile).all()
    assert (road._speckled("other", (100, 150, 200), 0.1) != tile).any()


def test_asphalt_and_grass_have_their_ages_and_seasons():
    assert [road.asphalt(k).color for k in range(3)] == [linear_rgb(g, g, g + 3) for g in (74, 86, 98)]
    assert road.grass(2).color == linear_rgb(128, 130, 70) and road.ground(1).material == road.grass(1)
    assert road.asphalt(0).texture.size == (4.0, 4.0) and road.grass(0).texture.size == (3.0, 3.0)
    grey, green = (road.asphalt(1).texture.pixels[..., 0] / 86.0, road.grass(1).texture.pixels[..., 0] / 104.0)
    assert abs(np.corrcoef(grey.ravel(), green.ravel())[0, 1]) < 0.1  # their specks are their own


def test_dashes_end_before_the_stop_line():
    dashes = road._dashes()
    starts = sorted({round(float(y), 3) for y in dashes.vertices[::4, 1]})
    assert starts[0] == -9.4 and np.diff(starts) == pytest.approx(np.full(len(starts) - 1, 3.4))
    assert starts[-1] < 21.5 - 1.5 - 1.7 <= starts[-1] + 3.4
    assert dashes.vertices[:, 1].max() == pytest.approx(starts[-1] + 1.5)
    assert dashes.faces.max() == len(dashes.vertices) - 1 and len(dashes.faces) == 2 * len(starts)


def test_joined_shapes_keep_their_own_corners():
    first, second = road._strip("a", 0, 0, 1, 1, 0.0), road._strip("b", 2, 0, 3, 1, 0.5)
    both = road._joined("both", [first, second])
    assert both.faces.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]] and both.normals.shape == (8, 3)
    assert both.vertices[4:].tolist() == second.vertices.tolist()


def test_arrows_branch_to_their_side():
    left, right, ahead = (road._arrow(way).vertices for way in ("left", "right", "ahead"))
    assert right[:, 0].max() == pytest.approx(1.35) and left[:, 0].min() == pytest.approx(-1.35)
    assert ahead[:, 1].max() == pytest.approx(4.6) and np.abs(ahead[:, 0]).max() == pytest.approx(0.42)
    made = road.arrows(True, False, LINES[0], 5.0)
    assert [one.thing for one in made] == ["", "left_lane"] and made[1].matrix[:3, 3].tolist() == [0, 5.0, 0.02]
    assert [one.thing for one in road.arrows(False, True, LINES[0], 5.0)] == ["", "right_lane"]
    assert len(road.arrows(False, False, LINES[0], 5.0)) == 1 and len(road.arrows(True, True, LINES[0], 5.0)) == 3


@pytest.mark.parametrize(("side", "sign"), [("left", -1), ("right", 1)])
def test_what_is_beside_our_lane(side, sign):
    lane, kerb = road.beside(side, False, 0, 2)
    assert lane.material == road.asphalt(0) and lane.thing == kerb.thing == ""
    assert bounds(lane.mesh.vertices) == pytest.approx([*sorted((1.8 * sign, 5.4 * sign))[:1], -6.0, 0.01, *sorted((1.8 * sign, 5.4 * sign))[1:], 21.5, 0.01])  # fmt: skip
    verge, inner = road.beside(side, True, 0, 2)
    assert verge.material == road.grass(2) and verge.thing == inner.thing == f"no_{side}_lane"
    for one, edge in ((kerb, 5.4), (inner, 1.8)):
        corners = one.mesh.vertices * [sign, 1, 1]
        along = corners[corners[:, 1] < 20]
        assert (along[:, 0].min(), along[:, 0].max()) == pytest.approx((edge, edge + 0.2))
        near = corners[(corners[:, 1] > 21) & (corners[:, 1] < 22)]
        far = corners[corners[:, 1] > 29]
        assert (near[:, 0].min(), near[:, 0].max()) == pytest.approx((edge, edge + 80))
        assert (far[:, 0].min(), far[:, 0].max()) == pytest.approx((5.4, 85.4))
        assert (far[:, 1].min(), far[:, 1].max()) == pytest.approx((29.5, 29.7))


def test_lines_lie_at_the_edge_of_our_lane():
    solid, dashed = road.line("left", True, LINES[1], 0.5), road.line("right", False, LINES[1], 0.5)
    assert solid.matrix[:3, 3].tolist() == pytest.approx([-1.66, 0, 0]) and solid.thing == "left_solid_line"
    assert dashed.matrix[:3, 3].tolist() == pytest.approx([1.66, 1.7, 0]) and dashed.thing == ""
    assert bounds(solid.mesh.vertices)[1::3] == pytest.approx([-6.0, 20.3]) and dashed.mesh is road._dashes()


@pytest.mark.parametrize(("right", "left"), [(False, False), (True, False), (False, True), (True, True)])
def test_the_stop_line_crosses_the_lanes_that_there_are(right, left):
    ends = bounds(road.stop_line(LINES[0], right, left).mesh.vertices)
    assert ends == pytest.approx([-5.2 if left else -1.6, 20.3, 0.03, 5.2 if right else 1.6, 20.7, 0.03])


def test_footways_run_on_both_sides():
    made = road.pavement(2)
    assert [one.mesh.name for one in made] == ["our lane", "crossing", "beyond", *["footway", "footway beyond"] * 2]
    ways = [bounds(one.mesh.vertices)[::3] for one in made if one.mesh.name == "footway"]
    assert ways[0] == pytest.approx([-7.4, -5.6]) and ways[1] == pytest.approx([5.6, 7.4])
    assert made[0].material == road.asphalt(2) and made[3].material == road.SLABS


def test_crossings_are_plain_striped_paved_or_hatched():
    assert road.crossing("plain") == []
    zebra, paved, hatched = (road.crossing(kind)[0] for kind in ("zebra", "paved", "hatched"))
    assert (zebra.material, paved.material, hatched.material) == (road.STRIPES, road.BRICK, road.BOX)
    stripes = zebra.mesh.vertices
    assert len(stripes) == 4 * 10 and bounds(stripes) == pytest.approx([-5.1, 27.3, 0.02, 4.4, 29.3, 0.02])
    lines = hatched.mesh.vertices
    assert bounds(lines) == pytest.approx([-5.0, 22.1, 0.02, 5.2, 28.9, 0.02], abs=0.01)
    assert len(lines) == 4 * (4 + 2 * 4)
    ways = [np.sign(quad[3, 0] - quad[0, 0]) for quad in lines.reshape(-1, 4, 3)[4:]]
    assert ways == [1, -1] * 4
    assert bounds(paved.mesh.vertices) == pytest.approx([-5.4, 21.5, 0.015, 5.4, 29.5, 0.015])


# -- scenes ------------------------------------------------------------------------------------------------------------


def test_the_eye_and_the_view_follow_the_jitter_of_the_camera():
    still, shaken = scene().camera, scene(camera=[1.0, -1.0, 1.0, 0.5]).camera
    assert still.eye == pytest.approx((0.0, 0.0, 3.2)) and shaken.eye == pytest.approx((0.2, 0.0, 3.05))
    assert still.target == pytest.approx((0, 1, 3.2 - np.tan(np.radians(6))))
    yaw, pitch = np.radians(1.5), np.radians(-6 + 0.4)
    assert shaken.target == pytest.approx((0.2 + np.sin(yaw), np.cos(yaw), 3.05 + np.tan(pitch)))
    assert still.fov == pytest.approx(np.degrees(2 * np.arctan(469 / 2 / 375)))
    for width, height, focal in ((469, 774, 375), (938, 387, 375), (938, 774, 750), (100, 387, 375 * 100 / 469)):
        assert scene(width=width, height=height).camera.fov == pytest.approx(
            np.degrees(2 * np.arctan(width / 2 / focal))
        )


def test_the_bonnet_moves_with_the_eye():
    def middle(**style):
        return points(named(scene(**style), "bonnet")[0]).mean(axis=0)

    assert middle()[0] == pytest.approx(0, abs=0.01) and middle()[1] > 1.8 and 1.2 < middle()[2] < 2.0
    assert middle(camera=[1.0, 0, 0, 0]) - middle() == pytest.approx([0.2, 0, 0], abs=1e-6)
    assert middle(camera=[0, 1.0, 0, 0]) - middle() == pytest.approx([0, 0, 0.15], abs=1e-6)
    right = middle(camera=[0, 0, 1.0, 0]) - middle()
    assert right[0] == pytest.approx(middle()[1] * np.sin(np.radians(1.5)), abs=0.01)  # it looks to the right, too
    up = middle(camera=[0, 0, 0, 1.0]) - middle()
    assert up[2] == pytest.approx(middle()[1] * np.sin(np.radians(0.8)), abs=0.01)


def test_the_bonnet_has_its_colour_or_that_of_an_ambulance():
    plain = named(scene(), "bonnet")[0]
    assert plain.material == paint(*cars.COLOURS[3], 0.35) and plain.thing == ""
    assert named(scene(), "ridges")[0].material == paint(*(int(0.8 * part) for part in cars.COLOURS[3]), 0.4)
    urgent = scene("emergency")
    assert named(urgent, "bonnet")[0].material == AMBULANCE["body"] and len(instances(urgent, "emergency")) == 5
    assert named(urgent, "beacons")[0].material == AMBULANCE["beacon"]
    without = traffic_scene(dict.fromkeys(CONCEPTS, False), STILL)
    assert not named(without, "beacons")


@pytest.mark.parametrize("name", SPOTS)
def test_things_stand_at_their_spots_and_are_moved_and_turned_by_jitter(name):
    spot = SPOTS[name]

    def matrix(**style):
        return instances(scene(name, **style), name)[0].matrix

    def turn(found):
        return np.degrees(np.arctan2(found[1, 0], found[0, 0]))

    plain = matrix()
    assert plain[:3, 3] == pytest.approx([spot.x, spot.y, 0]) and turn(plain) == pytest.approx(spot.turn)
    shaken = matrix(**moved(name, (0.5, -1.0, 0.25)))
    assert shaken[:3, 3] == pytest.approx([spot.x + 0.5 * spot.move[0], spot.y - spot.move[1], 0])
    assert turn(shaken) == pytest.approx(spot.turn + 0.25 * spot.swing)
    mirrored = matrix(mirrored=True, **moved(name, (0.5, 0.0, 0.25)))
    side = -1 if name in ("car", "person", "rider") else 1
    assert mirrored[0, 3] == pytest.approx(side * spot.x + 0.5 * spot.move[0])
    assert turn(mirrored) == pytest.approx(side * spot.turn + 0.25 * spot.swing)
    away = matrix(elsewhere=list(ELSEWHERE))[:3, 3] - plain[:3, 3]
    assert away == pytest.approx([*ELSEWHERE.get(name, (0.0, 0.0)), 0])


def test_things_are_of_their_kind_and_colour():
    made = scene("follow", "left_follow", "right_follow", "car", "person", "rider", "left_obstacle", "other_obstacle")
    assert instances(made, "follow")[0].material == paint(*cars.COLOURS[3], 0.3)  # 13 of ten
    blinking = {name: [one.material == PAINTS["amber_on"] for one in instances(made, name) if one.mesh.name == "blinkers"]
                for name in ("follow", "car", "left_follow", "right_follow")}  # fmt: skip
    assert blinking == {
        "follow": [False] * 2,
        "car": [False] * 2,
        "left_follow": [True, False],
        "right_follow": [False, True],
    }
    assert (
        instances(made, "left_obstacle")[0].mesh.name == "skip"
        and instances(made, "other_obstacle")[0].mesh.name == "rock"
    )
    walkers = [instances(scene("person", things={**STILL["things"], "person": [kind, 141, 0, 0, 0]}), "person")[0].mesh
               for kind in ("first", "second")]  # fmt: skip
    assert walkers == [people.walker(True)[0].mesh, people.walker(False)[0].mesh]
    riders = {one.mesh.name: one.material for one in instances(made, "rider")}
    assert riders["torso"] == paint(*people.CLOTHES[141 % 8], 0.85)
    assert riders["trousers"] == paint(*people.TROUSERS[141 // 8 % 4], 0.9)
    assert riders["head"] == paint(*people.SKINS[141 // 32 % 4], 0.7)
    assert riders["helmet"] == paint(*people.CLOTHES[(141 // 5 + 3) % 8], 0.25)
    assert riders["frame"] == paint(*cars.COLOURS[141 // 7 % 10], 0.3)
    hair = {one.mesh.name: one.material for one in instances(made, "person")}["hair"]
    assert hair == paint(*people.HAIRS[141 // 128 % 4], 0.9)


def test_lamps_hang_from_the_gantry_and_only_lit_ones_are_things():
    made = scene("red_light", "right_green_light")
    assert {one.thing for one in made.instances if one.mesh.name in ("lamp", "arrow", "hood")} == {
        *("", "red_light", "right_green_light")
    }
    red = instances(made, "red_light")[0]
    assert red.material == signals.RED_ON and red.matrix[:3, 3].tolist() == pytest.approx([0.0, 16.94, 6.31])
    right = instances(made, "right_green_light")[0]
    assert right.material == signals.GREEN_ON and right.matrix[:3, 3].tolist() == pytest.approx([3.3, 16.94, 6.31])
    assert sum(one.material == signals.GREEN_OFF for one in made.instances) == 2
    assert named(made, "gantry")[0].matrix[:3, 3].tolist() == [0, 17.0, 0]


@pytest.mark.parametrize(("side", "sign"), [("left", -1), ("right", 1)])
def test_signs_stand_on_their_side(side, sign):
    stop = instances(scene("stop_sign", sign_side=side), "stop_sign")
    assert [one.mesh.name for one in stop] == ["post", "border", "face", "letters"]
    assert stop[0].matrix[:3, 3].tolist() == pytest.approx([6.35 * sign, 13.8, 0])
    assert stop[1].matrix[:3, 3].tolist() == pytest.approx([6.35 * sign, 13.8, 3.1])
    other = instances(scene(sign="limit50", sign_side=side), "other_sign")
    assert [one.mesh.name for one in other] == ["post", "border", "face", "digits"]
    assert not instances(scene("stop_sign", sign="limit50"), "other_sign") and not scene(sign="none").things


def test_the_street_follows_facts_and_style():
    made = scene("no_left_lane", "right_solid_line", "left_lane")
    assert named(made, "left verge")[0].material == road.grass(2) and named(made, "right lane")[
        0
    ].material == road.asphalt(1)
    assert made.ground.material == road.grass(2)
    dashes, solid = named(made, "dashes")[0], named(made, "solid line")[0]
    assert dashes.material == solid.material == LINES[1]
    assert dashes.matrix[:3, 3].tolist() == pytest.approx([-1.66, 0.25 * 3.4, 0])
    assert named(scene(), "dashes")[1].matrix[:3, 3].tolist() == pytest.approx([1.66, 0.5 * 3.4, 0])
    stop = named(made, "stop line")[0]
    assert bounds(stop.mesh.vertices)[::3] == pytest.approx([-1.6, 5.2]) and stop.material == LINES[0]
    arrows = [one for one in named(made, "arrow") if one.matrix[2, 3] < 1]  # not those of the lamps
    assert [one.thing for one in arrows] == ["", "left_lane"] and arrows[0].material == LINES[0]
    assert arrows[0].matrix[1, 3] == pytest.approx(5.7)
    assert named(scene(crossing="zebra"), "zebra") and not named(made, "zebra")


def test_buildings_have_their_place_size_and_colours():
    made = scene(town=[["house", -15.5, 40.0, 0.9, 7], ["tree", 9.5, 12.0, 1.1, 2]])
    walls, crown = named(made, "walls")[0], named(made, "crown")[0]
    assert walls.matrix.tolist() == [[0.9, 0, 0, -15.5], [0, 0.9, 0, 40.0], [0, 0, 0.9, 0], [0, 0, 0, 1]]
    assert walls.material == paint(*town.WALLS[1], 0.9) and crown.material == paint(*town.LEAVES[2], 0.95)
    assert crown.matrix[:3, 3].tolist() == [9.5, 12.0, 0] and crown.thing == ""


def test_styles_vary_over_their_whole_ranges():
    made = [draw_style(rng_for(k, "ranges")) for k in range(500)]
    assert {one["first"] for one in made} == {0, 1, 2, 3} and {one["bonnet"] for one in made} == set(range(10))
    assert max(one["sun"][0] for one in made) > 350 and min(one["sun"][0] for one in made) < 10
    assert {tuple(one["surface"]) for one in made} == {(a, b) for a in range(3) for b in range(3)}
    assert {one["line"][0] for one in made} == {0, 1} and {one["mirrored"] for one in made} == {False, True}
    assert {one["sign"] for one in made} == set(signals.SIGNS) and {one["day"] for one in made} == set(town.DAYS)
    cameras = np.array([one["camera"] for one in made])
    assert cameras.min() < -0.98 and cameras.max() > 0.98 and (np.round(cameras, 3) == cameras).all()
    tones = [one["things"]["person"][1] for one in made]
    assert min(tones) < 20 and max(tones) > 980
    for name, kinds in {"car": cars.KINDS, "rider": people.BIKES, "other_obstacle": obstacles.LOW,
                        "right_obstacle": obstacles.LARGE, "person": ("first", "second")}.items():  # fmt: skip
        assert {one["things"][name][0] for one in made} == set(kinds)


def test_towns_line_the_road_on_both_sides():
    listed = [building for k in range(300) for building in draw_style(rng_for(k, "town"))["town"]]
    assert len(listed) / 300 == pytest.approx(0.75 * 16, abs=0.4)
    kinds, xs, ys, sizes, tones = zip(*listed, strict=True)
    assert set(kinds) == set(town.KINDS) and set(tones) == set(range(12))
    assert min(map(abs, xs)) == pytest.approx(8.5, abs=0.1) and max(map(abs, xs)) == pytest.approx(30, abs=1.5)
    assert np.mean(np.array(xs) > 0) == pytest.approx(0.5, abs=0.05)
    assert (min(ys), max(ys)) == pytest.approx((9, 90), abs=1) and (min(sizes), max(sizes)) == pytest.approx((0.8, 1.15), abs=0.01)  # fmt: skip
    assert all(abs(x) < 13.1 for kind, x, *_ in listed if kind in ("tree", "poplar"))
