"""Derm7pt and tables like it: `meta/meta.csv`, pictures in `images/`, and the rows of splits in `meta/..._indexes.csv`.

By default the seven criteria are concepts, `diagnosis` is the label and `derm` the picture.
"""

from pathlib import Path

from assay.base import DataError
from assay.exchange.imports.plain_table import read_columns, table_from
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import SourceTable

META = "meta/meta.csv"
CRITERIA = (
    "pigment_network", "streaks", "pigmentation", "regression_structures", "dots_and_globules", "blue_whitish_veil",
    "vascular_structures",
)  # fmt: skip


def is_derm7pt(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return (folder / META).is_file()


def read_derm7pt(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
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
