"""Where the numbers of a run come from, as a table: what was run, on which data, with which settings and versions."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.base import is_remote, shorten
from assay.reporting.case import ReportCase

HIDDEN = ("knowledge", "layout", "files", "config", "versions", "data", "called")
"""Parts of a record that have rows of their own, or that the page shows elsewhere."""
LONGEST = 160
MOST_STEPS = 3
"""A folder that is further away than so many steps up or down is given by its own name, which tells no more."""


def provenance_of(case: ReportCase, out: Path) -> dict[str, str]:
    """Return what a run's numbers are traced by: readable names and values; folders are told from the report's."""
    about, manifest = case.about, case.dataset.manifest
    data = about.get("data", {}) if isinstance(about.get("data"), Mapping) else {}
    rows = {
        "run": relative_folder(case.folder, out),
        "task": case.dataset.name,
        "dataset fingerprint": case.dataset.fingerprint,
        "dataset seed": str(manifest.seed),
        "dataset": relative_folder(data.get("folder", case.dataset.folder), out),
        "splits": ", ".join(f"{split.name}: {split.size:,}" for split in manifest.splits),
    }
    rows |= dict(flatten({key: value for key, value in about.items() if key not in HIDDEN}, out))
    rows |= {f"setting: {key}": value for key, value in flatten(about.get("config", {}), out)}
    rows |= {f"version of {key}": value for key, value in flatten(about.get("versions", {}), out)}
    return rows


def flatten(values: Mapping[str, Any], out: Path, before: str = "") -> Iterator[tuple[str, str]]:
    """Give each value by the names that lead to it, as text.

    >>> dict(flatten({"a_b": {"c": [1, 2], "d": True}, "e": None}, Path()))
    {'a b, c': '1, 2', 'a b, d': 'yes', 'e': '–'}
    """
    for key, value in values.items():
        name = f"{before}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from flatten(value, out, f"{name}, ")
        else:
            yield name, shorten(_text(value, out), LONGEST)


def _text(value: Any, out: Path) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(part, out)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(part, out) for part in value)
    text = str(value)
    return relative_folder(text, out) if isinstance(value, str) and Path(text).is_absolute() else text


def relative_folder(folder: Path | str, out: Path) -> str:
    """Return a folder as seen from the report's, or its name where it is far away; an address stays as it is."""
    if is_remote(str(folder)):
        return str(folder)
    path = Path(os.path.relpath(Path(folder).resolve(), out.resolve()))
    up = path.parts.count("..")
    near = up <= MOST_STEPS and len(path.parts) - up <= MOST_STEPS and up < len(out.resolve().parts) - 1
    return path.as_posix() if near else Path(folder).resolve().name
