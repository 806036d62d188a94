"""Marks on finished pictures: nuisances that any picture can carry, whatever it shows.

A mark has as many codes as it is asked for: code 0 of 2 and code 1 of 2 are the two looks that may go with the two
values of a label. A marked picture is a function of the picture, the mark and its code. No mark hides what is in the
middle of a picture; `position` moves the picture by a sixteenth of its size, its boxes and masks with it.
"""

import colorsys
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.base import Array, digest, rng_for
from assay.render.image_files import open_image
from assay.render.picture import Box, ObjectBox, Picture

Mark = Callable[[Array, int, int], Array]
"""Marks an image of bytes, grey or colour, by a code of so many."""
THICK = 16
"""A frame, and the side of a patch or a watermark in its quarter, is this part of the picture's smaller side."""
DARKEST = 0.45
STRONGEST_NOISE = 60.0
WIDEST_BLUR = 0.05
"""The radius of the strongest blur, in parts of the smaller side."""
LOWEST_QUALITY = 4


def mark_picture(picture: Picture, name: str, code: int, count: int) -> Picture:
    """Return a picture with a mark; one without pixels stays as it is.

    >>> mark_picture(Picture(np.full((32, 32), 200, dtype=np.uint8)), "brightness", 0, 2).image[16, 16]
    np.uint8(90)

    Parameters
    ----------
    picture
        What to mark, grey or colour.
    name
        One of `MARK_NAMES`.
    code
        Which look of the mark, from 0 on.
    count
        How many looks there are.
    """
    if not picture.image.size:
        return picture
    if name == "position":
        return _shift(picture, code, count)
    return replace(picture, image=_marked(picture.image, name, code, count))


def _marked(image: Array, name: str, code: int, count: int) -> Array:
    return np.asarray(MARKS[name](image, code, count), dtype=np.uint8)


def _level(code: int, count: int) -> float:
    """Return where a code lies between the first, 0, and the last, 1."""
    return code / max(1, count - 1)


def _thickness(image: Array) -> int:
    return max(1, round(int(min(image.shape[:2])) / THICK))


def _colour(code: int, count: int, image: Array) -> Array:
    """Return a colour that tells the code: a hue, or for grey images a brightness."""
    if image.ndim == 2 or image.shape[2] == 1:
        return np.array(round(70 + 185 * _level(code, count)))
    return np.round(255 * np.array(colorsys.hsv_to_rgb(code / count, 0.85, 0.95)))


def frame(image: Array, code: int, count: int) -> Array:
    """A border whose colour tells the code; on grey pictures its brightness."""
    marked, thick = image.copy(), _thickness(image)
    inside = np.zeros(image.shape[:2], dtype=bool)
    inside[thick:-thick, thick:-thick] = True
    marked[~inside] = _colour(code, count, image)
    return marked


def _square(image: Array, code: int, count: int, top: bool) -> tuple[slice, slice]:
    """Return the part of the upper or lower edge where the square of a code lies; codes lie side by side."""
    side = max(3, 3 * _thickness(image))
    left = round((image.shape[1] - side) * code / max(1, count - 1))
    rows = slice(0, side) if top else slice(image.shape[0] - side, None)
    return rows, slice(left, left + side)


def patch(image: Array, code: int, count: int) -> Array:
    """A square at the upper edge, bright on dark or dark on bright, whose place tells the code."""
    marked, place = image.copy(), _square(image, code, count, top=True)
    marked[place] = 20 if image[place].mean() > 127 else 235
    return marked


def watermark(image: Array, code: int, count: int) -> Array:
    """A half transparent ring at the lower edge, whose place tells the code; the first code is no watermark."""
    if code == 0:
        return image
    marked = image.astype(np.float64)
    rows, columns = _square(image, count - 1 - code, count, top=False)
    part = marked[rows, columns]
    y, x = np.indices(part.shape[:2])
    far = np.hypot(y - (part.shape[0] - 1) / 2, x - (part.shape[1] - 1) / 2) / (part.shape[0] / 2)
    ring = (far <= 1.0) & (far >= 0.4)
    part[ring] = 0.4 * part[ring] + 0.6 * np.where(part[ring] > 127, 20, 235)
    return np.round(marked)


def brightness(image: Array, code: int, count: int) -> Array:
    """All pixels darker, the more so the lower the code."""
    return np.round(image * (DARKEST + (1 - DARKEST) * _level(code, count)))


def noise(image: Array, code: int, count: int) -> Array:
    """Gaussian noise, the stronger the higher the code; what noise, follows from the picture."""
    rng = rng_for(0, "noise", digest(image.tobytes()).hex())
    shaken = image + rng.normal(0, STRONGEST_NOISE * _level(code, count), image.shape)
    return np.clip(np.round(shaken), 0, 255)


def blur(image: Array, code: int, count: int) -> Array:
    """Gaussian blur, the wider the higher the code."""
    from PIL import Image, ImageFilter

    radius = WIDEST_BLUR * min(image.shape[:2]) * _level(code, count)
    return np.asarray(Image.fromarray(image).filter(ImageFilter.GaussianBlur(radius))) if radius else image


def compression(image: Array, code: int, count: int) -> Array:
    """What JPEG leaves of the picture, the less the higher the code."""
    from PIL import Image

    if code == 0:
        return image
    buffer = io.BytesIO()
    quality = round(60 - (60 - LOWEST_QUALITY) * _level(code, count))
    Image.fromarray(image).save(buffer, format="JPEG", quality=quality)
    return np.asarray(open_image(buffer.getvalue(), "a compressed picture"))


MARKS: dict[str, Mark] = {
    "watermark": watermark,
    "frame": frame,
    "patch": patch,
    "brightness": brightness,
    "noise": noise,
    "blur": blur,
    "compression": compression,
}
"""The marks that change pixels where they are; `position` moves them."""
MARK_NAMES: Sequence[str] = (*MARKS, "position")


PLACED = ("watermark", "frame", "patch")
"""The marks that have a place of their own; the others change the whole picture."""
FLAT = 100
"""The brightness of the picture on which places are found; no mark leaves all of it as it is."""


def mark_area(name: str, count: int, shape: tuple[int, ...]) -> Array | None:
    """Return which pixels a mark may cover in images of this shape, by any of its codes; None if it has no place.

    >>> int(mark_area("patch", 2, (32, 32)).sum())  # two squares of 6 x 6
    72
    >>> mark_area("blur", 2, (32, 32)) is None
    True

    Parameters
    ----------
    name
        The mark.
    count
        How many codes it has.
    shape
        Height and width, and channels if there are any.
    """
    if name not in PLACED:
        return None
    plain = np.full(shape, FLAT, dtype=np.uint8)
    covered = np.stack([_marked(plain, name, code, count) != plain for code in range(count)])
    return np.asarray(covered.any(axis=(0, 3) if len(shape) == 3 else 0))


def _offset(image: Array, code: int, count: int) -> int:
    """Return by how many pixels a picture is moved to the right."""
    return round((2 * _level(code, count) - 1) * int(image.shape[1]) / THICK)


def _shifted(image: Array, offset: int, fill: Any = None) -> Array:
    """Return an image moved to the right; what comes in is filled, or repeats the edge."""
    places = np.arange(image.shape[1]) - offset
    moved = image[:, np.clip(places, 0, image.shape[1] - 1)]
    if fill is not None:
        moved[:, (places < 0) | (places >= image.shape[1])] = fill
    return np.asarray(moved)


def _shift(picture: Picture, code: int, count: int) -> Picture:
    """Return a picture moved sideways with all that is known of it."""
    offset, width = _offset(picture.image, code, count), picture.image.shape[1]

    def box(old: Box) -> Box:
        left, right = (min(max(x + offset, 0), width) for x in (old.left, old.right))
        return Box(left, old.top, right, old.bottom)

    def mask(old: Array | None) -> Array | None:
        return None if old is None else _shifted(old, offset, 0)

    return replace(
        picture,
        image=_shifted(picture.image, offset),
        things=tuple(ObjectBox(thing.name, box(thing.box)) for thing in picture.things),
        depth=None if picture.depth is None else _shifted(picture.depth, offset),
        instances=mask(picture.instances),
        parts=mask(picture.parts),
    )
