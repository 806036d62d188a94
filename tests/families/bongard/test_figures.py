"""Figures by hand: what a style's numbers do to corners and lines, and where figures lie on a sheet."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.families.bongard.figures import FRAME, INK, FigureStyle, ProblemSheet, corners_of, stroke_of
from assay.render import Box

PLAIN = FigureStyle(0, 100, 0, 0, (100,) * 6, (0,) * 6)
"""Corners on the unit circle, the first to the right."""
UNEVEN = FigureStyle(30, 90, 6, 0, (90, 92, 94, 96, 98, 100), (5, 4, 3, -2, -4, -5))


def ends(greatest):
    """Return what draws the ends of what is asked for: the least, or the greatest."""

    def integers(low, high, size=None):
        end = np.asarray(high) - 1 if greatest else np.asarray(low)
        return np.broadcast_to(end, size or end.shape)

    return SimpleNamespace(integers=integers)


def test_styles_are_drawn_from_their_whole_ranges():
    least, greatest = (FigureStyle.draw(ends(end), 2) for end in (False, True))
    assert least == FigureStyle(0, 80, 0, 0, (88, 88), (-5, -5))
    assert greatest == FigureStyle(359, 100, 5039, 5039, (100, 100), (5, 5))


def test_styles_are_written_as_numbers_in_order():
    assert UNEVEN.to_list() == [30, 90, 6, 0, 90, 92, 94, 96, 98, 100, 5, 4, 3, -2, -4, -5]
    assert FigureStyle.from_list(UNEVEN.to_list()) == UNEVEN


def test_corners_take_the_first_numbers_of_a_style():
    degrees = np.radians([30 + 5, 120 + 4, 210 + 3, 300 - 2])
    outs = np.array([0.90, 0.92, 0.94, 0.96])
    wanted = 0.9 * np.stack([outs * np.cos(degrees), outs * np.sin(degrees)], axis=1)
    assert corners_of(4, True, UNEVEN) == pytest.approx(wanted)
    outs[6 % 4] = np.cos(np.pi / 2) - 0.32  # beyond the middle: the neighbours lie a quarter of a turn away
    dented = 0.9 * np.stack([outs * np.cos(degrees), outs * np.sin(degrees)], axis=1)
    assert corners_of(4, False, UNEVEN) == pytest.approx(dented)
    assert np.hypot(*corners_of(6, False, UNEVEN)[6 % 6]) == pytest.approx(0.9 * (0.5 - 0.32))


def test_a_closed_line_has_twelve_points_a_side_and_bulges_opposite_the_dent():
    straight, curved = (stroke_of(4, curved, True, True, PLAIN) for curved in (False, True))
    assert straight.shape == curved.shape == (48, 2)
    assert straight[::12] == pytest.approx(corners_of(4, True, PLAIN))
    assert straight[3] == pytest.approx([0.75, 0.25]) and straight[45] == pytest.approx([0.75, -0.25])
    apart = np.hypot(*(curved - straight).T)
    along = np.arange(12) / 12
    assert apart[24:36] == pytest.approx(
        4 * 0.24 * along * (1 - along) * np.sqrt(2)
    )  # the third side, of length root 2
    assert not np.delete(apart, np.s_[24:36]).any()
    middle = curved[30]
    assert middle == pytest.approx([-0.5 - 0.24, -0.5 - 0.24])  # outwards


@pytest.mark.parametrize(("dent", "bulging"), [(0, 2), (1, 3), (2, 4), (3, 0), (9, 1)])
def test_the_curved_side_follows_the_dent(dent, bulging):
    style = FigureStyle(0, 100, dent, 0, (100,) * 5, (0,) * 5)
    apart = np.hypot(*(stroke_of(5, True, True, True, style) - stroke_of(5, False, True, True, style)).T)
    assert set(np.flatnonzero(apart > 1e-9) // 12) == {bulging}


@pytest.mark.parametrize(("gap", "side"), [(0, 3), (1, 0), (2, 1), (3, 3), (5, 1)])
def test_an_open_line_misses_the_middle_of_a_side_that_is_not_curved(gap, side):
    style = FigureStyle(0, 100, 0, gap, (100,) * 4, (0,) * 4)  # the third side may be curved
    corners = corners_of(4, True, style)
    line = stroke_of(4, False, False, True, style)
    start, step = corners[side], corners[(side + 1) % 4] - corners[side]
    assert line[0] == pytest.approx(start + step * 8 / 12) and line[-1] == pytest.approx(start + step * 4 / 12)
    assert len(line) == 5 + 3 * 12 + 4
    assert line[4::12] == pytest.approx(corners[[(side + 1 + k) % 4 for k in range(4)]])
    assert np.hypot(*np.diff(line, axis=0).T) == pytest.approx(np.full(len(line) - 1, np.sqrt(2) / 12))


@pytest.mark.parametrize(
    ("examples", "corners", "size"),
    [
        (1, {"left1": (3, 3), "right1": (42, 3), "query": (81, 3)}, (104, 26)),
        (2, {"left1": (3, 3), "left2": (26, 3), "right1": (65, 3), "right2": (88, 3), "query": (127, 3)}, (150, 26)),
        (
            3,
            {
                **{"left1": (3, 3), "left2": (26, 3), "left3": (3, 26)},
                **{"right1": (65, 3), "right2": (88, 3), "right3": (65, 26), "query": (127, 14)},
            },
            (150, 49),
        ),
    ],
)
def test_figures_lie_in_two_columns_each_and_the_one_in_question_in_the_middle_of_the_height(examples, corners, size):
    sheet = ProblemSheet(20, examples)
    assert sheet.boxes == {name: Box(x, y, x + 20, y + 20) for name, (x, y) in corners.items()}
    assert list(sheet.boxes) == sheet.names == list(corners)
    assert sheet.size == size


def test_each_figure_is_drawn_in_the_middle_of_its_own_box():
    sheet = ProblemSheet(40, 3)
    figure = {"sides": 4, "curved": False, "closed": True, "convex": True}
    image = sheet.draw({"right3": figure}, [PLAIN.to_list()])
    assert image.shape == sheet.size[::-1] and image.dtype == np.uint8
    box = sheet.boxes["right3"]
    assert image[box.top, box.left + 5] == image[box.top + 5, box.left] == (255 + FRAME) // 2  # half in its pixel
    inside = box.crop(image)[2:-2, 2:-2]
    rows, columns = np.nonzero(inside < 120)
    assert (rows.min() + rows.max()) / 2 == pytest.approx(18, abs=0.6)
    assert (columns.min() + columns.max()) / 2 == pytest.approx(18, abs=0.6)
    assert columns.max() - columns.min() == pytest.approx(2 * 0.42 * 40, abs=2)
    assert inside.min() < INK + 60
    outside = image.copy()
    outside[box.top - 1 : box.bottom + 1, box.left - 1 : box.right + 1] = 255
    assert (outside == 255).all()


@pytest.mark.parametrize(("side", "width"), [(28, 1), (84, 3)])
@pytest.mark.parametrize("closed", [False, True])
def test_lines_are_a_28th_of_the_figure_wide(side, width, closed):
    sheet = ProblemSheet(side, 1)
    style = FigureStyle(45, 100, 0, 0, (100,) * 4, (0,) * 4)  # upright sides, open on the right
    figure = {"sides": 4, "curved": False, "closed": closed, "convex": True}
    part = sheet.boxes["left1"].crop(sheet.draw({"left1": figure}, [style.to_list()]))
    left = 255 - part[side // 2, 2 : side // 2].astype(int)
    assert left.sum() / (255 - INK) == pytest.approx(width, abs=0.3)
    right = 255 - part[side // 2, side // 2 : -2].astype(int)
    assert (right.sum() > 0) == closed


@pytest.mark.parametrize("convex", [True, False])
def test_an_open_line_keeps_its_curve(convex):
    style = FigureStyle(10, 90, 3, 6, (100, 92, 96, 88, 94), (1, -4, 5, 0, 2))
    closed, line = (stroke_of(5, True, closed, convex, style) for closed in (True, False))
    # the dent is at the fourth corner, so the first side is curved; the line opens on the fourth
    assert line == pytest.approx(np.roll(closed, -(3 * 12 + 8), axis=0)[: 4 + 4 * 12 + 5])
    straight = stroke_of(5, False, False, convex, style)
    apart = np.hypot(*(line - straight).T)
    assert set(np.flatnonzero(apart > 1e-9)) == set(range(4 + 12 + 1, 4 + 2 * 12))
