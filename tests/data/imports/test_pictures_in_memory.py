"""Pictures that are given as arrays, and the size and colours that suit pictures."""

import io

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from assay.concepts import bits
from assay.data import BOUNDARY
from assay.data.imports.importing import _columns, _png
from assay.data.imports.pictures import LARGEST, fit_for
from assay.data.imports.write import boundary_columns
from assay.errors import DataError
from assay.logic import NO_RULE, Knowledge, Label

GREY = np.array([[0, 128], [255, 7]], dtype=np.uint8)


def pixels(file: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(file)))


@pytest.mark.parametrize("image", [GREY, GREY[:, :, None], GREY / 255])
def test_arrays_of_bytes_and_of_numbers_from_0_to_1_are_pictures(image: np.ndarray) -> None:
    assert pixels(_png(image, 0)).tolist() == GREY.tolist()


def test_files_stay_as_they_are_and_pictures_get_three_colours() -> None:
    file = _png(GREY, 0)
    assert _png(file, 0) is file
    assert pixels(_png(Image.fromarray(GREY), 0)).tolist() == np.stack([GREY] * 3, axis=2).tolist()
    assert pixels(_png(np.ones((2, 2)), 0)).tolist() == [[255, 255], [255, 255]]


@pytest.mark.parametrize("image", [GREY + 0.5, -(GREY / 255.0), np.zeros((2, 2, 2), np.uint8)])
def test_other_numbers_are_refused(image: np.ndarray) -> None:
    with pytest.raises(DataError, match="picture 3: .*; give height x width"):
        _png(image, 3)


def file(width: int, height: int, mode: str = "L", orientation: int = 0) -> bytes:
    buffer = io.BytesIO()
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    Image.new(mode, (width, height)).save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("files", "asked", "expected"),
    [
        ([file(20, 30)] * 2, None, (20, 30, 1)),
        ([file(20, 30), file(20, 30, "RGB")], None, (20, 30, 3)),
        ([file(20, 30), file(30, 20)], None, (LARGEST, LARGEST, 1)),
        ([file(LARGEST, 9)], None, (LARGEST, 9, 1)),
        ([file(LARGEST + 1, 9)], None, (LARGEST, LARGEST, 1)),
        ([file(20, 30, orientation=6), file(30, 20)], None, (30, 20, 1)),  # the camera was held upright
        ([file(20, 30, orientation=3)], None, (20, 30, 1)),
        ([file(20, 30)], 8, (8, 8, 1)),
        ([file(20, 30)], (8, 9), (8, 9, 1)),
    ],
)
def test_the_size_is_that_of_the_pictures_if_all_are_alike_and_small(files, asked, expected) -> None:
    layout = fit_for(files, ["x"] * len(files), asked, "crop").layout
    assert (layout.width, layout.height, layout.channels) == expected


def test_examples_lie_in_the_rule_as_far_as_they_are_known() -> None:
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})
    codes = np.array([[1, 1], [-1, 1], [1, 0]])
    found = boundary_columns(knowledge, codes)
    tags = [boundary.tags(codes[[0, 2]]) for boundary in knowledge.boundaries]
    unplaced = found[BOUNDARY + "y"].to_pylist()[1]
    for name, own in zip(("y", "z"), tags, strict=True):
        assert found[BOUNDARY + name].to_pylist() == [own[0], unplaced, own[1]]
    assert unplaced not in tags[0]
    nowhere = boundary_columns(knowledge, np.full((2, 2), -1))
    unruled = boundary_columns(Knowledge(bits(["a", "b"]), (Label("y", NO_RULE, (False, True)),)), codes)
    assert {*nowhere[BOUNDARY + "y"].to_pylist(), *unruled[BOUNDARY + "y"].to_pylist()} == {unplaced}


def test_tables_of_every_kind_have_the_same_columns() -> None:
    import pandas as pd

    expected = {"a": [1, 2], "b": ["x", "y"]}
    for table in (expected, pa.table(expected), pd.DataFrame(expected), [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]):
        assert {name: list(column) for name, column in _columns(table).items()} == expected
