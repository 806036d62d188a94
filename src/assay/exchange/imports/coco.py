"""COCO JSON: `images`, `annotations` and `categories`, in one file or in one for each split.

Concepts are the categories: whether there is an object of it, or how many with `counts`. Labels are categories that are
named as such, or the entries `label_NAME` of an image; other concepts the entries `concept_NAME`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.base import DataError
from assay.contracts import CONCEPT, LABEL
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import (
    SourceTable,
    choose,
    files_in,
    need_label,
    plain_name,
    plain_names,
    read_text,
    split_name,
    to_values,
)
from assay.logic import Value

COCO_FOLDERS = ("", "images/", "train/", "valid/", "val/", "test/")


def is_coco(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return bool(_coco_files(folder))


def _coco_files(folder: Path) -> list[Path]:
    places = sorted(
        [*folder.glob("*.json"), *folder.glob("annotations/*.json"), *folder.glob("*/_annotations.coco.json")]
    )
    return [path for path in places if _holds_coco(path)]


def _holds_coco(path: Path) -> bool:
    try:
        return isinstance(data := json.loads(read_text(path)), dict) and {"images", "annotations", "categories"} <= set(
            data
        )
    except ValueError:
        return False


def read_coco(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
    parts = [(path, json.loads(read_text(path))) for path in _coco_files(folder)]
    if not parts:
        raise DataError(f"{str(folder)!r} has no JSON file with images, annotations and categories")
    try:
        rows = [row for path, part in parts for row in _coco_rows(folder, path, part, len(parts) > 1, settings.counts)]
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{str(folder)!r}: a COCO file lacks {error}") from None
    names = list(dict.fromkeys(name for row in rows for name in row["objects"]))
    cells: dict[str, list[Value | None]] = {name: [row["objects"].get(name) for row in rows] for name in names}
    concepts, labels = choose(cells, settings, "category")
    own = {key for row in rows for key in row["own"]}
    extra = {key: to_values([row["own"].get(key) for row in rows], repr(key)) for key in sorted(own)}
    labels |= {plain_name(key.removeprefix(LABEL)): cells for key, cells in extra.items() if key.startswith(LABEL)}
    concepts |= {
        plain_name(key.removeprefix(CONCEPT)): cells for key, cells in extra.items() if key.startswith(CONCEPT)
    }
    need_label(labels, cells, "category")
    files = files_in(folder, [row["file"] for row in rows])
    splits = [row["split"] for row in rows] if all(row["split"] for row in rows) else None
    return SourceTable(files, list(files.names), concepts, labels, splits)


def _coco_rows(folder: Path, path: Path, part: Mapping[str, Any], several: bool, counts: bool) -> list[dict[str, Any]]:
    """Return for each image its file, its split, the objects in it and its own entries."""
    categories = {entry["id"]: entry["name"] for entry in part["categories"]}
    names = plain_names(categories.values())
    found: dict[Any, dict[str, int]] = {image["id"]: {} for image in part["images"]}
    for entry in part["annotations"]:
        objects, name = found[entry["image_id"]], names[categories[entry["category_id"]]]
        objects[name] = objects.get(name, 0) + 1
    of_file = _split_of(path) if several else None
    return [
        {
            "file": _coco_picture(folder, path, image["file_name"]),
            "split": split_name(str(image["split"])) if "split" in image else of_file,
            "objects": {name: _amount(found[image["id"]].get(name, 0), counts) for name in names.values()},
            "own": {key: value for key, value in image.items() if key.startswith((LABEL, CONCEPT))},
        }
        for image in part["images"]
    ]


def _amount(number: int, counts: bool) -> Value:
    return number if counts else number > 0


def _split_of(path: Path) -> str:
    """Return the split that a path tells, such as `instances_train2017.json` or `valid/_annotations.coco.json`."""
    words = [path.parent.name, *path.stem.replace("-", "_").split("_")]
    bare = [split_name("".join(letter for letter in word if not letter.isdigit())) for word in words]
    return next((word for word in bare if word in ("train", "valid", "test")), path.stem)


def _coco_picture(folder: Path, path: Path, name: str) -> str:
    """Return where a picture lies: as named, in the usual folders, or beside its file."""
    beside = path.parent.relative_to(folder).as_posix()
    places: Sequence[str] = [*COCO_FOLDERS, f"{beside}/"]
    return next((f"{place}{name}" for place in places if (folder / f"{place}{name}").is_file()), name)
