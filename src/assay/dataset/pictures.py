"""The pictures of a split: decoded by row, all at once, or in batches by threads that run ahead of the reader."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from assay.base import Array, ConfigError, DataError
from assay.dataset.stored import StoredRows
from assay.logic import listing
from assay.render import Layout, decode_png

PART = 16
"""How many pictures a thread decodes at a time."""
MOST_WORKERS = 16

Fill = Callable[[Array, Array], None]
"""Decodes the pictures of some rows into an array that has room for them."""


class SplitPictures:
    """What a split shows; `SplitData` is one."""

    name: str
    layout: Layout
    table: pa.Table
    stored: StoredRows | None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, those of pictures included."""
        return tuple(self.table.column_names) if self.stored is None else self.stored.split.columns

    def pictures(self, rows: "Iterable[int] | Array") -> Array:
        """Decode the pictures of some rows: examples x height x width x channels, as bytes.

        Nothing is kept: memory grows with the number of rows asked for, not with the split.
        """
        places = self._places(rows)
        images = np.empty((len(places), *self.picture_shape), dtype=np.uint8)
        self.decode_into(images, places)
        return images

    def batches(
        self,
        size: int,
        order: "Iterable[int] | Array | None" = None,
        workers: int | None = None,
        ahead: int | None = None,
        fill: Fill | None = None,
        allocate: Callable[[tuple[int, ...]], Array] | None = None,
    ) -> Generator[tuple[Array, Array], None, None]:
        """Iterate over batches: their rows and their decoded pictures; the last batch may be shorter.

        The batches are the same for any number of threads. Close the iterator to stop early: what no thread has begun
        is dropped, and the threads end.

        Parameters
        ----------
        size
            How many rows a batch has.
        order
            Which rows and in which order, by default all of them as they are; a row may come twice.
        workers
            How many threads decode; by default one for each processor.
        ahead
            How many batches they may be beyond the one that you have; by default enough to keep all of them at work.
        fill
            Decodes the pictures of some rows into an array that has room for them; by default from the split's files.
        allocate
            Gives the memory for a batch of a shape; by default any.
        """
        if size < 1 or (workers is not None and workers < 1) or (ahead is not None and ahead < 0):
            raise ConfigError(f"batches need size and workers of at least 1, not {size} and {workers}; ahead: {ahead}")
        places = self._places(range(len(self)) if order is None else order)
        self._files("image", places[:1])  # a split without pictures is refused here
        threads = _count_workers() if workers is None else workers
        batches = max(2, -(-2 * threads * PART // size)) if ahead is None else ahead
        parts = [places[start : start + size] for start in range(0, len(places), size)]

        def room(rows: Array) -> Array:
            shape = (len(rows), *self.picture_shape)
            return np.empty(shape, dtype=np.uint8) if allocate is None else allocate(shape)

        return _decode_ahead(parts, threads, batches, fill or self.decode_into, room)

    @property
    def picture_shape(self) -> tuple[int, int, int]:
        """The height, width and channels of a picture."""
        return self.layout.height, self.layout.width, self.layout.channels

    def _places(self, rows: "Iterable[int] | Array") -> Array:
        """Return rows as an array; refuse those that there are not."""
        given = np.asarray(rows if isinstance(rows, (np.ndarray, Sequence)) else list(rows))
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise DataError(f"rows are whole numbers in one dimension, not {given.dtype} of shape {given.shape}")
        outside = given[(given < 0) | (given >= len(self))]
        if len(outside):
            raise DataError(f"split {self.name!r} has {len(self)} examples, so no row {outside[0]}")
        return given.astype(np.int64)

    def decode_into(self, images: Array, rows: Array) -> None:
        """Decode the pictures of rows into an array."""
        for place, (row, data) in enumerate(zip(rows.tolist(), self._files("image", rows), strict=True)):
            try:
                image = decode(data)
            except (DataError, OSError, SyntaxError, ValueError) as error:  # Pillow raises the last three
                raise DataError(f"split {self.name!r}: the picture of row {row} cannot be read: {error}") from None
            if image.shape != self.picture_shape:
                shapes = f"{image.shape}, not {self.picture_shape}"
                raise DataError(f"split {self.name!r}: the picture of row {row} is of shape {shapes}")
            images[place] = image

    @cached_property
    def images(self) -> Array:
        """All pictures, held in memory: examples x height x width x channels, as bytes."""
        return self.pictures(range(len(self)))

    @cached_property
    def pngs(self) -> list[bytes]:
        """All pictures as PNG files, held in memory."""
        return self.files()

    @cached_property
    def instances(self) -> Array:
        """For each pixel of each picture which object it shows: 1 for the first of `things`, 0 for none; in memory."""
        return self._maps("instances")

    @cached_property
    def parts(self) -> Array:
        """For each pixel of each picture which part it shows, numbered as `things`, 0 for none; in memory."""
        return self._maps("parts")

    @cached_property
    def depths(self) -> Array:
        """For each pixel of each picture how far away it is, in 65,535ths of the task's farthest; in memory."""
        return self._maps("depth")

    def _maps(self, column: str) -> Array:
        return np.stack([decode(data)[:, :, 0] for data in self.files(column=column)])

    def files(self, rows: "Iterable[int] | Array | None" = None, column: str = "image") -> list[bytes]:
        """Return the pictures of some rows, by default all, as PNG files; of any column that holds pictures."""
        return self._files(column, self._places(range(len(self)) if rows is None else rows))

    def _files(self, column: str, rows: Array) -> list[bytes]:
        if self.stored is not None and column in self.stored.split.stores:
            return self.stored.files(column, rows)
        found: list[bytes] = self._column(column).take(pa.array(rows)).combine_chunks().field("bytes").to_pylist()
        return found

    def _column(self, name: str) -> pa.ChunkedArray:
        if name not in self.table.column_names:
            raise DataError(f"split {self.name!r} has no column {name!r}; there is: {listing(self.columns)}")
        return self.table[name]


def decode(data: bytes) -> Array:
    """Return a PNG as bytes in height x width x channels."""
    own = decode_png(data)
    if own is not None:
        return own
    from assay.render import open_image

    with open_image(data, "in a shard") as image:
        pixels = np.asarray(image)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def _count_workers() -> int:
    """Return how many threads decode where none are asked for: one for each processor, within reason."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_WORKERS)


def _decode_ahead(
    parts: Iterable[Array],
    threads: int,
    ahead: int,
    fill: Fill,
    allocate: Callable[[Array], Array],
) -> Generator[tuple[Array, Array], None, None]:
    """Give the rows of each batch with their pictures, in order; threads decode the next ones meanwhile."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-decode")
    waiting: deque[_Batch] = deque()
    try:
        for rows in parts:
            waiting.append(_Batch.begin(pool, fill, rows, allocate(rows)))
            if len(waiting) > ahead:
                yield waiting.popleft().finish()
        while waiting:
            yield waiting.popleft().finish()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Batch:
    """A batch that threads fill."""

    rows: Array
    images: Array
    parts: list["Future[None]"]

    @classmethod
    def begin(cls, pool: ThreadPoolExecutor, fill: Fill, rows: Array, images: Array) -> "_Batch":
        """Let the pool decode a batch."""
        parts = [slice(start, start + PART) for start in range(0, len(rows), PART)]
        return cls(rows, images, [pool.submit(fill, images[part], rows[part]) for part in parts])

    def finish(self) -> tuple[Array, Array]:
        """Return the batch when it is whole; raise what went wrong in a thread."""
        for part in self.parts:
            part.result()
        return self.rows, self.images
