"""How boards are drawn, by hand: styles at the ends of their ranges, pens and shades, lines, marks and bubbles."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.families.handwriting.digits import POOLS
from assay.families.sudoku import painter
from assay.families.sudoku.board_task import BoardTask
from assay.families.sudoku.boards import SYMBOLS, BoardShape
from assay.families.sudoku.handwriting import VARIANTS, Writing, draw_strokes, smooth_line
from assay.families.sudoku.painter import BoardPainter, lettering
from assay.families.sudoku.style import (
    INKS,
    BoardAppearance,
    board_style,
    marks_of,
    symbol_draws,
    written_cells,
)
from assay.families.sudoku.task import Sudoku
from assay.render import Box
from assay.seeds import rng_for
from assay.worlds import CONTENT, World

MINI = BoardShape(2)
TEXT = "12.4341221434321"
STRAIGHT = [[0, 0, 0, 0, 0, 0]] * 16
"""Poses of cells that are neither shifted nor turned."""


def style(**changes):
    """Return a style without jitter: all cells handwritten, in black, by one form."""
    return {
        **{CONTENT: TEXT, "pool": "train", "font": "sans", "ink": [0, 0, 0], "hand": [0, 0, 0], "forms": [5]},
        **{"warps": [[0] * 12] * 12, "starters": [], "poses": STRAIGHT, "marks": [], **changes},
    }


def paint(look, **changes):
    return BoardPainter(look, Writing(None)).image(style(**changes))


def look(**settings):
    return BoardAppearance(MINI, **{"cell": 28, "margin": 0, "grid": 0, "border": 0, "hand": "strokes", **settings})


def ink(image, cell, wide=28):
    row, column = divmod(cell, 4)
    return 255 - image[wide * row : wide * row + wide, wide * column : wide * column + wide, 0].astype(int)


def centre(weights):
    rows, columns = np.indices(weights.shape)
    return (columns * weights).sum() / weights.sum(), (rows * weights).sum() / weights.sum()


# -- styles ------------------------------------------------------------------------------------------------------------


def test_the_box_around_cells_reaches_from_the_first_to_the_last():
    board = BoardAppearance(BoardShape(3), cell=10, margin=4)
    assert board.side == 98
    assert board.box(np.array([13, 24, 11])) == Box(4 + 20, 4 + 10, 4 + 70, 4 + 30)


def test_shares_of_cells_are_rounded_and_marked_cells_are_no_starters():
    board = BoardAppearance(MINI, starters=0.35, candidates=0.45)
    made = board_style(board, rng_for(0, "style"), "valid")
    marked = [mark[0] for mark in made["marks"]]
    assert len(made["starters"]) == 6 and len(marked) == 4  # of 16 and of the other 10: 5.6 and 4.5
    assert made["starters"] == sorted(made["starters"]) and marked == sorted(marked)
    assert not set(marked) & set(made["starters"]) and made["pool"] == "valid"


def test_styles_vary_over_their_whole_ranges():
    board = BoardAppearance(MINI, inks=("black", "red"), fonts=("sans", "bold"), forms=4, candidates=0.9, starters=0.0)
    made = [board_style(board, rng_for(k, "style"), "train") for k in range(300)]
    assert {one["font"] for one in made} == {"sans", "bold"}
    inks = np.array([one["ink"] for one in made])
    reds = inks[:, 0] > 100
    for chosen, base in ((reds, INKS["red"]), (~reds, INKS["black"])):
        assert (inks[chosen] - base).min() == -18 and (inks[chosen] - base).max() == 18
    hands = np.array([one["hand"] for one in made])
    assert hands.min(axis=0) == pytest.approx([-15, -10, -100], abs=2)
    assert hands.max(axis=0) == pytest.approx([30, 8, 100], abs=2)
    poses = np.concatenate([one["poses"] for one in made])
    assert [set(poses[:, k]) for k in (0, 1)] == [set(range(4)), set(range(12))]
    assert poses[:, 2:].max(axis=0).tolist() == [14, 14, 20, 12]  # two deviations
    assert poses[:, 2:].std(axis=0) == pytest.approx([7 * 0.94, 7 * 0.94, 10 * 0.94, 6 * 0.94], rel=0.05)
    warps = np.array([one["warps"] for one in made])
    assert warps.shape == (300, 12, 12) and warps.std() == pytest.approx(8, rel=0.05)
    assert len(made[0]["forms"]) == 4 and max(max(one["forms"]) for one in made) > 2**30


def test_colours_stay_bytes_and_without_jitter_all_cells_are_alike():
    board = BoardAppearance(MINI, inks=("black", "green"), jitter=0.0, candidates=0.0)
    made = [board_style(board, rng_for(k, "style"), "train") for k in range(200)]
    assert min(min(one["ink"]) for one in made) == 2 and all(one["hand"] == [0, 0, 0] for one in made)
    assert not np.array([one["poses"] for one in made])[:, :, 2:].any() and not np.any([one["warps"] for one in made])
    half = board_style(BoardAppearance(MINI, jitter=0.5), rng_for(0, "style"), "train")
    whole = board_style(BoardAppearance(MINI, jitter=1.0), rng_for(0, "style"), "train")
    assert np.array(half["poses"])[:, 4] == pytest.approx(np.array(whole["poses"])[:, 4] / 2, abs=1)


def test_marks_are_steps_from_the_cells_digit_no_two_alike():
    board = BoardAppearance(MINI, starters=0.0, candidates=1.0, most_marks=4, forms=3)
    counts, owns, shifts, steps = set(), set(), set(), set()
    for k in range(60):
        for mark in board_style(board, rng_for(k, "marks"), "train")["marks"]:
            own, forms = mark[4::2], mark[3::2]
            assert len(own) == len(forms) and len(set(own)) == len(own) and own.count(0) == 1
            assert set(own) <= {0, 1, 2, 3} and set(forms) <= {0, 1, 2}
            counts.add(len(own))
            owns.add((len(own), own.index(0)))
            shifts |= set(mark[1:3])
            steps |= set(own)
    assert counts == {2, 3, 4} and shifts == {0, 1, 2, 3, 4} and steps == {0, 1, 2, 3}
    assert owns == {(count, place) for count in (2, 3, 4) for place in range(count)}


def test_symbols_are_those_of_handwritten_cells_and_then_of_marks():
    board = look(forms=3)
    made = style(
        starters=[0, 4], forms=[70, 80, 90], poses=[[cell % 3, 0, 0, 0, 0, 0] for cell in range(16)],
        marks=[[3, 0, 0, 1, 0, 2, 3], [8, 1, 2, 0, 1, 1, 0]],
    )  # fmt: skip
    assert written_cells(board, made) == [1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]  # cell 2 is blank
    assert marks_of(board, made, made["marks"][0]) == [("4", 80), ("3", 90)]
    assert marks_of(board, made, made["marks"][1]) == [("3", 70), ("2", 80)]
    found = symbol_draws(board, made)
    assert found[:3] == [("2", 80), ("4", 70), ("4", 90)] and found[-4:] == [("4", 80), ("3", 90), ("3", 70), ("2", 80)]
    assert len(found) == 13 + 4
    assert written_cells(look(hand="printed"), made) == []


# -- pens and shades ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pixels", "times"), [(16.9, 1), (16.8, 2), (8.5, 2), (8.4, 4), (2.0, 4)])
def test_images_are_shrunk_in_halves_before_they_are_warped(pixels, times):
    assert painter._less(pixels) == times  # of 28 pixels, at 0.6 and at 0.3


def test_halves_are_means_of_four_pixels():
    image = np.array([[[255, 255, 4, 8], [255, 255, 0, 1], [10, 0, 0, 0], [0, 0, 9, 0]]], dtype=np.uint8)
    assert painter._halve(image).tolist() == [[[255, 3], [2, 2]]]


def test_a_shade_goes_from_paper_to_ink():
    table = np.frombuffer(painter._shade(55), dtype=np.uint8)
    assert [int(table[k]) for k in (0, 51, 102, 255)] == [255, 215, 175, 55]
    assert np.frombuffer(painter._shade(255), dtype=np.uint8).tolist() == [255] * 256


def test_heavy_pens_reach_farther_and_shrunken_strokes_are_lifted():
    def first(weight, less):
        return int(np.flatnonzero(np.frombuffer(painter._pen(weight, less), dtype=np.uint8))[0])

    plain = np.frombuffer(painter._pen(0, 1), dtype=np.uint8).astype(int)
    assert (plain % 17 == 0).all() and (plain[:95] == 0).all() and (plain[215:] == 255).all()
    assert (np.diff(plain) >= 0).all() and plain[150] == 17 * round(2.2 * 55 / 17)
    assert (
        first(0, 1) == 99 and first(100, 1) == 54 and first(-100, 1) == 144 and first(0, 2) == 52 and first(0, 4) == 28
    )


def test_bytes_are_mapped_in_arrays_and_in_images():
    table = bytes(255 - k for k in range(256))
    layer = np.arange(6, dtype=np.uint8).reshape(2, 3)
    for given in (layer, Image.fromarray(layer)):
        mapped = painter._map_bytes(given, table)
        assert mapped.tolist() == (255 - layer).tolist()
        mapped[0, 0] = 1  # it can be written to


# -- lines and letters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0, 1, 6])
def test_lines_stay_in_the_picture_and_those_of_blocks_are_on_top(margin):
    board = BoardAppearance(MINI, cell=10, margin=margin, grid=1, border=4)
    pixels = BoardPainter(board, Writing(None)).background
    side, row = 40 + 2 * margin, pixels[margin + 5]
    starts = [min(max(0, margin + 10 * k - wide // 2), side - wide) for k, wide in enumerate((4, 1, 4, 1, 4))]
    dark = [x for start, wide in zip(starts, (4, 1, 4, 1, 4), strict=True) for x in range(start, start + wide)]
    assert pixels.shape == (side, side) and np.flatnonzero(row == 0).tolist() == sorted(dark)
    assert (pixels == pixels.T).all() and set(np.unique(pixels)) == {0, 255}


def test_letters_are_in_the_middle_bold_ones_wider_and_slanted_ones_leaning():
    plain, bold, slanted = (lettering(font, None, 40, 0.6).astype(int) for font in ("sans", "bold", "slanted"))
    assert plain.shape == (len(SYMBOLS), 40, 40) and not plain[0].any() and not bold[0].any()
    assert (bold[1:].sum(axis=(1, 2)) > 1.2 * plain[1:].sum(axis=(1, 2))).all()
    for code in (1, 8, SYMBOLS.index("E")):
        assert centre(plain[code]) == pytest.approx((19.5, 19.5), abs=2)
        rows = np.flatnonzero(plain[code].any(axis=1))
        upper, lower = slice(rows[0], rows[0] + 4), slice(rows[-1] - 3, rows[-1] + 1)
        lean = [centre(slanted[code][part])[0] - centre(plain[code][part])[0] for part in (upper, lower)]
        assert lean[0] > 0.5 and lean[1] < -0.5  # the upper end goes to the right
    assert lettering("sans", None, 8, 0.11)[1].any()  # never less than four points
    assert lettering("sans", None, 8, 0.5).tolist() == lettering("sans", None, 8, 0.2).tolist()


def test_printed_hands_are_in_ink_and_starters_in_print():
    made = style(starters=[0, 3, 9], ink=[0, 90, 200])
    image = BoardPainter(look(hand="printed"), Writing(None)).image(made)
    for cell in range(16):
        part = image[28 * (cell // 4) :, 28 * (cell % 4) :][:28, :28].reshape(-1, 3).min(axis=0).tolist()
        wanted = [30] * 3 if cell in (0, 3, 9) else [255] * 3 if cell == 2 else [0, 90, 200]
        assert part == pytest.approx(wanted, abs=3)


# -- entries -----------------------------------------------------------------------------------------------------------


def test_entries_lie_in_their_cells_and_look_like_their_images():
    image = paint(look())
    for cell, symbol in enumerate(TEXT):
        part = ink(image, cell)
        assert (part.sum() == 0) == (symbol == ".")
        if symbol != ".":
            drawn = draw_strokes("train", symbol, 5).astype(int)
            assert np.corrcoef(part.ravel(), np.clip(2.2 * (drawn - 95), 0, 255).ravel())[0, 1] > 0.8, symbol
    one = paint(look(), starters=[cell for cell in range(16) if cell != 5])
    assert ink(one, 5).sum() > 0


@pytest.mark.parametrize("axis", [0, 1])
def test_poses_shift_turn_and_zoom_an_entry(axis):
    def posed(shift=(0, 0), turn=0, zoom=0, hand=(0, 0, 0), text="." * 5 + "1" + "." * 10):
        pose = [0, 0, *shift, turn, zoom]
        return ink(paint(look(), **{CONTENT: text, "poses": [pose] * 16, "hand": list(hand)}), 5)

    plain = posed()
    shift = [0, 0]
    shift[axis] = 20
    moved = np.subtract(centre(posed(shift)), centre(plain))
    assert moved[axis] == pytest.approx(0.2 * 14, abs=0.4) and moved[1 - axis] == pytest.approx(0, abs=0.3)
    spread = [np.sqrt((plainly * (np.indices(plainly.shape)[0] - centre(plainly)[1]) ** 2).sum() / plainly.sum())
              for plainly in (plain, posed(zoom=12), posed(hand=(0, 12, 0)))]  # fmt: skip
    assert spread[1] == pytest.approx(1.12 * spread[0], rel=0.05) and spread[2] == pytest.approx(spread[1], rel=0.03)
    assert posed(hand=(0, 0, 80)).sum() > plain.sum() > posed(hand=(0, 0, -80)).sum()

    def lean(part):
        top, bottom = part[4:12], part[16:24]
        return centre(top)[0] - centre(bottom)[0]

    assert lean(posed(hand=(30, 0, 0))) - lean(plain) == pytest.approx(0.3 * 12, abs=1.5)
    assert lean(posed(turn=25)) - lean(plain) == pytest.approx(0.25 * 12, abs=1.5)
    assert lean(posed(turn=-25)) - lean(plain) == pytest.approx(-0.25 * 12, abs=1.5)


def test_a_cell_is_bent_by_the_warp_that_its_pose_names():
    warps = [[0] * 12 for _ in range(12)]
    warps[7] = [40, 0] * 6
    poses = [[0, 7 if cell == 5 else 0, 0, 0, 0, 0] for cell in range(16)]
    plain, bent = paint(look()), paint(look(), warps=warps, poses=poses)
    changed = {cell for cell in range(16) if (ink(plain, cell) != ink(bent, cell)).any()}
    assert changed == {5}
    assert centre(ink(bent, 5))[0] - centre(ink(plain, 5))[0] == pytest.approx(-4 * 20 / 28 * 1.3, abs=1.0)


def test_an_entry_beside_marks_is_smaller_and_moved_right_and_down():
    board = look(cell=40)
    marks = [[5, 0, 0, 0, 0, 0, 1]]
    painter_ = BoardPainter(board, Writing(None))
    plain = painter_._corners(style(), [4, 5], 28.0)
    beside = painter_._corners(style(marks=marks), [4, 5], 28.0)
    assert (plain[0] == beside[0]).all()
    grid = np.array([[x, y] for y in (-1, 0, 1) for x in (-1, 1)], dtype=float)
    assert plain[0] == pytest.approx(grid * 14 / 0.94)
    assert beside[1] == pytest.approx((grid - np.array([0.14, 0.3])) * 14 / 0.94 / 0.72)


def test_halves_of_cells_meet_and_fill_the_board():
    boxes = BoardPainter(look(cell=9, margin=3), Writing(None))._boxes
    assert boxes[6] == [(21, 12, 30, 16), (21, 16, 30, 21)] and len(boxes) == 16


# -- marks -------------------------------------------------------------------------------------------------------------


def test_marks_begin_in_the_upper_left_of_their_cell():
    board = BoardPainter(look(cell=50, margin=2), Writing(None))
    assert board.mark_size == (10, 14)
    assert board._mark_corner([6, 0, 0]) == (2 + round(50 * 2.09), 2 + round(50 * 1.08))
    assert board._mark_corner([6, 4, 2]) == (2 + round(50 * 2.13), 2 + round(50 * 1.1))
    assert BoardPainter(look(cell=8), Writing(None)).mark_size == (2, 2)


def test_a_bubble_is_as_wide_as_its_marks():
    board = BoardPainter(look(cell=100), Writing(None))
    width, height = board.mark_size
    for count in (2, 3):
        bubble, edge = board._bubble(count)
        assert edge == 5 and bubble.shape == (height + 10, count * width + 10)
        assert bubble[:, bubble.shape[1] // 2].max() > 200 and bubble[bubble.shape[0] // 2, :8].max() > 200
        assert bubble[bubble.shape[0] // 2, bubble.shape[1] // 2] == 0 and bubble[0, 0] == 0
    assert BoardPainter(look(cell=19), Writing(None))._bubble(2)[1] == 1


def test_marks_stand_side_by_side_in_their_bubble():
    board = look(cell=100)
    text = "." * 6 + "4" + "." * 9
    poses = [[0, 0, 0, 90, 0, -95]] * 16  # the entry itself is tiny and far down
    marks = [[6, 2, 4, 0, 1, 0, 0, 0, 2]]
    image = paint(board, **{CONTENT: text, "marks": marks, "poses": poses})
    part = ink(image, 6, 100)
    x, y = (value - 100 * place for value, place in zip(BoardPainter(board, Writing(None))._mark_corner(marks[0]), (2, 1), strict=True))  # fmt: skip
    width, height = 19, 27
    shown = [part[y + 3 : y + height - 3, x + width * k + 1 : x + width * (k + 1) - 1] for k in range(3)]
    assert all(one.sum() > 20 * 255 / 4 for one in shown)
    assert len({one.tobytes() for one in shown}) == 3
    outside = image.copy()
    outside[100:200, 200:300] = 255
    assert (outside == 255).all()
    rows, columns = np.nonzero(part[: y + height + 6])
    assert (columns.min(), columns.max()) == pytest.approx((x - 3, x + 3 * width + 2), abs=2)
    assert (rows.min(), rows.max()) == pytest.approx((y - 3, y + height + 2), abs=2)


# -- handwriting -------------------------------------------------------------------------------------------------------


def test_images_of_strokes_come_round_after_forty_and_digits_are_asked_for_by_pool():
    plain = Writing(None)
    assert (plain.image("test", "7", 3) == draw_strokes("test", "7", 3)).all()
    assert plain.image("test", "7", 3 + VARIANTS) is plain.image("test", "7", 3)
    names = [plain.name(pool, "7", 43) for pool in POOLS]
    assert names == [f"strokes 7 {40 * place + 3}" for place in range(len(POOLS))]
    asked = []

    def number(pool, digit, draw):
        asked.append((pool, digit, draw))
        return 2

    real = Writing(SimpleNamespace(images=np.arange(3 * 4).reshape(3, 2, 2), image_number=number))
    assert real.image("valid", "7", 43).tolist() == [[8, 9], [10, 11]] and real.name("valid", "4", 9) == "digit 2"
    assert asked == [("valid", 7, 43), ("valid", 4, 9)]
    assert (real.image("valid", "A", 43) == draw_strokes("valid", "A", 3)).all()
    assert real.name("test", "A", 1).startswith("strokes A ")


def test_a_smooth_line_goes_through_its_points_and_straight_where_they_are_even():
    points = np.array([[0.0, 0.0], [6.0, 0.0], [12.0, 6.0], [12.0, 18.0]])
    line = smooth_line(points)
    assert line.shape == (3 * 6 + 1, 2) and line[::6] == pytest.approx(points)
    even = smooth_line(np.array([[0.0, 0.0], [3.0, 6.0], [6.0, 12.0]]))
    assert even == pytest.approx(np.stack([np.arange(13) / 2, np.arange(13)], axis=1))
    middle = line[9]  # half way between the second and third: a sixteenth of the outer ones is taken off
    assert middle == pytest.approx((9 * (points[1] + points[2]) - points[0] - points[3]) / 16)


def test_strokes_stand_upright_in_the_middle():
    heights, widths, middles = [], [], []
    for k in range(VARIANTS):
        rows, columns = np.nonzero(draw_strokes("train", "x", k) > 100)
        heights.append(rows.max() - rows.min())
        widths.append(columns.max() - columns.min())
        rows, columns = np.nonzero(draw_strokes("train", "1", k) > 100)
        middles.append((columns.mean(), rows.mean()))
        assert rows.max() - rows.min() > 2 * (columns.max() - columns.min())
    assert np.mean(heights) == pytest.approx(7 * 1.9, abs=2) and np.mean(widths) == pytest.approx(6 * 1.9, abs=2)
    assert np.mean(middles, axis=0) == pytest.approx([13.5, 13.5], abs=2)


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_rows_of_a_board_are_written_apart():
    task = Sudoku(block_size=2, image=False, violations=[2])
    assert task.render(World(task.space, (1,) * 12, {CONTENT: TEXT})).text == "12.4 3412 2143 4321"
    assert task.columns == ("text",) and task.ingredients(World(task.space, (1,) * 12, {CONTENT: TEXT})) == ()
    assert task.style_choices == {} and task.digits is None
    assert Sudoku(block_size=2, violations=[2]).style_choices["ink"] == [list(colour) for colour in INKS.values()]


def test_printed_boards_have_no_ingredients_and_no_digits():
    task: BoardTask = Sudoku(block_size=2, violations=[2], hand="printed")
    world = World(task.space, (1,) * 12, style(marks=[[6, 2, 4, 0, 1, 0, 0]]))
    assert task.ingredients(world) == () and task.digits is None and task.sources() == {}
    assert len(Sudoku(block_size=2, violations=[2], hand="strokes").ingredients(world)) == 15 + 2


def test_a_font_file_is_on_record_only_where_there_are_pictures(tmp_path):
    (tmp_path / "own.ttf").write_bytes(b"letters")
    own = {
        "block_size": 2,
        "violations": [2],
        "hand": "strokes",
        "fonts": ["file"],
        "font_file": str(tmp_path / "own.ttf"),
    }
    found = Sudoku(**own).sources()
    assert found == {"font": {"name": "own.ttf", "sha256": hashlib.sha256(b"letters").hexdigest()}}
    assert Sudoku(**own, image=False).sources() == {}
