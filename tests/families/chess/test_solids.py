"""Pieces and chairs, probed: notches of crowns, crosses and cuts, eyes and ears, rails and legs where they belong."""

from itertools import product

import numpy as np
import pytest

from assay.families.chess.drawing import pieces, room
from tests.families.probes import bare_solids, extent, require_matter

BOTH = (-1, 1)


def around(radius, height, turns):
    """Points at a distance from the axis, at some turns in degrees."""
    return [(radius * float(np.cos(a)), radius * float(np.sin(a)), height) for a in np.radians(turns)]


def test_a_pawn_is_a_ball_on_a_collar_on_a_waist():
    made = pieces._pawn()
    assert extent(made) == pytest.approx([-0.3, -0.3, 0, 0.3, 0.3, 0.905], abs=2e-3)
    require_matter(
        made,
        [(0.16, 0, 0.73), (0.17, 0, 0.54), (0.08, 0, 0.49), (0.28, 0, 0.04), (0.0, 0.0, 0.89)],
        [(0.19, 0, 0.73), (0.2, 0, 0.54), (0.13, 0, 0.49), (0.29, 0, 0.13), (0.15, 0, 0.6)],
    )


def test_a_tower_has_four_notches_around_a_well():
    made, straight = pieces._rook(), np.arange(4) * 90.0
    require_matter(
        made,
        [*around(0.26, 1.0, straight), *around(0.26, 0.92, straight + 45), (0, 0, 0.9), (0.29, 0, 0.9)],
        [*around(0.26, 1.0, straight + 45), (0, 0, 1.0), (0, 0, 0.95), (0.26, 0, 0.55), (0.26, 0, 1.08)],
    )
    assert extent(made)[2::3] == pytest.approx([0, 1.06], abs=1e-4)


def test_a_mitre_is_cut_on_one_side():
    made = pieces._bishop()
    middle = (0.02 + 0.1 * float(np.cos(np.radians(52))), 1.1 + 0.1 * float(np.sin(np.radians(52))))
    require_matter(
        made,
        [
            (0, middle[0], middle[1]),
            (middle[0], 0, middle[1]),
            (-middle[0], 0, middle[1]),
            (0, -0.034, 1.216),
            (0, -0.02, 1.1),
            (0, 0, 1.43),
            (0.18, 0, 1.04),
        ],
        [(0, -middle[0], middle[1]), (0.05, -middle[0], middle[1]), (-0.05, -middle[0], middle[1]), (0.21, 0, 1.04)],
    )
    assert extent(made)[5] == pytest.approx(1.447, abs=1e-3)


def test_a_crown_has_eight_notches_and_a_ball():
    made, every = pieces._queen(), np.arange(8) * 45.0
    require_matter(
        made,
        [*around(0.25, 1.455, every + 22.5), *around(0.232, 1.42, every + 22.5), (0, 0, 1.55), (0.09, 0, 1.47)],
        [*around(0.25, 1.455, every), (0.12, 0, 1.5), (0, 0, 1.58)],
    )
    assert extent(made)[5] == pytest.approx(1.57, abs=2e-3)


def test_a_king_has_a_cross_of_two_bars():
    made = pieces._king()
    require_matter(
        made,
        [(0.12, 0, 1.69), (-0.12, 0, 1.69), (0.12, 0.04, 1.73), (0, 0, 1.82), (0, 0.04, 1.6)],
        [(0.12, 0, 1.62), (0, 0.12, 1.69), (0.12, 0, 1.76), (0.16, 0, 1.69), (0.07, 0, 1.8), (0, 0, 1.85)],
    )
    assert extent(made)[5] == pytest.approx(1.84, abs=1e-4)


def test_a_horse_has_eyes_ears_and_a_mouth():
    made = pieces._knight()
    require_matter(
        made,
        [(0.13, b * 0.145, 0.94) for b in BOTH] + [(-0.013, b * 0.0855, 1.204) for b in BOTH] + [(0, 0, 0.6)],
        [(0.36, y, 0.74) for y in (-0.05, 0.0, 0.05)] + [(0.13, b * 0.17, 0.94) for b in BOTH],
    )
    ears = pieces._ears()
    require_matter(ears, [(0.02, b * 0.075, 0.86) for b in BOTH], [(0.02, 0, 0.86), (0.02, 0.13, 0.86)])


def test_a_horse_is_thinner_towards_its_outline_on_both_sides():
    # at its middle height the back of the neck is 0.28 behind the middle, scaled to 0.97, 0.90 and 0.76 on the way out
    backs = {0.05: 0.9833, 0.12: 0.935, 0.17: 0.844, 0.19: 0.788}
    require_matter(
        pieces._rounded_horse(),
        [(-0.03 - 0.28 * share + 0.012, side * y, 0.5) for y, share in backs.items() for side in BOTH],
        [(-0.03 - 0.28 * share - 0.012, side * y, 0.5) for y, share in backs.items() for side in BOTH]
        + [(-0.03, side * 0.21, 0.5) for side in BOTH],
    )


def test_a_chair_has_four_legs_two_posts_and_three_rails(monkeypatch):
    bare_solids(monkeypatch, room)
    require_matter(
        room.chair_mesh.__wrapped__(),
        [(0.31 * a, 0.29 * b, -1.0) for a, b in product(BOTH, BOTH)]
        + [(0.32 * a, 0.31, 0.1) for a in BOTH]
        + [(x, 0.31, -0.58 + height + 0.05) for x in (-0.25, 0.0, 0.25) for height in (0.22, 0.46, 0.78)]
        + [(0.3, 0.3, -0.55), (-0.3, -0.3, -0.55)],
        [(0, 0.31, z) for z in (-0.42, -0.2, 0.1, 0.33)]
        + [(0.32 * a, -0.31, 0.1) for a in BOTH]
        + [(0, 0, -1.0), (0, 0, -0.5), (0, 0.35, -0.3)],
    )


def test_a_table_stands_on_four_legs_that_narrow_downwards(monkeypatch):
    bare_solids(monkeypatch, room)
    require_matter(
        room.table_mesh.__wrapped__(),
        [(0.65 * a, 0.52 * b, z) for a, b in product(BOTH, BOTH) for z in (-1.4, -0.7, -0.1)]
        + [(0.65 + 0.04, 0.52, -0.1), (0.7, 0.58, -0.06)],
        [(0.65 + 0.043, 0.52, -1.4), (0, 0, -0.1), (0, 0.52, -1.0), (0.65, 0, -1.0), (0, 0, -0.02)],
    )
