"""The units of a run of discovered concepts, as others read them; and the evidence of a run."""

import json
from pathlib import Path

import numpy as np
import pytest

from assay.base import DataError
from assay.dataset import Dataset
from assay.runs import UNITS, RunFolder, evidence_of, units_of
from tests.predictors import predictions

UNIT = dict.fromkeys(("unit", "name", "value", "matched", "direction", "f1", "share", "rows", "has"), 1)


def test_units_are_read_and_nothing_else(tmp_path: Path) -> None:
    assert units_of(tmp_path) is None
    units = [UNIT, {**UNIT, "more": 3}]
    (tmp_path / UNITS).write_text(json.dumps({"split": "test", "units": units, "other": 1}))
    assert units_of(tmp_path) == {"split": "test", "units": units}


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"units": []}', '{"split": 3, "units": []}', '{"split": "test", "units": [{"unit": 1}]}'],
)
def test_units_that_cannot_be_read(content: str, tmp_path: Path) -> None:
    (tmp_path / UNITS).write_text(content)
    with pytest.raises(DataError, match="units.json of .* cannot be read"):
        units_of(tmp_path)


def test_the_evidence_of_a_run_is_that_of_each_split_that_it_predicted(mnlogic: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for name in ("ood", "test"):
        data = mnlogic.symbols(name)
        said = predictions(data, data.labels, 1 - data.concepts)
        (folder / "predictions").mkdir(parents=True, exist_ok=True)
        said.write(folder / "predictions" / f"{name}.parquet", data.knowledge)
    found = evidence_of(RunFolder(folder), mnlogic)
    assert list(found) == ["test", "ood"]
    for name, evidence in found.items():
        data = mnlogic.symbols(name)
        assert (evidence.concepts == data.concepts).all() and (evidence.predicted_concepts == 1 - data.concepts).all()
        assert np.array_equal(evidence.labels, evidence.predicted_labels) and evidence.split == name
