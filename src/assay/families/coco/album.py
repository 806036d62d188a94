"""Albums: annotated images as columns, with the class, box and area of each object, pools of them, and COCO's files.

An album is read of a folder as COCO comes (`annotations/instances_train2017.json`, `train2017/`, and the same for
`val2017`), or of one annotation file of the same form, of which a share of the images then becomes the test images.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

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


_IMAGE = ("id", "file_name", "width", "height")
_CATEGORY = ("id", "name")
_ANNOTATION = ("id", "image_id", "category_id", "bbox")
TEST_SHARE = 0.25
"""The share of the images that is for testing where there is one annotation file only."""


@dataclass(frozen=True)
class Photographs:
    """An album of photographs: the folder that its files are in, and a hash of the annotations and the files' sizes."""

    album: Album
    root: Path
    sha256: str

    def path(self, file: str) -> Path:
        """Return where an image of the album lies."""
        return self.root / file

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {file: number for number, file in enumerate(self.album.files)}

    def number(self, file: str) -> int:
        """Return which image of the album a file is."""
        if file not in self._numbers:
            raise DataError(f"the annotations know no image {file!r}")
        return self._numbers[file]


@lru_cache(maxsize=2)
def read_coco(place: str, skip_missing: bool = False) -> Photographs:
    """Read a folder in COCO's form, or one annotation file with its images."""
    path = Path(place)
    if path.is_file():
        root = path.parent.parent if path.parent.name == "annotations" else path.parent
        files = [path]
    else:
        root, files = path, _annotation_files(path)
    read = [_Reader(file, root, skip_missing) for file in files]
    albums = [reader.album for reader in read]
    album = join_albums(*albums) if len(albums) == 2 else hold_out_test(albums[0], TEST_SHARE)
    sha256 = hashlib.sha256("".join(reader.sha256 for reader in read).encode()).hexdigest()
    return Photographs(album, root, sha256)


def _annotation_files(folder: Path) -> list[Path]:
    """Return the annotation files for training and testing, or the only one there is."""
    annotations = folder / "annotations"
    if not annotations.is_dir():
        raise DataError(f"no COCO data in {str(folder)!r}: expected a folder 'annotations' with instances_*.json")
    trains, tests = sorted(annotations.glob("instances_train*.json")), sorted(annotations.glob("instances_val*.json"))
    if len(trains) == 1 and len(tests) == 1:
        return [trains[0], tests[0]]
    every = sorted(annotations.glob("*.json"))
    if len(every) == 1:
        return every
    names = ", ".join(path.name for path in every) or "none"
    raise DataError(
        f"COCO data in {str(folder)!r}: expected one instances_train*.json and one instances_val*.json, or one file "
        f"in all; there is: {names}"
    )


class _Reader:
    """One annotation file on its way into an album."""

    def __init__(self, path: Path, root: Path, skip_missing: bool) -> None:
        self.path = path
        self.root = root
        data = self._bytes()
        tables = self._tables(data)
        images = self._locate(tables["images"], skip_missing)
        sizes = "".join(f"{file}:{(root / file).stat().st_size};" for _, file in images)
        self.sha256 = hashlib.sha256(data + sizes.encode()).hexdigest()
        self.album = self._album(images, tables)

    def fail(self, why: str) -> DataError:
        return DataError(f"COCO file {self.path.name!r}: {why}")

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise self.fail(f"cannot be read: {error.strerror}") from None

    def _tables(self, data: bytes) -> dict[str, list[dict[str, Any]]]:
        try:
            parsed = json.loads(data)
        except (ValueError, RecursionError) as error:
            where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise self.fail(f"is no whole JSON file; it breaks off or goes wrong{where}") from None
        tables = {}
        for name, keys in (("images", _IMAGE), ("categories", _CATEGORY), ("annotations", _ANNOTATION)):
            rows = parsed.get(name) if isinstance(parsed, dict) else None
            if not isinstance(rows, list) or (not rows and name != "annotations"):
                raise self.fail(f"has no list {name!r}; is it a file of COCO's object instances?")
            self._check_rows(name, rows, keys)
            tables[name] = rows
        return tables

    def _check_rows(self, name: str, rows: Sequence[Any], keys: Sequence[str]) -> None:
        for place, row in enumerate(rows):
            lacking = [key for key in keys if not isinstance(row, dict) or key not in row]
            if lacking:
                raise self.fail(f"{name}[{place}] has no {lacking[0]!r}")
        self._refuse_twice(name, [row["id"] for row in rows])

    def _refuse_twice(self, name: str, ids: Sequence[Any]) -> None:
        if any(type(row_id) not in (int, str) for row_id in ids):
            raise self.fail(f"{name}: an id must be a whole number or a text")
        if len(set(ids)) < len(ids):
            twice = Counter(ids).most_common(1)[0][0]
            raise self.fail(f"{name} has the id {twice!r} twice; ids must differ")

    def _locate(self, images: Sequence[dict[str, Any]], skip_missing: bool) -> list[tuple[dict[str, Any], str]]:
        """Return the images with their paths below the root, having looked that they are there."""
        for image in images:
            name = image["file_name"]
            parts = PurePosixPath(name).parts if isinstance(name, str) else ("..",)
            if not parts or ".." in parts or parts[0] == "/":
                raise self.fail(f"image {image['id']!r} has no plain file name: {name!r}")
        folder = self._folder(str(image["file_name"]) for image in images)
        placed = [(image, (folder / image["file_name"]).as_posix()) for image in images]
        there = [(image, file) for image, file in placed if (self.root / file).is_file()]
        missing = len(placed) - len(there)
        if missing and (not skip_missing or not there):
            present = {file for _, file in there}
            first = next(file for _, file in placed if file not in present)
            hint = "" if skip_missing else "; `skip_missing: true` leaves such images out"
            raise self.fail(f"{missing:,} of {len(placed):,} images are not there, the first is {first!r}{hint}")
        return there

    def _folder(self, names: Iterable[str]) -> Path:
        """Return the folder below the root that holds the first image that is found anywhere."""
        part = self.path.stem.removeprefix("instances_")
        places = [Path(part), Path("images") / part, Path("images"), Path()]
        folders = (place for name in names for place in places if (self.root / place / name).is_file())
        return next(folders, places[0])

    def _album(self, images: Sequence[tuple[dict[str, Any], str]], tables: dict[str, list[dict[str, Any]]]) -> Album:
        names = [identifier(str(category["name"])) for category in tables["categories"]]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise self.fail(f"two categories are called {twice[0]!r}; names must differ")
        kinds = {category["id"]: place for place, category in enumerate(tables["categories"])}
        numbers = {image["id"]: place for place, (image, _) in enumerate(images)}
        self._check_references(tables, kinds)
        annotations = [row for row in tables["annotations"] if row["image_id"] in numbers]
        annotations.sort(key=lambda row: numbers[row["image_id"]])
        boxes = self._numbers([row["bbox"] for row in annotations], "bbox", 4)
        stated_areas = [row.get("area") for row in annotations]
        areas = [
            box[2] * box[3] if area is None else area for area, box in zip(stated_areas, boxes.tolist(), strict=True)
        ]
        return Album(
            files=tuple(file for _, file in images),
            sizes=self._numbers([[image["width"], image["height"]] for image, _ in images], "width and height", 2),
            parts=np.zeros(len(images), dtype=np.int64),
            categories=tuple(names),
            owners=np.array([numbers[row["image_id"]] for row in annotations], dtype=np.int64),
            classes=np.array([kinds[row["category_id"]] for row in annotations], dtype=np.int64),
            boxes=boxes,
            areas=self._numbers([[area] for area in areas], "area", 1)[:, 0],
            crowds=np.array([bool(row.get("iscrowd", 0)) for row in annotations], dtype=bool),
        )

    def _check_references(self, tables: dict[str, list[dict[str, Any]]], kinds: Mapping[Any, int]) -> None:
        images = {image["id"] for image in tables["images"]}
        for row in tables["annotations"]:
            for key, known in (("image_id", images), ("category_id", kinds)):
                if type(row[key]) not in (int, str) or row[key] not in known:
                    raise self.fail(f"annotation {row['id']!r} has the {key} {row[key]!r}, which is not in the file")

    def _numbers(self, rows: Sequence[Any], what: str, width: int) -> Array:
        """Return rows of numbers as an array; anything else is refused."""
        try:
            numbers = np.array(rows, dtype=np.float64).reshape(len(rows), width)
        except (ValueError, TypeError):
            raise self.fail(f"some {what} is not {width} number{'s' if width > 1 else ''}") from None
        if not np.isfinite(numbers).all() or (numbers[:, -min(width, 2) :] < 0).any():
            raise self.fail(f"some {what} is negative or no number")
        return numbers
