"""Pictures of strangers, opened with care and brought to one size.

Only PNG, JPEG and WebP are opened, none with more pixels than `MOST_PIXELS`; the size is read before the pixels are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

from assay.base import Array, DataError
from assay.exchange.imports.source import Resize
from assay.render import Layout, Letterbox, encode_png, open_image

LARGEST = 128
"""Up to this many pixels a side pictures that are all alike keep their size."""
GREY = ("1", "L", "I;16", "LA")


@dataclass(frozen=True)
class PictureFit:
    """How pictures are brought to one size: the layout, and the policy for other shapes."""

    layout: Layout
    resize: Resize

    def encode(self, data: bytes, name: str) -> bytes:
        """Return a picture in the layout's size, as a PNG file."""
        image = _open(data, name)
        image = image.convert("L" if self.layout.channels == 1 else "RGB")
        return encode_png(self._fit(image))

    def _fit(self, image: Image.Image) -> Array:
        size = (self.layout.width, self.layout.height)
        if image.size == size:
            return np.asarray(image)
        if self.resize == "crop":
            return np.asarray(ImageOps.fit(image, size, Image.Resampling.BILINEAR))
        if self.resize == "stretch":
            return np.asarray(image.resize(size, Image.Resampling.BILINEAR))
        box = Letterbox.of(image.size, size)
        return box.pad(np.asarray(image.resize((box.width, box.height), Image.Resampling.BILINEAR)), size)


def fit_for(
    pictures: Sequence[bytes], names: Sequence[str], size: int | tuple[int, int] | None, resize: Resize
) -> PictureFit:
    """Return the size and the colours that suit pictures: as asked for, or their own if all are alike and small."""
    sizes, grey = set[tuple[int, int]](), True
    for data, name in zip(pictures, names, strict=True):
        with open_image(data, name) as image:
            turned = image.format == "JPEG" and _orientation(image, name) >= 5  # the camera was held upright
            sizes.add((image.height, image.width) if turned else image.size)
            grey &= image.mode in GREY
    if size is None:
        only = next(iter(sizes))
        alike = len(sizes) == 1 and max(only) <= LARGEST
        width, height = only if alike else (LARGEST, LARGEST)
    else:
        width, height = (size, size) if isinstance(size, int) else size
    return PictureFit(Layout(width, height, 1 if grey else 3), resize)


def _orientation(image: Image.Image, name: str) -> int:
    try:
        return int(image.getexif().get(0x0112, 1))
    except (OSError, ValueError, SyntaxError, TypeError):
        raise DataError(f"picture {name!r} is damaged: its EXIF data cannot be read") from None


def _open(data: bytes, name: str) -> Image.Image:
    """Return a picture upright, with what is transparent on white."""
    with open_image(data, name) as opened:
        try:
            image = ImageOps.exif_transpose(opened)
            image.load()
        except (OSError, ValueError, SyntaxError) as error:
            raise DataError(f"picture {name!r} is damaged: {error}") from None
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, image)
    if image.mode == "I;16":
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.copy()
