"""Chess: rules on boards against the released checker's stated rate, positions of played games, pictures."""

import numpy as np

from assay.base import rng_for
from assay.families.chess.games import play_game
from assay.families.chess.settings import Board
from assay.families.chess.task import Chess
from assay.tasks import TASKS
from benchmarks.timing import Result, rate

BOARDS = 200_000
RELEASED_CHECKER = 8_800
"""Boards a second of the released checker on real positions, measured on another day under load."""
RELEASED_PICTURES = 200_000 / (4 * 24 * 3600 * 32)
"""Pictures per CPU second of the released generator, as its authors say: 200,000 in more than 4 days on 32 cores."""


def run() -> list[Result]:
    return [_rules(), _games(), _pictures(Chess(), 3), _pictures(TASKS["chess-flat"](width=512), 20)]


def _rules() -> Result:
    """All 15 rules on positions of games, some squares replaced."""
    knowledge, rng = Board().knowledge(), rng_for(0, "bench chess")
    real = np.concatenate([play_game(0, "bench", number) for number in range(20)])
    codes = real[rng.integers(len(real), size=BOARDS)]
    noisy = rng.random(codes.shape) < 0.02
    codes = np.where(noisy, rng.integers(13, size=codes.shape, dtype=np.int8), codes)

    def work() -> int:
        knowledge.violations(codes)
        return BOARDS

    return Result("15 rules on noisy positions", "boards", rate(work), RELEASED_CHECKER, "the released checker")


def _games() -> Result:
    """Positions of new games, and of games of random moves."""
    import chess

    numbers = iter(range(10**9))

    def ours() -> int:
        return len(play_game(1, "bench", next(numbers)))

    def random_moves() -> int:
        board, rng, made = chess.Board(), rng_for(next(numbers), "bench moves"), []
        while len(made) < 100 and not board.is_game_over():
            made.append(board.board_fen())
            moves = list(board.legal_moves)
            board.push(moves[int(rng.integers(len(moves)))])
        return len(made)

    return Result("positions of played games", "positions", rate(ours), rate(random_moves), "random moves")


def _pictures(task: Chess, count: int) -> Result:
    """Pictures with masks, boxes, depth where there is any, and FEN."""
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(count))

    def work() -> int:
        for world in worlds:
            task.render(world)
        return count

    what = f"{task.name} at {task.config.width} x {task.config.width}"
    return Result(what, "pictures", rate(work), RELEASED_PICTURES, "the released generator, as stated")
