"""Writing chess positions as VALUED has them: images, and by number the board, the boxes of its pieces and the FEN.

`SPLIT/CV_0000000.jpg`, `labels/SPLIT_labels.json` (8 x 8 numbers, the last rank first; 0 is empty, 1 to 12 are PNBRQK
and pnbrqk), `labels/SPLIT_bounding_boxes.json` (`P_e4`: left, top, right, bottom), `labels/SPLIT_fen.json`. Numbers
go on from split to split. Boxes are those of what is seen of a piece, so that one that is hidden has none.
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.base import DataError, write_atomically
from assay.dataset import Dataset, SplitData, decode
from assay.families.chess.positions import SQUARES, VALUES, fens
from assay.render import ObjectBox
from assay.worlds import World

JPEG = 95

ROWS = 64
"""How many rows are read at a time."""


def write_valued(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a chess dataset; return how many examples of each."""
    if dataset.knowledge.space.names != SQUARES:
        raise DataError(f"{str(dataset.folder)!r} is of task {dataset.name!r}; only chess can be written as VALUED")
    sizes: dict[str, int] = {}
    for name in splits:
        sizes[name] = _write_split(dataset[name], folder, sum(sizes.values()))
    return sizes


def _write_split(data: SplitData, folder: Path, first: int) -> int:
    boards, boxes, texts = dict[str, Any](), dict[str, Any](), dict[str, str]()
    for piece in data.pieces(ROWS):
        fen = fens(piece.concepts)
        for row, image in enumerate(piece.pngs):
            number = first + len(boards)
            boxes[str(number)] = _boxes(piece.world(row), piece.things[row])
            texts[str(number)] = fen[row]
            boards[str(number)] = piece.concepts[row].reshape(8, 8)[::-1].tolist()
            write_atomically(folder / data.name / f"CV_{number:07d}.jpg", _jpeg(image))
    for what, content in (("labels", boards), ("bounding_boxes", boxes), ("fen", texts)):
        write_atomically(folder / "labels" / f"{data.name}_{what}.json", json.dumps(content).encode())
    return len(boards)


def _boxes(world: World, things: Sequence[ObjectBox]) -> dict[str, list[int]]:
    boxes = {}
    for thing in things:
        box = thing.box
        if box.right > box.left:
            piece = VALUES[world.codes[SQUARES.index(thing.name)]]
            boxes[f"{piece}_{thing.name}"] = [box.left, box.top, box.right, box.bottom]
    return boxes


def _jpeg(image: bytes) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(decode(image))).save(buffer, "JPEG", quality=JPEG)
    return buffer.getvalue()
