"""Folds part the examples, with every label in equal shares."""

import numpy as np
import pytest

from assay.data import Dataset, Fold
from assay.data.folds import folds_of
from assay.errors import ConfigError
from assay.seeds import Deck
from tests.pixels import pixels


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return pixels(tmp_path_factory.mktemp("folds") / "data")


def test_each_example_is_held_out_once(data: Dataset) -> None:
    split = data["train"]
    parts = [Fold(number, 5).divide(split) for number in range(5)]
    assert sorted(np.concatenate([inside.index for _, inside in parts]).tolist()) == split.index.tolist()
    for outside, inside in parts:
        assert sorted([*outside.index.tolist(), *inside.index.tolist()]) == split.index.tolist()


@pytest.mark.parametrize("folds", [2, 3, 7])
def test_folds_have_the_labels_in_equal_shares(folds: int, data: Dataset) -> None:
    labels = data["train"].labels
    numbers = folds_of(labels, folds, "key")
    for value in (0, 1):
        counts = np.bincount(numbers[labels[:, 0] == value], minlength=folds)
        assert counts.max() - counts.min() <= 1
    assert (folds_of(labels, folds, "key") == numbers).all() and (folds_of(labels, folds, "other") != numbers).any()


@pytest.mark.parametrize(("number", "of"), [(-1, 3), (3, 3), (0, 1), (0, 10_000)])
def test_a_fold_that_cannot_be_is_refused(number: int, of: int, data: Dataset) -> None:
    with pytest.raises(ConfigError, match=f"fold {number} of {of} of 256 examples cannot be"):
        Fold(number, of).divide(data["train"])


def test_rows_of_each_combination_of_labels_go_to_the_folds_in_turn() -> None:
    labels = np.array([[row % 2, row % 3 == 1] for row in range(31)]).astype(np.int64)
    place = Deck(31, 0, "folds", "print").deal(np.arange(31))
    ordered = sorted(range(31), key=lambda row: (labels[row, 1], labels[row, 0], place[row]))
    expected = np.empty(31, dtype=np.int64)
    for turn, row in enumerate(ordered):
        expected[row] = turn % 4
    assert folds_of(labels, 4, "print").tolist() == expected.tolist()


def test_every_row_may_be_a_fold_of_its_own(data: Dataset) -> None:
    few = data["train"].take(np.array([9, 4, 30]))
    numbers = folds_of(few.labels, 3, few.fingerprint)
    for number in range(3):
        outside, inside = Fold(number, 3).divide(few)
        assert inside.index.tolist() == few.index[numbers == number].tolist() and len(inside) == 1
        assert outside.index.tolist() == few.index[numbers != number].tolist() and len(outside) == 2
    with pytest.raises(ConfigError, match="fold 0 of 4 of 3 examples cannot be"):
        Fold(0, 4).divide(few)
