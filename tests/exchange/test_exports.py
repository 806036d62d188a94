"""Datasets in the files of other programs: the registry, and a folder that is whole or not there."""

import json

import pytest

from assay.base import DataError, Entry, Settings, UnknownName
from assay.dataset import Dataset, Recipe, make
from assay.exchange import EXPORTS, export
from tests.cli.conftest import assay

__all__ = ["assay"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "digits"
    make(Recipe("mnadd", Settings(), sizes=(("train", 4), ("valid", 0), ("test", 4), ("hard", 0))), folder)
    return Dataset.open(folder)


def test_every_export_can_be_loaded():
    assert "prolog" in EXPORTS
    for name in EXPORTS:
        assert callable(EXPORTS[name])


def test_an_exporter_that_fails_halfway_leaves_nothing(digits, tmp_path, monkeypatch):
    def broken(dataset, splits, folder):
        (folder / "half.txt").write_text("half")
        raise DataError("no more")

    monkeypatch.setitem(EXPORTS.entries, "broken", Entry("broken", "", broken))
    with pytest.raises(DataError, match="no more"):
        export(digits, "broken", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_overwritten(digits, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="is not an empty folder"):
        export(digits, "prolog", tmp_path / "out")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine.txt"]


def test_unknown_forms_and_splits_are_refused(digits, tmp_path):
    with pytest.raises(UnknownName, match="no export named 'prologue'; did you mean 'prolog'?"):
        export(digits, "prologue", tmp_path / "out")
    with pytest.raises(UnknownName, match="no split named 'tset'; did you mean 'test'?"):
        export(digits, "prolog", tmp_path / "out", ["tset"])


def test_the_verb_writes_and_tells(assay, digits, tmp_path):
    told = assay("export", digits.folder, "--to", "prolog", "-o", tmp_path / "out", "--split", "test", "--json")
    assert told.status == 0 and json.loads(told.out)["splits"] == {"test": 4}
    record = json.loads((tmp_path / "out" / ".export.json").read_text())
    assert (
        record["form"] == "prolog" and record["fingerprint"] == digits.fingerprint and record["splits"] == {"test": 4}
    )
    assert "4" in assay("export", digits.folder, "--to", "prolog", "-o", tmp_path / "more", "--split", "test").out
    again = assay("export", digits.folder, "--to", "prolog", "-o", tmp_path / "out")
    assert "is not an empty folder; choose another" in again.error
    assert "prolog" in assay("list", "exports").out
