"""Textures: the chess board with its letters and numbers, planks, and the floor."""

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from assay.base import Array, rng_for
from assay.render import Texture

PIXELS = 88
"""The side of a square in the board's texture."""
MARGIN = 0.5
"""The frame around the squares, in squares."""
WOODS = (((221, 187, 138), (126, 78, 47)), ((214, 199, 170), (96, 103, 84)), ((205, 168, 125), (104, 58, 45)))
"""The light and the dark squares of each board."""
Colour = tuple[int, int, int]


@cache
def grain(height: int, width: int, purpose: str) -> Array:
    """Return how much brighter or darker wood is, from about -1 to 1: streaks along x."""
    rng = rng_for(0, "wood", purpose)
    coarse = rng.normal(size=(height // 6 + 2, 8))
    fine = rng.normal(size=(height + 2, 24))
    both = np.zeros((height, width))
    for layer, share in ((coarse, 0.6), (fine, 0.4)):
        picture = Image.fromarray(layer.astype(np.float32))
        both += share * np.asarray(picture.resize((width, height), Image.Resampling.BICUBIC))
    return both


def planks(height: int, width: int, colour: Colour, purpose: str, depth: float = 12.0) -> Array:
    """Return wood of a colour as pixels."""
    return _bytes(np.array(colour, dtype=np.float64) + depth * grain(height, width, purpose)[:, :, None])


def _bytes(pixels: Array) -> Array:
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


@cache
def board_texture(wood: int, letters: bool, side: float) -> Texture:
    """Return the top of a board of one kind of wood; its squares are so long."""
    light, dark = WOODS[wood]
    edge = round(MARGIN * PIXELS)
    size = 8 * PIXELS + 2 * edge
    frame = planks(size, size, _darker(dark), "frame", 8.0)
    shades = grain(8 * PIXELS, 8 * PIXELS, "squares")
    for rank in range(8):
        for file in range(8):
            colour = light if (rank + file) % 2 else dark
            top, left = (7 - rank) * PIXELS, file * PIXELS
            streaks = shades[top : top + PIXELS, left : left + PIXELS]
            streaks = streaks if (rank + file) % 2 else streaks[::-1]
            tile = _bytes(np.array(colour, dtype=np.float64) + 9.0 * streaks[:, :, None])
            frame[edge + top : edge + top + PIXELS, edge + left : edge + left + PIXELS] = tile
    picture = Image.fromarray(frame)
    if letters:
        _write(picture, edge, light)
    reach = side * (4 + MARGIN)
    return Texture(np.array(picture), (-reach, -reach), (2 * reach, 2 * reach))


def _darker(colour: Colour) -> Colour:
    red, green, blue = (round(0.62 * part) for part in colour)
    return red, green, blue


def _write(picture: Image.Image, edge: int, colour: Colour) -> None:
    """Write a to h and 1 to 8 on the frame, on all four sides."""
    drawing, face = ImageDraw.Draw(picture), ImageFont.load_default(0.68 * edge)
    for number in range(8):
        middle = edge + (number + 0.5) * PIXELS
        for side in (edge / 2, picture.width - edge / 2):
            drawing.text((middle, picture.width - side), "abcdefgh"[number], colour, face, anchor="mm")
            drawing.text((side, picture.width - middle), str(number + 1), colour, face, anchor="mm")


@cache
def floor_texture() -> Texture:
    """Return floor boards."""
    rows = [
        planks(48, 512, (150 + shade, 118 + shade, 88 + shade), f"floor {n}") for n, shade in enumerate((0, 10, -8, 4))
    ]
    for row in rows:
        row[:2] = row[:2] // 2
    return Texture(np.concatenate(rows), (0.0, 0.0), (3.2, 1.2))


@cache
def table_texture() -> Texture:
    """Return the top of the table."""
    return Texture(planks(384, 512, (118, 70, 42), "table", 9.0), (-1.0, -0.75), (2.0, 1.5))
