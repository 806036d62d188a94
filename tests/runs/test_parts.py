"""A run's folder, edge by edge: what may be claimed, how it is called, which predictions come first, what it took."""

import json
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.contracts import seal_of
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.runs import (
    RunFolder,
    check_dataset,
    check_learned,
    read_other_rule,
    split_for,
    under_rule,
    units_of,
    usage,
    write_pairs,
    write_record,
    writing,
)
from assay.runs import folder as folders
from assay.runs.seals import sealed
from tests.leftovers import hidden, leave_file

ABOUT = {
    "model": "cbm",
    "seed": 3,
    "config": {},
    "data": {"folder": "/x/toy", "fingerprint": "ff"},
    "knowledge": {},
    "layout": {},
}


def finished(folder, **more):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps({**ABOUT, **more}))
    return RunFolder(folder)


def test_a_folder_is_claimed_unless_it_holds_something_else(tmp_path):
    RunFolder(tmp_path / "new" / "run").claim()
    assert (tmp_path / "new" / "run").is_dir()
    for name in (
        "checkpoint.safetensors",
        ".hidden",
        "history.json",
        "usage.json",
        "model.safetensors",
        "program.json",
        "input.json",
    ):
        (tmp_path / "new" / "run" / name).touch()
    RunFolder(tmp_path / "new" / "run").claim()
    (tmp_path / "new" / "run" / "mine.txt").touch()
    with pytest.raises(DataError, match="holds other files; choose another folder"):
        RunFolder(tmp_path / "new" / "run").claim()
    with pytest.raises(DataError, match="holds a finished run"):
        finished(tmp_path / "done").claim()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="is a file, not a folder"):
        RunFolder(tmp_path / "file").claim()
    RunFolder(tmp_path / "new" / "run").release()
    assert (tmp_path / "new" / "run").exists()
    (tmp_path / "empty").mkdir()
    RunFolder(tmp_path / "empty").release()
    assert not (tmp_path / "empty").exists()


def test_what_a_run_is_called(tmp_path):
    plain = finished(tmp_path / "a")
    assert (plain.label, plain.task, plain.title, plain.is_finished) == ("cbm", "toy", "cbm on toy, seed 3", True)
    named = finished(tmp_path / "b", called={"model": "mine", "task": "ours"}, fold={"number": 2})
    assert (named.label, named.task, named.title) == ("mine", "ours", "mine on ours, seed 3, fold 2")
    assert finished(tmp_path / "c", data={"folder": "/x/toy", "fingerprint": "f", "task": "sums"}).task == "sums"
    (tmp_path / "said.parquet").touch()
    file = RunFolder(tmp_path / "said.parquet")
    assert (file.label, file.task, file.title) == ("said", "", "said") and not file.is_finished
    assert plain.predictions("ood") == tmp_path / "a" / "predictions" / "ood.parquet"


def test_damaged_records_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no finished run \(no run.json\)"):
        RunFolder(tmp_path).about()
    for lacking in ABOUT:
        run = finished(tmp_path / lacking)
        (run.folder / "run.json").write_text(json.dumps({key: value for key, value in ABOUT.items() if key != lacking}))
        with pytest.raises(DataError, match="is damaged; train again"):
            run.about()
    for text in ("{", "[]"):
        (tmp_path / "model" / "run.json").write_text(text)
        with pytest.raises(DataError, match="is damaged"):
            RunFolder(tmp_path / "model").about()
    sealed_run = {**ABOUT, "sha256": seal_of(ABOUT)}
    assert finished(tmp_path / "s", **sealed_run).about() == ABOUT
    for change in ({"sha256": "0"}, {"files": {}}, {**sealed_run, "seed": 4}):
        with pytest.raises(DataError, match="is damaged"):
            finished(tmp_path / "s", **{**change}).about()


def test_test_comes_first(tmp_path, monkeypatch):
    (tmp_path / "predictions").mkdir()
    for name in ("valid", "other", "hard", "ood_2", "ood", "pairs", "test_1", "another"):
        (tmp_path / "predictions" / f"{name}.parquet").touch()
    monkeypatch.setattr(folders, "read_predictions", lambda path, knowledge, sizes: path.stem)
    assert list(RunFolder(tmp_path).all_predictions(None)) == [
        "test_1",
        "ood",
        "ood_2",
        "hard",
        "valid",
        "another",
        "other",
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no predictions; make some: assay predict"):
        RunFolder(tmp_path / "empty").all_predictions(None)
    with pytest.raises(DataError, match="no run or predictions file"):
        RunFolder(tmp_path / "none").all_predictions(None)


def test_a_dataset_is_found_where_it_was_or_beside_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(
        folders.Dataset,
        "open",
        lambda folder: SimpleNamespace(folder=folder, fingerprint="ff" if "odd" not in str(folder) else "gg"),
    )
    (tmp_path / "there").mkdir()
    assert (
        finished(tmp_path / "a", data={"folder": str(tmp_path / "there"), "fingerprint": "ff", "from_run": "../moved"})
        .dataset()
        .folder
        == tmp_path / "there"
    )
    gone = {"folder": str(tmp_path / "gone"), "fingerprint": "ff", "from_run": "../moved"}
    with pytest.raises(DataError, match="is no longer in .*gone'; move it back, or train again"):
        finished(tmp_path / "b", data=gone).dataset()
    (tmp_path / "moved").mkdir()
    assert finished(tmp_path / "b", data=gone).dataset().folder.resolve() == tmp_path / "moved"
    (tmp_path / "odd").mkdir()
    with pytest.raises(DataError, match="is no longer the dataset that"):
        finished(tmp_path / "c", data={"folder": str(tmp_path / "odd"), "fingerprint": "ff"}).dataset()


def test_seals_are_of_what_was_learned(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "other.txt").write_bytes(b"x")
    record = sealed({"a": 1}, tmp_path)
    assert (
        set(record) == {"a", "files", "sha256"}
        and list(record["files"]) == ["model.safetensors"]
        and record["sha256"] == seal_of(record)
    )
    check_learned(tmp_path, record)
    check_learned(tmp_path, {})
    check_learned(tmp_path, {"files": {"unknown": "0"}})
    (tmp_path / "model.safetensors").write_bytes(b"other")
    with pytest.raises(DataError, match="the weights in .* cannot be read: model.safetensors does not match its hash"):
        check_learned(tmp_path, record)
    with pytest.raises(DataError, match="what .* has learned cannot be read: program.json"):
        check_learned(tmp_path, {"files": {"program.json": "0"}})


# writing


def test_pairs_are_predicted_where_there_are_some(tmp_path):
    written = []
    said = SimpleNamespace(index=[1, 2, 3], write=lambda path, knowledge: written.append(path))
    data = type("Data", (dict,), {"pairs": {"split": "test"}, "why_no_pairs": "why", "knowledge": None})(pairs="rows")
    assert write_pairs(lambda rows: said, data, RunFolder(tmp_path)) == "3 of split test" and written == [
        tmp_path / "predictions" / "pairs.parquet"
    ]

    def refuse(rows):
        raise DataError("no pictures")

    assert write_pairs(refuse, data, RunFolder(tmp_path)) == "none: no pictures"
    data.pairs = None
    assert write_pairs(refuse, data, RunFolder(tmp_path)) == "none: why" and len(written) == 1


def test_a_record_is_written_last_and_sealed(tmp_path):
    leave_file(tmp_path / "x")
    data = SimpleNamespace(place=lambda folder: {"folder": "d", "fingerprint": "ff"}, fingerprint="gg", folder="other")
    write_record(RunFolder(tmp_path), data, {**ABOUT, "seed": 5})
    assert RunFolder(tmp_path).about()["seed"] == 5 and RunFolder(tmp_path).about()["data"] == {
        "folder": "d",
        "fingerprint": "ff",
    }
    assert not hidden(tmp_path)
    with pytest.raises(DataError, match="was trained on a dataset with fingerprint ff, 'other' has gg"):
        check_dataset(RunFolder(tmp_path), data)
    data.fingerprint = "ff"
    check_dataset(RunFolder(tmp_path), data)
    assert (
        split_for({"train": 1, "train_1": 1}, "train") == "train"
        and split_for({"train_1": 1}, "train") == "train_1"
        and split_for({}, "train") == "train"
    )
    assert writing.RUN == "run.json"


# what a run took


def test_the_peak_of_memory_is_read_from_the_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(usage, "PROCESSES", tmp_path)
    for process, status, children in (
        (1, "VmPeak: 9 kB\nVmHWM:\t  2048 kB\n", "2 3"),
        (2, "VmHWM: 512 kB\n", "4"),
        (3, "Name: x\n", ""),
        (4, "VmHWM: 4096 kB\n", ""),
    ):
        (tmp_path / str(process) / "task" / "7").mkdir(parents=True)
        (tmp_path / str(process) / "status").write_text(status)
        (tmp_path / str(process) / "task" / "7" / "children").write_text(children)
    assert [usage.peak_memory(process) for process in (1, 2, 3, 9)] == [2.0, 0.5, None, None]
    assert list(usage._descendants(1)) == [2, 4, 3]
    peaks, done = [0.0], threading.Event()
    waits = iter([False, True])
    monkeypatch.setattr(usage.os, "getpid", lambda: 1)
    usage._watch_programs(peaks, SimpleNamespace(wait=lambda pause: next(waits)))
    assert peaks == [0.0, 0.5, 4.0, 0.0] and not done.is_set()
    assert usage._reset_peak() is False
    (tmp_path / "self").mkdir()
    assert usage._reset_peak() is True and (tmp_path / "self" / "clear_refs").read_bytes() == b"5"


def test_work_is_measured(monkeypatch):
    clock = iter([5.0, 7.5])
    monkeypatch.setattr(usage.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(usage, "_watch_programs", lambda peaks, done: peaks.append(3.0))
    monkeypatch.setattr(usage, "peak_memory", lambda process: 11.0 if process == os.getpid() else None)
    monkeypatch.setattr(usage, "_reset_peak", lambda: True)
    worked = []
    assert usage.measure_usage(lambda: worked.append(1)) == usage.Usage(2.5, 11.0, 3.0) and worked == [1]
    clock = iter([5.0, 6.0])
    monkeypatch.setattr(usage, "_reset_peak", lambda: False)
    assert usage.measure_usage(lambda: None) == usage.Usage(1.0, None, None)


# units and other rules


def test_units_are_whole_or_refused(tmp_path):
    unit = dict.fromkeys(("unit", "name", "value", "matched", "direction", "f1", "share", "rows", "has"), 0)
    assert units_of(tmp_path) is None
    (tmp_path / "units.json").write_text(json.dumps({"split": "test", "units": [unit], "more": 1}))
    assert units_of(tmp_path) == {"split": "test", "units": [unit]}
    lacking = {key: value for key, value in unit.items() if key != "has"}
    for content in (
        {"split": 3, "units": [unit]},
        {"split": "test", "units": [lacking]},
        {"units": []},
        {"split": "test", "units": 3},
        [],
    ):
        (tmp_path / "units.json").write_text(json.dumps(content))
        with pytest.raises(DataError, match="units.json of .* cannot be read"):
            units_of(tmp_path)


SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2))))


def test_labels_under_another_rule(tmp_path):
    old, new = Knowledge.of(SPACE, {"y": "a > b"}), Knowledge.of(SPACE, {"z": "a + b", "w": "a == 0"})
    concepts, said = np.array([[2, 1], [0, -1], [0, 2], [1, 1]]), np.array([[2, 0], [0, 0], [0, -1], [2, 1]])
    found = Evidence(
        old,
        "test",
        np.array([[1], [0], [0], [0]]),
        concepts,
        np.array([[1], [0], [0], [1]]),
        said,
        (None,),
        (None, None),
    )
    other = under_rule(found, new)
    assert other.labels.tolist() == [[3, 0], [2, 1], [2, 0]] and other.predicted_labels.tolist() == [
        [2, 0],
        [-1, -1],
        [3, 0],
    ]
    assert (
        other.label_probabilities == (None, None)
        and other.knowledge is new
        and other.concepts.tolist() == concepts[[0, 2, 3]].tolist()
    )
    kept = under_rule(found, Knowledge.of(SPACE, {"y": "a < b"}), only_predicted=True)
    assert kept.labels.tolist() == [[1], [0], [0]] and kept.predicted_labels.tolist() == [[0], [-1], [0]]
    silent = Evidence(
        old, "test", found.labels, concepts, found.predicted_labels, np.full_like(said, -1), (None,), (None, None)
    )
    with pytest.raises(ConfigError, match="a model that says no concepts has no labels under another rule"):
        under_rule(silent, new)
    (tmp_path / "rule.yaml").write_text("labels: {z: a == 1}\n")
    assert read_other_rule(tmp_path / "rule.yaml", old).label_names == ("z",)
    for text in ("constraints: {c: a == 1}\n", "labels: {}\n", "labels: [a]\n"):
        (tmp_path / "rule.yaml").write_text(text)
        with pytest.raises(ConfigError, match="gives no formula for a label; write labels"):
            read_other_rule(tmp_path / "rule.yaml", old)
