"""Decoded pictures in a file: each is decoded once, and comes back as it was; without room they are decoded again."""

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from assay.dataset import DecodedFile

SHAPE = (3, 4, 2)
PICTURES = np.random.default_rng(0).integers(0, 256, (10, *SHAPE), dtype=np.uint8)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return the rows that were decoded so far."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return []


def opened(asked):
    def decode(images, rows):
        asked.extend(rows.tolist())
        images[:] = PICTURES[rows]

    return DecodedFile(decode, 10, SHAPE)


def read(file, rows):
    images = np.zeros((len(rows), *SHAPE), dtype=np.uint8)
    file.fill(images, np.array(rows))
    assert (images == PICTURES[rows]).all()


def test_what_was_decoded_once_is_read_from_then_on(asked, tmp_path):
    file = opened(asked)
    for rows in ([7, 2], [2, 9, 7, 0], [0, 9], list(range(10))):
        read(file, rows)
    assert asked == [7, 2, 9, 0, 1, 3, 4, 5, 6, 8]
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]  # it has no name


def no_room(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4 * PICTURES.nbytes - 1))


def full(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError))


def half_written(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "pwrite", lambda *_: 1)


def no_folder(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))


@pytest.mark.parametrize("trouble", [no_room, full, half_written, no_folder])
def test_where_the_disk_has_no_room_pictures_are_decoded_again(trouble, asked, tmp_path, monkeypatch):
    trouble(monkeypatch, tmp_path)
    file = opened(asked)
    for _ in range(2):
        read(file, [3, 1])
    assert asked == [3, 1, 3, 1]
