"""Image files: opened with a limit on pixels (PNG, JPEG and WebP only), and photographs fitted into one size.

Pillow knows dozens of formats. Some of them start other programs (an EPS file runs Ghostscript), and a small file can
claim any size; so what comes from elsewhere is opened here and nowhere else.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from assay.base import Array, DataError
from assay.render.picture import Box

FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 50_000_000
BAR = 114
"""The grey of the bars."""


def open_image(source: bytes | Path, name: str) -> Image.Image:
    """Open a picture without decoding its pixels; refuse other formats and what is too large, by this name."""
    try:
        image = Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS)
    except FileNotFoundError:
        raise DataError(f"picture {name!r} cannot be read: there is no such file") from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise DataError(f"picture {name!r} is no PNG, JPEG or WebP file; convert it") from None
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise DataError(f"picture {name!r} has {image.width} x {image.height} pixels, at most {MOST_PIXELS:,} are read")
    return image


@dataclass(frozen=True)
class Letterbox:
    """How a picture of one size fits into another: its size there, and how far from the left and the top."""

    width: int
    height: int
    left: int
    top: int

    @classmethod
    def of(cls, inner: tuple[float, float], outer: tuple[int, int]) -> "Letterbox":
        """Return the largest fit of one width and height into another, in the middle.

        >>> Letterbox.of((640, 480), (224, 224))
        Letterbox(width=224, height=168, left=0, top=28)
        """
        scale = min(outer[0] / inner[0], outer[1] / inner[1])
        width, height = max(1, round(inner[0] * scale)), max(1, round(inner[1] * scale))
        return cls(width, height, (outer[0] - width) // 2, (outer[1] - height) // 2)

    def pad(self, image: Array, outer: tuple[int, int], bar: int = BAR) -> Array:
        """Return an image of the inner size with bars around it."""
        whole = np.full((outer[1], outer[0], *image.shape[2:]), bar, dtype=image.dtype)
        whole[self.top : self.top + self.height, self.left : self.left + self.width] = image
        return whole

    def box(self, box: Sequence[float], inner: tuple[float, float]) -> Box:
        """Return where a box (left, top, width, height) of the inner picture lies in the outer one."""
        across, down = self.width / inner[0], self.height / inner[1]
        ends = (box[0] * across, box[1] * down, (box[0] + box[2]) * across, (box[1] + box[3]) * down)
        left, right = (min(max(round(end), 0), self.width) + self.left for end in ends[::2])
        top, bottom = (min(max(round(end), 0), self.height) + self.top for end in ends[1::2])
        return Box(left, top, right, bottom)


def read_photograph(path: Path, size: tuple[int, int]) -> Array:
    """Return an image file fitted into a size."""
    try:
        with open_image(path, path.name) as opened:
            fit = Letterbox.of(opened.size, size)
            opened.draft("RGB", (fit.width, fit.height))  # a JPEG is decoded at about the size that is wanted
            small = opened.convert("RGB").resize((fit.width, fit.height), Image.Resampling.BILINEAR, reducing_gap=2.0)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"image {path.name!r} cannot be read: {error}") from None
    return fit.pad(np.asarray(small), size)
