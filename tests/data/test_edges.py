"""Data at its edges: shards and rows, addresses, recipes, annotators, pairs, what descriptions say of odd datasets."""

import hashlib
import io
import os
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.config import Settings, validate
from assay.contracts import ShardRecord
from assay.data import (
    IMAGE,
    Annotation,
    ConceptMasks,
    Dataset,
    Fold,
    Recipe,
    cells,
    estimate,
    folder_at,
    is_remote,
    likeliest_codes,
    numbers,
    open_parquet,
    parquet_bytes,
    picture_store,
    push,
    read_parquet,
    read_scores,
    recipe_from,
    redrawing_for,
    refuse_remote,
    seconds_per_example,
    shard,
    shard_files,
    split_to_dict,
    to_column,
)
from assay.data import make as making
from assay.data import manifest as manifests
from assay.data import pairs as pairing
from assay.data.annotated_copy import _changes, count_labels, count_tags
from assay.data.annotation import rate_of
from assay.data.annotator import Annotator, apply_flips, refuse_unknown, sample_codes, symmetric
from assay.data.columns import kind_of_values, strings
from assay.data.concept_sets import ConceptSet, label_from
from assay.data.content import content_of
from assay.data.croissant import croissant
from assay.data.folds import folds_of
from assay.data.machine_scores import refuse_constant, threshold_scores
from assay.data.picture_store import HeldPictures, PictureFile, PictureStore, SplitShards, StoredRows, starts_of
from assay.data.rebuild import Redrawing
from assay.data.recipe import usual_size
from assay.data.regions import RegionRow
from assay.data.remote import RemotePath
from assay.data.row_choice import choose_rows, quotas
from assay.data.shard import ShardJob
from assay.data.shard_files import ShardFile, ShardTable
from assay.errors import ConfigError, DataError, MissingExtra, RunFailed, UnknownName
from assay.logic import TRUE, Constraint, Knowledge, evaluate, parse
from assay.markdown import code_text
from assay.render import Box, Layout, ObjectBox, encode_png
from assay.worlds import Split, World
from tests.samples import needs_task

SPACE = ConceptSpace(
    (*bits(["a", "b"]).concepts, Concept("shape", ("round", "square", "cross"))),
    encoders=(EncoderGroup("bit", ("a", "b")), EncoderGroup("shape", ("shape",))),
)
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and b", "kind": "shape"})


# -- pictures in shards ------------------------------------------------------------------------------------------------


def shards_in(folder, sizes=(3, 1, 4), rows_of_group=2):
    """Write shards whose pictures are texts of different lengths: row 5 has `p5` six times, and `q5` once."""
    made, start = [], 0
    for number, size in enumerate(sizes):
        index = list(range(start, start + size))
        columns = {
            "index": numbers(np.array(index)),
            "image": pa.StructArray.from_arrays(
                [
                    strings([f"p{i}" * (i + 1) for i in index], pa.binary()),
                    strings([f"{i}.png" for i in index], pa.string()),
                ],
                fields=list(IMAGE),
            ),
            "size": numbers(np.array(index) * 10),
            "depth": pa.StructArray.from_arrays(
                [strings([f"q{i}" for i in index], pa.binary()), strings(["" for i in index], pa.string())],
                fields=list(IMAGE),
            ),
        }
        path = folder / f"part-{number}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=rows_of_group)
        made.append(ShardFile(path, size, hashlib.sha256(path.read_bytes()).hexdigest()))
        start += size
    return tuple(made)


def picture(row):
    return (f"p{row}" * (row + 1)).encode()


@pytest.mark.parametrize("large", [False, True])
def test_pictures_of_rows_in_any_order_and_more_than_once(large, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shard_files, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(picture_store, "HELD_BYTES", 100)
    shards = shards_in(tmp_path)
    store = PictureStore(shards, "image", 100 if large else 99)
    assert store.large is large and store.starts == [0, 3, 4, 8] and starts_of(()).tolist() == [0]
    rows = [7, 0, 3, 2, 7, 4, 1]
    assert store.files(np.array(rows)) == [picture(row) for row in rows] and store.files(np.array([], int)) == []
    unpacked = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert unpacked == ({f"{one.sha256}-image" for one in shards} if large else set())
    kinds = {type(one) for one in store._opened.values()}
    assert kinds == {PictureFile if large else HeldPictures} and set(store._opened) == {0, 1, 2}
    state = store.__getstate__()
    assert set(state) == {"shards", "column", "size", "starts"}
    other = PictureStore.__new__(PictureStore)
    other.__setstate__(state)
    assert other._opened == {} and other.files(np.array([6])) == [picture(6)]
    assert state == {"shards": shards, "column": "image", "size": 100 if large else 99, "starts": [0, 3, 4, 8]}
    assert other.large is large


def test_a_file_of_pictures_that_is_not_whole_is_not_opened(tmp_path):
    path, offsets = tmp_path / "x", np.array([0, 2, 2, 5])
    path.write_bytes(b"abcde" + offsets.astype("<i8").tobytes())
    found = PictureFile.open(path, 3)
    assert found.offsets.tolist() == [0, 2, 2, 5] and found.read([2, 0, 1]) == [b"cde", b"ab", b""]
    assert PictureFile.open(path, 2) is None and PictureFile.open(path, 4) is None and PictureFile.open(path, 9) is None
    assert PictureFile.open(tmp_path / "none", 3) is None
    path.write_bytes(b"abcdef" + offsets.astype("<i8").tobytes())
    assert PictureFile.open(path, 3) is None
    path.write_bytes(np.array([0]).astype("<i8").tobytes())
    assert PictureFile.open(path, 0).read([]) == []
    path.write_bytes(b"abc")
    with pytest.raises(DataError, match="was cut short; delete it"):
        found.read([0, 2])
    path.unlink()
    with pytest.raises(FileNotFoundError):
        found.read([0])
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        PictureFile.open(tmp_path / "folder", 3)


def test_room_is_needed_for_one_shard(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(picture_store.shutil, "disk_usage", lambda where: SimpleNamespace(free=3_000_000))
    picture_store._require_room(3_000_000)
    assert (tmp_path / "cache" / "pictures").is_dir()
    with pytest.raises(DataError, match=r"takes 3.2 MB and '.*/pictures' has 3.0 MB left"):
        picture_store._require_room(3_200_000)
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    store = PictureStore(shards_in(tmp_path), "image", 9_000_000)  # three shards
    assert store.files(np.array([5])) == [picture(5)]
    with pytest.raises(DataError, match="takes 3.3 MB"):
        PictureStore(store.shards, "depth", 10_000_000).files(np.array([5]))
    monkeypatch.setattr(picture_store, "folder", lambda: tmp_path / "part-0.parquet" / "x")
    with pytest.raises(DataError, match="cannot use folder '.*part-0.parquet/x': Not a directory"):
        picture_store._require_room(1)


def test_columns_of_rows_come_in_their_order_from_the_shards_that_have_them(tmp_path, monkeypatch):
    split = SplitShards(shards_in(tmp_path), ("index", "image", "size", "depth"), {"image": 50, "depth": 16})
    read, asked = ShardFile.read, []
    monkeypatch.setattr(ShardFile, "read", lambda self, columns: asked.append(self.path.stem) or read(self, columns))
    rows = np.array([7, 1, 4, 1, 0])
    table = split.table(rows, ["size", "index"])
    assert table.column_names == ["size", "index"] and table["index"].to_pylist() == [7, 1, 4, 1, 0]
    assert table["size"].to_pylist() == [70, 10, 40, 10, 0] and asked == ["part-0", "part-2"]
    assert split.table(np.arange(8), ["index"])["index"].to_pylist() == list(range(8))
    empty = split.table(np.array([], dtype=int), ["index", "image"])
    assert empty.num_rows == 0 and empty.column_names == ["index", "image"]
    assert {name: (store.column, store.size) for name, store in split.stores.items()} == {
        "image": ("image", 50), "depth": ("depth", 16),
    }  # fmt: skip


def test_stored_rows_are_taken_from_taken_ones_and_get_their_pictures_back(tmp_path, monkeypatch):
    shards = shards_in(tmp_path)
    split = SplitShards(shards, ("image", "index", "depth", "size"), {"image": 50, "depth": 16})
    whole = StoredRows.of(split)
    assert whole.rows.tolist() == list(range(8)) and not whole.large
    part = whole.take(np.array([6, 2, 5])).take(np.array([2, 0]))
    assert part.rows.tolist() == [5, 6] and part.files("image", np.array([1, 0])) == [picture(6), picture(5)]
    assert part.files("depth", np.array([0])) == [b"q5"]
    table = part.add_pictures(split.table(part.rows, ["index", "size"]))
    assert table.column_names == ["image", "index", "depth", "size"]
    assert [cell["bytes"] for cell in table["image"].to_pylist()] == [picture(5), picture(6)]
    assert [cell["path"] for cell in table["image"].to_pylist()] == ["5.png", "6.png"]
    monkeypatch.setattr(picture_store, "HELD_BYTES", 50)
    assert StoredRows.of(split).large  # one of the two columns is


def test_a_shard_is_read_but_for_its_pictures(tmp_path):
    (one,) = shards_in(tmp_path, (5,))
    found = ShardTable.read(one, None)
    assert found.table.column_names == ["index", "size"] and found.columns == ("index", "image", "size", "depth")
    assert (
        set(found.picture_bytes) == {"image", "depth"}
        and found.picture_bytes["image"] > found.picture_bytes["depth"] > 10
    )
    assert ShardTable.read(one, ["size", "image"]).table.column_names == ["size"]
    assert one.read(["size"])["size"].to_pylist() == [0, 10, 20, 30, 40]
    with pytest.raises(DataError, match="does not match its hash: it is damaged"):
        ShardTable.read(replace(one, sha256="0" * 64), None)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        replace(one, path=tmp_path / "none").check()
    (tmp_path / "bad").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="bad' cannot be read: "):
        replace(one, path=tmp_path / "bad").open()
    assert ShardFile.of(tmp_path, {"file": "a/b", "rows": "7", "sha256": "x"}) == ShardFile(tmp_path / "a/b", 7, "x")


def test_offsets_of_slices_and_of_large_arrays():
    for kind in (pa.binary(), pa.large_binary()):
        array = pa.array([b"ab", b"", b"cde", b"f"], kind)
        assert picture_store._offsets(array).tolist() == [0, 2, 2, 5, 6]
        assert picture_store._offsets(array.slice(1, 2)).tolist() == [2, 2, 5]


# -- columns -----------------------------------------------------------------------------------------------------------


def test_kinds_of_columns():
    assert [kind_of_values(v) for v in ((False, True), (1, 2), ("a", "b"), (1, "absent"), (True, 2))] == [
        "bool", "int", "symbol", "symbol", "symbol",
    ]  # fmt: skip
    assert to_column(np.array([1, 0, 1]), (1, "absent")).to_pylist() == ["absent", "1", "absent"]
    assert to_column(np.array([2, -1, 0]), ("é", "b", "cc")).to_pylist() == ["cc", None, "é"]
    assert to_column(np.array([-1, 1]), (5, 300)).to_pylist() == [None, 300]
    many = np.arange(20) % 3 == 0
    assert numbers(many).to_pylist() == many.tolist() and numbers(np.array([], bool)).to_pylist() == []


def test_tables_are_read_back_and_damage_shows(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": [1, 2, 3], "b": ["x" * 50, "y" * 50, "z" * 50]})
    path.write_bytes(parquet_bytes(table))
    assert read_parquet(path).equals(table) and read_parquet(path, ["b"]).column_names == ["b"]
    assert open_parquet(path).metadata.row_group(0).column(0).compression == "ZSTD"
    data = bytearray(path.read_bytes())
    place = data.index(b"\x28\xb5\x2f\xfd") + 12
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises((pa.ArrowException, OSError)):
        read_parquet(path)


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def memory():
    yield folder_at("memory://edges/x")
    fsspec.filesystem("memory").store.clear()
    fsspec.filesystem("memory").pseudo_dirs[:] = [""]


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    if request.param == "memory":
        return request.getfixturevalue("memory")
    return folder_at(f"file://{tmp_path}/x")


def test_an_address_does_what_a_path_does(place, tmp_path):
    file = place / "deep" / "a.txt"
    assert (file.name, (place / "b/").name, str(file)) == ("a.txt", "b", f"{place}/deep/a.txt")
    assert not place.exists() and not file.is_file()
    file.write("é1".encode())
    (place / "b.json").write(b"{}")
    assert file.read_text() == "é1" and file.read_bytes() == b"\xc3\xa91" and file.read_text("latin-1") == "Ã©1"
    assert file.exists() and file.is_file() and not file.is_dir() and place.is_dir() and not place.is_file()
    with file.open("rb") as handle:
        assert handle.read(2) == b"\xc3\xa9"
    assert sorted(path.name for path in place.iterdir()) == ["b.json", "deep"]
    assert sorted(map(str, place.rglob("*"))) == [f"{place}/b.json", f"{place}/deep/a.txt"]
    assert [str(path) for path in place.rglob("*.txt")] == [f"{place}/deep/a.txt"] and not list(place.rglob("deep"))
    (place / "new").mkdir()
    (place / "new").mkdir()
    assert (place / "new").is_dir()
    file.write(b"again")
    assert file.read_bytes() == b"again" and not list(place.rglob("*.tmp"))
    file.unlink()
    file.unlink(missing_ok=True)
    assert not file.exists()
    with pytest.raises(DataError, match=f"there is no '{place}/deep/a.txt'"):
        file.unlink()
    with pytest.raises(DataError, match="there is no '.*none'"):
        (place / "none").read_bytes()
    assert place.shared is (place.scheme == "file") and place.scheme in ("memory", "file")


def test_addresses_are_put_right_or_refused(monkeypatch, tmp_path):
    assert str(folder_at("s3:/bucket/x//")) == "s3://bucket/x" and folder_at(RemotePath("a://b/")) == RemotePath(
        "a://b/"
    )
    assert folder_at(str(tmp_path)) == tmp_path and str(folder_at("hf://a/b/")) == "hf://datasets/a/b"
    assert str(folder_at("hf://datasetsfan/b")) == "hf://datasets/datasetsfan/b"
    assert [is_remote(text) for text in ("c:/x", "S3://x", "1s://x", "s3:x", "s3a://x", "a+b:/x")] == [
        False, False, False, False, True, True,
    ]  # fmt: skip
    for text in ("s3://me:secret@host/x", "sftp://:secret@host/x"):
        with pytest.raises(ConfigError, match="must hold no password") as caught:
            folder_at(text)
        assert "secret" not in str(caught.value)
    assert str(folder_at("sftp://me@host/x:y")) == "sftp://me@host/x:y"
    assert str(folder_at("github://org:repo@main/x")) == "github://org:repo@main/x"
    assert refuse_remote(None) is None and refuse_remote(tmp_path) == tmp_path
    monkeypatch.delenv("ASSAY_PROTOCOLS", raising=False)
    with pytest.raises(
        ConfigError, match=r"addresses of ftp:// are not opened; allowed are abfs, .*, hf, https, memory, s3"
    ):
        RemotePath("ftp://x/y").exists()
    with pytest.raises(ConfigError, match="holds another address inside"):
        RemotePath("memory://x::file:///etc").exists()
    monkeypatch.setenv("ASSAY_PROTOCOLS", "webdav, zz")
    with pytest.raises((ConfigError, MissingExtra), match="zz"):
        RemotePath("zz://x/y").exists()


def test_a_file_is_moved_into_place_where_a_store_would_show_half_of_it(tmp_path, monkeypatch):
    done = []

    class System:
        def __getattr__(self, name):
            return lambda *words, **named: done.append((name, *words))

    monkeypatch.setattr("assay.data.remote._system", lambda place: (System(), "top/a.txt"))
    RemotePath("s3://top/a.txt").write(b"1")
    RemotePath("s3://top/a.txt").mkdir()
    assert done == [("pipe_file", "top/a.txt", b"1")]
    done.clear()
    monkeypatch.setattr(os, "urandom", lambda size: b"\x07" * size)
    RemotePath("sftp:///top/a.txt").write(b"1")
    half = "top/.a.txt.0707070707070707.tmp"
    assert done == [("makedirs", "top"), ("pipe_file", half, b"1"), ("mv", half, "top/a.txt")]

    def broken(place):
        raise RuntimeError("no luck")

    monkeypatch.setattr("assay.data.remote._system", broken)
    with pytest.raises(DataError, match="cannot use 'file:///x': RuntimeError: no luck"):
        RemotePath("file:///x").exists()


def test_a_dataset_is_pushed_whole_with_its_audit_and_its_manifest_last(tmp_path, mnlogic):
    shutil.copytree(mnlogic.folder, tmp_path / "data")
    (tmp_path / "data" / "audit.json").write_text("{}")
    data = Dataset.open(tmp_path / "data")
    names = push.file_names(data)
    assert names[-4:] == ["README.md", "croissant.json", "audit.json", "manifest.json"]
    assert names[0].startswith("train/part-") and any(name.startswith("pairs/") for name in names)
    first = tmp_path / "data" / names[0]
    first.write_bytes(first.read_bytes() + b"?")
    with pytest.raises(DataError, match=r"train/part-00000.parquet' does not match its hash: it is damaged"):
        push.push(data, tmp_path / "there")
    assert not (tmp_path / "there").exists()


# -- recipes -----------------------------------------------------------------------------------------------------------


@needs_task("mnlogic")
def test_sizes_are_given_or_shares_of_training():
    recipe = recipe_from(
        "mnlogic", Settings({"k": 2, "n_samples": 40, "val_prop": 0.29, "test_prop": 0.5, "splits": {"test": 7}})
    )
    assert dict(recipe.sizes) == {"test": 7, "valid": 11} and recipe.train == 40 and recipe.seed == 0
    assert recipe.sizes == (("test", 7), ("valid", 11)) and recipe.settings.values == {"k": 2}
    sizes = {split.name: split.size for split in recipe.splits}
    assert (sizes["train"], sizes["valid"], sizes["test"]) == (40, 11, 7)
    assert recipe.pairs == 7 and recipe.most_pairs == 400 and replace(recipe, sizes=(("pairs", 3),)).pairs == 3
    assert replace(recipe, sizes=(("test", 0), ("pairs", 3))).pairs == 0
    usual = Recipe("mnlogic", {"k": 2})
    assert isinstance(usual.settings, Settings) and usual.splits[0].size == usual_size(usual.task)
    assert recipe_from("mnlogic", Settings({"k": 2, "val_prop": 1})).sizes == (("valid", usual_size(usual.task)),)
    assert recipe_from("mnlogic", Settings({"k": 2, "n": 9, "ood_prop": 0, "val_prop": 0.5})).sizes == (
        ("ood", 0),
        ("valid", 4),
    )
    assert recipe_from("mnlogic", Settings({"k": 2, "seed": 5, "task": "mnlogic"})).seed == 5
    assert recipe_from("mnlogic", Settings({"k": 2})).confound is None
    assert recipe_from("mnlogic", Settings({"k": 2, "confound": []})).confound == ()


@needs_task("mnlogic")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": True}, "n: expected a whole number from 1 up, not True"), ({"seed": -1}, "seed: expected a whole number from 0 up"),
        ({"n": 2.0}, "n: expected a whole"), ({"val_prop": 1.01}, "val_prop: expected a share from 0 to 1, not 1.01"),
        ({"ood_prop": -0.1}, "ood_prop: expected a share"), ({"test_prop": True}, "test_prop: expected a share"),
        ({"splits": {"test": -1}}, "splits: expected 'name: size'"), ({"splits": {3: 1}}, "splits: expected"),
        ({"splits": {"test": True}}, "splits: expected"), ({"splits": [1]}, "splits: expected"),
        ({"confound": {}}, "confound: expected a list of entries"), ({"confound": ["x"]}, "confound: expected a list"),
        ({"task": "other"}, "the file is for task 'other', not 'mnlogic'"),
    ],
)  # fmt: skip
def test_recipes_that_cannot_be(settings, message):
    with pytest.raises(ConfigError, match=message):
        recipe_from("mnlogic", Settings({"k": 2, **settings}))


@needs_task("mnlogic")
def test_what_shows_the_test_split_again_is_as_large():
    mark = [{"what": "frame", "with": "y"}]
    recipe = recipe_from("mnlogic", Settings({"k": 2, "confound": mark, "splits": {"test": 9, "reversed": 4}}))
    sizes = {split.name: split.size for split in recipe.splits}
    assert (sizes["test"], sizes["unconfounded"], sizes["reversed"]) == (9, 9, 4)
    plan = recipe.to_dict()
    assert [entry["what"] for entry in plan["task"]["confound"]] == ["frame"]
    assert "confound" not in recipe_from("mnlogic", Settings({"k": 2})).to_dict()["task"]
    assert set(plan) == {"task", "seed", "shard_rows", "sources", "splits"}


def test_a_split_as_plain_data():
    found = split_to_dict(Split("ood", 7, TRUE))
    assert (found["name"], found["size"], found["where"], found["quota"]) == ("ood", 7, str(TRUE), None)
    assert list(found) == ["name", "size", "where", "share", "balance", "pool", "disjoint_from", "quota"]


# -- shards and making -------------------------------------------------------------------------------------------------


def test_shards_are_numbered_and_the_last_is_what_is_left():
    splits = [
        SimpleNamespace(name="train", size=7),
        SimpleNamespace(name="none", size=0),
        SimpleNamespace(name="test", size=6),
    ]
    recipe = SimpleNamespace(shard_rows=3, splits=splits, task=None, seed=0)
    found = shard.jobs(recipe)
    assert [one.file for one in found] == [
        *(f"train/part-0000{number}.parquet" for number in range(3)), "test/part-00000.parquet", "test/part-00001.parquet",
    ]  # fmt: skip
    writer = shard.ShardWriter(recipe)
    assert [writer.places(one).tolist() for one in found] == [[0, 1, 2], [3, 4, 5], [6], [0, 1, 2], [3, 4, 5]]
    assert [one.rows(writer) for one in found] == [3, 3, 1, 3, 3]
    assert shard.file_names("a", np.array([4, 10])) == ["a-4.png", "a-10.png"]
    assert ShardJob("a", 123456).file == "a/part-123456.parquet"


def test_records_are_those_that_a_manifest_lists():
    one, two = ShardRecord("a", 1, 2, "s", "c"), ShardRecord("b", 1, 2, "t", "d")
    held = {"splits": [{"shards": [one.to_dict(), two.to_dict()]}], "pairs": {"shards": []}}
    assert making._are_listed([one, two], held) and making._are_listed([two], held) and making._are_listed([], held)
    assert not making._are_listed([one, ShardRecord("c", 1, 2, "t", "d")], held)
    for change in ({"rows": 3}, {"bytes": 3}, {"sha256": "x"}, {"content": "x"}):
        assert not making._are_listed([one, replace(two, **change)], held)
    old = {
        "splits": [{"shards": [{k: v for k, v in one.to_dict().items() if k != "content"}]}],
        "pairs": {"shards": []},
    }
    assert making._are_listed([one], old)


def test_a_shard_that_is_there_is_kept_if_it_is_whole(tmp_path):
    job = ShardJob("a", 0)
    assert making._finished(tmp_path, job, None) is None
    shard.write_shard(pa.table({"index": [1, 2]}), job, tmp_path)
    found = making._finished(tmp_path, job, None)
    assert (found.file, found.rows, found.bytes) == ("a/part-00000.parquet", 2, (tmp_path / job.file).stat().st_size)
    assert making._finished(tmp_path, job, found.sha256) == found and making._finished(tmp_path, job, "other") is None
    other = pairing.PairsJob("a", 0, (SimpleNamespace(),) * 3)
    assert making._finished(tmp_path, other, None) is None
    assert making._finished(tmp_path, pairing.PairsJob("a", 0, (SimpleNamespace(),) * 2), None) == found
    writer = SimpleNamespace(write=lambda job, folder: "written")
    with pytest.raises(RunFailed, match="a node does not see"):
        making.ensure_shard(writer, job, tmp_path, None)
    (tmp_path / "manifest.json").write_text("{}")
    assert making.ensure_shard(writer, job, tmp_path, None) == found
    assert making.ensure_shard(writer, job, tmp_path, "other") == "written"
    (tmp_path / job.file).write_bytes(b"?")
    assert making._finished(tmp_path, job, None) is None


def test_workers_pay_by_rows_and_seconds(monkeypatch):
    monkeypatch.setattr(making.os, "cpu_count", lambda: 8)

    def workers(seconds, pairs=2):
        splits = [SimpleNamespace(size=10), SimpleNamespace(size=8)]
        return making.default_workers(
            SimpleNamespace(splits=splits, pairs=pairs, task=SimpleNamespace(seconds=seconds))
        )

    assert [workers(s) for s in (0.001, 0.1, 0.3, 0.59, 0.7, 100)] == [1, 1, 3, 5, 7, 8]
    assert workers(0.4, 12) == 6


# -- annotators --------------------------------------------------------------------------------------------------------


def annotator(split="train", **settings):
    return Annotator(KNOWLEDGE, validate(Annotation, Settings(settings)), split)


def test_chances_of_values_are_exact():
    one = annotator(
        concept_noise={"bit": 0.2, "b": 0.1},
        noise_01=0.5,
        noise_10={"a": 0.25},
        concept_flips={"a": {True: {False: 0.5}}},
    )
    a, b, shape = (one._matrix(concept) for concept in SPACE.concepts)
    assert b == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.9]]) @ np.array([[0.5, 0.5], [0, 1]]))
    assert a == pytest.approx(
        np.array([[0.8, 0.2], [0.2, 0.8]]) @ np.array([[0.5, 0.5], [0.25, 0.75]]) @ np.array([[1, 0], [0.5, 0.5]])
    )
    assert shape.tolist() == np.eye(3).tolist()
    with pytest.raises(
        ConfigError, match="concept 'shape' is not true or false, it has the values round, square, cross"
    ):
        annotator(noise_10={"shape": 0.1})._matrix(SPACE.concepts[2])
    assert symmetric(1, 0.4).tolist() == [[1.0]] and symmetric(2, 0.25).tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert rate_of({"x": 0.1, "y": 0.2}, "z", "y", "x") == 0.2 and rate_of({"x": 0.1}, "y") == 0.0 == rate_of(0.0, "x")
    twice = apply_flips(np.eye(3), {"a": {"b": 0.25, "c": 0.5}}, ["a", "b", "c"], "x")
    assert twice.tolist() == [[0.25, 0.25, 0.5], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(UnknownName, match="'x' has no value True; it has: 1, 0"):
        apply_flips(np.eye(2), {True: {0: 0.5}}, [1, 0], "x")


def test_codes_are_drawn_at_the_edges_of_chances():
    matrix = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
    draws = np.array([0.0, 0.2499, 0.25, 0.4999, 0.5, 0.99])
    assert sample_codes(np.zeros(6, int), matrix, draws).tolist() == [1, 1, 2, 2, 0, 0]
    assert sample_codes(np.ones(6, int), matrix, draws).tolist() == [0, 0, 2, 2, 1, 1]
    assert sample_codes(np.full(6, 2), matrix, draws).tolist() == [2] * 6
    assert sample_codes(np.full(6, -1), matrix, draws).tolist() == [-1] * 6


def test_what_is_shown_is_asked_for_by_concept_value_and_number():
    true = np.array([[0, 1, 2], [1, 0, 0], [1, 1, 1], [0, 0, 2]])
    assert annotator().shown_mask(true).all()
    assert annotator(shown_concepts=["b"]).shown_mask(true).tolist() == [[False, True, False]] * 4
    assert annotator(shown_values=[True, "cross"]).shown_mask(true).astype(int).tolist() == [
        [0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1],
    ]  # fmt: skip
    both = annotator(shown_values=[True], shown_concepts=["a"]).shown_mask(true)
    assert both.astype(int).tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]]
    for count in (0, 1, 3, 9):
        mask = annotator(shown_examples=count).shown_mask(true)
        assert (mask.all(axis=1) | ~mask.any(axis=1)).all() and mask[:, 0].sum() == min(count, 4)
    assert annotator(shown_examples=2).shown_mask(true[:0]).shape == (0, 3)


def test_gaps_depend_on_what_is_there(monkeypatch):
    draws = np.array([0.1, 0.19, 0.31, 0.59, 0.61])
    monkeypatch.setattr(Annotator, "draws", lambda self, what, name, rows: draws[:rows])
    true = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 2], [1, 0, 0], [0, 0, 1]])
    random = annotator(missing={"a": 0.31, "shape": 0.6}).gaps(true).astype(int)
    assert random.tolist() == [[1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    chosen = (
        annotator(missing={"a": 0.4, "shape": 0.4}, mechanism="mnar", present=[True, "square"]).gaps(true).astype(int)
    )
    assert chosen.tolist() == [[1, 0, 1], [1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]]
    with pytest.raises(ConfigError, match="no value of concept 'shape' says that nothing is there"):
        annotator(missing={"shape": 0.4}, mechanism="mnar").gaps(true)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": {"c": 0.1}}, "missing: no concept 'c'"), ({"noise_01": {"y": 0.1}}, "noise_01: no concept 'y'"),
        ({"concept_flips": {"bit": {True: {False: 0.1}}}}, "concept_flips: no concept 'bit'"),
        ({"shown_concepts": ["bit"]}, "shown_concepts: no concept 'bit'"), ({"label_noise": {"a": 0.1}}, "label_noise: no label 'a'"),
        ({"label_flips": {"a": {True: {False: 0.1}}}}, "label_flips: no label 'a'"),
        ({"subjective_groups": [["a", "z"]]}, "subjective_groups: no concept 'z'"),
        ({"shown_values": [1]}, "shown_values: no concept has the value 1"), ({"present": ["big"]}, "present: no concept has the value 'big'"),
    ],
)  # fmt: skip
def test_unknown_names_are_refused(settings, message):
    with pytest.raises(UnknownName, match=message):
        refuse_unknown(validate(Annotation, Settings(settings)), KNOWLEDGE)


def test_known_names_are_fine():
    known = {"missing": {"bit": 0.1, "shape": 0.2}, "label_noise": {"kind": 0.1}, "shown_values": [True, "cross"]}
    assert refuse_unknown(validate(Annotation, Settings(known)), KNOWLEDGE) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shares": {"a": 0.5}, "label_shares": {True: 0.5}}, "give shares or label_shares"),
        ({"missing_factors": [1.5, -0.1]}, "missing_factors are not negative"), ({"threshold": 0.5}, "a threshold needs a machine"),
        ({"concept_flips": {"a": {True: {False: 0.6, True: 0.5}}}}, "the chances to leave True of 'a' add up to 1.1"),
        ({"label_flips": {"y": {True: {False: 0.6, True: 0.5}}}}, "the chances to leave True of 'y' add up to 1.1"),
        ({"reader": {"model": "m"}}, "reader: settings of a machine, and none is named"), ({"examples": 0}, "examples"),
    ],
)  # fmt: skip
def test_annotations_that_cannot_be(settings, message):
    with pytest.raises(ConfigError, match=message):
        validate(Annotation, Settings(settings))


def test_subjective_noise_goes_round_the_group(monkeypatch):
    space = bits(["p", "q", "r", "s"])
    knowledge = Knowledge.of(space, {"y": "p"})
    draws = np.array([0.0, 0.29, 0.31, 0.59, 0.6, 0.1, 0.1])
    monkeypatch.setattr(Annotator, "draws", lambda self, what, name, rows: draws[:rows])
    asked = validate(Annotation, Settings({"subjective_noise": 0.6, "subjective_groups": [["p", "q", "r"]]}))
    given = np.array(
        [[1, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0], [1, -1, 0, 0]]
    )
    assert Annotator(knowledge, asked, "train").subjective_concepts(given).tolist() == [
        [0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0], [1, -1, 0, 0],
    ]  # fmt: skip
    one = validate(Annotation, Settings({"subjective_noise": 0.6, "subjective_groups": [["p"]]}))
    with pytest.raises(ConfigError, match="subjective_groups: p are not two or more"):
        Annotator(knowledge, one, "train").groups()
    none = validate(Annotation, Settings({"subjective_noise": 0.6}))
    with pytest.raises(ConfigError, match="subjective_noise needs subjective_groups"):
        Annotator(knowledge, none, "train").groups()


def test_the_likeliest_value_or_what_reaches_a_threshold():
    two = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [np.nan, 0.9]])
    a, shape = SPACE.concepts[0], SPACE.concepts[2]
    assert likeliest_codes(two, a).tolist() == [0, 1, 0, -1] and likeliest_codes(two, a, 0.3).tolist() == [1, 1, 1, -1]
    assert likeliest_codes(two, a, 0.51).tolist() == [0, 1, 0, -1]
    three = np.array([[0.2, 0.3, 0.5], [0.1, 0.5, 0.4]])
    assert likeliest_codes(three, shape, 0.9).tolist() == [2, 1]


def test_counts_and_shares_of_what_was_given():
    labels = np.array([[0, 2], [1, 2], [1, 0]])
    assert count_labels(KNOWLEDGE, labels) == {"y": {"False": 1, "True": 2}, "kind": {"round": 1, "cross": 2}}
    table = pa.table({"boundary_y": ["b; a", "a", "far"]})
    assert count_tags(KNOWLEDGE, table) == {"y": {"a": 2, "b": 1, "far": 1}, "kind": {}}
    true = np.array([[0, 1, 2], [1, 1, 0], [0, 0, 0]])
    given = SimpleNamespace(
        concepts=np.array([[0, -1, 1], [0, 1, 0], [-1, -1, 0]]), labels=np.array([[1, 2], [1, 2], [0, 0]])
    )
    split = SimpleNamespace(true=true, given=given, data=SimpleNamespace(labels=labels))
    assert _changes(split) == {"examples": 3, "missing": 0.333333, "wrong": 0.222222, "wrong_labels": 0.333333}


def test_rows_are_chosen_in_their_order():
    concepts = np.array([[i % 2, i // 2 % 2, i % 3] for i in range(24)])
    labels = KNOWLEDGE.labels_of(concepts)

    def chosen(**settings):
        return choose_rows(validate(Annotation, Settings(settings)), KNOWLEDGE, "train", concepts, labels).tolist()

    assert chosen() == list(range(24)) and chosen(where="a and not b") == list(range(1, 24, 4))
    few = chosen(examples=5)
    assert len(few) == 5 == len(set(few)) and few == sorted(few) and chosen(examples=99) == list(range(24))
    assert set(few) <= set(chosen(examples=6)) and chosen(examples=5, seed=1) != few
    shared = chosen(label_shares={"y": {True: 0.5}})
    assert len(shared) == 12 and labels[shared, 0].sum() == 6
    third = chosen(shares={"shape == 'round'": 0.5, "shape == 'cross'": 0.25}, examples=8)
    assert np.bincount(concepts[third, 2]).tolist() == [4, 2, 2]
    for settings, message in (
        ({"where": "shape"}, "where: 'shape' is not true or false"), ({"where": "a and not a"}, "holds in no row of split 'train'"),
        ({"shares": {"a": 0.5, "b": 0.5}}, "two of the formulas hold in one row"),
        ({"shares": {"a": 0.7, "not a": 0.4}}, "the shares add up to 1.1, more than 1"),
        ({"shares": {"a": 0.5, "not a": 0.4}}, "the shares add up to 0.9, and no row is left for the rest"),
        ({"label_shares": {True: 0.5}}, "label_shares: say of which label: y, kind"),
        ({"label_shares": {"y": {True: 0.5}, "kind": {"round": 0.5}}}, "give the shares of one label"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=message):
            chosen(**settings)
    with pytest.raises(UnknownName, match="label 'kind' has no value 'big'; it has: round, square, cross"):
        chosen(label_shares={"kind": {"big": 0.5}})
    with pytest.raises(
        ConfigError, match=re.escape("split 's' has rows for 8 examples in the shares asked for, not 9")
    ):
        quotas(np.array([4, 9]), np.array([0.5, 0.5]), 9, "s")
    assert quotas(np.array([4, 9]), np.array([0.5, 0.5]), 8, "s") == [4, 4]
    assert quotas(np.array([9, 9, 9]), np.array([0.5, 0.5, 0.0]), 3, "s") == [2, 1, 0]


def test_folds_hold_out_each_row_once_and_labels_in_turn():
    labels = np.array([[i % 2, i // 6] for i in range(12)])
    found = folds_of(labels, 3, "key")
    assert np.bincount(found).tolist() == [4, 4, 4] and found.tolist() == folds_of(labels, 3, "key").tolist()
    for row in np.unique(labels, axis=0):
        assert np.bincount(found[(labels == row).all(axis=1)], minlength=3).tolist() == [1, 1, 1]
    methods = {"__len__": lambda self: 12, "take": lambda self, rows: rows.tolist()}
    data = type("Data", (), {"labels": labels, "fingerprint": "key", **methods})()
    outside, inside = Fold(1, 3).divide(data)
    assert inside == np.flatnonzero(found == 1).tolist() and sorted(outside + inside) == list(range(12))
    assert len(Fold(11, 12).divide(data)[1]) == 1
    for number, of in ((3, 3), (-1, 3), (0, 1), (0, 13)):
        with pytest.raises(ConfigError, match=f"fold {number} of {of} of 12 examples cannot be"):
            Fold(number, of).divide(data)


# -- words -------------------------------------------------------------------------------------------------------------


def test_rows_of_regions_are_cut_at_thirty():
    rows = [RegionRow("y", "holds", f"v{number}", (number, 2)) for number in range(30)]
    assert len(cells(rows)) == 30 and cells(rows, code_text)[1] == ["holds", "`v1`", "1", "2"]
    more = cells([*rows, RegionRow("y", "far", "far", (1, 1)), RegionRow("y", "far", "far", (0, 1))])
    assert len(more) == 31 and more[-1] == ["", "and 2 more, in manifest.json", "", ""]
    assert cells([RegionRow("y", "far", "far", (5,))], code_text) == [["far", "all others", "5"]]


def manifest(**more):
    shards = [{"file": "test/part-00000.parquet", "bytes": 12, "sha256": "ab"}]
    knowledge = {"concepts": [{"name": "n", "values": [1, 2]}, {"name": "s", "values": ["a", "b"]}],
                 "labels": [{"name": "y", "values": [False, True]}]}  # fmt: skip
    task = {"name": "t", "version": 3, **more.pop("task", {})}
    usual = {"task": task, "sources": {}, "splits": [{"name": "test", "shards": shards}], "summary": "S.", "seed": 4,
             "fingerprint": "ff", "knowledge": knowledge, "columns": ["image", "text", "things", "depth"]}  # fmt: skip
    return {**usual, **more}


def test_croissant_describes_files_fields_and_the_licence():
    found = croissant(manifest())
    assert (found["name"], found["version"], found["url"]) == ("assay-t", "3.0.0", "https://assay.invalid/ff")
    assert found["description"] == "S. (task t, seed 4, made by assay)." and found["license"].endswith(
        "licenses/by/4.0/"
    )
    file, files = found["distribution"]
    assert (file["name"], file["contentSize"], file["contentUrl"]) == (
        "test-part-00000.parquet",
        "12 B",
        "test/part-00000.parquet",
    )
    assert (files["@id"], files["includes"]) == ("test-shards", "test/*.parquet")
    (records,) = found["recordSet"]
    assert [(field["name"], field["dataType"]) for field in records["field"]] == [
        ("index", "sc:Integer"), ("style", "sc:Text"), ("concept_n", "sc:Integer"), ("concept_s", "sc:Text"),
        ("label_y", "sc:Boolean"), ("boundary_y", "sc:Text"), ("text", "sc:Text"), ("image", "sc:ImageObject"),
        ("depth", "sc:ImageObject"),
    ]  # fmt: skip
    transforms = {field["name"] for field in records["field"] if "transform" in field["source"]}
    assert transforms == {"image", "depth"} and records["field"][0]["@id"] == "test/index"
    licences = [croissant(manifest(sources=sources, task=task))["license"] for sources, task in (
        ({"digits": 1}, {}), ({"coco": 1, "digits": 1}, {}), ({"digits": 1}, {"imported": {}}),
    )]  # fmt: skip
    assert licences == [
        "https://creativecommons.org/licenses/by-sa/3.0/", "https://cocodataset.org/#termsofuse",
        "https://assay.invalid/licence-of-the-source",
    ]  # fmt: skip


def test_croissant_has_pairs_where_there_are_some_and_given_columns_elsewhere():
    shards = [{"file": "pairs/part-00000.parquet", "bytes": 1, "sha256": "cd"}]
    given = {"annotation": {"given": ["given_concept_n", "given_label_y"]}}
    found = croissant(manifest(task=given, pairs={"shards": shards}, columns=[]))
    test, pairs = ([(field["name"], field["dataType"]) for field in one["field"]] for one in found["recordSet"])
    assert test[-2:] == [("given_concept_n", "sc:Integer"), ("given_label_y", "sc:Boolean")]
    assert pairs[-2:] == [("pair_row", "sc:Integer"), ("pair_concept", "sc:Text")] and len(found["distribution"]) == 4
    assert len(croissant(manifest(pairs={"shards": []}))["recordSet"]) == 1
    labels = [{"name": "y", "values": [3, 4]}, {"name": "z", "values": ["u", 1]}]
    (records,) = croissant(manifest(knowledge={"concepts": [], "labels": labels}, columns=["text", "parts"]))[
        "recordSet"
    ]
    assert [(field["@id"], field["dataType"]) for field in records["field"]] == [
        ("test/index", "sc:Integer"), ("test/style", "sc:Text"), ("test/label_y", "sc:Integer"), ("test/label_z", "sc:Text"),
        ("test/boundary_y", "sc:Text"), ("test/boundary_z", "sc:Text"), ("test/text", "sc:Text"), ("test/parts", "sc:ImageObject"),
    ]  # fmt: skip
    assert records["field"][2]["source"] == {"fileSet": {"@id": "test-shards"}, "extract": {"column": "label_y"}}
    assert records["field"][-1]["source"] == {
        "fileSet": {"@id": "test-shards"}, "extract": {"column": "parts"}, "transform": {"jsonPath": "bytes"},
    }  # fmt: skip


def test_time_is_measured_on_pictures_after_the_first(monkeypatch):
    clock, drawn = [0.0], []
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: clock[0])

    def render(world):
        drawn.append(world)
        clock[0] += 0.25 if world else 9.0

    def recipe(*sizes, step=None):
        source = SimpleNamespace(worlds=lambda places: places.tolist())
        task = SimpleNamespace(render=render, seconds=0.125, worlds_in=lambda split, seed: source)
        return SimpleNamespace(splits=[SimpleNamespace(size=size) for size in sizes], task=task, seed=0)

    assert seconds_per_example(recipe(0, 50)) == 0.25 and drawn == [0, 1, 2, 3]
    assert seconds_per_example(recipe(2)) == 0.25 and seconds_per_example(recipe(1)) == 0.125
    assert seconds_per_example(recipe(0)) == 0.0 == seconds_per_example(recipe())
    for enough, count in ((0.49, 3), (0.5, 4), (0.24, 2)):  # no more pictures once that many seconds have passed
        drawn.clear()
        monkeypatch.setattr(estimate, "ENOUGH", enough)
        assert seconds_per_example(recipe(9)) == 0.25 and len(drawn) == count


# -- pairs -------------------------------------------------------------------------------------------------------------


def test_options_are_all_single_changes():
    world = np.array([1, 0, 2])
    places, codes = pairing._options(KNOWLEDGE, world, np.random.default_rng(0))
    changed = {(int(place), *map(int, row)) for place, row in zip(places, codes, strict=True)}
    assert changed == {(0, 0, 0, 2), (1, 1, 1, 2), (2, 1, 0, 0), (2, 1, 0, 1)} and len(places) == 4
    assert world.tolist() == [1, 0, 2]


def test_pairs_are_written_some_rows_a_shard():
    changes = [pairing.Change(row, "a", SimpleNamespace()) for row in range(5)]
    found = pairing.pairs_jobs(changes, 2)
    assert [(one.number, one.start, [c.row for c in one.changes]) for one in found] == [
        (0, 0, [0, 1]), (1, 2, [2, 3]), (2, 4, [4]),
    ]  # fmt: skip
    assert [one.rows(None) for one in found] == [2, 2, 1] and found[2].file == "pairs/part-00002.parquet"
    assert found[0].fits(ShardRecord("", 2, 0, "", "")) and not found[0].fits(ShardRecord("", 1, 0, "", ""))
    assert pairing.pairs_jobs([], 2) == []


def test_an_intervention_is_named_or_sets_concepts_where_that_changes_something():
    task = SimpleNamespace(space=SPACE, interventions={"swap": len})
    assert pairing.intervention_of(task, ["swap"]) == ("swap", len)
    with pytest.raises(UnknownName, match="no intervention named 'swop'; did you mean 'swap'.*, or CONCEPT=VALUE"):
        pairing.intervention_of(task, ["swop"])
    name, change = pairing.intervention_of(task, ["shape=CROSS", "a=true"])
    made = change(World(SPACE, (0, 1, 0), {"s": 1}))
    assert name == "do" and made.codes == (1, 1, 2) and made.style == {"s": 1}
    assert change(World(SPACE, (1, 0, 2), {})) is None


def test_pictures_of_slices_are_unpacked_one_after_another():
    whole = pa.array([b"ab", b"", b"cde", b"f", b"ghij"], pa.binary())
    asked = []
    parts = [whole.slice(1, 2), whole.slice(4, 1), whole.slice(0, 0), whole.slice(3, 1)]
    shard_file = SimpleNamespace(pictures=lambda column: asked.append(column) or iter(parts))
    handle = io.BytesIO()
    assert picture_store._unpack(shard_file, "depth", handle).tolist() == [0, 0, 3, 7, 8]
    assert handle.getvalue() == b"cdeghijf" and asked == ["depth"]


def test_a_store_whose_files_went_away_unpacks_them_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    store = PictureStore(shards_in(tmp_path), "image", 30)
    assert store.files(np.array([6, 1])) == [picture(6), picture(1)]
    before = dict(store._opened)
    shutil.rmtree(tmp_path / "cache")
    assert store.files(np.array([1, 3])) == [picture(1), picture(3)] and set(store._opened) == {0, 1, 2}
    assert store._opened[0] is not before[0] and store._opened[2] is before[2]
    assert len(list((tmp_path / "cache" / "pictures").iterdir())) == 2


def test_buffers_are_as_long_as_what_is_in_them():
    out = io.BytesIO()
    held = HeldPictures(memoryview(b"abcdef"), np.array([0, 1, 4, 6]))
    out.write(b"".join(held.read([1, 2, 0])))
    assert out.getvalue() == b"bcdefa"


# -- manifests and contents --------------------------------------------------------------------------------------------


def plain_manifest(**more):
    shards = [{"file": "test/part-00000.parquet", "rows": 2, "bytes": 9, "sha256": "aa", "content": "cc"}]
    decisive = {key: {} for key in ("task", "knowledge", "layout", "sources")}
    body = {"format": 1, "seed": 0, "shard_rows": 5, **decisive, "splits": [{"name": "test", "shards": shards}], **more}
    return manifests.with_fingerprint(body)


def test_a_fingerprint_stands_for_data_and_rule_alone():
    base = plain_manifest()
    known = base["fingerprint"]
    assert (
        len(known) == 32
        and plain_manifest(summary="x", versions={}, backbones={}, pairs={"shards": []})["fingerprint"] == known
    )
    for key, value in (
        ("format", 2), ("seed", 1), ("shard_rows", 6), ("task", {"a": 1}), ("knowledge", {"a": 1}), ("layout", {"a": 1}),
        ("sources", {"a": 1}), ("splits", []),
    ):  # fmt: skip
        assert plain_manifest(**{key: value})["fingerprint"] != known
    (shard_entry,) = base["splits"][0]["shards"]

    def with_shard(**changes):
        held = {key: value for key, value in {**shard_entry, **changes}.items() if value is not None}
        return plain_manifest(splits=[{"name": "test", "shards": [held]}])["fingerprint"]

    assert with_shard(bytes=10) == with_shard(sha256="bb") == known
    assert known not in (with_shard(content="dd"), with_shard(rows=3), with_shard(file="test/b"))
    assert with_shard(content=None) != with_shard(content=None, sha256="bb")
    assert manifests.to_json({"b": "é", "a": 1}) == '{\n "a": 1,\n "b": "é"\n}\n'.encode()
    assert [manifests.pairs_split(names) for names in (["test_1", "test"], ["test_1"], ["train", "test_2"])] == [
        "test", "test_1", None,
    ]  # fmt: skip


def test_manifests_that_are_not_read(tmp_path):
    def put(data):
        (tmp_path / "manifest.json").write_bytes(data if isinstance(data, bytes) else manifests.to_json(data))

    def refused(message):
        with pytest.raises(DataError, match=message):
            manifests.read_manifest(tmp_path)

    refused("has no manifest.json: make one: assay make")
    (tmp_path / ".plan.json").write_text("{}")
    refused("has no manifest.json: it is half made")
    good = plain_manifest()
    put(good)
    assert manifests.read_manifest(tmp_path) == good
    put(plain_manifest(format=2))
    refused("is of format 2, this assay reads format 1")
    put({**good, "seed": 1})
    refused("does not match its fingerprint; it was changed by hand")
    for damaged in (b"{", b"[]", manifests.to_json({"format": 1})):
        put(damaged)
        refused("is damaged; delete the folder and make it again")
    (entry,) = good["splits"][0]["shards"]
    for file in ("../x", "/etc/x", "a/../x", "x", "a/b/c", ".a/x", "a/.x"):
        put(plain_manifest(splits=[{"name": "test", "shards": [{**entry, "file": file}]}]))
        refused(re.escape(f"names the file {file!r}, which lies outside of its folder"))
        put(plain_manifest(pairs={"shards": [{**entry, "file": file}]}))
        refused("lies outside of its folder")
    for name in ("../a", "", ".a", "a b", "-a"):
        put(plain_manifest(splits=[{"name": name, "shards": []}]))
        refused(re.escape(f"has a split with the odd name {name!r}"))
    put(plain_manifest(splits=[{"name": "a-1.b_c", "shards": [{**entry, "file": "a-1/b.c"}]}]))
    assert manifests.read_manifest(tmp_path)["splits"][0]["name"] == "a-1.b_c"
    with pytest.raises(DataError, match="no dataset folder"):
        manifests.read_manifest(tmp_path / "none")


def test_contents_are_values_names_types_and_pixels():
    png = encode_png(np.arange(12, dtype=np.uint8).reshape(3, 4))
    other = encode_png(np.arange(1, 13, dtype=np.uint8).reshape(3, 4))

    def content(files=(png, b"?"), paths=("a", "b"), **more):
        image = pa.StructArray.from_arrays(
            [strings(list(files), pa.binary()), strings(list(paths), pa.string())], fields=list(IMAGE)
        )
        return content_of(pa.table({"index": pa.array([1, 2]), "image": image, **more}))

    known = content()
    changed = [
        content((other, b"?")), content((png, b"!")), content((b"?", png)), content(paths=("a", "c")), content(more=pa.array([1, 2])),
        content(index=pa.array([2, 1])), content(index=pa.array([1, 2], pa.int32())), content(index=pa.array([1, None])),
    ]  # fmt: skip
    assert len({known, *changed}) == 9


# -- scores of machines and other concepts -----------------------------------------------------------------------------


def test_scores_are_read_by_split_and_number(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("index, warm ,split,big\n3,0.5,train,-1\n0,2,test,1e2\n1,0.25,train,4\n")
    scores = read_scores(path)
    assert scores.names == ("warm", "big") and scores.rows == {"train": {3: 0, 1: 2}, "test": {0: 1}}
    assert scores.of("train", np.array([1, 3, 1])).tolist() == [[0.25, 4], [0.5, -1], [0.25, 4]]
    for split, index in (("train", [3, 0]), ("valid", [0])):
        with pytest.raises(DataError, match=f"the scores say nothing of example 0 of split '{split}'"):
            scores.of(split, np.array(index))
    for text, message in (
        ("split,index\n", "expected the columns split, index and one or more"), ("split,a\nx,1\n", "expected the columns"),
        ("index,a\n1,1\n", "expected the columns"), ("split,index,a,a\n", "expected the columns"), ("", "expected the columns"),
        ("split,index,a\nx,0,1\nx,1.5,1\n", "line 3: expected a split, a whole number and 1 numbers"),
        ("split,index,a\nx,0\n", "line 2: expected a split"), ("split,index,a\nx,0,b\n", "line 2: expected a split"),
        ("split,index,a\nx,0,1\ny,0,1\nx,0,2\n", "line 4: example 0 of split 'x' occurs twice"),
        ("split,index,a\nx,0,nan\n", "every score must be a number"), ("split,index,a\nx,0,inf\n", "every score must be"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_scores(path)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_scores(tmp_path / "none.csv")
    refuse_constant(["a", "b"], np.array([[0, 1], [1, 0]]))
    with pytest.raises(DataError, match="the machine says the same of 'b' in every example"):
        refuse_constant(["a", "b"], np.array([[0, 1], [1, 1]]))
    training = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 6.0]])
    rows = np.array([[0.0, 3.0], [1.0, 2.0], [0.5, 1.5]])
    assert threshold_scores(rows, training, "mean").tolist() == [[0, 1], [1, 0], [0, 0]]
    assert threshold_scores(rows, training, "median").tolist() == [[1, 1], [1, 1], [1, 0]]
    assert threshold_scores(rows, training, 1.5).tolist() == [[0, 1], [0, 1], [0, 1]]


def test_other_concepts_are_read_off_the_old_ones():
    asked = validate(Annotation, Settings({"drop": ["a"], "refine": {"shape": ["cross", "round"]}}))
    found = ConceptSet.of(KNOWLEDGE, asked)
    assert [view.concept.name for view in found.views] == ["b", "shape_is_cross", "shape_is_round"]
    assert found.unchanged == {"b"} and [view.table for view in found.views] == [(0, 1), (0, 0, 1), (1, 0, 0)]
    assert found.translate(np.array([[1, 0, 2], [0, 1, 0], [0, -1, -1], [0, 1, 1]])).tolist() == [
        [0, 1, 0], [1, 0, 1], [-1, -1, -1], [1, 0, 0],
    ]  # fmt: skip
    assert [(group.name, group.concepts) for group in found.space.encoders] == [
        ("bit", ("b",)), ("shape_is_cross", ("shape_is_cross",)), ("shape_is_round", ("shape_is_round",)),
    ]  # fmt: skip
    (one,) = found.constraints
    assert one.name == "one_shape" and one.tags == ("one_hot",)
    holds = [evaluate(one.formula, found.space, np.array([[0, *pair]]))[0] for pair in ((0, 0), (1, 0), (1, 1))]
    assert holds == [True, True, False]
    whole = ConceptSet.of(
        KNOWLEDGE, validate(Annotation, Settings({"refine": {"shape": ["cross", "round", "square"]}}))
    )
    holds = [evaluate(whole.constraints[0].formula, whole.space, np.array([[0, 0, *three]]))[0] for three in ((0, 0, 0), (0, 1, 0), (1, 1, 0))]  # fmt: skip
    assert holds == [False, True, False]
    single = ConceptSet.of(KNOWLEDGE, validate(Annotation, Settings({"refine": {"shape": ["cross"]}})))
    assert single.constraints == () and single.unchanged == {"a", "b"}
    layout = Layout(
        8, 4, 3, {"b": Box(0, 0, 2, 2), "shape": Box(2, 0, 4, 2), "a": Box(4, 0, 6, 2), "sky": Box(6, 0, 8, 2)}
    )
    assert set(found.layout(layout, True).regions) == {"b", "shape_is_cross", "shape_is_round", "sky"}
    assert found.layout(layout, True).regions["shape_is_round"] == Box(2, 0, 4, 2)
    assert found.layout(layout, False) == Layout(8, 4, 3)
    for settings, message in (
        ({"drop": ["a", "b", "shape"]}, "drop: no concept is left"), ({"refine": {"shape": []}}, "refine: give distinct values of 'shape'"),
        ({"refine": {"shape": ["cross", "cross"]}}, "refine: give distinct values"),
        ({"drop": ["b"], "refine": {"b": [True]}}, "concept 'b' cannot be both dropped and refined"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=message):
            ConceptSet.of(KNOWLEDGE, validate(Annotation, Settings(settings)))


def test_a_label_through_other_concepts_is_certain_or_has_odds():
    space, y = bits(["p", "q"]), KNOWLEDGE.labels[0]
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    sure = label_from(space, [0, 1], codes, np.array([0, 1, 1, 0, 0]), y)
    assert sure.odds is None and evaluate(sure.formula, space, codes).tolist() == [False, True, True, False, False]
    drawn = label_from(
        space,
        [1],
        np.array([[0, 0], [1, 0], [0, 0], [0, 0], [0, 1], [0, 1], [1, 1]]),
        np.array([1, 0, 0, 0, 1, 1, 0]),
        y,
    )
    scores = evaluate(drawn.odds.score, space, np.array([[0, 0], [1, 1]])) * drawn.odds.scale
    assert scores.tolist() == pytest.approx([np.log(1 / 3), np.log(2)], abs=1 / 64)
    assert evaluate(drawn.formula, space, np.array([[0, 0], [1, 0], [0, 1]])).tolist() == [False, False, True]
    with pytest.raises(ConfigError, match="label 'y' is always True in these rows: nothing to learn"):
        label_from(space, [0], codes, np.ones(5, int), y)
    with pytest.raises(ConfigError, match="label 'kind' does not follow from the concepts p, and only true-or-false"):
        label_from(space, [0], codes, np.array([0, 1, 2, 2, 2]), KNOWLEDGE.labels[1])


def test_a_world_is_changed_only_as_asked_and_if_it_can_be():
    knowledge = Knowledge.of(bits(["p", "q"]), {"y": "p"}, [Constraint("c", parse("p or q"))])
    made = {}
    task = SimpleNamespace(
        space=knowledge.space, knowledge=knowledge, change_world=lambda world, changes: made.get(tuple(changes.items()))
    )
    redrawing = Redrawing(task)
    world = World(knowledge.space, (1, 0), {})
    assert redrawing.change(world, 0, 1) is world and redrawing.change(world, 0, 0) is None
    made[("p", False),] = World(knowledge.space, (0, 0), {})
    assert redrawing.change(world, 0, 0) is None  # it cannot be
    made[("p", False),] = World(knowledge.space, (0, 1), {})
    assert redrawing.change(world, 0, 0).codes == (0, 1)
    made[("q", True),] = World(knowledge.space, (0, 0), {})
    assert redrawing.change(world, 1, 1) is None  # it did not become what was asked for
    assert redrawing_for("confirmation", None) is None


def test_masks_are_of_things_seen_and_else_of_regions():
    things = [
        [ObjectBox("p", Box(1, 0, 3, 2)), ObjectBox("p", Box(-2, 1, 1, 9)), ObjectBox("q", Box(2, 2, 2, 3))],
        [ObjectBox("other", Box(0, 0, 4, 3))],
    ]
    layout = Layout(4, 3, 1, {"q": Box(0, 2, 2, 3)})

    class Data(SimpleNamespace):
        def __len__(self):
            return 2

    data = Data(things=things, columns=("things",), layout=layout, knowledge=Knowledge.of(bits(["p", "q"]), {"y": "p"}))
    masks = ConceptMasks(data)
    assert masks.kind == "boxes"
    p, q = masks.of_concept("p"), masks.of_concept("q")
    assert p[0].astype(int).tolist() == [[0, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0]] and not p[1].any()
    assert q.astype(int).tolist() == [[[0] * 4, [0] * 4, [1, 1, 0, 0]]] * 2
    assert (masks.of_concepts(["p", "q"]) == (p | q)).all() and not masks.of_concepts([]).any()
    assert ConceptMasks(Data(columns=(), layout=layout, knowledge=data.knowledge)).kind == "regions"
    assert ConceptMasks(Data(columns=(), layout=Layout(4, 3), knowledge=data.knowledge)).kind == ""
