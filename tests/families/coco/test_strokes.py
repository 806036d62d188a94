"""How one object and what is behind it are drawn: brush and backdrop by hand, and each look at its threshold."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from assay.families.coco.drawing import backdrop as backdrops
from assay.families.coco.drawing import people
from assay.families.coco.drawing import scene as scenes
from assay.families.coco.drawing.backdrop import BACKDROPS, BackdropCanvas, table
from assay.families.coco.drawing.brush import Appearance, Brush, coat, mirror, paint, shade
from assay.families.coco.drawing.scene import DRAWINGS, draw_scene
from assay.families.coco.scene_templates import HEIGHT, WIDTH
from assay.render import Letterbox, ellipse_points

RED = (200, 10, 10)


@dataclass
class Canvas:
    """A canvas that remembers what is drawn on it."""

    width: int = 640
    height: int = 480
    drawn: list = field(default_factory=list)

    @property
    def instances(self):
        return np.zeros((self.height, self.width))

    def polygon(self, points, *rest):
        self.drawn.append(("polygon", np.round(np.asarray(points, dtype=float), 4).tolist(), *rest))

    def line(self, points, *rest):
        self.drawn.append(("line", np.round(np.asarray(points, dtype=float), 4).tolist(), *rest))

    def ellipse(self, place, radii, colour):
        self.drawn.append(("ellipse", [round(float(x), 4) for x in (*place, *radii)], colour))

    @property
    def points(self):
        return [one[1] for one in self.drawn]


# -- the brush ---------------------------------------------------------------------------------------------------------


def brush(left=False, height=100.0):
    return Brush(Canvas(), 30.0, 200.0, height, left)


def test_spots_go_up_from_the_foot_and_to_the_left_where_an_object_looks_left():
    assert brush().at([(0.5, 0.25), (0, 1)]).tolist() == [[80, 175], [30, 100]]
    assert brush(left=True, height=40.0).at([(0.5, 0.25), (0, 1)]).tolist() == [[10, 190], [30, 160]]


def test_shapes_blocks_and_discs_are_polygons_on_the_canvas():
    made = brush()
    made.shape([(0, 0), (1, 0), (0, 0.5)], RED)
    made.block(-0.1, 0.2, 0.3, 0.6, RED)
    assert made.canvas.drawn == [
        ("polygon", [[30, 200], [130, 200], [30, 150]], RED),
        ("polygon", [[20, 180], [60, 180], [60, 140], [20, 140]], RED),
    ]
    made.disc(0.2, 0.5, 0.1, RED)
    made.disc(0.2, 0.5, 0.1, RED, 0.3)
    round_one, tall_one = made.canvas.points[2:]
    assert round_one == np.round(ellipse_points((50.0, 150.0), (10.0, 10.0)), 4).tolist()
    assert tall_one == np.round(ellipse_points((50.0, 150.0), (10.0, 30.0)), 4).tolist()


def test_round_corners_reach_a_third_of_the_shorter_side():
    made = brush()
    made.round_block(0.0, 0.0, 1.0, 0.5, RED)
    points = np.array(made.canvas.points[0])
    assert (
        points.shape == (20, 2)
        and points.min(axis=0).tolist() == [30, 150]
        and points.max(axis=0).tolist() == [130, 200]
    )
    reach = 16.0
    assert points[0].tolist() == [130, 150 + reach] and points[4].tolist() == [130 - reach, 150]
    assert points[5].tolist() == [30 + reach, 150] and points[10].tolist() == [30, 200 - reach]


def test_lines_are_at_least_half_a_pixel_wide_and_wide_ones_have_round_joints():
    made = brush()
    for width in (0.001, 0.0299, 0.03):
        made.stroke([(0, 0), (0.1, 0.2)], RED, width)
    made.ring(0.0, 0.5, 0.2, RED, 0.001)
    made.ring(0.0, 0.5, 0.2, RED, 0.05)
    ends = [[30, 200], [40, 180]]
    kinds = [(one[0], one[-1] if one[0] != "ellipse" else one[1]) for one in made.canvas.drawn]
    assert kinds == [
        ("line", 0.5),
        ("line", pytest.approx(2.99)),
        ("line", 3.0),
        ("ellipse", [*ends[0], 1.5, 1.5]),
        ("ellipse", [*ends[1], 1.5, 1.5]),
        ("polygon", 0.6),
        ("polygon", 5.0),
    ]
    assert made.canvas.points[0] == ends and made.canvas.drawn[5][2:4] == (None, RED)
    assert made.canvas.points[5] == np.round(ellipse_points((30.0, 150.0), (20.0, 20.0)), 4).tolist()


def test_a_shape_is_mirrored_from_its_right_half():
    assert mirror([(1, 4), (2, 3), (3, 0)]) == [(1, 4), (2, 3), (3, 0), (-3, 0), (-2, 3), (-1, 4)]


def test_colours_by_hue_strength_and_brightness():
    assert paint(0.0, 1.0, 1.0) == (255, 0, 0) and paint(1.0 / 3, 1.0, 0.5) == (0, 128, 0)
    assert paint(4 / 3, 0.5, 0.8) == paint(1 / 3, 0.5, 0.8) == (102, 204, 102)
    assert paint(0.0) == paint(0.0, 0.6, 0.75) == (191, 77, 77)
    assert shade((100, 200, 10), 0.5) == (50, 100, 5) and shade((100, 200, 10), 1.5) == (150, 255, 15)
    assert coat(Appearance(0.0, 0.72, 0.5)) == paint(0.0, 0.55 + 0.4 * 0.72, 0.55 + 0.4 * 0.72)
    assert coat(Appearance(0.25, 0.86, 0.5)) == paint(0.25, 0.05, 0.575)
    assert coat(Appearance(0.25, 1.0, 0.5)) == paint(0.25, 0.05, 0.95)


# -- what looks one way or another -------------------------------------------------------------------------------------

ABOVE, BELOW = "above", "below"  # on which side of a threshold the threshold itself looks otherwise
THRESHOLDS = [
    ("car", "pose", 0.72, ABOVE), ("car", "pose", 0.3, BELOW), ("car", "tone", 0.72, ABOVE),
    ("truck", "pose", 0.65, BELOW), ("bus", "pose", 0.72, ABOVE), ("train", "pose", 0.72, ABOVE),
    ("motorcycle", "pose", 0.5, ABOVE), ("traffic_light", "tone", 0.6, BELOW),
    ("traffic_light", "pose", 1 / 3, BELOW), ("traffic_light", "pose", 2 / 3, BELOW),
    ("chair", "pose", 0.4, ABOVE), ("chair", "pose", 0.7, ABOVE), ("couch", "pose", 0.5, ABOVE),
    ("couch", "tone", 0.4, ABOVE), ("bottle", "pose", 0.6, BELOW), ("bottle", "pose", 0.5, BELOW),
    ("cup", "pose", 0.7, ABOVE), ("bowl", "pose", 0.5, ABOVE), ("pizza", "pose", 0.65, ABOVE),
    ("pizza", "hue", 1 / 3, BELOW), ("pizza", "hue", 2 / 3, BELOW),
    ("dog", "pose", 0.6, ABOVE), ("cow", "hue", 0.5, ABOVE), ("cow", "pose", 0.66, ABOVE),
    ("sheep", "hue", 0.6, BELOW), ("sheep", "pose", 0.7, ABOVE), ("elephant", "pose", 0.62, ABOVE),
    ("person", "tone", 0.25, BELOW), ("person", "pose", 0.7, ABOVE), ("person", "pose", 0.35, ABOVE),
    ("person", "hue", 0.45, BELOW),
]  # fmt: skip


def drawing(name, height=100.0, **look):
    made = Brush(Canvas(), 100.0, 300.0, height)
    DRAWINGS[name](made, Appearance(**{"hue": 0.31, "tone": 0.41, "pose": 0.19, **look}))
    return made.canvas.drawn


@pytest.mark.parametrize(("name", "what", "at", "side"), THRESHOLDS)
def test_a_look_changes_just_at_its_threshold_and_not_beside_it(name, what, at, side):
    below, there, above = (drawing(name, **{what: at + step}) for step in (-1e-9, 0.0, 1e-9))
    if side == ABOVE:
        assert there == below != above
    else:
        assert there == above != below


@pytest.mark.parametrize(("hue", "colour"), [(0.02, 1), (0.04, 0), (0.13, 0), (0.22, 0), (0.24, 1), (0.9, 1)])
@pytest.mark.parametrize("pose", [0.2, 0.9])
def test_the_stripe_of_a_train_is_yellow_unless_the_train_nearly_is(hue, colour, pose):
    fills = [one[2] for one in drawing("train", hue=hue, pose=pose)]
    red, yellow = (214, 52, 44), (250, 214, 90)
    assert ((yellow if colour else red) in fills) and (red in fills) is not bool(colour)


def test_dark_buses_have_a_white_trim_and_bright_ones_a_dark_one():
    for tone in (0.1, 0.75, 0.95):
        for hue, pose in ((0.05, 0.2), (0.16, 0.2), (0.16, 0.9), (0.7, 0.9)):
            body = coat(Appearance(hue, tone, pose))
            trim = (245, 245, 242) if sum(body) < 480 else shade(body, 0.55)
            fills = [one[2] for one in drawing("bus", hue=hue, tone=tone, pose=pose)]
            assert trim in fills and body in fills


def test_one_lamp_of_a_traffic_light_is_lit():
    lamps = ((214, 52, 44), (246, 180, 52), (60, 196, 92))
    for pose, lit in ((0.1, 0), (0.5, 1), (0.9, 2)):
        fills = [one[2] for one in drawing("traffic_light", pose=pose)]
        assert [lamp in fills for lamp in lamps] == [place == lit for place in range(3)]
        assert [shade(lamp, 0.3) in fills for lamp in lamps] == [place != lit for place in range(3)]


def test_people_have_skins_and_hairs_by_their_look_and_faces_where_they_are_large_enough():
    for tone, hue in ((0.1, 0.2), (0.3, 0.5), (0.55, 0.62), (0.8, 0.9), (0.97, 0.33), (0.02, 0.77)):
        skin = people.SKINS[int(tone * 97) % 5]
        hair = people.HAIRS[int(hue * 89) % (2 if sum(skin) < 420 else 5)]
        fills = [one[2] for one in drawing("person", tone=tone, hue=hue)]
        assert skin in fills and hair in fills
        others = (set(people.SKINS) | set(people.HAIRS)) - {skin, hair}
        assert not others & set(fills)
    small, large = drawing("person", 90.0), drawing("person", 90.01)
    assert len(large) == len(small) + 3  # two eyes and a mouth


def test_surfboards_lean_by_their_pose_and_have_a_line_that_can_be_seen():
    straight = np.array(drawing("surfboard", pose=0.5)[0][1])
    assert np.allclose(np.sort(straight[:, 0] - 100), np.sort(100 - straight[:, 0]))
    right, left = (np.array(drawing("surfboard", pose=pose)[0][1]) for pose in (0.9, 0.1))
    assert right[14, 0] - right[0, 0] == pytest.approx(
        -(left[14, 0] - left[0, 0]) + 2 * (straight[14, 0] - straight[0, 0])
    )
    for tone, line in ((0.73, (245, 245, 242)), (0.41, None)):
        board = coat(Appearance(0.31, tone, 0.19))
        strokes = [one[2] for one in drawing("surfboard", tone=tone) if one[0] == "line"]
        assert strokes == [line or shade(board, 0.6)] and (sum(board) > 200) is (line is None)


def test_spokes_turn_with_the_pose_of_a_bicycle():
    spokes = [[one[1] for one in drawing("bicycle", pose=pose) if one[2] == (150, 154, 160)] for pose in (0.0, 0.4)]
    assert len(spokes[0]) == len(spokes[1]) == 8
    for pose, held in zip((0.0, 0.4), spokes, strict=True):
        start, end = np.array(held[1])
        assert np.arctan2(-(end - start)[1], (end - start)[0]) == pytest.approx(np.pi / 4 + pose, abs=1e-4)


# -- what is behind ----------------------------------------------------------------------------------------------------

LIGHTS = (0.1, 0.35, 0.55, 0.7, 0.25, 0.9)


def behind(size=(640, 480), horizon=0.45, lights=LIGHTS):
    canvas = Canvas(*size)
    return BackdropCanvas(canvas, Letterbox.of((WIDTH, HEIGHT), size), horizon, lights)


def test_a_scene_lies_in_the_middle_and_what_is_behind_it_goes_on_to_the_edges():
    wide, tall = behind((960, 480)), behind((320, 480))
    assert wide.scale == 1.0 and wide.corner.tolist() == [160, 0] and wide.line == pytest.approx(216)
    assert (wide.left, wide.top, wide.right, wide.bottom) == (-161, -1, 801, 481)
    assert tall.scale == 0.5 and tall.corner.tolist() == [0, 120]
    assert (tall.left, tall.top, tall.right, tall.bottom) == (-1, -241, 641, 721)
    assert list(wide.across(120)) == [-240, -120, 0, 120, 240, 360, 480, 600, 720]
    assert list(behind().across(300)) == [-300, 0, 300, 600]
    tall.block(10, 20, 30, 60, RED)
    tall.disc(100, 50, 20, 8, RED)
    assert tall.canvas.points == [
        [[5, 130], [15, 130], [15, 150], [5, 150]],
        np.round(ellipse_points((50.0, 145.0), (10.0, 4.0)), 4).tolist(),
    ]


def test_numbers_follow_from_the_lights():
    made = behind()
    assert [made.number(i) for i in range(7)] == pytest.approx([*LIGHTS, LIGHTS[0]])
    assert made.number(1, 2) == pytest.approx((0.35 * (1 + 14.62) + 1.236) % 1)
    assert made.number(9, 1) == pytest.approx((0.7 * 8.31 + 0.618) % 1)


def test_bands_pass_from_one_colour_into_another_and_overlap_downwards():
    made = behind()
    made.bands(100, 200, (0, 100, 50), (40, 20, 50), 5)
    tops = [points[0][1] for points in made.canvas.points]
    assert tops == [100, 120, 140, 160, 180] and {points[2][1] for points in made.canvas.points} == {201}
    assert [one[2] for one in made.canvas.drawn] == [
        (0, 100, 50),
        (10, 80, 50),
        (20, 60, 50),
        (30, 40, 50),
        (40, 20, 50),
    ]
    assert {(points[0][0], points[1][0]) for points in made.canvas.points} == {(made.left, made.right)}
    made.canvas.drawn.clear()
    made.bands(0, 10, (1, 2, 3), (9, 9, 9), 1)
    assert [one[2] for one in made.canvas.drawn] == [(1, 2, 3)]


def test_a_patch_grows_towards_us():
    made = behind(horizon=0.5)
    made.patch(200, 260, 260, 300, RED)
    assert made.canvas.points == [[[200, 260], [260, 260], [140, 300], [-40, 300]]]  # three times as far from 320


def test_skies_have_up_to_three_clouds_and_turn_at_dusk():
    def sky(**lights):
        made = behind(lights=[lights.get(f"at{i}", 0.5) for i in range(6)])
        made.sky()
        return made.canvas.drawn

    for number, clouds in ((0.2, 0), (0.25, 1), (0.5, 2), (0.76, 3), (0.99, 3)):
        assert len(sky(at2=number)) == 8 + 4 * clouds
    day, dusk = (sky(at1=late, at2=0.0)[-1][2] for late in (0.75, 0.7501))
    assert day[2] > day[0] and dusk[0] > dusk[2]  # bluish and reddish at the horizon
    assert sky(at2=0.3)[8][2] == shade(sky(at2=0.3)[7][2], 1.03)
    first = sky(at2=0.3, at3=0.2, at4=0.6)[8:]
    line = 0.45 * HEIGHT
    x, y = WIDTH * ((0.2 * 8.31 + 0.618) % 1), line * (0.15 + 0.5 * ((0.6 * 8.31 + 0.618) % 1))
    places = [(x - 34, y), (x - 10, y - 5), (x + 16, y - 5), (x + 38, y)]
    assert [one[1] for one in first] == [np.round(ellipse_points(at, (30.0, 13.0)), 4).tolist() for at in places]


def rows_of(name, **lights):
    made = behind(lights=[lights.get(f"at{i}", 0.5) for i in range(6)])
    BACKDROPS[name](made) if name in BACKDROPS else table(made)
    return made.canvas.drawn


@pytest.mark.parametrize(
    ("name", "light", "turn", "limit"),
    [
        ("field", 3, 0, 0.6), ("field", 0, 3, 0.5), ("room", 4, 0, 0.35), ("room", 1, 2, 0.4), ("the table", 4, 3, 0.55),
    ],
)  # fmt: skip
def test_a_backdrop_looks_otherwise_above_a_number(name, light, turn, limit):
    factor, shift = 1 + 7.31 * turn, 0.618 * turn
    for whole in range(30):  # a light whose number, after so many turns, is just at the limit
        value = (limit + whole - shift) / factor
        if 0.02 < value < 0.98:
            fills = [
                [one[2] for one in rows_of(name, **{f"at{light}": value + step})] for step in (-2e-9, -1e-9, 1e-9, 2e-9)
            ]
            assert fills[0] == fills[1] != fills[2] == fills[3]


def test_streets_are_built_up_from_edge_to_edge_without_gaps():
    made = behind((960, 480))
    BACKDROPS["street"](made)
    base = made.line + (HEIGHT - made.line) * 0.06
    walls = [
        np.array(one[1]) - made.corner for one in made.canvas.drawn if abs(np.array(one[1])[2, 1] - base - 2) < 1e-3
    ]
    assert walls[0][0, 0] == pytest.approx(made.left - 30) and walls[-1][1, 0] >= made.right
    assert all(one[1, 0] == pytest.approx(other[0, 0]) for one, other in pairwise(walls))
    for place, wall in enumerate(walls):
        wide, tall = wall[1, 0] - wall[0, 0], made.line - wall[0, 1]
        assert wide == pytest.approx(60 + 90 * made.number(2, place + 1), abs=1e-3)
        assert tall == pytest.approx(made.line * (0.3 + 0.6 * made.number(3, place + 1)), abs=1e-3)
        windows = [
            np.array(one[1]) - made.corner for one in made.canvas.drawn
            if len(one[1]) == 4 and np.allclose(np.ptp(np.array(one[1]), axis=0), (10, 13))
            and wall[0, 0] < np.array(one[1])[0, 0] - made.corner[0] < wall[1, 0]
        ]  # fmt: skip
        assert len(windows) == int(tall // 26) * int(wide // 24)
    assert len({one[2] for one in made.canvas.drawn}) > 8


def test_rails_fences_waves_and_trees_are_as_many_as_they_are():
    made = behind()
    made.trees(3, 200.0, 100.0)
    assert len(made.canvas.drawn) == 9
    trunks = [np.array(points) for points in made.canvas.points[::3]]
    for place, trunk in enumerate(trunks):
        tall = 100 * (0.7 + 0.6 * made.number(3, place + 3))
        assert trunk[:, 0].mean() == pytest.approx(WIDTH * made.number(5, place + 1), abs=1e-3)
        assert (trunk[0, 1], trunk[2, 1]) == pytest.approx((200 - tall / 2, 200), abs=1e-3)
    leaves = [one[2] for one in made.canvas.drawn[1::3]]
    assert leaves == [
        paint(0.27 + 0.1 * made.number(4, place), 0.5, 0.38 + 0.2 * made.number(0, place)) for place in range(3)
    ]
    beach = [one for one in rows_of("beach") if one[2] == backdrops.WHITE]
    assert len(beach) == 5 + 1
    steel = [one for one in rows_of("rail") if one[2] == (178, 178, 182)]
    assert len(steel) == 4


# -- scenes ------------------------------------------------------------------------------------------------------------


def content(scene, objects):
    return {"scene": scene, "horizon": 0.45, "lights": list(LIGHTS), "objects": objects}


def row(name, x, y, counted=1, tall=60.0):
    return [name, x, y, tall, 0, 0.3, 0.4, 0.2, counted]


def test_near_things_are_drawn_after_far_ones_and_only_what_counts_is_a_thing():
    objects = [
        row("dog", 200.0, 400.0),
        row("person", 300.0, 250.0),
        row("cow", 250.0, 300.0, 0),
        row("cup", 90.0, 350.0),
    ]
    picture = draw_scene(content("park", objects), (640, 480))
    assert [thing.name for thing in picture.things] == ["person", "cup", "dog"]
    assert [thing.box.bottom for thing in picture.things] == pytest.approx([250, 350, 400], abs=4)
    assert picture.instances.max() == 3


def test_on_a_table_things_stand_before_all_that_is_behind_it(monkeypatch):
    drawn = []
    monkeypatch.setattr(scenes, "table", lambda backdrop: drawn.append("table"))
    monkeypatch.setattr(scenes, "_draw", lambda one, backdrop: drawn.append((one[0], one[2])))
    objects = [row("cup", 1, 300.0), row("person", 2, 400.0), row("bottle", 3, 250.0), row("chair", 4, 200.0)]
    draw_scene(content("table", objects), (64, 48))
    assert drawn == [("chair", 200.0), ("person", 400.0), "table", ("bottle", 250.0), ("cup", 300.0)]
    drawn.clear()
    draw_scene(content("room", objects), (64, 48))
    assert drawn == [("chair", 200.0), ("bottle", 250.0), ("cup", 300.0), ("person", 400.0)]


def test_an_object_is_drawn_in_the_measure_of_the_picture(monkeypatch):
    seen = []
    monkeypatch.setitem(scenes.DRAWINGS, "dog", lambda brush, look: seen.append((brush, look)))
    draw_scene(content("park", [["dog", 100.0, 300.0, 80.0, 1, 0.2, 0.3, 0.6, 1]]), (320, 480))
    made, look = seen[0]
    assert (made.x, made.y, made.height, made.left) == (50.0, 270.0, 40.0, True)
    assert look == Appearance(0.2, 0.3, 0.6)
