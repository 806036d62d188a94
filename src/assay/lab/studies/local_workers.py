"""Workers on this machine: processes with one thread each, so that a run gives the same numbers wherever it is done."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from assay.base import ConfigError, block_interrupts, end_with_parent, has_gpu, loaded_files, number_worker, validate
from assay.dataset import default_workers
from assay.lab.studies.study import DataStep, RunStep
from assay.lab.studies.work import Outcome, Report, Step, groups_of_seeds, is_finished, perform, train_side_by_side

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
TRIES = 3
"""How often a step is started whose worker dies: one that runs out of memory would kill every worker."""
PAUSE = 0.3
SIDE_BY_SIDE = 3
"""How many groups of seeds share a GPU at once: while one group is fed, another computes."""

Poll = Callable[[], None]
"""Called several times a second while steps run, to show progress."""


@dataclass(frozen=True)
class LocalWorkers:
    """A pool of processes."""

    count: int

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse unfinished runs with a precision that this machine cannot compute in, before anything is made."""
        for step in steps:
            if step.settings.values.get("precision") == "bfloat16" and not is_finished(step, output):
                from assay.models import Training, device_for

                try:
                    device_for(validate(Training, step.settings.only({"device", "precision"})))
                except ConfigError as error:
                    raise ConfigError(f"{step.settings.place('precision')}{error}") from None

    def run(self, steps: Sequence[Step], output: Path, poll: Poll) -> Iterator[Outcome]:
        """Do the steps in any order and give each outcome as it comes; a worker that dies loses no finished work."""
        left, tries = list(steps), dict.fromkeys((step.name for step in steps), 0)
        if has_gpu():
            self._train_seeds(groups_of_seeds(left, output), output, poll)
        while left:
            done: set[str] = set()
            try:
                for outcome in self._once(left, output, poll, tries):
                    done.add(outcome.name)
                    yield outcome
            except BrokenProcessPool:
                tired = [step for step in left if step.name not in done and tries[step.name] >= TRIES]
                for step in tired:
                    done.add(step.name)
                    yield Outcome(step.name, False, 0.0, f"its worker died {TRIES} times (killed, or out of memory)")
            left = [step for step in left if step.name not in done]

    def _train_seeds(self, groups: Sequence[Sequence[RunStep]], output: Path, poll: Poll) -> None:
        """Train seeds of one model side by side on a GPU, which many small processes at once would only slow down."""
        if not groups:
            return
        with self._pool(min(SIDE_BY_SIDE, self.count, len(groups))) as pool:
            code = [loaded.file for loaded in loaded_files()]
            under_way = {_submit(pool, train_side_by_side, group, output, code) for group in groups}
            try:
                while under_way:
                    _, under_way = wait(under_way, timeout=PAUSE, return_when=FIRST_COMPLETED)
                    poll()
            except BaseException:
                _end(pool)
                raise

    def _pool(self, count: int) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        given = (context.Value("i", 0), os.getpid())
        return ProcessPoolExecutor(count, mp_context=context, initializer=_prepare, initargs=given)

    def make(self, step: DataStep, output: Path, watch: Report) -> Outcome:
        """Make a dataset, with as many processes as pay."""
        workers = 1 if step.recipe is None else default_workers(step.recipe)
        return perform(step, output, min(self.count, workers), watch=watch)

    def _once(self, steps: Sequence[Step], output: Path, poll: Poll, tries: dict[str, int]) -> Iterator[Outcome]:
        """Do steps with one pool until all are done or it breaks; it holds no more of them than it has workers."""
        waiting = list(steps)
        with self._pool(min(self.count, len(steps))) as pool:
            under_way: set[Future[Outcome]] = set()
            try:
                while waiting or under_way:
                    while waiting and len(under_way) < self.count:
                        step = waiting.pop(0)
                        tries[step.name] += 1
                        code = [loaded.file for loaded in loaded_files()]
                        under_way.add(_submit(pool, perform, step, output, code=code))
                    ended, under_way = wait(under_way, timeout=PAUSE, return_when=FIRST_COMPLETED)
                    poll()
                    for future in ended:
                        yield future.result()
            except BaseException:
                _end(pool)
                raise


def _end(pool: ProcessPoolExecutor) -> None:
    """End all workers at once: a run under way would take hours to end."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, work: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
    """Hand work to a worker; a worker that starts ignores Ctrl-C and computes in one thread."""
    environment = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with block_interrupts():
            return pool.submit(work, *given, **named)
    finally:
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _prepare(numbers: "Synchronized[int]", parent: int) -> None:
    """Number a worker, and let it end with its parent process; torch is not imported for models that need none."""
    end_with_parent(parent)
    with numbers.get_lock():
        number_worker(numbers.value)
        numbers.value += 1
