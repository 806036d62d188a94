"""Positions in VALUED's files: numbers that go on from split to split, boards, boxes and FENs."""

import json

import chess
import numpy as np
import pytest
from PIL import Image

from assay.base import DataError, Settings
from assay.dataset import Dataset, Recipe, make
from assay.exchange import export


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valued") / "data"
    sizes = {"train": 6, "valid": 0, "test": 3, "hard": 0, "ood": 0, "pairs": 0}
    settings = Settings({"width": 64, "room": False, "quality": "draft"})
    make(Recipe("chess", settings, sizes=tuple(sizes.items())), folder)
    return Dataset.open(folder)


def test_splits_are_written_as_valued_has_them(dataset, tmp_path):
    assert export(dataset, "valued", tmp_path / "out", ["train", "test"]) == {"train": 6, "test": 3}
    number = 0
    for name in ("train", "test"):
        labels, fen, boxes = (
            json.loads((tmp_path / "out" / "labels" / f"{name}_{what}.json").read_text())
            for what in ("labels", "fen", "bounding_boxes")
        )
        split = dataset[name]
        for row in range(len(split)):
            key, board = str(number), chess.Board(f"{fen[str(number)]} w - - 0 1")
            world = split.world(row)
            pieces = {chess.SQUARE_NAMES[square]: piece.symbol() for square, piece in board.piece_map().items()}
            assert pieces == {square: value for square, value in world.values.items() if value != "empty"}
            numbers = np.array(labels[key])[::-1].ravel()  # the last rank is first; 1 to 12 are PNBRQK and pnbrqk
            assert ["-PNBRQKpnbrqk"[n] for n in numbers] == [pieces.get(square, "-") for square in chess.SQUARE_NAMES]
            seen = {t.name: t.box for t in split.things[row] if t.box.right > t.box.left}  # what is hidden has no box
            assert boxes[key] == {f"{pieces[s]}_{s}": [b.left, b.top, b.right, b.bottom] for s, b in seen.items()}
            with Image.open(tmp_path / "out" / name / f"CV_{number:07d}.jpg") as image:
                apart = np.abs(np.asarray(image).astype(int) - split.images[row])
            assert image.size == (64, 64) and apart.mean() < 4  # of a high quality
            number += 1
    assert number == 9 and len(list((tmp_path / "out").rglob("*.jpg"))) == 9


def test_other_datasets_are_no_chess(mnlogic, tmp_path):
    with pytest.raises(DataError, match="is of task 'mnlogic'; only chess can be written as VALUED"):
        export(mnlogic, "valued", tmp_path / "out")
