"""Backdrops in wide and tall pictures: they reach every edge, and hills, waves, paths, windows and rugs lie by hand."""

import numpy as np
import pytest

from assay.families.coco.drawing.backdrop import BACKDROPS, table
from assay.families.coco.drawing.brush import GLASS, WHITE, paint, shade
from assay.families.coco.scene_templates import HEIGHT, TABLE_TOP, WIDTH
from assay.render import ellipse_points
from tests.families.coco.test_strokes import behind

LIGHTS = (0.1, 0.35, 0.55, 0.7, 0.25, 0.9)
ACROSS = {"street": 17, "rail": 24, "field": 16, "park": 17, "beach": 25, "room": 7, "table": 3, "the table": 7}
"""How many bands and bars go from edge to edge; a field with a fence has two more."""


def drawn(name, size=(640, 480), lights=LIGHTS):
    """What is behind, as it was made, and the points of all that is drawn in the measure of the scene."""
    made = behind(size, lights=lights)
    table(made) if name == "the table" else BACKDROPS[name](made)
    shapes = [((np.array(one[1]) - made.corner) / made.scale, one[2]) for one in made.canvas.drawn]
    return made, shapes


def fence(made):
    return 2 * (made.number(0, 3) > 0.5)


@pytest.mark.parametrize("size", [(960, 480), (320, 480)])
@pytest.mark.parametrize("name", ACROSS)
def test_bands_and_bars_go_from_edge_to_edge(name, size):
    for first in (0.1, 0.3):  # without and with a fence
        made, shapes = drawn(name, size, (first, *LIGHTS[1:]))
        flat = [points for points, _ in shapes if len(points) == 4 and len({*points[:, 1].round(3)}) == 2]
        whole = [points for points in flat if np.ptp(points[:2, 0]) == np.ptp(points[2:, 0]) >= WIDTH - 1]
        assert len(whole) == ACROSS[name] + (fence(made) if name == "field" else 0)
        for points in whole:
            assert (points[:, 0].min(), points[:, 0].max()) == pytest.approx((made.left, made.right), abs=1e-3)
        lowest = max(points[:, 1].max() for points, _ in shapes)
        assert lowest == pytest.approx(made.bottom, abs=1.001)
        if name != "the table":
            assert shapes[0][0][0, 1] == pytest.approx(made.top, abs=1e-3)


@pytest.mark.parametrize("size", [(640, 480), (960, 480)])
def test_marks_sleepers_and_posts_are_repeated_to_the_edges(size):
    for name, colour, step, rows in (("street", (226, 222, 206), 120, 1), ("rail", (98, 78, 60), 26, 2)):
        made, shapes = drawn(name, size)
        lefts = [points[0, 0] for points, fill in shapes if fill == colour]
        assert lefts == pytest.approx([*made.across(step)] * rows, abs=1e-3)
    made, shapes = drawn("field", size, (0.3, *LIGHTS[1:]))
    posts = [points for points, fill in shapes if fill == (122, 98, 72)]
    assert fence(made) and [points[0, 0] for points in posts] == pytest.approx([*made.across(56)], abs=1e-3)
    y = made.line + 14
    assert {(round(p[0, 1], 3), round(p[2, 1], 3), round(p[1, 0] - p[0, 0], 3)) for p in posts} == {(y - 20, y + 12, 5)}
    rails = [points[[0, 2], 1].tolist() for points, fill in shapes if fill == (136, 110, 82)]
    assert rails == [pytest.approx([y - 14, y - 11]), pytest.approx([y, y + 3])]


def disc(x, y, across, down):
    return np.array(ellipse_points((x, y), (across, down)))


def after_sky(name, lights=LIGHTS):
    """What is drawn after the sky and its clouds."""
    made, shapes = drawn(name, lights=lights)
    return made, shapes[8 + 4 * int(4 * made.number(2)) :]


def require_shapes(shapes, wanted):
    assert [fill for _, fill in shapes] == [fill for _, fill in wanted]
    for (points, _), (by_hand, _) in zip(shapes, wanted, strict=True):
        assert points == pytest.approx(np.array(by_hand), abs=1e-3)


def block(left, top, right, bottom):
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


@pytest.mark.parametrize(("dry", "hue"), [(0.6, 0.26 + 0.07 * 0.25), (0.61, 0.15)])
def test_a_field_has_three_hills_behind_it(dry, hue):
    made, shapes = after_sky("field", (0.1, 0.35, 0.55, dry, 0.25, 0.9))
    grass = paint(hue, 0.45, 0.68)
    hills = [
        (
            disc(WIDTH * made.number(5, hill + 1), made.line + 8, 240, 30 + 40 * made.number(2, hill)),
            shade(grass, 0.75 + 0.07 * hill),
        )
        for hill in range(3)
    ]
    require_shapes(shapes[:3], hills)
    trees = int(5 * made.number(1, 2))
    ground = shapes[3 + 3 * trees :]
    assert ground[0][1] == shade(grass, 0.92) and ground[7][1] == shade(grass, 1.08)
    assert ground[0][0][0, 1] == pytest.approx(made.line)


def test_a_path_leads_through_a_park_to_the_lower_edge():
    for size in ((640, 480), (320, 480)):
        made, shapes = drawn("park", size)
        points, fill = shapes[-1]
        reach = (made.bottom - made.line) / (HEIGHT - made.line)
        start, end = WIDTH * 0.7, WIDTH * 0.9
        near, wide = start + (end - start) * reach, 14 + 116 * reach
        assert fill == (206, 194, 168)
        assert points == pytest.approx(
            np.array([
                (start - 14, made.line), (start + 14, made.line), (near + wide, made.bottom), (near - wide, made.bottom),
            ]), abs=1e-2,
        )  # fmt: skip
    made, shapes = after_sky("park")
    grass = paint(0.27 + 0.06 * 0.25, 0.5, 0.62)
    require_shapes(shapes[:1], [(block(made.left, made.line - 16, made.right, made.line + 4), shade(grass, 0.62))])
    trees = 3 + int(6 * 0.55)
    assert len(shapes) == 1 + 3 * trees + 8 + 1


def test_five_waves_lie_on_the_sea_and_the_shore_is_white():
    made, shapes = after_sky("beach")
    shore = made.line + (HEIGHT - made.line) * 0.2
    sea, sand = paint(0.5 + 0.08 * 0.7, 0.55, 0.72), paint(0.1 + 0.03 * 0.55, 0.3, 0.92)
    assert [shapes[0][1], shapes[7][1]] == [shade(sea, 0.85), shade(sea, 1.15)]
    assert shapes[7][0][2, 1] == pytest.approx(shore + 5)
    waves = [
        (
            disc(
                WIDTH * made.number(4, wave + 1),
                made.line + (shore - made.line) * (0.2 + 0.18 * wave),
                60 + 50 * made.number(5, wave),
                2.2,
            ),
            WHITE,
        )
        for wave in range(5)
    ]
    require_shapes(shapes[8:13], waves)
    assert [shapes[13][1], shapes[20][1]] == [shade(sand, 0.9), sand] and shapes[13][0][0, 1] == pytest.approx(shore)
    require_shapes(shapes[21:], [(block(made.left, shore - 2, made.right, shore + 3), WHITE)])


def test_a_hill_and_trees_stand_behind_two_tracks_and_a_platform():
    made, shapes = after_sky("rail")
    hill = paint(0.3 + 0.08 * 0.7, 0.35, 0.55)
    require_shapes(shapes[:1], [(disc(WIDTH * 0.25, made.line, 330, 60), hill)])
    deep = HEIGHT - made.line
    beds = [points for points, fill in shapes if fill == (134, 124, 114)]
    steel = [points[[0, 2], 1].tolist() for points, fill in shapes if fill == (178, 178, 182)]
    for number, share in enumerate((0.22, 0.38)):
        y = made.line + deep * share
        assert beds[number][[0, 2], 1].tolist() == pytest.approx([y - 9, y + 9], abs=1e-3)
        assert np.ravel(steel[2 * number : 2 * number + 2]) == pytest.approx([y - 5, y - 3, y + 3, y + 5], abs=1e-3)
    platform = made.line + deep * 0.55
    require_shapes(
        shapes[-2:],
        [
            (block(made.left, platform, made.right, made.bottom), (188, 182, 172)),
            (block(made.left, platform, made.right, platform + 7), (238, 214, 104)),
        ],
    )


@pytest.mark.parametrize("light", [0.35, 0.36])
def test_a_wall_has_a_window_or_a_picture(light):
    made, shapes = drawn("room", lights=(0.1, 0.35, 0.55, 0.7, light, 0.9))
    floor, x = 0.58 * HEIGHT, 90 + (WIDTH - 260) * 0.7
    wall = paint(0.1, 0.06 + 0.18 * 0.35, 0.7 + 0.25 * 0.55)
    window = [
        (block(x - 6, 34, x + 126, 166), WHITE), (block(x, 40, x + 120, 160), shade(GLASS, 1.1)),
        (block(x + 57, 40, x + 63, 160), WHITE), (block(x, 97, x + 120, 103), WHITE),
    ]  # fmt: skip
    picture = [
        (block(x, 50, x + 110, 130), (96, 72, 54)), (block(x + 7, 57, x + 103, 123), paint(0.9, 0.4, 0.8)),
        (disc(x + 55, 100, 30, 18), paint(1.2, 0.5, 0.6)),
    ]  # fmt: skip
    wood = paint(0.07 + 0.03 * 0.55, 0.45, 0.5 + 0.25 * 0.9)
    boards = [floor + (HEIGHT - floor) * share for share in (0.12, 0.3, 0.55, 0.85)]
    rug = (
        disc(WIDTH * (0.3 + 0.4 * made.number(3, 2)), HEIGHT * 0.82, 200, 48), paint(made.number(4, 2), 0.35, 0.7),
    )  # fmt: skip
    require_shapes(
        shapes,
        [
            (block(made.left, made.top, made.right, floor + 1), wall),
            *(window if light > 0.35 else picture),
            (block(made.left, floor - 8, made.right, floor + 1), shade(wall, 0.85)),
            (block(made.left, floor, made.right, made.bottom), wood),
            *((block(made.left, y, made.right, y + 1.5), shade(wood, 0.85)) for y in boards),
            *([rug] if made.number(1, 2) > 0.4 else []),
        ],
    )


@pytest.mark.parametrize("light", [0.2, 0.25])
def test_a_table_is_of_wood_or_has_a_cloth_and_lines_that_draw_nearer(light):
    made, shapes = drawn("the table", lights=(0.1, 0.35, 0.55, 0.7, light, 0.9))
    cloth = made.number(4, 3) > 0.55
    board = paint(made.number(5, 2), 0.15, 0.93) if cloth else paint(0.07, 0.5, 0.45 + 0.35 * made.number(2, 2))
    top = TABLE_TOP * HEIGHT
    lines = [top + (HEIGHT - top) * (number / 6) ** 1.4 for number in range(1, 6)]
    require_shapes(
        shapes,
        [
            (block(made.left, top, made.right, made.bottom), board),
            (block(made.left, top, made.right, top + 5), shade(board, 1.12)),
            *((block(made.left, y, made.right, y + 1.5), shade(board, 0.93)) for y in lines),
        ],
    )
    made, shapes = drawn("table")
    low = block(made.left, 0.6 * HEIGHT, made.right, made.bottom)
    require_shapes(shapes[-1:], [(low, paint(0.07, 0.3, 0.5))])
    assert shapes[0][0][2, 1] == pytest.approx(0.6 * HEIGHT + 1)


def test_a_street_has_a_pavement_and_a_line_along_its_middle():
    made, shapes = after_sky("street")
    deep = HEIGHT - made.line
    base, kerb = made.line + deep * 0.06, made.line + deep * 0.1
    pavement = [points for points, fill in shapes if fill == (176, 172, 166)]
    assert len(pavement) == 1 and pavement[0][[0, 2], 1].tolist() == pytest.approx([base, kerb], abs=1e-3)
    grey = 84 + int(40 * 0.1)
    road = [fill for _, fill in shapes].index((grey + 18, grey + 18, grey + 20))
    assert shapes[road + 7][1] == (grey, grey, grey + 3) and shapes[road][0][0, 1] == pytest.approx(kerb, abs=1e-3)
    middle = kerb + (HEIGHT - kerb) * 0.42
    marks = [points for points, fill in shapes if fill == (226, 222, 206)]
    assert {tuple(points[:, 1].round(3)) for points in marks} == {
        (round(middle, 3), round(middle, 3), round(middle + 6, 3), round(middle + 6, 3))
    }
    assert {round(points[1, 0] - points[0, 0], 3) for points in marks} == {60}
