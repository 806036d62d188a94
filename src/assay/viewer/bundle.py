"""The viewer as static files: the same page, with some samples of each split as JSON and PNG files beside it.

Nothing can be edited there, since that takes the task and the model; everything else works from any web server.
"""

import json
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, AssayError, write_atomically, write_folder
from assay.contracts import PAIRS
from assay.tasks import TASKS
from assay.viewer.app import static_files
from assay.viewer.counts import MOST_RUNS, compare_runs, reading_of
from assay.viewer.datasets import dataset_page, distribution_of, facts, preview_split, shortcuts_of
from assay.viewer.edit import or_why
from assay.viewer.embedding import map_of
from assay.viewer.folders import ServedDataset, ServedRun
from assay.viewer.pictures import task_page, to_displayable
from assay.viewer.runs import POLICY_NAMES, intervention_curve, run_page, verdict_of
from assay.viewer.samples import PAGE, origins_of, pairs_of, sample_of
from assay.viewer.state import State
from assay.viewer.table import SplitTable

SAMPLES = 60
SHELF = "shelf.json"
PREVIEW = 4
FEW_RUNS = 5
"""Of so many runs every choice of them is compared, of more only two at a time, and all."""


def write_bundle(state: State, out: Path, samples: int = SAMPLES) -> Path:
    """Write the page and up to so many samples of each split into a new folder; return the page.

    Parameters
    ----------
    state
        What is served.
    out
        A new folder.
    samples
        So many samples of each split at most.
    """
    with write_folder(out, lambda there: (there / SHELF).is_file()) as half:
        _write_bundle(state, half, samples)
    return out / "index.html"


def _write_bundle(state: State, out: Path, samples: int) -> None:
    for name, data in static_files().items():
        live = b'data-source="live"'
        write_atomically(out / name, data.replace(live, b'data-source="bundle"') if name == "index.html" else data)
    datasets = [_write_dataset(state, served, out, samples) for served in state.shelf.datasets.values()]
    _write_tasks(state, out)
    limits = {"live": False, "samples": samples, "page": PAGE, "broken": []}  # what is broken here concerns no one else
    _write(out / SHELF, {"datasets": datasets, **limits})


def _write_dataset(state: State, served: ServedDataset, out: Path, samples: int) -> dict[str, Any]:
    """Write all about a dataset and its runs; return its entry of the shelf."""
    rows = held_rows(state, served, samples)
    for split, chosen in rows.items():
        _write_split(state, served, split, out / "data", chosen.tolist())
        _write_comparisons(state, served, split, out / "data" / served.key / split)
        _write(out / "datasets" / served.key / f"{split}-distribution.json", distribution_of(state, served.key, split))
    _write(out / "datasets" / f"{served.key}.json", dataset_page(state, served.key))
    _write_or_why(out / "datasets" / served.key / "shortcuts.json", lambda: shortcuts_of(state, served.key))
    for run in served.runs.values():
        _write_run(state, served, run, out / "runs" / served.key, rows)
    shown = preview_split(served).name
    return {**facts(served, state.shelf), "preview": {"split": shown, "rows": rows[shown][:PREVIEW].tolist()}}


def held_rows(state: State, served: ServedDataset, samples: int) -> dict[str, Array]:
    """Return the rows of each split that a bundle holds; of pairs those whose original it holds."""
    names = [split.name for split in served.splits if split.name != PAIRS]
    rows = {name: choose_rows(state, served, state.table(served.key, name), samples) for name in names}
    if served.dataset.pairs is not None:
        held = rows[str(served.dataset.pairs.split)]
        rows[PAIRS] = np.flatnonzero(np.isin(origins_of(state, served.key), held))[:samples]
    return rows


def _write_split(state: State, served: ServedDataset, split: str, out: Path, rows: list[int]) -> None:
    table: SplitTable = state.table(served.key, split)
    samples = [sample_of(state, served.key, split, row) for row in rows]
    kinds = {name: side.kinds for name, side in table.sides.items()}
    _write(out / served.key / f"{split}.json", {"whole": len(table), "kinds": kinds, "samples": samples})
    for row, sample in zip(rows, samples, strict=True):
        for column in sample["has"]:
            picture = to_displayable(column, table.file(column, row))
            write_atomically(out / served.key / split / str(row) / f"{column}.png", picture)


def _write_comparisons(state: State, served: ServedDataset, split: str, out: Path) -> None:
    """Write the comparisons of runs, named by their places among the runs of the dataset."""
    able = [place for place, run in enumerate(served.runs.values()) if split in run.answers][:MOST_RUNS]
    sizes = range(2, len(able) + 1) if len(able) <= FEW_RUNS else sorted({2, len(able)})
    keys = list(served.runs)
    for size in sizes if len(able) > 1 else ():
        for places in combinations(able, size):
            name = f"compare-{'-'.join(map(str, places))}.json"
            _write(out / name, compare_runs(state, served.key, split, [keys[place] for place in places]))


def _write_run(state: State, served: ServedDataset, run: ServedRun, out: Path, rows: dict[str, Array]) -> None:
    """Write the page of a run; what it cannot have is written as the reason."""
    key, own, shown = served.key, out / run.key, preview_split(served).name
    _write_or_why(out / f"{run.key}.json", lambda: run_page(state, key, run.key, rows))
    _write_or_why(own / "verdict.json", lambda: verdict_of(state, key, run.key))
    if PAIRS in run.answers:
        _write_or_why(own / "pairs.json", lambda: _held_pairs(state, key, run.key, rows[PAIRS]))
    for split in run.answers:
        _write_or_why(own / f"{split}-reading.json", partial(reading_of, state, key, split, run.key))
        _write_or_why(own / f"{split}-map.json", partial(map_of, state, key, split, run.key))
    for policy in POLICY_NAMES if shown in run.answers else ():  # the model is asked: one split must do
        curve = partial(intervention_curve, state, key, shown, run.key, policy)
        _write_or_why(own / f"{shown}-interventions-{policy}.json", curve)


def _held_pairs(state: State, key: str, run: str, rows: Array) -> dict[str, Any]:
    found = pairs_of(state, key, run, size=len(state.table(key, PAIRS)))
    held = set(rows.tolist())
    return {**found, "pairs": [pair for pair in found["pairs"] if pair["sides"][1]["row"] in held]}


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


def _write_or_why(path: Path, work: Callable[[], dict[str, Any]]) -> None:
    _write(path, or_why(work))
