"""What the viewer holds open: the shelf, the splits that were looked at, their answers, and the tasks behind them.

Models that can be asked are given from outside, since the viewer knows no torch. Work that takes longer than a page
should wait is done in the background, once, and asked for until it is ready.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from assay.base import Array, Codes, DataError
from assay.contracts import Predictions
from assay.dataset import Dataset, SplitData, task_of
from assay.diagnosis import Answering
from assay.tasks import Task
from assay.viewer.answers import Answers, answers_of
from assay.viewer.folders import Workspace, open_workspace
from assay.viewer.table import SplitTable, keep

CACHED_SPLITS = 32
WORKERS = 2
PATIENCE = 0.3
"""Seconds that a request waits for its work; after that it is told to ask again."""
KEPT = 512
"""How many results are kept."""
Work = Callable[[Callable[[str], None]], Any]
"""What is to be done; it may say how far it has come."""


@dataclass
class Job:
    """One piece of work: how far it is, and in the end what it gave or why it failed."""

    work: Work
    step: str = "waiting"
    result: Any = None
    error: Exception | None = None
    finished: threading.Event = field(default_factory=threading.Event)

    def tell(self, step: str) -> None:
        """Keep how far the work is."""
        self.step = step


class Jobs:
    """A queue of work with two threads that end with the program; the same work is never done twice at once."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._jobs: OrderedDict[tuple[str, ...], Job] = OrderedDict()
        self._lock = threading.Lock()
        self._workers = workers
        self._started = False

    def ask(self, name: tuple[str, ...], work: Work, patience: float | None = None) -> Job:
        """Return the job of this name, begun now if it was not; wait a moment for it to finish.

        A job that failed is forgotten once its error was told, so that it can be tried again.
        """
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                job = self._jobs[name] = Job(work)
                self._start()
                self._queue.put(job)
            self._jobs.move_to_end(name)
            self._forget()
        job.finished.wait(PATIENCE if patience is None else patience)
        if job.error is not None:
            with self._lock:
                if self._jobs.get(name) is job:
                    del self._jobs[name]
            raise job.error
        return job

    def _forget(self) -> None:
        """Drop the oldest results; what is not finished stays."""
        old = [name for name, job in self._jobs.items() if job.finished.is_set()]
        for name in old[: max(0, len(self._jobs) - KEPT)]:
            del self._jobs[name]

    def _start(self) -> None:
        if not self._started:
            self._started = True
            for _ in range(self._workers):
                threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            job = self._queue.get()
            job.step = "working"
            try:
                job.result = job.work(job.tell)
            except Exception as error:  # told to whoever asks
                job.error = error
            job.finished.set()


class LiveModels(Protocol):
    """The models of runs, by the folders of the runs."""

    def predict(self, run: Path, data: SplitData, do: Mapping[str, Codes] | None) -> Predictions:
        """Return the predictions of a run's model for rows, with some concepts set."""

    def answering(self, run: Path, dataset: Dataset, split: str) -> Answering:
        """Return the model of a run, or of a predictions file, ready for interventions."""

    def layers(self, run: Path, data: SplitData) -> list[str]:
        """Return the names of the layers of a run's network, in the order in which it calls them."""

    def activations(self, run: Path, data: SplitData, layer: str) -> Array:
        """Return what a layer gives for the pictures of rows, a row of features each."""


class State:
    """Everything that requests share; what is read is kept."""

    def __init__(self, shelf: Workspace, models: LiveModels | None = None) -> None:
        self.shelf, self.models = shelf, models
        self.jobs, self.drawing = Jobs(), Jobs()  # who waits for a verdict does not wait for pictures of tasks
        self.table = keep(self._table, CACHED_SPLITS)
        self.answers = keep(self._answers, CACHED_SPLITS)
        self.task = keep(self._task)

    @classmethod
    def open(cls, given: Sequence[Path], models: LiveModels | None = None) -> "State":
        """Open the datasets and runs in folders."""
        return cls(open_workspace(given), models)

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
