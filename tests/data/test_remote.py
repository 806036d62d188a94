"""Datasets at fsspec addresses: the same bytes, fetched by need, checked, and what was fetched is kept."""

import json
import os
import shutil
import sys
from pathlib import Path

import fsspec
import pytest

from assay.config import Settings
from assay.data import NAME, Cluster, Dataset, folder_at, make, recipe_from, refuse_remote
from assay.data.manifest import PLAN
from assay.data.remote import RemotePath
from assay.data.shard import ShardWriter
from assay.errors import ConfigError, DataError, MissingExtra
from tests.pixels import TASK

SMALL = {**TASK, "n": 24, "splits": {"valid": 8, "test": 8, "hard": 8}}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "datasets"
    fsspec.filesystem("memory").store.clear()
    fsspec.filesystem("memory").pseudo_dirs[:] = [""]


@pytest.fixture
def recipe():
    return recipe_from("mnlogic", Settings(SMALL))


@pytest.fixture(params=["memory", "file"])
def address(request, tmp_path):
    return "memory://lab/x" if request.param == "memory" else f"file://{tmp_path}/store/x"


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_bytes_are_those_of_a_local_folder(recipe, address, tmp_path):
    manifest = make(recipe, address, workers=2)
    assert manifest == make(recipe, tmp_path / "near")
    place = folder_at(address)
    names = [str(path).removeprefix(str(place) + "/") for path in place.rglob("*")]
    assert {name: (place / name).read_bytes() for name in names} == files(tmp_path / "near")
    assert make(recipe, address) == manifest  # it is there
    with pytest.raises(DataError, match="holds another dataset"):
        make(recipe_from("mnlogic", Settings({**SMALL, "seed": 1})), address)


def test_splits_are_fetched_when_they_are_asked_for(recipe, address, cache, tmp_path):
    manifest = make(recipe, address)
    dataset = Dataset.open(address)
    kept = cache / manifest["fingerprint"]
    assert dataset.folder == kept and set(files(kept)) == {NAME}
    assert len(dataset["test"]) == 8
    assert set(files(kept)) == {NAME, "test/part-00000.parquet"}
    make(recipe, tmp_path / "near")
    assert dataset["test"].table.equals(Dataset.open(tmp_path / "near")["test"].table)
    dataset.fetch_all()
    assert set(files(kept)) == {NAME, *(f"{split}/part-00000.parquet" for split in (*dataset.split_names, "pairs"))}
    assert Dataset.open(kept).fingerprint == dataset.fingerprint


def test_what_was_fetched_is_not_fetched_again_unless_damaged(recipe, address, cache, monkeypatch):
    kept = cache / make(recipe, address)["fingerprint"]
    Dataset.open(address)["test"]
    asked = []
    read = RemotePath.read_bytes
    monkeypatch.setattr(RemotePath, "read_bytes", lambda self: asked.append(self.name) or read(self))
    Dataset.open(Path(address))["test"]  # as typer gives it, with one slash less
    assert asked == [NAME]
    path = kept / "test" / "part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    Dataset.open(address)["test"]
    assert asked == [NAME, NAME, "part-00000.parquet"]


def test_damage_at_the_source_is_told_and_not_kept(recipe, address, cache):
    kept = cache / make(recipe, address)["fingerprint"]
    shard = folder_at(address) / "test/part-00000.parquet"
    shard.write(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match="does not match its hash"):
        Dataset.open(address)["test"]
    assert not (kept / "test").exists()
    shard.unlink()
    with pytest.raises(DataError, match="there is no .*test/part-00000.parquet"):
        Dataset.open(address)["test"]


def test_making_that_was_stopped_goes_on_and_the_manifest_comes_last(recipe, address, monkeypatch):
    write, made = ShardWriter.write, []

    def stops(self, job, folder):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(job.file)
        return write(self, job, folder)

    monkeypatch.setattr(ShardWriter, "write", stops)
    with pytest.raises(KeyboardInterrupt):
        make(recipe, address)
    place = folder_at(address)
    assert (place / PLAN).exists() and not (place / NAME).exists()
    with pytest.raises(DataError, match="half made"):
        Dataset.open(address)
    monkeypatch.setattr(
        ShardWriter, "write", lambda self, job, folder: made.append(job.file) or write(self, job, folder)
    )
    make(recipe, address)
    assert len(made) == len(set(made)) == 5 and not (place / PLAN).exists()


def test_a_manifest_cannot_make_us_write_elsewhere(recipe, tmp_path, cache):
    from assay.contracts import fingerprint

    make(recipe, f"file://{tmp_path}/x")
    manifest = json.loads((tmp_path / "x" / NAME).read_text())
    manifest["splits"][0]["shards"][0]["file"] = "../../../evil.parquet"
    manifest["fingerprint"] = fingerprint(manifest)
    (tmp_path / "x" / NAME).write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="evil"):
        Dataset.open(f"file://{tmp_path}/x")


def test_a_run_remembers_the_address(recipe, tmp_path, cache):
    from assay.data import permit_remote
    from assay.models import Order, train_run
    from assay.runs import RunFolder

    address = f"file://{tmp_path}/x"
    make(recipe, address)
    quick = Settings({"epochs": 1, "device": "cpu"})
    train_run(Order("dpl", quick, 0, None), Dataset.open(address), tmp_path / "run")
    shutil.rmtree(cache)
    with permit_remote():
        assert RunFolder(tmp_path / "run").dataset()["valid"].fingerprint == Dataset.open(address).fingerprint


def test_what_cannot_be_used_is_said_in_one_line(recipe, monkeypatch):
    with pytest.raises(ConfigError, match="addresses of nowhere:// are not opened"):
        Dataset.open("nowhere://x/y")
    with pytest.raises(DataError, match="no dataset folder 'memory://none'"):
        Dataset.open("memory://none")
    with pytest.raises(ConfigError, match="names no folder"):
        Dataset.open("s3://")
    with pytest.raises(ConfigError, match="only datasets"):
        refuse_remote(Path("s3://bucket/run"))
    with pytest.raises(ConfigError, match="this process only"):
        make(recipe, "memory://x", pool=object())
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingExtra, match="pip install s3fs"):
        Dataset.open("s3://bucket/x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[remote\]'"):
        Dataset.open("s3://bucket/x")


def test_a_cluster_without_ray_names_the_extra(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"a cluster needs ray: pip install '\.\[cluster\]'"):
        Cluster("auto").processors
