"""The manifest of a dataset: it lists every shard, and one of a stranger names no file elsewhere."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from assay.base import DataError, Settings
from assay.contracts import PAIRS, fingerprint
from assay.dataset import Dataset, Recipe, make, read_manifest, recipe_from, refresh_pairs, task_of
from assay.runs import RunFolder
from tests.leftovers import hidden, leave_file

SIZES = {"train": 10, "valid": 3, "test": 6, "hard": 0}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A dataset whose shards have four rows."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recipe, "shard_rows", 4)  # a limit: so that there are several shards
        settings = {"k": 3, "pixels": True, "prop_in_distribution": 1.0, "splits": {**SIZES, "pairs": 6}}
        make(recipe_from("mnlogic", Settings(settings)), folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "data")
    return tmp_path / "data"


def test_it_lists_every_shard_and_counts_labels_and_regions_over_them(folder):
    manifest = read_manifest(folder).to_dict()
    listed = [(shard.file, shard.rows) for shard in read_manifest(folder).shards]
    names = {"train": (4, 4, 2), "valid": (3,), "test": (4, 2), PAIRS: (4, 2)}
    assert listed == [
        (f"{name}/part-{n:05d}.parquet", rows) for name, parts in names.items() for n, rows in enumerate(parts)
    ]
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet")) == sorted(
        file for file, _ in listed
    )
    assert (manifest[PAIRS]["size"], manifest[PAIRS]["split"], manifest[PAIRS]["asked"]) == (6, "test", 6)
    assert manifest["left_out"] == ["hard"]
    for entry in manifest["splits"]:
        data = Dataset.open(folder)[entry["name"]]
        assert data.index.tolist() == list(range(entry["size"]))
        counts = np.bincount(data.labels[:, 0], minlength=2).tolist()
        assert entry["labels"] == {"y": {str(bool(code)): count for code, count in enumerate(counts) if count}}
        texts = data.table["boundary_y"].to_pylist()
        assert texts == data.knowledge.boundaries[0].tags(data.concepts)
        tags = [tag for text in texts for tag in text.split("; ")]
        assert entry["boundary"] == {"y": {tag: tags.count(tag) for tag in tags}}
        paths = [cell["path"] for cell in data.full_table()["image"].to_pylist()]
        assert paths == [f"{entry['name']}-{row}.png" for row in range(entry["size"])]


def test_pairs_of_a_finished_dataset_are_drawn_anew_and_may_be_taken_away(folder):
    leave_file(folder / "left")
    data, before = Dataset.open(folder), read_manifest(folder).to_dict()
    first = Dataset.open(folder)[PAIRS].pngs
    counts = []
    manifest = refresh_pairs(data, task_of(data), 5, counts.append).to_dict()
    assert manifest[PAIRS]["size"] == manifest[PAIRS]["asked"] == 5 == sum(counts) and not hidden(folder)
    assert Dataset.open(folder)[PAIRS].pngs == first[:5] and manifest["fingerprint"] == before["fingerprint"]
    assert refresh_pairs(Dataset.open(folder), task_of(data)).pairs.asked == 5  # as many as before
    none = refresh_pairs(Dataset.open(folder), task_of(data), 0)
    assert none.pairs.size == 0 and not list((folder / PAIRS).glob("*.parquet"))


def rewritten(folder, change):
    manifest = read_manifest(folder).to_dict()
    change(manifest)
    manifest["fingerprint"] = fingerprint(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def refused(folder, why):
    with pytest.raises(DataError, match=why) as caught:
        Dataset.open(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "file", ["../x", "/etc/x", "a/../x", "x", "a/b/c", ".a/x", "a/.x", "test/a b", "test/a/", "a/..", "a\\..\\x/y"]
)
@pytest.mark.parametrize("place", ["train", PAIRS])
def test_no_file_lies_outside_of_the_folder_of_its_split(file, place, folder):
    rewritten(
        folder,
        lambda manifest: (manifest["splits"][0] if place == "train" else manifest[PAIRS])["shards"][0].update(
            file=file
        ),
    )
    refused(folder, re.escape(f"names the file {file!r}, which lies outside of its folder"))


@pytest.mark.parametrize("name", ["../a", "", ".a", "a b", "-a", "te/st"])
def test_splits_with_odd_names_are_refused(name, folder):
    rewritten(folder, lambda manifest: manifest["splits"][0].update(name=name))
    refused(folder, re.escape(f"has a split with the odd name {name!r}"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda manifest: manifest.update(format=2), "is of format 2, this assay reads format 1"),
        (lambda manifest: manifest["splits"][0]["shards"][0].pop("file"), "changed by hand"),
        (lambda manifest: manifest.pop("layout"), "is damaged"),
    ],
)
def test_what_is_not_as_it_was_written_is_refused(change, why, folder):
    manifest = read_manifest(folder).to_dict()
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, why)


OLD = Path(__file__).parent.parent / "old_files"


def exact(value):
    return json.dumps(value, sort_keys=True)  # 1 and 1.0 are other bytes, and so another fingerprint


@pytest.mark.parametrize("path", sorted(OLD.rglob("manifest.json")), ids=lambda path: str(path.parent.relative_to(OLD)))
def test_what_is_read_is_written_as_it_was(path):
    assert exact(read_manifest(path.parent).to_dict()) == exact(json.loads(path.read_text()))


@pytest.mark.parametrize("path", sorted(OLD.rglob("run.json")), ids=lambda path: str(path.parent.relative_to(OLD)))
def test_a_record_of_a_run_is_read_as_it_was_written(path):
    wanted = json.loads(path.read_text())
    assert exact(RunFolder(path.parent).metadata()) == exact({key: wanted[key] for key in wanted if key != "sha256"})


def test_a_share_in_whole_numbers_keeps_its_fingerprint(folder):
    rewritten(folder, lambda manifest: manifest["splits"][0].update(share=[0, 1]))
    whole = read_manifest(folder)
    assert whole.fingerprint == fingerprint(whole.but(seed=whole.seed).to_dict())
