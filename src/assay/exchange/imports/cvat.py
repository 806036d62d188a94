"""CVAT for images, exported as XML: tags, boxes and other shapes of each image, with attributes.

A concept for each tag or shape is whether there is one, or how many with `counts`; the attributes of a tag, and of a
shape that occurs once, are concepts of their own (`TAG__ATTRIBUTE`). Labels are those that are named as such.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from assay.base import DataError
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import (
    SourceTable,
    choose,
    files_in,
    need_label,
    plain_name,
    read_text,
    split_name,
    to_value,
    to_values,
)
from assay.logic import Value

SHAPES = ("tag", "box", "polygon", "polyline", "points", "ellipse", "cuboid", "mask")


def is_cvat(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _cvat_file(folder) is not None


def _cvat_file(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.glob("*.xml")) if "<annotations" in read_text(path)[:2000]), None)


def read_cvat(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
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
