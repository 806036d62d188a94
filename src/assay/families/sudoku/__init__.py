"""Sudoku boards, valid or not, printed and handwritten (Concept Benchmark)."""

from assay.tasks import TASKS

TASKS.add(
    "sudoku",
    "sudoku boards, valid or with a few violated rows, columns and blocks",
    "assay.families.sudoku.task:Sudoku",
)
TASKS.preset(
    "sudoku-paper",
    "sudoku boards with 1 to 9 corruption actions, as published",
    "sudoku",
    "Sudoku boards as in the paper: invalid by 1 to 9 corruption actions, mostly far from valid.",
    actions=9,
    grid_px=2,
    block_px=5,
)
TASKS.preset(
    "sudoku-mini",
    "sudoku boards of 4 x 4 cells",
    "sudoku",
    "Boards of 4 x 4 cells: 12 concepts, small pictures.",
    block_size=2,
    violations=[2, 3, 4, 5, 6],
    cell_px=28,
)
TASKS.add(
    "sudoku-solve",
    "which digit belongs in the empty corner of a sudoku puzzle?",
    "assay.families.sudoku.solve:SudokuSolve",
)
TASKS.preset(
    "sudoku-solve-mini",
    "the same for puzzles of 4 x 4 cells",
    "sudoku-solve",
    "Puzzles of 4 x 4 cells: 16 concepts, small pictures.",
    trial={"cell_px": 16},
    block_size=2,
)
