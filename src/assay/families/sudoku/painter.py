"""Sudoku boards as pictures: starters printed, entries handwritten, candidate marks in bubbles.

All entries of a board are warped in one call: each cell is a mesh of two quadrilaterals whose corners are turned,
slanted, shifted and bent. Nothing is drawn at random here.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import aggdraw
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from assay.base import Array, ConfigError
from assay.families.handwriting.digits import SIDE
from assay.families.sudoku.boards import BLANK, SYMBOLS, read_board
from assay.families.sudoku.style import WARPS, BoardAppearance, Font, Writing, marks_of, written_cells
from assay.render import ellipse_points
from assay.worlds import CONTENT, Style

PRINT = 30
FILL = 0.94
"""How much of a cell the square of a handwritten symbol takes; the symbol itself takes 20 of its 28 pixels."""
TILE = 56
QUADS = np.array([[0, 2, 3, 1], [2, 4, 5, 3]])
GRID = np.array([[x, y] for y in (-1.0, 0.0, 1.0) for x in (-1.0, 1.0)])
"""The corners of a cell's mesh: two quadrilaterals, one above the other."""
MARK = (0.19, 0.27)
"""Width and height of a candidate mark, in cells."""
BESIDE = (0.72, 0.14, 0.3)
"""An entry beside marks is this much smaller, and moved right and down by these parts of half a cell."""


class BoardPainter:
    """Draws boards in one look."""

    def __init__(self, appearance: BoardAppearance, writing: Writing) -> None:
        self.appearance = appearance
        self.writing = writing
        self._made: dict[int, tuple[Array, int]] = {}

    def image(self, style: Style) -> Array:
        """Return the picture of the board that a style holds."""
        appearance = self.appearance
        board, starters = read_board(style[CONTENT]), np.array(style["starters"], dtype=np.int64)
        paper = np.minimum(self.background, _map_bytes(self._printed(board, starters, style["font"]), _shade(PRINT)))
        if appearance.hand == "printed":
            others = np.setdiff1d(np.arange(appearance.shape.cells), starters)
            layer = self._printed(board, others, style["font"])
        else:
            layer = _map_bytes(self._entries(style), _pen(style["hand"][2], _less(FILL * appearance.cell)))
        if style["marks"]:
            self._bubbles(layer, style)
            layer = np.maximum(layer, self._marks(style))
        image = np.empty((appearance.side, appearance.side, 3), dtype=np.uint8)
        for channel, ink in enumerate(style["ink"]):
            image[:, :, channel] = np.minimum(paper, _map_bytes(layer, _shade(ink)))
        return image

    @cached_property
    def background(self) -> Array:
        """The empty board: paper and lines."""
        appearance = self.appearance
        pixels = np.full((appearance.side, appearance.side), 255, dtype=np.uint8)
        for number in sorted(range(appearance.shape.side + 1), key=lambda number: number % appearance.shape.block == 0):
            width = appearance.border if number % appearance.shape.block == 0 else appearance.grid
            start = min(max(0, appearance.margin + number * appearance.cell - width // 2), appearance.side - width)
            pixels[start : start + width] = pixels[:, start : start + width] = 0
        return pixels

    def _printed(self, board: Array, cells: Array, font: Font) -> Array:
        """Return the ink of printed cells."""
        appearance, side = self.appearance, self.appearance.shape.side
        inside = slice(appearance.margin, appearance.side - appearance.margin)
        tiles = np.zeros((side, appearance.cell, side, appearance.cell), dtype=np.uint8)
        letters = lettering(font, appearance.font_file, appearance.cell, appearance.print_size)
        tiles[cells // side, :, cells % side] = letters[board[cells]]
        layer = np.zeros((appearance.side, appearance.side), dtype=np.uint8)
        layer[inside, inside] = tiles.reshape(side * appearance.cell, -1)
        return layer

    def _entries(self, style: Style) -> Image.Image:
        """Return the ink of the handwritten cells, warped."""
        appearance, cells = self.appearance, written_cells(self.appearance, style)
        if not cells:
            return Image.new("L", (appearance.side, appearance.side), 0)
        less = _less(FILL * appearance.cell)
        draws = [(style[CONTENT][cell], style["forms"][style["poses"][cell][0]]) for cell in cells]
        corners = self._corners(style, cells, SIDE / less)
        corners[:, :, 1] += (np.arange(len(cells)) * TILE // less)[:, None]
        quads = (corners + TILE // less / 2)[:, QUADS].reshape(len(cells), len(QUADS), -1).tolist()
        boxes = self._boxes
        mesh = [pair for cell, both in zip(cells, quads, strict=True) for pair in zip(boxes[cell], both, strict=True)]
        strip = self._strip(style, draws, less)
        return strip.transform(
            (appearance.side, appearance.side), Image.Transform.MESH, mesh, Image.Resampling.BILINEAR
        )

    def _corners(self, style: Style, cells: list[int], side: float) -> Array:
        """Return where in its image, seen from its middle, each corner of each cell's mesh lies."""
        poses = np.array(style["poses"])[cells]
        slant, size, _ = np.array(style["hand"]) / 100
        shift, turn, zoom = poses[:, 2:4] / 100, poses[:, 4] / 100, 1 + size + poses[:, 5] / 100
        beside = np.isin(cells, [mark[0] for mark in style["marks"]])
        zoom = np.where(beside, BESIDE[0] * zoom, zoom)
        shift = shift + beside[:, None] * np.array(BESIDE[1:])
        x, y = np.moveaxis((GRID - shift[:, None]) * (side / 2 / FILL / zoom)[:, None, None], 2, 0)
        cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
        x, y = cos * x + sin * y, cos * y - sin * x
        bent = np.array(style["warps"]).reshape(WARPS, -1, 2)[poses[:, 1]] * (side / SIDE / 10)
        corners: Array = np.stack([x + slant * y, y], axis=2) + bent
        return corners

    @cached_property
    def _boxes(self) -> list[list[tuple[int, int, int, int]]]:
        """The upper and the lower half of each cell."""
        appearance, cell, boxes = self.appearance, self.appearance.cell, []
        for number in range(appearance.shape.cells):
            y, x = (appearance.margin + cell * part for part in divmod(number, appearance.shape.side))
            boxes.append([(x, y, x + cell, y + cell // 2), (x, y + cell // 2, x + cell, y + cell)])
        return boxes

    def _strip(self, style: Style, draws: list[tuple[str, int]], less: int) -> Image.Image:
        """Return the images of symbols one below the other, each in the middle of an empty tile."""
        tile, side = TILE // less, SIDE // less
        if self.appearance.hand == "printed":
            letters = lettering(style["font"], self.appearance.font_file, SIDE, 0.8)
            images = letters[[SYMBOLS.index(symbol) for symbol, _ in draws]]
        else:
            images = np.stack([self.writing.image(style["pool"], symbol, draw) for symbol, draw in draws])
        for _ in range(less // 2):
            images = _halve(images)
        strip = np.zeros((len(draws), tile, tile), dtype=np.uint8)
        edge = (tile - side) // 2
        strip[:, edge : edge + side, edge : edge + side] = images
        return Image.fromarray(strip.reshape(-1, tile))

    def _marks(self, style: Style) -> Array:
        """Return the ink of the candidate marks."""
        appearance, (width, height) = self.appearance, self.mark_size
        less = _less(1.3 * height)
        tile, side = TILE // less, SIDE // less
        draws: list[tuple[str, int]] = []
        mesh = []
        for mark in style["marks"]:
            x, y = self._mark_corner(mark)
            for symbol, draw in marks_of(appearance, style, mark):
                left, right = tile / 2 - 0.4 * side, tile / 2 + 0.4 * side
                top, bottom = (len(draws) * tile + (tile + part * side) / 2 for part in (-1, 1))
                mesh.append(((x, y, x + width, y + height), (left, top, left, bottom, right, bottom, right, top)))
                draws.append((symbol, draw))
                x += width
        strip = self._strip(style, draws, less)
        layer = strip.transform(
            (appearance.side, appearance.side), Image.Transform.MESH, mesh, Image.Resampling.BILINEAR
        )
        return _map_bytes(layer, _pen(style["hand"][2], less))

    @cached_property
    def mark_size(self) -> tuple[int, int]:
        """The width and height of a candidate mark, in pixels."""
        return max(2, round(MARK[0] * self.appearance.cell)), max(2, round(MARK[1] * self.appearance.cell))

    def _mark_corner(self, mark: Sequence[int]) -> tuple[int, int]:
        """Return where the marks of a cell begin."""
        row, column = divmod(mark[0], self.appearance.shape.side)
        cell, margin = self.appearance.cell, self.appearance.margin
        x, y = column + 0.09 + mark[1] / 100, row + 0.08 + mark[2] / 100
        return margin + round(cell * x), margin + round(cell * y)

    def _bubbles(self, layer: Array, style: Style) -> None:
        """Draw a bubble around the marks of each cell, over what is written there."""
        for mark in style["marks"]:
            x, y = self._mark_corner(mark)
            bubble, edge = self._bubble((len(mark) - 3) // 2)
            top, left = y - edge, x - edge
            part = layer[top : top + bubble.shape[0], left : left + bubble.shape[1]]
            np.maximum(part, bubble[: part.shape[0], : part.shape[1]], out=part)

    def _bubble(self, count: int) -> tuple[Array, int]:
        """Return a bubble for this many marks, and how far it reaches beyond them."""
        if count not in self._made:
            (width, height), edge = self.mark_size, max(1, self.appearance.cell // 20)
            picture = Image.new("L", (count * width + 2 * edge, height + 2 * edge), 0)
            middle = picture.width / 2, picture.height / 2
            drawing = aggdraw.Draw(picture)
            outline = ellipse_points(middle, (middle[0] - edge / 2, middle[1] - edge / 2))
            drawing.polygon(outline.ravel().tolist(), aggdraw.Pen(255, self.appearance.cell / 50), None)
            drawing.flush()
            self._made[count] = np.array(picture), edge
        return self._made[count]


def _halve(images: Array) -> Array:
    """Return images at half their size, each pixel the mean of four."""
    wide = images.astype(np.uint16)
    return ((wide[:, ::2, ::2] + wide[:, 1::2, ::2] + wide[:, ::2, 1::2] + wide[:, 1::2, 1::2]) // 4).astype(np.uint8)


@lru_cache(maxsize=1024)
def _shade(colour: int) -> bytes:
    """Return how bright white paper is under each amount of an ink of this brightness."""
    return np.rint(255 - np.arange(256) * (255 - colour) / 255).astype(np.uint8).tobytes()


def _less(pixels: float) -> int:
    """Return by how much to shrink a symbol's image first so that it fits this many pixels without gaps."""
    return 1 if pixels > 0.6 * SIDE else 2 if pixels > 0.3 * SIDE else 4


@lru_cache(maxsize=1024)
def _pen(weight: int, less: int) -> bytes:
    """Return how dark each brightness becomes, in 16 steps: heavy pens reach farther, shrunken strokes are paler."""
    dark = np.clip(2.2 * (np.arange(256) - (95 - 0.45 * weight) / less), 0, 255)
    return bytes((17 * np.rint(dark / 17)).astype(np.uint8))


def _map_bytes(layer: Array | Image.Image, table: bytes) -> Array:
    """Return a layer with each byte replaced by the table's; four times as fast as indexing."""
    height, width = layer.shape if isinstance(layer, np.ndarray) else layer.size[::-1]
    return np.frombuffer(bytearray(layer.tobytes().translate(table)), dtype=np.uint8).reshape(height, width)


@lru_cache(maxsize=32)
def lettering(font: Font, file: str | None, cell: int, size: float) -> Array:
    """Return each symbol printed in the middle of a cell: how dark each pixel is."""
    points = max(4.0, size * cell)
    try:
        face = ImageFont.truetype(str(file), points) if font == "file" else ImageFont.load_default(points)
    except OSError:
        raise ConfigError(f"font_file {file!r} is no font that can be read; give a TrueType or OpenType file") from None
    tiles: list[Any] = []
    for symbol in SYMBOLS:
        tile = Image.new("L", (cell, cell), 0)
        stroke = max(1, round(points / 25)) if font == "bold" else 0
        if symbol != SYMBOLS[BLANK]:
            ImageDraw.Draw(tile).text((cell / 2, cell / 2), symbol, 255, face, anchor="mm", stroke_width=stroke)
        if font == "slanted":
            lean = (1, 0.25, -0.125 * cell, 0, 1, 0)
            tile = tile.transform((cell, cell), Image.Transform.AFFINE, lean, Image.Resampling.BILINEAR)
        tiles.append(np.array(tile))
    return np.stack(tiles)
