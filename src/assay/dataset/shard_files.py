"""A shard on disk: checked by its hash, and read without holding the whole file in memory."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import DataError
from assay.contracts import ShardRecord, parquet_source

PICTURES = ("image", "instances", "parts", "depth")
"""The columns that hold PNG files; they stay on disk until rows of them are asked for."""
BLOCK = 2**20
ROWS_AT_ONCE = 64
"""How many rows of pictures are read from a shard at a time."""


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
            return pq.ParquetFile(parquet_source(self.path), buffer_size=BLOCK, pre_buffer=False)
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
