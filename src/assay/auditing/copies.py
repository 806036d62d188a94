"""Pictures that training shows too: as they are, mirrored or turned, brighter or darker, or cropped.

Small grey copies, less their mean and at one contrast, find the training picture that is nearest; the pictures
themselves then decide. Brightness and contrast are fitted, so that a picture of one grey is like no other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay.auditing.audited import MEDIUM, THUMB, AuditedSplit, PictureStats, means_of_parts
from assay.base import Array

MEAN_GAP = 1.5
LARGEST_GAP = 24
SMALL_LIKENESS = 0.98
CROP_LIKENESS = 0.98
CROP_CANDIDATE = 0.93
CLEARLY = 0.1
"""A crop is that much nearer to its picture than to the next one, since all scenes of a task can look alike."""
FLAT = 4.0
"""The least standard deviation of a picture that can be known again."""
CROPPED = 500
"""The most pictures of a split that are compared with crops."""
SCALES = (0.9, 0.8, 0.7)
SHIFT = 2

Turn = Callable[[Array], Array]
AS_IT_IS = "as it is"
TURNS: dict[str, Turn] = {
    AS_IT_IS: lambda image: image,
    "mirrored": lambda image: image[:, ::-1],
    "upside down": lambda image: image[::-1],
    "turned by 180 degrees": lambda image: image[::-1, ::-1],
}


@dataclass(frozen=True)
class PictureRow:
    """A picture of a split, by its row."""

    part: AuditedSplit
    row: int

    @property
    def stats(self) -> PictureStats:
        """The picture in a few numbers."""
        return self.part.stats[self.row]

    @property
    def image(self) -> Array:
        """The picture: height x width x channels."""
        return self.part.image(self.row).astype(np.float64)


@dataclass(frozen=True)
class PictureCopy:
    """A held-out picture that training shows, and how it was changed."""

    row: int
    how: str


def near_copies(training: Sequence[PictureRow], held_out: Sequence[PictureRow]) -> list[PictureCopy]:
    """Return the held-out pictures that are like the training picture nearest by small copies, in some way."""
    copies: dict[int, PictureCopy] = {}
    known = _normal(np.stack([picture.stats.small for picture in training]))
    queries = np.stack([picture.stats.small for picture in held_out])
    side = int(np.sqrt(queries.shape[1]))
    for how, turn in TURNS.items():
        turned = np.stack([turn(small.reshape(side, side)).ravel() for small in queries])
        likeness = _normal(turned) @ known.T
        for picture, place, best in zip(held_out, likeness.argmax(axis=1).tolist(), likeness.max(axis=1), strict=True):
            likely = best >= SMALL_LIKENESS and picture.row not in copies
            if likely and _alike(turn(picture.image), training[place].image):
                copies[picture.row] = PictureCopy(picture.row, how)
    for copy in _cropped(training[:CROPPED], [one for one in held_out[:CROPPED] if one.row not in copies]):
        copies[copy.row] = copy
    return [copies[row] for row in sorted(copies)]


@dataclass(frozen=True)
class Window:
    """A square part of the small copies of pictures."""

    size: int
    top: int
    left: int

    @property
    def inside(self) -> bool:
        """Whether it is all inside."""
        return min(self.top, self.left) >= 0 and max(self.top, self.left) + self.size <= MEDIUM

    def of(self, image: Array) -> Array:
        """Return this part of a small copy."""
        return image[self.top : self.top + self.size, self.left : self.left + self.size]


WINDOWS = [
    Window(size, top, left)
    for size in (round(MEDIUM * scale) for scale in SCALES)
    for top, left in product((0, (MEDIUM - size) // 2, MEDIUM - size), repeat=2)
]


def _normal(rows: Array) -> Array:
    """Return rows of mean 0 and length 1, or 0 for those without any contrast."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(np.where(sizes > FLAT, centred / np.maximum(sizes, 1e-9), 0.0))


def _alike(first: Array, second: Array) -> bool:
    """Return whether two pictures are the same but for noise, brightness and contrast."""
    if first.shape != second.shape:
        return False
    if np.array_equal(first, second):
        return True
    fitted = _fitted(first, second)
    if fitted is None:
        return False
    apart = np.abs(fitted - second)
    return bool(apart.mean() <= MEAN_GAP and apart.max() <= LARGEST_GAP)


def _fitted(first: Array, second: Array) -> Array | None:
    """Return the first picture at the brightness and contrast of the second; None where there is no contrast."""
    spread = first.std()
    if spread < FLAT or second.std() < FLAT:
        return None
    gain = float(((first - first.mean()) * (second - second.mean())).mean() / spread**2)
    if not 0.4 < gain < 2.5:
        return None
    return np.asarray(np.clip((first - first.mean()) * gain + second.mean(), 0, 255))


def _cropped(training: Sequence[PictureRow], held_out: Sequence[PictureRow]) -> Iterator[PictureCopy]:
    """Return the held-out pictures that show a part of a training picture, larger, or the other way round."""
    if not held_out:
        return
    for cut, whole, by_whole in ((held_out, training, False), (training, held_out, True)):
        stack = np.stack([picture.stats.medium for picture in whole], axis=2)
        views = [means_of_parts(window.of(stack), THUMB).reshape(THUMB**2, -1).T for window in WINDOWS]
        small = _normal(np.stack([picture.stats.small for picture in cut]))
        likeness = (small @ _normal(np.concatenate(views)).T).reshape(len(cut), len(WINDOWS), len(whole))
        for picture, by_window in zip(cut, likeness, strict=True):
            best, second = [*np.argsort(-by_window.max(axis=0))[:2].tolist(), None][:2]
            if by_window[:, best].max() < CROP_CANDIDATE:
                continue
            found, other = (_likeness_of_part(picture, whole, by_window, place) for place in (best, second))
            if found >= CROP_LIKENESS and 1 - found <= CLEARLY * (1 - other):
                yield PictureCopy(whole[best].row if by_whole else picture.row, "cropped")


def _likeness_of_part(part: PictureRow, whole: Sequence[PictureRow], by_window: Array, place: int | None) -> float:
    """Return how like a picture is to the part of another that its likeness by windows points at."""
    if place is None:
        return 0.0
    near = WINDOWS[int(by_window[:, place].argmax())]
    return max(_shifted(part.stats.medium, whole[place].stats.medium, near))


def _shifted(part: Array, whole: Array, near: Window) -> Iterator[float]:
    """Yield how like a picture is to parts of another that lie near a window."""
    places = range(-SHIFT, SHIFT + 1)
    for size in range(near.size - SHIFT, min(near.size + SHIFT, MEDIUM - 1) + 1):
        shrunk = _resized(part, size)
        for down, right in product(places, places):
            window = Window(size, near.top + down, near.left + right)
            if window.inside:
                yield _likeness(shrunk, window.of(whole))


def _likeness(first: Array, second: Array) -> float:
    first, second = first - first.mean(), second - second.mean()
    sizes = np.linalg.norm(first) * np.linalg.norm(second)
    return float((first * second).sum() / sizes) if sizes else 0.0


def _resized(image: Array, size: int) -> Array:
    """Return a grey picture at another size, between its pixels by straight lines."""
    places = (np.arange(size) + 0.5) * len(image) / size - 0.5
    low = np.clip(np.floor(places).astype(int), 0, len(image) - 2)
    share = np.clip(places - low, 0, 1)
    rows = image[low] * (1 - share)[:, None] + image[low + 1] * share[:, None]
    return np.asarray(rows[:, low] * (1 - share) + rows[:, low + 1] * share)
