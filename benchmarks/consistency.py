"""Constraints on chess boards: checking, a random guesser's rate, and decoding, against the plain way."""

import numpy as np

from assay.base import rng_for
from assay.families.chess.positions import COLOURS, VALUES
from assay.families.chess.settings import Board
from assay.logic import Constraint, Decoder, Knowledge, truth_diagram
from benchmarks.timing import Result, rate

BOARDS = 20_000
SAMPLES = 100_000


def run() -> list[Result]:
    return [_checking(), _guessing(), _decoding()]


def _broken(board: list[list[str]]) -> list[int]:
    """The rules of VALUED one board at a time, as a program with counters."""
    found = []
    kings = [(y, x, piece) for y, row in enumerate(board) for x, piece in enumerate(row) if piece in "Kk"]
    near = [(a, b) for a in kings for b in kings if a[2] < b[2] and abs(a[0] - b[0]) < 2 and abs(a[1] - b[1]) < 2]
    found.append(len(near))
    for pawn, knight, bishop, rook, queen, king in COLOURS.values():
        count = {piece: sum(row.count(piece) for row in board) for piece in (pawn, knight, bishop, rook, queen, king)}
        spare = max(0, count[queen] - 1) + sum(max(0, count[piece] - 2) for piece in (bishop, knight, rook))
        found.append(count[king] != 1)
        found.append(sum(count.values()) - count[king] > 15)
        found.append(count[pawn] > 8)
        found.append(pawn in board[0] or pawn in board[7])
        found.append(count[pawn] == 8 and spare > 0)
        found.append(count[pawn] < 8 and spare > 8 - count[pawn])
        light = sum(piece == bishop and (x + y) % 2 for y, row in enumerate(board) for x, piece in enumerate(row))
        found.append(count[pawn] == 8 and count[bishop] == 2 and light != 1)
    return [int(one > 0) for one in found]


def _checking() -> Result:
    """All 15 rules on boards with some pieces."""
    knowledge = Board().knowledge()
    rng = rng_for(0, "bench boards")
    codes = rng.integers(13, size=(BOARDS, 64)) * (rng.random((BOARDS, 64)) < 0.3)
    letters = [[[VALUES[c][0] if c else "." for c in row] for row in board.reshape(8, 8)] for board in codes[:2000]]
    plain = np.array([_broken(board) for board in letters])
    if not (knowledge.violations(codes[:2000]) == plain).all():
        raise RuntimeError("the two ways disagree")

    def ours() -> int:
        knowledge.violations(codes)
        return BOARDS

    def one_by_one() -> int:
        for board in letters:
            _broken(board)
        return len(letters)

    return Result("15 rules on chess boards", "boards", rate(ours), rate(one_by_one), "a program, board by board")


def _guessing() -> Result:
    """The probability that guesses keep "promoted pieces for missing pawns": by the diagram, or by samples."""
    knowledge = Board().knowledge()
    rule = next(c for c in knowledge.constraints if c.name == "white_promoted")
    one = Knowledge(knowledge.space, knowledge.labels, (rule,))
    diagram = truth_diagram(rule.formula, one.space)
    spread = [rng_for(1, "bench guesses").dirichlet(np.ones(13), size=16) for _ in range(64)]

    def ours() -> int:
        diagram.probabilities(spread)
        return 16

    def sampled() -> int:
        draws = rng_for(2, "bench guesses").random((SAMPLES, 64))
        codes = [(draws[:, [place]] > one[0].cumsum()).sum(axis=1) for place, one in enumerate(spread)]
        one.violations(np.stack(codes, axis=1)).mean()
        return 1

    what = "P(a rule over 64 squares) under given distributions"
    return Result(what, "distributions", rate(ours), rate(sampled), f"{SAMPLES:,} samples, right to 2 digits")


def _decoding() -> Result:
    """The best world with one king of each colour, apart, on 5 squares: by diagrams, or by listing 13^5 worlds."""
    board = Board(5, 1)
    kings = [c for c in board.knowledge().constraints if "king" in c.name]
    few = Constraint("few", board.number("PNBRQ") <= 1)
    knowledge = Knowledge.of(board.space, {"y": "a1 == 'K'"}, [*kings, few])
    spread = [rng_for(2, "bench decode").dirichlet(np.full(13, 0.3), size=64) for _ in range(5)]
    decoder = Decoder(knowledge)

    def ours() -> int:
        decoder(spread)
        return 64

    def listed() -> int:
        worlds = board.space.all_codes()
        worlds = worlds[~knowledge.violations(worlds).any(axis=1)]
        for row in range(8):
            np.sum([np.log(one[row])[worlds[:, place]] for place, one in enumerate(spread)], axis=0).argmax()
        return 8

    return Result("best possible board of 5 squares", "examples", rate(ours), rate(listed), "list 13^5 worlds, numpy")
