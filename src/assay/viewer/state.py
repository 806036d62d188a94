"""What the viewer holds open: the shelf, the splits that were looked at, their answers, and the tasks behind them."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from assay.arrays import Codes
from assay.data.dataset import SplitData
from assay.data.rebuild import task_of
from assay.errors import DataError
from assay.predictions import Predictions
from assay.tasks import TASKS
from assay.tasks.base import Task
from assay.viewer.answers import Answers, answers_of
from assay.viewer.folders import ServedDataset, Shelf, open_shelf
from assay.viewer.table import SplitTable

Ask = Callable[[Path, SplitData, Mapping[str, Codes] | None], Predictions]
"""Asks the model of a run about rows, with some concepts set; given from outside, since the viewer knows no torch."""
CACHED_SPLITS = 32


class State:
    """Everything that requests share; what is read is kept."""

    def __init__(self, shelf: Shelf, ask: Ask | None = None) -> None:
        self.shelf, self.ask = shelf, ask
        self.table = lru_cache(maxsize=CACHED_SPLITS)(self._table)
        self.answers = lru_cache(maxsize=CACHED_SPLITS)(self._answers)
        self.task = lru_cache(maxsize=None)(self._task)

    @classmethod
    def open(cls, given: Sequence[Path], ask: Ask | None = None) -> "State":
        """Open the datasets and runs in folders."""
        return cls(open_shelf(given), ask)

    def _table(self, key: str, split: str) -> SplitTable:
        return SplitTable(self.shelf[key], split)

    def _answers(self, key: str, split: str, run: str) -> Answers | None:
        return answers_of(self.shelf[key].run(run), self.table(key, split))

    def require_answers(self, key: str, split: str, run: str) -> Answers:
        """Return the answers of a run for a split, which must be there."""
        found: Answers | None = self.answers(key, split, run)
        if found is None:
            raise DataError(
                f"run {run!r} has no answers for split {split!r}; make some: assay predict RUN --split {split}"
            )
        return found

    def _task(self, key: str) -> Task:
        return task_of(self.shelf[key].dataset)


def facts(held: ServedDataset) -> dict[str, object]:
    """Return what the page needs to know of a dataset: its rule, its splits, its runs, where it comes from."""
    manifest = held.dataset.manifest
    splits = [
        {"name": s["name"], "size": s["size"], "where": s["where"], "pool": s["pool"]} for s in manifest["splits"]
    ]
    return {
        "key": held.key,
        "task": manifest["task"],
        "registered": manifest["task"]["name"] in TASKS,
        "summary": manifest["summary"],
        "folder": held.dataset.folder.name,
        "knowledge": manifest["knowledge"],
        "layout": manifest["layout"],
        "columns": manifest["columns"],
        "splits": splits,
        "runs": [
            {"key": r.key, "name": r.name, "model": r.model, "splits": list(r.answers), "live": r.live}
            for r in held.runs.values()
        ],
        "seed": manifest["seed"],
        "fingerprint": held.dataset.fingerprint,
        "versions": manifest["versions"],
        "sources": manifest["sources"],
    }


def overview(shelf: Shelf) -> dict[str, object]:
    """Return all that is served."""
    broken = [{"folder": one.folder, "why": one.why} for one in shelf.broken]
    return {"datasets": [facts(held) for held in shelf.datasets.values()], "broken": broken}
