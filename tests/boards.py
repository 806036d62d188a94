"""Sudoku of 4 x 4 cells as knowledge: 12 units whose numbers all differ."""

from functools import cache
from itertools import permutations, product

import numpy as np

from assay.base import Codes
from assay.logic import AllDifferent, Constraint, Knowledge, Var, digits

CELLS = [f"c{row}{column}" for row in range(4) for column in range(4)]
GRID = np.arange(16).reshape(4, 4)
UNITS = [
    *GRID.tolist(),
    *GRID.T.tolist(),
    *(GRID[r : r + 2, c : c + 2].ravel().tolist() for r in (0, 2) for c in (0, 2)),
]


def sudoku() -> Knowledge:
    """Return the knowledge of 4 x 4 sudoku."""
    limits = [Constraint(f"u{n}", AllDifferent(tuple(Var(CELLS[i]) for i in unit))) for n, unit in enumerate(UNITS)]
    return Knowledge.of(digits(CELLS, (1, 2, 3, 4)), {"first": "c00"}, limits)


@cache
def solutions() -> Codes:
    """Return all 288 boards that keep the rules, by listing rows."""
    rows = np.array(list(permutations(range(4))))
    boards = rows[np.array(list(product(range(24), repeat=4)))].reshape(-1, 16)
    kept = [(np.sort(boards[:, unit], axis=1) == np.arange(4)).all(axis=1) for unit in UNITS]
    return np.asarray(boards[np.all(kept, axis=0)])
