"""The rules on boards of any size, as the paper states them and as its released code checks them."""

import numpy as np
import pytest

from assay.families.chess.positions import VALUES
from assay.families.chess.rules import Board
from assay.logic import evaluate
from assay.seeds import rng_for

FILES, RANKS = 4, 5


def boards(number=400):
    """Boards of 4 x 5 squares, each with other pieces in plenty."""
    rng = rng_for(0, "boards of 4 x 5")
    chances = rng.dirichlet(np.full(13, 0.25), size=number)
    codes = np.array([rng.choice(13, size=FILES * RANKS, p=chance) for chance in chances])
    for row in codes[number // 2 :]:  # and half of them with six to nine pawns of one colour
        places, pawn = rng.permutation(FILES * RANKS), (1, 7)[int(rng.integers(2))]
        row[row == pawn] = 0
        row[places[: rng.integers(6, 10)]] = pawn
    return codes


def kept(row, colour, as_released):
    """Which rules of a colour a board keeps, in plain words."""
    letters = "PNBRQK" if colour == "white" else "pnbrqk"
    board = {(x, y): VALUES[row[y * FILES + x]] for y in range(RANKS) for x in range(FILES)}
    number = {kind: list(board.values()).count(letter) for kind, letter in zip("PNBRQK", letters, strict=True)}
    beyond = {kind: max(0, number[kind] - (1 if kind == "Q" else 2)) for kind in "QBNR"}
    counted = sum(beyond[kind] for kind in ("QBN" if as_released else "QBNR"))
    light = sum(board[x, y] == letters[2] and (x + y) % 2 == 1 for x, y in board)
    found = {
        "one_king": number["K"] == 1,
        "at_most_16": sum(number.values()) - number["K"] <= 15,
        "at_most_8_pawns": number["P"] <= 8,
        "no_pawn_at_the_ends": all(board[x, y] != letters[0] for x in range(FILES) for y in (0, RANKS - 1)),
        "none_promoted": number["P"] != 8 or not sum(beyond.values()),
        "promoted": number["P"] >= 8 or counted <= 8 - number["P"],
        "bishops_differ": number["P"] != 8 or number["B"] != 2 or light == 1,
    }
    if as_released and colour == "white":
        del found["promoted"]
    return {f"{colour}_{name}": holds for name, holds in found.items()}


@pytest.mark.parametrize("as_released", [False, True])
def test_each_rule_of_either_colour_is_kept_where_plain_words_say_so(as_released):
    codes, board = boards(), Board(FILES, RANKS, as_released)
    plain = [{**kept(row, "white", as_released), **kept(row, "black", as_released)} for row in codes]
    rules = {rule.name: evaluate(rule.formula, board.space, codes) for rule in board.rules()}
    assert list(rules) == ["kings_apart", *plain[0]]
    for name in plain[0]:
        wanted = [row[name] for row in plain]
        assert rules[name].tolist() == wanted
        assert len(set(wanted)) == 2 or name.endswith("bishops_differ")  # those have a test of their own


@pytest.mark.parametrize("as_released", [False, True])
def test_two_bishops_with_eight_pawns_stand_on_both_colours(as_released):
    board = Board(FILES, RANKS, as_released)
    rule = next(rule.formula for rule in board.rules() if rule.name == "black_bishops_differ")
    codes = np.zeros((4, FILES * RANKS), dtype=np.int64)
    codes[:, 4:12] = 7  # eight pawns
    codes[:, 0] = 9  # a1, which is dark
    codes[range(4), [1, 2, 13, 3]] = 9  # b1 is light, c1 and b4 are dark
    codes[3, 4] = 0  # seven pawns
    assert evaluate(rule, board.space, codes).tolist() == [True, False, False, True]
    codes[2, 0], codes[3, 2] = 0, 9  # one bishop; three of them
    assert evaluate(rule, board.space, codes).tolist() == [True, False, True, True]


def test_squares_go_rank_by_rank_and_those_beside_one_stay_on_a_board_that_is_no_square():
    board = Board(3, 2)
    assert board.squares == ["a1", "b1", "c1", "a2", "b2", "c2"]
    assert {square: sorted(board.near(square)) for square in ("a1", "c1", "b2")} == {
        "a1": ["a2", "b1", "b2"],
        "c1": ["b1", "b2", "c2"],
        "b2": ["a1", "a2", "b1", "c1", "c2"],
    }
    tall = Board(2, 3)
    assert sorted(tall.near("a2")) == ["a1", "a3", "b1", "b2", "b3"] and sorted(tall.near("b3")) == ["a2", "a3", "b2"]
    codes = np.array([[6, 0, 12, 0, 0, 0], [6, 0, 0, 0, 12, 0], [12, 6, 0, 0, 0, 0], [6, 6, 0, 0, 0, 12]])
    apart = board.rules()[0]
    assert apart.name == "kings_apart" and apart.tags == ("localising",)
    assert evaluate(apart.formula, board.space, codes).tolist() == [True, False, False, False]


def test_pieces_are_counted_on_all_squares_or_on_some():
    board = Board(3, 2)
    codes = np.array([[1, 5, 1, 7, 6, 12], [0, 0, 1, 1, 11, 9]])

    def number(pieces, squares=None):
        return evaluate(board.number(pieces, squares), board.space, codes).tolist()

    assert number("P") == [2, 2] and number("P", ["c1", "a2"]) == [1, 2] and number("P", []) == [0, 0]
    assert number("PQk") == [4, 2] and number("PQk", ["b1", "c2"]) == [2, 0]
    assert evaluate(board.lead(), board.space, codes).tolist() == [2, 0]  # kings do not count


def test_white_is_ahead_with_more_pieces_not_with_as_many():
    knowledge = Board(3, 2).knowledge()
    codes = np.array([[1, 5, 1, 7, 6, 12], [0, 0, 1, 1, 11, 9], [1, 0, 0, 0, 6, 12], [6, 6, 6, 7, 0, 0]])
    assert knowledge.label_names == ("white_is_ahead",)
    assert knowledge.labels_of(codes)[:, 0].tolist() == [1, 0, 1, 0]
    assert Board(3, 2, as_released=True).knowledge() != knowledge
    released = [rule.name for rule in Board(3, 2, as_released=True).knowledge().constraints]
    assert released == [rule.name for rule in knowledge.constraints if rule.name != "white_promoted"]
    assert "black_promoted" in released
