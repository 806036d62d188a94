"""Checks of pictures and texts: source images, duplicates, what a changed concept changes, unfilled places.

A duplicate is a picture that training shows too: as it is, mirrored or turned, brighter or darker, or cropped. Small
grey copies, less their mean and at one contrast, find the training picture that is nearest; the pictures themselves
then decide. Brightness and contrast are fitted, so that a picture of one grey is like no other.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay.auditing.audited import (
    MEDIUM,
    NOT_CHECKED,
    NOTHING,
    THUMB,
    AuditedDataset,
    AuditedSplit,
    CheckResult,
    PictureStats,
    fail_if,
    first_few,
    means_of_parts,
)
from assay.auditing.reading import FEWEST_READ, PixelReading, concepts_to_read, readings
from assay.base import Array, AssayError, rng_for
from assay.logic import listing
from assay.render import Picture
from assay.tasks import Task
from assay.worlds import World

TOO_MANY = 0.01
WORLDS = 24
COMPARED = 2000
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\[[A-Z_]{3,}\]|<[A-Z_]{3,}>|\bTODO\b")
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


def sources(data: AuditedDataset) -> CheckResult:
    """No source image (digit, photograph) occurs both where models learn and where they are tested."""
    if not any(any(part.ingredients) for part in data.parts.values()):
        why = "no source images are used" if data.task is not None else f"not known: {data.no_task}"
        return CheckResult("sources", NOTHING if data.task is not None else NOT_CHECKED, why)
    if not data.training:
        return CheckResult("sources", NOT_CHECKED, "no training split")
    learned = {name for part in data.training for names in part.ingredients for name in names}
    shared = []
    for part in data.held_out:
        both = learned & {name for names in part.ingredients for name in names}
        if both:
            shared.append(f"{part.name} shows {len(both):,} of them, such as {min(both)}")
    text = f"{len(learned):,} source images of training occur nowhere else"
    return fail_if(shared, "sources", "source images of training occur elsewhere", text)


def duplicates(data: AuditedDataset) -> CheckResult:
    """Hardly any picture of a held-out split is one of training, or nearly: also mirrored, brighter or cropped."""
    training = [PictureRow(part, row) for part in data.training for row in range(len(part.pictures))][:COMPARED]
    held_out = {part.name: [PictureRow(part, row) for row in range(len(part.pictures))] for part in data.held_out}
    if not training or not any(held_out.values()):
        return CheckResult("duplicates", NOT_CHECKED, "no pictures to compare")
    copies, worst = [], 0.0
    for name, pictures in held_out.items():
        near = near_copies(training, pictures[:COMPARED]) if pictures else []
        share = len(near) / max(1, min(COMPARED, len(pictures)))
        worst = max(worst, share)
        if share > TOO_MANY:
            how = f", {near[0].how}" if near[0].how != AS_IT_IS else ""
            copies.append(f"{name}: {len(near):,} pictures ({100 * share:.0f} %), such as row {near[0].row}{how}")
    if copies:
        return CheckResult("duplicates", "fail", f"pictures that training shows: {first_few(copies)}", {"share": worst})
    text = f"at most {100 * worst:.1f} % of a held-out split is nearly in training"
    return CheckResult("duplicates", "pass", text, {"share": worst})


def invisible_concepts(data: AuditedDataset) -> list[str] | None:
    """Return the concepts that show nowhere; None if that is not known.

    Where worlds can be drawn again, those whose change alters no pixel and no word in any world tried; else those that
    no model reads from the pictures, if every other one is read.
    """
    if data.task is None or not data.splits:
        tried = _read(data)
        known = bool(tried) and not _left_out(data) and all(reading.visible or reading.hidden for reading in tried)
        return [reading.concept for reading in tried if reading.hidden] if known else None
    task = data.task
    return data.remember("hidden", lambda: _hidden(data, task))


def _hidden(data: AuditedDataset, task: Task) -> list[str]:
    name = next((part.name for part in data.held_out), next(iter(data.parts)))
    split = data.splits[name]
    rng = rng_for(0, "audit", "visible")
    rows = rng.permutation(len(split))[:WORLDS].tolist()
    worlds = [split.world(row) for row in rows]
    names = [concept.name for concept in data.space.concepts if len(concept.values) > 1]
    shows = {name: _shows(task, worlds, name) for name in names}
    data.memo["untried"] = [name for name in names if shows[name] is None]
    return [name for name in names if shows[name] is False]


def _shows(task: Task, worlds: list[World], name: str) -> bool | None:
    """Return whether some change of a concept makes a difference; None where no change of it can be drawn."""
    tried = False
    for world in worlds:
        for value in task.space.concept(name).values:
            if value != world[name]:
                try:
                    other = task.change_world(world, {name: value})
                except AssayError:
                    other = None
                if other is None:
                    continue
                if _differ(task.render(world), task.render(other), task):
                    return True
                tried = True
    return False if tried else None


def _differ(before: Picture, after: Picture, task: Task) -> bool:
    """Return whether two pictures differ in what is written to disk and a model may see."""
    columns = [name for name in task.columns if name in ("image", "depth", "text")]
    return any(not np.array_equal(getattr(before, name), getattr(after, name)) for name in columns)


def visible(data: AuditedDataset) -> CheckResult:
    """Every concept shows: changing it changes the picture or the text, or models read it from the pictures."""
    if data.task is None or not data.splits:
        return _readable(data)
    hidden = invisible_concepts(data) or []
    if hidden:
        text = f"changing {', '.join(hidden)} alters nothing that is shown, in {WORLDS} worlds"
        return CheckResult("visible", "fail", text, {"hidden": hidden})
    untried: list[str] = data.memo["untried"]
    if len(untried) == sum(size > 1 for size in data.space.sizes):
        return CheckResult("visible", NOT_CHECKED, "no world can be drawn again with a concept changed")
    text = "changing any concept changes what is shown"
    left = f", but for {listing(untried, 5)}, which no world could be drawn again with" if untried else ""
    return CheckResult("visible", "note" if untried else "pass", text + left)


def _read(data: AuditedDataset) -> list[PixelReading]:
    return data.remember("readings", lambda: readings(data))


def _readable(data: AuditedDataset) -> CheckResult:
    """Return whether models read every concept from the pictures, where nobody can draw its worlds again."""
    tried = _read(data)
    if not tried:
        why = f"{data.no_task}, and there are fewer than {FEWEST_READ} pictures to read concepts from"
        return CheckResult("visible", NOT_CHECKED, why)
    gains = {reading.concept: [reading.low, reading.high] for reading in tried}
    numbers = {"hidden": [reading.concept for reading in tried if reading.hidden], "gain": gains}
    hidden, left = [reading.text for reading in tried if reading.hidden], _left_out(data)
    unread = [reading.text for reading in tried if not reading.visible and not reading.hidden]
    if hidden:
        return CheckResult("visible", "fail", f"no model reads from the pictures: {first_few(hidden)}{left}", numbers)
    if unread:
        text = f"too few examples, or too hard to read: {first_few(unread)}{left}"
        return CheckResult("visible", NOT_CHECKED, text, numbers)
    least = min(tried, key=lambda reading: reading.low)
    text = f"models read every concept from the pictures, least of all {least.text}{left}"
    return CheckResult("visible", "note" if left else "pass", text, numbers)


def _left_out(data: AuditedDataset) -> str:
    """Return how many concepts were tried where there were too many for all; nothing where all were."""
    tried, whole = len(concepts_to_read(data)), len(data.space.names)
    return f"; {tried} of {whole} concepts were tried, drawn at random" if tried < whole else ""


def texts(data: AuditedDataset) -> CheckResult:
    """No text has an unfilled place, none is empty."""
    parts = [part for part in data.parts.values() if len(part.texts)]
    if not parts:
        return CheckResult("texts", NOTHING, "there are no texts")
    faults = [fault for part in parts for fault in _text_faults(part)]
    total = sum(len(part.texts) for part in parts)
    return fail_if(faults, "texts", "unfinished texts", f"{total:,} texts without an unfilled place")


def _text_faults(part: AuditedSplit) -> list[str]:
    unfilled = [row for row, text in enumerate(part.texts) if PLACEHOLDER.search(text)]
    empty = [row for row, text in enumerate(part.texts) if not text.strip()]
    faults = []
    if unfilled:
        sample = PLACEHOLDER.search(part.texts[unfilled[0]])
        what = sample.group() if sample else ""
        faults.append(f"{part.name}: {len(unfilled):,} of {len(part.texts):,} hold an unfilled place such as {what}")
    return faults + ([f"{part.name}: {len(empty):,} are empty"] if empty else [])


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
