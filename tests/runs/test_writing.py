"""What is written into a run's folder last, and for what data."""

from pathlib import Path

import pytest

from assay.base import DataError
from assay.contracts import read_predictions
from assay.dataset import Dataset
from assay.runs import (
    PROGRAM,
    RUN,
    WEIGHTS,
    RunFolder,
    check_dataset,
    split_for,
    write_pairs,
    write_record,
)
from tests.conftest import Made
from tests.leftovers import leave_file
from tests.predictors import predictions

ABOUT = {"model": "mine", "seed": 0, "config": {}, "knowledge": {}, "layout": {}}


def test_a_record_says_on_what_and_is_written_when_nothing_is_left_over(mnlogic: Dataset, tmp_path: Path) -> None:
    for name in ("run.json", "predictions/test.parquet"):
        leave_file(tmp_path / name)
    (tmp_path / WEIGHTS).write_bytes(b"weights")
    write_record(RunFolder(tmp_path), mnlogic, ABOUT)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [WEIGHTS, RUN]
    about = RunFolder(tmp_path).record
    assert about.data.fingerprint == mnlogic.fingerprint and list(about.files) == [WEIGHTS]
    RunFolder(tmp_path).check_learned(about)
    check_dataset(RunFolder(tmp_path), mnlogic)
    (tmp_path / WEIGHTS).write_bytes(b"others")
    with pytest.raises(DataError, match="does not match its hash"):
        RunFolder(tmp_path).check_learned(about)


def test_another_dataset_is_refused(mnlogic: Dataset, evenodd: Dataset, tmp_path: Path) -> None:
    write_record(RunFolder(tmp_path), mnlogic, ABOUT)
    with pytest.raises(DataError, match=f"was trained on a dataset with fingerprint {mnlogic.fingerprint}"):
        check_dataset(RunFolder(tmp_path), evenodd)


def test_pairs_are_predicted_where_there_are_some(mnlogic: Dataset, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    told = write_pairs(lambda data: predictions(data, data.labels), mnlogic, run)
    pairs = mnlogic["pairs"]
    assert told == f"{len(pairs)} of split test" and mnlogic.pairs is not None
    written = read_predictions(run.predictions("pairs"), mnlogic.knowledge)
    assert written.labels["y"].codes.tolist() == pairs.labels[:, 0].tolist()

    def refuse(data: object) -> None:
        raise DataError("cannot be read")

    assert write_pairs(refuse, mnlogic, RunFolder(tmp_path / "other")) == "none: cannot be read"  # type: ignore[arg-type]
    assert not (tmp_path / "other").exists()


def test_the_first_stage_stands_for_a_split_that_has_stages(made: Made, mnlogic: Dataset) -> None:
    sizes = {f"{name}_{stage}": 4 for name in ("train", "valid", "test") for stage in (1, 2)}
    staged = made(
        "mnlogic",
        pixels=True,
        k=3,
        stages=["a", "not a"],
        formula="a and b or c",
        splits={**sizes, "hard": 4, "ood": 4},
    )
    assert split_for(staged, "train") == "train_1" and split_for(staged, "hard") == "hard"
    assert split_for(mnlogic, "train") == "train" and split_for(mnlogic, "nothing") == "nothing"


def test_every_file_that_was_learned_is_hashed_and_no_other(mnlogic: Dataset, tmp_path: Path) -> None:
    (tmp_path / WEIGHTS).write_bytes(b"weights")
    (tmp_path / PROGRAM).write_bytes(b"{}")
    (tmp_path / "history.json").write_text("{}")
    write_record(RunFolder(tmp_path), mnlogic, ABOUT)
    about = RunFolder(tmp_path).record
    assert sorted(about.files) == [WEIGHTS, PROGRAM]
    for change in (lambda path: path.write_bytes(b"[]"), Path.unlink):
        change(tmp_path / PROGRAM)
        with pytest.raises(DataError, match="program.json does not match its hash"):
            RunFolder(tmp_path).check_learned(about)
    RunFolder(tmp_path).check_learned(about.but(files={}))  # a record of an older version
