"""Photographs in one size: as large as fits, in the middle, with grey bars, and boxes where their objects are."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from assay.base import DataError
from assay.render import Box, Letterbox, read_photograph

BAR = 114

FITS = {
    ((640, 480), (224, 224)): Letterbox(224, 168, 0, 28),
    ((480, 640), (224, 224)): Letterbox(168, 224, 28, 0),
    ((10, 10), (30, 20)): Letterbox(20, 20, 5, 0),
    ((1000, 1), (10, 10)): Letterbox(10, 1, 0, 4),  # never without a pixel
    ((3, 2), (3, 2)): Letterbox(3, 2, 0, 0),
}


@pytest.mark.parametrize("sizes", FITS)
def test_the_largest_fit_in_the_middle(sizes):
    assert Letterbox.of(*sizes) == FITS[sizes]


def test_bars_are_around_the_picture():
    fit = Letterbox.of((4, 2), (8, 8))
    image = np.arange(1, 33, dtype=np.uint8).reshape(4, 8)
    padded = fit.pad(image, (8, 8))
    assert (padded[2:6] == image).all() and (padded[[0, 1, 6, 7]] == BAR).all()
    assert fit.pad(np.zeros((4, 8, 3), np.uint8), (8, 8), bar=7)[0, 0].tolist() == [7, 7, 7]
    upright = Letterbox.of((2, 4), (8, 6))
    assert upright.pad(np.zeros((6, 3), np.uint8), (8, 6)).nonzero()[1].tolist().count(2) == 0


def test_boxes_move_along():
    fit = Letterbox.of((640, 480), (224, 224))  # 0.35 of the size, 28 down
    assert fit.box((0, 0, 640, 480), (640, 480)) == Box(0, 28, 224, 196)
    assert fit.box((100, 200, 40, 60), (640, 480)) == Box(35, 98, 49, 119)
    assert fit.box((-50, -50, 1000, 60), (640, 480)) == Box(0, 28, 224, 32)  # what is outside is cut
    tall = Letterbox.of((480, 640), (224, 224))
    assert tall.box((200, 100, 60, 40), (480, 640)) == Box(98, 35, 119, 49)


def test_a_photograph_is_read_into_its_place(tmp_path: Path):
    image = np.zeros((20, 40, 3), dtype=np.uint8)
    image[:, 20:] = (200, 100, 50)
    Image.fromarray(image).save(tmp_path / "photo.png")
    read = read_photograph(tmp_path / "photo.png", (16, 16))
    assert read.shape == (16, 16, 3) and (read[[0, 3, 12, 15]] == BAR).all()
    assert read[8, 2].tolist() == [0, 0, 0] and read[8, 13].tolist() == [200, 100, 50]
    (tmp_path / "photo.png").write_bytes((tmp_path / "photo.png").read_bytes()[:60])
    with pytest.raises(DataError, match=r"'photo.png'"):
        read_photograph(tmp_path / "photo.png", (16, 16))


def test_grey_and_tall_photographs_are_read_in_colour(tmp_path: Path):
    pixels = np.zeros((40, 10), np.uint8)
    pixels[20:] = 200
    Image.fromarray(pixels).save(tmp_path / "grey.png")
    read = read_photograph(tmp_path / "grey.png", (30, 20))
    assert read.shape == (20, 30, 3) and read[4, 15].tolist() == [0, 0, 0] and read[15, 15].tolist() == [200] * 3
    assert (read[:, :12] == BAR).all() and (read[:, 18:] == BAR).all()
