"""A shard is checked by its hash to the last byte, however long it is, and read column by column."""

import hashlib
from pathlib import Path

import pytest

from assay.data import Dataset, shard_files
from assay.data.shard_files import ROWS_AT_ONCE, ShardFile, ShardTable
from assay.errors import DataError


def test_every_block_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_files, "BLOCK", 64)
    whole = bytes(range(256)) * 2
    for place in (0, 63, 64, 200, 511):
        path = tmp_path / str(place)
        path.write_bytes(whole)
        shard = ShardFile(path, 1, hashlib.sha256(whole).hexdigest())
        shard.check()
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="does not match its hash: it is damaged"):
            shard.check()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        ShardFile(tmp_path / "none", 1, "").check()


def shard_of(dataset: Dataset, split: str) -> ShardFile:
    entry = next(one for one in dataset.manifest["splits"] if one["name"] == split)["shards"][0]
    return ShardFile.of(dataset.folder, entry)


def test_a_shard_is_read_without_its_pictures(evenodd: Dataset) -> None:
    shard, data = shard_of(evenodd, "test"), evenodd["test"]
    assert shard.rows == len(data) == 160
    table = ShardTable.read(shard, None)
    assert "image" in table.columns and "image" not in table.table.column_names
    assert list(table.picture_bytes) == ["image"] and table.picture_bytes["image"] >= sum(map(len, data.pngs))
    some = ShardTable.read(shard, ["index", "label_sum", "image"])
    assert some.table.column_names == ["index", "label_sum"] and some.columns == table.columns
    assert shard.read(["index"])["index"].to_pylist() == data.index.tolist()


def test_pictures_come_some_rows_at_a_time_and_in_order(evenodd: Dataset) -> None:
    pieces = list(shard_of(evenodd, "test").pictures("image"))
    assert [len(piece) for piece in pieces] == [ROWS_AT_ONCE, ROWS_AT_ONCE, 160 - 2 * ROWS_AT_ONCE]
    assert [png for piece in pieces for png in piece.to_pylist()] == evenodd["test"].pngs
