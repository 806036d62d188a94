"""Boards by hand: what is asked of a move, a puzzle or a source at its edges, worked out on four by four cells."""

from fractions import Fraction

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.families.sudoku import corruption
from assay.families.sudoku.boards import (
    SYMBOLS,
    BoardShape,
    Symmetry,
    draw_symmetry,
    exact_cover,
    read_board,
    solve_grids,
    symmetry_words,
    write_boards,
)
from assay.families.sudoku.corruption import corrupt_by_count, fewest_violated, nearest_board, overwrite_symbols
from assay.families.sudoku.puzzles import choose_clues, draw_puzzles, solutions
from assay.families.sudoku.settings import from_released
from assay.families.sudoku.solve import SudokuSolve
from assay.families.sudoku.source import BoardPlan, BoardSource, violations_fault
from assay.families.sudoku.task import Sudoku
from assay.seeds import Draws
from assay.worlds import CONTENT, Split, World

MINI = BoardShape(2)
GRID = "1234341221434321"
"""A valid board: rows 1234, 3412, 2143, 4321."""


def board(text=GRID):
    return read_board(text)


def names(flags):
    return [name for name, flag in zip(MINI.unit_names, flags, strict=True) if flag]


# -- shapes ------------------------------------------------------------------------------------------------------------


def test_units_are_rows_then_columns_then_blocks():
    assert MINI.units.tolist() == [
        *([0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]),
        *([0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]),
        *([0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]),
    ]
    assert MINI.units_of[[0, 6, 9, 15]].tolist() == [[0, 4, 8], [1, 6, 9], [2, 5, 10], [3, 7, 11]]
    assert MINI.cell_names[:5] == ("r1c1", "r1c2", "r1c3", "r1c4", "r2c1")


@pytest.mark.parametrize(
    ("text", "violated", "open_"),
    [
        (GRID, [], []),
        ("1234341221434322", ["row4", "col4", "block4"], ["row4", "col4", "block4"]),
        ("12343412214343.1", ["row4", "col3", "block4"], []),
        ("123434122143435x", ["row4", "col3", "col4", "block4"], ["row4", "col3", "col4", "block4"]),
        ("1.34341.2243432.", ["row1", "row2", "row3", "row4", "col2", "col4", "block1", "block2", "block3", "block4"],
         ["row3", "block3"]),
    ],
)  # fmt: skip
def test_units_are_violated_by_repeats_and_odd_symbols_and_if_closed_by_blanks(text, violated, open_):
    assert names(MINI.violated_units(board(text)[None])[0]) == violated
    assert names(MINI.violated_units(board(text)[None], "open")[0]) == open_


def test_an_option_meets_four_demands_and_rivals_share_one():
    cover = exact_cover(MINI)
    assert cover.demands[4 * 6 + 2].tolist() == [6, 16 + 4 * 1 + 2, 16 + 4 * 6 + 2, 16 + 4 * 9 + 2]
    assert cover.options.shape == (64, 4)
    assert all(sorted(np.flatnonzero((cover.demands == d).any(axis=1))) == sorted(cover.options[d]) for d in range(64))
    assert cover.rivals.shape == (64, 4 + 3 * 3 - 2)


def test_grids_of_equal_numbers_are_equal_whatever_else_is_asked_for():
    found = solve_grids(MINI, Draws(0, "x"), np.array([5, 900, 5, 2]))
    assert (found[0] == found[2]).all() and not MINI.violated_units(found).any()
    assert (solve_grids(MINI, Draws(0, "x"), np.array([2]))[0] == found[3]).all()


def test_a_symmetry_moves_cells_and_then_renames_digits():
    cells = np.array([np.arange(16)[::-1], np.arange(16).reshape(4, 4).T.ravel()])
    symmetry = Symmetry(np.array([[2, 1, 4, 3], [1, 2, 3, 4]], dtype=np.int8), cells)
    grids = np.stack([board()] * 2)
    assert write_boards(symmetry.moved(grids)) == [GRID[::-1], "1324241331424231"]
    assert write_boards(symmetry.apply(grids)) == ["2143432112343412", "1324241331424231"]


def test_a_symmetry_is_read_off_its_words():
    words = np.zeros((2, symmetry_words(MINI)), dtype=np.uint64)
    assert words.shape[1] == 4 + 2 + 4 + 2 + 4 + 1
    words[:, :4] = [3, 0, 1, 2]  # by rank: digit 2 becomes the first, then 3, 4, 1
    words[:, 4:6] = [1, 0]  # the second band first
    words[:, 6:10] = [0, 1, 1, 0]  # in the second of the chosen bands the rows are exchanged
    words[:, 10:12] = [0, 1]
    words[:, 12:16] = [1, 0, 0, 1]
    words[1, 16] = 1 << 63
    made = draw_symmetry(MINI, words)
    assert made.renamed.tolist() == [[2, 3, 4, 1]] * 2
    rows, columns = [2, 3, 1, 0], [1, 0, 2, 3]
    plain = [[4 * row + column for column in columns] for row in rows]
    assert made.cells[0].tolist() == np.ravel(plain).tolist()
    assert made.cells[1].tolist() == np.transpose(plain).ravel().tolist()


# -- corruption --------------------------------------------------------------------------------------------------------


def test_the_fewest_violated_units_are_two_or_with_blanks_one():
    assert [fewest_violated(blanks) for blanks in (0, 1, 5)] == [2, 1, 1]


def test_a_move_of_one_cell_violates_no_more_units_than_asked_and_leaves_blanks():
    boards = np.repeat(board("1234341.21434321")[None], 400, axis=0)
    flags = np.zeros((400, 12), dtype=bool)
    flags[:, [0, 4]] = True  # as if row 1 and column 1 were violated already
    words = Draws(0).words(np.arange(400), 8)
    single = (words[:, 0] >> np.uint64(63)).astype(bool)
    moved = corruption._move(MINI, boards, flags, np.full(400, 2), words)
    changed = [tuple(np.flatnonzero(one != boards[0])) for one in moved[single]]
    gains = 3 - np.isin(MINI.units_of, [0, 4]).sum(axis=1)
    assert {cell for cells in changed for cell in cells} == set(np.flatnonzero(gains <= 2)) - {7}
    assert all(len(cells) == 1 for cells in changed) and set(np.unique(moved[single])) == {0, 1, 2, 3, 4}
    none = corruption._move(MINI, boards, np.zeros((400, 12), bool), np.full(400, 2), words)
    acted = corruption.apply_action(MINI, boards, words[:, 1:])
    assert (none == acted).all()  # a cell of a sound board always violates three


def test_a_digit_moves_to_any_other_digit():
    boards = np.repeat(board()[None], 600, axis=0)
    words = Draws(1).words(np.arange(600), 8)
    single = (words[:, 0] >> np.uint64(63)).astype(bool)
    moved = corruption._move(MINI, boards, np.zeros((600, 12), bool), np.full(600, 3), words)[single]
    rows, cells = np.nonzero(moved != board())
    assert len(rows) == single.sum() and set(cells.tolist()) == set(range(16))
    pairs = {(int(board()[cell]), int(moved[row, cell])) for row, cell in zip(rows, cells, strict=True)}
    assert pairs == {(a, b) for a in range(1, 5) for b in range(1, 5) if a != b}


def test_boards_that_have_the_wanted_number_already_stay_as_they_are():
    boards = np.stack([board("1234341221434322"), board(), board("1234341221434322")])
    wanted = np.array([3, 0, 5])
    found = corrupt_by_count(MINI, boards, Draws(0), np.arange(3), wanted)
    assert (found[:2] == boards[:2]).all() and (found[2] != boards[2]).any()
    assert MINI.violated_units(found).sum(axis=1).tolist() == [3, 0, 5]
    assert write_boards(boards)[2] == "1234341221434322"  # what is given is not changed


def test_open_boards_are_broken_as_far_as_wanted():
    boards = overwrite_symbols(np.repeat(board()[None], 30, axis=0), Draws(1), np.arange(30), ".", np.full(30, 3))
    wanted = np.arange(30) % 4 + 1
    found = corrupt_by_count(MINI, boards, Draws(0), np.arange(30), wanted, "open")
    assert (MINI.violated_units(found, "open").sum(axis=1) == wanted).all()
    assert (found != boards).any(axis=1).all()


def test_cells_are_overwritten_at_random_places():
    boards = np.repeat(board()[None], 300, axis=0)
    marked = overwrite_symbols(boards, Draws(0), np.arange(300), "x", np.full(300, 2))
    where = (marked != boards).sum(axis=0)
    assert where.sum() == 600 and where.min() > 10 and set(np.unique(marked[marked != boards])) == {SYMBOLS.index("x")}


def test_units_lack_the_digits_that_they_repeat():
    boards = np.stack([board(), board("1111341221434321"), board("1.3x341221434321")])
    assert corruption._repeats(MINI, boards, np.array([0])).tolist() == [0, 3, 2]
    assert corruption._repeats(MINI, boards, np.array([0, 4, 8])).tolist() == [0, 3 + 0 + 1, 2 + 0 + 1]


def test_edits_are_all_changes_and_swaps_of_some_cells():
    start = board("1134341221434321")
    tried = corruption._edits(MINI, start, np.array([0, 6]))
    differs = tried != start
    assert sorted({int(count) for count in differs.sum(axis=1)}) == [1, 2]
    singles = {(int(np.flatnonzero(d)[0]), int(t[d][0])) for t, d in zip(tried, differs, strict=True) if d.sum() == 1}
    assert singles == {(0, 2), (0, 3), (0, 4), (6, 2), (6, 3), (6, 4)}
    swaps = {tuple(np.flatnonzero(d)) for d in differs if d.sum() == 2}
    wanted = {tuple(sorted((a, b))) for a in (0, 6) for b in range(16) if start[a] != start[b]}
    assert swaps == wanted
    assert all(
        sorted(t.tolist()) == sorted(start.tolist()) for t, d in zip(tried, differs, strict=True) if d.sum() == 2
    )


def test_the_nearest_board_takes_as_many_steps_as_it_needs():
    broken = board("1111341221434321")
    found = nearest_board(MINI, broken, {0: True})
    assert sorted(found[:4].tolist()) == [1, 2, 3, 4] and write_boards(broken[None]) == ["1111341221434321"]
    whole = nearest_board(MINI, broken, dict.fromkeys(range(12), True))
    assert whole is not None and write_boards(whole[None]) == [GRID]


def test_the_nearest_board_leaves_other_units_as_they_were():
    broken = board("1234341221434322")  # row 4, column 4 and block 4 are violated
    mended = nearest_board(MINI, broken, {3: True})
    assert not MINI.violated_units(mended[None])[0, 3]
    others = MINI.violated_units(mended[None])[0] != MINI.violated_units(broken[None])[0]
    assert others.sum() == min(
        int((MINI.violated_units(t[None])[0] != MINI.violated_units(broken[None])[0]).sum())
        for t in corruption._edits(MINI, broken, MINI.units[3])
        if not MINI.violated_units(t[None])[0, 3]
    )


def test_an_open_board_may_stay_incomplete():
    blank = board("1.34341221434321")
    assert (nearest_board(MINI, blank, {0: True}, "open") == blank).all()
    assert nearest_board(MINI, blank, {0: True})[1] != 0


# -- puzzles -----------------------------------------------------------------------------------------------------------


def test_up_to_so_many_solutions_are_found():
    empty = np.zeros(16, dtype=np.int8)
    assert len(solutions(MINI, empty)) == 2 and len(solutions(MINI, empty, 7)) == 7
    assert len(solutions(MINI, empty, 1000)) == 288
    assert solutions(MINI, board()).tolist() == [board().tolist()]
    assert len(solutions(MINI, board("11.............."))) == 0


def test_clues_are_the_first_of_an_order_and_as_many_more_as_one_solution_needs():
    order = np.array([15, 3, 8, 5, 0, 1, 2, 4, 6, 7, 9, 10, 11, 12, 13, 14])
    few = choose_clues(MINI, board(), order, 2)
    assert few[[15, 3]].all() and len(solutions(MINI, np.where(few, board(), 0))) == 1
    many = choose_clues(MINI, board(), order, 10)
    assert np.flatnonzero(many).tolist() == sorted(order[:10].tolist())
    assert choose_clues(MINI, board(), order, 16).all()
    added = [cell for cell in order if few[cell]]
    for place in range(2, len(added)):  # each cell added told two solutions apart
        before = np.isin(np.arange(16), added[:place])
        found = solutions(MINI, np.where(before, board(), 0), 300)
        assert len(found) > 1 and len({int(one[added[place]]) for one in found}) > 1


def test_puzzles_in_a_row_share_a_grid_up_to_symmetry_and_hide_the_cell_asked_for():
    numbers = np.array([0, 1, 2, 5, 11])
    boards, shown = draw_puzzles(MINI, Draws(0, "p"), numbers, 4, 6, hidden=9)
    assert boards.shape == shown.shape == (5, 16) and shown.dtype == bool
    assert not shown[:, 9].any() and not MINI.violated_units(boards).any()
    counts = shown.sum(axis=1).tolist()
    assert counts[0] == counts[1] == counts[2] and min(counts) >= 6
    for whole, mask in zip(boards, shown, strict=True):
        assert solutions(MINI, np.where(mask, whole, 0)).tolist() == [whole.tolist()]
    other = draw_puzzles(MINI, Draws(0, "p"), numbers[[4, 1]], 4, 6, hidden=9)
    assert (other[0] == boards[[4, 1]]).all() and (other[1] == shown[[4, 1]]).all()


@pytest.mark.parametrize(("block", "most"), [(2, 12), (3, 60)])
def test_as_many_clues_as_three_quarters_of_the_cells(block, most):
    assert SudokuSolve(block_size=block, image=False, clues=most, ood_clues=most).config.clues == most
    for key in ("clues", "ood_clues"):
        with pytest.raises(ConfigError, match=f"at most {most} of"):
            SudokuSolve(block_size=block, image=False, **{key: most + 1})


def test_clues_of_a_split_are_those_set_or_the_usual():
    usual, own = SudokuSolve(image=False).config, SudokuSolve(image=False, clues=41, ood_clues=30).config
    assert [usual.clues_in(split) for split in ("train", "test", "ood")] == [38, 38, 26]
    assert [own.clues_in(split) for split in ("train", "test", "ood")] == [41, 41, 30]
    assert SudokuSolve(block_size=2, image=False).config.clues_in("ood") == 4


def test_a_solution_may_occur_and_another_board_may_not():
    task = SudokuSolve(block_size=2, image=False)
    source = task.worlds_in(task.splits()[0], 0)
    codes = np.stack([board(), board("1234341221434322"), board("1234341212343412")]).astype(np.int64) - 1
    assert source.contains(codes).tolist() == [True, False, False]
    assert source.total == 4**16 and {split.balance for split in task.splits()} == {"world"}


def test_several_digits_are_renamed_one_after_another():
    task = SudokuSolve(block_size=2, image=False)
    world = World(task.space, tuple((board().astype(int) - 1).tolist()), {CONTENT: "1.34....2.4.4..1", "k": 3})
    once = task.change_world(world, {"r1c2": 4})
    assert (
        write_boards(np.array([once.codes]) + 1) == ["1432321441232341"] and once.style[CONTENT] == "1.32....4.2.2..1"
    )
    twice = task.change_world(world, {"r1c2": 4, "r2c2": 1})
    assert write_boards(np.array([twice.codes]) + 1) == ["2431312442131342"]  # then 1 and 2 trade names
    assert once.style["k"] == 3 and task.change_world(world, {"r1c2": 2}) == world


# -- sources -----------------------------------------------------------------------------------------------------------


def source(plan, space=None, split="train"):
    return BoardSource(plan, space or Sudoku(block_size=2, image=False).space, Split(split, 100, pool="pool"), 0, "t")


def test_codes_are_units_or_digits():
    units, cells = BoardPlan(MINI), BoardPlan(MINI, read="cells")
    both = np.stack([board("12343412214343.1"), board("123434122143435x")])
    assert units.codes(both).tolist() == [
        [1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0],
        [1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0],
    ]
    assert BoardPlan(MINI, incomplete="open").codes(both)[0].all()
    assert cells.codes(both)[:, -3:].tolist() == [[3, 0, 1], [3, 0, 0]] and cells.codes(both).max() == 4
    assert units.violations(units.codes(both)).tolist() == cells.violations(cells.codes(both)).tolist() == [3, 4]


def test_the_share_of_valid_boards_is_dealt_and_so_are_the_numbers_of_violated_units():
    plan = BoardPlan(MINI, valid=Fraction(2, 5), counts=(2, 3, 5), per_grid=2)
    counts = MINI.violated_units(source(plan).boards(np.arange(150))).sum(axis=1)
    assert [(counts == k).sum() for k in (0, 2, 3, 5)] == [60, 30, 30, 30]
    assert [int((counts[k : k + 5] == 0).sum()) for k in range(0, 150, 5)] == [2] * 30
    broken = counts[counts > 0]
    assert all(sorted(broken[k : k + 9].tolist()) != [2] * 9 for k in range(0, 90, 9))
    assert [sorted(broken[k : k + 3].tolist()) for k in range(0, 90, 3)].count([2, 3, 5]) >= 10


def test_what_may_occur_goes_by_the_number_of_violated_units():
    codes = np.ones((5, 12), dtype=np.int64)
    for row, violated in enumerate((0, 1, 2, 3, 7)):
        codes[row, :violated] = 0
    expected = {
        BoardPlan(MINI, counts=(2, 7)): [True, False, True, False, True],
        BoardPlan(MINI, actions=4): [True, False, True, True, True],
        BoardPlan(MINI, odd=".0"): [True, False, True, True, True],
        BoardPlan(MINI, incomplete="open", blanks=2, odd="0"): [True, True, True, True, True],
    }
    for plan, inside in expected.items():
        assert source(plan).contains(codes).tolist() == inside
    assert source(BoardPlan(MINI)).total == 4**16


def test_blanks_lie_on_valid_and_on_invalid_boards():
    plan = BoardPlan(MINI, incomplete="open", blanks=3, counts=(1, 2))
    boards = source(plan).boards(np.arange(40))
    violated = MINI.violated_units(boards, "open").sum(axis=1)
    assert np.bincount(violated).tolist() == [20, 10, 10]
    assert ((boards[violated == 0] == 0).sum(axis=1) == 3).all() and (boards == 0).any(axis=1).all()


@pytest.mark.parametrize("incomplete", ["violated", "open"])
@pytest.mark.parametrize("odd", [".", "0", ".a", "0ax"])
def test_odd_boards_have_their_symbols_where_they_should(incomplete, odd):
    plan = BoardPlan(MINI, odd=odd, odd_cells=2, incomplete=incomplete, counts=(3,))
    boards = source(plan).boards(np.arange(60))
    valid = ~MINI.violated_units(boards, incomplete).any(axis=1)
    assert valid.sum() == 30
    blanks, foreign = (boards == 0).sum(axis=1), (boards > 4).sum(axis=1)
    if incomplete == "violated":
        assert not (blanks + foreign)[valid].any() and set((blanks + foreign)[~valid].tolist()) == {1, 2}
        assert set(write_boards(boards[~valid].reshape(1, -1))[0]) - set("1234") == set(odd)
    elif odd == ".":  # blanks everywhere, and the invalid ones are broken
        assert set(blanks[valid].tolist()) == {1, 2} and blanks[~valid].any() and not foreign.any()
        assert set(MINI.violated_units(boards, "open")[~valid].sum(axis=1).tolist()) == {3}
    else:
        assert not foreign[valid].any() and set(foreign[~valid].tolist()) == {1, 2}
        assert set(blanks[valid].tolist()) == ({1, 2} if "." in odd else {0}) and not blanks[~valid].any()


def test_worlds_have_a_style_of_their_place_and_pool_or_none():
    asked = []

    def style(rng, codes, pool):
        asked.append((codes, pool))
        return {"draw": int(rng.integers(10**9))}

    task = Sudoku(block_size=2, image=False)
    made = BoardSource(BoardPlan(MINI), task.space, Split("train", 9, pool="pool"), 0, "t", style=style)
    first, second = made.worlds(np.array([4, 1]))
    assert asked == [((), "pool")] * 2 and first.style["draw"] != second.style["draw"]
    assert made.worlds(np.array([1]))[0] == second
    assert first.style[CONTENT] == write_boards(made.boards(np.array([4])))[0]
    plain = source(BoardPlan(MINI), task.space).worlds(np.array([4]))[0]
    assert dict(plain.style) == {CONTENT: first.style[CONTENT]} and plain.codes == first.codes


@pytest.mark.parametrize(("count", "blanks", "fine"), [(12, 0, True), (13, 0, False), (4, 1, True), (5, 1, False),
                                                       (1, 1, True), (1, 0, False), (0, 1, False), (2, 0, True)])  # fmt: skip
def test_numbers_of_violated_units_have_bounds(count, blanks, fine):
    assert (violations_fault([2, count], MINI, blanks) is None) == fine


# -- settings and tasks ------------------------------------------------------------------------------------------------


def test_settings_exactly_at_their_bounds_are_taken_and_beyond_refused():
    assert Sudoku(image=False, block_size=2, odd_cells=16, violations=[2]).config.odd_cells == 16
    base = {"image": False, "incomplete": "open", "violations": [2]}
    assert Sudoku(**base, blanks=27).config.blanks == 27
    with pytest.raises(ConfigError, match="at most 27 of 81"):
        Sudoku(**base, blanks=28)
    with pytest.raises(ConfigError, match="concepts 'both' are for"):
        Sudoku(**base, concepts="both")
    with pytest.raises(ConfigError, match="go together"):
        Sudoku(font_file="a.ttf")
    assert Sudoku(image=False, actions=3, violations=[1]).config.actions == 3  # what actions do is not counted


def test_widths_of_lines_follow_from_the_cells_unless_they_are_set():
    def widths(**settings):
        look = Sudoku(**settings).config.appearance
        return look.grid, look.border

    assert [widths(cell_px=cell) for cell in (8, 50, 100, 200)] == [(1, 1), (1, 4), (2, 8), (4, 17)]
    assert widths(grid_px=0, block_px=0) == (0, 0) and widths(grid_px=3, block_px=7) == (3, 7)
    look = Sudoku(candidates=0.5, candidates_max=4, starters=0.1, forms=7, jitter=0.3, print_size=0.7).config.appearance
    assert (look.candidates, look.most_marks, look.starters) == (0.5, 4, 0.1)
    assert (look.forms, look.jitter, look.print_size) == (7, 0.3, 0.7)
    assert SudokuSolve(block_size=2).config.appearance.candidates == 0


def test_boards_per_grid_are_set_or_follow_from_the_block_size():
    assert [Sudoku(image=False, block_size=n, violations=[2]).config.per_grid for n in (2, 3, 4)] == [4, 25, 100]
    assert (
        Sudoku(image=False, boards_per_grid=7).config.per_grid == Sudoku(boards_per_grid=7).plan("train").per_grid == 7
    )


def test_released_keys_in_other_words():
    found = from_released(Settings({"data_type": "tabular", "font_style": "handwritten", "font_size": 12})).values
    assert found == {"image": False, "hand": "digits", "print_size": 12 / 50}
    found = from_released(Settings({"max_corrupt": 5, "font_size": 12, "cell_px": 24})).values
    assert found == {"actions": 5, "print_size": 0.5, "cell_px": 24}
    for sizes in ({"font_size": 0}, {"font_size": 10, "cell_px": 0}, {"font_size": -2}, {"font_size": "4"}):
        with pytest.raises(ConfigError, match="font_size: expected a number of pixels"):
            from_released(Settings(sizes))


def test_plans_of_splits_differ_in_what_makes_boards_invalid():
    task = Sudoku(image=False, actions=6, valid_ratio=0.37, odd_symbols=["x", "."], odd_cells=5, blanks=0)
    train, hard, ood = (task.plan(name) for name in ("train", "hard", "ood"))
    assert (train.valid, train.actions, train.odd, train.odd_cells) == (Fraction(37, 100), 6, "", 5)
    assert (hard.valid, hard.actions, hard.counts, hard.odd) == (Fraction(1, 2), None, (2, 3), "")
    assert (ood.valid, ood.odd, ood.blanks, ood.odd_cells) == (Fraction(1, 2), "x.", 0, 5)
    blank = Sudoku(image=False, incomplete="open", blanks=3, violations=[1])
    assert [blank.plan(name).blanks for name in ("train", "hard", "ood")] == [3, 3, 0]
    assert blank.plan("hard").counts == (1, 2)


def test_the_formula_of_hard_says_how_many_units_may_be_violated():
    task = Sudoku(block_size=2, image=False, violations=[2])
    hard = next(split for split in task.splits() if split.name == "hard")
    assert str(hard.where).endswith("block4) >= 9") and hard.pool == "test"
    cells = Sudoku(block_size=2, image=False, violations=[2], concepts="cells")
    assert {str(split.where) for split in cells.splits()} == {"True"}


@pytest.mark.parametrize("concepts", ["units", "cells", "both"])
def test_pictures_show_units_or_cells_or_both(concepts):
    task = Sudoku(block_size=2, cell_px=10, margin_px=3, violations=[2], concepts=concepts)
    shown = {"units": MINI.unit_names, "cells": MINI.cell_names, "both": (*MINI.unit_names, *MINI.cell_names)}[concepts]
    assert tuple(task.layout.regions) == shown and (task.layout.width, task.layout.height) == (46, 46)
    corners = {"row2": (3, 13, 43, 23), "col3": (23, 3, 33, 43), "block2": (23, 3, 43, 23), "r2c4": (33, 13, 43, 23)}
    for name in set(corners) & set(shown):
        box = task.layout.regions[name]
        assert (box.left, box.top, box.right, box.bottom) == corners[name]
    assert task.backbones() == ({"concept": "conv-norm"} if concepts == "both" else {})
    assert (task.knowledge.subconcepts is None) == (concepts != "both") and task.read == (
        "cells" if concepts == "cells" else "units"
    )
    assert Sudoku(block_size=2, image=False, violations=[2], concepts=concepts).layout.regions == {}


def test_digits_are_the_concepts_beneath_units():
    task = Sudoku(block_size=2, image=False, violations=[2], concepts="both")
    worlds = [World(task.space, (1,) * 12, {CONTENT: text}) for text in (GRID, "123434122143.x21")]
    assert task.subconcepts_of(worlds).tolist() == [
        [int(s) for s in GRID],
        [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 0, 0, 2, 1],
    ]
    cells = task.knowledge.subconcepts
    assert cells.space.concept("r1c1").values == (0, 1, 2, 3, 4)
    codes = task.subconcepts_of(worlds)
    assert cells.labels_of(codes)[0].all() and names(cells.labels_of(codes)[1] == 0) == [
        "row4",
        "col1",
        "col2",
        "block3",
    ]


def test_laws_hold_only_where_every_digit_must_be_there():
    assert len(Sudoku(image=False).knowledge.constraints) == 6
    assert not Sudoku(image=False, incomplete="open").knowledge.constraints
    lone = np.ones((1, 12), dtype=np.int64)
    lone[0, 9] = 0  # one block, all rows and columns valid
    assert Sudoku(block_size=2, image=False, violations=[2]).knowledge.violations(lone).sum() == 2


def test_open_boards_are_changed_by_what_they_hold():
    task = Sudoku(block_size=2, image=False, incomplete="open", blanks=1, violations=[1])
    world = World(task.space, (1,) * 12, {CONTENT: "1.34341221434321"})
    assert task.change_world(world, {"row1": True}).style[CONTENT] == world.style[CONTENT]
    assert task.change_world(world, {"row1": False})["row1"] is False


@pytest.mark.parametrize("most", [1, 3])
def test_each_board_gets_one_to_most_actions(monkeypatch, most):
    def act(shape, boards, words):
        """Count the action in the first cell."""
        after = boards.copy()
        after[:, 0] += 1
        return after

    monkeypatch.setattr(corruption, "apply_action", act)
    start = np.zeros((60, 16), dtype=np.int8)
    done = corruption.corrupt_by_actions(MINI, start, Draws(0), np.arange(60), most)[:, 0]
    assert set(done.tolist()) == set(range(1, most + 1)) and not start.any()


def test_boards_that_actions_leave_valid_are_drawn_again(monkeypatch):
    turns = []

    def act(shape, boards, words):
        turns.append(len(boards))
        return boards if len(turns) == 1 else np.ones_like(boards)

    monkeypatch.setattr(corruption, "apply_action", act)
    boards = np.stack([board(), board()])
    found = corruption.corrupt_by_actions(MINI, boards, Draws(0), np.arange(2), 1)
    assert turns == [2, 2] and (found == 1).all() and write_boards(boards) == [GRID, GRID]
