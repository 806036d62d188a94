"""The pictures of a split on their way to a network: held on the device, or decoded batch by batch ahead of their use.

A split is held where its pictures fill no more than a set share of the device's free memory. A larger one stays on
disk: threads decode the next batches while the device computes, and on a GPU a further thread copies them there from
pinned memory. The order of the examples is the caller's, whatever the number of threads.
"""

import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Queue
from threading import Event, Thread
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from assay.base import Array
from assay.dataset import SplitData, cache_folder
from assay.models.core.devices import free_memory
from assay.models.core.inputs import ModelInput
from assay.models.core.tensors import Batch, to_annotations

AHEAD = 3
"""How many batches are copied to a GPU before they are asked for."""
SHARE = 0.25
"""The share of the free disk that decoded pictures may fill; of a larger split they are decoded again each time."""


class PictureSource(Protocol):
    """Pictures (bytes, examples x channels x height x width) that come in chunks."""

    def chunks(self, size: int) -> Iterator[Tensor]:
        """Yield the pictures in order, so many at a time."""


@dataclass(frozen=True)
class ChosenPictures:
    """The pictures of some rows of a split."""

    feed: "Feed"
    rows: Array

    def chunks(self, size: int) -> Iterator[Tensor]:
        """Yield the pictures in the order of the rows."""
        return self.feed.pictures_of(self.rows, size)


class Feed:
    """A split on a device: its labels and concepts, and its pictures (bytes), held there or not.

    Networks read examples x channels x height x width. In channels-last memory that is how pictures are decoded, seen
    from another side, and GPUs convolve it faster; pictures of one channel are the same bytes either way.
    """

    def __init__(
        self,
        data: SplitData,
        device: torch.device,
        memory_share: float = 0.25,
        channels_last: bool = False,
        repeats: bool = False,
        reads: ModelInput | None = None,
    ) -> None:
        """Put a split on a device; one that `repeats`, as epochs do, may keep decoded pictures in a file.

        What it `reads` instead of pictures is always held.
        """
        self.data, self.device = data, device
        self.as_decoded = channels_last or data.layout.channels == 1 or reads is not None
        self.annotations = to_annotations(data, device)
        held = reads is not None or _fits(data, device, memory_share)
        rows = (data.images if reads is None else reads.array(data)) if held else None
        self.images = None if rows is None else self._in_memory_order(torch.from_numpy(rows)).to(device)
        cached = DecodedFile(data.decode_into, len(data), data.picture_shape) if repeats and not held else None
        self._fill = data.decode_into if cached is None else cached.fill

    def __len__(self) -> int:
        return len(self.annotations)

    @property
    def is_held(self) -> bool:
        """Whether all pictures are on the device."""
        return self.images is not None

    def take(self, rows: Tensor, images: Tensor | None = None) -> Batch:
        """Return some rows with their pictures, which come from `batches` where they are not held here."""
        if self.images is not None:
            images = self.images[rows]
        if images is None:
            raise ValueError("the pictures of this split are not held; they come from `batches`")
        some = self.annotations
        return Batch(some.labels[rows], some.concepts[rows], rows, self._channels_first(images))

    def batches(self, orders: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Yield so many rows of each order (seeds x examples) at a time, and their pictures if they are not held."""
        parts = torch.split(orders, size, dim=1)
        if self.images is not None:
            yield from ((rows, None) for rows in parts)
            return
        flat = torch.cat([rows.flatten() for rows in parts]).cpu().numpy()
        streamed = self._stream(flat, size * len(orders))
        for rows, images in zip(parts, streamed, strict=True):
            yield rows, images.view(*rows.shape, *images.shape[1:])

    def chunks(self, size: int) -> Iterator[Tensor]:
        """Yield the pictures in order, so many at a time."""
        if self.images is None:
            return self.pictures_of(np.arange(len(self)), size)
        return (self._channels_first(images) for images in torch.split(self.images, size))

    def choose(self, rows: slice | Array) -> ChosenPictures:
        """Return the pictures of some rows."""
        return ChosenPictures(self, np.arange(len(self))[rows])

    def pictures_of(self, rows: Array, size: int) -> Iterator[Tensor]:
        """Yield the pictures of some rows, so many at a time."""
        if self.images is None:
            parts = self._stream(rows, size)
        else:
            chosen, images = torch.from_numpy(rows).to(self.device), self.images
            parts = (images[part] for part in torch.split(chosen, size))
        return (self._channels_first(part) for part in parts)

    def _stream(self, order: Array, size: int) -> Iterator[Tensor]:
        pinned = self.device.type == "cuda"
        allocate = _allocate_pinned if pinned else None
        batches = self.data.batches(size, order, fill=self._fill, allocate=allocate)
        decoded = (self._in_memory_order(torch.from_numpy(images)) for _, images in batches)
        return upload(decoded, self.device) if pinned else decoded

    def _in_memory_order(self, decoded: Tensor) -> Tensor:
        """Return pictures as they lie in memory: as decoded, or with the channels first."""
        return decoded if self.as_decoded else decoded.permute(0, 3, 1, 2).contiguous()

    def _channels_first(self, images: Tensor) -> Tensor:
        return images.permute(0, 3, 1, 2) if self.as_decoded else images


class ConceptFeed(Feed):
    """A split whose pictures another model has read: in the place of each is a row of concept probabilities."""

    def __init__(self, data: SplitData, device: torch.device, probabilities: Sequence[Array]) -> None:
        self.data, self.device, self.as_decoded = data, device, False
        self.annotations = to_annotations(data, device)
        self.images = torch.from_numpy(np.concatenate(probabilities, axis=1).astype(np.float32)).to(device)


def _fits(data: SplitData, device: torch.device, share: float) -> bool:
    """Return whether a split's pictures fill no more than this share of a device's free memory."""
    layout = data.layout
    return len(data) * layout.height * layout.width * layout.channels <= share * free_memory(device)


def _allocate_pinned(shape: tuple[int, ...]) -> Array:
    """Return room for so many bytes that a GPU can copy from while others compute."""
    return np.asarray(torch.empty(shape, dtype=torch.uint8, pin_memory=True).numpy())


def upload(batches: Iterator[Tensor], device: torch.device, ahead: int = AHEAD) -> Iterator[Tensor]:
    """Copy batches to a GPU a few ahead of their use, from pinned memory, on a stream of its own."""
    queue: Queue[tuple[Tensor, torch.cuda.Event] | BaseException | None] = Queue(ahead)
    stopped = Event()

    def copy() -> None:
        stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        under_way: deque[tuple[Tensor, torch.cuda.Event]] = deque()
        try:
            for batch in batches:
                here = batch if batch.is_pinned() else batch.pin_memory()
                with torch.cuda.stream(stream):
                    there = here.to(device, non_blocking=True)
                    done = stream.record_event()
                under_way.append((here, done))
                if len(under_way) > ahead:
                    under_way.popleft()[1].synchronize()  # its memory may be used again from here on
                queue.put((there, done))
                if stopped.is_set():
                    return
            queue.put(None)
        except BaseException as error:  # told to the caller
            queue.put(error)

    thread = Thread(target=copy, daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            images, done = item
            current = torch.cuda.current_stream(device)
            current.wait_event(done)
            images.record_stream(current)
            yield images
    finally:
        stopped.set()
        while thread.is_alive():  # let it see that nobody listens
            while not queue.empty():
                queue.get_nowait()
            thread.join(0.01)
        close = getattr(batches, "close", None)
        if close is not None:
            close()


class DecodedFile:
    """The pictures of a split, each decoded when first asked for and read from a file from then on.

    The file lies in the cache folder and has no name there, so that it is gone with the process, however that ends.
    """

    def __init__(self, fill: Callable[[Array, Array], None], rows: int, shape: tuple[int, int, int]) -> None:
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
