"""The worlds that a count is about: all that training shows, so many different ones, or those that are listed."""

from pathlib import Path

import numpy as np
import pytest

from assay.base import AssayError, ConfigError, Settings
from assay.dataset import Dataset, support_worlds, training_support
from assay.exchange import from_table
from assay.logic import Constraint, Knowledge, bits, digits, parse

LESS = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}, [Constraint("less", parse("a < b"))])


def test_a_dataset_shows_the_worlds_of_its_training_split(evenodd: Dataset) -> None:
    knowledge, worlds = training_support(str(evenodd.folder), Settings(), 0)
    assert knowledge == evenodd.knowledge and len(worlds) == 16
    assert (worlds == np.unique(evenodd.symbols("train").concepts, axis=0)).all()


def test_a_task_that_is_not_made_shows_the_same(evenodd: Dataset) -> None:
    settings = Settings({"splits": {"train": 160, "valid": 32, "test": 160, "ood": 168, "hard": 32}})
    worlds = training_support("mnadd-evenodd", settings, 0)[1]
    assert (worlds == training_support(str(evenodd.folder), Settings(), 0)[1]).all()


def test_random_worlds_are_possible_different_and_seeded() -> None:
    worlds = support_worlds(LESS, "random:30", 0)
    assert len(np.unique(worlds, axis=0)) == 30 and (worlds[:, 0] < worlds[:, 1]).all()
    assert (support_worlds(LESS, "random:30", 0) == worlds).all() and not (
        support_worlds(LESS, "random:30", 1) == worlds
    ).all()
    assert len(np.unique(support_worlds(LESS, "random:45", 0), axis=0)) == 45
    for count in (0, 46):
        with pytest.raises(ConfigError, match=f"--support {count}: there are 45 worlds"):
            support_worlds(LESS, f"random:{count}", 0)


def test_worlds_are_listed_by_their_values() -> None:
    assert support_worlds(LESS, "06, 28,06", 0).tolist() == [[0, 6], [2, 8]]
    assert support_worlds(LESS, "06,,28, ,", 0).tolist() == [[0, 6], [2, 8]]
    assert support_worlds(Knowledge.of(bits([*"abc"]), {"y": "a"}), "110", 0).tolist() == [[1, 1, 0]]
    for text in ("60", "06,88"):
        with pytest.raises(ConfigError, match=f"--support {text}: a listed world breaks a constraint"):
            support_worlds(LESS, text, 0)
    for text in ("066", "", "0x"):
        with pytest.raises(AssayError):
            support_worlds(LESS, text, 0)


def test_a_folder_without_training_is_told(made, tmp_path: Path) -> None:
    dataset = made("mnlogic", pixels=True, k=3, splits={"train": 0, "valid": 8, "test": 8, "ood": 8, "hard": 8})
    with pytest.raises(ConfigError, match="has no training split; give --support full"):
        training_support(str(dataset.folder), Settings(), 0)


def test_only_worlds_that_are_wholly_known_count(tmp_path):
    columns = {
        "concept_a": [0, 1, None, 1],
        "concept_b": [1, 1, 1, None],
        "label_y": [0, 1, 0, 1],
        "split": ["train"] * 2 + ["train_2", "test"],
    }
    for name, known in (("some", [[0, 1], [1, 1]]), ("none", [])):
        held = columns if known else {**columns, "concept_a": [None, None, 1, 0], "concept_b": [1, 0, None, 1]}
        shares = {"train": 0.5, "test": 0.5}
        from_table(held, tmp_path / name, images=[np.zeros((8, 8), np.uint8)] * 4, rule={"y": "a and b"}, shares=shares)
        if known:
            assert training_support(str(tmp_path / name), Settings(), 0)[1].tolist() == known
        else:
            with pytest.raises(ConfigError, match="has no training example whose concepts are all known"):
                training_support(str(tmp_path / name), Settings(), 0)
