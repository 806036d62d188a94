"""Work that takes longer than a page should wait: done in the background, once, and asked for until it is ready."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

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
