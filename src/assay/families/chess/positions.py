"""Chess positions as codes: 13 values a square, `a1` first and rank by rank; FEN; pieces put elsewhere; rules broken.

A breaker changes a few squares so that one rule is broken, whatever else follows from that. `can_break` tells on which
positions it can do so with few changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes

EMPTY = "empty"
PIECES = "PNBRQKpnbrqk"
VALUES = (EMPTY, *PIECES)
COLOURS = {"white": "PNBRQK", "black": "pnbrqk"}
SQUARES = tuple(f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh")
LIMITS = (8, 2, 2, 2, 1)
"""How many pawns, knights, bishops, rooks and queens a side begins with."""
MOST_CHANGES = 3
"""How many squares a breaker may change."""
PAWN_SQUARES = np.arange(8, 56)
END_SQUARES = np.concatenate([np.arange(8), np.arange(56, 64)])
LIGHT = np.array([(place % 8 + place // 8) % 2 == 1 for place in range(64)])


def fens(codes: Codes) -> list[str]:
    """Return positions as FEN, the pieces only.

    >>> fens(class_indices(["4k3/8/8/8/8/8/4P3/4K3"]))
    ['4k3/8/8/8/8/8/4P3/4K3']
    """
    rows = np.asarray(codes).reshape(-1, 8, 8)[:, ::-1].tolist()
    return ["/".join(_rank(rank) for rank in board) for board in rows]


def _rank(codes: Sequence[int]) -> str:
    text, gap = "", 0
    for code in (*codes, -1):
        if code == 0:
            gap += 1
            continue
        text += (str(gap) if gap else "") + (VALUES[code] if code > 0 else "")
        gap = 0
    return text


def class_indices(texts: Sequence[str]) -> Codes:
    """Return the codes of positions in FEN; what follows the pieces is left out."""
    rows = []
    for text in texts:
        ranks = [_read_rank(rank) for rank in text.split()[0].split("/")]
        rows.append([code for rank in reversed(ranks) for code in rank])
    return np.array(rows, dtype=np.int64).reshape(-1, 64)


def _read_rank(text: str) -> list[int]:
    codes: list[int] = []
    for sign in text:
        codes += [0] * int(sign) if sign.isdigit() else [VALUES.index(sign)]
    return codes


def neighbours(place: int) -> list[int]:
    """Return the squares beside a square."""
    x, y = place % 8, place // 8
    near = [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    return [8 * b + a for a, b in near if 0 <= a < 8 and 0 <= b < 8]


def scatter_pieces(row: Array, rng: np.random.Generator) -> Array:
    """Return a position with the same pieces on other squares; where it was sane it stays so.

    Pawns stay off the first and the last rank, bishops on the colour of their squares, kings apart.
    """
    board, free = np.zeros(64, dtype=row.dtype), rng.permutation(64)
    order = sorted((code for code in row.tolist() if code), key=lambda code: _choosiness(int(code)))
    bishops = {code: [bool(LIGHT[place]) for place in np.flatnonzero(row == code)] for code in (3, 9)}
    for code in order:
        fits = board[free] == 0
        if code in (1, 7):
            fits &= (free >= 8) & (free < 56)
        elif code in (3, 9):
            fits &= LIGHT[free] == bishops[code].pop()
        elif code in (6, 12) and (board == 18 - code).any():
            fits &= ~np.isin(free, neighbours(int(np.flatnonzero(board == 18 - code)[0])))
        board[free[fits][0]] = code
    return board


def _choosiness(code: int) -> int:
    return {6: 0, 12: 0, 1: 1, 7: 1, 3: 2, 9: 2}.get(code, 3)


@dataclass(frozen=True)
class PlayerPieces:
    """One side of a position: which codes are its own, and how many pieces it has of each kind."""

    row: Array
    colour: str

    @property
    def first(self) -> int:
        """The code of its pawns."""
        return 1 if self.colour == "white" else 7

    @property
    def counts(self) -> list[int]:
        """How many pawns, knights, bishops, rooks, queens and kings it has."""
        counts: list[int] = np.bincount(self.row, minlength=13)[self.first : self.first + 6].tolist()
        return counts

    @property
    def excess(self) -> int:
        """How many pieces beyond those it began with, so that they must be promoted pawns."""
        return sum(max(0, count - limit) for count, limit in zip(self.counts[1:5], LIMITS[1:], strict=True))


def _add(row: Array, codes: Sequence[int], rng: np.random.Generator) -> None:
    """Put pieces on empty squares, pawns not on the first or the last rank."""
    for code in codes:
        squares = PAWN_SQUARES if code in (1, 7) else np.arange(64)
        row[rng.choice(squares[row[squares] == 0])] = code


def _extra_king(side: PlayerPieces, rng: np.random.Generator) -> None:
    """One king too few or too many."""
    row, king = side.row, side.first + 5
    if rng.random() < 0.5:
        row[row == king] = 0
    else:
        row[rng.choice(np.flatnonzero(row == 0))] = king


def _kings_meet(side: PlayerPieces, rng: np.random.Generator) -> None:
    """The king moves beside the other one."""
    row, king = side.row, side.first + 5
    row[row == king] = 0
    row[rng.choice(_beside_other(side))] = king


def _beside_other(side: PlayerPieces) -> list[int]:
    other = np.flatnonzero(side.row == 18 - (side.first + 5)).tolist()
    return [place for place in neighbours(other[0]) if side.row[place] == 0] if len(other) == 1 else []


def _crowd(side: PlayerPieces, rng: np.random.Generator) -> None:
    """Sixteen pieces beside the king."""
    _add(side.row, (side.first + rng.integers(5, size=16 - sum(side.counts[:5]))).tolist(), rng)


def _ninth_pawn(side: PlayerPieces, rng: np.random.Generator) -> None:
    """Nine pawns."""
    _add(side.row, [side.first] * (9 - side.counts[0]), rng)


def _pawn_at_end(side: PlayerPieces, rng: np.random.Generator) -> None:
    """A pawn on the first or the last rank."""
    row, pawns = side.row, np.flatnonzero(side.row == side.first)
    row[rng.choice(pawns)] = 0
    row[rng.choice(END_SQUARES[row[END_SQUARES] == 0])] = side.first


def _promoted_none(side: PlayerPieces, rng: np.random.Generator) -> None:
    """Eight pawns, and one piece more than at the start."""
    _add(side.row, [side.first] * (8 - side.counts[0]), rng)
    _exceed(side, 1, rng)


def _promoted_too_many(side: PlayerPieces, rng: np.random.Generator) -> None:
    """One piece more than the missing pawns can have become."""
    _exceed(side, 9 - side.counts[0], rng)


def _exceed(side: PlayerPieces, wanted: int, rng: np.random.Generator) -> None:
    """Add pieces of one kind until so many are in excess."""
    missing = [limit - count for count, limit in zip(side.counts[1:5], LIMITS[1:], strict=True)]
    fewest = max(0, min(missing))
    kinds = [kind for kind, gap in enumerate(missing, start=1) if max(0, gap) == fewest]
    number = fewest + max(0, wanted - side.excess)
    _add(side.row, [side.first + int(rng.choice(kinds))] * number, rng)


def _like_bishops(side: PlayerPieces, rng: np.random.Generator) -> None:
    """Eight pawns, and both bishops on squares of one colour."""
    row, bishop = side.row, side.first + 2
    _add(row, [side.first] * (8 - side.counts[0]), rng)
    bishops = rng.permutation(np.flatnonzero(row == bishop))
    row[bishops[1:]] = 0
    row[rng.choice(np.flatnonzero((row == 0) & (LIGHT[bishops[0]] == LIGHT)))] = bishop


def _few(number: int) -> bool:
    return 0 < number <= MOST_CHANGES


def _fewest_missing(side: PlayerPieces) -> int:
    return max(0, min(limit - count for count, limit in zip(side.counts[1:5], LIMITS[1:], strict=True)))


@dataclass(frozen=True)
class Breaker:
    """How a rule is broken by changing few squares, and on which positions it can be."""

    act: Callable[[PlayerPieces, np.random.Generator], None]
    fits: Callable[[PlayerPieces], bool]


BREAKERS = {
    "one_king": Breaker(_extra_king, lambda side: side.counts[5] == 1),
    "kings_apart": Breaker(_kings_meet, lambda side: side.counts[5] == 1 and len(_beside_other(side)) > 0),
    "at_most_16": Breaker(_crowd, lambda side: _few(16 - sum(side.counts[:5]))),
    "at_most_8_pawns": Breaker(_ninth_pawn, lambda side: _few(9 - side.counts[0])),
    "no_pawn_at_the_ends": Breaker(
        _pawn_at_end, lambda side: side.counts[0] > 0 and bool((side.row[END_SQUARES] == 0).any())
    ),
    "none_promoted": Breaker(
        _promoted_none, lambda side: side.counts[0] <= 8 and _few(9 - side.counts[0] + _fewest_missing(side))
    ),
    "promoted": Breaker(
        _promoted_too_many,
        lambda side: side.counts[0] < 8 and _few(9 - side.counts[0] - side.excess + _fewest_missing(side)),
    ),
    "bishops_differ": Breaker(_like_bishops, lambda side: 7 <= side.counts[0] <= 8 and 1 <= side.counts[2] <= 2),
}


def breaker_of(rule: str) -> tuple[Breaker, str]:
    """Return how a rule such as `white_one_king` is broken, and for which side; the kings' rule is of both."""
    colour, _, name = rule.partition("_")
    return (BREAKERS[name], colour) if colour in COLOURS else (BREAKERS[rule], "")


def can_break(rule: str, row: Array) -> bool:
    """Return whether a rule can be broken on a position with few changes."""
    breaker, colour = breaker_of(rule)
    return all(breaker.fits(PlayerPieces(row, player)) for player in ([colour] if colour else COLOURS))


def break_rule(rule: str, row: Array, rng: np.random.Generator) -> Array:
    """Return a position with a rule broken."""
    breaker, colour = breaker_of(rule)
    board = row.copy()
    breaker.act(PlayerPieces(board, colour or ("white", "black")[int(rng.integers(2))]), rng)
    return board
