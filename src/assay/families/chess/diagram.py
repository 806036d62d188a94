"""A position as a flat diagram: own drawings of the pieces on coloured squares, White below."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import ImageDraw, ImageFont

from assay.base import Array
from assay.families.chess.positions import SQUARES
from assay.families.chess.scene import KINDS
from assay.render import Box, Canvas, Picture, ellipse_points
from assay.worlds import Style

PALETTES = (
    ((240, 217, 181), (181, 136, 99)), ((236, 236, 214), (118, 150, 86)), ((222, 227, 230), (140, 162, 173)),
    ((235, 225, 235), (150, 125, 165)),
)  # fmt: skip
"""The light and the dark squares of each board."""
PAPER, PRINT = (250, 250, 247), (70, 66, 62)
FILLS = ((252, 250, 244), (46, 43, 44))
LINES = ((30, 28, 28), (16, 15, 16))
DETAILS = ((30, 28, 28), (226, 222, 214))
"""The colours of White's pieces and of Black's: inside, outline, and lines within."""
FOOT = ((0.30, 0.0), (0.30, 0.10), (0.25, 0.13))
HALVES = {
    "P": (*FOOT, (0.16, 0.22), (0.09, 0.36), (0.08, 0.42), (0.0, 0.42)),
    "R": (*FOOT, (0.20, 0.17), (0.18, 0.48), (0.27, 0.54), (0.27, 0.74), (0.15, 0.74), (0.15, 0.67), (0.07, 0.67),
          (0.07, 0.74), (0.0, 0.74)),
    "B": (*FOOT, (0.11, 0.20), (0.09, 0.34), (0.15, 0.37), (0.15, 0.41), (0.19, 0.50), (0.17, 0.60), (0.09, 0.71),
          (0.0, 0.76)),
    "Q": ((0.28, 0.0), (0.28, 0.09), (0.22, 0.15), (0.20, 0.26), (0.39, 0.64), (0.22, 0.42), (0.20, 0.74), (0.07, 0.44),
          (0.0, 0.78)),
    "K": ((0.28, 0.0), (0.28, 0.09), (0.22, 0.15), (0.20, 0.26), (0.35, 0.40), (0.36, 0.52), (0.28, 0.60), (0.17, 0.59),
          (0.06, 0.50), (0.06, 0.66), (0.15, 0.66), (0.15, 0.76), (0.06, 0.76), (0.06, 0.86), (0.0, 0.86)),
}  # fmt: skip
"""The right half of each outline, from the foot up; a square's side is 1."""
HORSE = (
    (-0.26, 0.0), (0.28, 0.0), (0.30, 0.10), (0.27, 0.34), (0.20, 0.55), (0.08, 0.68), (0.04, 0.80), (-0.03, 0.70),
    (-0.10, 0.68), (-0.18, 0.56), (-0.31, 0.38), (-0.31, 0.29), (-0.22, 0.26), (-0.13, 0.33), (-0.02, 0.37),
    (-0.14, 0.22), (-0.25, 0.10),
)  # fmt: skip
BALLS = {
    "P": ((0.0, 0.53, 0.155),),
    "B": ((0.0, 0.80, 0.055),),
    "Q": ((-0.39, 0.66, 0.05), (-0.20, 0.76, 0.05), (0.0, 0.81, 0.055), (0.20, 0.76, 0.05), (0.39, 0.66, 0.05)),
}
STROKES = {
    "P": (((-0.22, 0.12), (0.22, 0.12)),),
    "R": (((-0.20, 0.17), (0.20, 0.17)), ((-0.18, 0.50), (0.18, 0.50))),
    "N": (((-0.24, 0.11), (0.28, 0.11)), ((-0.16, 0.53), (-0.12, 0.53)), ((0.10, 0.58), (0.19, 0.36), (0.20, 0.18))),
    "B": (((-0.22, 0.12), (0.22, 0.12)), ((-0.14, 0.40), (0.14, 0.40)), ((0.0, 0.48), (0.0, 0.64)),
          ((-0.07, 0.56), (0.07, 0.56))),
    "Q": (((-0.22, 0.13), (0.22, 0.13)), ((-0.20, 0.24), (0.20, 0.24))),
    "K": (((-0.22, 0.13), (0.22, 0.13)), ((-0.20, 0.25), (0.20, 0.25)), ((0.0, 0.28), (0.0, 0.48))),
}  # fmt: skip
SIZE = 0.96
LOW = 0.12
"""How far above the lower edge of its square a piece stands."""


@cache
def piece_outline(kind: str) -> Array:
    """Return the outline of a piece: x from the middle, y up from its foot."""
    if kind == "N":
        return np.array(HORSE)
    half = np.array(HALVES[kind])
    return np.concatenate([half, (half * [-1, 1])[::-1]])


def board_geometry(width: int, letters: bool) -> tuple[float, float]:
    """Return the margin and the side of a square, in pixels."""
    margin = width / 18 if letters else 0.0
    return margin, (width - 2 * margin) / 8


def diagram_regions(width: int, letters: bool) -> dict[str, Box]:
    """Return where each square lies."""
    margin, side = board_geometry(width, letters)
    boxes = {}
    for place, name in enumerate(SQUARES):
        left, top = margin + place % 8 * side, margin + (7 - place // 8) * side
        boxes[name] = Box(round(left), round(top), round(left + side), round(top + side))
    return boxes


def draw_diagram(codes: Sequence[int], style: Style, width: int, letters: bool) -> Picture:
    """Return the diagram of a position; each piece is a thing, named by its square."""
    canvas = Canvas(width, width, PAPER)
    colours = PALETTES[int(style["palette"])]
    regions = diagram_regions(width, letters)
    for place, name in enumerate(SQUARES):
        box = regions[name]
        corners = np.array([[box.left, box.top], [box.right, box.top], [box.right, box.bottom], [box.left, box.bottom]])
        canvas.polygon(corners, colours[0 if (place + place // 8) % 2 else 1])
    margin, side = board_geometry(width, letters)
    for place, code in enumerate(codes):
        if code:
            off = style["offsets"][2 * place : 2 * place + 2]
            foot = (
                margin + (place % 8 + 0.5 + float(off[0])) * side,
                margin + (8 - place // 8 - LOW - float(off[1])) * side,
            )
            with canvas.thing(SQUARES[place]):
                _draw_piece(canvas, KINDS[(int(code) - 1) % 6], int(code > 6), foot, side)
    image, instances = canvas.image, canvas.instances
    return Picture(_with_letters(canvas, margin, side) if letters else image, canvas.things, instances)


def _draw_piece(canvas: Canvas, kind: str, colour: int, foot: tuple[float, float], side: float) -> None:
    """Draw one piece."""
    fill, line, detail, width = FILLS[colour], LINES[colour], DETAILS[colour], max(0.8, 0.03 * side)

    def put(points: Array | Sequence[tuple[float, float]]) -> Array:
        placed: Array = np.array(foot) + np.asarray(points) * [SIZE * side, -SIZE * side]
        return placed

    for x, y, radius in BALLS.get(kind, ()):
        centre = put([(x, y)])[0]
        canvas.polygon(
            ellipse_points((float(centre[0]), float(centre[1])), (SIZE * radius * side, SIZE * radius * side)),
            fill,
            line,
            width,
        )
    canvas.polygon(put(piece_outline(kind)), fill, line, width)
    for stroke in STROKES[kind]:
        canvas.line(put(stroke), detail, width)


def _with_letters(canvas: Canvas, margin: float, side: float) -> Array:
    """Write a to h below, 1 to 8 at the left, and return the picture."""
    canvas.drawing.flush()
    face, colour = ImageFont.load_default(max(6.0, 0.72 * margin)), PRINT
    writing = ImageDraw.Draw(canvas.picture)
    for number in range(8):
        middle = margin + (number + 0.5) * side
        writing.text((middle, canvas.picture.width - margin / 2), "abcdefgh"[number], colour, face, anchor="mm")
        writing.text((margin / 2, canvas.picture.width - middle), str(number + 1), colour, face, anchor="mm")
    return np.array(canvas.picture)
