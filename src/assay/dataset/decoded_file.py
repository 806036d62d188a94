"""Decoded pictures in a file: what is decoded once is read from then on, which is faster where epochs repeat.

The file lies in the cache folder and has no name there, so that it is gone with the process, however that ends.
"""

import os
import shutil
import tempfile
import weakref
from contextlib import suppress

import numpy as np

from assay.base import Array
from assay.dataset.cache import cache_folder
from assay.dataset.decoding import Fill

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
