"""The models of runs: which runs a path stands for, and who answers for a predictions file."""

from pathlib import Path

import numpy as np
import pytest

from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.lab import accuracy_of, answering_for, runs_in
from assay.testing import TwoSquares, constant, oracle, small_dataset


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


def test_a_path_stands_for_a_run_or_for_those_in_it_by_name(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    (tmp_path / "runs" / "half").mkdir()
    assert runs_in(tmp_path / "runs") == [tmp_path / "runs" / name for name in "abc"]
    assert runs_in(tmp_path / "runs" / "a") == [tmp_path / "runs" / "a"]
    (tmp_path / "said.parquet").touch()
    assert runs_in(tmp_path / "said.parquet") == [tmp_path / "said.parquet"]
    with pytest.raises(DataError, match="holds no finished run and is no predictions file"):
        runs_in(tmp_path / "runs" / "half")


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


def test_accuracy_is_over_examples_and_labels_of_a_split(tmp_path: Path, squares: Dataset) -> None:
    for name, said in (("right", oracle), ("constant", constant)):
        said(squares["test"]).write(tmp_path / f"{name}.parquet", squares.knowledge)
    assert accuracy_of(tmp_path / "right.parquet", squares, "test") == 1.0
    share = float((squares["test"].labels == 0).mean())
    assert 0 < share < 1 and accuracy_of(tmp_path / "constant.parquet", squares, "test") == pytest.approx(share)
    with pytest.raises(DataError, match="has no predictions for split 'valid'"):
        accuracy_of(tmp_path / "right.parquet", squares, "valid")
