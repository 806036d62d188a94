"""Only the given folders are served, by keys; what leads outside is refused."""

import json
import shutil
from pathlib import Path

import pytest

from assay.contracts import fingerprint
from assay.errors import DataError, UnknownName
from assay.viewer.folders import inside, open_shelf


def forged(source: Path, target: Path, change):
    """Copy a dataset and change its manifest so that the fingerprint fits."""
    shutil.copytree(source, target)
    manifest = json.loads((target / "manifest.json").read_text())
    change(manifest)
    manifest["fingerprint"] = fingerprint(manifest)
    (target / "manifest.json").write_text(json.dumps(manifest))
    return target


def test_a_folder_is_searched_for_datasets_and_runs(folder):
    shelf = open_shelf([folder])
    assert list(shelf.datasets) == ["pixels"] and not shelf.broken
    runs = shelf["pixels"].runs
    assert {key: (run.model, run.live) for key, run in runs.items()} == {"good": ("dpl", True), "poor": ("cbm", True)}
    assert set(runs["good"].answers) == {"valid", "test", "hard", "pairs"}


def test_a_run_brings_its_own_dataset(folder):
    assert list(open_shelf([folder / "runs" / "good"]).datasets) == ["pixels"]


def test_two_folders_of_one_name_get_two_keys(folder, tmp_path):
    shutil.copytree(folder / "data" / "pixels", tmp_path / "Pixels")
    assert list(open_shelf([folder / "data" / "pixels", tmp_path / "Pixels"]).datasets) == ["pixels", "pixels-2"]


def test_a_predictions_file_needs_its_dataset(folder, tmp_path):
    answers = shutil.copy(folder / "runs" / "good" / "predictions" / "test.parquet", tmp_path / "mine.parquet")
    run = open_shelf([folder / "data", Path(answers)])["pixels"].run("mine")
    assert not run.live and set(run.answers) == {"test"}
    with pytest.raises(DataError, match="give its folder too"):
        open_shelf([Path(answers)])


@pytest.mark.parametrize("file", ["../../outside.parquet", "/etc/hostname"])
def test_a_manifest_that_points_outside_is_refused(folder, tmp_path, file):
    (tmp_path / "outside.parquet").write_bytes(b"")

    def change(manifest):
        manifest["splits"][0]["shards"][0]["file"] = file

    with pytest.raises(DataError, match="lies outside of"):
        open_shelf([forged(folder / "data" / "pixels", tmp_path / "made" / "data", change)])


def test_a_link_that_leads_outside_is_refused(folder, tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(folder / "data" / "pixels", copy)
    shard = next((copy / "test").glob("*.parquet"))
    shard.rename(tmp_path / "outside.parquet")
    shard.symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(DataError, match="lies outside of"):
        open_shelf([copy])


def test_predictions_that_are_a_link_outside_are_refused(folder, tmp_path):
    run = tmp_path / "given" / "run"
    shutil.copytree(folder / "runs" / "good", run)
    answers = run / "predictions" / "test.parquet"
    answers.rename(tmp_path / "outside.parquet")
    answers.symlink_to(tmp_path / "outside.parquet")
    shelf = open_shelf([folder / "data", run])
    assert not shelf["pixels"].runs and "is a link that leads out of" in shelf.broken[0].why


def test_a_folder_that_is_a_link_outside_is_not_searched(folder, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "link").symlink_to(folder / "data" / "pixels")
    with pytest.raises(DataError, match="no dataset or run"):
        open_shelf([tmp_path / "given"])
    assert open_shelf([tmp_path / "given" / "link"]).datasets  # the user may give a link


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a b"])
def test_a_split_with_an_odd_name_is_refused(folder, tmp_path, name):
    def change(manifest):
        manifest["splits"][0]["name"] = name

    with pytest.raises(DataError, match="odd name"):
        open_shelf([forged(folder / "data" / "pixels", tmp_path / "data", change)])


def test_what_is_broken_is_left_out_and_told(folder, tmp_path):
    shutil.copytree(folder / "data" / "pixels", tmp_path / "broken")
    next((tmp_path / "broken" / "test").glob("*.parquet")).write_bytes(b"x")
    shelf = open_shelf([folder, tmp_path])
    assert list(shelf.datasets) == ["pixels"] and "it is damaged" in shelf.broken[0].why
    with pytest.raises(DataError, match="it is damaged"):
        open_shelf([tmp_path])


def test_nothing_to_show_is_one_line(tmp_path):
    with pytest.raises(DataError, match="no folder"):
        open_shelf([tmp_path / "nowhere"])
    with pytest.raises(DataError, match="no dataset or run in .*make one: assay make"):
        open_shelf([tmp_path])


def test_unknown_keys_are_told_apart(folder):
    shelf = open_shelf([folder])
    for ask in (lambda: shelf["pixel"], lambda: shelf["pixels"].run("god"), lambda: shelf["pixels"].split("tset")):
        with pytest.raises(UnknownName, match="did you mean"):
            ask()


def test_inside_is_about_the_file_and_not_its_name(tmp_path):
    assert inside(tmp_path, "a/../b") == tmp_path.resolve() / "b"
    (tmp_path / "x-evil").mkdir()
    with pytest.raises(DataError):
        inside(tmp_path / "x", "../x-evil/file")
