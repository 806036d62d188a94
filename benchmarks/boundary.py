"""The boundary of rules too large to list: which concepts flip the label, against evaluating every changed world."""

import numpy as np

from assay.base import Codes, rng_for
from assay.logic import TRUE, Boundary, Concept, ConceptSpace, Evaluator, Formula, Var, conjunction, total
from assay.logic import formula as f
from benchmarks.timing import Result, rate

MANY, FEW = 100_000, 200
TARGET = MANY / 10


def run() -> list[Result]:
    results = []
    for name, (space, rule, codes) in {"sudoku": _sudoku(), "chess": _chess()}.items():
        boundary = Boundary(rule, space, TRUE)
        ours = rate(lambda boundary=boundary, codes=codes: len(boundary.flips(codes)), least=0.01)
        plain = rate(lambda space=space, rule=rule, codes=codes: _each(space, rule, codes[:FEW]), least=0.01)
        results.append(Result(f"flipping concepts, {name}", "worlds", ours, plain, "every changed world evaluated"))
        results.append(Result(f"flipping concepts, {name}", "worlds", ours, TARGET, "target: 100,000 in 10 s"))
    return results


def _each(space: ConceptSpace, rule: Formula, codes: Codes) -> int:
    """Evaluate the rule on each world with each concept changed to each value."""
    evaluator = Evaluator(space, rule)
    now = evaluator(codes)
    for place, size in enumerate(space.sizes):
        for code in range(size):
            changed = codes.copy()
            changed[:, place] = code
            evaluator(changed) != now  # noqa: B015
    return len(codes)


def _sudoku() -> tuple[ConceptSpace, Formula, Codes]:
    """81 cells, of which half the boards have one changed."""
    names = [f"r{row}c{column}" for row in range(9) for column in range(9)]
    space = ConceptSpace(tuple(Concept(name, tuple(range(1, 10))) for name in names))
    cells = np.arange(81).reshape(9, 9)
    blocks = cells.reshape(3, 3, 3, 3).transpose(0, 2, 1, 3).reshape(9, 9)
    units = [tuple(Var(names[cell]) for cell in unit) for unit in (*cells, *cells.T, *blocks)]
    board = np.array([(3 * (row % 3) + row // 3 + column) % 9 for row in range(9) for column in range(9)])
    rng = rng_for(0, "benchmark", "sudoku")
    codes = np.argsort(rng.random((MANY, 9)), axis=1)[:, board]
    half = np.arange(MANY // 2)
    codes[half, rng.integers(81, size=len(half))] = rng.integers(9, size=len(half))
    return space, conjunction(*map(f.AllDifferent, units)), codes


def _chess() -> tuple[ConceptSpace, Formula, Codes]:
    """64 squares, counts of pieces, and no pawn on the first or last row; the opening with pieces taken off."""
    squares = [f"{column}{row}" for row in range(1, 9) for column in "abcdefgh"]
    values = ("empty", *"PNBRQKpnbrqk")
    space = ConceptSpace(tuple(Concept(square, values) for square in squares))

    def count(piece: str) -> Formula:
        return f.Count(tuple(Var(square).eq(piece) for square in squares))

    parts: list[Formula] = []
    for side in ("PNBRQK", "pnbrqk"):
        most = zip(side, (8, 10, 10, 10, 9), strict=False)
        parts += [count(side[5]).eq(1), *(count(piece) <= number for piece, number in most)]
        parts += [total(*map(count, side)) <= 16]
        parts += [conjunction(*(Var(square).ne(side[0]) for square in squares if square[1] in "18"))]
    opening = ["RNBQKBNR", "P" * 8, *["."] * 32, "p" * 8, "rnbqkbnr"]
    board = np.array([0 if piece == "." else values.index(piece) for piece in "".join(opening)])
    rng = rng_for(0, "benchmark", "chess")
    codes = np.broadcast_to(board, (MANY, 64)).copy()
    codes[np.arange(MANY)[:, None], rng.integers(64, size=(MANY, 6))] = 0
    return space, conjunction(*parts), codes
