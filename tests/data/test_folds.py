"""Folds part the examples, with every label in equal shares."""

import numpy as np
import pytest

from assay.data.dataset import Dataset
from assay.data.folds import Fold, folds_of
from assay.errors import ConfigError
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
