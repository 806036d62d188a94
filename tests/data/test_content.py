"""The fingerprint stands for what a dataset holds: the same however files are packed, another for any other value."""

import json
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.config import Settings
from assay.contracts import fingerprint
from assay.data import content, make, recipe_from, shard
from assay.data.content import content_of
from assay.render import decode_png, encode_png, png


def made(folder: Path) -> dict:
    settings = {"splits": {"train": 30, "valid": 6, "test": 6, "ood": 6, "hard": 6, "pairs": 6}}
    return make(recipe_from("mnlogic", Settings(settings)), folder)


def test_another_way_of_packing_gives_other_files_and_the_same_fingerprint(tmp_path, monkeypatch):
    usual = made(tmp_path / "usual")
    monkeypatch.setattr(png, "GREY", (9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY))
    plain = lambda table, job, folder: shard.write_atomically(folder / job.file, _packed(table, "gzip"))  # noqa: E731
    monkeypatch.setattr(shard, "write_shard", plain)
    other = made(tmp_path / "other")
    files = [[part["sha256"] for split in one["splits"] for part in split["shards"]] for one in (usual, other)]
    assert not set(files[0]) & set(files[1])
    assert usual["fingerprint"] == other["fingerprint"]


def _packed(table: pa.Table, compression: str) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression=compression, row_group_size=7)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("column", ["index", "image", "concept_a", "label_y", "style"])
def test_any_other_value_gives_another_content(tmp_path, column):
    made(tmp_path / "data")
    table = pq.read_table(next((tmp_path / "data" / "train").glob("*.parquet")))
    cells = table[column].to_pylist()
    changed = {
        "index": lambda cell: cell + 1,
        "image": lambda cell: {**cell, "bytes": encode_png(decode_png(cell["bytes"])[:, :, 0] ^ 1)},
        "concept_a": lambda cell: not cell if isinstance(cell, bool) else 1 - cell,
        "label_y": lambda cell: not cell if isinstance(cell, bool) else 1 - cell,
        "style": lambda cell: json.dumps({**json.loads(cell), "more": 1}),
    }[column](cells[3])
    place, field = table.column_names.index(column), table.field(column)
    other = table.set_column(place, field, pa.array([*cells[:3], changed, *cells[4:]], field.type))
    assert content_of(other) != content_of(table)
    assert content_of(table.slice(0, 29)) != content_of(table)


def test_a_shard_that_was_exchanged_together_with_its_hash_is_found_when_the_dataset_is_made_again(tmp_path):
    """Who changes a picture and the hash of its file leaves the content, and so the fingerprint, untrue."""
    manifest = made(tmp_path / "data")
    entry = manifest["splits"][0]["shards"][0]
    path = tmp_path / "data" / entry["file"]
    table = pq.read_table(path)
    cells = [{**cell, "bytes": encode_png(np.zeros((28, 84), np.uint8))} for cell in table["image"].to_pylist()]
    field = table.field("image")
    data = _packed(table.set_column(table.column_names.index("image"), field, pa.array(cells, field.type)), "zstd")
    path.write_bytes(data)
    entry["sha256"], entry["bytes"] = shard.hashlib.sha256(data).hexdigest(), len(data)
    (tmp_path / "data" / "manifest.json").write_text(json.dumps(manifest))
    assert made(tmp_path / "data")["fingerprint"] != manifest["fingerprint"]


def test_a_manifest_of_before_contents_were_written_keeps_its_fingerprint(tmp_path):
    manifest = made(tmp_path / "data")
    for split in manifest["splits"]:
        for part in split["shards"]:
            del part["content"]
    old = fingerprint(manifest)
    manifest["splits"][0]["shards"][0]["sha256"] = "0" * 64
    assert fingerprint(manifest) != old


def test_a_picture_that_unpacks_to_more_than_may_be_opened_stands_by_its_file(monkeypatch):
    """A stranger's file of a few bytes must not fill the memory."""
    monkeypatch.setattr(content, "MOST_BYTES", 1000)
    small, large = (encode_png(np.zeros((side, side), np.uint8)) for side in (20, 2000))
    row = lambda data: pa.table({"image": pa.array([{"bytes": data, "path": "a"}], shard.IMAGE)})  # noqa: E731
    monkeypatch.setattr(png, "GREY", (9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY))
    packed = [encode_png(np.zeros((side, side), np.uint8)) for side in (20, 2000)]
    assert content_of(row(packed[0])) == content_of(row(small))
    assert content_of(row(packed[1])) != content_of(row(large))
