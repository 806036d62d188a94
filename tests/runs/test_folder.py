"""The folder of a run as readers see it: what may be there, the order of splits, and its dataset wherever it is now."""

import json
from pathlib import Path

import pytest

from assay.base import DataError
from assay.contracts import PAIRS, sealed
from assay.dataset import Dataset
from assay.runs import CHECKPOINT, PROGRAM, RUN, WEIGHTS, RunFolder
from tests.conftest import write
from tests.predictors import predictions


def record(folder: Path, **changes: object) -> dict[str, object]:
    """Write the record of a run, sealed, and return it."""
    data = {"folder": "nowhere", "fingerprint": "f"}
    about = {"model": "mine", "seed": 0, "config": {}, "data": data, "knowledge": {}, "layout": {}, **changes}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN).write_text(json.dumps(sealed(about)))
    return about


def test_splits_come_in_the_order_of_reports(mnlogic: Dataset, tmp_path: Path) -> None:
    run, data = RunFolder(tmp_path), mnlogic["test"]
    names = ["valid", "zebra", "hard", "ood", "train", "test_2", "ood_longer", "test", "test_1", PAIRS]
    for name in names:
        predictions(data, data.labels).write(run.predictions(name), mnlogic.knowledge)
    found = list(run.all_predictions(mnlogic.knowledge))
    assert found == ["test", "test_1", "test_2", "ood", "ood_longer", "hard", "valid", "train", "zebra"]


def test_a_single_file_stands_for_a_run(mnlogic: Dataset, tmp_path: Path) -> None:
    data = mnlogic["ood"]
    predictions(data, data.labels).write(tmp_path / "mine.parquet", mnlogic.knowledge)
    found = RunFolder(tmp_path / "mine.parquet").all_predictions(mnlogic.knowledge)
    assert list(found) == ["ood"] and found["ood"].index.tolist() == data.index.tolist()
    with pytest.raises(DataError, match="no run or predictions file"):
        RunFolder(tmp_path / "other.parquet").all_predictions(mnlogic.knowledge)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no predictions; make some: assay predict"):
        RunFolder(tmp_path / "empty").all_predictions(mnlogic.knowledge)


def test_a_folder_is_claimed_where_only_an_unfinished_run_was(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "a" / "run")
    run.claim()
    for name in (CHECKPOINT, WEIGHTS, PROGRAM, "history.json", ".hidden"):
        (run.folder / name).touch()
    run.claim()
    assert not run.is_finished
    record(run.folder)
    assert run.is_finished
    with pytest.raises(DataError, match="holds a finished run; choose another folder"):
        run.claim()
    (run.folder / RUN).unlink()
    (run.folder / "thesis.tex").touch()
    with pytest.raises(DataError, match="holds other files; choose another folder"):
        run.claim()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="is a file, not a folder"):
        RunFolder(tmp_path / "file").claim()
    with pytest.raises(DataError, match="cannot use folder .*run': "):
        RunFolder(tmp_path / "file" / "run").claim()
    with pytest.raises(DataError, match="holds no finished run"):
        RunFolder(tmp_path / "file" / "run").metadata()


def test_a_folder_is_taken_away_only_while_it_is_empty(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.claim()
    run.release()
    assert not run.folder.exists()
    run.claim()
    (run.folder / "history.json").touch()
    run.release()
    assert (run.folder / "history.json").exists()


def test_a_seal_covers_all_but_itself_in_any_order() -> None:
    about = {"model": "dpl", "seed": 3, "data": {"a": 1, "b": 2}}
    assert sealed(about) == sealed({**dict(reversed(about.items())), "sha256": "anything"})
    for other in ({**about, "seed": 4}, {**about, "data": {"a": 1, "b": 3}}, {**about, "more": None}):
        assert sealed(other)["sha256"] != sealed(about)["sha256"]


@pytest.mark.parametrize("missing", ["model", "seed", "config", "data", "knowledge", "layout"])
def test_a_record_without_what_all_have_is_damaged(missing: str, tmp_path: Path) -> None:
    about = record(tmp_path)
    assert RunFolder(tmp_path).metadata() == about
    del about[missing]
    (tmp_path / RUN).write_text(json.dumps(about))
    with pytest.raises(DataError, match=r"run.json' is damaged; train again"):
        RunFolder(tmp_path).metadata()


def test_a_record_whose_seal_is_wrong_or_gone_is_damaged(tmp_path: Path) -> None:
    about = record(tmp_path, files={})
    for damaged in (about, {**about, "sha256": "0"}):
        (tmp_path / RUN).write_text(json.dumps(damaged))
        with pytest.raises(DataError, match=r"run.json' is damaged; train again"):
            RunFolder(tmp_path).metadata()


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_record_that_is_no_record_is_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / RUN).write_text(text)
    with pytest.raises(DataError, match="is damaged"):
        RunFolder(tmp_path).metadata()


@pytest.mark.parametrize(
    ("changes", "label", "title"),
    [
        ({"data": {"folder": "x/y-12ab", "fingerprint": "f", "task": "mnlogic"}}, "mine", "mine on mnlogic, seed 3"),
        ({"data": {"folder": "x/y-12ab", "fingerprint": "f"}}, "mine", "mine on y-12ab, seed 3"),  # of before
        (
            {"called": {"model": "CBM-100", "task": "figures, half"}, "fold": {"number": 2, "of": 5}},
            "CBM-100",
            "CBM-100 on figures, half, seed 3, fold 2",
        ),
    ],
)
def test_a_run_is_called_by_model_task_and_seed_or_by_the_names_of_its_study(
    changes: dict[str, object], label: str, title: str, tmp_path: Path
) -> None:
    record(tmp_path, seed=3, **changes)
    assert (RunFolder(tmp_path).label, RunFolder(tmp_path).title) == (label, title)


def test_a_predictions_file_is_called_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_bytes(b"")
    assert RunFolder(tmp_path / "mine.parquet").title == RunFolder(tmp_path / "mine.parquet").label == "mine"


def test_its_dataset_is_found_where_it_was_or_moved_along(tmp_path: Path) -> None:
    small = {"train": 8, "valid": 4, "test": 4, "hard": 4}
    data = write(tmp_path / "old" / "data", "mnlogic", pixels=True, k=3, prop_in_distribution=1.0, splits=small)
    run = tmp_path / "old" / "runs" / "one"
    run.mkdir(parents=True)
    record(run, data=data.place(run))
    assert RunFolder(run).dataset().folder == data.folder
    (tmp_path / "old" / "runs").rename(tmp_path / "runs")  # the run alone has moved
    assert RunFolder(tmp_path / "runs" / "one").dataset().folder == data.folder
    (tmp_path / "runs").rename(tmp_path / "old" / "runs")
    (tmp_path / "old").rename(tmp_path / "new")
    assert RunFolder(tmp_path / "new" / "runs" / "one").dataset().fingerprint == data.fingerprint
    (tmp_path / "new" / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is no longer in .*old/data'; move it back, or train again"):
        RunFolder(tmp_path / "new" / "runs" / "one").dataset()
    write(tmp_path / "new" / "data", "mnlogic", pixels=True, k=3, seed=1, prop_in_distribution=1.0, splits=small)
    with pytest.raises(DataError, match="is no longer the dataset that .* was trained on"):
        RunFolder(tmp_path / "new" / "runs" / "one").dataset()
