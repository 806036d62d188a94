"""CelebA: `list_attr_celeba.txt` (or `.csv`), `list_eval_partition.txt` (or `.csv`), pictures in `img_align_celeba/`.

Attributes are 1 or -1. Which of them are labels must be said; the others are concepts.
"""

from pathlib import Path

from assay.base import DataError
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import SourceTable, choose, files_in, need_label, plain_names, read_text
from assay.logic import Value

CELEBA, PARTITION = "list_attr_celeba", "list_eval_partition"
CELEBA_FOLDERS = ("img_align_celeba", "img_align_celeba/img_align_celeba", "img_celeba", "images", ".")
PARTS = {"0": "train", "1": "valid", "2": "test"}
TRUTH: dict[str, Value | None] = {"1": True, "-1": False, "0": False, "": None}


def is_celeba(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _celeba_file(folder, CELEBA) is not None


def read_celeba(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
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
