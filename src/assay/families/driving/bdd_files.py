"""The files of BDD-OIA, read and written: photographs from behind a windscreen, with actions and the reasons for them.

The folder is the one that its archive unpacks to: `train_25k_images_actions.json`, `train_25k_images_reasons.json`, the
same for `val` and `test`, and `data/` with the images. An actions file lists `images` (`id`, `file_name`) and
`annotations`, of which the one at place `id` has the `category`: forward, stop, left, right and, mostly, confusing,
each 0 or 1. A reasons file lists for a `file_name` the 21 concepts as `reason`. What is written goes back in with
`assay make bdd-oia --set folder=FOLDER`, and into any program that reads BDD-OIA.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from assay.base import Array, Codes, DataError, write_atomically
from assay.dataset import Dataset, SplitData
from assay.families.driving.rules import ACTIONS, CONCEPTS

PARTS = {"train": "train", "valid": "val", "test": "test"}
"""Our names of the splits, and theirs."""
ACTION_COUNT, CONCEPT_COUNT = 4, 21
PLACES = ("data", "images", "")
"""Where the images may be, below the folder."""


@dataclass(frozen=True)
class Frames:
    """The images: their names, concepts and actions, a row each; which belong to which split; and where they are."""

    files: tuple[str, ...]
    concepts: Codes
    actions: Codes
    pools: Mapping[str, Array]
    root: Path
    sha256: str

    def path(self, file: str) -> Path:
        """Return where an image lies."""
        return self.root / file


@lru_cache(maxsize=2)
def read_frames(folder: str, confusing: bool = False, skip_missing: bool = False) -> Frames:
    """Read the annotations in a folder, and look that the images are there."""
    path = Path(folder)
    root, where = _annotations(path)
    images = next((path / place for place in PLACES if (path / place).is_dir() and place), path)
    annotations, pools, hashes = dict[str, tuple[list[int], list[int]]](), dict[str, Array](), list[bytes]()
    for name, part in PARTS.items():
        if part not in where:
            continue
        part_rows, data = _part(where[part], confusing)
        rows = _there(part_rows, images, root, skip_missing)
        if twice := sorted(set(rows) & set(annotations)):
            raise DataError(f"BDD-OIA: image {twice[0]!r} is in two splits")
        pools[name] = np.arange(len(annotations), len(annotations) + len(rows))
        annotations |= {file: part_rows[file] for file in rows}
        hashes.append(data)
    files = tuple(annotations)
    sizes = "".join(f"{file}:{(images / file).stat().st_size};" for file in files)
    sha256 = hashlib.sha256(b"".join([*hashes, sizes.encode()])).hexdigest()
    concepts, actions = (np.array([annotations[file][side] for file in files], dtype=np.int64) for side in (0, 1))
    return Frames(files, concepts, actions, pools, images, sha256)


Pair = tuple[Path, Path]


def _annotations(folder: Path) -> tuple[Path, dict[str, Pair]]:
    """Return the folder of the annotation files, and those of each part: actions and reasons."""
    if not folder.is_dir():
        raise DataError(f"BDD-OIA: no folder {str(folder)!r}")
    for place in ("", "annotations", "labels"):
        pairs = {part: _pair(folder / place, part) for part in PARTS.values()}
        if any(pair[0].is_file() or pair[1].is_file() for pair in pairs.values()):
            break
    else:
        raise DataError(
            f"BDD-OIA: no annotations in {str(folder)!r}; expected train_25k_images_actions.json and others"
        )
    present = {part: pair for part, pair in pairs.items() if pair[0].is_file() or pair[1].is_file()}
    for pair in present.values():
        for path in pair:
            if not path.is_file():
                raise DataError(f"BDD-OIA: {path.name!r} is missing in {str(path.parent)!r}")
    if "train" not in present:
        raise DataError(f"BDD-OIA: {pairs['train'][0].name!r} is missing in {str(folder)!r}")
    return folder, present


def _pair(folder: Path, part: str) -> Pair:
    stem = f"{part}_25k_images"
    return folder / f"{stem}_actions.json", folder / f"{stem}_reasons.json"


Rows = dict[str, tuple[list[int], list[int]]]


def _part(pair: Pair, confusing: bool) -> tuple[Rows, bytes]:
    """Return concepts and actions of the images of one part by name, and the bytes that they come from."""
    actions, reasons = (_read(path) for path in pair)
    categories = _actions(pair[0].name, actions[0])
    why = _reasons(pair[1].name, reasons[0])
    files = [file for file, category in categories.items() if confusing or not any(category[ACTION_COUNT:])]
    lacking = [file for file in files if file not in why]
    if lacking:
        raise DataError(
            f"BDD-OIA: {pair[1].name!r} has no reasons for {len(lacking):,} images, the first is {lacking[0]!r}"
        )
    return {file: (why[file], categories[file][:ACTION_COUNT]) for file in sorted(files)}, actions[1] + reasons[1]


def _read(path: Path) -> tuple[Any, bytes]:
    try:
        data = path.read_bytes()
        return json.loads(data), data
    except OSError as error:
        raise DataError(f"BDD-OIA: {path.name!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"BDD-OIA: {path.name!r} is no whole JSON file; it breaks off or goes wrong{where}") from None


def _actions(name: str, data: Any) -> dict[str, list[int]]:
    """Return the annotated actions of each image, with `confusing` last where it is given."""
    images, notes = (data.get(key) if isinstance(data, dict) else None for key in ("images", "annotations"))
    if not isinstance(images, list) or not isinstance(notes, list) or not images:
        raise DataError(f"BDD-OIA: {name!r} has no lists 'images' and 'annotations'")
    actions: dict[str, list[int]] = {}
    for image in images:
        file, place = _file(name, image), image.get("id")
        if type(place) is not int or not 0 <= place < len(notes):
            raise DataError(f"BDD-OIA: {name!r}: image {file!r} has the id {place!r}, and no annotation is there")
        note = notes[place]
        actions[file] = _bits(
            name, file, note.get("category") if isinstance(note, dict) else None, (ACTION_COUNT, ACTION_COUNT + 1)
        )
    return actions


def _reasons(name: str, data: Any) -> dict[str, list[int]]:
    if not isinstance(data, list):
        raise DataError(f"BDD-OIA: {name!r} is no list of reasons")
    return {_file(name, row): _bits(name, _file(name, row), row.get("reason"), (CONCEPT_COUNT,)) for row in data}


def _file(name: str, row: Any) -> str:
    """Return the name of an image, which must lie in its folder."""
    file = row.get("file_name") if isinstance(row, dict) else None
    parts = PurePosixPath(file).parts if isinstance(file, str) else ()
    if not parts or ".." in parts or parts[0] == "/":
        raise DataError(f"BDD-OIA: {name!r} has an entry without a plain file name: {file!r}")
    return str(file)


def _bits(name: str, file: str, values: Any, lengths: Sequence[int]) -> list[int]:
    fits = isinstance(values, list) and len(values) in lengths and all(value in (0, 1) for value in values)
    if not fits:
        wanted = " or ".join(map(str, lengths))
        raise DataError(f"BDD-OIA: {name!r}: {file!r} needs {wanted} numbers that are 0 or 1, not {values!r}"[:200])
    return [int(value) for value in values]


def _there(rows: Rows, images: Path, folder: Path, skip_missing: bool) -> list[str]:
    """Return the images that are there; that some are not is an error unless they may be skipped."""
    there = [file for file in rows if (images / file).is_file()]
    missing = len(rows) - len(there)
    if missing and (not skip_missing or not there):
        first = next(file for file in rows if not (images / file).is_file())
        hint = "" if skip_missing else "; `skip_missing: true` leaves such images out"
        raise DataError(
            f"BDD-OIA: {missing:,} of {len(rows):,} images are not in {images.name!r}, the first is {first!r}{hint}"
        )
    return there


def write_bdd(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a driving dataset; return how many examples of each. BDD-OIA knows of no emergency."""
    knowledge = dataset.knowledge
    if not set(CONCEPTS) <= set(knowledge.space.names) or not set(ACTIONS) <= set(knowledge.label_names):
        raise DataError(f"{str(dataset.folder)!r} is of task {dataset.name!r}; only driving can be written as BDD-OIA")
    return {name: _write_split(dataset[name], folder) for name in splits}


def _write_split(data: SplitData, folder: Path) -> int:
    space, labels = data.knowledge.space, data.knowledge.label_names
    concepts = data.concepts[:, [space.place(name) for name in CONCEPTS]].tolist()
    actions = data.labels[:, [labels.index(name) for name in ACTIONS]].tolist()
    images, notes, reasons = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for place, number in enumerate(data.index.tolist()):
        file = f"{data.name}-{number:06d}.png"
        write_atomically(folder / "data" / file, data.files([place])[0])
        images.append({"id": place, "file_name": file})
        notes.append({"id": place, "category": [*actions[place], 0]})
        reasons.append({"file_name": file, "reason": concepts[place]})
    stem = f"{PARTS.get(data.name, data.name)}_25k_images"
    write_atomically(folder / f"{stem}_actions.json", _json({"images": images, "annotations": notes}))
    write_atomically(folder / f"{stem}_reasons.json", _json(reasons))
    return len(images)


def _json(data: Any) -> bytes:
    return (json.dumps(data) + "\n").encode()
