"""Decoded pictures in a file: each is decoded once, and comes back as it was."""

from pathlib import Path

import numpy as np
import pytest

from assay.data import DecodedFile, decoded_file

SHAPE = (3, 4, 2)
PICTURES = np.random.default_rng(0).integers(0, 256, (10, *SHAPE), dtype=np.uint8)


class Decoder:
    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, images: np.ndarray, rows: np.ndarray) -> None:
        self.asked += rows.tolist()
        images[:] = PICTURES[rows]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoded_file, "cache_folder", lambda: tmp_path)


def read(file: DecodedFile, rows: list[int]) -> np.ndarray:
    images = np.zeros((len(rows), *SHAPE), dtype=np.uint8)
    file.fill(images, np.array(rows))
    return images


def test_what_was_decoded_once_is_read_from_then_on(tmp_path: Path) -> None:
    decoder = Decoder()
    file = DecodedFile(decoder, 10, SHAPE)
    for rows in ([7, 2], [2, 9, 7, 0], [0, 9], list(range(10))):
        assert (read(file, rows) == PICTURES[rows]).all()
    assert decoder.asked == [7, 2, 9, 0, 1, 3, 4, 5, 6, 8]
    assert (tmp_path / "decoded").is_dir() and not list((tmp_path / "decoded").iterdir())  # it has no name


@pytest.mark.parametrize("room", ["small", "none"])
def test_where_the_disk_has_no_room_pictures_are_decoded_again(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if room == "small":
        usage = type("Usage", (), {"free": 4 * 10 * int(np.prod(SHAPE)) - 1})
        monkeypatch.setattr(decoded_file.shutil, "disk_usage", lambda _: usage)
    else:
        monkeypatch.setattr(decoded_file.os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError))
    decoder = Decoder()
    file = DecodedFile(decoder, 10, SHAPE)
    for _ in range(2):
        assert (read(file, [3, 1]) == PICTURES[[3, 1]]).all()
    assert decoder.asked == [3, 1, 3, 1]


def test_a_quarter_of_the_free_disk_may_be_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 4 * 10 * int(np.prod(SHAPE))})
    monkeypatch.setattr(decoded_file.shutil, "disk_usage", lambda _: usage)
    assert DecodedFile(Decoder(), 10, SHAPE).descriptor is not None


def test_a_picture_half_written_is_decoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoded_file.os, "pwrite", lambda *_: 1)
    decoder = Decoder()
    file = DecodedFile(decoder, 10, SHAPE)
    assert (read(file, [3]) == read(file, [3])).all() and decoder.asked == [3, 3]
