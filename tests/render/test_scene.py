"""Scenes as plain data: colours as light, poses as matrices, things and parts in their order."""

import numpy as np
import pytest

from assay.render import Camera, Instance, Material, Scene, linear_rgb, pose, rectangle

SQUARE = rectangle("square", -1, -1, 1, 1)


def moved(matrix, *point):
    return (matrix @ [*point, 1])[:3].round(9).tolist()


def test_a_pose_scales_then_tilts_then_turns_then_moves():
    assert moved(pose([10, 20, 30]), 1, 2, 3) == [11, 22, 33]
    assert moved(pose([0, 0, 0], tilt=90), 0, 1, 0) == [0, 0, 1]  # y is lifted
    assert moved(pose([0, 0, 0], turn=90), 1, 0, 0) == [0, 1, 0]  # counter-clockwise from above
    matrix = pose([1, 2, 3], turn=90, tilt=90, scale=(2, 3, 4))
    assert [moved(matrix, *axis) for axis in np.eye(3)] == [[1, 4, 3], [1, 2, 6], [5, 2, 3]]


def test_turns_add_up_and_keep_lengths():
    here = (0, 0, 0)
    assert np.allclose(pose(here, turn=20) @ pose(here, turn=25), pose(here, turn=45))
    turned = pose(here, turn=30)[:3, :3]
    assert np.allclose(turned @ turned.T, np.eye(3)) and np.linalg.det(turned) > 0


def test_light_is_that_of_a_screen():
    assert linear_rgb(0, 128, 255) == pytest.approx((0, 0.21586, 1), abs=1e-5)
    assert linear_rgb(10, 11, 5)[0] == pytest.approx(10 / 255 / 12.92)  # the foot of the curve is straight
    assert linear_rgb(10, 11, 5)[1] == pytest.approx(((11 / 255 + 0.055) / 1.055) ** 2.4)
    assert (np.diff([linear_rgb(byte, 0, 0)[0] for byte in range(256)]) > 0).all()


def test_things_and_parts_are_named_once_in_their_order():
    named = [("car2", "roof"), ("", "wall"), ("car1", ""), ("car2", "wheel"), ("car2", "roof"), ("car1", "roof")]
    instances = tuple(Instance(SQUARE, Material(), np.eye(4), thing, part) for thing, part in named)
    scene = Scene(4, 4, Camera((0, -5, 0), (0, 0, 0)), instances, ())
    assert scene.things == ("car2", "car1")
    assert scene.parts == ("car2/roof", "car2/wheel", "car1/roof")
    assert instances[1].part_name == ""  # a part of nothing is background
