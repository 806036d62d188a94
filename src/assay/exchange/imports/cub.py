"""CUB-200-2011: `images.txt`, `classes.txt`, `image_class_labels.txt`, `train_test_split.txt` and the attributes.

Concepts are the attributes, true or false; those that an annotator marked as not visible are not known. The label is
the class. `attributes.txt` lies in `attributes/`, or beside the folder, as in the original archive.
"""

from collections.abc import Iterator
from pathlib import Path

from assay.base import DataError
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import SourceTable, choose, files_in, plain_names, read_text
from assay.logic import Value

CUB = "attributes/image_attribute_labels.txt"
NOT_VISIBLE = "1"


def is_cub(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / "images.txt").is_file() and (folder / CUB).is_file()


def read_cub(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
    images = dict(_pairs(folder / "images.txt"))
    classes = dict(_pairs(folder / "classes.txt"))
    class_of = dict(_pairs(folder / "image_class_labels.txt"))
    names = plain_names(_cub_names(folder).values())
    attributes = {number: names[text] for number, text in _cub_names(folder).items()}
    concepts = _cub_columns(folder, list(images), attributes)
    try:
        labels: dict[str, list[Value | None]] = {"class_name": [classes[class_of[number]] for number in images]}
    except KeyError as error:
        raise DataError(f"{str(folder)!r}: image_class_labels.txt or classes.txt lacks {error.args[0]!r}") from None
    files = files_in(folder, [f"images/{path}" for path in images.values()])
    splits = None
    if (folder / "train_test_split.txt").is_file():
        trains = dict(_pairs(folder / "train_test_split.txt"))
        splits = ["train" if trains.get(number) == "1" else "test" for number in images]
    chosen, asked = choose(concepts, settings, "attribute")
    return SourceTable(files, list(files.names), chosen, {**labels, **asked}, splits)


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    for line in read_text(path).splitlines():
        first, _, rest = line.strip().partition(" ")
        if first:
            yield first, rest.strip()


def _cub_names(folder: Path) -> dict[str, str]:
    places = [folder / "attributes" / "attributes.txt", folder / "attributes.txt", folder.parent / "attributes.txt"]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise DataError(f"{str(folder)!r} has no attributes.txt; copy it into its folder 'attributes'")
    return dict(_pairs(path))


def _cub_columns(folder: Path, images: list[str], names: dict[str, str]) -> dict[str, list[Value | None]]:
    rows = {number: row for row, number in enumerate(images)}
    cells: dict[str, list[Value | None]] = {name: [None] * len(images) for name in names.values()}
    for line in read_text(folder / CUB).splitlines():
        parts = line.split()  # image, attribute, present, certainty, and how long it took, which may be in two parts
        if len(parts) < 4:
            continue
        if parts[0] not in rows or parts[1] not in names or parts[2] not in ("0", "1"):
            raise DataError(f"{CUB}: expected 'image attribute 0|1 certainty', found {line[:60]!r}")
        if parts[3] != NOT_VISIBLE:
            cells[names[parts[1]]][rows[parts[0]]] = parts[2] == "1"
    return {name: column for name, column in cells.items() if any(cell is not None for cell in column)}
