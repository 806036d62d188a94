"""The viewer as static files: the same page, with some samples of each split as JSON and PNG files beside it.

Nothing can be edited there, since that takes the task and the model; everything else works from any web server.
"""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.errors import AssayError
from assay.files import write_atomically, write_folder
from assay.tasks import TASKS
from assay.viewer.app import static_files
from assay.viewer.folders import ServedDataset
from assay.viewer.gallery import task_page
from assay.viewer.pictures import to_displayable
from assay.viewer.runs import compare_runs, verdict_of
from assay.viewer.samples import PAGE, sample_of
from assay.viewer.state import State, overview
from assay.viewer.table import SplitTable

SAMPLES = 60
SHELF = "shelf.json"


def write_bundle(state: State, out: Path, samples: int = SAMPLES) -> Path:
    """Write the page and up to so many samples of each split into a new folder; return the page."""
    with write_folder(out, lambda there: (there / SHELF).is_file()) as half:
        _write_bundle(state, half, samples)
    return out / "index.html"


def _write_bundle(state: State, out: Path, samples: int) -> None:
    for name, data in static_files().items():
        live = b'data-source="live"'
        write_atomically(out / name, data.replace(live, b'data-source="bundle"') if name == "index.html" else data)
    for served in state.shelf.datasets.values():
        for split in served.dataset.split_names:
            _write_split(state, served, split, out / "data", samples)
        for run in served.runs:
            _write(out / "verdicts" / served.key / f"{run}.json", verdict_of(state, served.key, run))
    _write_tasks(state, out)
    limits = {"live": False, "samples": samples, "page": PAGE, "broken": []}  # what is broken here concerns no one else
    _write(out / SHELF, {**overview(state.shelf), **limits})


def _write_split(state: State, served: ServedDataset, split: str, out: Path, most: int) -> None:
    table: SplitTable = state.table(served.key, split)
    rows = choose_rows(state, served, table, most).tolist()
    samples = [sample_of(state, served.key, split, row) for row in rows]
    kinds = {name: side.kinds for name, side in table.sides.items()}
    _write(out / served.key / f"{split}.json", {"whole": len(table), "kinds": kinds, "samples": samples})
    for row, sample in zip(rows, samples, strict=True):
        for column in sample["has"]:
            picture = to_displayable(column, table.file(column, row))
            write_atomically(out / served.key / split / str(row) / f"{column}.png", picture)
    answering = [run.key for run in served.runs.values() if split in run.answers]
    for first, second in combinations(answering, 2):
        for pair in ((first, second), (second, first)):
            _write(
                out / served.key / split / f"compare-{'-vs-'.join(pair)}.json",
                compare_runs(state, served.key, split, *pair),
            )


def choose_rows(state: State, served: ServedDataset, table: SplitTable, most: int) -> Array:
    """Return the rows that a bundle holds: up to half where some run is wrong, near the boundary first, then others."""
    wrong = np.zeros(len(table), dtype=bool)
    for run in served.runs:
        answers = state.answers(served.key, table.name, run)
        if answers is not None:
            wrong |= answers.has_answer & (~answers.right | answers.misread)
    near = np.zeros(len(table), dtype=bool)
    for side in table.sides.values():
        near |= side.mask("*near")
    order = np.argsort(-(2 * wrong + (wrong & near)), kind="stable")
    half = order[: min(int(wrong.sum()), most // 2)]
    rest = np.setdiff1d(np.arange(len(table)), half)
    return np.sort(np.concatenate([half, rest[: most - len(half)]]))


def _write_tasks(state: State, out: Path) -> None:
    """Write the pages of the tasks that the datasets are of, as far as they are known here."""
    names = dict.fromkeys(served.dataset.name for served in state.shelf.datasets.values())
    pages = [page for name in names if (page := _page(name)) is not None]
    for page in pages:
        _write(out / "tasks" / f"{page['name']}.json", page)
    _write(out / "tasks.json", [{"name": page["name"], "summary": page["summary"]} for page in pages])


def _page(name: str) -> dict[str, Any] | None:
    try:
        return task_page(name) if name in TASKS else None
    except AssayError:  # a task that cannot be built without its sources has no page
        return None


def _write(path: Path, data: Any) -> None:
    write_atomically(path, json.dumps(data, ensure_ascii=False).encode())
