"""Where the camera sees the floor, what bodies hide of one another, and which places are allowed: by hand."""

from math import atan, degrees, hypot, radians, tan

import numpy as np
import pytest

from assay.families.clevr import placement as placing
from assay.families.clevr.placement import (
    ASPECT,
    DISC,
    EYE,
    FOV,
    REACH,
    RIM,
    TARGET,
    Bodies,
    CameraView,
    OrderedPlacement,
    Placement,
)

NONE = np.zeros((0, 2))


def room(**settings):
    usual = {"least": 0.3, "most": 0.7, "apart": 0.25, "margin": 0.4, "share": 0.4}
    return Placement(CameraView(320, 240), **{**usual, **settings})


@pytest.mark.parametrize(
    ("width", "height", "reach", "wide"),
    [
        (320, 240, REACH, 1.0),
        (640, 240, REACH, 2.0),
        (240, 320, REACH, 1.0),
        (320, 240, 1.5, 0.5),
        (480, 240, 4.5, 2.25),
    ],
)
def test_the_camera_sees_as_much_to_the_sides_as_the_picture_is_wide(width, height, reach, wide):
    view = CameraView(width, height, reach, (0.3, -0.4, 0.2))
    assert width / height / ASPECT <= wide / (reach / REACH)
    assert view.camera.eye == pytest.approx(np.add(EYE, (0.3, -0.4, 0.2))) and view.camera.target == TARGET
    half = wide * tan(radians(FOV / 2))
    assert view.camera.fov == pytest.approx(2 * degrees(atan(half)))
    assert view.focus == pytest.approx(width / 2 / half)


def test_points_are_projected_along_three_axes_that_are_at_right_angles():
    view = CameraView(320, 200, 2.5, (0.5, 0.3, -0.2))
    assert view.axes @ view.axes.T == pytest.approx(np.eye(3), abs=1e-12)
    right, up, ahead = view.axes
    assert right[2] == 0 and right[0] > 0 and up[2] > 0 and np.cross(right, up) == pytest.approx(-ahead)
    target = np.array(TARGET)
    distance = np.linalg.norm(target - view.camera.eye)
    points = np.stack([target, target + 0.5 * right, target + 0.25 * up, target + 2.0 * ahead + right])
    seen = view.project(points.reshape(2, 2, 3)).reshape(4, 3)
    step = view.focus / distance
    assert seen[:3, :2] == pytest.approx(np.array([[160, 100], [160 + 0.5 * step, 100], [160, 100 - 0.25 * step]]))
    assert seen[3] == pytest.approx([160 + view.focus / (distance + 2), 100, distance + 2])
    assert seen[:3, 2] == pytest.approx([distance] * 3)


def test_bodies_are_capsules_from_foot_to_head():
    view, spots = CameraView(320, 240), np.array([[0.5, -1.0], [-1.5, 2.0]])
    for tall, high in ((2.0, 1.5), (1.0, 0.5), (0.8, 0.5)):  # never upside down
        bodies = Bodies.at(view, spots, 0.6, tall)
        for place, (x, y) in enumerate(spots):
            foot, head = view.project(np.array([x, y, 0.5 * 0.6])), view.project(np.array([x, y, high * 0.6]))
            assert bodies.columns[place] == pytest.approx(foot[0]) and bodies.bottoms[place] == pytest.approx(foot[1])
            assert bodies.tops[place] == pytest.approx(head[1]) and bodies.tops[place] <= bodies.bottoms[place]
            assert bodies.halves[place] == pytest.approx(0.6 * view.focus / foot[2])
            assert bodies.depths[place] == pytest.approx(view.project(np.array([x, y, 0.0]))[2])
    assert Bodies.at(view, spots, 0.6).tops == pytest.approx(Bodies.at(view, spots, 0.6, 2.0).tops)


def capsules():
    """A body at column 50 from row 20 to 60 of half width 10, and a flat one at 70, 40 of half width 4."""
    return Bodies(*(np.array(part, dtype=float) for part in ([50, 70], [20, 40], [60, 40], [10, 4], [5, 9])))


def test_points_are_all_over_both_ends_of_a_body():
    points = capsules().points()
    assert points.shape == (2, 2 * len(DISC), 2) and len(DISC) == 36
    top, bottom = points[0, :36], points[0, 36:]
    assert top == pytest.approx(np.array([50, 20]) + 10 * DISC) and bottom == pytest.approx(
        np.array([50, 60]) + 10 * DISC
    )
    assert points[1, :36] == pytest.approx(np.array([70, 40]) + 4 * DISC)


def test_a_body_covers_what_is_near_the_line_from_top_to_bottom():
    asked = {
        (50, 10): (True, False),  # just at its top
        (50, 9.9): (False, False),
        (60, 40): (True, False),  # beside its middle
        (60.1, 40): (False, False),
        (56, 67): (True, False),  # below its foot, by 9.2
        (58, 67): (False, False),  # by 10.6
        (66, 40): (False, True),
        (70, 44.1): (False, False),
        (73, 42): (False, True),
    }
    found = capsules().cover(np.array([*asked], dtype=float))
    assert found.T.tolist() == [list(wanted) for wanted in asked.values()]
    grid = capsules().cover(np.array([*asked], dtype=float).reshape(3, 3, 2))
    assert grid.shape == (2, 3, 3) and (grid.reshape(2, 9) == found).all()


def test_what_is_nearer_hides_and_what_is_farther_does_not():
    usual, spots = room(), np.array([[0.0, -1.5], [0.6, 0.4], [2.2, 0.0]])  # the first stands before the second
    shares = usual.visible_shares(spots)
    small, large = Bodies.at(usual.view, spots, 0.3, tall=1.0), Bodies.at(usual.view, spots, 0.7)
    points = small.points()[1]
    inside = [
        hypot(column - large.columns[0], row - min(max(row, large.tops[0]), large.bottoms[0])) <= large.halves[0]
        for column, row in points
    ]
    assert shares == pytest.approx([1.0, 1 - np.mean(inside), 1.0]) and 0 < shares[1] < 1
    whole = room(share=1.0).visible_shares(spots)  # as large and tall as can be
    points = large.points()[1]
    inside = [
        hypot(column - large.columns[0], row - min(max(row, large.tops[0]), large.bottoms[0])) <= large.halves[0]
        for column, row in points
    ]
    assert whole == pytest.approx([1.0, 1 - np.mean(inside), 1.0]) and whole[1] != pytest.approx(shares[1])


def test_two_that_hide_the_same_part_hide_it_once():
    usual, one = room(), np.array([[0.0, -1.5], [0.6, 0.4]])
    twice = np.array([[0.0, -1.5], [0.6, 0.4], [0.0, -1.5]])
    assert usual.visible_shares(twice)[1] == pytest.approx(usual.visible_shares(one)[1])


def allowed(usual, spots, spot):
    """Whether one more object can stand at a spot, by the words of the docstring."""
    view, spot = usual.view, np.array(spot)
    body = Bodies.at(view, spot[None], usual.most)
    rim, half = RIM * view.width, body.halves[0]
    if not (rim <= body.columns[0] - half and body.columns[0] + half <= view.width - rim):
        return False
    if not (rim <= body.tops[0] - half and body.bottoms[0] + half <= view.height - rim):
        return False
    if any(hypot(*(spot - other)) < 2 * usual.most + usual.apart for other in spots):
        return False
    pixels = view.focus / -np.dot(view.camera.eye, view.axes[2])  # at the middle of the floor
    columns = [view.project(np.array([*other, 0.0]))[0] for other in spots]
    column = view.project(np.array([*spot, 0.0]))[0]
    if any(abs(column - other) < usual.margin * pixels for other in columns):
        return False
    together = np.concatenate([spots, spot[None]])
    return bool((usual.visible_shares(together) >= usual.share).all())


@pytest.mark.parametrize(
    "settings",
    [{}, {"margin": 1.1}, {"apart": 1.0, "margin": 0.0}, {"share": 1.0}, {"most": 0.4, "margin": 0.1, "share": 0.7}],
)
def test_the_first_place_that_is_allowed_is_taken(settings):
    usual = room(**settings)
    rng = np.random.default_rng(7)
    spots = np.array([[-1.0, -0.5], [1.2, 1.0]])
    for held in (NONE, spots[:1], spots):
        candidates = rng.uniform(-3.4, 3.4, (30, 2))
        fitting = [spot for spot in candidates if allowed(usual, held, spot)]
        assert 0 < len(fitting) < 30
        assert usual.fitting_spot(held, candidates).tolist() == [fitting[0].tolist()]
        refused = np.array([spot for spot in candidates if not allowed(usual, held, spot)])
        assert usual.fitting_spot(held, refused).shape == (0, 2)
        single = [len(usual.fitting_spot(held, spot[None])) for spot in candidates]
        assert single == [int(allowed(usual, held, spot)) for spot in candidates]


def test_places_are_sorted_as_they_are_seen_and_none_are_found_where_there_is_no_room():
    usual = room().seen_from((0.4, 0.2, -0.3))
    assert usual.view.jitter == (0.4, 0.2, -0.3) and usual.seen_from([0, 0, 0]).view == room().view
    found = [usual.scatter(np.random.default_rng(seed), 3) for seed in range(6)]
    for spots in found:
        assert spots is not None and spots.shape == (3, 2) and (spots == spots.round(3)).all()
        columns = usual.columns(spots)
        assert (np.diff(columns) > 0).all() and np.abs(spots).max() <= REACH
        assert columns == pytest.approx([usual.view.project(np.array([*spot, 0.0]))[0] for spot in spots])
    assert any((np.diff(spots[:, 1]) < 0).any() for spots in found)
    full = room(apart=4.0)
    assert full.scatter(np.random.default_rng(0), 4) is None
    assert full.find_spots(np.random.default_rng(0), 4, 3) is None
    assert room().farthest == pytest.approx(CameraView(320, 240).project(np.array([0, REACH, 0.0]))[2])


class Tries(Placement):
    """A room in which places are found on some tries only."""

    def scatter(self, rng, count):
        return NONE if next(rng) else None


def test_a_room_holds_what_fits_in_more_than_a_third_of_twelve_tries():
    tries = Tries(CameraView(320, 240), 0.3, 0.7, 0.25, 0.4, 0.4)
    assert tries.holds(iter([1] * 5 + [0] * 7 + [1] * 9), 2) and not tries.holds(iter([1] * 4 + [0] * 8 + [1] * 9), 2)
    assert tries.find_spots(iter([0, 0, 1]), 2, 3) is NONE and tries.find_spots(iter([0, 0, 1]), 2, 2) is None


def test_candidates_are_all_over_the_floor(monkeypatch):
    wide = Placement(CameraView(320, 240, 1.25), 0.3, 0.7, 0.25, 0.4, 0.4)
    drawn = wide.draw_candidates(np.random.default_rng(0))
    assert drawn.shape == (placing.CANDIDATES, 2) and np.abs(drawn).max() <= 1.25
    assert (drawn.min(axis=0) < -1.0).all() and (drawn.max(axis=0) > 1.0).all()
    assert (drawn == drawn.round(3)).all() and (drawn != drawn.round(2)).any()


def test_ordered_places_are_nearer_or_farther_than_every_other():
    ordered = OrderedPlacement.of(room(apart=0.0, most=0.3, margin=0.1, share=0.0))
    assert ordered.gap == 0.1 and ordered.view == room().view
    spots = np.array([[-1.5, -1.0], [1.5, 1.0]])
    candidates = np.random.default_rng(3).uniform(-2.5, 2.5, (80, 2))
    columns, depths = ordered.seen_at(candidates)
    held = ordered.seen_at(spots)[1]
    clear = 0.05 * ordered.view.focus / ordered.farthest
    usual = room(apart=0.0, most=0.3, margin=0.1, share=0.0)
    single = [len(ordered.fitting_spot(spots, spot[None])) for spot in candidates]
    assert single == [
        int(
            abs(column - 160) >= clear
            and min(abs(depth - held[0]), abs(depth - held[1])) >= 0.1
            and len(usual.fitting_spot(spots, spot[None])) == 1
        )
        for column, depth, spot in zip(columns, depths, candidates, strict=True)
    ]
    near = [(abs(depth - held) < 0.1).sum() for depth in depths]
    assert near.count(1) > 3 and 10 < sum(single) < 75
