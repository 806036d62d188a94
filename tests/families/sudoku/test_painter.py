"""Drawn boards show what is on them: printed symbols exactly, handwritten ones so that they can be read."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from assay.families.handwriting.digits import digit_source
from assay.families.sudoku.boards import SYMBOLS, BoardShape, read_board, valid_boards, write_boards
from assay.families.sudoku.handwriting import STROKES, Writing, draw_strokes
from assay.families.sudoku.painter import PRINT, BoardPainter, lettering
from assay.families.sudoku.style import BoardAppearance, board_style, symbol_draws
from assay.seeds import Draws, rng_for
from assay.worlds import CONTENT, Style


def boards(shape: BoardShape, count: int) -> list[str]:
    return write_boards(valid_boards(shape, Draws(0, "render"), np.arange(count), 10))


def styles(appearance: BoardAppearance, count: int, pool: str = "train") -> list[Style]:
    texts = boards(appearance.shape, count)
    return [{CONTENT: text, **board_style(appearance, rng_for(i, pool), pool)} for i, text in enumerate(texts)]


def cut(appearance: BoardAppearance, image: np.ndarray, cell: int) -> np.ndarray:
    return appearance.box(np.array([cell])).crop(image)


@pytest.mark.parametrize("font", ["sans", "bold", "slanted"])
def test_printed_symbols_are_the_fonts(font: str) -> None:
    appearance = BoardAppearance(BoardShape(2), cell=30, grid=0, border=0, fonts=(font,), starters=1.0, candidates=0.0)
    style = styles(appearance, 1)[0]
    style = {**style, CONTENT: "12.0aAx3hkG94F1E"}
    image = BoardPainter(appearance, Writing(None)).image(style)
    letters = lettering(font, None, 30, 0.5)
    for cell, code in enumerate(read_board(style[CONTENT])):
        dark = 255 - letters[code].astype(float) * (255 - PRINT) / 255
        assert np.abs(cut(appearance, image, cell).astype(float) - dark[:, :, None]).max() <= 1
    assert len(np.unique(letters.reshape(len(SYMBOLS), -1), axis=0)) == len(SYMBOLS)


def test_lines_are_as_wide_as_asked_for() -> None:
    appearance = BoardAppearance(BoardShape(3), cell=20, margin=5, grid=2, border=4, starters=0.0, candidates=0.0)
    blank = {**styles(appearance, 1)[0], CONTENT: "." * 81}
    across = BoardPainter(appearance, Writing(None)).image(blank)[15, :, 0]
    dark = np.flatnonzero(np.diff(np.concatenate([[255], across, [255]]).astype(int)))
    assert (dark[1::2] - dark[::2]).tolist() == [4, 2, 2, 4, 2, 2, 4, 2, 2, 4]
    assert dark[0] == 3 and appearance.side == 190


def test_blank_cells_are_empty_and_bubbles_stay_in_their_cells() -> None:
    appearance = BoardAppearance(BoardShape(3), grid=0, border=0, margin=0, starters=0.3, candidates=0.5)
    style = {**styles(appearance, 1)[0], CONTENT: "." * 81}
    image = BoardPainter(appearance, Writing(digit_source())).image(style)
    inked = {cell for cell in range(81) if (cut(appearance, image, cell) < 255).any()}
    assert inked == {mark[0] for mark in style["marks"]}


def test_handwriting_of_a_board_is_one_hand() -> None:
    """Without jitter all cells with one digit look alike; with it no two do, and boards differ."""
    plain = BoardAppearance(BoardShape(3), cell=24, grid=0, border=0, jitter=0.0, forms=1, starters=0.0, candidates=0.0)
    varied = BoardAppearance(BoardShape(3), cell=24, grid=0, border=0, forms=1, starters=0.0, candidates=0.0)
    for appearance, kinds in ((plain, 1), (varied, 9)):
        style = styles(appearance, 1)[0]
        image = BoardPainter(appearance, Writing(digit_source())).image(style)
        sevens = [cut(appearance, image, cell) for cell, symbol in enumerate(style[CONTENT]) if symbol == "7"]
        assert len({part.tobytes() for part in sevens}) == kinds
    first, second = (BoardPainter(plain, Writing(digit_source())).image(style) for style in styles(plain, 2))
    assert not np.array_equal(np.unique(first.reshape(-1, 3), axis=0), np.unique(second.reshape(-1, 3), axis=0))


def cells(hand: str, count: int, pool: str) -> tuple[np.ndarray, list[str]]:
    plain = {"grid": 0, "border": 0, "starters": 0.0, "candidates": 0.0, "jitter": 0.2, "forms": 20}
    appearance = BoardAppearance(BoardShape(3), cell=28, hand=hand, **plain)
    painter = BoardPainter(appearance, Writing(digit_source() if hand == "digits" else None))
    held = styles(appearance, count, pool)
    images = [painter.image(style)[:, :, 0] for style in held]
    parts = [cut(appearance, image, cell)[::2, ::2].ravel() for image in images for cell in range(81)]
    return 1 - np.array(parts) / 255, [symbol for style in held for symbol in style[CONTENT]]


@pytest.mark.parametrize(("hand", "least"), [("digits", 0.7), ("strokes", 0.9)])
def test_handwriting_can_be_read_and_learned_from_other_hands(hand: str, least: float) -> None:
    images, symbols = cells(hand, 40, "train")
    reader = LogisticRegression(C=0.05, max_iter=60, tol=1e-2).fit(images, symbols)
    assert reader.score(*cells(hand, 10, "test")) > least


@pytest.mark.parametrize("block", [2, 4])
def test_marks_hold_the_cells_own_digit_whatever_that_is(block: int) -> None:
    appearance = BoardAppearance(BoardShape(block), candidates=1.0, starters=0.0, most_marks=4)
    style = styles(appearance, 1)[0]
    marks = symbol_draws(appearance, style)[appearance.shape.cells :]
    start = 0
    for mark in style["marks"]:
        count = (len(mark) - 3) // 2
        shown = [symbol for symbol, _ in marks[start : start + count]]
        assert (
            style[CONTENT][mark[0]] in shown
            and len(set(shown)) == count
            and set(shown) <= set(SYMBOLS[1 : 1 + block**2])
        )
        start += count


def test_strokes_are_the_same_each_time_and_differ_by_variant_pool_and_symbol() -> None:
    assert set(SYMBOLS) - {"."} == set(STROKES)
    images = [draw_strokes(pool, symbol, k) for pool in ("train", "test") for symbol in STROKES for k in (0, 1)]
    assert len({image.tobytes() for image in images}) == len(images)
    assert np.array_equal(draw_strokes("train", "A", 3), draw_strokes("train", "A", 3))
    for image in images:
        edges = np.concatenate([image[[0, -1]], image[:, [0, -1]].T])
        assert 20 < (image > 128).sum() < 200 and edges.max() < 128
