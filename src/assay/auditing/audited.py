"""A dataset under audit, and check results: a dataset of `assay make` with its task, or pictures with a table."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeVar, overload

import numpy as np

from assay.base import Array, Codes, DataError, Settings
from assay.contracts import AT_ONCE, SplitRecord
from assay.dataset import Dataset, SplitData, decode, task_of
from assay.logic import TRUE, ConceptSpace, Formula, Knowledge, Value
from assay.tasks import Task
from assay.worlds import CONTENT, HARD, LUCK, SOURCES, World

T = TypeVar("T")
MOST_PICTURES = 3000
MOST_NUISANCES = 400
THUMB = 16
MEDIUM = 32
PATCHES = 8
Status = Literal["pass", "note", "fail", "not checked", "nothing to check"]
NOT_CHECKED: Final = "not checked"
NOTHING: Final = "nothing to check"
"""The outcome where the dataset has nothing that the check asks about, such as texts."""


@dataclass(frozen=True)
class PictureStats:
    """A picture in a few numbers, so that thousands can be compared: its shape, small grey copies, its mean colours.

    `small` has 16 x 16 pixels in a row, `medium` 32 x 32; `patches` has, for each of 8 x 8 small regions, the darkest
    and the lightest grey and the mean of each colour.
    """

    shape: tuple[int, ...]
    small: Array
    medium: Array
    means: Array
    patches: Array


@dataclass(frozen=True)
class PixelRegion:
    """Some statistics of one place of the pictures, a row a picture; `local` if it is not the whole picture."""

    name: str
    values: Array
    local: bool = True


@dataclass(frozen=True)
class LazyRows(Sequence[T]):
    """What a split holds in each row, such as a picture, read when it is asked for."""

    length: int
    read: Callable[[Sequence[int]], Sequence[T]]
    at_once: int = 1
    """How many rows are in memory at a time when all are gone through."""

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row: int | slice) -> T | list[T]:
        if isinstance(row, slice):
            return list(self.read(range(self.length)[row]))
        return self.read([range(self.length)[row]])[0]

    def __iter__(self) -> Iterator[T]:
        return (one for start in range(0, self.length, self.at_once) for one in self[start : start + self.at_once])


@dataclass(frozen=True)
class AuditedSplit:
    """One split: concepts and labels as codes, the pictures as files, nuisances as numbers, and what it claims."""

    name: str
    concepts: Codes
    labels: Codes
    lawful: Array | None = None
    pictures: Sequence[bytes] = ()
    texts: Sequence[str] = ()
    nuisances: Mapping[str, Array] = field(default_factory=dict)
    ingredients: Sequence[tuple[str, ...]] = ()
    where: Formula = TRUE
    disjoint_from: tuple[str, ...] = ()
    by_quota: bool = False
    """Whether its worlds were chosen by where they lie in the rule, so that some labels are rare in it."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def trains(self) -> bool:
        """Whether models learn from it."""
        return self.name.lower().startswith("train")

    @cached_property
    def stats(self) -> list[PictureStats]:
        """The pictures in a few numbers each."""
        return [picture_stats(self.image(row)) for row in range(len(self.pictures))]

    @cached_property
    def regions(self) -> list[PixelRegion]:
        """The size of each file, the mean colours, and the statistics of each small region."""
        if not len(self.pictures):
            return []
        channels = min(len(stats.means) for stats in self.stats)
        sizes = np.array([[len(file)] for file in self.pictures], dtype=np.float64)
        colours = np.stack([stats.means[:channels] for stats in self.stats])
        patches = np.stack([stats.patches[:, :, : channels + 2] for stats in self.stats]).astype(np.float64)
        where = "the region in row {} and column {} of {} x {}"
        local = [
            PixelRegion(where.format(row + 1, column + 1, PATCHES, PATCHES), patches[:, row, column])
            for row, column in np.ndindex(PATCHES, PATCHES)
        ]
        return [PixelRegion("file size", sizes, local=False), PixelRegion("mean colour", colours, local=False), *local]

    def image(self, row: int) -> Array:
        """Return a picture: height x width x channels."""
        try:
            return decode(self.pictures[row])
        except (DataError, OSError, SyntaxError, ValueError) as error:  # Pillow raises the last three
            raise DataError(f"split {self.name!r}: the picture of row {row} cannot be read: {error}") from None


@dataclass(frozen=True)
class AuditedDataset:
    """A dataset under audit. Without a rule or a task, what needs them is left out, and said to be."""

    name: str
    space: ConceptSpace
    labels: Mapping[str, tuple[Value, ...]]
    parts: Mapping[str, AuditedSplit]
    knowledge: Knowledge | None = None
    task: Task | None = None
    no_task: str = "there is no task that could draw its worlds again"
    splits: Mapping[str, SplitData] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What one check found and another needs."""
    progress: Callable[[float], None] = field(default=lambda share: None, compare=False, repr=False)
    """Is told which share of a long check is done."""

    def remember(self, name: str, compute: Callable[[], T]) -> T:
        """Return what checks share, computed when it is first asked for."""
        if name not in self.memo:
            self.memo[name] = compute()
        return self.memo[name]  # type: ignore[no-any-return]

    @property
    def training(self) -> list[AuditedSplit]:
        """The splits that models learn from."""
        return [part for part in self.parts.values() if part.trains]

    @property
    def held_out(self) -> list[AuditedSplit]:
        """The other splits."""
        return [part for part in self.parts.values() if not part.trains]


def audited_dataset(dataset: Dataset, settings: Settings | None = None) -> AuditedDataset:
    """Return a dataset that `assay make` wrote, ready for the audit."""
    try:
        task, why = task_of(dataset, settings), ""
    except DataError as error:
        task, why = None, str(error)
    about = dataset.manifest.splits_by_name
    splits = {name: dataset[name] for name in dataset.split_names}
    parts = {name: _part(data, task, about[name]) for name, data in splits.items()}
    knowledge = dataset.knowledge
    values = {label.name: label.values for label in knowledge.labels}
    rule = knowledge if knowledge.has_rule else None
    return AuditedDataset(dataset.name, knowledge.space, values, parts, rule, task, why, splits)


def _part(data: SplitData, task: Task | None, about: SplitRecord) -> AuditedSplit:
    columns = data.columns
    some = range(min(len(data), MOST_PICTURES))
    worlds = [data.world(row) for row in some]
    return AuditedSplit(
        data.name,
        data.concepts,
        data.labels,
        data.lawful,
        LazyRows(len(some), data.files) if "image" in columns else (),
        LazyRows(len(data), lambda rows: data.take(np.asarray(rows)).texts, AT_ONCE) if "text" in columns else (),
        nuisances_of([dict(world.style) for world in worlds], len(data)),
        _ingredients(worlds, task),
        data.where,
        tuple(about.disjoint_from),
        about.quota is not None or data.name == HARD,
    )


def _ingredients(worlds: Sequence[World], task: Task | None) -> list[tuple[str, ...]]:
    """Return the source images of worlds, as the task says or as imported data lists them."""
    if task is not None:
        return [task.ingredients(world) for world in worlds]
    return [tuple(world.style.get(SOURCES, ())) for world in worlds]


def nuisances_of(styles: Sequence[Mapping[str, Any]], total: int) -> dict[str, Array]:
    """Return the numbers in styles as columns, lists of varying length by their length and start."""
    kept = [{key: value for key, value in style.items() if key not in (CONTENT, LUCK, SOURCES)} for style in styles]
    rows = [_flat(style) for style in kept]
    names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_NUISANCES]
    columns = {name: np.array([as_number(row.get(name)) for row in rows]) for name in names}
    return {"index": place_in_split(len(rows), total), **columns}


def place_in_split(rows: int, total: int) -> Array:
    """Return how far into its split each example comes, from 0 to 1: the same for a sorted split of any size."""
    return np.arange(rows) / max(1, total)


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {key: leaf for part in value for key, leaf in _flat(value[part], f"{name}.{part}".lstrip(".")).items()}
    if isinstance(value, (list, tuple)):
        inside = {key: leaf for place, part in enumerate(value) for key, leaf in _flat(part, f"{name}.{place}").items()}
        return {f"{name}.length": len(value), **inside}
    return {name: value}


def as_number(value: Any) -> float:
    """Return a nuisance as a number, a text by its hash, which is the same in every split; NaN where there is none."""
    if value is None or value == "":
        return float("nan")
    try:
        return float(value)
    except ValueError:
        return float(zlib.crc32(str(value).encode()))


def picture_stats(image: Array) -> PictureStats:
    """Return the numbers of a picture: height x width x channels."""
    grey = image.mean(axis=2)
    small = np.asarray(means_of_parts(grey, THUMB).ravel(), dtype=np.float32)
    ends = [_over_parts(ufunc, grey, PATCHES)[:, :, None] for ufunc in (np.minimum, np.maximum)]
    patches = np.concatenate([*ends, means_of_parts(image, PATCHES)], axis=2).astype(np.float32)
    medium = means_of_parts(grey, MEDIUM).astype(np.float32)
    return PictureStats(image.shape, small, medium, image.reshape(-1, image.shape[2]).mean(axis=0), patches)


def _starts(length: int, parts: int) -> Array:
    return np.arange(parts) * length // parts


def _over_parts(ufunc: np.ufunc, image: Array, parts: int) -> Array:
    """Return the sum, least or most of each of parts x parts; a picture with fewer pixels has some twice."""
    rows, columns = (_starts(length, parts) for length in image.shape[:2])
    return np.asarray(ufunc.reduceat(ufunc.reduceat(image, rows, axis=0), columns, axis=1))


def means_of_parts(image: Array, parts: int) -> Array:
    """Return the means of parts x parts of a picture."""
    added = _over_parts(np.add, image.astype(np.float64), parts)
    tall, wide = (np.maximum(1, np.diff([*_starts(length, parts), length])) for length in image.shape[:2])
    return np.asarray(added / np.outer(tall, wide).reshape(parts, parts, *[1] * (image.ndim - 2)))


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check: passed, passed with a note, failed, not checked because that cannot be done here.

    Or there is nothing to check.
    """

    check: str
    status: Status
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {"check": self.check, "status": self.status, "text": self.text, "numbers": dict(self.numbers)}


def fail_if(faults: list[str], check: str, fault: str, passed: str) -> CheckResult:
    """Return a check that failed with the first few faults, or passed where there are none."""
    if faults:
        return CheckResult(check, "fail", f"{fault}: {first_few(faults)}")
    return CheckResult(check, "pass", passed)


def first_few(texts: list[str], most: int = 3) -> str:
    """Write a few of many."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more
