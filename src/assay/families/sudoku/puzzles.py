"""Sudoku puzzles: boards of which some cells are shown, enough for one solution and no other."""

import numpy as np

from assay.base import Array, Draws
from assay.families.sudoku.boards import BoardShape, draw_symmetry, solve_grids, symmetry_words
from assay.logic import some_different

CLUES_TURN, SYMMETRY_TURN = 2, 3


def solutions(shape: BoardShape, puzzle: Array, most: int = 2) -> Array:
    """Return up to so many solutions of a puzzle, whose blank cells are 0.

    >>> solutions(BoardShape(2), np.array([1, 0, 0, 4, 0, 4, 1, 0, 2, 0, 0, 3, 0, 3, 2, 0])).tolist()
    [[1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]]
    """
    everything = (1 << shape.side) - 1
    domains = [1 << (digit - 1) if digit else everything for digit in puzzle.tolist()]
    return some_different(shape.units.tolist(), shape.side, domains, most) + 1


def choose_clues(shape: BoardShape, grid: Array, order: Array, clues: int) -> Array:
    """Return which cells of a solved grid to show: the first of an order, and more until no other grid has them."""
    shown = np.zeros(shape.cells, dtype=bool)
    shown[order[:clues]] = True
    while len(found := solutions(shape, np.where(shown, grid, 0))) > 1:
        other = next(solution for solution in found if (solution != grid).any())
        shown[order[(other != grid)[order]][0]] = True
    return shown


def draw_puzzles(
    shape: BoardShape, draws: Draws, numbers: Array, per_grid: int, clues: int, hidden: int
) -> tuple[Array, Array]:
    """Return a solved grid for each number, and which of its cells are shown; the `hidden` one never is.

    So many numbers in a row share a puzzle up to symmetry.
    """
    bases, which = np.unique(np.asarray(numbers) // per_grid, return_inverse=True)
    grids = solve_grids(shape, draws, bases)
    orders = np.argsort(draws.words(bases, shape.cells, turn=CLUES_TURN), axis=1)
    masks = np.stack([choose_clues(shape, grid, order, clues) for grid, order in zip(grids, orders, strict=True)])
    boards, shown = np.zeros((2, len(numbers), shape.cells), dtype=np.int8)
    todo, turn = np.arange(len(numbers)), SYMMETRY_TURN
    while len(todo):
        symmetry = draw_symmetry(shape, draws.words(np.asarray(numbers)[todo], symmetry_words(shape), turn))
        boards[todo] = symmetry.apply(grids[which.ravel()[todo]])
        shown[todo] = symmetry.moved(masks[which.ravel()[todo]])
        todo, turn = todo[shown[todo, hidden] == 1], turn + 1
    return boards, shown.astype(bool)
