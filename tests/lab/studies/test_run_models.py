"""The models of runs: who answers for a predictions file, and what is compared with it."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.lab import answering_for
from assay.testing import TwoSquares, constant, oracle, small_dataset


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


def test_a_predictions_file_answers_for_its_split_alone(tmp_path: Path, squares: Dataset, mnlogic: Dataset) -> None:
    path, test = tmp_path / "said.parquet", squares["test"]
    constant(test).write(path, squares.knowledge)
    answering, about = answering_for(path, squares, "test")
    assert about["model"] == "reference"
    assert [p.argmax(axis=1).tolist() for p in answering(test).concepts] == [[0] * 16, [0] * 16]
    for data in (squares["valid"], test.take(np.arange(3)), test.take(np.arange(len(test))[::-1])):
        with pytest.raises(ConfigError, match="answers for split 'test' as it is, whole and in order"):
            answering(data)
    with pytest.raises(DataError, match="or another split than 'valid'"):
        answering_for(path, squares, "valid")
    with pytest.raises(DataError):
        answering_for(path, mnlogic, "test")


def test_a_baseline_is_the_label_accuracy_of_a_run_or_a_predictions_file(tmp_path: Path, squares: Dataset) -> None:
    for name, said in (("right", oracle), ("constant", constant)):
        said(squares["test"]).write(tmp_path / f"{name}.parquet", squares.knowledge)
    share = float((squares["test"].labels == 0).mean())
    for baseline, gain in (("right", 0.0), ("constant", 1.0 - share)):
        asked = {"budget": "0", "policy": "random", "baseline": tmp_path / f"{baseline}.parquet"}
        found = assay.intervene(tmp_path / "right.parquet", squares, **asked)
        assert 0 < share < 1 and found.curve.points[0].to_dict()["gain"] == pytest.approx(gain)
    with pytest.raises(DataError, match="has no predictions for split 'valid'"):
        assay.intervene(tmp_path / "right.parquet", squares, **{**asked, "split": "valid"})


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    with pytest.raises(DataError, match="holds no finished run and is no predictions file"):
        assay.intervene(tmp_path / "half")
