"""Positions as codes: FEN, neighbours, pieces put elsewhere, and each way to break a rule on boards where it is close."""

import numpy as np
import pytest

from assay.families.chess import positions
from assay.families.chess.positions import (
    END_SQUARES,
    LIGHT,
    PAWN_SQUARES,
    SQUARES,
    PlayerPieces,
    break_rule,
    breaker_of,
    can_break,
    codes_of,
    fens,
    neighbours,
    scatter_pieces,
)
from assay.seeds import rng_for

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
KING_AND = "4k3/8/8/8/8/8/8/4K3"


def row_of(fen):
    return codes_of([fen])[0]


def count(row, letters):
    return int(np.isin(row, [positions.VALUES.index(letter) for letter in letters]).sum())


def broken(rule, fen, number=40):
    """A rule broken on a position in many ways."""
    row = row_of(fen)
    return [break_rule(rule, row, rng_for(number, "break", rule)) for number in range(number)]


def test_fens_of_several_boards_begin_with_the_last_rank_and_end_with_gaps():
    texts = ["k7/8/8/8/8/8/8/6PK", "8/8/8/1p4P1/8/8/8/KQ5r"]
    codes = codes_of([f"{texts[0]} w - - 0 1", texts[1]])
    assert codes.shape == (2, 64) and fens(codes) == texts
    assert {SQUARES[place]: int(codes[0, place]) for place in np.flatnonzero(codes[0])} == {"a8": 12, "g1": 1, "h1": 6}
    assert fens(codes[1]) == texts[1:]
    assert codes_of([]).shape == (0, 64)


def test_neighbours_are_the_squares_around_one_that_are_on_the_board():
    def names(square):
        return sorted(SQUARES[place] for place in neighbours(SQUARES.index(square)))

    assert names("a1") == ["a2", "b1", "b2"]
    assert names("h8") == ["g7", "g8", "h7"]
    assert names("a4") == ["a3", "a5", "b3", "b4", "b5"]
    assert names("d1") == ["c1", "c2", "d2", "e1", "e2"]
    assert names("e5") == ["d4", "d5", "d6", "e4", "e6", "f4", "f5", "f6"]


def test_the_choosiest_pieces_are_put_first():
    order = sorted(range(1, 13), key=positions._choosiness)
    assert order == [6, 12, 1, 7, 3, 9, 2, 4, 5, 8, 10, 11]


def test_scattered_kings_stand_apart_pawns_off_the_ends_and_bishops_on_their_colour():
    row = row_of("bqkbn3/pppppppp/8/8/8/8/PPPPPPPP/B1K1B1RB")  # unlike numbers of bishops, on unlike colours
    spots = {code: set() for code in (1, 7, 6, 12)}
    for number in range(400):
        board = scatter_pieces(row, rng_for(number, "scatter"))
        assert sorted(board.tolist()) == sorted(row.tolist())
        for code in (3, 9):
            assert sorted(LIGHT[board == code]) == sorted(LIGHT[row == code])
        white, black = (int(np.flatnonzero(board == code)[0]) for code in (6, 12))
        assert black not in neighbours(white)
        for code in spots:
            spots[code] |= set(np.flatnonzero(board == code).tolist())
    assert spots[1] == spots[7] == set(PAWN_SQUARES.tolist())  # every square that they may be on
    assert len(spots[6] | spots[12]) == 64


def test_scattering_a_board_whose_last_king_is_white_keeps_the_kings_apart():
    row = row_of("7K/8/8/8/8/8/8/k7")  # Black's king comes first by place
    for number in range(150):
        board = scatter_pieces(row, rng_for(number, "kings"))
        assert int(np.flatnonzero(board == 12)[0]) not in neighbours(int(np.flatnonzero(board == 6)[0]))


def test_a_side_knows_its_pieces_and_those_beyond_the_start():
    row = row_of("qqq1k3/pp6/nnnnn3/r7/8/8/PPP5/RRRBKN2")
    white, black = PlayerPieces(row, "white"), PlayerPieces(row, "black")
    assert (white.first, black.first) == (1, 7)
    assert white.counts == [3, 1, 1, 3, 0, 1] and black.counts == [2, 5, 0, 1, 3, 1]
    assert (white.excess, black.excess) == (1, 3 + 2)  # what is missing elsewhere makes up for nothing


def test_rules_name_a_breaker_and_a_side():
    assert breaker_of("black_one_king") == (positions.BREAKERS["one_king"], "black")
    assert breaker_of("white_no_pawn_at_the_ends") == (positions.BREAKERS["no_pawn_at_the_ends"], "white")
    assert breaker_of("kings_apart") == (positions.BREAKERS["kings_apart"], "")


@pytest.mark.parametrize(
    ("rule", "fen", "able"),
    [
        ("white_one_king", KING_AND, True),
        ("white_one_king", "4k3/8/8/8/8/8/8/3KK3", False),
        ("white_one_king", "4k3/8/8/8/8/8/8/8", False),
        ("kings_apart", KING_AND, True),
        ("kings_apart", "4k3/8/8/8/8/8/8/K3K3", False),  # which of them is to move?
        ("kings_apart", "k3k3/8/8/8/8/8/8/4K3", False),
        ("kings_apart", "3nkn2/3nnn2/8/8/8/8/8/4K3", False),  # no room beside Black's
        ("kings_apart", "3nkn2/3n1n2/8/8/8/8/8/4K3", True),
        ("white_at_most_16", "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR", True),  # 15 beside the king
        ("white_at_most_16", "4k3/8/8/8/8/8/PPPPPP2/RNBQKBNR", True),  # 13: three more
        ("white_at_most_16", "4k3/8/8/8/8/8/PPPPP3/RNBQKBNR", False),
        ("white_at_most_16", "4k3/8/8/8/8/R7/PPPPPPPP/RNBQKBNR", False),  # broken already
        ("white_at_most_8_pawns", "4k3/8/8/8/8/8/PPPPPP2/4K3", True),
        ("white_at_most_8_pawns", "4k3/8/8/8/8/8/PPPPP3/4K3", False),
        ("white_at_most_8_pawns", "4k3/8/8/8/8/P7/PPPPPPPP/4K3", False),
        ("black_no_pawn_at_the_ends", "4k3/p7/8/8/8/8/8/4K3", True),
        ("black_no_pawn_at_the_ends", KING_AND, False),
        ("black_no_pawn_at_the_ends", "rrrrkrrr/p7/8/8/8/8/8/RRRRKRRR", False),
        ("black_no_pawn_at_the_ends", "rrrrkrr1/p7/8/8/8/8/8/RRRRKRRR", True),
        ("white_none_promoted", "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR", True),
        ("white_none_promoted", "4k3/8/8/8/8/8/PPPPPP2/3QK3", True),  # two pawns and a queen
        ("white_none_promoted", "4k3/8/8/8/8/8/PPPPPP2/4K3", False),  # two pawns and two queens
        ("white_none_promoted", "4k3/8/8/8/8/8/PPPPP3/3QK3", False),
        ("white_none_promoted", "4k3/8/8/8/8/P7/PPPPPPPP/3QK3", False),
        ("white_promoted", "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR", False),
        ("white_promoted", "4k3/8/8/8/8/8/PPPPPPP1/RNBQKBNR", True),  # two pieces more
        ("white_promoted", "4k3/8/8/8/8/8/PPPPP3/RNBQKBNR", False),
        ("white_promoted", "4k3/8/8/8/8/8/PPPPP3/QQBQKBNR", True),  # two have been promoted
        ("white_promoted", "4k3/8/8/8/8/8/PPPPPPP1/4K3", True),
        ("white_promoted", "4k3/8/8/8/8/8/PPPPPP2/4K3", False),
        ("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPPP1/2B1K3", True),
        ("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPP2/2B1K3", False),
        ("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPPPP/4K3", False),
        ("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPPPP/BBB1K3", False),
        ("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPPPP/BB2K3", True),
        ("white_bishops_differ", "4k3/8/8/8/8/P7/PPPPPPPP/BB2K3", False),
    ],
)
def test_a_rule_can_be_broken_where_few_squares_are_short_of_it(rule, fen, able):
    assert can_break(rule, row_of(fen)) is able
    if able and rule != "kings_apart":  # and so it is for the other side, on the board turned about
        turned = "/".join(reversed(fen.split("/"))).swapcase()
        colour, _, name = rule.partition("_")
        assert can_break(f"{'black' if colour == 'white' else 'white'}_{name}", row_of(turned))


def test_a_king_is_taken_away_or_added_and_nothing_else_changes():
    row, kings = row_of("4k3/8/8/3q4/8/8/8/R3K3"), []
    for board in broken("black_one_king", "4k3/8/8/3q4/8/8/8/R3K3"):
        kings.append(count(board, "k"))
        changed = board != row
        assert changed.sum() == 1 and set(board[changed]) <= {0, 12}
    assert set(kings) == {0, 2} and np.array_equal(row, row_of("4k3/8/8/3q4/8/8/8/R3K3"))


def test_one_of_the_kings_goes_beside_the_other_onto_an_empty_square():
    fen = "3nkn2/3n1n2/8/8/8/8/3P1P2/3PKP2"
    moved = {tuple(board.tolist()) for board in broken("kings_apart", fen)}
    assert {fens(np.array(board))[0] for board in moved} == {
        "3nkn2/3nKn2/8/8/8/8/3P1P2/3P1P2",
        "3n1n2/3n1n2/8/8/8/8/3PkP2/3PKP2",
    }


def test_pieces_are_added_until_there_are_too_many():
    for board in broken("black_at_most_16", "rnbqkbn1/pppppp2/8/8/8/8/8/4K3"):
        assert count(board, "pnbrq") == 16 and count(board, "k") == count(board, "K") == 1
        assert not np.isin(board[END_SQUARES], 7).any()
    for board in broken("black_at_most_8_pawns", "4k3/pppppp2/8/8/8/8/8/R3K2R"):
        assert count(board, "p") == 9 and not np.isin(board[END_SQUARES], 7).any() and count(board, "RKk") == 4
    kinds = np.concatenate(broken("white_at_most_16", "4k3/8/8/8/8/8/PPPPPP2/RNBQKBNR", 80))
    assert all((kinds == code).sum() > 80 * few for code, few in ((1, 6), (2, 2), (3, 2), (4, 2), (5, 1)))


def test_a_pawn_goes_to_an_empty_square_of_the_first_or_the_last_rank():
    fen, ends = "4k3/1p3p2/8/8/8/8/8/RRR1K1RR", set()
    row = row_of(fen)
    for board in broken("black_no_pawn_at_the_ends", fen, 120):
        there = np.flatnonzero(board == 7)
        assert len(there) == 2 and np.isin(there, END_SQUARES).sum() == 1
        assert (board[row != 7] == row[row != 7]).sum() == 61  # of the other 62 squares one has changed
        ends |= {SQUARES[place] for place in there if place in END_SQUARES}
    assert ends == {"d1", "f1", "a8", "b8", "c8", "d8", "f8", "g8", "h8"}


def test_one_more_of_a_kind_that_is_complete_where_all_pawns_are_there():
    added = set()
    for board in broken("black_none_promoted", "4kb1r/pppppp2/8/8/8/8/8/4K3"):  # one bishop, one rook, no queen
        assert count(board, "p") == 8
        numbers = {letter: count(board, letter) for letter in "nbrq"}
        change = {letter: numbers[letter] - before for letter, before in zip("nbrq", (0, 1, 1, 0), strict=True)}
        added.add(tuple(change.items()))
    assert added == {  # a second and a third bishop or rook, or two queens; knights would take three
        (("n", 0), ("b", 2), ("r", 0), ("q", 0)),
        (("n", 0), ("b", 0), ("r", 2), ("q", 0)),
        (("n", 0), ("b", 0), ("r", 0), ("q", 2)),
    }


def test_more_are_promoted_than_pawns_are_missing():
    kinds = set()
    for board in broken("white_promoted", "4k3/8/8/8/8/8/PPPPPPP1/1QQNKB1R"):  # one queen was promoted already
        side = PlayerPieces(board, "white")
        assert side.counts[0] == 7 and side.excess == 2
        kinds.add(tuple(side.counts[1:5]))
    assert kinds == {(1, 1, 1, 3)}  # queens are the only kind that is complete
    complete = {
        tuple(PlayerPieces(b, "white").counts[1:5])
        for b in broken("white_promoted", f"4k3/8/8/8/8/8/P{'P' * 6}1/RNBQKBNR")
    }
    assert complete == {(4, 2, 2, 1), (2, 4, 2, 1), (2, 2, 4, 1), (2, 2, 2, 3)}


def test_kinds_of_which_more_than_enough_are_there_count_as_complete():
    found = {
        tuple(PlayerPieces(board, "white").counts[1:5])
        for board in broken("white_promoted", "4k3/8/8/8/8/8/PPPPPP2/RRRQKBBN", 80)
    }
    assert found == {(1, 2, 3, 3), (1, 4, 3, 1), (1, 2, 5, 1)}  # two more of any kind that lacks none


def test_both_bishops_stand_on_one_colour_and_all_pawns_are_there():
    shades = set()
    for board in broken("white_bishops_differ", "4k3/8/8/8/8/8/PPPPPPP1/2B1KB2"):
        there = np.flatnonzero(board == 3)
        assert count(board, "P") == 8 and len(there) == 2 and LIGHT[there[0]] == LIGHT[there[1]]
        shades.add(bool(LIGHT[there[0]]))
    assert shades == {False, True}  # either of them may be the one that stays
