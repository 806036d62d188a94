"""What stands for a machine in annotation: scores of a table, or predicted concepts of a file or run about this data."""

from pathlib import Path

import numpy as np
import pytest

from assay.base import ConfigError, DataError, Settings, validate
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset
from assay.exchange import Annotation
from assay.lab import machine_of
from tests.predictors import predictions


def machine(dataset: Dataset, path: Path | None, **settings: object):
    given = {} if path is None else {"machine": str(path)}
    return machine_of(validate(Annotation, Settings({**given, **settings})), dataset)


def test_without_a_machine_there_is_none(mnlogic: Dataset) -> None:
    assert machine(mnlogic, None) is None


def test_a_threshold_decides_on_truths(mnlogic: Dataset, tmp_path: Path) -> None:
    data = mnlogic["train"]
    soft = np.tile([[0.4, 0.6]], (len(data), 1))
    said = {name: Prediction.of(soft) for name in mnlogic.knowledge.space.names}
    labels = {"y": Prediction(data.labels[:, 0])}
    Predictions(mnlogic.fingerprint, "train", data.index, labels, said).write(tmp_path / "s.parquet", mnlogic.knowledge)
    assert (machine(mnlogic, tmp_path / "s.parquet")["train"] == 1).all()
    assert (machine(mnlogic, tmp_path / "s.parquet", threshold=0.7)["train"] == 0).all()
    with pytest.raises(ConfigError, match="threshold: 'mean' is for a CSV of scores; give a probability"):
        machine(mnlogic, tmp_path / "s.parquet", threshold="mean")


def test_predictions_of_other_data_and_without_concepts_are_refused(mnlogic: Dataset, tmp_path: Path) -> None:
    data = mnlogic["train"]
    labels = {"y": Prediction(data.labels[:, 0])}
    said = {name: Prediction(data.concepts[:, i]) for i, name in enumerate(mnlogic.knowledge.space.names)}
    Predictions("another", "train", data.index, labels, said).write(tmp_path / "a.parquet", mnlogic.knowledge)
    with pytest.raises(DataError, match="is about a dataset with fingerprint another, not this one"):
        machine(mnlogic, tmp_path / "a.parquet")
    predictions(data, data.labels).write(tmp_path / "b.parquet", mnlogic.knowledge)
    with pytest.raises(DataError, match="has no concept 'a' in split 'train'"):
        machine(mnlogic, tmp_path / "b.parquet")


def test_each_split_of_a_run_has_its_own_rows_and_columns(mnlogic: Dataset, tmp_path: Path) -> None:
    for split, rows in (("test", [7, 0, 30]), ("train", [63, 1])):
        some = mnlogic[split].take(np.array(rows))
        said = {
            name: Prediction((some.concepts[:, place] + place) % 2)
            for place, name in enumerate(mnlogic.knowledge.space.names)
        }
        made = Predictions(mnlogic.fingerprint, split, some.index, {"y": Prediction(some.labels[:, 0])}, said)
        made.write(tmp_path / "run" / "predictions" / f"{split}.parquet", mnlogic.knowledge)
    (tmp_path / "run" / "run.json").write_text("{}")
    codes = machine(mnlogic, tmp_path / "run")
    assert {split: table.shape for split, table in codes.items()} == {"test": (32, 3), "train": (64, 3)}
    for split, rows in (("test", [7, 0, 30]), ("train", [63, 1])):
        assert (codes[split][rows] == (mnlogic[split].concepts[rows] + [0, 1, 2]) % 2).all()
        assert (np.delete(codes[split], rows, axis=0) == -1).all()
    with pytest.raises(ConfigError, match="threshold: 'mean' is for a CSV of scores"):
        machine(mnlogic, tmp_path / "run", threshold="mean")
