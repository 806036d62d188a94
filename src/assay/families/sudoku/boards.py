"""Sudoku boards: symbols, units, and valid boards from the whole space.

A board is a row of symbol codes: 0 for a blank cell, 1 to 16 for the digits of the game (1-9, then A-G), more for
symbols that no game has. A valid board is a grid found by a randomised exact-cover solver, under which every grid has a
chance, and then a random symmetry of it. Everything is a function of a number, never of what else is asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from assay.base import Array, Draws, numbers_below

SYMBOLS = ".123456789ABCDEFG0ahkx"
"""Each code's symbol: the blank, the digits of games up to 16 x 16, and symbols that do not belong."""
BLANK, FOREIGN = 0, SYMBOLS.index("0")
KINDS = ("row", "col", "block")
SETTLED = 1 << 28
ATTEMPTS = {2: 1, 3: 2, 4: 8}
"""How often a grid is tried at once; a filling ends in a dead end never, in 1 of 4, in 8 of 9 cases."""

Incomplete = Literal["violated", "open"]


@dataclass(frozen=True)
class BoardShape:
    """The cells and units of a board whose blocks are `block` x `block`."""

    block: int

    @property
    def side(self) -> int:
        """How many rows, columns, blocks and digits there are."""
        return self.block**2

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.block**4

    @cached_property
    def units(self) -> Array:
        """The cells of each unit: a line each, rows first, then columns, then blocks."""
        n = self.block
        rows = np.arange(self.cells).reshape(self.side, self.side)
        blocks = rows.reshape(n, n, n, n).transpose(0, 2, 1, 3).reshape(self.side, self.side)
        return np.concatenate([rows, rows.T, blocks])

    @cached_property
    def units_of(self) -> Array:
        """The row, the column and the block of each cell."""
        rows, columns = np.divmod(np.arange(self.cells), self.side)
        blocks = rows // self.block * self.block + columns // self.block
        return np.stack([rows, self.side + columns, 2 * self.side + blocks], axis=1)

    @cached_property
    def unit_names(self) -> tuple[str, ...]:
        """The names of the units: row1, row2, ..., col1, ..., block1, ..."""
        return tuple(f"{kind}{number + 1}" for kind in KINDS for number in range(self.side))

    @cached_property
    def cell_names(self) -> tuple[str, ...]:
        """The names of the cells: r1c1, r1c2, ..."""
        return tuple(f"r{row + 1}c{column + 1}" for row in range(self.side) for column in range(self.side))

    def violated_units(self, boards: Array, incomplete: Incomplete = "violated") -> Array:
        """Return a flag for each board and unit: true unless the unit holds every digit exactly once.

        With `incomplete="open"` a blank cell is forgiven: true if some digit is there twice or a symbol is no digit.
        """
        bits = np.uint32(1) << np.arange(len(SYMBOLS), dtype=np.uint32)
        digits = np.uint32((1 << (self.side + 1)) - 2)
        contents = np.ascontiguousarray(boards.T)[self.units]  # boards last, so that reductions run over long rows
        present = np.bitwise_or.reduce(bits[contents], axis=1).T
        if incomplete == "violated":
            return np.asarray(present & digits != digits)
        filled = (contents != BLANK).sum(axis=1).T
        return np.asarray(np.bitwise_count(present & digits) != filled)


def write_boards(boards: Array) -> list[str]:
    """Return each board as a text, a symbol a cell.

    >>> write_boards(np.array([[1, 2, 0, 17]]))
    ['12.0']
    """
    table = np.frombuffer(SYMBOLS.encode(), dtype=np.uint8)
    text, width = table[boards].tobytes().decode(), boards.shape[1]
    return [text[start : start + width] for start in range(0, len(text), width)]


def read_board(text: str) -> Array:
    """Return the codes of one written board."""
    return np.array([SYMBOLS.index(symbol) for symbol in text], dtype=np.int8)


@dataclass(frozen=True)
class ExactCover:
    """Sudoku as exact cover: an option puts a digit in a cell and meets four demands, each to be met once.

    `demands`   of each option: the cell, the digit in the row, in the column, in the block
    `options`   of each demand
    `rivals`    of each option: all that meet one of its demands, itself among them
    """

    demands: Array
    options: Array
    rivals: Array


@lru_cache(maxsize=4)
def exact_cover(shape: BoardShape) -> ExactCover:
    """Return the options and demands of a board."""
    side = shape.side
    cells, digits = np.divmod(np.arange(side**3), side)
    lines = shape.units_of[cells]
    demands = np.concatenate([cells[:, None], shape.cells + lines * side + digits[:, None]], axis=1)
    options = np.argsort(demands.T.ravel(), kind="stable").reshape(-1, side) % side**3
    rivals = [np.unique(options[demand]) for demand in demands]
    return ExactCover(demands, options, np.stack(rivals))


def solve_grids(shape: BoardShape, draws: Draws, numbers: Array) -> Array:
    """Return a grid for each number: cells are filled at random, tightest demand first, again from none if stuck."""
    numbers = np.asarray(numbers, dtype=np.int64)
    grids = np.zeros((len(numbers), shape.cells), dtype=np.int8)
    todo, turn, tries = np.arange(len(numbers)), 0, ATTEMPTS[shape.block]
    while len(todo):
        turns = np.tile(np.arange(turn, turn + tries), len(todo))
        finished, filled = _fillings(shape, draws, np.repeat(numbers[todo], tries) * 2**20 + turns)
        which, first = np.unique(finished // tries, return_index=True)  # of several that end well the earliest counts
        grids[todo[which]] = filled[first]
        todo, turn = np.delete(todo, which), turn + tries
    return grids


def _fillings(shape: BoardShape, draws: Draws, numbers: Array) -> tuple[Array, Array]:
    """Fill a grid for each number; return the places of those that did not get stuck, and these grids."""
    cover, side, demands = exact_cover(shape), shape.side, 4 * shape.cells
    words = draws.words(numbers, demands + shape.cells)
    scores = (words[:, :demands] >> np.uint64(48)).astype(np.int64) + (side << 16)  # ties fall at random
    free = np.ones((len(numbers), side**3), dtype=bool)
    grids = np.zeros((len(numbers), shape.cells), dtype=np.int8)
    alive = np.arange(len(numbers))
    for step in range(shape.cells):
        tightest = scores.argmin(axis=1)
        left = scores[np.arange(len(alive)), tightest] >> 16
        if (left == 0).any():
            unstuck = left > 0
            scores, free, grids, alive = scores[unstuck], free[unstuck], grids[unstuck], alive[unstuck]
            tightest, left = tightest[unstuck], left[unstuck]
        rows = np.arange(len(alive))
        options = cover.options[tightest]
        rank = numbers_below(words[alive, demands + step], left)
        place = (np.cumsum(free[rows[:, None], options], axis=1) <= rank[:, None]).sum(axis=1)
        chosen = options[rows, place]
        grids[rows, chosen // side] = chosen % side + 1
        rivals = cover.rivals[chosen]
        row, which = np.nonzero(free[rows[:, None], rivals])
        free[rows[:, None], rivals] = False
        lost = (row[:, None] * demands + cover.demands[rivals[row, which]]).ravel()
        scores -= np.bincount(lost, minlength=scores.size).reshape(scores.shape) << 16
        scores[rows[:, None], cover.demands[chosen]] = SETTLED
    return alive, grids


@dataclass(frozen=True)
class Symmetry:
    """A symmetry of the game for each of some boards: new names of digits, and from which cell each cell comes."""

    renamed: Array
    cells: Array

    def moved(self, boards: Array) -> Array:
        """Return what is in the cells of boards, in the new order."""
        return np.take_along_axis(boards, self.cells, axis=1)

    def apply(self, grids: Array) -> Array:
        """Return grids in the new order with new digits."""
        return np.take_along_axis(self.renamed, self.moved(grids) - 1, axis=1)


def draw_symmetry(shape: BoardShape, words: Array) -> Symmetry:
    """Return digits renamed, rows, columns, bands and stacks in another order, and half of the boards turned over.

    `words` has `symmetry_words` columns.
    """
    n, side = shape.block, shape.side
    parts = iter(np.split(words, np.cumsum([side, n, side, n, side]), axis=1))
    renamed = np.argsort(next(parts), axis=1).astype(np.int8) + np.int8(1)
    rows, columns = _lines(parts, n), _lines(parts, n)
    turned = (next(parts)[:, :1] >> np.uint64(63)).astype(bool)[:, :, None]
    cells = rows[:, :, None] * side + columns[:, None, :]
    cells = np.where(turned, cells.transpose(0, 2, 1), cells)
    return Symmetry(renamed, cells.reshape(len(words), -1))


def _lines(parts: Iterator[Array], n: int) -> Array:
    """Return an order of lines that keeps bands together."""
    bands = np.argsort(next(parts), axis=1)
    inside = np.argsort(next(parts).reshape(-1, n, n), axis=2)
    return (bands[:, :, None] * n + inside).reshape(len(bands), -1)


def symmetry_words(shape: BoardShape) -> int:
    """Return how many words a symmetry takes."""
    return 3 * shape.side + 2 * shape.block + 1


def valid_boards(shape: BoardShape, draws: Draws, numbers: Array, per_grid: int) -> Array:
    """Return a valid board for each number; this many numbers in a row share a solved grid, up to symmetry."""
    bases, which = np.unique(np.asarray(numbers) // per_grid, return_inverse=True)
    grids = solve_grids(shape, draws, bases)[which.ravel()]
    return draw_symmetry(shape, draws.words(numbers, symmetry_words(shape), turn=1)).apply(grids)
