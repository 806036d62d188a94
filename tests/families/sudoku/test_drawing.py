"""Drawn boards show what is on them: printed symbols as they are, handwritten ones so that they can be read."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from assay.families.sudoku.task import Sudoku
from assay.worlds import CONTENT, World
from tests.families.drawn import worlds_of

BARE = {"grid_px": 0, "block_px": 0, "margin_px": 0, "starters": 0.0, "candidates": 0.0}


def drawn(task, world, text=None):
    """Return the picture of a board in each of its cells, and the symbols there."""
    text = text or world.style[CONTENT]
    image = task.render(World(world.space, world.codes, {**world.style, CONTENT: text})).image
    side, cell = task.shape.side, task.config.cell_px
    assert image.shape == (side * cell, side * cell, 3)
    cells = image.reshape(side, cell, side, cell, 3).swapaxes(1, 2).reshape(side**2, cell, cell, 3)
    return cells, list(text)


def test_printed_symbols_differ_by_symbol_and_font_and_by_nothing_else():
    letters = {}
    for font in ("sans", "bold", "slanted"):
        task = Sudoku(block_size=2, violations=[2], cell_px=30, fonts=[font], **{**BARE, "starters": 1.0})
        for world in worlds_of(task, count=3):
            for cell, symbol in zip(*drawn(task, world, "12.0aAx3hkG94F1E"), strict=True):
                letters.setdefault((font, symbol), set()).add(cell.tobytes())
    assert {len(looks) for looks in letters.values()} == {1} and len(letters) == 3 * 15  # 1 is there twice
    looks = {
        symbol: {next(iter(letters[font, symbol])) for font in ("sans", "bold", "slanted")} for _, symbol in letters
    }
    assert all(len(found) == (1 if symbol == "." else 3) for symbol, found in looks.items())
    assert len(set.union(*looks.values())) == 3 * 14 + 1


def test_lines_are_as_wide_as_asked_for():
    task = Sudoku(cell_px=20, margin_px=5, grid_px=2, block_px=4, starters=0.0, candidates=0.0)
    world = worlds_of(task, count=1)[0]
    blank = World(world.space, world.codes, {**world.style, CONTENT: "." * 81})
    across = task.render(blank).image[15, :, 0]
    dark = np.flatnonzero(np.diff(np.concatenate([[255], across, [255]]).astype(int)))
    assert (dark[1::2] - dark[::2]).tolist() == [4, 2, 2, 4, 2, 2, 4, 2, 2, 4]
    assert dark[0] == 3 and task.layout.width == 190


def test_blank_cells_are_empty_and_marks_stay_in_their_cells():
    task = Sudoku(**{**BARE, "starters": 0.3, "candidates": 0.5})
    world = worlds_of(task, count=1)[0]
    cells, _ = drawn(task, world, "." * 81)
    inked = {place for place, cell in enumerate(cells) if (cell < 255).any()}
    assert inked == {mark[0] for mark in world.style["marks"]} != set()


@pytest.mark.parametrize(("jitter", "alike"), [(0.0, True), (0.5, False)])
def test_handwriting_of_a_board_is_one_hand(jitter, alike):
    task = Sudoku(cell_px=24, jitter=jitter, forms=1, **BARE)
    for world in worlds_of(task, count=2):
        looks = {}
        for cell, symbol in zip(*drawn(task, world), strict=True):
            looks.setdefault(symbol, []).append(cell.tobytes())
        assert all((len(set(some)) == 1) == alike for some in looks.values() if len(some) > 1)


@pytest.mark.parametrize(("hand", "least"), [("digits", 0.7), ("strokes", 0.9)])
def test_handwriting_can_be_read_and_learned_from_other_hands(hand, least):
    task = Sudoku(cell_px=28, hand=hand, jitter=0.2, forms=20, **BARE)

    def written(split, count):
        cells, symbols = zip(*(drawn(task, world) for world in worlds_of(task, split, count)), strict=True)
        return 1 - np.concatenate(cells)[:, ::2, ::2, 0].reshape(81 * count, -1) / 255, [
            one for some in symbols for one in some
        ]

    reader = LogisticRegression(C=0.05, max_iter=60, tol=1e-2).fit(*written("train", 40))
    assert reader.score(*written("test", 10)) > least


@pytest.mark.parametrize("concepts", ["units", "cells", "both"])
def test_regions_are_of_units_or_cells_or_both(concepts):
    task = Sudoku(block_size=2, cell_px=10, margin_px=3, violations=[2], concepts=concepts)
    corners = {"row2": (3, 13, 43, 23), "col3": (23, 3, 33, 43), "block2": (23, 3, 43, 23), "r2c4": (33, 13, 43, 23)}
    found = {
        name: (box.left, box.top, box.right, box.bottom) for name, box in task.layout.regions.items() if name in corners
    }
    wanted = {"units": 3, "cells": 1, "both": 4}[concepts]
    assert len(found) == wanted and found.items() <= corners.items()
    assert len(task.layout.regions) == {"units": 12, "cells": 16, "both": 28}[concepts]
