"""Games of chess, played here or read from files: python-chess is the reference."""

import bz2
import gzip

import chess
import numpy as np
import pyarrow as pa
import pytest

from assay.base import ConfigError
from assay.families.chess.games import play_game
from assay.families.chess.positions import class_indices
from assay.families.chess.settings import Board
from assay.tasks import TASKS

RULES = Board().knowledge()
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
GAME = '[Event "?"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 {a comment} Nc6 (2... d6 3. d4) 3. Bb5 a6 4. O-O *\n\n'


def codes(board):
    return class_indices([board.fen()])[0].tolist()


# -- played ------------------------------------------------------------------------------------------------------------


def test_games_follow_the_moves_of_chess():
    """Every position follows from the one before by a legal move."""
    for number in range(3):
        positions, board = play_game(3, number), chess.Board()
        assert positions[0].tolist() == class_indices([START])[0].tolist()
        for row in positions[1:]:
            after = {}
            for move in board.legal_moves:
                board.push(move)
                after[tuple(codes(board))] = move
                board.pop()
            board.push(after[tuple(row.tolist())])


def test_positions_of_played_games_break_no_rule_and_are_like_games():
    games = [play_game(0, "many", number) for number in range(60)]
    assert not RULES.violations(np.concatenate(games)).any()
    assert len({len(game) for game in games}) > 20 and max(map(len, games)) < 170  # games end at different times
    pieces = [(game[-1] > 0).sum() for game in games]
    assert 8 < np.mean(pieces) < 26  # pieces are taken
    kings = np.array([game[30] for game in games if len(game) > 30])
    assert (kings[:, chess.G1] == 6).mean() > 0.05  # some castle


def test_games_are_a_function_of_seed_and_purpose():
    one = play_game(0, "train", 5).copy()
    play_game.cache_clear()
    assert np.array_equal(one, play_game(0, "train", 5))
    for other in (play_game(1, "train", 5), play_game(0, "test", 5), play_game(0, "train", 6)):
        assert not np.array_equal(one[:20], other[:20])


# -- read from files ---------------------------------------------------------------------------------------------------


def read(path, **settings):
    """Return what is known of the games of a file."""
    return TASKS["chess-flat"](pgn=str(path), **settings).sources()["pgn"]


def pgn(folder, text, name="games.pgn"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_of_games_is_read_and_broken_ones_are_counted(tmp_path):
    bad = '[Event "?"]\n\n1. e4 e5 2. Ke5 Nc6 *\n\n'
    odd = '[Event "?"]\n[Variant "Crazyhouse"]\n\n1. e4 e5 *\n\n'
    begun = '[Event "?"]\n[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]\n[SetUp "1"]\n\n1. Kd1 *\n\n'
    empty, late = '[Event "?"]\n\n*\n\n', GAME.replace("4. O-O", "4. O-O Ke5")
    said = GAME.replace('[Result "*"]', '[Variant "Standard"]')
    path = pgn(tmp_path, GAME * 7 + bad + odd + begun + empty + late + said * 5)
    found = read(path)
    assert (found["name"], found["games"], found["broken"]) == ("games.pgn", 12, 5)
    task = TASKS["chess-flat"](pgn=str(path), first=0, per_game=8, balance="world")
    board, wanted = chess.Board(), {START}
    for move in ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "O-O"):  # nothing of the variation
        board.push_san(move)
        wanted.add(board.board_fen())
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(8))
    assert {task.render(world).text for world in worlds} == wanted


def test_pools_of_a_file_share_no_game(tmp_path):
    task = TASKS["chess-flat"](pgn=str(pgn(tmp_path, GAME * 40)), first=0, per_game=1, balance="world")
    names = {}
    for split in task.splits()[:3]:
        worlds = task.source_for(split, 0).worlds(np.arange(300))
        names[split.name] = {task.ingredients(world)[0] for world in worlds}
    assert [len(held) for held in names.values()] == [28, 4, 8]  # 70, 10 and 20 %
    assert len(set.union(*names.values())) == 40


def test_games_go_by_their_positions_and_only_as_many_as_asked_for_are_read(tmp_path):
    path = pgn(tmp_path, GAME * 30)
    assert read(path, most_games=11)["games"] == 11
    same, other = pgn(tmp_path, GAME * 30, "same.pgn"), pgn(tmp_path, GAME * 29 + GAME.replace(" 4. O-O", ""), "b.pgn")
    assert read(path)["sha256"] == read(same)["sha256"] != read(other)["sha256"] != read(path, most_games=11)["sha256"]


@pytest.mark.parametrize("pack", ["gz", "bz2", "zst"])
def test_packed_files_are_read(tmp_path, pack):
    plain, data = read(pgn(tmp_path, GAME * 12)), (GAME * 12).encode()
    path = tmp_path / f"games.pgn.{pack}"
    if pack == "zst":
        with pa.output_stream(str(path), compression="zstd") as out:
            out.write(data)
    else:
        path.write_bytes({"gz": gzip.compress, "bz2": bz2.compress}[pack](data))
    assert read(path) == {**plain, "name": path.name}


def test_a_mark_of_the_encoding_and_other_letters_are_no_harm(tmp_path):
    path = tmp_path / "marked.pgn"
    path.write_bytes(b"\xef\xbb\xbf" + (GAME * 10).replace("a comment", "caf\xe9").encode("latin-1"))
    assert (read(path)["games"], read(path)["broken"]) == (10, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has 0 games; at least 10 are needed"),
        (b"no game at all, just words", "has 0 games, and 1 that are broken"),
        (GAME.encode() * 9, "has 9 games; at least 10 are needed"),
        (
            (GAME * 3 + '[Event "?"]\n\n1. e4 Ke3 *\n\n' * 2).encode(),
            "has 3 games, and 2 that are broken, empty or not",
        ),
        (bytes(range(256)) * 40, "at least 10 are needed"),
        (None, r"pgn '.*games.pgn' cannot be read: No such file or directory"),
    ],
)
def test_files_without_games_are_refused_in_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "games.pgn").write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        read(tmp_path / "games.pgn")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("pack", ["gz", "bz2", "zst"])
def test_packed_files_that_are_damaged_cut_short_or_no_such_thing_are_refused_in_one_line(tmp_path, pack):
    broken = [b"this is not packed at all" * 100]
    if pack != "zst":
        games = "".join(GAME.replace("?", f"game {number * 7919 % 1000}") for number in range(200)).encode()
        whole = {"gz": gzip.compress, "bz2": bz2.compress}[pack](games)
        broken += [whole[:60] + bytes(part ^ 0x5A for part in whole[60:100]) + whole[100:], whole[:-20]]
    for number, data in enumerate(broken):
        path = tmp_path / f"{number}.pgn.{pack}"
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=r"^pgn '.*' cannot be read[^\n]+$"):
            read(path)
