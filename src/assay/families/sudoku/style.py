"""How sudoku boards look: sizes, fonts and hands as settings, and what is drawn at random for each board.

What a board looks like is drawn by `board_style`, which knows nothing of what is on it: which cells are printed or
marked, and how, cannot tell whether the board is valid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.base import Array
from assay.families.sudoku.boards import BLANK, SYMBOLS, BoardShape
from assay.families.sudoku.handwriting import Hand
from assay.render import Box, Colour
from assay.worlds import CONTENT, Style

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
