"""How games are played: what a player sees on a board, what a move is worth to it, and when games are broken off."""

import chess
import numpy as np
import pytest

from assay.families.chess import games
from assay.families.chess.games import PlayedGames, RecordedGames, board_codes, play_game

ENDING = "7k/P7/8/8/8/8/8/K6R w - - 0 40"


def view(fen):
    return games._PlayerView.of(chess.Board(fen))


def score(fen, move):
    return round(view(fen).score(chess.Move.from_uci(move)), 6)


def test_the_least_attacker_counts_and_a_square_is_guarded_where_two_of_ones_own_reach_it():
    # Black's queen e8 and pawn d6 both attack e5; White's knight f3 and rook e1 both reach e5, only the rook e2 and e3.
    seen = view("k3q3/8/3p4/8/8/5N2/8/K3R3 w - - 0 30")
    square = chess.parse_square
    assert seen.least[square("e5")] == 1.0 and seen.least[square("e6")] == 9.0
    assert seen.least[square("b7")] == 4.0  # the king fights too
    assert square("h6") not in seen.least and square("a5") not in seen.least
    guarded = {name for name in chess.SQUARE_NAMES if seen.guarded & chess.BB_SQUARES[square(name)]}
    reached = {name: len(seen.board.attackers(chess.WHITE, square(name))) for name in chess.SQUARE_NAMES}
    assert guarded == {name for name, number in reached.items() if number >= 2} and "e5" in guarded


def test_what_is_lost_is_a_pieces_worth_less_the_takers_where_it_is_guarded():
    seen = view("k3q3/8/3p4/8/8/5N2/8/K3R3 w - - 0 30")
    e5, e6, g5 = map(chess.parse_square, ("e5", "e6", "g5"))
    assert seen.danger(5.0, e5) == 4.0  # guarded, and a pawn takes
    assert seen.danger(0.5, e5) == 0.0  # nothing is gained by losing
    assert seen.danger(5.0, e6) == 5.0  # not guarded
    assert seen.danger(5.0, g5) == 0.0  # nobody takes


@pytest.mark.parametrize(
    ("fen", "move", "worth"),
    [
        # in the end: a pawn likes to be far ahead (0.06 a rank), and gains the piece that it becomes
        (ENDING, "a7a8q", 9.0 + 0.42),
        (ENDING, "a7a8n", 3.0 + 0.42),
        # the black king takes a rook that nobody guards, and others like or mind where they go
        (ENDING, "h1h7", 0.1 - 5.0),
        (ENDING, "h1h2", 0.1),
        (ENDING, "a1b1", 0.1),
        ("7k/8/8/8/8/4p3/8/K7 b - - 0 40", "e3e2", 0.06 * 6),
        # a piece that is attacked and leaves: four fifths of what would be lost; guarded ones lose less
        ("7k/8/3p4/4R3/8/8/8/K7 w - - 0 40", "e5e1", 0.8 * 5.0 + 0.1),
        ("7k/8/3p4/4R3/8/8/8/K7 w - - 0 40", "e5d5", 0.8 * 5.0 + 0.1),
        ("7k/8/3p4/4p3/8/5N2/8/K3R3 w - - 0 40", "f3e5", 1.0 - (3.0 - 1.0) + 0.2),
        # what players like in the opening
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 12", "e2e4", 0.7),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 13", "e2e4", 0.06 * 3),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 12", "e2e3", 0.1),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 12", "b1c3", 0.9),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 12", "b1a3", 0.4),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 13", "b1c3", 0.2),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 3", "b8h6", 0.4),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 3", "d7d5", 0.7),
        ("k7/8/8/8/8/8/8/R3K2R w KQ - 0 12", "e1g1", 2.0),
        ("k7/8/8/8/8/8/8/R3K2R w KQ - 0 13", "e1c1", 2.0),
        ("k7/8/8/8/8/8/8/R3K2R w KQ - 0 12", "e1e2", -1.0),
        ("k7/8/8/8/8/8/8/R3K2R w KQ - 0 12", "h1h4", -0.4),
    ],
)
def test_a_move_is_worth_what_it_gains_less_what_it_risks_and_what_players_like(fen, move, worth):
    assert score(fen, move) == pytest.approx(worth)


class Even:
    """A generator without luck."""

    def __init__(self, luck):
        self.luck = np.array(luck)

    def gumbel(self, size):
        assert size == len(self.luck)
        return self.luck


def test_the_best_move_is_chosen_unless_luck_makes_up_for_it():
    board = chess.Board(ENDING)
    moves = [chess.Move.from_uci(text) for text in ("a1b1", "a7a8q", "h1h2")]  # worth 0.1, 9.42, 0.1
    assert games._choose_move(board, moves, Even([0.0, 0.0, 0.0])) == moves[1]
    assert games._choose_move(board, moves, Even([0.0, 0.0, 20.7])) == moves[1]  # 0.45 of it counts: 9.315
    assert games._choose_move(board, moves, Even([0.0, 0.0, 20.8])) == moves[2]


class Board(chess.Board):
    """A board from which games begin elsewhere."""

    start = ""

    def __init__(self):
        super().__init__(self.start)


@pytest.mark.parametrize(
    ("fen", "most"),
    [
        ("7k/8/8/8/8/8/8/K7 w - - 0 90", 1),  # two kings cannot win
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 90", 1),  # no move is left
        ("7k/8/p7/P7/8/8/8/K7 w - - 60 90", 1),  # for 60 half-moves no pawn was moved and nothing taken
        ("7k/8/p7/P7/8/8/8/K7 w - - 58 90", 3),
    ],
)
def test_games_are_broken_off_where_nothing_more_will_happen(monkeypatch, fen, most):
    monkeypatch.setattr(games, "SHORTEST", 3)
    monkeypatch.setattr(games, "LONGEST", 4)
    monkeypatch.setattr(chess, "Board", Board)
    monkeypatch.setattr(Board, "start", fen)
    played = play_game.__wrapped__(0, "broken off", fen)
    assert len(played) == most and played[0].tolist() == board_codes(Board())
    assert played.dtype == np.int8 and not played.flags.writeable


def test_every_split_has_games_of_its_own_whatever_pool_it_draws_from():
    played = PlayedGames(4, ("chess", 2))
    one, other = played.game("test", "test", 3), played.game("test", "hard", 3)
    assert (one.name, other.name) == ("test 3", "hard 3")
    assert np.array_equal(other.positions, play_game(4, "chess", 2, "hard", 3))
    assert np.array_equal(one.positions, play_game(4, "chess", 2, "test", 3))


def recorded(count):
    """So many games of one position each, whose first square tells which it is."""
    return RecordedGames("g.pgn", tuple(np.full((1, 64), number, dtype=np.int8) for number in range(count)), 0)


def test_pools_are_cut_to_the_nearest_game_and_each_split_deals_a_pool_in_its_own_order():
    found = recorded(13)
    sizes = {pool: len(members) for pool, members in found._pools.items()}
    assert sizes == {"train": 9, "valid": 1, "test": 3}  # 9.1 and 10.4, to the nearest
    assert sorted(np.concatenate([*found._pools.values()]).tolist()) == list(range(13))
    assert recorded(18)._pools["train"].tolist() != sorted(recorded(18)._pools["train"].tolist())
    assert {pool: len(members) for pool, members in recorded(18)._pools.items()} == {"train": 13, "valid": 1, "test": 4}
    deals = {}
    for split in ("train", "other"):
        dealt = [found.game("train", split, number) for number in range(18)]
        assert all(game.name == f"g.pgn {game.positions[0, 0]}" for game in dealt)
        deals[split] = [int(game.positions[0, 0]) for game in dealt]
        for half in (deals[split][:9], deals[split][9:]):  # each comes once before any comes again
            assert sorted(half) == sorted(found._pools["train"].tolist())
        assert deals[split][:9] != deals[split][9:]
    assert deals["train"] != deals["other"]


def test_the_hash_is_that_of_all_positions_in_order():
    games_of = recorded(3).games
    assert recorded(3).sha256 == RecordedGames("other name", games_of, 5).sha256
    assert (
        len({RecordedGames("g", some, 0).sha256 for some in (games_of, games_of[:1], games_of[:2], games_of[::-1])})
        == 4
    )
