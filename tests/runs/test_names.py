"""What a run is called where people read it: no hash, and the names of its study."""

from pathlib import Path

from assay.contracts import to_json
from assay.runs import RUN, RunFolder


def folder_of(tmp_path: Path, **more: object) -> RunFolder:
    about = {
        "model": "cbm",
        "seed": 3,
        "config": {},
        "knowledge": {},
        "layout": {},
        "data": {"folder": "x/y-12ab", "fingerprint": "f"},
    }
    (tmp_path / RUN).write_bytes(to_json({**about, **more}))
    return RunFolder(tmp_path)


def test_a_run_is_called_by_model_task_and_seed(tmp_path: Path) -> None:
    assert (
        folder_of(tmp_path, data={"folder": "x/y-12ab", "fingerprint": "f", "task": "mnlogic"}).title
        == "cbm on mnlogic, seed 3"
    )
    assert folder_of(tmp_path).title == "cbm on y-12ab, seed 3"  # a record of before tasks were named


def test_a_study_gives_its_own_names(tmp_path: Path) -> None:
    run = folder_of(tmp_path, called={"model": "CBM-100", "task": "figures, half"}, fold={"number": 2, "of": 5})
    assert run.label == "CBM-100" and run.title == "CBM-100 on figures, half, seed 3, fold 2"


def test_a_predictions_file_is_called_as_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    path.write_bytes(b"")
    assert RunFolder(path).title == RunFolder(path).label == "mine"
