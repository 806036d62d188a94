"""Boards: valid ones from the whole space, invalid ones with as many violated units as asked for."""

import itertools
from collections import Counter

import numpy as np
import pytest

from assay.base import Draws
from assay.families.sudoku.boards import BoardShape, valid_boards
from assay.families.sudoku.source import corrupt_by_actions
from assay.families.sudoku.task import Sudoku
from assay.worlds import CONTENT
from tests.families.drawn import class_indices, worlds_of

DIGITS = "123456789ABCDEFG"
BLOCKS = (2, 3, 4)
USUAL = {4: {"block_size": 4, "violations": [3, 20]}, 3: {}, 2: {"block_size": 2, "violations": [2, 3, 5]}}


def valid(block, count, per_grid=50):
    return valid_boards(BoardShape(block), Draws(0, "test"), np.arange(count), per_grid)


def units_of(cells, n):
    """Return the rows, columns and blocks of a board."""
    side = n * n
    rows = [cells[side * i : side * (i + 1)] for i in range(side)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    blocks = [
        [rows[n * i + r][n * j + c] for r in range(n) for c in range(n)]
        for i, j in itertools.product(range(n), repeat=2)
    ]
    return [*rows, *columns, *blocks]


def sound(text, n, incomplete="violated"):
    """Return by plain loops whether each unit has every digit once, or if it may have blanks none twice."""
    digits = set(DIGITS[: n * n])
    if incomplete == "open":
        shown = [[cell for cell in unit if cell != "."] for unit in units_of(list(text), n)]
        return [len(set(unit)) == len(unit) and set(unit) <= digits for unit in shown]
    return [set(unit) == digits for unit in units_of(list(text), n)]


@pytest.mark.parametrize(
    ("block", "settings"),
    [(block, {}) for block in BLOCKS]
    + [
        (2, {"incomplete": "open", "blanks": 2, "violations": [1, 2]}),
        (3, {"incomplete": "open"}),
        (3, {"actions": 5}),
    ],
)
def test_units_are_violated_where_plain_loops_say_so(block, settings):
    task = Sudoku(image=False, **{**USUAL[block], **settings})
    for split in ("train", "hard", "ood"):
        for world in worlds_of(task, split, 40):
            found = sound(world.style[CONTENT], block, task.config.incomplete)
            assert [bool(code) for code in world.codes] == found, world.style[CONTENT]


def test_all_288_small_grids_are_found():
    assert len(np.unique(valid(2, 6000, per_grid=1), axis=0)) == 288
    assert len(np.unique(valid(2, 6000, per_grid=6000), axis=0)) in (96, 192)  # of one grid, by symmetry: two classes


@pytest.mark.parametrize("block", BLOCKS)
def test_a_board_is_a_function_of_its_number(block):
    boards, some, shape = valid(block, 120), np.array([7, 118, 60]), BoardShape(block)
    assert (valid_boards(shape, Draws(0, "test"), some, 50) == boards[some]).all()
    assert (valid_boards(shape, Draws(1, "test"), some, 50) != boards[some]).any(axis=1).all()
    acted_on = corrupt_by_actions(shape, boards, Draws(4), np.arange(120), 9)
    assert (corrupt_by_actions(shape, boards[some], Draws(4), some, 9) == acted_on[some]).all()


def intercalates(board):
    """Count the rectangles that hold two digits crosswise: every symmetry of the board keeps their number."""
    found = 0
    for top, bottom in itertools.combinations(board.reshape(9, 9), 2):
        partner = np.argsort(top)[bottom - 1]  # the column in which the upper row has what the lower one has here
        found += int((partner[partner] == np.arange(9)).sum()) // 2
    return found


def test_boards_fall_into_many_classes_and_symmetries_stay_in_theirs():
    """The released generator's boards are all one class: a fixed pattern with rows, columns and digits exchanged."""
    boards = valid(3, 400, per_grid=10)
    kept = np.array([intercalates(board) for board in boards]).reshape(40, 10)
    assert (kept == kept[:, :1]).all() and len(set(kept[:, 0].tolist())) > 8
    assert len(np.unique(boards, axis=0)) == 400


@pytest.mark.parametrize("block", BLOCKS)
def test_each_number_of_violated_units_from_two_up_can_be_had(block):
    counts = list(range(2, 3 * block**2 + 1))
    task = Sudoku(image=False, block_size=block, violations=counts)
    violated = (class_indices(worlds_of(task, count=8 * len(counts))) == 0).sum(axis=1)
    assert Counter(violated.tolist()) == {0: 4 * len(counts), **dict.fromkeys(counts, 4)}


def test_one_violated_unit_cannot_be_on_a_full_board_and_can_be_where_blanks_are_forgiven():
    """No kind of unit has a single violated one while another kind has none: the law behind the refusal."""
    boards = np.repeat(valid(2, 288, per_grid=1), 60, axis=0)
    rng = np.random.default_rng(0)
    for _ in range(2):
        boards[np.arange(len(boards)), rng.integers(16, size=len(boards))] = rng.integers(1, 5, size=len(boards))
    kinds = BoardShape(2).violated_units(boards).reshape(len(boards), 3, 4).sum(axis=2)
    assert not ((kinds == 1).any(axis=1) & (kinds == 0).any(axis=1)).any()
    assert {0, 2, 3, 4, 5, 6} == set(kinds.sum(axis=1).tolist())
    task = Sudoku(image=False, incomplete="open", blanks=4, violations=[1])
    worlds = worlds_of(task)
    assert Counter((class_indices(worlds) == 0).sum(axis=1).tolist()) == {0: 30, 1: 30}
    assert {world.style[CONTENT].count(".") for world in worlds} == {4}


def kind_of(before, after):
    """Return which of the paper's six actions makes one board of another: 0 to 2 on rows, 3 to 5 on columns."""
    changed = (before != after).reshape(9, 9)
    for offset, one in ((0, changed), (3, changed.T)):
        lines, cells = np.flatnonzero(one.any(axis=1)), np.flatnonzero(one.any(axis=0))
        bands = len({line // 3 for line in lines})
        if len(lines) == 2 and len(cells) == 1 and bands == 1 and sorted(before) == sorted(after):
            return offset  # two cells of one line trade places
        if len(lines) == 2 and len(cells) == 9 and bands == 2:
            return offset + 1  # two whole lines of different bands
    assert changed.sum() == 1  # one cell takes a value of its row or column
    return 2


def test_the_six_actions_do_what_the_paper_says():
    boards = np.repeat(valid(3, 1), 3000, axis=0)
    after = corrupt_by_actions(BoardShape(3), boards, Draws(0), np.arange(3000), 1)
    counts = Counter(kind_of(*pair) for pair in zip(boards, after, strict=True))
    assert sorted(counts) == [0, 1, 2, 3, 4] and all(400 < counts[kind] < 600 for kind in (0, 1, 3, 4))


def test_actions_never_leave_a_valid_board():
    """Of the released 0.3.1's invalid boards 11 in 2,000 are valid: two swaps that cancel."""
    boards = corrupt_by_actions(BoardShape(3), valid(3, 2000), Draws(0), np.arange(2000), 9)
    counts = BoardShape(3).violated_units(boards).sum(axis=1)
    assert counts.min() >= 2 and 10.5 < counts.mean() < 12.5  # 11.4 by the released code
    redrawn = corrupt_by_actions(BoardShape(2), valid(2, 2000), Draws(0), np.arange(2000), 2)
    assert BoardShape(2).violated_units(redrawn).any(axis=1).all()


@pytest.mark.parametrize("block", [2, 3])
def test_a_changed_unit_brings_as_few_others_as_can_be(block):
    task = Sudoku(image=False, **USUAL[block])
    for world in worlds_of(task, count=2):
        for place, value in itertools.product(range(3 * block**2), (False, True)):
            unit = task.space.names[place]
            changed = task.change_world(world, {unit: value})
            assert changed[unit] == value and changed.codes == tuple(sound(changed.style[CONTENT], block))
            if world[unit] == value:
                assert changed == world
            elif all(world.codes):  # two rows of a band, two columns of a stack, or a cell in a block
                assert changed.codes.count(0) == (3 if unit.startswith("block") else 2)


def test_several_units_can_be_changed_and_what_cannot_be_is_refused():
    task = Sudoku(image=False)
    world = next(one for one in worlds_of(task, count=4) if all(one.codes))
    other = task.change_world(world, {"row1": False, "col5": False, "block3": True})
    assert (other["row1"], other["col5"], other["block3"]) == (False, False, True)
    assert all(task.change_world(other, dict.fromkeys(task.space.names, True)).codes)
    assert task.change_world(world, {name: name != "row3" for name in task.space.names}) is None
