"""`as_released`: the faults of the released generators, which published numbers rest on, and nothing else."""

import numpy as np
import pytest

from assay.config import Settings
from assay.data import recipe_from
from assay.errors import ConfigError
from assay.families.chess.rules import Board
from assay.logic import evaluate
from assay.tasks import TASKS


def labels(task, split, count=40):
    found = {part.name: part for part in task.splits()}[split]
    codes = task.worlds_in(found, 0).codes(np.arange(count))
    return task.knowledge.labels_of(codes)


@pytest.mark.parametrize(("name", "settings"), [("mnlogic", {}), ("mnmath", {"equations": ["x1 == x2", "x3 > x4"]})])
def test_all_but_training_hold_the_first_label_only_as_true(name, settings):
    task = TASKS[name](None, as_released=True, **settings)
    assert labels(task, "train")[:, 0].mean() == 0.5
    for split in ("valid", "test", "ood"):
        assert labels(task, split)[:, 0].all()
    even = TASKS[name](None, **settings)
    assert all(labels(even, split)[:, 0].mean() == 0.5 for split in ("train", "valid", "test"))
    assert [part.size for part in task.splits()] == [part.size for part in even.splits()]


def test_a_label_that_is_a_number_cannot_be_one_sided():
    with pytest.raises(ConfigError, match="as_released: label 'y1' is neither true nor false"):
        TASKS["mnmath"](None, as_released=True, equations=["x1 + x2"]).splits()


def test_kandinsky_worlds_are_sorted_by_the_rule_with_shapes_taken_for_colours():
    task = TASKS["kand-logic-pairs"](None, as_released=True)
    swapped = task._sorted_by.labels[0].formula
    source = task.worlds_in({part.name: part for part in task.splits()}["test"], 0)
    codes = source.codes(np.arange(60))
    assert evaluate(swapped, task.space, codes).all() and 0 < task.knowledge.labels_of(codes).mean() < 1
    assert "hard" not in {part.name for part in task.splits()}


def test_the_default_rule_of_kandinsky_is_the_same_either_way():
    task = TASKS["kand-logic"](None, as_released=True)
    assert labels(task, "test").all() and abs(labels(task, "train", 200).mean() - 0.5) < 0.1


def test_chess_rules_that_the_released_check_leaves_out():
    names = {rule.name for rule in Board().rules()}
    released = {rule.name: rule.formula for rule in Board(as_released=True).rules()}
    assert names - set(released) == {"white_promoted"}
    board = Board()
    codes = np.zeros((1, 64), dtype=np.int64)
    value = board.space.concepts[0].code
    for square in range(3):  # three black rooks and eight black pawns but one
        codes[0, square] = value("r")
    for square in range(8, 15):
        codes[0, square] = value("p")
    codes[0, 40] = value("r")
    own = {rule.name: rule.formula for rule in board.rules()}["black_promoted"]
    assert not evaluate(own, board.space, codes).any()
    assert evaluate(released["black_promoted"], board.space, codes).all()


def test_data_that_are_not_as_released_are_what_they_were():
    plain, off = (recipe_from("mnlogic", Settings(given)).to_dict()["splits"] for given in ({}, {"as_released": False}))
    assert plain == off
