"""An album: annotated images as columns, with the class, box and area of each object; and pools of images."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from assay.base import Array, Codes, DataError, digest

Crowds = Literal["one", "ignore", "drop"]
Tiny = Literal["ignore", "drop"]
POOLS = ("train", "valid", "test", "hard")


@dataclass(frozen=True)
class AnnotationFilter:
    """Which annotations count as objects, and which images are left out.

    `crowds`      a group annotated as one: counts as one object, or not, or its image is left out
    `least_area`  objects that cover less than this share of their image are tiny
    `tiny`        tiny objects do not count, or their image is left out
    `clear_area`  only images where each object covers at least this share of the image
    `clear_fill`  only images where each object fills at least this share of its box: what is hidden fills less
    """

    crowds: Crowds = "one"
    least_area: float = 0.0
    tiny: Tiny = "ignore"
    clear_area: float = 0.0
    clear_fill: float = 0.0


@dataclass(frozen=True)
class Album:
    """Images (a row each in `files`, `sizes`, `parts`) and objects (a row each in the other columns).

    `parts`    which of the files the image comes from: 0 for training, 1 for testing
    `sizes`    width and height in pixels
    `owners`   the image of each object; `classes` a place in `categories`; `boxes` left, top, width, height
    """

    files: tuple[str, ...]
    sizes: Array
    parts: Array
    categories: tuple[str, ...]
    owners: Array
    classes: Array
    boxes: Array
    areas: Array
    crowds: Array

    def __len__(self) -> int:
        return len(self.files)

    @cached_property
    def _starts(self) -> Array:
        """Where the objects of each image begin, once sorted by image."""
        return np.searchsorted(self.owners, np.arange(len(self.files) + 1))

    def objects_of(self, number: int) -> range:
        """Return the rows of the objects of one image."""
        return range(int(self._starts[number]), int(self._starts[number + 1]))

    @cached_property
    def shares(self) -> Array:
        """The share of its image that each object covers."""
        pixels = self.sizes.prod(axis=1)[self.owners]
        return np.asarray(self.areas / np.maximum(pixels, 1))

    @cached_property
    def fills(self) -> Array:
        """The share of its box that each object fills."""
        return np.asarray(self.areas / np.maximum(self.boxes[:, 2] * self.boxes[:, 3], 1e-9))

    def is_counted(self, annotation_filter: AnnotationFilter) -> Array:
        """Return whether each object counts."""
        large_enough = self.shares >= annotation_filter.least_area
        return np.asarray(large_enough & ~self.crowds if annotation_filter.crowds == "ignore" else large_enough)

    def counts(self, names: Sequence[str], annotation_filter: AnnotationFilter) -> Codes:
        """Return how many objects of each class each image shows."""
        places = {name: place for place, name in enumerate(names)}
        columns = np.array([places.get(name, -1) for name in self.categories], dtype=np.int64)[self.classes]
        relevant = self.is_counted(annotation_filter) & (columns >= 0)
        counts = np.zeros((len(self), len(names)), dtype=np.int64)
        np.add.at(counts, (self.owners[relevant], columns[relevant]), 1)
        return counts

    def usable_images(self, names: Sequence[str], annotation_filter: AnnotationFilter) -> Array:
        """Return whether each image can be used: no object of these classes speaks against it."""
        ours = np.isin(self.classes, [place for place, name in enumerate(self.categories) if name in names])
        against = (self.shares < annotation_filter.clear_area) | (self.fills < annotation_filter.clear_fill)
        if annotation_filter.tiny == "drop":
            against |= self.shares < annotation_filter.least_area
        if annotation_filter.crowds == "drop":
            against |= self.crowds
        if annotation_filter.clear_area > 0 or annotation_filter.clear_fill > 0:
            against |= self.crowds
        unfit = np.zeros(len(self), dtype=bool)
        unfit[self.owners[ours & against]] = True
        return ~unfit

    def pools(self, valid: float, hard: float) -> dict[str, Array]:
        """Return the images of each pool, no image in two: a share of the training images is `valid`, a share of the
        test images `hard`. What is in a pool depends on the images' names only, and on no seed."""
        order = np.array(_shuffled("pool", self.files), dtype=np.int64)
        cuts = {0: (valid, "valid", "train"), 1: (hard, "hard", "test")}
        pools = {}
        for part, (share, first, rest) in cuts.items():
            numbers = order[self.parts[order] == part]
            cut = round(share * len(numbers))
            pools[first], pools[rest] = np.sort(numbers[:cut]), np.sort(numbers[cut:])
        return {name: pools[name] for name in POOLS}


def join_albums(first: Album, second: Album) -> Album:
    """Return two albums as one, the second for testing."""
    if first.categories != second.categories:
        names = tuple(dict.fromkeys([*first.categories, *second.categories]))
        first, second = _recoded(first, names), _recoded(second, names)
    if shared := set(first.files) & set(second.files):
        raise DataError(f"image {min(shared)!r} is annotated for training and for testing; let each have its own")

    def both(name: str) -> Array:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    return Album(
        files=first.files + second.files,
        sizes=both("sizes"),
        parts=np.repeat([0, 1], [len(first), len(second)]),
        categories=first.categories,
        owners=np.concatenate([first.owners, second.owners + len(first)]),
        classes=both("classes"),
        boxes=both("boxes"),
        areas=both("areas"),
        crowds=both("crowds"),
    )


def _recoded(album: Album, names: tuple[str, ...]) -> Album:
    places = np.array([names.index(name) for name in album.categories], dtype=np.int64)
    return replace(album, categories=names, classes=places[album.classes])


@lru_cache(maxsize=8)
def _shuffled(purpose: str, files: tuple[str, ...]) -> list[int]:
    """Return the numbers of files in an order that depends on the purpose and on their names only."""
    return sorted(range(len(files)), key=lambda number: digest(purpose, files[number]))


def hold_out_test(album: Album, test: float) -> Album:
    """Return an album of which a share of the images, chosen by their names, is for testing."""
    order = _shuffled("test", album.files)
    parts = np.zeros(len(album), dtype=np.int64)
    parts[order[: round(test * len(album))]] = 1
    return replace(album, parts=parts)


def identifier(category: str) -> str:
    """Return a category as a name that a formula can hold.

    >>> identifier("traffic light")
    'traffic_light'
    """
    name = re.sub(r"\W+", "_", category.strip())
    return f"_{name}" if name[:1].isdigit() else name
