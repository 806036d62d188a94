"""Robots as pictures: one drawing at any size; what can be seen is a setting, never an accident."""

from itertools import pairwise

import numpy as np
import pytest

from assay.families.robots.drawing import BLANK, HEIGHT, PALETTE, Pen, RobotAppearance, arms, draw_robots, head, legs
from assay.families.robots.parts import PARTS, ROBOTS
from assay.render import Canvas

SIZES = (8, 32, 64, 119, 120, 224, 600)
PAIR = np.array([[[240, 130, 30], [24, 150, 150]]], dtype=np.float32)
PLAIN = [0] * 9


def drawn(robots: object, appearance: RobotAppearance) -> np.ndarray:
    rows = np.atleast_2d(np.array(robots))
    return draw_robots(rows, np.repeat(PAIR, len(rows), axis=0), appearance).astype(np.int64)


def with_part(part: str, code: int, robot: list[int] = PLAIN) -> list[int]:
    changed = list(robot)
    changed[PARTS.place(part)] = code
    return changed


def far_apart(part: str, appearance: RobotAppearance) -> int:
    """Return the largest difference that a flip of a part makes."""
    return int(np.abs(drawn(PLAIN, appearance) - drawn(with_part(part, 1), appearance)).max())


@pytest.mark.parametrize("size", SIZES)
def test_every_value_of_every_part_shows_at_every_size(size: int) -> None:
    changes = [(c.name, code) for c in PARTS.concepts for code in range(1, len(c.values))]
    pictures = drawn([PLAIN, *(with_part(*change) for change in changes)], RobotAppearance(size))
    for change, picture in zip(changes, pictures[1:], strict=True):
        assert (picture != pictures[0]).any(), (size, change)


def test_no_two_robots_look_the_same() -> None:
    pictures = draw_robots(ROBOTS, np.repeat(PAIR, len(ROBOTS), axis=0), RobotAppearance(32))
    assert len({picture.tobytes() for picture in pictures}) == 7680


@pytest.mark.parametrize(("size", "times"), [(32, 16), (119, 6), (600, 2)])
def test_bands_add_up_to_the_whole_drawing(size: int, times: int) -> None:
    appearance = RobotAppearance(size)
    for robot in ROBOTS[[0, 1234, 4321, 7679]].tolist():
        canvas = Canvas(size * times, size * times, BLANK)
        pen = Pen(canvas, size * times / HEIGHT, (0, 0), times, appearance)
        legs(pen, robot[2], robot[8])
        arms(pen, robot[1], robot[3], robot[7])
        head(pen, robot[0], robot[4], robot[5], robot[6])
        inks = canvas.image.reshape(size, times, size, times, 3).mean(axis=(1, 3)) / 255
        darkness = np.vstack([255 - PAIR[0], [[255.0] * 3]])
        whole = np.clip(255.5 - inks @ darkness, 0, 255).astype(np.int64)
        gaps = np.abs(drawn(robot, appearance)[0] - whole).max(axis=(1, 2))
        seams = [int(edge * size / HEIGHT) + step for edge in (3.75, 7.75) for step in (-1, 0)]
        assert gaps[seams].max() <= 12 and np.delete(gaps, seams).max() <= 1  # smooth edges overlap where bands meet


def test_a_small_picture_is_a_large_one_averaged() -> None:
    robots = ROBOTS[::700]
    large = drawn(robots, RobotAppearance(64)).reshape(len(robots), 32, 2, 32, 2, 3).mean(axis=(2, 4))
    assert np.abs(large - drawn(robots, RobotAppearance(32))).max() <= 3


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    robots = ROBOTS[::97]
    assert (
        drawn(robots, RobotAppearance(32)) == np.concatenate([drawn(robot, RobotAppearance(32)) for robot in robots])
    ).all()


def test_what_is_not_visible_looks_alike_and_is_no_accident() -> None:
    hidden = RobotAppearance(32, visible=tuple(0.0 if part in ("knees", "foot") else 1.0 for part in PARTS.names))
    codes = [with_part("foot", foot, with_part("knees", knees)) for knees in (0, 1) for foot in range(10)]
    pictures = drawn(codes, hidden)
    assert (pictures == pictures[0]).all()
    assert (drawn(with_part("elbows", 1), hidden) != pictures[0]).any()


def test_visibility_is_gradual() -> None:
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    found = [far_apart("knees", RobotAppearance(64, visible=(1, 1, share, 1, 1, 1, 1, 1, 1))) for share in shares]
    assert found[0] == 0 and all(low < high for low, high in pairwise(found))
    assert abs(found[2] - found[4] / 2) <= 1


@pytest.mark.parametrize(
    ("knob", "values"),
    [("dot", (0.0, 0.13, 0.2, 0.3, 0.5)), ("contrast", (0.0, 0.2, 0.6, 1.0)), ("blur", (2.0, 0.8, 0.3, 0.0))],
)
def test_knobs_are_gradual(knob: str, values: tuple[float, ...]) -> None:
    found = [far_apart("knees", RobotAppearance(32, **{knob: value})) for value in values]
    assert all(low < high for low, high in pairwise(found)), found
    assert knob == "blur" or found[0] == 0


def test_resolution_is_gradual() -> None:
    found = [far_apart("knees", RobotAppearance(size)) for size in (8, 16, 32, 64)]
    assert all(low < high for low, high in pairwise(found))


def test_a_deeper_toe_is_easier_to_see() -> None:
    flat, pointy = with_part("foot", 2), with_part("foot", 7)
    found = [
        np.abs(drawn(flat, RobotAppearance(64, toe=toe)) - drawn(pointy, RobotAppearance(64, toe=toe))).sum()
        for toe in (0.0, 0.1, 0.3)
    ]
    assert found[0] == 0 and found[0] < found[1] < found[2]


def test_blank_paper_without_contrast_and_ink_kept_by_blur() -> None:
    assert (drawn(PLAIN, RobotAppearance(32, contrast=0)) == 255).all()
    sharp, soft = (255 * 3 * 64 * 64 - drawn(PLAIN, RobotAppearance(64, blur=blur)).sum() for blur in (0.0, 0.3))
    assert abs(soft / sharp - 1) < 0.02


def test_left_and_right_have_their_own_colours() -> None:
    picture = drawn(PLAIN, RobotAppearance(120))[0]
    assert picture[60, 50].tolist() == [240, 130, 30] and picture[60, 70].tolist() == [24, 150, 150]


def test_colours_are_told_apart_from_each_other_and_from_black() -> None:
    colours = np.array(list(PALETTE.values()), dtype=np.float64)
    gaps = np.linalg.norm(colours[:, None] - colours[None], axis=2) + 1000 * np.eye(len(colours))
    assert len(colours) * (len(colours) - 1) // 2 == 120 and gaps.min() > 40
    assert (colours @ [0.299, 0.587, 0.114]).min() > 80
