"""Image datasets of Hugging Face as they lie on disk: Parquet files, or what `save_to_disk` wrote; no download.

The picture is the column with image bytes; columns of class labels give their names. The split is the folder or file
name (`train-00000-of-00001.parquet`, `train/`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import DataError
from assay.exchange.imports.plain_table import table_from
from assay.exchange.imports.source import ImportSettings, SourceTable, files_in, split_name

USUAL = ("train", "valid", "test")


def is_hub(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    found = [*folder.rglob("*.parquet"), *folder.rglob("*.arrow")]
    return sorted(path for path in found if not path.name.startswith((".", "cache-")) and path.stem != "concepts")


def read_hub(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
    paths = _files(folder)
    if not paths:
        raise DataError(f"{str(folder)!r} has no Parquet or Arrow files")
    parts = [(_split_of(path, folder), _table(path)) for path in paths]
    return table_of_parts(parts, folder, settings)


def table_of_parts(parts: Sequence[tuple[str, pa.Table]], folder: Path | None, settings: ImportSettings) -> SourceTable:
    """Return the table of Arrow tables, each a split or part of one."""
    columns: dict[str, list[Any]] = {}
    for split, table in parts:
        names = class_names(table.schema)
        for name in table.column_names:
            cells = table[name].to_pylist()
            if name in names:
                cells = [None if cell is None or cell < 0 else names[name][cell] for cell in cells]
            columns.setdefault(name, []).extend(cells)
        columns.setdefault("__split__", []).extend([split] * table.num_rows)
    marks = columns.pop("__split__")
    if "split" not in columns and set(marks) & set(USUAL):
        columns["split"] = marks
    picture = _picture(columns, settings.picture)
    pictures = [_bytes(cell, folder) for cell in columns.pop(picture)]
    return table_from(columns, folder, settings, pictures)


def class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column that has any, as `datasets` writes them into the schema."""
    try:
        known = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        described = {name: about for name, about in known.items() if isinstance(about, Mapping)}  # a list has a list
        return {name: list(about["names"]) for name, about in described.items() if about.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _table(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        with pa.memory_map(str(path)) as handle:
            return pa.ipc.open_stream(handle).read_all()
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise DataError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None


def _split_of(path: Path, folder: Path) -> str:
    words = [*path.relative_to(folder).parts[:-1], *path.stem.replace("-", "_").split("_")]
    return next((split_name(word) for word in words if split_name(word) in USUAL), path.parent.name)


def _picture(columns: Mapping[str, Sequence[Any]], asked: str) -> str:
    for name in (asked, "image", "img", "picture"):
        if name in columns:
            return name
    holding = [
        name for name, cells in columns.items() if cells and isinstance(cells[0], Mapping) and "bytes" in cells[0]
    ]
    if not holding:
        raise DataError(f"no column holds pictures; name it: --set picture=COLUMN, one of {', '.join(columns)}")
    return holding[0]


def _bytes(cell: Any, folder: Path | None) -> bytes:
    """Return the picture in a cell: its bytes, or the file that it names inside the folder."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, Mapping) and cell.get("bytes"):
        return bytes(cell["bytes"])
    name = cell.get("path") if isinstance(cell, Mapping) else cell
    if isinstance(name, str) and folder is not None:
        return files_in(folder, [name])[0]
    raise DataError(f"a cell that should hold a picture holds {str(cell)[:40]!r}")
