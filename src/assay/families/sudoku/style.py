"""How sudoku boards look: sizes, fonts and hands as settings, and what is drawn at random for each board.

What a board looks like is drawn by `board_style`, which knows nothing of what is on it: which cells are printed or
marked, and how, cannot tell whether the board is valid. Handwritten symbols are real digits, or letters and digits
drawn by strokes, in pools that share no image. A stroke is a line through a few points, straight or smooth. Each image
of a symbol moves the points a little, slants and stretches them, and draws them with a pen of some width: 40 images of
each symbol in each pool, always the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import aggdraw
import numpy as np
from PIL import Image

from assay.base import Array, rng_for
from assay.families.handwriting.digits import POOLS, SIDE, DigitSource
from assay.families.sudoku.boards import BLANK, SYMBOLS, BoardShape
from assay.render import Box, Colour
from assay.worlds import CONTENT, Style

Hand = Literal["digits", "strokes", "printed"]
VARIANTS = 40
STEPS = 6
TALL, WIDE = 10, 6
STROKES = {
    "0": "~30 12 05 18 3X 58 65 52 30",
    "1": "-12 30 3X",
    "2": "~02 10 40 62 55 28 0X,-0X 6X",
    "3": "~01 30 62 54 25,~25 57 68 3X 09",
    "4": "-40 07 67,-53 5X",
    "5": "-60 10 14,~14 44 67 4X 09",
    "6": "~50 22 06 19 3X 68 56 25 07",
    "7": "-00 60 2X",
    "8": "~62 30 02 35 67 3X 07 35 62",
    "9": "~62 40 11 03 25 54 62,~62 66 4X",
    "A": "-0X 30 6X,-16 56",
    "B": "-00 0X,~00 40 52 44 05,~05 45 68 4X 0X",
    "C": "~62 40 11 05 19 4X 68",
    "D": "-00 0X,~00 41 65 49 0X",
    "E": "-60 00 0X 6X,-05 55",
    "F": "-60 00 0X,-05 55",
    "G": "~62 40 11 05 19 4X 68,-6X 65 35",
    "a": "~54 23 06 19 3X 58,-54 59 6X",
    "h": "-00 0X,~06 34 56 5X",
    "k": "-00 0X,-53 07 5X",
    "x": "-03 6X,-63 0X",
}
"""Each symbol's strokes: `~` smooth or `-` straight, then points as x from 0 to 6 and y from 0 to 10 (X), y down."""


@dataclass(frozen=True)
class Writing:
    """Where the images of handwritten symbols come from; `numbers` of images name them."""

    digits: DigitSource | None
    cache: dict[tuple[str, str, int], Array] = field(default_factory=dict, compare=False, repr=False)

    def image(self, pool: str, symbol: str, draw: int) -> Array:
        """Return the image that a draw picks: 28 x 28 bytes, ink bright."""
        if self.digits is not None and symbol.isdecimal():
            picked: Array = self.digits.images[self.digits.image_number(pool, int(symbol), draw)]
            return picked
        key = pool, symbol, draw % VARIANTS
        if key not in self.cache:
            self.cache[key] = draw_strokes(*key)
        return self.cache[key]

    def name(self, pool: str, symbol: str, draw: int) -> str:
        """Return the name of the image that a draw picks."""
        if self.digits is not None and symbol.isdecimal():
            return f"digit {self.digits.image_number(pool, int(symbol), draw)}"
        return f"strokes {symbol} {POOLS.index(pool) * VARIANTS + draw % VARIANTS}"


def draw_strokes(pool: str, symbol: str, variant: int) -> Array:
    """Draw a symbol by its strokes; the same pool and variant always give the same image."""
    rng = rng_for(0, "strokes", pool, symbol, variant)
    pen = aggdraw.Pen(255, float(rng.uniform(1.7, 3.0)))
    stretch = np.array([rng.uniform(1.6, 2.2), rng.uniform(1.75, 2.05)])
    slant, turn = rng.uniform(-0.25, 0.15), rng.uniform(-0.12, 0.12)
    picture = Image.new("L", (SIDE, SIDE), 0)
    drawing = aggdraw.Draw(picture)
    for stroke in STROKES[symbol].split(","):
        points = np.array([["0123456789X".index(letter) for letter in pair] for pair in stroke[1:].split()], float)
        points = (points + rng.normal(0, 0.28, points.shape) - (WIDE / 2, TALL / 2)) * stretch
        points = points @ np.array([[1.0, turn], [slant, 1.0]]) + SIDE / 2
        line = smooth_line(points) if stroke[0] == "~" else points
        drawing.line(line.ravel().tolist(), pen)
    drawing.flush()
    return np.array(picture)


def smooth_line(points: Array) -> Array:
    """Return a smooth line through points (a Catmull-Rom spline)."""
    padded = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    before, start, end, after = (padded[i : len(padded) - 3 + i, None] for i in range(4))
    t = np.linspace(0, 1, STEPS, endpoint=False)[:, None]
    curve = 0.5 * (
        2 * start
        + (end - before) * t
        + (2 * before - 5 * start + 4 * end - after) * t**2
        + (3 * start - before - 3 * end + after) * t**3
    )
    return np.concatenate([curve.reshape(-1, 2), points[-1:]])


Font = Literal["sans", "bold", "slanted", "file"]
Ink = Literal["blue", "black", "green", "red", "pencil"]
INKS: dict[Ink, Colour] = {
    "blue": (26, 71, 180),
    "black": (25, 25, 30),
    "green": (20, 110, 60),
    "red": (180, 30, 40),
    "pencil": (105, 105, 110),
}
WARPS, CORNERS = 12, 6
"""How many ways to bend a cell's mesh a board has, and how many corners the mesh."""


@dataclass(frozen=True)
class BoardAppearance:
    """How boards look: sizes in pixels, fonts, the hand, and shares of cells."""

    shape: BoardShape
    cell: int = 50
    margin: int = 2
    grid: int = 1
    border: int = 4
    fonts: tuple[Font, ...] = ("sans",)
    font_file: str | None = None
    print_size: float = 0.5
    hand: Hand = "digits"
    inks: tuple[Ink, ...] = ("blue",)
    jitter: float = 1.0
    forms: int = 3
    starters: float = 0.35
    candidates: float = 0.22
    most_marks: int = 3

    @property
    def side(self) -> int:
        """The width and height of a picture."""
        return 2 * self.margin + self.shape.side * self.cell

    def box(self, cells: Array) -> Box:
        """Return the box around some cells."""
        rows, columns = np.divmod(cells, self.shape.side)
        corners = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        return Box(*(self.margin + self.cell * int(corner) for corner in corners))


def board_style(appearance: BoardAppearance, rng: np.random.Generator, pool: str) -> Style:
    """Draw how a board looks: the hand of its writer, which cells are printed or marked, and each cell's pose.

    `poses` hold for each cell: which form, which warp, shift right and down, turn and zoom, in hundredths.
    `marks` hold for each marked cell: the cell, the bubble's shift, then a form and a step from the cell's digit each.
    """
    cells = appearance.shape.cells
    order = rng.permutation(cells)
    first = round(appearance.starters * cells)
    marked = order[first : first + round(appearance.candidates * (cells - first))]
    scale = appearance.jitter * np.array([7, 7, 10, 6])
    poses = np.concatenate(
        [
            rng.integers(appearance.forms, size=(cells, 1)),
            rng.integers(WARPS, size=(cells, 1)),
            np.rint(scale * np.clip(rng.standard_normal((cells, 4)), -2, 2)).astype(np.int64),
        ],
        axis=1,
    )
    ink = np.array(INKS[appearance.inks[int(rng.integers(len(appearance.inks)))]]) + rng.integers(-18, 19, size=3)
    slant, size, weight = np.rint(100 * appearance.jitter * rng.uniform((-0.15, -0.1, -1), (0.3, 0.08, 1))).tolist()
    return {
        "pool": pool,
        "font": appearance.fonts[int(rng.integers(len(appearance.fonts)))],
        "ink": np.clip(ink, 0, 255).tolist(),
        "hand": [int(slant), int(size), int(weight)],
        "forms": rng.integers(2**31, size=appearance.forms).tolist(),
        "warps": np.rint(8 * appearance.jitter * rng.standard_normal((WARPS, 2 * CORNERS))).astype(int).tolist(),
        "starters": np.sort(order[:first]).tolist(),
        "poses": poses.tolist(),
        "marks": _draw_marks(appearance, rng, np.sort(marked)),
    }


def _draw_marks(appearance: BoardAppearance, rng: np.random.Generator, cells: Array) -> list[list[int]]:
    """Draw candidate marks: steps from the cell's own digit, no two alike, one of them 0."""
    number, most, rows = len(cells), appearance.most_marks, np.arange(len(cells))
    counts = rng.integers(2, most + 1, size=number)
    others = 1 + np.argsort(rng.random((number, appearance.shape.side - 1)), axis=1)[:, : most - 1]
    steps = np.concatenate([np.zeros((number, 1), dtype=np.int64), others], axis=1)
    own = rng.integers(counts)
    steps[rows, 0], steps[rows, own] = steps[rows, own], 0
    pairs = np.stack([rng.integers(appearance.forms, size=(number, most)), steps], axis=2).reshape(number, 2 * most)
    marks = np.concatenate([cells[:, None], rng.integers(0, 5, size=(number, 2)), pairs], axis=1).tolist()
    return [row[: 3 + 2 * count] for row, count in zip(marks, counts.tolist(), strict=True)]


def symbol_draws(appearance: BoardAppearance, style: Style) -> list[tuple[str, int]]:
    """Return each handwritten symbol of a board with the draw that picks its image, entries first, then marks."""
    text, forms = style[CONTENT], style["forms"]
    entries = [(text[cell], forms[style["poses"][cell][0]]) for cell in written_cells(appearance, style)]
    return entries + [pair for mark in style["marks"] for pair in marks_of(appearance, style, mark)]


def written_cells(appearance: BoardAppearance, style: Style) -> list[int]:
    """Return the cells whose symbol is handwritten."""
    starters, text = set(style["starters"]), style[CONTENT]
    if appearance.hand == "printed":
        return []
    return [cell for cell in range(appearance.shape.cells) if cell not in starters and text[cell] != SYMBOLS[BLANK]]


def marks_of(appearance: BoardAppearance, style: Style, mark: Sequence[int]) -> list[tuple[str, int]]:
    """Return the symbols of a cell's candidate marks, each with the draw that picks its image."""
    own = SYMBOLS.index(style[CONTENT][mark[0]])
    pairs = zip(mark[3::2], mark[4::2], strict=True)
    return [(SYMBOLS[1 + (own - 1 + step) % appearance.shape.side], style["forms"][form]) for form, step in pairs]
