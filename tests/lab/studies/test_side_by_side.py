"""On a GPU the seeds of one model are trained side by side; the records are those of runs that were trained so."""

import pytest

from assay.base import Settings
from assay.lab import LocalWorkers, read_records, run_study, study_from

STUDY = {
    "tasks": [{"task": "mnlogic", "pixels": True, "k": 3}],
    "models": ["dpl", "tree"],
    "seeds": [1, 2, 3],
    "n": 60,
    "epochs": 2,
    "metrics": ["label_f1"],
}


@pytest.mark.parametrize("gpu", [False, True])
def test_every_run_has_records_whether_trained_side_by_side_or_not(tmp_path, monkeypatch, gpu):
    monkeypatch.setattr("assay.lab.workers.has_gpu", lambda: gpu)  # whether there is a GPU
    study = study_from(Settings(STUDY), tmp_path)
    run_study(study, workers=LocalWorkers(1))
    assert {(record.model, record.seed) for record in read_records(tmp_path)} == {
        (label, seed) for label in ("dpl", "tree") for seed in (1, 2, 3)
    }
