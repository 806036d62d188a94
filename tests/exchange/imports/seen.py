"""Folders of strangers written by the paths of their files, and what an imported dataset says, by the file of a picture."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from assay.base import Settings
from assay.dataset import Dataset
from assay.exchange import import_folder
from assay.worlds import CONTENT


def png(level: int = 0, width: int = 8, height: int = 8) -> bytes:
    """Return a grey picture."""
    file = io.BytesIO()
    Image.new("L", (width, height), level).save(file, "PNG")
    return file.getvalue()


def put(folder: Path, files: Mapping[str, str | int | bytes]) -> Path:
    """Write files by their paths: texts, bytes, or for a number a picture of that brightness."""
    for path, held in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        content = png(held) if isinstance(held, int) else held.encode() if isinstance(held, str) else held
        (folder / path).write_bytes(content)
    return folder


def seen(data: Dataset) -> dict[str, dict[str, Any]]:
    """Return each example by the file of its picture: values, split, the brightness of the picture, agreement."""
    found = {}
    for name in data.split_names:
        split = data[name]
        for row, example in enumerate(split):
            content = split.world(row).style[CONTENT]
            concepts = {key: column[row] for key, column in _columns(split, "concept_").items()}
            labels = example["labels"]
            found[content["file"]] = {
                **concepts, **labels, "split": name, "level": round(float(split.images[row].mean())),
                "agreement": content.get("agreement"),
            }  # fmt: skip
    return found


def _columns(split: Any, kind: str) -> dict[str, list[Any]]:
    names = [name for name in split.table.column_names if name.startswith(kind)]
    return {name.removeprefix(kind): split.table[name].to_pylist() for name in names}


def column(rows: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Return one thing of each example."""
    return {file: row[name] for file, row in rows.items()}


def imported(folder: Path, output: Path, **settings: Any) -> dict[str, dict[str, Any]]:
    """Import a folder and return what is seen of it."""
    return seen(import_folder(folder, output, None, Settings(settings)))
