"""Positions in VALUED's files: numbers that go on from split to split, boards, boxes and FENs."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.data import export
from assay.errors import DataError
from assay.families.chess.export import _boxes, _jpeg, write_valued
from assay.families.chess.positions import SQUARES, VALUES
from assay.render import Box, ObjectBox, encode_png
from assay.tasks import TASKS
from assay.worlds import World

SPACE = TASKS["chess-flat"]().space


def board(**pieces):
    """Return the world of a few pieces by their squares."""
    return World(SPACE, tuple(VALUES.index(pieces[name]) if name in pieces else 0 for name in SQUARES), {})


def split(name, *worlds):
    """Return a split of positions, read in pieces of one row, each thing with a box of its own."""
    images = np.random.default_rng(len(name)).integers(0, 256, (len(worlds), 16, 16, 3)).astype(np.uint8)

    def piece(row):
        names = [square for square, code in zip(SQUARES, worlds[row].codes, strict=True) if code]
        things = tuple(ObjectBox(square, Box(n, n + 1, n + 3, n + 7)) for n, square in enumerate(names))
        return SimpleNamespace(
            concepts=np.array([worlds[row].codes]), pngs=[encode_png(images[row])],
            world=lambda _: worlds[row], things=[things],
        )  # fmt: skip

    return SimpleNamespace(name=name, pieces=lambda _: [piece(row) for row in range(len(worlds))], images=images)


def test_splits_are_written_as_valued_has_them(tmp_path):
    splits = {
        "train": split("train", board(a1="R", e8="k", c2="P"), board(h8="q")),
        "test": split("test", board(d4="N", a8="b")),
    }
    known = SimpleNamespace(space=SPACE)
    dataset = type("Splits", (), {"knowledge": known, "__getitem__": lambda _, name: splits[name]})()
    assert write_valued(dataset, ["train", "test"], tmp_path) == {"train": 2, "test": 1}

    def told(name, what):
        return json.loads((tmp_path / "labels" / f"{name}_{what}.json").read_text())

    assert told("train", "fen") == {"0": "4k3/8/8/8/8/8/2P5/R7", "1": "7q/8/8/8/8/8/8/8"}
    assert told("test", "fen") == {"2": "b7/8/8/8/3N4/8/8/8"}
    boards = told("train", "labels")
    first = np.zeros((8, 8), dtype=int)  # the last rank first; 1 to 12 are PNBRQK and pnbrqk
    first[7, 0], first[6, 2], first[0, 4] = 4, 1, 12
    assert boards["0"] == first.tolist() and boards["1"][0][7] == 11
    boxes = told("train", "bounding_boxes")
    assert boxes["0"] == {"R_a1": [0, 1, 3, 7], "P_c2": [1, 2, 4, 8], "k_e8": [2, 3, 5, 9]}
    assert told("test", "bounding_boxes")["2"] == {"N_d4": [0, 1, 3, 7], "b_a8": [1, 2, 4, 8]}
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jpg"))
    assert files == ["test/CV_0000002.jpg", "train/CV_0000000.jpg", "train/CV_0000001.jpg"]
    written = (tmp_path / "train" / "CV_0000001.jpg").read_bytes()
    assert written == _jpeg(encode_png(splits["train"].images[1]))


def test_a_piece_that_is_hidden_has_no_box():
    things = [ObjectBox("b3", Box(3, 4, 3, 4)), ObjectBox("g7", Box(1, 2, 2, 9))]
    assert _boxes(board(b3="N", g7="q"), things) == {"q_g7": [1, 2, 2, 9]}


def test_pictures_are_of_a_high_quality():
    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    expected = io.BytesIO()
    Image.fromarray(image).save(expected, "JPEG", quality=95)
    assert _jpeg(encode_png(image)) == expected.getvalue()


def test_other_datasets_are_no_chess(mnlogic, tmp_path):
    with pytest.raises(DataError, match="is of task 'mnlogic'; only chess can be written as VALUED"):
        export(mnlogic, "valued", tmp_path / "out")
