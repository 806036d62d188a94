"""Runs at their edges: evidence by split, names, remote data, folders that cannot be used, work that fails."""

import pytest

from assay.errors import DataError
from assay.runs import evidence, folder, usage
from assay.runs.folder import RunFolder, seal_of


def test_evidence_is_of_every_split_in_order(monkeypatch):
    monkeypatch.setattr(RunFolder, "all_predictions", lambda self, knowledge: {"test": 1, "ood": 2})
    monkeypatch.setattr(evidence, "gather_from", lambda data, found: (data.name, found))
    data = type("Data", (), {"knowledge": None, "name": "d"})()
    assert list(evidence.evidence_of(RunFolder("run"), data).items()) == [("test", ("d", 1)), ("ood", ("d", 2))]


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


def test_remote_data_is_opened_where_it_is(monkeypatch, tmp_path):
    data = {"folder": "s3://bucket/toy", "fingerprint": "ff", "from_run": "../toy"}
    monkeypatch.setattr(RunFolder, "about", lambda self: {"data": data})
    monkeypatch.setattr(folder, "folder_at", lambda place: f"at {place}")
    opened = []

    def open_it(place):
        opened.append(place)
        return type("Data", (), {"fingerprint": "ff"})()

    monkeypatch.setattr(folder.Dataset, "open", open_it)
    RunFolder(tmp_path).dataset()
    assert opened == ["at s3://bucket/toy"]


def test_the_watcher_ends_when_work_fails(monkeypatch):
    seen = []
    monkeypatch.setattr(usage, "_watch_programs", lambda peaks, done: seen.append(done.wait(5)))
    with pytest.raises(ZeroDivisionError):
        usage.measure_usage(lambda: 1 / 0)
    assert seen == [True]
