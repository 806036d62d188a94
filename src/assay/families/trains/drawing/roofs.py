"""Roofs: posts with a frame, alone or with a flat plate, slats, or a gable on top of it."""

from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.trains.drawing.cars import DECK, WIDTH, body
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Mesh, extrude, mesh_of, union

TOP = 3.10
"""The height of the frame's lower side."""
POST, BAR = 0.13, 0.15


@cache
def roof(kind: str, length: str) -> Mesh:
    """Return a roof: the foundation, or the foundation with something on it."""
    cover = {"foundation": None, "solid": _plate, "braced": _slats, "peaked": _gable}[kind]
    base = _foundation(body(length))
    return mesh_of(f"roof-{kind}-{length}", base if cover is None else base + cover(body(length)))


def _foundation(length: float) -> Manifold:
    """Return four posts in the corners and the frame that they carry."""
    x, y = (length - POST) / 2, (WIDTH - POST) / 2
    posts = [
        bevelled_box(POST, POST, TOP - DECK + 0.02, 0.02).translate((a * x, b * y, DECK))
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    sides = [bevelled_box(length, BAR, BAR, 0.02).translate((0, b * (WIDTH - BAR) / 2, TOP)) for b in (-1, 1)]
    ends = [bevelled_box(BAR, WIDTH, BAR, 0.02).translate((a * (length - BAR) / 2, 0, TOP)) for a in (-1, 1)]
    return union(*posts, *sides, *ends)


def _plate(length: float) -> Manifold:
    return bevelled_box(length + 0.16, WIDTH + 0.16, 0.2, 0.06).translate((0, 0, TOP + BAR - 0.04))


def _slats(length: float) -> Manifold:
    """Return boards across the frame, on edge, with gaps between them: its outline has teeth."""
    count = 7 if length > 2.5 else 5
    step = (length - 0.16) / (count - 1)
    places = np.arange(count) * step - (length - 0.16) / 2
    return union(*(bevelled_box(0.16, WIDTH, 0.36, 0.03).translate((float(x), 0, TOP + BAR - 0.02)) for x in places))


def _gable(length: float) -> Manifold:
    half, height = WIDTH / 2 + 0.1, 0.72
    side = extrude([(-half, 0), (half, 0), (half, 0.08), (0, height), (-half, 0.08)], length + 0.16)
    return side.rotate((90, 0, 90)).translate((-(length + 0.16) / 2, 0, TOP + BAR - 0.03))
