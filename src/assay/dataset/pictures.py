"""The pictures of a split: read and decoded by row, batch by batch, or all at once.

Pictures decoded: one, some, or batch by batch by threads that run ahead of the reader.

Decoded pictures in a file: what is decoded once is read from then on, which is faster where epochs repeat.

The file lies in the cache folder and has no name there, so that it is gone with the process, however that ends.
"""

import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from assay.base import Array, ConfigError, DataError
from assay.dataset.folder import cache_folder
from assay.dataset.stored import StoredRows
from assay.logic import listing
from assay.render import Layout, decode_png


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
    ) -> Generator[tuple[Array, Array], None, None]:
        """Iterate over batches: their rows and their decoded pictures; the last batch may be shorter.

        `order` says which rows and in which order, by default all of them as they are; a row may come twice. `workers`
        threads decode, by default one for each processor, at most `ahead` batches beyond the one that you have. The
        batches are the same for any number of threads. Close the iterator to stop early.
        """
        if size < 1 or (workers is not None and workers < 1) or (ahead is not None and ahead < 0):
            raise ConfigError(f"batches need size and workers of at least 1, not {size} and {workers}; ahead: {ahead}")
        places = self._places(range(len(self)) if order is None else order)
        self._files("image", places[:1])  # a split without pictures is refused here
        return decode_ahead(self.decode_into, self.picture_shape, places, size, workers, ahead)

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


PART = 16
"""How many pictures a thread decodes at a time."""
MOST_WORKERS = 16

Fill = Callable[[Array, Array], None]
"""Decodes the pictures of some rows into an array that has room for them."""


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


def decode_ahead(
    fill: Fill,
    shape: tuple[int, int, int],
    order: Array,
    size: int,
    workers: int | None = None,
    ahead: int | None = None,
    allocate: Callable[[tuple[int, ...]], Array] | None = None,
) -> Generator[tuple[Array, Array], None, None]:
    """Give the rows of each batch with their pictures, in order; threads decode the next ones meanwhile.

    When the generator is closed, what no thread has begun is dropped, and the threads end.

    Parameters
    ----------
    fill
        Decodes the pictures of some rows into an array that has room for them.
    shape
        The height, width and channels of a picture.
    order
        All rows, in the order in which they are wanted.
    size
        How many rows a batch has.
    workers
        How many threads decode; by default one for each processor.
    ahead
        How many batches beside the one that the reader has; by default enough to keep all threads at work twice over.
    allocate
        Gives the memory of a batch of a shape; by default any.
    """
    threads = _count_workers() if workers is None else workers
    batches = max(2, -(-2 * threads * PART // size)) if ahead is None else ahead
    pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-decode")
    waiting: deque[_Batch] = deque()
    try:
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            room = (len(rows), *shape)
            images = np.empty(room, dtype=np.uint8) if allocate is None else allocate(room)
            waiting.append(_Batch.begin(pool, fill, rows, images))
            if len(waiting) > batches:
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


SHARE = 0.25
"""The share of the free disk that decoded pictures may fill; of a larger split they are decoded again each time."""


class DecodedFile:
    """The pictures of a split, each decoded when first asked for and read from a file from then on."""

    def __init__(self, fill: Fill, rows: int, shape: tuple[int, int, int]) -> None:
        self.decode, self.size = fill, int(np.prod(shape))
        self.known = np.zeros(rows, dtype=bool)
        self.descriptor = _open_unnamed(rows * self.size)
        if self.descriptor is not None:
            weakref.finalize(self, os.close, self.descriptor)

    def fill(self, images: Array, rows: Array) -> None:
        """Put the pictures of some rows into an array, by several threads at once if need be."""
        if self.descriptor is None:
            self.decode(images, rows)
            return
        known = self.known[rows]
        for place in np.flatnonzero(known).tolist():
            os.preadv(self.descriptor, [images[place]], int(rows[place]) * self.size)
        new = np.flatnonzero(~known)
        if len(new):
            self._decode_new(self.descriptor, images, rows, new)

    def _decode_new(self, descriptor: int, images: Array, rows: Array, new: Array) -> None:
        room = np.empty((len(new), *images.shape[1:]), dtype=np.uint8)
        self.decode(room, rows[new])
        images[new] = room
        with suppress(OSError):  # where the disk is full, these pictures are decoded again next time
            for place, row in enumerate(rows[new].tolist()):
                self.known[row] = os.pwrite(descriptor, room[place], row * self.size) == self.size


def _open_unnamed(size: int) -> int | None:
    """Open a file without a name in the cache folder, or none where it would fill too much of the disk."""
    folder = cache_folder() / "decoded"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if size > SHARE * shutil.disk_usage(folder).free:
            return None
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.dup(file.fileno())
    except OSError:
        return None
