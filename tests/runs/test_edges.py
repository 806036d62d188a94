"""Runs at their edges: evidence by split, names, remote data, folders that cannot be used, work that fails."""

import hashlib

import pytest

from assay.contracts import seal_of
from assay.errors import DataError
from assay.runs import RunFolder, check_learned, usage
from assay.runs.seals import sealed


def test_a_folder_below_a_file_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot use folder .*run': "):
        RunFolder(tmp_path / "file" / "run").claim()
    with pytest.raises(DataError, match="holds no finished run"):
        RunFolder(tmp_path / "file" / "run").about()


def test_a_seal_leaves_out_itself_and_the_order_of_keys():
    assert seal_of({"a": 1, "b": 2}) == seal_of({"b": 2, "a": 1, "sha256": "x"}) != seal_of({"a": 1, "b": 3})
    assert len(seal_of({})) == 64


def test_a_name_that_a_study_leaves_out_is_the_models_own(monkeypatch, tmp_path):
    about = {"model": "cbm", "seed": 0, "data": {"folder": "/x/toy", "task": ""}, "called": {"task": ""}}
    monkeypatch.setattr(RunFolder, "about", lambda self: about)
    assert (RunFolder(tmp_path).label, RunFolder(tmp_path).task) == ("cbm", "toy")


def test_the_watcher_ends_when_work_fails(monkeypatch):
    seen = []
    monkeypatch.setattr(usage, "_watch_programs", lambda peaks, done: seen.append(done.wait(5)))
    with pytest.raises(ZeroDivisionError):
        usage.measure_usage(lambda: 1 / 0)
    assert seen == [True]


def test_the_largest_program_counts_and_not_all_of_them_together(monkeypatch):
    clock = iter([2.0, 2.5])
    monkeypatch.setattr(usage.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(usage, "_watch_programs", lambda peaks, done: peaks.extend([3.0, 8.5, 4.0]))
    monkeypatch.setattr(usage, "peak_memory", lambda process: 11.0)
    monkeypatch.setattr(usage, "_reset_peak", lambda: True)
    assert usage.measure_usage(lambda: None) == usage.Usage(0.5, 11.0, 8.5)
    clock = iter([2.0, 2.5])
    monkeypatch.setattr(usage, "_watch_programs", lambda peaks, done: None)
    assert usage.measure_usage(lambda: None) == usage.Usage(0.5, 11.0, 0.0)
    clock = iter([2.0, 2.5])
    monkeypatch.setattr(usage, "peak_memory", lambda process: None)
    assert usage.measure_usage(lambda: None) == usage.Usage(0.5, None, None)


def test_programs_of_every_thread_are_found_and_those_that_are_gone_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(usage, "PROCESSES", tmp_path)
    for process, thread, children in ((1, "1", "5"), (1, "2", "6 7\n"), (6, "6", "8"), (7, "7", "")):
        (tmp_path / str(process) / "task" / thread).mkdir(parents=True)
        (tmp_path / str(process) / "task" / thread / "children").write_text(children)
    (tmp_path / "5" / "task" / "5" / "children").mkdir(parents=True)  # what cannot be read
    assert sorted(usage._descendants(1)) == [5, 6, 7, 8] and list(usage._descendants(8)) == []


def test_every_file_that_was_learned_is_hashed_and_checked(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "program.json").write_bytes(b"{}")
    record = sealed({"a": (1, 2)}, tmp_path)
    assert sorted(record["files"]) == ["model.safetensors", "program.json"] and record["a"] == [1, 2]
    assert record["files"]["program.json"] == hashlib.sha256(b"{}").hexdigest()
    assert record["sha256"] == seal_of(record) != seal_of({**record, "files": {}})
    check_learned(tmp_path, record)
    (tmp_path / "program.json").write_bytes(b"[]")
    with pytest.raises(DataError, match="program.json does not match its hash"):
        check_learned(tmp_path, record)
    (tmp_path / "program.json").unlink()
    with pytest.raises(DataError, match="program.json does not match its hash"):
        check_learned(tmp_path, record)
