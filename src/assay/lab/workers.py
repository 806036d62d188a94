"""Workers: processes of this machine, or a Ray cluster whose nodes share a folder; and what hands steps to them.

Each worker computes in one thread, so that a run gives the same numbers wherever it is done. A worker that dies loses
no finished work.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Protocol

from assay.base import (
    CodeFile,
    ConfigError,
    RunFailed,
    begin_worker,
    block_interrupts,
    loaded_files,
    refuse_links,
)
from assay.dataset import default_workers
from assay.exchange import Call, Cluster, WorkerLost
from assay.lab.steps import (
    DataStep,
    Outcome,
    Report,
    RunStep,
    Step,
    Steps,
    folder_of,
    groups_of_seeds,
    is_finished,
    perform,
    progress_of,
    train_side_by_side,
)
from assay.runs import LOGS

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
TRIES = 3
"""How often a step is started whose worker dies: one that runs out of memory would kill every worker."""
PAUSE = 0.3
SIDE_BY_SIDE = 3
"""How many groups of seeds share a GPU at once: while one group is fed, another computes."""
Poll = Callable[[], None]
"""Called several times a second while steps run, to show progress."""
MOST_TRAINED = 0.95
"""What a run that is trained but not scored yet counts as."""
Say = Callable[[str], None]
Watch = Callable[[str, float, float, str | None], None]
"""Told what is done, how much of how much, and that in words; without words, the two numbers say it."""
See = Callable[[Outcome], None]
"""Told how each run ended, as it ends."""


class Workers(Protocol):
    """What carries out steps: processes on this machine, or a cluster."""

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse unfinished runs that cannot be done, before anything is made."""

    def make(self, step: DataStep, output: Path, watch: Report) -> Outcome:
        """Make a dataset with all processors."""

    def run(self, steps: Sequence[Step], output: Path, poll: Poll) -> Iterator[Outcome]:
        """Do the steps in any order and give each outcome as it comes."""


@dataclass(frozen=True)
class LocalWorkers:
    """A pool of processes."""

    count: int

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse unfinished runs with a precision that this machine cannot compute in, before anything is made."""
        for step in steps:
            if step.settings.values.get("precision") == "bfloat16" and not is_finished(step, output):
                from assay.models import device_for

                try:
                    device_for(step.settings.values.get("device", "auto"), "bfloat16")
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


def has_gpu() -> bool:
    """Return whether this machine has a GPU of NVIDIA, without importing torch."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _prepare(numbers: "Synchronized[int]", parent: int) -> None:
    """Number a worker, and let it end with its parent process; torch is not imported for models that need none."""
    with numbers.get_lock():
        begin_worker(parent, numbers.value)
        numbers.value += 1


@dataclass(frozen=True)
class RayWorkers:
    """The workers of a cluster: `auto` for the one of this machine, `local` to start one now, or its address."""

    address: str

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster, which is connected to when first used."""
        return Cluster(self.address)

    @property
    def count(self) -> int:
        """How many steps are done at once."""
        return max(1, self.cluster.processors)

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse nothing: each node judges for itself, as it may be another machine than this one."""

    def make(self, step: DataStep, output: Path, watch: Report) -> Outcome:
        """Make a dataset, its shards on all nodes at once."""
        return perform(step, output, pool=self.cluster, watch=watch)

    def run(self, steps: Sequence[Step], output: Path, poll: Poll) -> Iterator[Outcome]:
        """Do the steps in any order and give each outcome as it comes; a worker or node that dies loses no step."""
        if not steps:
            return
        folder = output.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        code = tuple(loaded.file for loaded in loaded_files())
        calls = [Call(step.name, _perform, (step, folder, code)) for step in steps]
        for call, outcome in self.cluster.run(calls, poll, gpus=True):
            if isinstance(outcome, WorkerLost):
                fault = f"its worker died {outcome.times} times (killed, out of memory, or its node is gone)"
                outcome = Outcome(call.name, False, 0.0, fault)
            yield outcome


def _perform(step: Step, output: Path, code: Sequence[CodeFile] = ()) -> Outcome:
    """Do a step in one thread, as on a single machine, so that the numbers are the same."""
    from assay.models import one_thread

    if not output.is_dir():
        raise RunFailed(
            f"a node does not see {str(output)!r}; a study on a cluster needs a folder that all nodes share"
        )
    one_thread()
    return perform(step, output, code=code)


def perform_steps(
    steps: Steps, say: Say, watch: Watch, workers: Workers | None, see: See = lambda outcome: None
) -> list[Outcome]:
    """Do steps, by default on all processors, and return how each ended. Failures do not stop the rest."""
    refuse_links(steps.output, unread=LOGS)
    runner = _Runner(steps, say, watch, workers or LocalWorkers(os.cpu_count() or 1), see)
    runner.workers.check(steps.runs, steps.output)
    outcomes = [runner.make(step) for step in steps.datasets]
    broken = _faults(outcomes)
    outcomes += runner.perform([step for step in steps.copies if step.parent not in broken])
    broken = _faults(outcomes) | {copy.name: broken[copy.parent] for copy in steps.copies if copy.parent in broken}
    runs = [step for step in steps.runs if step.data not in broken]
    outcomes += runner.perform([step for step in runs if not step.needs])
    broken |= _faults(outcomes)
    outcomes += runner.perform([step for step in runs if step.needs and step.needs not in broken])
    outcomes += [Outcome(s.name, False, 0.0, f"{s.needs}: {broken[s.needs]}") for s in runs if s.needs in broken]
    outcomes += [Outcome(s.name, False, 0.0, f"{s.data}: {broken[s.data]}") for s in steps.runs if s.data in broken]
    return outcomes


def _faults(outcomes: Sequence[Outcome]) -> dict[str, str]:
    return {outcome.name: outcome.fault for outcome in outcomes if outcome.fault}


@dataclass(frozen=True)
class _Runner:
    """Hands steps to workers and tells what becomes of them."""

    steps: Steps
    say: Say
    watch: Watch
    workers: Workers
    see: See

    def make(self, step: DataStep) -> Outcome:
        """Make a dataset with all processors at once."""
        name = f"making {step.name}"
        outcome = self.workers.make(step, self.steps.output, lambda done, whole: self.watch(name, done, whole, None))
        self._tell(step, outcome)
        return outcome

    def perform(self, steps: Sequence[Step]) -> list[Outcome]:
        """Do steps in any order; those that are finished are kept."""
        output, named = self.steps.output, {step.name: step for step in steps}
        outcomes = [Outcome(step.name, False, 0.0) for step in steps if is_finished(step, output)]
        for outcome in outcomes:
            self._tell(named[outcome.name], outcome)
            self.see(outcome)
        kept = {outcome.name for outcome in outcomes}
        left = [step for step in steps if step.name not in kept]

        def poll() -> None:
            under_way = [progress_of(step, output) for step in left]
            parts = sum(min(MOST_TRAINED, part / max(1, whole)) for part, whole in under_way)
            kind = "runs" if isinstance(steps[0], RunStep) else "copies"
            done = len(outcomes)
            self.watch(self.steps.name, done + parts, len(steps), f"{done} of {len(steps)} {kind} done")

        for outcome in self.workers.run(left, output, poll):
            outcomes.append(outcome)
            self._tell(named[outcome.name], outcome)
            self.see(outcome)
        return outcomes

    def _tell(self, step: Step, outcome: Outcome) -> None:
        folder = folder_of(step, self.steps.output)
        if outcome.fault is not None:
            self.say(f"failed  {folder}: {outcome.fault}")
        elif not outcome.done:
            self.say(f"kept    {folder}")
        else:
            self.say(f"{'trained' if isinstance(step, RunStep) else 'made'}    {folder} ({outcome.seconds:.0f} s)")
