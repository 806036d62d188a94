"""On a GPU the seeds of one model are trained side by side; the records are those of runs that were trained so."""

import pytest

from assay.config import Settings
from assay.studies import LocalWorkers, local_workers, read_records, run_study, study_from
from assay.studies.work import groups_of_seeds, train_side_by_side

STUDY = {
    "tasks": [{"task": "mnlogic", "pixels": True, "k": 3}],
    "models": ["dpl", "tree"],
    "seeds": [1, 2, 3],
    "n": 60,
    "epochs": 2,
    "metrics": ["label_f1"],
}


def test_groups_are_seeds_of_one_model_that_are_not_begun(tmp_path):
    study = study_from(Settings(STUDY), tmp_path)
    groups = groups_of_seeds(study.runs, tmp_path)
    assert [[(run.label, run.seed) for run in group] for group in groups] == [
        [(label, seed) for seed in (1, 2, 3)] for label in ("dpl", "tree")
    ]
    (tmp_path / "runs" / groups[0][0].name).mkdir(parents=True)
    assert [len(group) for group in groups_of_seeds(study.runs, tmp_path)] == [2, 3]


@pytest.mark.parametrize("gpu", [False, True])
def test_every_run_has_records_whether_trained_side_by_side_or_not(tmp_path, monkeypatch, gpu):
    monkeypatch.setattr(local_workers, "has_gpu", lambda: gpu)
    study = study_from(Settings(STUDY), tmp_path)
    run_study(study, workers=LocalWorkers(1))
    assert {(record.model, record.seed) for record in read_records(tmp_path)} == {
        (label, seed) for label in ("dpl", "tree") for seed in (1, 2, 3)
    }


def test_a_group_that_fails_is_left_to_its_single_runs(tmp_path):
    study = study_from(Settings(STUDY), tmp_path)
    train_side_by_side(groups_of_seeds(study.runs, tmp_path)[0], tmp_path)  # there are no data yet
    assert groups_of_seeds(study.runs, tmp_path)[0][0].label == "dpl"
