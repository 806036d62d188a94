"""Robots as pictures: one drawing at any size; what can be seen is a setting, never an accident."""

from itertools import pairwise

import numpy as np
import pytest

from assay.families.robots.drawing import BLANK, HEIGHT, Pen, arms, head, legs
from assay.families.robots.task import COLOURS, Robots
from assay.render import Canvas
from assay.worlds import World

PLAIN = (0,) * 9
PAIR = [1, 5]
"""Orange on the left, teal on the right."""


def drawn(robots, **settings):
    """Return the pictures of robots, each given by the codes of its nine parts."""
    task = Robots(concepts="all", **settings)
    worlds = [World(task.space, tuple(robot), {"colours": PAIR}) for robot in robots]
    return np.stack([picture.image for picture in task.render_all(worlds)]).astype(int)


def with_part(part, code, robot=PLAIN):
    place = Robots(concepts="all").space.place(part)
    return (*robot[:place], code, *robot[place + 1 :])


def gap(part="knees", code=1, before=PLAIN, how=np.max, **settings):
    """Return how far a changed part changes the picture."""
    first, second = drawn([before, with_part(part, code, before)], **settings)
    return int(how(np.abs(first - second)))


@pytest.mark.parametrize("size", [8, 32, 119, 224])
def test_every_value_of_every_part_shows_at_every_size(size):
    space = Robots(concepts="all").space
    changes = [(c.name, code) for c in space.concepts for code in range(1, len(c.values))]
    pictures = drawn([PLAIN, *(with_part(*change) for change in changes)], size=size)
    for change, picture in zip(changes, pictures[1:], strict=True):
        assert (picture != pictures[0]).any(), change


def test_no_two_robots_look_the_same_and_many_at_once_are_as_one_by_one():
    robots = Robots(concepts="all").space.all_codes().tolist()
    pictures = drawn(robots)
    assert len({picture.tobytes() for picture in pictures}) == len(robots) == 7680
    assert all((drawn([robots[row]])[0] == pictures[row]).all() for row in (0, 511, 512, 7000))


@pytest.mark.parametrize(("size", "times"), [(32, 16), (119, 6)])
def test_a_picture_is_the_whole_robot_drawn_large_and_averaged(size, times):
    task = Robots(concepts="all", size=size)
    for robot in task.space.all_codes()[[0, 1234, 4321, 7679]].tolist():
        canvas = Canvas(size * times, size * times, BLANK)
        pen = Pen(canvas, size * times / HEIGHT, (0, 0), times, task.appearance)
        legs(pen, robot[2], robot[8])
        arms(pen, robot[1], robot[3], robot[7])
        head(pen, robot[0], robot[4], robot[5], robot[6])
        inks = canvas.image.reshape(size, times, size, times, 3).mean(axis=(1, 3)) / 255
        darkness = np.vstack([255 - COLOURS[PAIR], [[255.0] * 3]])
        whole = np.clip(255.5 - inks @ darkness, 0, 255).astype(int)
        gaps = np.abs(drawn([robot], size=size)[0] - whole).max(axis=(1, 2))
        seams = [int(edge * size / HEIGHT) + step for edge in (3.75, 7.75) for step in (-1, 0)]
        assert gaps[seams].max() <= 12 and np.delete(gaps, seams).max() <= 1  # smooth edges overlap where bands meet


def test_what_is_not_visible_looks_alike_and_is_no_accident():
    hidden = {"visible": {"knees": 0, "foot": 0}}
    codes = [with_part("foot", foot, with_part("knees", knees)) for knees in (0, 1) for foot in range(10)]
    pictures = drawn(codes, **hidden)
    assert (pictures == pictures[0]).all() and gap("elbows", **hidden) > 0


def test_visibility_is_gradual():
    found = [gap(size=64, visible={"knees": share}) for share in (0, 0.25, 0.5, 0.75, 1)]
    assert found[0] == 0 and all(low < high for low, high in pairwise(found))
    assert abs(found[2] - found[4] / 2) <= 1


@pytest.mark.parametrize(
    ("knob", "values"),
    [
        ("dot_size", (0.0, 0.13, 0.2, 0.3, 0.5)),
        ("contrast", (0.0, 0.2, 0.6, 1.0)),
        ("blur", (2.0, 0.8, 0.3, 0.0)),
        ("size", (8, 16, 32, 64)),
    ],
)
def test_knobs_are_gradual(knob, values):
    found = [gap(**{knob: value}) for value in values]
    assert all(low < high for low, high in pairwise(found)), found
    assert knob in ("blur", "size") or found[0] == 0


def test_a_deeper_toe_is_easier_to_see():
    flat = with_part("foot", 2)
    found = [gap("foot", 7, flat, np.sum, size=64, toe=toe) for toe in (0.0, 0.1, 0.3)]
    assert found[0] == 0 and found[0] < found[1] < found[2]


def test_blank_paper_without_contrast_and_ink_kept_by_blur():
    assert (drawn([PLAIN], contrast=0) == 255).all()
    sharp, soft = (255 * 3 * 64 * 64 - drawn([PLAIN], size=64, blur=blur).sum() for blur in (0.0, 0.3))
    assert abs(soft / sharp - 1) < 0.02


def test_left_and_right_have_their_own_colours_on_paper_of_one():
    picture = drawn([PLAIN], size=120)[0]
    assert picture[60, 50].tolist() == [240, 130, 30] and picture[60, 70].tolist() == [24, 150, 150]
    task = Robots(concepts="all", size=12)
    worlds = [World(task.space, PLAIN, {"colours": PAIR, "paper": paper}) for paper in task.style_choices["paper"]]
    papers = {picture.image[0, 0].tobytes() for picture in task.render_all(worlds)}
    assert len(papers) == len(worlds) == 3
    assert Robots(grey=True).layout.channels == 1 and Robots(grey=True).style_choices == {}


def test_colours_are_told_apart_from_each_other_and_from_black():
    gaps = np.linalg.norm(COLOURS[:, None] - COLOURS[None], axis=2) + 1000 * np.eye(len(COLOURS))
    assert len(COLOURS) == 16 and gaps.min() > 40
    assert (COLOURS @ [0.299, 0.587, 0.114]).min() > 80
