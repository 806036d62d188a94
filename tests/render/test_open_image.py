"""Files that come from elsewhere are opened as PNG, JPEG or WebP, and as nothing else."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import assay
from assay.base import DataError
from assay.dataset import decode
from assay.render import open_image, read_photograph

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n(marker) (w) file closefile\nshowpage\n"


def encoded(kind):
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((8, 8, 3), dtype=np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def sized(width, height):
    """Return a PNG file that says to be so large, and holds next to nothing."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_the_three_formats_are_opened(kind):
    with open_image(encoded(kind), "it") as image:
        assert image.size == (8, 8)


@pytest.mark.parametrize(
    "data",
    [EPS, encoded("GIF"), encoded("BMP"), encoded("TIFF"), encoded("PPM"), b"", b"text", sized(100_000, 100_000)],
)
def test_nothing_else_is_opened(data, tmp_path):
    with pytest.raises(DataError, match="is no PNG, JPEG or WebP file|at most 50,000,000 are read"):
        open_image(data, "it")
    with pytest.raises(DataError):
        decode(data)
    path = tmp_path / "photo.jpg"
    path.write_bytes(data)
    with pytest.raises(DataError):
        read_photograph(path, (8, 8))


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        open_image(tmp_path / "none.png", "none.png")


def test_pillow_opens_files_in_one_place_only():
    places = [
        path.name
        for path in Path(assay.__file__).parent.rglob("*.py")
        if "Image.open(" in path.read_text(encoding="utf-8")
    ]
    assert places == ["image_files.py"]


def test_a_picture_may_have_exactly_as_many_pixels_as_are_read():
    with open_image(sized(10_000, 5_000), "it") as opened:
        assert opened.size == (10_000, 5_000)
    with pytest.raises(DataError, match="has 10000 x 5001 pixels, at most 50,000,000"):
        open_image(sized(10_000, 5_001), "it")
