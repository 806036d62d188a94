"""Sudoku puzzles: one solution each, and constrained decoding finds it, also from clues that were misread."""

import numpy as np
import pytest

from assay.base import ConfigError
from assay.contracts import Prediction, Predictions, apply_constraints
from assay.families.sudoku.boards import BoardShape
from assay.logic import Decoder
from assay.metrics import METRICS, Evidence
from assay.tasks import TASKS
from assay.worlds import CONTENT
from tests.families.drawn import class_indices, worlds_of

SudokuSolve = TASKS["sudoku-solve"]
PUZZLES = {2: 40, 3: 12}


def puzzles(task, split="test", count=12):
    """Return the solutions of puzzles as codes, and which cells are shown."""
    worlds = worlds_of(task, split, count)
    shown = np.array([[symbol != "." for symbol in world.style[CONTENT]] for world in worlds])
    return worlds, class_indices(worlds), shown


def solutions(world, block):
    """Yield the ways to fill the blank cells of a puzzle, found by trying."""
    board = [int(symbol) if symbol != "." else 0 for symbol in world.style[CONTENT]]
    shape = BoardShape(block)
    peers = [set(np.concatenate([shape.units[unit] for unit in units]).tolist()) for units in shape.units_of]

    def filled():
        blank = [cell for cell, digit in enumerate(board) if not digit]
        if not blank:
            yield tuple(board)
            return
        free = {cell: {*range(1, block**2 + 1)} - {board[peer] for peer in peers[cell]} for cell in blank}
        cell = min(blank, key=lambda one: len(free[one]))
        for digit in free[cell]:
            board[cell] = digit
            yield from filled()
        board[cell] = 0

    return filled()


def reader(codes, shown, errors):
    """Return what a reader of clues says: mostly the digit, at times another, and of blank cells nothing."""
    rng, side = np.random.default_rng(0), codes.max() + 1
    wrong = rng.random(codes.shape) < errors
    seen = np.where(wrong, (codes + rng.integers(1, side, codes.shape)) % side, codes)
    sure = np.where(wrong, 0.65, 0.9)[:, :, None]
    of_clue = sure * np.eye(side)[seen] + (0.95 - sure) * np.eye(side)[codes] + 0.05 / side
    return np.where(shown[:, :, None], of_clue, 1 / side)


@pytest.mark.parametrize("block", [2, 3])
@pytest.mark.parametrize("split", ["train", "ood"])
def test_every_puzzle_has_one_solution_and_hides_what_is_asked(block, split):
    task = SudokuSolve(block_size=block, image=False, asked="r2c3")
    worlds, codes, shown = puzzles(task, split)
    for world, solution in zip(worlds, codes, strict=True):
        assert list(solutions(world, block)) == [tuple((solution + 1).tolist())]
    assert not shown[:, task.shape.cell_names.index("r2c3")].any()
    assert not task.knowledge.violations(codes).any()


@pytest.mark.parametrize("block", [2, 3])
def test_clues_that_are_read_right_are_solved(block):
    task = SudokuSolve(block_size=block, image=False)
    _, codes, shown = puzzles(task, "ood", PUZZLES[block])
    decoded = Decoder(task.knowledge)(list(reader(codes, shown, 0.0).transpose(1, 0, 2)))
    assert (decoded.codes == codes).all() and decoded.proven.all()


@pytest.mark.parametrize("block", [2, 3])
def test_decoding_repairs_what_was_misread(block):
    task = SudokuSolve(block_size=block, image=False)
    _, codes, shown = puzzles(task, "test", PUZZLES[block])
    said = reader(codes, shown, 0.05)
    read = ((said.argmax(axis=2) == codes) | ~shown).all(axis=1)
    decoded = Decoder(task.knowledge)(list(said.transpose(1, 0, 2)))
    solved = (decoded.codes == codes).all(axis=1)
    assert decoded.proven.all() and solved[read].all()
    assert solved.mean() > read.mean() + 0.1


def test_what_a_network_says_of_blank_cells_is_no_hindrance():
    task = SudokuSolve(image=False)
    _, codes, shown = puzzles(task, "test", 6)
    rng = np.random.default_rng(0)
    logits = np.linspace(0, 1, 9) + 0.2 * rng.standard_normal((*codes.shape, 9))  # all prefer 9, none exactly alike
    blank = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    said = np.where(shown[:, :, None], reader(codes, shown, 0.0), blank)
    decoded = Decoder(task.knowledge)(list(said.transpose(1, 0, 2)))
    assert decoded.proven.all() and (decoded.codes == codes).all()


def test_cells_right_and_boards_solved_are_scored():
    task = SudokuSolve(block_size=2, image=False)
    _, codes, shown = puzzles(task, "test", 20)
    said = reader(codes, shown, 0.05)
    concepts = {
        name: Prediction(said[:, place].argmax(axis=1), said[:, place]) for place, name in enumerate(task.space.names)
    }
    labels = {"digit": Prediction(concepts["r1c1"].codes)}
    plain = Predictions("f", "test", np.arange(20), labels, concepts, {})
    decoded = apply_constraints(plain, task.knowledge, labels_by_rule=True)
    truth = task.knowledge.labels_of(codes)

    def scores(predictions):
        said_of = [answer.codes for answer in predictions.concepts.values()]
        said = predictions.labels["digit"].codes[:, None], np.stack(said_of, axis=1)
        evidence = Evidence(task.knowledge, "test", truth, codes, *said, (None,), (None,) * 16)
        return [METRICS[name](evidence) for name in ("concept_accuracy", "concept_exact", "label_accuracy")]

    assert all(after > before for before, after in zip(scores(plain), scores(decoded), strict=True))
    assert scores(plain)[1] == 0


def test_a_changed_cell_renames_two_digits():
    task = SudokuSolve(block_size=2, image=False)
    world = worlds_of(task, count=1)[0]
    for digit in (1, 2, 3, 4):
        changed = task.change_world(world, {"r1c1": digit})
        assert changed["r1c1"] == digit
        assert list(solutions(changed, 2)) == [tuple(code + 1 for code in changed.codes)]
    assert task.change_world(world, {"r1c1": world["r1c1"]}) == world
    twice = task.change_world(world, {"r1c1": world["r1c2"], "r1c2": world["r1c1"]})
    assert list(solutions(twice, 2)) == [tuple(code + 1 for code in twice.codes)]


def test_clues_are_those_set_or_the_usual():
    for settings, least in (({}, (38, 26)), ({"clues": 41, "ood_clues": 30}, (41, 30)), ({"block_size": 2}, (7, 4))):
        task = SudokuSolve(image=False, **settings)
        for split, number in zip(("train", "ood"), least, strict=True):
            assert number <= puzzles(task, split)[2].sum(axis=1).min() <= number + 6


def test_other_boards_are_no_worlds():
    task = SudokuSolve(block_size=2, image=False)
    source, codes = task.source_for(task.splits()[0], 0), puzzles(task)[1]
    assert source.contains(codes).all() and not source.contains((codes + np.eye(16, dtype=int)[0]) % 4).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"block_size": 4}, "cannot be solved here"),
        ({"asked": "r10c1"}, "no cell named 'r10c1'"),
        ({"clues": 80}, "at most 60 of 81"),
        ({"prop_in_distribution": 0.5}, "is not for puzzles"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        SudokuSolve(**settings)
