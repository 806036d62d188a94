"""Layouts that list attributes in text files: CUB-200-2011, CelebA, Animals with Attributes 2."""

from collections.abc import Iterator
from pathlib import Path

from assay.base import DataError
from assay.exchange.imports.source import (
    ImportSettings,
    SourceTable,
    choose,
    files_in,
    need_label,
    plain_names,
    read_text,
)
from assay.logic import Value

CUB = "attributes/image_attribute_labels.txt"
NOT_VISIBLE = "1"


def is_cub(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / "images.txt").is_file() and (folder / CUB).is_file()


def read_cub(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read `images.txt`, `classes.txt`, `image_class_labels.txt`, `train_test_split.txt` and the attributes.

    Concepts are the attributes, true or false; those that an annotator marked as not visible are not known. The label
    is the class. `attributes.txt` lies in `attributes/`, or beside the folder, as in the original archive.
    """
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


CELEBA, PARTITION = "list_attr_celeba", "list_eval_partition"
CELEBA_FOLDERS = ("img_align_celeba", "img_align_celeba/img_align_celeba", "img_celeba", "images", ".")
PARTS = {"0": "train", "1": "valid", "2": "test"}
TRUTH: dict[str, Value | None] = {"1": True, "-1": False, "0": False, "": None}


def is_celeba(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _celeba_file(folder, CELEBA) is not None


def read_celeba(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read `list_attr_celeba` and `list_eval_partition` (.txt or .csv) and the pictures in `img_align_celeba/`.

    Attributes are 1 or -1. Which of them are labels must be said; the others are concepts.
    """
    path = _celeba_file(folder, CELEBA)
    if path is None:
        raise DataError(f"{str(folder)!r} has no {CELEBA}.txt or .csv")
    head, rows = _celeba_rows(path)
    names = plain_names(head)
    try:
        cells = {names[text]: [TRUTH[row[place]] for row in rows.values()] for place, text in enumerate(head)}
    except (KeyError, IndexError):
        raise DataError(
            f"{path.name}: expected a file name and {len(head)} attributes of 1 or -1 in each line"
        ) from None
    concepts, labels = choose(cells, settings, "attribute")
    need_label(labels, cells, "attribute")
    partition = _celeba_file(folder, PARTITION)
    splits = None
    if partition is not None:
        parts = _celeba_rows(partition, headed=partition.suffix == ".csv")[1]
        splits = [PARTS.get(parts.get(file, [""])[0], "train") for file in rows]
    home = next((name for name in CELEBA_FOLDERS if (folder / name / next(iter(rows))).is_file()), CELEBA_FOLDERS[0])
    files = files_in(folder, [f"{home}/{file}" for file in rows])
    return SourceTable(files, list(files.names), concepts, labels, splits)


def _celeba_file(folder: Path, name: str) -> Path | None:
    places = [folder / f"{sub}{name}{end}" for sub in ("", "Anno/", "Eval/") for end in (".txt", ".csv")]
    return next((place for place in places if place.is_file()), None)


def _celeba_rows(path: Path, headed: bool = True) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the columns, and the cells of each file by its name."""
    comma = path.suffix == ".csv"
    lines = [line.split(",") if comma else line.split() for line in read_text(path).splitlines() if line.strip()]
    if not comma and lines and len(lines[0]) == 1:
        lines = lines[1:]  # the number of pictures
    head = lines.pop(0) if headed and lines else []
    if not lines:
        raise DataError(f"{path.name} lists no picture")
    names = [name.strip() for name in (head[1:] if comma else head)]
    return names, {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


MATRIX, PREDICATE_PICTURES = "predicate-matrix-binary.txt", "JPEGImages"
ENDINGS = (".jpg", ".jpeg", ".png", ".webp")


def is_awa2(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / MATRIX).is_file() and (folder / PREDICATE_PICTURES).is_dir()


def read_awa2(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read `classes.txt`, `predicates.txt`, `predicate-matrix-binary.txt` and `JPEGImages/CLASS/`.

    Concepts are the predicates of each picture's class; the label is the class.
    """
    classes, predicates = (
        _listed_names(folder / "classes.txt"),
        list(plain_names(_listed_names(folder / "predicates.txt")).values()),
    )
    matrix = [line.split() for line in read_text(folder / MATRIX).splitlines() if line.strip()]
    if len(matrix) != len(classes) or any(len(row) != len(predicates) or set(row) - {"0", "1"} for row in matrix):
        raise DataError(f"{MATRIX}: expected {len(classes)} rows of {len(predicates)} zeros and ones")
    animals = [
        (row, f"{PREDICATE_PICTURES}/{name}/{path.name}")
        for row, name in enumerate(classes)
        for path in sorted((folder / PREDICATE_PICTURES / name).glob("*"))
        if path.suffix.lower() in ENDINGS
    ]
    if not animals:
        raise DataError(f"{str(folder)!r} has no pictures in {PREDICATE_PICTURES}/CLASS/")
    cells: dict[str, list[Value | None]] = {
        name: [matrix[row][place] == "1" for row, _ in animals] for place, name in enumerate(predicates)
    }
    concepts, labels = choose(cells, settings, "predicate")
    named: list[Value | None] = [classes[row] for row, _ in animals]
    files = files_in(folder, [path for _, path in animals])
    return SourceTable(files, list(files.names), concepts, {"class_name": named, **labels})


def _listed_names(path: Path) -> list[str]:
    """Return the names in lines such as `1  antelope`."""
    return [line.split(maxsplit=1)[-1].strip() for line in read_text(path).splitlines() if line.strip()]
