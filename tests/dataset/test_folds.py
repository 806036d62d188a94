"""Folds part the examples, with every label in equal shares."""

import numpy as np
import pytest

from assay.base import ConfigError
from assay.dataset import Dataset, Fold
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
def test_folds_have_the_labels_in_equal_shares_and_are_the_same_again(folds: int, data: Dataset) -> None:
    split = data["train"]
    parts = [Fold(number, folds).divide(split)[1] for number in range(folds)]
    counts = np.array([np.bincount(part.labels[:, 0], minlength=2) for part in parts])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert Fold(1, folds).divide(split)[1].index.tolist() == parts[1].index.tolist()


@pytest.mark.parametrize(("number", "of"), [(-1, 3), (3, 3), (0, 1), (0, 10_000)])
def test_a_fold_that_cannot_be_is_refused(number: int, of: int, data: Dataset) -> None:
    with pytest.raises(ConfigError, match=f"fold {number} of {of} of 256 examples cannot be"):
        Fold(number, of).divide(data["train"])


def test_every_row_may_be_a_fold_of_its_own(data: Dataset) -> None:
    few = data["train"].take(np.array([9, 4, 30]))
    assert sorted(Fold(number, 3).divide(few)[1].index.tolist()[0] for number in range(3)) == [4, 9, 30]
    with pytest.raises(ConfigError, match="fold 0 of 4 of 3 examples cannot be"):
        Fold(0, 4).divide(few)
