"""Animals with Attributes 2: `classes.txt`, `predicates.txt`, `predicate-matrix-binary.txt`, `JPEGImages/CLASS/`.

Concepts are the predicates of each picture's class; the label is the class.
"""

from pathlib import Path

from assay.base import DataError
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import SourceTable, choose, files_in, plain_names, read_text
from assay.logic import Value

MATRIX, PREDICATE_PICTURES = "predicate-matrix-binary.txt", "JPEGImages"
ENDINGS = (".jpg", ".jpeg", ".png", ".webp")


def is_awa2(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / MATRIX).is_file() and (folder / PREDICATE_PICTURES).is_dir()


def read_awa2(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
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
