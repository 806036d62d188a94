"""Games of chess: played here, or read from files; their positions keep every rule, and broken ones do not."""

import bz2
import gzip

import chess
import numpy as np
import pyarrow as pa
import pytest

from assay.errors import ConfigError
from assay.families.chess.games import PlayedGames, board_codes, open_games, play_game, read_games
from assay.families.chess.positions import (
    BREAKERS,
    COLOURS,
    SQUARES,
    break_rule,
    can_break,
    codes_of,
    fens,
    scatter_pieces,
)
from assay.families.chess.rules import Board
from assay.seeds import rng_for

RULES = Board().knowledge()
NAMES = [rule.name for rule in RULES.constraints]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
GAME = '[Event "?"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 {a comment} Nc6 (2... d6 3. d4) 3. Bb5 a6 4. O-O *\n\n'


def pgn(folder, text, name="games.pgn"):
    path = folder / name
    path.write_text(text)
    return str(path)


def test_fen_and_codes_are_those_of_the_chess_package():
    board = chess.Board()
    for move in ("e4", "c5", "Nf3", "Nc6", "Bb5", "g6", "O-O"):
        board.push_san(move)
        assert fens(np.array([board_codes(board)])) == [board.board_fen()]
        assert codes_of([board.fen()])[0].tolist() == board_codes(board)
    assert tuple(chess.SQUARE_NAMES) == SQUARES


def test_ten_thousand_positions_of_played_games_break_no_rule():
    games, rows, number = PlayedGames(0), [], 0
    while sum(map(len, rows)) < 10_000:
        rows.append(games.game("train", "train", number).positions)
        number += 1
    assert not RULES.violations(np.concatenate(rows)).any()
    assert len({len(part) for part in rows}) > 20  # games end at different times


def test_games_follow_the_moves_of_chess():
    """Every position follows from the one before by a legal move."""
    for number in range(3):
        positions, board = play_game(3, number), chess.Board()
        assert fens(positions[:1]) == [START]
        for row in positions[1:]:
            after = {}
            for move in board.legal_moves:
                board.push(move)
                after[tuple(board_codes(board))] = move
                board.pop()
            board.push(after[tuple(row.tolist())])


def test_games_are_a_function_of_seed_and_number():
    one = play_game(0, "train", 5).copy()
    play_game.cache_clear()
    assert np.array_equal(one, play_game(0, "train", 5))
    assert not np.array_equal(one[:20], play_game(1, "train", 5)[:20])
    assert PlayedGames(0).game("test", "test", 5).name != PlayedGames(0).game("train", "train", 5).name


def test_games_are_like_games():
    last = [play_game(0, "like", number) for number in range(30)]
    pieces = np.array([(game[-1] > 0).sum() for game in last])
    assert 8 < pieces.mean() < 26  # pieces are taken
    kings = np.concatenate([game[30] for game in last if len(game) > 30]).reshape(-1, 64)
    assert (kings[:, SQUARES.index("g1")] == 6).mean() > 0.05  # some castle


def test_scattered_positions_keep_pieces_and_rules():
    rng, rows = rng_for(0, "scattered"), play_game(0, "scatter", 1)
    moved = np.stack([scatter_pieces(row, rng) for row in rows])
    assert (np.sort(moved, axis=1) == np.sort(rows, axis=1)).all()
    assert not RULES.violations(moved).any() and (moved != rows).any(axis=1).all()


# -- rules broken ------------------------------------------------------------------------------------------------------


def plainly_broken(board):
    """The rules in plain loops over an 8 x 8 board of letters, the last rank first."""
    found = set()
    places = [(y, x) for y in range(8) for x in range(8)]
    for y, x in places:
        for b, a in places:
            if board[y][x] == "K" and board[b][a] == "k" and abs(y - b) <= 1 and abs(x - a) <= 1:
                found.add("kings_apart")
    for colour in ("white", "black"):
        letters = {name: name.upper() if colour == "white" else name for name in "pnbrqk"}
        count = {name: sum(board[y][x] == letter for y, x in places) for name, letter in letters.items()}
        beyond = 0
        for name, usual in (("q", 1), ("b", 2), ("n", 2), ("r", 2)):
            if count[name] > usual:
                beyond += count[name] - usual
        if count["k"] != 1:
            found.add(f"{colour}_one_king")
        if sum(count.values()) - count["k"] >= 16:
            found.add(f"{colour}_at_most_16")
        if count["p"] >= 9:
            found.add(f"{colour}_at_most_8_pawns")
        if any(board[y][x] == letters["p"] for y in (0, 7) for x in range(8)):
            found.add(f"{colour}_no_pawn_at_the_ends")
        if count["p"] == 8 and beyond:
            found.add(f"{colour}_none_promoted")
        if count["p"] < 8 and beyond > 8 - count["p"]:
            found.add(f"{colour}_promoted")
        if count["p"] == 8 and count["b"] == 2:
            shades = {(y + x) % 2 for y, x in places if board[y][x] == letters["b"]}
            if len(shades) == 1:
                found.add(f"{colour}_bishops_differ")
    return found


def letters_of(fen):
    rows = []
    for rank in fen.split("/"):
        row = ""
        for sign in rank:
            row += "." * int(sign) if sign in "12345678" else sign
        rows.append(row)
    return rows


def test_a_thousand_corrupted_positions_are_judged_as_by_plain_loops():
    rng, made, meant = rng_for(0, "corrupted"), [], []
    number = 0
    while len(made) < 1000:
        rows = play_game(9, "corrupt", number)
        number += 1
        for row in rows[rng.integers(len(rows), size=4)]:
            for rule in NAMES:
                if can_break(rule, row):
                    made.append(break_rule(rule, row, rng))
                    meant.append(rule)
    flags = RULES.violations(np.array(made))
    found = [{NAMES[place] for place in np.flatnonzero(row)} for row in flags]
    assert found == [plainly_broken(letters_of(fen)) for fen in fens(np.array(made))]
    assert all(rule in broken_ones for rule, broken_ones in zip(meant, found, strict=True))
    assert set(meant) == set(NAMES)  # each rule can be broken


def test_noise_is_judged_as_by_plain_loops():
    rng = rng_for(0, "noise")
    codes = rng.integers(13, size=(300, 64)) * (rng.random((300, 64)) < 0.35)
    found = [{NAMES[place] for place in np.flatnonzero(row)} for row in RULES.violations(codes)]
    assert found == [plainly_broken(letters_of(fen)) for fen in fens(codes)]


def test_few_squares_are_changed():
    rng, row = rng_for(0, "few"), codes_of([START])[0]
    assert {name for name in NAMES if can_break(name, row)} >= {
        "white_one_king",
        "black_at_most_16",
        "white_bishops_differ",
    }
    for name in NAMES:
        if can_break(name, row):
            assert 1 <= (break_rule(name, row, rng) != row).sum() <= 4
    assert not can_break("white_promoted", row)  # no pawn is missing
    assert set(BREAKERS) == {
        name.removeprefix(f"{colour}_") for name in NAMES for colour in COLOURS if colour in name
    } | {"kings_apart"}


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_file_of_games_is_read_and_broken_ones_are_counted(tmp_path):
    bad = '[Event "?"]\n\n1. e4 e5 2. Ke5 Nc6 *\n\n'
    odd = '[Event "?"]\n[Variant "Crazyhouse"]\n\n1. e4 e5 *\n\n'
    begun = '[Event "?"]\n[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]\n[SetUp "1"]\n\n1. Kd1 *\n\n'
    empty = '[Event "?"]\n\n*\n\n'
    found = read_games(pgn(tmp_path, GAME * 7 + bad + odd + begun + empty + GAME * 5), 1000)
    assert (len(found.games), found.broken) == (12, 4)
    assert fens(found.games[0][[0, -1]])[1] == "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQ1RK1"
    assert len(found.games[0]) == 8  # seven half-moves, and nothing of the variation
    assert not RULES.violations(np.concatenate(found.games)).any()


@pytest.mark.parametrize("pack", ["gz", "bz2", "zst"])
def test_packed_files_are_read(tmp_path, pack):
    plain, data = read_games(pgn(tmp_path, GAME * 12), 1000), (GAME * 12).encode()
    path = tmp_path / f"games.pgn.{pack}"
    if pack == "zst":
        with pa.output_stream(str(path), compression="zstd") as out:
            out.write(data)
    else:
        path.write_bytes({"gz": gzip.compress, "bz2": bz2.compress}[pack](data))
    assert read_games(str(path), 1000).sha256 == plain.sha256
    with open_games(path) as text:
        assert text.readline().startswith("[Event")


def test_only_as_many_games_as_asked_for_are_read(tmp_path):
    assert len(read_games(pgn(tmp_path, GAME * 30), 11).games) == 11


def test_pools_share_no_game(tmp_path):
    found = read_games(pgn(tmp_path, GAME * 40), 1000)
    names = {pool: {found.game(pool, pool, n).name for n in range(100)} for pool in ("train", "valid", "test")}
    assert not names["train"] & names["valid"] and not (names["train"] | names["valid"]) & names["test"]
    assert sum(map(len, names.values())) == 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 games; at least 10 are needed"),
        ("no game at all, just words", "has 0 games, and 1 that are broken"),
        (
            GAME * 3 + '[Event "?"]\n\n1. e4 Ke3 *\n\n' * 2,
            "has 3 games, and 2 that are broken, empty or not of standard",
        ),
    ],
)
def test_files_without_games_are_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as error:
        read_games(pgn(tmp_path, text), 1000)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_one_that_is_not_what_it_says_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^pgn '.*nowhere.pgn' cannot be read: No such file or directory$"):
        read_games(str(tmp_path / "nowhere.pgn"), 1000)
    for pack in ("gz", "bz2", "zst"):
        path = tmp_path / f"fake.{pack}"
        path.write_bytes(b"this is not packed at all" * 100)
        with pytest.raises(ConfigError, match="cannot be read"):
            read_games(str(path), 1000)
    path = tmp_path / "picture.pgn"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(ConfigError, match="at least 10 are needed"):
        read_games(str(path), 1000)


def test_ten_games_are_enough_and_a_mark_of_the_encoding_is_no_part_of_the_first(tmp_path):
    path = tmp_path / "marked.pgn"
    path.write_bytes(b"\xef\xbb\xbf" + (GAME * 10).replace("a comment", "caf\xe9").encode("latin-1"))
    found = read_games(str(path), 10)
    assert (len(found.games), found.broken, found.name) == (10, 0, "marked.pgn")
    with open_games(path) as text:
        assert text.readline() == '[Event "?"]\n'
    with pytest.raises(ConfigError, match="has 9 games; at least 10 are needed"):
        read_games(str(path), 9)


def test_what_is_standard_may_be_said_and_moves_that_cannot_be_read_break_a_game_at_any_place(tmp_path):
    said = GAME.replace('[Result "*"]', '[Variant "Standard"]')
    late = GAME.replace("4. O-O", "4. O-O Ke5")
    found = read_games(pgn(tmp_path, said * 11 + late), 1000)
    assert (len(found.games), found.broken) == (11, 1)


@pytest.mark.parametrize("pack", ["gz", "bz2"])
def test_a_packed_file_that_is_damaged_or_cut_short_is_refused_in_one_line(tmp_path, pack):
    games = "".join(GAME.replace("?", f"game {number * 7919 % 1000}") for number in range(200)).encode()
    whole = {"gz": gzip.compress, "bz2": bz2.compress}[pack](games)
    damaged = bytearray(whole)
    damaged[60:100] = bytes(part ^ 0x5A for part in damaged[60:100])
    for number, data in enumerate((bytes(damaged), whole[:-20])):
        path = tmp_path / f"{number}.pgn.{pack}"
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=r"^pgn '.*' cannot be read to its end: [^\n]+$"):
            read_games(str(path), 1000)
