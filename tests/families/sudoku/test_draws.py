"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "mini": ("sudoku-mini", {}),
    "sudoku": ("sudoku", {"cell_px": 16}),
    "paper": ("sudoku-paper", {
        "cell_px": 16, "fonts": ["bold", "slanted"], "hand": "strokes", "inks": ["red", "pencil", "green"],
    }),
    "letters": ("sudoku", {"block_size": 4, "cell_px": 14, "hand": "printed", "inks": ["black"]}),
    "solve mini": ("sudoku-solve-mini", {"cell_px": 16}),
    "solve": ("sudoku-solve", {"cell_px": 16}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("sudoku", name, CASES[name])
