"""A picture in a few numbers, so that thousands can be compared without holding them all."""

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array

THUMB = 16


@dataclass(frozen=True)
class PictureStats:
    """The shape of a picture, a small grey copy of it, and the mean of each colour."""

    shape: tuple[int, ...]
    small: Array
    means: Array


def picture_stats(image: Array) -> PictureStats:
    """Return the numbers of a picture: height x width x channels."""
    return PictureStats(image.shape, _thumbnail(image), image.reshape(-1, image.shape[2]).mean(axis=0))


def _thumbnail(image: Array) -> Array:
    """Return the means of 16 x 16 parts; a picture with fewer pixels has some twice."""
    grey = image.mean(axis=2)
    rows, columns = (np.arange(THUMB) * length // THUMB for length in grey.shape)
    added = np.add.reduceat(np.add.reduceat(grey, rows, axis=0), columns, axis=1)
    tall, wide = (
        np.maximum(1, np.diff([*starts, length])) for starts, length in zip((rows, columns), grey.shape, strict=True)
    )
    return np.asarray((added / np.outer(tall, wide)).ravel(), dtype=np.float32)
