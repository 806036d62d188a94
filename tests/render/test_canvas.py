"""Canvases: smooth shapes, objects by number with the boxes of what is seen of them."""

import numpy as np
import pytest

from assay.render import Canvas, ellipse_points, regular_polygon

SQUARE = np.array([[2.0, 2.0], [12.0, 2.0], [12.0, 9.0], [2.0, 9.0]])


def test_a_filled_shape_covers_its_area_and_its_edges_are_smooth():
    canvas = Canvas(64, 64)
    canvas.ellipse((32, 32), (20, 20), fill=(255, 0, 0))
    ink = (255 - canvas.image[:, :, 1]) / 255
    assert abs(ink.sum() - np.pi * 400) < 40  # the library draws shapes a quarter of a pixel larger
    assert ((ink > 0.05) & (ink < 0.95)).sum() > 40


def test_lines_have_their_width_and_colour_on_the_paper():
    canvas = Canvas(20, 16, (10, 20, 30))
    assert canvas.image.shape == (16, 20, 3) and (canvas.image == (10, 20, 30)).all()
    canvas.line(np.array([[0, 8.0], [20, 8.0]]), (200, 0, 0), 4.0)
    assert (canvas.image[7:9, 2:-2] == (200, 0, 0)).all()
    assert (canvas.image[[*range(5), *range(12, 16)]] == (10, 20, 30)).all()
    canvas.ellipse((10, 4), (4, 2), fill=(9, 9, 9), angle=np.pi / 2)  # upright
    assert canvas.image[6, 10].tolist() == [9, 9, 9] and canvas.image[4, 13].tolist() != [9, 9, 9]


def test_later_shapes_hide_earlier_ones_and_boxes_hold_what_is_seen():
    canvas = Canvas(40, 20)
    with canvas.thing("back"):
        canvas.polygon(np.array([[2, 2], [30, 2], [30, 10], [2, 10]]), fill=(0, 0, 255))
    with canvas.thing("front"):
        canvas.polygon(np.array([[20, 0], [39, 0], [39, 19], [20, 19]]), fill=(0, 255, 0))
    back, front = canvas.things
    assert canvas.image[5, 25].tolist() == [0, 255, 0] and canvas.instances[5, 25] == 2
    assert (back.box.left, back.box.top, back.box.right, back.box.bottom) == (2, 2, 20, 11)
    assert front.name == "front" and front.box.right == 40


def test_a_hidden_object_keeps_its_number_and_has_an_empty_box():
    canvas = Canvas(10, 10)
    for name in ("under", "over"):
        with canvas.thing(name):
            canvas.polygon(np.array([[0, 0], [9, 0], [9, 9], [0, 9]]), fill=(0, 0, 0))
    under, over = canvas.things
    assert under.box.right == 0 and over.box.right == 10
    assert set(np.unique(canvas.instances)) == {2}


def test_things_may_lie_in_things_and_outlines_fill_nothing():
    canvas = Canvas(30, 20)
    with canvas.thing("outer"):
        with canvas.thing("inner"):
            canvas.polygon(SQUARE + np.array([14, 8]), fill=(0, 0, 0))
        canvas.polygon(SQUARE, line=(0, 0, 0), width=3.0)
    canvas.polygon(SQUARE + np.array([0, 9]), fill=(0, 0, 0))  # belongs to no thing
    assert [thing.name for thing in canvas.things] == ["outer", "inner"]
    assert canvas.instances[5, 7] == 0 and canvas.instances[2, 7] == 1 and canvas.instances[14, 20] == 2
    assert not (canvas.instances == 1)[10:].any() and canvas.instances[:6, 7].tolist() == [0, 0, 1, 1, 1, 0]


def test_polygons_begin_above_and_ellipses_lie_around_their_middle():
    assert regular_polygon(4) == pytest.approx(np.array([[0, -1], [1, 0], [0, 1], [-1, 0]]), abs=1e-9)
    assert np.allclose(np.linalg.norm(regular_polygon(5), axis=1), 1)
    assert np.allclose(np.linalg.norm(ellipse_points((3, 4), (2, 2)) - [3, 4], axis=1), 2)
    x, y = (ellipse_points((5, 6), (4, 2), np.pi / 2) - [5, 6]).T  # turned upright
    assert np.allclose((x / 2) ** 2 + (y / 4) ** 2, 1)
