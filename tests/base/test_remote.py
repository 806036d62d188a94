"""Datasets at fsspec addresses: the same bytes, fetched by need, checked, and what was fetched is kept."""

import json
import re
import shutil
import sys
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from assay.base import (
    ConfigError,
    DataError,
    MissingExtra,
    Settings,
    folder_at,
    is_remote,
    permit_remote,
    refuse_remote,
)
from assay.contracts import fingerprint
from assay.dataset import NAME, Dataset, make, recipe_from
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
    kept = cache / manifest.fingerprint
    assert dataset.folder == kept and set(files(kept)) == {NAME}
    assert len(dataset["test"]) == 8
    assert set(files(kept)) == {NAME, "test/part-00000.parquet"}
    make(recipe, tmp_path / "near")
    assert dataset["test"].table.equals(Dataset.open(tmp_path / "near")["test"].table)
    dataset.fetch_all()
    assert set(files(kept)) == {NAME, *(f"{split}/part-00000.parquet" for split in (*dataset.split_names, "pairs"))}
    assert Dataset.open(kept).fingerprint == dataset.fingerprint


def test_what_was_fetched_is_not_fetched_again_unless_damaged(recipe, cache, monkeypatch):
    address = "memory://lab/x"
    kept = cache / make(recipe, address).fingerprint
    Dataset.open(address)["test"]
    asked = []
    store = type(fsspec.filesystem("memory"))
    read = store.cat_file
    monkeypatch.setattr(
        store, "cat_file", lambda self, path, *more: asked.append(Path(path).name) or read(self, path, *more)
    )
    Dataset.open(Path(address))["test"]  # as typer gives it, with one slash less
    assert asked == [NAME]
    path = kept / "test" / "part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    Dataset.open(address)["test"]
    assert asked == [NAME, NAME, "part-00000.parquet"]


def test_damage_at_the_source_is_told_and_not_kept(recipe, address, cache):
    kept = cache / make(recipe, address).fingerprint
    shard = folder_at(address) / "test/part-00000.parquet"
    shard.write(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match="does not match its hash"):
        Dataset.open(address)["test"]
    assert not (kept / "test").exists()
    shard.unlink()
    with pytest.raises(DataError, match="there is no .*test/part-00000.parquet"):
        Dataset.open(address)["test"]


def test_making_that_was_stopped_goes_on_and_the_manifest_comes_last(recipe, address):
    seen = []

    def stop(rows):
        seen.append(rows)
        if len(seen) == 3:  # what was there, and two shards
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(recipe, address, progress=stop)
    place = folder_at(address)
    assert not (place / NAME).exists()
    with pytest.raises(DataError, match="half made"):
        Dataset.open(address)
    before, seen = sum(seen), []
    make(recipe, address, progress=seen.append)
    assert seen[0] == before > 0 and (place / NAME).exists()
    assert not [path for path in place.rglob("*") if path.name.startswith(".")]


def test_a_manifest_cannot_make_us_write_elsewhere(recipe, tmp_path, cache):
    make(recipe, f"file://{tmp_path}/x")
    manifest = json.loads((tmp_path / "x" / NAME).read_text())
    manifest["splits"][0]["shards"][0]["file"] = "../../../evil.parquet"
    manifest["fingerprint"] = fingerprint(manifest)
    (tmp_path / "x" / NAME).write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="evil"):
        Dataset.open(f"file://{tmp_path}/x")


def test_a_run_remembers_the_address(recipe, tmp_path, cache):
    from assay.models import TrainSpec, train_run
    from assay.runs import RunFolder

    address = f"file://{tmp_path}/x"
    make(recipe, address)
    quick = Settings({"epochs": 1, "device": "cpu"})
    train_run(TrainSpec("dpl", quick, 0, None), Dataset.open(address), tmp_path / "run")
    shutil.rmtree(cache)
    with permit_remote():
        assert RunFolder(tmp_path / "run").dataset()["valid"].fingerprint == Dataset.open(address).fingerprint


def test_what_cannot_be_used_is_said_in_one_line(recipe, monkeypatch):
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


# -- addresses ---------------------------------------------------------------------------------------------------------


def test_an_address_does_what_a_path_does(address):
    place = folder_at(address)
    file = place / "deep" / "a.txt"
    assert (file.name, str(file)) == ("a.txt", f"{place}/deep/a.txt") and not place.exists() and not file.is_file()
    file.write("é1".encode())
    (place / "b.json").write(b"{}")
    assert file.read_text() == "é1" and file.read_bytes() == b"\xc3\xa91"
    assert file.exists() and file.is_file() and not file.is_dir() and place.is_dir() and not place.is_file()
    with file.open("rb") as handle:
        assert handle.read(2) == b"\xc3\xa9"
    assert sorted(path.name for path in place.iterdir()) == ["b.json", "deep"]
    assert sorted(map(str, place.rglob("*"))) == [f"{place}/b.json", f"{place}/deep/a.txt"]
    assert [str(path) for path in place.rglob("*.txt")] == [f"{place}/deep/a.txt"]
    (place / "new").mkdir()
    (place / "new").mkdir()
    file.write(b"again")
    assert file.read_bytes() == b"again" and not list(place.rglob("*.tmp"))
    file.unlink()
    file.unlink(missing_ok=True)
    for gone in (file.unlink, file.read_bytes):
        with pytest.raises(DataError, match=f"there is no '{place}/deep/a.txt'"):
            gone()


def test_addresses_are_put_right(tmp_path):
    told = {
        "s3:/bucket/x//": "s3://bucket/x", "hf://a/b/": "hf://datasets/a/b", "hf://datasets/a/b": "hf://datasets/a/b",
        "hf://datasetsfan/b": "hf://datasets/datasetsfan/b", "hf://me/data@v1:2": "hf://datasets/me/data@v1:2",
        "sftp://me@host/x:y": "sftp://me@host/x:y", "github://org:repo@main/x": "github://org:repo@main/x",
        "abfs://box@account.dfs.core.windows.net/x": "abfs://box@account.dfs.core.windows.net/x",
    }  # fmt: skip
    assert {text: str(folder_at(text)) for text in told} == told
    assert folder_at(str(tmp_path)) == tmp_path and refuse_remote(None) is None and refuse_remote(tmp_path) == tmp_path
    assert [text for text in ("c:/x", "S3://x", "1s://x", "s3:x", "s3a://x", "a+b:/x") if is_remote(text)] == [
        "s3a://x",
        "a+b:/x",
    ]


@pytest.mark.parametrize("scheme", ["http", "ftp", "webhdfs", "reference", "github", "nowhere"])
def test_other_protocols_are_refused_unless_the_environment_names_them(scheme, monkeypatch):
    monkeypatch.delenv("ASSAY_PROTOCOLS", raising=False)
    with pytest.raises(ConfigError, match="are not opened; allowed are abfs, .*, hf, https, memory, s3"):
        Dataset.open(f"{scheme}://127.0.0.1:1/data")
    with pytest.raises(ConfigError, match="holds another address inside"):
        folder_at(f"memory://x::{scheme}://127.0.0.1/y").exists()
    monkeypatch.setenv("ASSAY_PROTOCOLS", "local, sftp")
    assert folder_at("local:///nowhere/at/all").exists() is False


@pytest.mark.parametrize(
    "address", ["https://me:secret@host/data", "s3://key:secret@bucket/data", "sftp://:secret@h/x"]
)
def test_a_password_in_an_address_is_refused_without_showing_it(address):
    with pytest.raises(ConfigError, match="must hold no password") as caught:
        Dataset.open(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "error", "kind", "told"),
    [
        ("hf://datasets/a/b", ImportError("no"), MissingExtra, "data at hf:// needs huggingface_hub"),
        ("gs://a/b", ImportError("no"), MissingExtra, "data at gs:// needs: pip install gcsfs"),
        ("https://a/b", ImportError("install aiohttp"), MissingExtra, "data at https:// needs: install aiohttp"),
        ("s3://a/b", ValueError("odd"), ConfigError, "cannot use 's3://a/b': odd"),
        ("s3://a/b", RuntimeError("no luck"), DataError, "cannot use 's3://a/b': RuntimeError: no luck"),
    ],
)
def test_stores_that_cannot_be_opened_say_what_they_need(address, error, kind, told, monkeypatch):
    def refuse(url, **options):
        raise error

    monkeypatch.setattr("fsspec.core.url_to_fs", refuse)
    with pytest.raises(kind, match=re.escape(told)):
        folder_at(address).exists()


def test_a_file_is_moved_into_place_where_a_store_would_show_half_of_it(tmp_path, monkeypatch):
    done = []

    class System(LocalFileSystem):
        def pipe_file(self, path, value, **more):
            done.append(Path(path).name)
            super().pipe_file(path, value, **more)

    monkeypatch.setenv("ASSAY_PROTOCOLS", "sftp")
    place = folder_at("sftp://host/x") / "a.txt"
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda url, **more: (System(), str(tmp_path / "x" / "a.txt")))
    place.write(b"1")
    assert (tmp_path / "x" / "a.txt").read_bytes() == b"1" and [path.name for path in (tmp_path / "x").iterdir()] == [
        "a.txt"
    ]
    assert done[0].startswith(".a.txt.") and done[0].endswith(".tmp")
