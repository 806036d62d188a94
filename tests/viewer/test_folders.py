"""Only the given folders are served, by keys; what leads outside is refused; what is damaged is one line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.base import DataError
from tests.viewer.forging import divide, forged


def refused(*folders, why):
    with pytest.raises(DataError, match=why):
        assay.view(*folders)


def shelf(viewer):
    """Return what is served: the keys of runs by those of datasets, and what is broken."""
    found = viewer.get("shelf.json")
    return {one["key"]: {run["key"]: run for run in one["runs"]} for one in found["datasets"]}, found["broken"]


def test_a_folder_is_searched_for_datasets_and_runs(viewer):
    found, broken = shelf(viewer)
    assert list(found) == ["pixels"] and not broken
    runs = {key: (run["model"], run["live"]) for key, run in found["pixels"].items()}
    assert runs == {"good": ("dpl", True), "poor": ("cbm", True)}
    assert set(found["pixels"]["good"]["splits"]) == {"valid", "test", "hard", "pairs"}


def test_a_run_brings_its_own_dataset(folder, opened):
    assert list(shelf(opened(folder / "runs" / "good"))[0]) == ["pixels"]


def test_keys_are_plain_and_differ_and_titles_tell_datasets_apart(folder, opened, tmp_path):
    for name in ("Pixels", "My Data_2 (new)!"):
        shutil.copytree(folder / "data" / "pixels", tmp_path / name)
    viewer = opened(folder / "data" / "pixels", tmp_path / "Pixels", tmp_path / "My Data_2 (new)!")
    found = viewer.get("shelf.json")["datasets"]
    assert [one["key"] for one in found] == ["pixels", "pixels-2", "my-data-2-new"]
    assert [one["title"] for one in found] == ["pixels", "pixels-2", "my-data-2-new"]  # all are of task mnlogic


def test_runs_have_names_as_short_as_tell_them_apart(viewer, opened, folder, tmp_path):
    found = {key: run["short"] for key, run in shelf(viewer)[0]["pixels"].items()}
    assert found == {"good": "dpl", "poor": "cbm"}
    shutil.copytree(folder / "runs" / "good", tmp_path / "twin")
    found = {key: run["short"] for key, run in shelf(opened(folder, tmp_path / "twin"))[0]["pixels"].items()}
    assert found == {"good": "good", "poor": "cbm", "twin": "twin"}


def test_folders_are_searched_three_deep_and_hidden_ones_not(folder, opened, tmp_path):
    for name in ("a/b/three", "a/b/c/four", ".hidden"):
        shutil.copytree(folder / "runs" / "good", tmp_path / name)
    assert list(shelf(opened(folder / "data", tmp_path))[0]["pixels"]) == ["three"]


def test_a_predictions_file_needs_its_dataset(folder, opened, tmp_path):
    answers = shutil.copy(folder / "runs" / "good" / "predictions" / "test.parquet", tmp_path / "mine.parquet")
    run = shelf(opened(folder / "data", Path(answers)))[0]["pixels"]["mine"]
    assert not run["live"] and run["splits"] == ["test"]
    refused(Path(answers), why="give its folder too")
    pq.write_table(pa.table({"fingerprint": pa.array([], pa.string()), "split": []}), tmp_path / "empty.parquet")
    _, (broken,) = shelf(opened(folder / "data", tmp_path / "empty.parquet"))
    assert "is no predictions file" in broken["why"]


@pytest.mark.parametrize("file", ["../../outside.parquet", "/etc/hostname"])
def test_a_manifest_that_points_outside_is_refused(folder, tmp_path, file):
    (tmp_path / "outside.parquet").write_bytes(b"")

    def change(manifest):
        manifest["splits"][0]["shards"][0]["file"] = file

    refused(forged(folder / "data" / "pixels", tmp_path / "made" / "data", change), why="lies outside of")


def test_a_link_that_leads_outside_is_refused(folder, tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(folder / "data" / "pixels", copy)
    shard = next((copy / "test").glob("*.parquet"))
    shard.rename(tmp_path / "outside.parquet")
    shard.symlink_to(tmp_path / "outside.parquet")
    refused(copy, why="lies outside of")


def test_predictions_that_are_a_link_outside_are_refused(folder, opened, tmp_path):
    run = tmp_path / "given" / "run"
    shutil.copytree(folder / "runs" / "good", run)
    answers = run / "predictions" / "test.parquet"
    answers.rename(tmp_path / "outside.parquet")
    answers.symlink_to(tmp_path / "outside.parquet")
    found, (broken,) = shelf(opened(folder / "data", run))
    assert not found["pixels"] and "is a link that leads out of" in broken["why"]


def test_a_folder_that_is_a_link_outside_is_not_searched(folder, opened, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "link").symlink_to(folder / "data" / "pixels")
    refused(tmp_path / "given", why="no dataset or run")
    assert shelf(opened(tmp_path / "given" / "link"))[0]  # the user may give a link


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a b"])
def test_a_split_with_an_odd_name_is_refused(folder, tmp_path, name):
    def change(manifest):
        manifest["splits"][0]["name"] = name

    refused(forged(folder / "data" / "pixels", tmp_path / "data", change), why="odd name")


def test_what_is_broken_is_left_out_and_told(folder, opened, tmp_path):
    shutil.copytree(folder / "data" / "pixels", tmp_path / "broken")
    next((tmp_path / "broken" / "test").glob("*.parquet")).write_bytes(b"x")
    found, (broken,) = shelf(opened(folder, tmp_path))
    assert list(found) == ["pixels"] and "it is damaged" in broken["why"]
    refused(tmp_path, why="it is damaged")


def test_nothing_to_show_is_one_line(tmp_path):
    refused(tmp_path / "nowhere", why="no folder")
    refused(tmp_path, why="no dataset or run in .*make one: assay make")


def test_unknown_keys_are_told_apart(viewer):
    for path in ("data/pixel/test.json", "runs/pixels/god.json", "data/pixels/tset.json"):
        status, found = viewer.told(path)
        assert status == 404 and "did you mean" in found["error"]


@pytest.mark.parametrize(("file", "text"), [("history.json", "["), ("history.json", '{"epochs": [3]}')])
def test_a_damaged_history_is_one_line(folder, opened, tmp_path, file, text):
    shutil.copytree(folder / "runs" / "poor", tmp_path / "run")
    (tmp_path / "run" / file).write_text(text)
    viewer = opened(folder / "data", tmp_path / "run")
    assert viewer.why_not("runs/pixels/run.json") == f"{file} of 'run' cannot be read"


def test_answers_about_other_data_are_refused(folder, opened, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(folder / "runs" / "poor", run)
    shutil.copy(run / "predictions" / "valid.parquet", run / "predictions" / "test.parquet")
    viewer = opened(folder / "data", run)
    query = [("run", "run"), ("outcome", "wrong")]
    assert "are about other data" in viewer.why_not("data/pixels/test.json", query)


def test_pages_read_no_pictures_and_a_picture_only_its_own_file(folder, data, opened, tmp_path):
    """So that a hundred thousand samples take a moment: what is not needed may be damaged without anyone noticing."""
    parts = divide(shutil.copytree(folder / "data" / "pixels", tmp_path / "data"), (16,) * 4)
    viewer = opened(parts)
    for number in range(4):
        path = parts / "test" / f"part-{number}.parquet"
        group = pq.ParquetFile(path).metadata.row_group(0)
        columns = [group.column(place) for place in range(group.num_columns)]
        held = bytearray(path.read_bytes())
        for column in columns:
            if number != 2 and column.path_in_schema.startswith("image"):
                first = column.data_page_offset
                held[first : first + column.total_compressed_size] = b"\xff" * column.total_compressed_size
        path.write_bytes(held)
    truth = data["test"]
    assert viewer.rows("test", key="data") == list(range(64))
    assert viewer.rows("test", [("label", "y:1")], "data") == np.flatnonzero(truth.labels[:, 0] == 1).tolist()
    assert [viewer.get(f"data/data/test/{row}.json")["index"] for row in (0, 15, 16, 63)] == truth.index[
        [0, 15, 16, 63]
    ].tolist()
    for row in (32, 47):
        assert viewer.ask(f"/api/data/data/test/{row}/image.png")[2] == truth.pngs[row]
    status, _, body = viewer.ask("/api/data/data/test/31/image.png")
    assert status == 400 and json.loads(body)["error"].startswith("part-1.parquet cannot be read: ")
