"""What tools for annotation export: COCO JSON, CVAT for images as XML, Label Studio as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse
from xml.etree import ElementTree

from assay.base import DataError
from assay.contracts import CONCEPT, LABEL
from assay.exchange.imports.source import (
    ImportSettings,
    SourceTable,
    choose,
    files_in,
    majority,
    need_label,
    plain_name,
    plain_names,
    read_text,
    split_name,
    to_value,
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
    """Read `images`, `annotations` and `categories`, in one file or in one for each split.

    Concepts are the categories: whether there is an object of it, or how many with `counts`. Labels are categories that
    are named as such, or the entries `label_NAME` of an image; other concepts the entries `concept_NAME`.
    """
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


SHAPES = ("tag", "box", "polygon", "polyline", "points", "ellipse", "cuboid", "mask")


def is_cvat(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _cvat_file(folder) is not None


def _cvat_file(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.glob("*.xml")) if "<annotations" in read_text(path)[:2000]), None)


def read_cvat(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the tags, boxes and other shapes of each image, with their attributes.

    A concept for each tag or shape is whether there is one, or how many with `counts`; the attributes of a tag, and of
    a shape that occurs once, are concepts of their own (`TAG__ATTRIBUTE`). Labels are those that are named as such.
    """
    path = _cvat_file(folder)
    if path is None:
        raise DataError(f"{str(folder)!r} has no XML file of annotations")
    images = _cvat_images(path)
    objects = [_cvat_objects(image) for image in images]
    names = list(dict.fromkeys(name for one in objects for name in one))
    shown = {name for name in names if "__" not in name}
    rows = [_cvat_row(one, shown, settings.counts) for one in objects]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = {name: to_values([row.get(name) for row in rows], repr(name)) for name in columns}
    concepts, labels = choose(cells, settings, "tag or attribute")
    need_label(labels, cells, "tag or attribute")
    files = files_in(folder, [_cvat_picture(folder, image.get("name", "")) for image in images])
    subsets = [image.get("subset") for image in images]
    splits = [split_name(subset) for subset in subsets if subset] if all(subsets) else None
    return SourceTable(files, list(files.names), concepts, labels, splits)


def _cvat_images(path: Path) -> list[ElementTree.Element]:
    text = read_text(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError(f"{path.name} declares entities, which no export of CVAT does; it is not read")
    try:
        images = list(ElementTree.fromstring(text).iter("image"))
    except ElementTree.ParseError as error:
        raise DataError(f"{path.name} is no XML: {error}") from None
    if not images:
        raise DataError(f"{path.name} lists no image")
    return images


def _cvat_objects(image: ElementTree.Element) -> dict[str, list[Value | None]]:
    """Return the attributes of what is there, and under each name alone as many entries as there are of it."""
    found: dict[str, list[Value | None]] = {}
    for shape in image:
        if shape.tag in SHAPES:
            name = plain_name(shape.get("label", "unnamed"))
            found.setdefault(name, []).append(True)
            for key, value in _cvat_attributes(shape):
                found.setdefault(f"{name}__{plain_name(key)}", []).append(value)
    return found


def _cvat_attributes(shape: ElementTree.Element) -> Iterator[tuple[str, Value | None]]:
    for attribute in shape.iter("attribute"):
        yield attribute.get("name", "unnamed"), to_value(attribute.text)


def _cvat_row(found: dict[str, list[Value | None]], shown: set[str], counts: bool) -> dict[str, Value | None]:
    there: dict[str, Value | None] = {name: len(found.get(name, [])) for name in shown}
    if not counts:
        there = {name: bool(number) for name, number in there.items()}
    single = {name: values[0] for name, values in found.items() if name not in shown and len(values) == 1}
    return {**dict(sorted(there.items())), **single}


def _cvat_picture(folder: Path, name: str) -> str:
    return next((f"{home}{name}" for home in ("", "images/") if (folder / f"{home}{name}").is_file()), name)


PICTURE_KEYS = ("image", "img", "picture", "photo", "file")


def is_label_studio(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _label_studio_file(folder) is not None


def _label_studio_file(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.glob("*.json")) if _tasks(path)), None)


def _tasks(path: Path) -> list[Any]:
    try:
        data = json.loads(read_text(path))
    except ValueError:
        return []
    whole = isinstance(data, list) and all(isinstance(task, Mapping) and "annotations" in task for task in data)
    return data if whole else []


def read_label_studio(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read a list of tasks, each with a picture and the annotations of one or more people.

    Choices, ratings and numbers are concepts, or labels where they are named as such; a question with several choices
    at once gives a concept for each choice, and a labelled box whether there is one. The majority of annotators counts.
    """
    path = _label_studio_file(folder)
    if path is None:
        raise DataError(f"{str(folder)!r} has no JSON file with a list of tasks and their annotations")
    tasks = _tasks(path)
    try:
        answers = [[_answers(annotation) for annotation in task["annotations"]] for task in tasks]
        files = files_in(folder, [_task_picture(folder, task["data"], settings.picture) for task in tasks])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path.name}: a task lacks {error}") from None
    several = {name for people in answers for one in people for name, values in one.items() if len(values) > 1}
    votes = [[dict(_votes(one, several)) for one in people] for people in answers]
    names = list(dict.fromkeys(name for people in votes for one in people for name in one))
    absent = {name for name in names if name.partition("__")[0] in several}
    cells: dict[str, list[Value | None]] = {}
    agreement: dict[str, list[float | None]] = {}
    for name in names:
        both = [
            majority([v for one in people if (v := one.get(name, _none(name, absent))) is not None]) for people in votes
        ]
        cells[name], agreement[name] = [value for value, _ in both], [share for _, share in both]
    concepts, labels = choose(cells, settings, "question")
    need_label(labels, cells, "question")
    marked = [task["data"].get(settings.split or "split") for task in tasks]
    splits = [split_name(str(mark)) for mark in marked] if all(marked) else None
    shares = {name: column for name, column in agreement.items() if name in concepts and any(len(p) > 1 for p in votes)}
    return SourceTable(files, list(files.names), concepts, labels, splits, shares)


def _none(name: str, absent: set[str]) -> Value | None:
    """Return what it means that somebody did not choose: false for one of several choices, else not known."""
    return False if name in absent else None


def _answers(annotation: Mapping[str, Any]) -> dict[str, list[Value]]:
    """Return the values that one person gave to each question; a question may have several."""
    given: dict[str, list[Value]] = {}
    if annotation.get("was_cancelled"):
        return given
    for result in annotation["result"]:
        name, kind, value = plain_name(str(result["from_name"])), result["type"], result["value"]
        if kind in ("choices", "rectanglelabels", "polygonlabels", "brushlabels", "keypointlabels"):
            cells = value[kind]
        elif kind in ("rating", "number"):
            cells = [value[kind]]
        else:
            continue
        given.setdefault(name, []).extend(v for cell in cells if (v := to_value(cell)) is not None)
    return given


def _votes(answers: Mapping[str, list[Value]], several: set[str]) -> Iterator[tuple[str, Value]]:
    for name, values in answers.items():
        if name in several:
            yield from ((f"{name}__{plain_name(str(value))}", True) for value in values)
        elif values:
            yield name, values[0]


def _task_picture(folder: Path, data: Mapping[str, Any], asked: str) -> str:
    """Return the path of a task's picture: as exported, without the server's address, or by its name alone."""
    key = next((key for key in (asked, *PICTURE_KEYS) if key in data), None)
    if key is None:
        raise DataError(f"a task has no picture under {', '.join(PICTURE_KEYS)}; name its key: --set picture=KEY")
    address = urlparse(str(data[key]))
    text = parse_qs(address.query).get("d", [unquote(address.path)])[0]
    path = PurePosixPath(text.lstrip("/"))
    tails = ["/".join(path.parts[start:]) for start in range(len(path.parts))]
    inside = [f"{home}{tail}" for tail in tails for home in ("", "images/")]
    return next((place for place in inside if (folder / place).is_file()), str(path))
