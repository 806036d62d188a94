"""What the viewer holds open: the shelf, the splits that were looked at, their answers, and the tasks behind them."""

from collections.abc import Sequence
from pathlib import Path

from assay.base import DataError
from assay.dataset import task_of
from assay.tasks import Task
from assay.viewer.answers import Answers, answers_of
from assay.viewer.folders import Shelf, open_shelf
from assay.viewer.jobs import Jobs
from assay.viewer.keep import keep
from assay.viewer.live import LiveModels
from assay.viewer.table import SplitTable

CACHED_SPLITS = 32


class State:
    """Everything that requests share; what is read is kept."""

    def __init__(self, shelf: Shelf, models: LiveModels | None = None) -> None:
        self.shelf, self.models = shelf, models
        self.jobs, self.drawing = Jobs(), Jobs()  # who waits for a verdict does not wait for pictures of tasks
        self.table = keep(self._table, CACHED_SPLITS)
        self.answers = keep(self._answers, CACHED_SPLITS)
        self.task = keep(self._task)

    @classmethod
    def open(cls, given: Sequence[Path], models: LiveModels | None = None) -> "State":
        """Open the datasets and runs in folders."""
        return cls(open_shelf(given), models)

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
