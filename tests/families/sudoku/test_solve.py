"""Sudoku puzzles: one solution each, and constrained decoding finds it, also from clues that were misread."""

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.families.sudoku.puzzles import solutions, units_as_groups
from assay.families.sudoku.solve import SudokuSolve
from assay.logic import Decoder
from assay.logic.all_different import most_probable_different
from assay.metrics import METRICS, Evidence
from assay.predictions import Answer, Predictions, apply_constraints
from assay.seeds import rng_for
from assay.worlds import CONTENT

PUZZLES = {2: 40, 3: 12}


def puzzles(task, split="test", count=12):
    """Return the solutions of puzzles as codes, and which cells are shown."""
    worlds = task.worlds_in(next(one for one in task.splits() if one.name == split), 0).worlds(np.arange(count))
    shown = np.array([[symbol != "." for symbol in world.style[CONTENT]] for world in worlds])
    return worlds, np.array([world.codes for world in worlds]), shown


def reader(codes, shown, errors):
    """Return what a reader of clues says: mostly the digit, at times another, and of blank cells nothing."""
    rng, side = rng_for(0, "reader"), codes.max() + 1
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
        clues = np.array([int(symbol) if symbol != "." else 0 for symbol in world.style[CONTENT]])
        assert solutions(task.shape, clues).tolist() == [(solution + 1).tolist()]
    assert not shown[:, task.shape.cell_names.index("r2c3")].any()
    assert shown.sum(axis=1).min() >= task.config.clues_in(split)
    assert not task.knowledge.violations(codes).any()


@pytest.mark.parametrize("block", [2, 3])
def test_clues_that_are_read_right_are_solved(block):
    task = SudokuSolve(block_size=block, image=False)
    _, codes, shown = puzzles(task, "ood", PUZZLES[block])
    decoder = Decoder(task.knowledge)
    decoded = decoder(list(reader(codes, shown, 0.0).transpose(1, 0, 2)))
    assert (decoded.codes == codes).all() and decoded.proven.all()
    assert (decoder.different is None) == (block == 2)  # small boards by their diagram, large ones by search


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


def test_what_a_network_says_of_blank_cells_costs_no_time():
    task = SudokuSolve(image=False)
    _, codes, shown = puzzles(task, "test", 6)
    rng = rng_for(0, "blanks")
    logits = np.linspace(0, 1, 9) + 0.2 * rng.standard_normal((*codes.shape, 9))  # all prefer 9, none exactly alike
    blank = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    said = np.where(shown[:, :, None], reader(codes, shown, 0.03), blank)
    for row in range(6):
        costs = [np.log(cell.max()) - np.log(cell) for cell in said[row]]
        assert most_probable_different(units_as_groups(task.shape), costs, nodes=300).proven


def test_cells_right_and_boards_solved_are_scored():
    task = SudokuSolve(block_size=2, image=False)
    _, codes, shown = puzzles(task, "test", 20)
    said = reader(codes, shown, 0.05)
    concepts = {
        name: Answer(said[:, place].argmax(axis=1), said[:, place]) for place, name in enumerate(task.space.names)
    }
    labels = {"digit": Answer(concepts["r1c1"].codes)}
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
    world = puzzles(task, count=1)[0][0]
    for digit in (1, 2, 3, 4):
        changed = task.change_world(world, {"r1c1": digit})
        clues = np.array([int(symbol) if symbol != "." else 0 for symbol in changed.style[CONTENT]])
        assert changed["r1c1"] == digit
        assert (solutions(task.shape, clues)[0] - 1).tolist() == list(changed.codes)


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
