"""Pictures decoded: one, some, or batch by batch by threads that run ahead of the reader."""

import os
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from assay.base import Array
from assay.render import decode_png

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


def count_workers() -> int:
    """Return how many threads decode where none are asked for: one for each processor, within reason."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_WORKERS)


@dataclass(frozen=True)
class Lookahead:
    """How far threads run ahead: how many threads, and how many batches beside the one that the reader has."""

    workers: int
    batches: int

    @classmethod
    def of(cls, size: int, workers: int | None, ahead: int | None) -> "Lookahead":
        """Return what is asked for, or else enough batches of this size to keep all threads at work twice over."""
        threads = count_workers() if workers is None else workers
        return cls(threads, max(2, -(-2 * threads * PART // size)) if ahead is None else ahead)


def allocate_bytes(shape: tuple[int, ...]) -> Array:
    """Return room for so many bytes."""
    return np.empty(shape, dtype=np.uint8)


def decode_ahead(
    fill: Fill,
    shape: tuple[int, int, int],
    order: Array,
    size: int,
    look: Lookahead,
    allocate: Callable[[tuple[int, ...]], Array] = allocate_bytes,
) -> Generator[tuple[Array, Array], None, None]:
    """Give the rows of each batch with their pictures, in order; threads decode the next ones meanwhile.

    `allocate` gives the memory of each batch. When the generator is closed, what no thread has begun is dropped, and
    the threads end.
    """
    pool = ThreadPoolExecutor(look.workers, thread_name_prefix="assay-decode")
    waiting: deque[_Batch] = deque()
    try:
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            waiting.append(_Batch.begin(pool, fill, rows, allocate((len(rows), *shape))))
            if len(waiting) > look.batches:
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
