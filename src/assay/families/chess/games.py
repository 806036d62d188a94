"""Chess games as positions: played here, or read from a file of games (PGN, such as a dump of Lichess).

Played games are no masterpieces, but game-like: pieces are developed, kings castle, hanging pieces are taken. Game
`number` is a function of the seed and the number alone.
"""

import bz2
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TextIO

import chess
import chess.pgn
import numpy as np

from assay.base import Array, ConfigError, SeededPermutation, rng_for

WORTH = (0.0, 1.0, 3.0, 3.2, 5.0, 9.0, 4.0)
"""What pieces are worth to a player, by their number in the `chess` package; the king counts as a fighter."""
SPREAD = 0.45
"""How much luck there is in the choice of a move."""
SHORTEST, LONGEST = 30, 170
"""Played games are broken off after so many half-moves."""
EDGE = chess.BB_FILE_A | chess.BB_FILE_H
CENTRE = chess.BB_D4 | chess.BB_E4 | chess.BB_D5 | chess.BB_E5
SHARES = {"train": (0.0, 0.7), "valid": (0.7, 0.8), "test": (0.8, 1.0)}
"""The share of the games of a file that each pool holds."""
FEWEST = 10
"""How many games a file needs."""


@dataclass(frozen=True)
class Game:
    """A name, and the positions from the first to the last, a row each."""

    name: str
    positions: Array


class Games(Protocol):
    """Games by number, endlessly many."""

    def game(self, pool: str, split: str, number: int) -> Game:
        """Return a game for a split that draws from a pool."""


@dataclass(frozen=True)
class PlayedGames:
    """Games played here."""

    seed: int
    purpose: tuple[object, ...] = ()

    def game(self, pool: str, split: str, number: int) -> Game:
        """Return a game; every split has games of its own."""
        return Game(f"{split} {number}", play_game(self.seed, *self.purpose, split, number))


@lru_cache(maxsize=4096)
def play_game(seed: int, *purpose: object) -> Array:
    """Play a game."""
    rng = rng_for(seed, "game of chess", *purpose)
    board, rows = chess.Board(), []
    for _ in range(int(rng.integers(SHORTEST, LONGEST))):
        rows.append(board_codes(board))
        moves = list(board.legal_moves)
        if not moves or board.is_insufficient_material() or board.halfmove_clock >= 60:
            break
        board.push(_choose_move(board, moves, rng))
    positions = np.array(rows, dtype=np.int8)
    positions.setflags(write=False)
    return positions


def board_codes(board: chess.Board) -> list[int]:
    """Return the codes of the 64 squares."""
    row = [0] * 64
    for kind in chess.PIECE_TYPES:
        for side, first in ((chess.WHITE, 0), (chess.BLACK, 6)):
            for square in chess.scan_forward(board.pieces_mask(kind, side)):
                row[square] = first + kind
    return row


def _choose_move(board: chess.Board, moves: list[chess.Move], rng: np.random.Generator) -> chess.Move:
    """Return a good move, or nearly."""
    view = _PlayerView.of(board)
    scores = [view.score(move) for move in moves]
    return moves[int(np.argmax(np.array(scores) + SPREAD * rng.gumbel(size=len(scores))))]


@dataclass(frozen=True)
class _PlayerView:
    """What a player sees: the board, for each square the worth of the least piece that attacks it, what is guarded."""

    board: chess.Board
    least: Mapping[int, float]
    guarded: int

    @classmethod
    def of(cls, board: chess.Board) -> "_PlayerView":
        by_kind = [0] * 7
        for square in chess.scan_forward(board.occupied_co[not board.turn]):
            by_kind[board.piece_type_at(square) or 0] |= board.attacks_mask(square)
        least = {
            square: WORTH[kind]
            for kind in (chess.QUEEN, chess.ROOK, chess.KING, chess.BISHOP, chess.KNIGHT, chess.PAWN)
            for square in chess.scan_forward(by_kind[kind])
        }
        once = guarded = 0
        for square in chess.scan_forward(board.occupied_co[board.turn]):
            reach = board.attacks_mask(square)
            guarded |= once & reach
            once |= reach
        return cls(board, least, guarded)

    def danger(self, worth: float, square: int) -> float:
        """Return what is lost, roughly, if a piece of this worth stands on a square."""
        taker = self.least.get(square)
        if taker is None:
            return 0.0
        return max(0.0, worth - taker) if self.guarded & chess.BB_SQUARES[square] else worth

    def score(self, move: chess.Move) -> float:
        """Return how good a move looks."""
        board = self.board
        kind = board.piece_type_at(move.from_square) or 0
        gain = WORTH[board.piece_type_at(move.to_square) or 0] + (WORTH[move.promotion] if move.promotion else 0.0)
        risk = self.danger(WORTH[kind], move.to_square) - 0.8 * self.danger(WORTH[kind], move.from_square)
        return gain - risk + self._habit(move, kind)

    def _habit(self, move: chess.Move, kind: int) -> float:
        """Return what players like: castling, developed pieces, the centre, pawns that run."""
        opening = self.board.fullmove_number <= 12
        spot, from_rank = chess.BB_SQUARES[move.to_square], move.from_square >> 3
        if kind == chess.KING:
            castles = abs((move.from_square & 7) - (move.to_square & 7)) == 2
            return 2.0 if castles else -1.0 if opening else 0.1
        if kind == chess.PAWN:
            ahead = move.to_square >> 3 if self.board.turn else 7 - (move.to_square >> 3)
            return (0.7 if spot & CENTRE else 0.1) if opening else 0.06 * ahead
        if kind in (chess.KNIGHT, chess.BISHOP):
            leaves = from_rank == (0 if self.board.turn else 7)
            return (0.9 if opening and leaves else 0.2) - (0.5 if spot & EDGE else 0.0)
        return -0.4 if opening else 0.1


class _Reader(chess.pgn.BaseVisitor[list[list[int]]]):
    """Gathers the positions of one game; broken if a move cannot be read, or if it is no game of standard chess."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.broken = False

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        """Note other variants, and games that begin elsewhere."""
        if (tagname == "Variant" and tagvalue.lower() != "standard") or tagname == "FEN":
            self.broken = True

    def begin_variation(self) -> Any:
        """Leave out what was not played."""
        return chess.pgn.SKIP

    def visit_board(self, board: chess.Board) -> None:
        """Note a position."""
        self.rows.append(board_codes(board))

    def handle_error(self, error: Exception) -> None:
        """Note that a move cannot be read."""
        self.broken = True

    def result(self) -> list[list[int]]:
        """Return the positions, none of a broken game."""
        return [] if self.broken or len(self.rows) < 2 else self.rows


@dataclass(frozen=True)
class RecordedGames:
    """Games read from a file: their positions, and how many games were left out because they are broken."""

    name: str
    games: tuple[Array, ...]
    broken: int

    def game(self, pool: str, split: str, number: int) -> Game:
        """Return a game of a pool; when all have been returned they come again in another order."""
        members = self._pools[pool]
        which = int(members[int(SeededPermutation(len(members), 0, "games", split).deal(np.array([number]))[0])])
        return Game(f"{self.name} {which}", self.games[which])

    @cached_property
    def _pools(self) -> dict[str, Array]:
        order = SeededPermutation(len(self.games), 0, "pools").deal(np.arange(len(self.games)))
        cuts = {pool: (round(low * len(order)), round(high * len(order))) for pool, (low, high) in SHARES.items()}
        return {pool: order[low:high] for pool, (low, high) in cuts.items()}

    @cached_property
    def sha256(self) -> str:
        """The hash of all positions."""
        digest = hashlib.sha256()
        for positions in self.games:
            digest.update(positions.tobytes())
        return digest.hexdigest()


@lru_cache(maxsize=4)
def read_games(path: str, most: int) -> RecordedGames:
    """Read up to so many games from a file; broken ones are left out."""
    games, broken = list[Array](), 0
    with open_games(Path(path)) as text:
        while len(games) < most:
            try:
                rows = chess.pgn.read_game(text, Visitor=_Reader)
            except (OSError, EOFError, zlib.error) as error:
                raise ConfigError(f"pgn {path!r} cannot be read to its end: {error}") from None
            if rows is None:
                break
            if rows:
                games.append(np.array(rows, dtype=np.int8))
            broken += not rows
    if len(games) < FEWEST:
        left = f", and {broken:,} that are broken, empty or not of standard chess" if broken else ""
        raise ConfigError(f"pgn {path!r} has {len(games)} games{left}; at least {FEWEST} are needed")
    return RecordedGames(Path(path).name, tuple(games), broken)


@contextmanager
def open_games(path: Path) -> Iterator[TextIO]:
    """Open a file of games as text: plain, or packed by gzip, bzip2 or Zstandard."""
    try:
        raw = _decompress(path)
    except OSError as error:
        raise ConfigError(f"pgn {str(path)!r} cannot be read: {error.strerror or error}") from None
    with io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace") as text:
        yield text


def _decompress(path: Path) -> Any:
    if path.suffix == ".zst":
        import pyarrow as pa

        return pa.input_stream(str(path), compression="zstd")
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if path.suffix == ".bz2" else path.open("rb")
