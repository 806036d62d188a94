"""Shards on disk, checked by their hashes and read without holding a whole file in memory, and their pictures by row.

A shard is compressed as a whole, so single rows cannot be read from it. Of a split whose pictures have `HELD_BYTES` or
more, each shard is unpacked when a row of it is first asked for, into a file under `pictures` in the cache folder
(`$ASSAY_CACHE`, or `~/.cache/assay`): the PNG files one after another, then where each begins. The name of that file
is the shard's hash, so later processes find it, and it may be deleted at any time. Fewer pictures are held in memory.
"""

import hashlib
import io
import os
import shutil
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import Array, DataError, open_atomically
from assay.contracts import ShardRecord, open_parquet
from assay.dataset.folder import cache_folder

PICTURES = ("image", "instances", "parts", "depth")
"""The columns that hold PNG files; they stay on disk until rows of them are asked for."""
BLOCK = 2**20
ROWS_AT_ONCE = 64
"""How many rows of pictures are read from a shard at a time."""
HELD_BYTES = 256 * 2**20
"""Pictures of a split that have fewer bytes as PNG files are held in memory; more are read from files."""
FOLDER = "pictures"
"""Where unpacked pictures lie in the cache folder."""
WORD = 8
"""The bytes of an offset."""


@dataclass(frozen=True)
class ShardFile:
    """A shard on this machine, and what the manifest says of it."""

    path: Path
    rows: int
    sha256: str

    @classmethod
    def of(cls, folder: Path, entry: ShardRecord) -> "ShardFile":
        """Return the shard that a manifest lists."""
        return cls(folder / entry.file, entry.rows, entry.sha256)

    def check(self) -> None:
        """Refuse a file that does not match its hash."""
        digest = hashlib.sha256()
        try:
            with self.path.open("rb", buffering=0) as handle:
                while block := handle.read(BLOCK):
                    digest.update(block)
        except OSError as error:
            raise DataError(f"shard {str(self.path)!r} cannot be read: {error.strerror}") from None
        if digest.hexdigest() != self.sha256:
            raise DataError(f"shard {str(self.path)!r} does not match its hash: it is damaged")

    def open(self) -> pq.ParquetFile:
        """Open the file, whose hash was checked."""
        try:
            return open_parquet(self.path, buffer_size=BLOCK, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"shard {str(self.path)!r} cannot be read: {str(error).splitlines()[0]}") from None

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns."""
        with self.open() as file:
            return file.read(columns=list(columns), use_threads=False)

    def pictures(self, column: str) -> Iterator[pa.BinaryArray]:
        """Give the pictures of a column, some rows at a time, after checking the hash."""
        self.check()
        with self.open() as file:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=[f"{column}.bytes"], use_threads=False):
                yield batch.column(0).field("bytes")


@dataclass(frozen=True)
class ShardTable:
    """A shard, read but for its pictures: the other columns, all columns' names, and the bytes of the pictures."""

    table: pa.Table
    columns: tuple[str, ...]
    picture_bytes: Mapping[str, int]
    """About how many bytes the pictures of each column have, as the file says."""

    @classmethod
    def read(cls, shard: ShardFile, wanted: Sequence[str] | None) -> "ShardTable":
        """Read a shard, or some of its columns, after checking its hash."""
        shard.check()
        with shard.open() as file:
            names = tuple(file.schema_arrow.names)
            table = file.read(columns=[name for name in wanted or names if name not in PICTURES])
            return cls(table, names, {name: _size(file, name) for name in names if name in PICTURES})


def _size(file: pq.ParquetFile, column: str) -> int:
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    return sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == f"{column}.bytes")


@dataclass(frozen=True)
class HeldPictures:
    """The pictures of a shard one after another in memory, and where each begins."""

    memory: memoryview
    offsets: Array

    def read(self, places: Sequence[int]) -> list[bytes]:
        """Return some pictures as PNG files."""
        return [bytes(self.memory[self.offsets[place] : self.offsets[place + 1]]) for place in places]


@dataclass(frozen=True)
class PictureFile:
    """The pictures of a shard one after another in a file, and where each begins."""

    path: Path
    offsets: Array

    @classmethod
    def open(cls, path: Path, rows: int) -> "PictureFile | None":
        """Return what this or an earlier process unpacked, if it is there and whole."""
        length = WORD * (rows + 1)
        try:
            with path.open("rb") as handle:
                end = handle.seek(0, os.SEEK_END) - length
                handle.seek(max(0, end))
                offsets = np.frombuffer(handle.read(length), dtype="<i8") if end >= 0 else np.zeros(0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"{str(path)!r} cannot be read: {error.strerror}") from None
        return cls(path, offsets) if len(offsets) == rows + 1 and offsets[-1] == end else None

    def read(self, places: Sequence[int]) -> list[bytes]:
        """Return some pictures as PNG files; raise FileNotFoundError where the cache was cleared."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            bounds = [(int(self.offsets[place]), int(self.offsets[place + 1])) for place in places]
            files = [os.pread(descriptor, stop - start, start) for start, stop in bounds]
        finally:
            os.close(descriptor)
        if any(len(data) != stop - start for data, (start, stop) in zip(files, bounds, strict=True)):
            raise DataError(f"{str(self.path)!r} was cut short; delete it")
        return files


class PictureStore:
    """The encoded pictures of one column of a split; a shard is read when the first row of it is asked for."""

    def __init__(self, shards: Sequence[ShardFile], column: str, size: int) -> None:
        self.shards, self.column, self.size = tuple(shards), column, size
        self.starts: list[int] = starts_of(shards).tolist()
        self._begin()

    def _begin(self) -> None:
        self._opened: dict[int, HeldPictures | PictureFile] = {}
        self._lock = threading.Lock()  # several threads must not unpack one shard

    @property
    def large(self) -> bool:
        """Whether the pictures are read from files."""
        return self.size >= HELD_BYTES

    def files(self, rows: Array) -> list[bytes]:
        """Return the pictures of some rows as PNG files."""
        wanted: dict[int, list[tuple[int, int]]] = {}
        for place, row in enumerate(rows.tolist()):
            number = bisect_right(self.starts, row) - 1
            wanted.setdefault(number, []).append((place, row - self.starts[number]))
        found = [b""] * len(rows)
        for number, pairs in wanted.items():
            files = self._read(number, [inside for _, inside in pairs])
            for (place, _), data in zip(pairs, files, strict=True):
                found[place] = data
        return found

    def _read(self, number: int, places: Sequence[int]) -> list[bytes]:
        try:
            return self._shard(number).read(places)
        except FileNotFoundError:  # the cache was cleared
            self._opened.pop(number, None)
            return self._shard(number).read(places)

    def _shard(self, number: int) -> HeldPictures | PictureFile:
        with self._lock:
            if number not in self._opened:
                shard = self.shards[number]
                self._opened[number] = self._unpacked(shard) if self.large else self._held(shard)
            return self._opened[number]

    def _held(self, shard: ShardFile) -> HeldPictures:
        buffer = io.BytesIO()
        offsets = _unpack(shard, self.column, buffer)
        return HeldPictures(buffer.getbuffer(), offsets)

    def _unpacked(self, shard: ShardFile) -> PictureFile:
        path = folder() / f"{shard.sha256}-{self.column}"
        found = PictureFile.open(path, shard.rows)
        if found is None:
            _require_room(self.size // len(self.shards))
            with open_atomically(path) as handle:
                handle.write(_unpack(shard, self.column, handle).astype("<i8").tobytes())
            found = PictureFile.open(path, shard.rows)
        if found is None:
            raise DataError(f"{str(path)!r} was deleted or changed while it was written; start again")
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to read the pictures itself."""
        return {"shards": self.shards, "column": self.column, "size": self.size, "starts": self.starts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()


@dataclass(frozen=True)
class SplitShards:
    """All shards of a split, in order, with its columns of pictures and about how many bytes each of these has."""

    shards: tuple[ShardFile, ...]
    columns: tuple[str, ...]
    """The names of all columns, in the order of the file."""
    picture_bytes: Mapping[str, int]

    @cached_property
    def stores(self) -> dict[str, PictureStore]:
        """The pictures of each column."""
        return {name: PictureStore(self.shards, name, size) for name, size in self.picture_bytes.items()}

    def table(self, rows: Array, columns: Sequence[str]) -> pa.Table:
        """Return columns of some rows in memory, in order; only the shards that have these rows are read."""
        starts = starts_of(self.shards)
        numbers = np.searchsorted(starts, rows, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        parts = [self.shards[0].read(columns).slice(0, 0)] if not len(rows) else []
        for number in np.unique(numbers).tolist():
            places = rows[order][numbers[order] == number] - starts[number]
            parts.append(_take(self.shards[number].read(columns), places))
        back = np.empty(len(rows), dtype=np.int64)
        back[order] = np.arange(len(rows))
        return _take(pa.concat_tables(parts), back)


@dataclass(frozen=True)
class StoredRows:
    """Rows of a split whose pictures are not in memory."""

    split: SplitShards
    rows: Array

    @classmethod
    def of(cls, split: SplitShards) -> "StoredRows":
        """Return all rows of a split."""
        return cls(split, np.arange(int(starts_of(split.shards)[-1])))

    @property
    def large(self) -> bool:
        """Whether pictures of the split are too large to be held in memory."""
        return any(store.large for store in self.split.stores.values())

    def take(self, rows: Array) -> "StoredRows":
        """Return some of the rows."""
        return StoredRows(self.split, self.rows[rows])

    def files(self, column: str, rows: Array) -> list[bytes]:
        """Return pictures of some of these rows as PNG files."""
        return self.split.stores[column].files(self.rows[rows])

    def add_pictures(self, table: pa.Table) -> pa.Table:
        """Return a table of these rows with the columns of pictures where they are in the shards."""
        pictures = self.split.table(self.rows, list(self.split.picture_bytes))
        for place, name in enumerate(self.split.columns):
            if name in self.split.picture_bytes:
                before = self.split.columns[place - 1] if place else None
                after = 0 if before is None else table.column_names.index(before) + 1
                table = table.add_column(after, pictures.schema.field(name), pictures[name])
        return table


def folder() -> Path:
    """Return where unpacked pictures lie."""
    return cache_folder() / FOLDER


def starts_of(shards: Sequence[ShardFile]) -> Array:
    """Return the number of the first row of each shard, and of the row after the last."""
    return np.cumsum([0, *(shard.rows for shard in shards)])


def _take(table: pa.Table, rows: Array) -> pa.Table:
    """Return some rows; the table itself where these are all of them in order."""
    same = len(rows) == table.num_rows and bool((rows == np.arange(len(rows))).all())
    return table if same else table.take(pa.array(rows))


def _require_room(needed: int) -> None:
    """Refuse to begin where the disk is too full."""
    where = folder()
    try:
        where.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(where).free
    except OSError as error:
        raise DataError(f"cannot use folder {str(where)!r}: {error.strerror}") from None
    if free < needed:
        raise DataError(
            f"unpacking a shard of pictures takes {needed / 1e6:.1f} MB and {str(where)!r} has {free / 1e6:.1f} MB "
            "left; set ASSAY_CACHE to a folder with room"
        )


def _unpack(shard: ShardFile, column: str, handle: BinaryIO | io.BytesIO) -> Array:
    """Write the pictures of a shard one after another; return where each begins, and where the last ends."""
    lengths = [np.zeros(1, dtype=np.int64)]
    for pictures in shard.pictures(column):
        offsets = _offsets(pictures)
        handle.write(memoryview(pictures.buffers()[2])[offsets[0] : offsets[-1]])
        lengths.append(np.diff(offsets))
    return np.cumsum(np.concatenate(lengths), dtype=np.int64)


def _offsets(pictures: pa.BinaryArray) -> Array:
    """Return where each picture of an array begins in its buffer, and where the last ends."""
    width = np.int64 if pa.types.is_large_binary(pictures.type) else np.int32
    offsets = np.frombuffer(pictures.buffers()[1], dtype=width)
    return offsets[pictures.offset : pictures.offset + len(pictures) + 1].astype(np.int64)
