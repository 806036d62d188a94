import numpy as np

from assay.render import Canvas, ellipse_points, regular_polygon
from assay.render.canvas import move_points


def test_a_filled_shape_covers_its_area_and_its_edges_are_smooth():
    canvas = Canvas(64, 64)
    canvas.ellipse((32, 32), (20, 20), fill=(255, 0, 0))
    ink = (255 - canvas.image[:, :, 1]) / 255
    assert abs(ink.sum() - np.pi * 400) < 40  # the library draws shapes a quarter of a pixel larger
    assert ((ink > 0.05) & (ink < 0.95)).sum() > 40


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


def test_shapes_turn_and_move():
    assert np.allclose(move_points(np.array([[1.0, 0.0]]), (5, 5), np.pi / 2), [[5, 6]])
    assert np.allclose(np.linalg.norm(regular_polygon(5), axis=1), 1) and np.allclose(regular_polygon(3)[0], [0, -1])
    assert np.allclose(np.linalg.norm(ellipse_points((3, 4), (2, 2)) - [3, 4], axis=1), 2)
