"""A picture of a world, the layout that all pictures of a task share, and pictures as PNG.

PNG is written directly: faster on small pictures than a general image library, and always the same bytes.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.base import Array, DataError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY = (1, zlib.DEFLATED, 12, 5, zlib.Z_RLE)  # on grey pictures smaller and twice as fast as the default
COLOUR = (4, zlib.DEFLATED, 15, 8, zlib.Z_DEFAULT_STRATEGY)


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int

    def crop(self, image: Array) -> Array:
        """Return this part of an image."""
        part: Array = image[self.top : self.bottom, self.left : self.right]
        return part


@dataclass(frozen=True)
class ObjectBox:
    """An object in a picture: its name, such as a slot's, and the box around what is seen of it."""

    name: str
    box: Box


NO_IMAGE: Array = np.zeros((0, 0), dtype=np.uint8)


@dataclass(frozen=True)
class Picture:
    """How a world looks, in as many modalities as its task has.

    `image`       bytes, height x width for grey and height x width x 3 for colour
    `things`      the objects in it, with their boxes, and after them their parts, named "object/part"
    `instances`   for each pixel which object it shows: 1 for the first of `things`, and so on, 0 for none
    `parts`       for each pixel which part of an object it shows, numbered in the same way, 0 for none
    `depth`       for each pixel how far away it is, in 65,535ths of the task's farthest
    `text`        the world in words, or as a table in one line
    """

    image: Array = field(default_factory=lambda: NO_IMAGE)
    things: tuple[ObjectBox, ...] = ()
    instances: Array | None = None
    parts: Array | None = None
    depth: Array | None = None
    text: str = ""


def boxes_of(instances: Array, names: Sequence[str]) -> tuple[ObjectBox, ...]:
    """Return the objects of an instance map with the boxes around their pixels; one that is hidden has an empty box.

    >>> boxes_of(np.array([[0, 2], [0, 2]]), ["car1", "car2"])[1]
    ObjectBox(name='car2', box=Box(left=1, top=0, right=2, bottom=2))
    """
    objects = []
    for number, name in enumerate(names, start=1):
        rows, columns = (
            np.nonzero((instances == number).any(axis=1))[0],
            np.nonzero((instances == number).any(axis=0))[0],
        )
        ends = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if len(rows) else (0, 0, 0, 0)
        objects.append(ObjectBox(name, Box(*map(int, ends))))
    return tuple(objects)


@dataclass(frozen=True)
class Layout:
    """The size of the pictures, and the part of each that shows a concept, where that part is always the same.

    An encoder that reads concepts one by one looks at the regions; without regions it looks at the whole picture.
    """

    width: int
    height: int
    channels: int = 1
    regions: Mapping[str, Box] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as plain data."""
        boxes = {name: [box.left, box.top, box.right, box.bottom] for name, box in self.regions.items()}
        return {"width": self.width, "height": self.height, "channels": self.channels, "regions": boxes}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Layout":
        """Return the layout that `to_dict` wrote."""
        try:
            boxes = {name: Box(*map(int, corners)) for name, corners in data["regions"].items()}
            return cls(int(data["width"]), int(data["height"]), int(data["channels"]), boxes)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"a layout is not in the form that assay writes: {error!r}") from None


def encode_png(image: Array) -> bytes:
    """Return an image of bytes, grey or colour, or of 16-bit grey, as a PNG file.

    >>> encode_png(np.zeros((2, 3), dtype=np.uint8))[:4]
    b'\\x89PNG'
    """
    height, width = image.shape[:2]
    channels = image.shape[2] if image.ndim == 3 else 1
    wide = image.dtype == np.uint16 and channels == 1
    if not wide and (image.dtype != np.uint8 or channels not in (1, 3)):
        raise ValueError(f"a picture is bytes with 1 or 3 channels, not {image.dtype} {image.shape}")
    samples = image.astype(">u2").view(np.uint8) if wide else image
    rows = np.zeros((height, width * channels * (2 if wide else 1) + 1), dtype=np.uint8)  # each row's filter: 0, none
    rows[:, 1:] = samples.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 16 if wide else 8, 0 if channels == 1 else 2, 0, 0, 0)
    packer = zlib.compressobj(*(GREY if channels == 1 else COLOUR))
    pixels = packer.compress(rows.tobytes()) + packer.flush()
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + END


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


END = _chunk(b"IEND", b"")
HEAD = SIGNATURE + struct.pack(">I", 13) + b"IHDR"
BODY = len(HEAD) + 13 + 4 + 8
"""Where the pixels begin in a file whose first two chunks are the header and they."""


def decode_png(data: bytes) -> Array | None:
    """Return the bytes of a picture as `encode_png` writes it: height x width x channels; None for any other file.

    Other files are for a general image library, which takes five times as long.

    >>> decode_png(encode_png(np.array([[1, 2], [3, 4]], dtype=np.uint8)))[:, :, 0].tolist()
    [[1, 2], [3, 4]]
    >>> decode_png(b"GIF89a") is None
    True
    """
    found = packed_pixels(data)
    if found is None:
        return None
    width, height, depth, kind, *rest = struct.unpack(">IIBBBBB", found[0])
    channels = {0: 1, 2: 3}.get(kind)
    if channels is None or depth != 8 or any(rest):
        return None
    size = height * (width * channels + 1)
    try:
        pixels = zlib.decompressobj().decompress(found[1], size + 1)
    except zlib.error:
        return None
    rows = np.frombuffer(pixels, dtype=np.uint8)
    if len(rows) != size or rows[:: width * channels + 1].any():  # a row with a filter
        return None
    return rows.reshape(height, -1)[:, 1:].reshape(height, width, channels)


def packed_pixels(data: bytes) -> tuple[bytes, memoryview] | None:
    """Return the header and the compressed rows of a file that has nothing else, as `encode_png` writes it, or None.

    >>> head, rows = packed_pixels(encode_png(np.array([[1, 2]], dtype=np.uint8)))
    >>> len(head), zlib.decompress(rows)
    (13, b'\\x00\\x01\\x02')
    """
    if not data.startswith(HEAD) or not data.endswith(END) or data[BODY - 4 : BODY] != b"IDAT":
        return None
    (length,) = struct.unpack(">I", data[BODY - 8 : BODY - 4])
    if BODY + length + 4 + len(END) != len(data):
        return None
    return data[len(HEAD) : len(HEAD) + 13], memoryview(data)[BODY : BODY + length]
