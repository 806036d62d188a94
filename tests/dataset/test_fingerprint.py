"""The fingerprint stands for what a dataset holds: the same however files are packed, another for any other value."""

import hashlib
import io
import json
import struct
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import Settings
from assay.contracts import fingerprint, to_json
from assay.dataset import Dataset, make, recipe_from
from assay.render import decode_png, encode_png


def made(folder):
    settings = {"splits": {"train": 30, "valid": 6, "test": 6, "ood": 6, "hard": 6, "pairs": 6}}
    return make(recipe_from("mnlogic", Settings(settings)), folder).to_dict()


def exchange(folder, change=lambda table: table, **how):
    """Write the first shard anew, and its length and hash into the manifest; what it holds is no longer said truly."""
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = manifest["splits"][0]["shards"][0]
    table, buffer = pq.read_table(folder / entry["file"]), io.BytesIO()
    pq.write_table(change(table), buffer, **how)
    (folder / entry["file"]).write_bytes(buffer.getvalue())
    entry.update(sha256=hashlib.sha256(buffer.getvalue()).hexdigest(), bytes=len(buffer.getvalue()))
    (folder / "manifest.json").write_bytes(to_json(manifest))
    return manifest


def with_cell(name, change, row=3):
    """Return what changes one cell of a table."""

    def changed(table):
        cells, place = table[name].to_pylist(), table.column_names.index(name)
        cells[row] = change(cells[row])
        return table.set_column(place, table.field(name), pa.array(cells, table.field(name).type))

    return changed


def repacked(cell):
    """Return the same picture, its pixels compressed by another version of zlib, so to say."""
    data = cell["bytes"]
    (size,) = struct.unpack(">I", data[33:37])
    pixels = zlib.compress(zlib.decompress(data[41 : 41 + size]), 9)
    body = struct.pack(">I", len(pixels)) + b"IDAT" + pixels + struct.pack(">I", zlib.crc32(b"IDAT" + pixels))
    return {**cell, "bytes": data[:33] + body + data[41 + size + 4 :]}


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda table: table, {"compression": "gzip", "row_group_size": 7}),
        (lambda table: table.select(table.column_names[::-1]), {}),
        (with_cell("image", repacked), {}),
    ],
    ids=["files", "order of columns", "pictures"],
)
def test_the_same_packed_otherwise_is_the_same_dataset(change, how, tmp_path):
    before = made(tmp_path)
    now = exchange(tmp_path, change, **how)
    assert now["splits"][0]["shards"][0]["sha256"] != before["splits"][0]["shards"][0]["sha256"]
    assert Dataset.open(tmp_path).fingerprint == before["fingerprint"] == fingerprint(now)
    assert made(tmp_path)["fingerprint"] == before["fingerprint"]


CHANGES = {
    "index": lambda cell: cell + 1,
    "image": lambda cell: {**cell, "bytes": encode_png(decode_png(cell["bytes"])[:, :, 0] ^ 1)},
    "name of the image": lambda cell: {**cell, "path": "other.png"},
    "no image": lambda cell: {**cell, "bytes": b"?"},
    "concept_a": lambda cell: not cell,
    "label_y": lambda cell: not cell,
    "style": lambda cell: json.dumps({**json.loads(cell), "more": 1}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_who_changes_a_value_and_the_hash_of_its_file_is_found_when_the_dataset_is_made_again(what, tmp_path):
    before = made(tmp_path)
    exchange(tmp_path, with_cell("image" if "image" in what else what, CHANGES[what]))
    assert made(tmp_path)["fingerprint"] != before["fingerprint"]


def test_a_fingerprint_stands_for_data_and_rule_alone(tmp_path):
    manifest = made(tmp_path)
    assert len(manifest["fingerprint"]) == 32
    for key in ("summary", "versions", "backbones", "columns", "local"):
        assert fingerprint({**manifest, key: "other"}) == manifest["fingerprint"]
    for key in ("format", "seed", "shard_rows", "task", "knowledge", "layout", "sources"):
        assert fingerprint({**manifest, key: "other"}) != manifest["fingerprint"]
    for key in ("content", "rows", "file"):
        other = json.loads(json.dumps(manifest))
        other["splits"][0]["shards"][0][key] = "other"
        assert fingerprint(other) != manifest["fingerprint"]


def test_in_a_manifest_of_before_contents_were_written_the_files_count(tmp_path):
    manifest = made(tmp_path)
    for split in manifest["splits"]:
        for part in split["shards"]:
            del part["content"]
    old = fingerprint(manifest)
    manifest["splits"][0]["shards"][0]["sha256"] = "0" * 64
    assert fingerprint(manifest) != old


def test_a_picture_that_unpacks_to_more_than_may_be_opened_stands_by_its_file(tmp_path, monkeypatch):
    """A stranger's file of a few bytes must not fill the memory."""
    monkeypatch.setattr("assay.dataset.shard.MOST_BYTES", 1000)  # a limit, of which a picture here has more
    before = made(tmp_path)
    exchange(tmp_path, with_cell("image", repacked))
    assert made(tmp_path)["fingerprint"] != before["fingerprint"]
