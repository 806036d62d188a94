"""Pictures for the page: masks as coloured film, depth as grey, and pictures inside of answers."""

import base64
import colorsys
import io
from typing import Any

import numpy as np

from assay.base import Array
from assay.dataset import decode
from assay.render import Picture, encode_png

FILM = 150
"""How much of a picture a mask covers, of 255."""
TURN = 0.618
"""How far apart on the colour wheel neighbouring numbers lie, so that they can be distinguished."""


def film(numbers: Array) -> bytes:
    """Return a map of object numbers as a PNG with a colour for each object, clear where there is none."""
    from PIL import Image

    most = int(numbers.max(initial=0))
    palette = np.zeros((most + 1, 4), dtype=np.uint8)
    for number in range(1, most + 1):
        colour = colorsys.hls_to_rgb((number * TURN) % 1, 0.55, 0.9)
        palette[number] = (*(round(255 * part) for part in colour), FILM)
    out = io.BytesIO()
    Image.fromarray(palette[numbers], "RGBA").save(out, "PNG")
    return out.getvalue()


def nearness(depth: Array) -> bytes:
    """Return a depth map as a grey PNG: the nearest is white, the farthest black.

    >>> decode(nearness(np.array([[0, 50], [100, 100]], dtype=np.uint16))).ravel().tolist()
    [255, 127, 0, 0]
    """
    near, far = int(depth.min()), int(depth.max())
    grey = 255 - np.round((depth.astype(np.float64) - near) * 255 / max(far - near, 1))
    return encode_png(grey.astype(np.uint8))


def to_displayable(column: str, data: bytes) -> bytes:
    """Return an image, mask or depth column as a PNG that a page can show."""
    if column == "image":
        return data
    numbers = decode(data)[:, :, 0]
    return nearness(numbers) if column == "depth" else film(numbers)


def address(data: bytes) -> str:
    """Return a PNG as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def picture_to_dict(picture: Picture, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return a picture as plain data, in the modalities that the dataset has."""
    maps = {"instances": film, "parts": film, "depth": nearness, "image": encode_png}
    pictures = {name: address(make(getattr(picture, name))) for name, make in maps.items() if name in columns}
    boxes = [
        {"name": x.name, "left": x.box.left, "top": x.box.top, "right": x.box.right, "bottom": x.box.bottom}
        for x in picture.things
    ]
    return {
        "pictures": pictures,
        "things": boxes if "things" in columns else [],
        "text": picture.text if "text" in columns else None,
    }
