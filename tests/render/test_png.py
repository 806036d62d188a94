"""PNG files hold the pixels that went in, as any reader sees them."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from assay.base import DataError, rng_for
from assay.dataset import decode
from assay.render import Box, Layout, decode_png, encode_png, packed_pixels


@pytest.mark.parametrize("shape", [(1, 1), (28, 56), (1, 64), (300, 200), (28, 28, 1), (5, 7, 3), (120, 360, 3)])
@pytest.mark.parametrize("high", [2, 256])
def test_pixels_come_back(shape: tuple[int, ...], high: int) -> None:
    image = rng_for(0, "png", shape, high).integers(high, size=shape).astype(np.uint8)
    with Image.open(io.BytesIO(encode_png(image))) as opened:
        opened.verify()  # the checksums
    with Image.open(io.BytesIO(encode_png(image))) as opened:
        assert (np.asarray(opened).ravel() == image.ravel()).all() and opened.size == (shape[1], shape[0])
    back = decode(encode_png(image))
    assert np.array_equal(decode_png(encode_png(image)), back)  # own files are read without an image library
    assert back.ndim == 3 and (back == image.reshape(back.shape)).all()


def test_files_of_other_programs_are_read() -> None:
    """Filters, palettes, interlacing, 16 bits, several chunks: none of these does `encode_png` write."""
    smooth = np.add.outer(np.arange(90), np.arange(80)).astype(np.uint8)
    others = {
        "filter": Image.fromarray(np.stack([smooth, smooth, smooth], axis=2)),
        "palette": Image.fromarray(smooth % 4).convert("P"),
        "alpha": Image.fromarray(np.stack([smooth] * 4, axis=2)),
        "wide": Image.fromarray(smooth.astype(np.uint16) * 200),
    }
    for name, image in others.items():
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        pixels = np.asarray(image).reshape(90, 80, -1)
        assert decode_png(buffer.getvalue()) is None, name
        assert np.array_equal(decode(buffer.getvalue()), pixels), name


def test_damaged_files_are_refused() -> None:
    data = encode_png(np.arange(200, dtype=np.uint8).reshape(10, 20))
    for damaged in (
        data[:60] + bytes([data[60] ^ 255]) + data[61:],
        data[:20],
        b"",
        data[:16] + b"\xff" * 40,
    ):
        assert decode_png(damaged) is None
        with pytest.raises((DataError, OSError, SyntaxError, ValueError)):
            decode(damaged)


def test_a_header_that_lies_about_the_size() -> None:
    data = bytearray(encode_png(np.zeros((10, 20), dtype=np.uint8)))
    data[19] = 19  # the width
    assert decode_png(bytes(data)) is None


def test_strided_pixels_come_back() -> None:
    image = np.arange(200, dtype=np.uint8).reshape(10, 20)[::2, ::-3]
    assert (decode(encode_png(image))[:, :, 0] == image).all()


@pytest.mark.parametrize("image", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 2), np.uint8)])
def test_other_arrays_are_no_pictures(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="1 or 3 channels"):
        encode_png(image)


def test_layout_is_read_back_and_cuts() -> None:
    layout = Layout(56, 28, 1, {"a": Box(0, 0, 28, 28), "b": Box(28, 0, 56, 28)})
    assert Layout.from_dict(layout.to_dict()) == layout
    assert (layout.regions["b"].crop(np.arange(56)[None, :].repeat(28, 0)) == np.arange(28, 56)).all()


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk as the standard has it."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


SIGNATURE, END = b"\x89PNG\r\n\x1a\n", chunk(b"IEND", b"")


def chunked(header: bytes, rows: bytes, *more: bytes, packed: bytes | None = None) -> bytes:
    """Return a file of a header, rows, and other chunks between these and the end."""
    pixels = zlib.compress(rows) if packed is None else packed
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + b"".join(more) + END


PLAIN = struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)
ROWS = bytes([0, 1, 2, 3, 0, 4, 5, 6])


def test_a_file_by_hand_is_read() -> None:
    assert decode_png(chunked(PLAIN, ROWS))[:, :, 0].tolist() == [[1, 2, 3], [4, 5, 6]]
    colour = struct.pack(">IIBBBBB", 1, 2, 8, 2, 0, 0, 0)
    assert decode_png(chunked(colour, ROWS)).tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    head, rows = packed_pixels(chunked(PLAIN, ROWS))
    assert head == PLAIN and zlib.decompress(rows) == ROWS


@pytest.mark.parametrize(
    "data",
    [
        *(chunked(struct.pack(">IIBBBBB", 3, 2, *rest), ROWS) for rest in (
            (4, 0, 0, 0, 0), (16, 0, 0, 0, 0), (8, 3, 0, 0, 0), (8, 6, 0, 0, 0), (8, 4, 0, 0, 0),
            (8, 0, 1, 0, 0), (8, 0, 0, 1, 0), (8, 0, 0, 0, 1),
        )),
        chunked(PLAIN, bytes([1]) + ROWS[1:]),
        chunked(PLAIN, ROWS[:4] + bytes([2]) + ROWS[5:]),
        chunked(PLAIN, ROWS[:-1]),
        chunked(PLAIN, ROWS + b"\0"),
        chunked(PLAIN, ROWS, packed=b"no zlib at all"),
        chunked(PLAIN, ROWS, chunk(b"tEXt", b"a\0b")),
        chunked(PLAIN, ROWS, chunk(b"IDAT", b"")),
        chunked(PLAIN, ROWS) + b"\0",
        chunked(PLAIN, ROWS)[: -len(END)],
        chunked(PLAIN, ROWS).replace(b"IDAT", b"iDAT"),
        b"\0" + chunked(PLAIN, ROWS)[1:],
    ],
)  # fmt: skip
def test_any_other_header_filter_or_chunk_is_for_another_reader(data: bytes) -> None:
    assert decode_png(data) is None


def test_depths_are_written_in_16_bits() -> None:
    wide = np.arange(6, dtype=np.uint16).reshape(2, 3) * 1000
    with Image.open(io.BytesIO(encode_png(wide))) as opened:
        assert (np.asarray(opened) == wide).all()
