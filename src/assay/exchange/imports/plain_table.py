"""The plain layout: a table with a row an example, and pictures beside it.

`concepts.csv`, `.parquet` or `.json` has the columns `file` (the picture, by its path in the folder), `concept_NAME`,
`label_NAME`, and if known `split`, `nuisance_NAME`, `source` (source images, separated by ;) and `text`. A concept may
instead have a column for each annotator, `concept_NAME@WHO`, or the probability of each value, `concept_NAME=VALUE`.
Tables with other column names are read by naming their columns (`labels`, `concepts`, `picture`, `split`).
Derm7pt has such a table by another name.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import DataError, UnknownName, suggestion
from assay.contracts import CONCEPT, LABEL
from assay.exchange.imports.source import (
    ImportSettings,
    SourceTable,
    files_in,
    majority,
    plain_names,
    read_text,
    split_name,
    to_value,
    to_values,
)
from assay.logic import Value

TABLES = ("concepts.parquet", "concepts.csv", "concepts.json", "concepts.jsonl")
NUISANCE = "nuisance_"
META = "meta/meta.csv"
CRITERIA = (
    "pigment_network", "streaks", "pigmentation", "regression_structures", "dots_and_globules", "blue_whitish_veil",
    "vascular_structures",
)  # fmt: skip

Columns = Mapping[str, Sequence[Any]]


def find_table(folder: Path) -> Path | None:
    """Return the table of concepts in a folder, if there is one."""
    return next((folder / name for name in TABLES if (folder / name).is_file()), None)


def read_columns(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a table: CSV, Parquet, JSON (rows or columns) or JSON lines."""
    try:
        if path.suffix == ".parquet":
            columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
        elif path.suffix in (".json", ".jsonl"):
            columns = _json(path)
        else:
            columns = _csv(path)
    except (pa.ArrowException, csv.Error, ValueError, RecursionError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {(str(error).splitlines() or ['?'])[0]}") from None
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    if not any(columns.values()):
        raise DataError(f"{str(path)!r} holds no example")
    return columns


def _csv(path: Path) -> dict[str, list[Any]]:
    rows = list(csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True))
    if any(None in row or None in row.values() for row in rows):
        raise DataError(f"{str(path)!r} has rows that are longer or shorter than its first line")
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _json(path: Path) -> dict[str, list[Any]]:
    text = read_text(path)
    lines = [json.loads(line) for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else None
    data = json.loads(text) if lines is None else lines
    if isinstance(data, Mapping) and all(isinstance(column, list) for column in data.values()):
        return dict(data)
    return columns_of_rows(data)


def columns_of_rows(rows: Any) -> dict[str, list[Any]]:
    """Return rows as columns; what a row does not have is not known."""
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise DataError("expected a list of rows, each with names and values")
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def read_folder(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read a folder with a table of concepts."""
    path = find_table(folder) if settings.table is None else files_path(folder, settings.table)
    if path is None:
        raise DataError(f"{str(folder)!r} has no {TABLES[1]}; name the table: --set table=FILE")
    columns = read_columns(path)
    return table_from(columns, folder, settings)


def files_path(folder: Path, name: str) -> Path:
    """Return a file inside a folder; refuse one elsewhere."""
    return folder / files_in(folder, [name]).names[0]


def table_from(
    columns: Columns, folder: Path | None, settings: ImportSettings, pictures: Sequence[bytes] | None = None
) -> SourceTable:
    """Return the table of columns; pictures are files of the folder, or given."""
    columns = {str(name): list(column) for name, column in columns.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError("the columns of the table differ in length")
    labels, concepts = _named(columns, settings, LABEL), _named(columns, settings, CONCEPT)
    if not concepts or not labels:
        found = ", ".join(list(columns)[:12])
        raise DataError(
            "the table needs columns 'concept_NAME' and 'label_NAME', or name them: --concept, --label; it has: "
            + found
        )
    cells, agreement = _concept_cells(columns, concepts)
    split = settings.split or "split"
    if settings.split is not None:
        _require(columns, [settings.split])
    if pictures is None:
        _require(columns, [settings.picture])
        if folder is None:
            raise DataError("pictures are named by their path; say in which folder they lie")
        files = files_in(folder, columns[settings.picture])
        pictures, names = files, list(files.names)
    else:
        names = [f"{row}.png" for row in range(len(pictures))]
    return SourceTable(
        pictures,
        names,
        cells,
        {name: to_values(columns[key], f"label {name!r}") for key, name in labels.items()},
        [split_name(str(cell)) for cell in columns[split]] if split in columns else None,
        agreement,
        {key.removeprefix(NUISANCE): columns[key] for key in columns if key.startswith(NUISANCE)},
        [source_names(cell) for cell in columns["source"]] if "source" in columns else (),
        ["" if text is None else str(text) for text in columns["text"]] if "text" in columns else (),
    )


def source_names(text: Any) -> tuple[str, ...]:
    """Return the source images in a cell."""
    return tuple(name.strip() for name in str(text).split(";") if name.strip()) if text is not None else ()


def _require(columns: Columns, names: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise UnknownName(f"the table has no column {name!r}{suggestion(name, list(columns))}")


def _named(columns: Columns, settings: ImportSettings, kind: str) -> dict[str, str]:
    """Return the columns of labels or concepts with their names: those asked for, or those that begin so."""
    asked = settings.labels if kind == LABEL else settings.concepts
    if asked:
        keys = [key if key in columns else kind + key for key in asked]
        for key, name in zip(keys, asked, strict=True):
            if key not in columns:
                raise UnknownName(f"the table has no column {name!r}{suggestion(name, list(columns))}")
    else:
        keys = [key for key in columns if key.startswith(kind)]
    parts = {key: _split_mark(key.removeprefix(kind))[0] if kind == CONCEPT else key.removeprefix(kind) for key in keys}
    plain = plain_names(dict.fromkeys(parts.values()))
    return {key: plain[part] for key, part in parts.items()}


def _split_mark(name: str) -> tuple[str, str, str]:
    """Return the name of a concept, the mark after it that tells of annotators or values, and which one it is."""
    mark = next((mark for mark in "@=" if mark in name), "")
    return name.partition(mark) if mark else (name, "", "")


def _concept_cells(
    columns: Columns, keys: Mapping[str, str]
) -> tuple[dict[str, list[Value | None]], dict[str, list[float | None]]]:
    """Return the cells of each concept, and the agreement where there are several annotators or probabilities."""
    cells: dict[str, list[Value | None]] = {}
    agreement: dict[str, list[float | None]] = {}
    grouped: dict[tuple[str, str], list[str]] = {}
    for key, name in keys.items():
        grouped.setdefault((name, _split_mark(key)[1]), []).append(key)
    for (name, mark), group in grouped.items():
        if name in cells:
            raise DataError(f"concept {name!r} has a column of its own and others by annotator or value; keep one kind")
        if not mark:
            cells[name] = to_values(columns[group[0]], f"concept {name!r}")
            continue
        rows = zip(*(columns[key] for key in group), strict=True)
        ends = [_split_mark(key)[2] for key in group]
        both = [_vote(row) if mark == "@" else _likeliest(row, ends, name) for row in rows]
        cells[name] = to_values([value for value, _ in both], f"concept {name!r}")
        agreement[name] = [share for _, share in both]
    return cells, agreement


def _vote(row: Sequence[Any]) -> tuple[Value | None, float | None]:
    return majority([value for cell in row if (value := to_value(cell)) is not None])


def _likeliest(row: Sequence[Any], values: Sequence[str], name: str) -> tuple[Value | None, float | None]:
    """Return the most probable value with its probability; of one column alone, that it is true."""
    try:
        chances = [None if cell in (None, "") else float(cell) for cell in row]
    except (TypeError, ValueError):
        raise DataError(f"concept {name!r}: expected probabilities, found {row!r}") from None
    known = [(chance, value) for chance, value in zip(chances, values, strict=True) if chance is not None]
    if not known or any(chance != chance for chance, _ in known):
        return None, None
    if any(not 0 <= chance <= 1 for chance, _ in known):
        raise DataError(f"concept {name!r}: expected probabilities from 0 to 1, found {row!r}")
    if len(values) == 1:
        return (known[0][0] >= 0.5) == (to_value(values[0]) is not False), max(known[0][0], 1 - known[0][0])
    chance, value = max(known, key=lambda pair: pair[0])
    return to_value(value), chance


def is_derm7pt(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / META).is_file()


def read_derm7pt(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read `meta/meta.csv`, the pictures in `images/`, and the rows of splits in `meta/..._indexes.csv`.

    By default the seven criteria are concepts, `diagnosis` is the label and `derm` the picture.
    """
    columns = read_columns(folder / META)
    picture = settings.picture if settings.picture in columns else "derm"
    if picture not in columns:
        raise DataError(f"{META} has no column {picture!r} with the picture; name it: --set picture=COLUMN")
    columns[picture] = [name if (folder / str(name)).is_file() else f"images/{name}" for name in columns[picture]]
    asked = {
        "picture": picture,
        "labels": settings.labels or ["diagnosis"],
        "concepts": settings.concepts or [name for name in CRITERIA if name in columns],
    }
    splits = _derm7pt_splits(folder, len(columns[picture]))
    if splits is not None:
        columns["split"] = splits
    return table_from(columns, folder, settings.model_copy(update=asked))


def _derm7pt_splits(folder: Path, rows: int) -> list[str] | None:
    """Return the split of each row, from files that list rows from 0 on; None without any."""
    files = {name: folder / "meta" / f"{name}_indexes.csv" for name in ("train", "valid", "test")}
    if not files["train"].is_file():
        return None
    splits = ["unused"] * rows
    for name, path in files.items():
        if path.is_file():
            for row in read_columns(path).get("indexes", []):
                if not str(row).isdecimal() or int(row) >= rows:
                    raise DataError(f"{path.name}: {row!r} is no row of {META}, which has {rows}")
                splits[int(row)] = name
    return splits
