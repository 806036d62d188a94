"""Studies: tasks x models x seeds; and the demo, which is a small one."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.api.arguments import Say, ignore
from assay.base import Settings, loaded_files, progress_bar, refuse_remote, to_frame
from assay.lab import (
    LocalWorkers,
    RayWorkers,
    Record,
    VerdictLine,
    find_study,
    plan_of,
    read_records,
    study_from,
    verdict_lines,
)
from assay.lab import run_study as run
from assay.models import check_log

if TYPE_CHECKING:
    import pandas as pd

DEMO = {
    "name": "Assay demo: sums of digits, a formula over bits, robots",
    "tasks": [
        {"task": "mnadd-evenodd", "n": 4000},
        {"task": "mnlogic", "n": 1000, "formula": "(a and b) or (c and not d)"},
        {"task": "robots", "n": 800, "size": 64},
    ],
    "models": [
        {"model": "blackbox", "epochs": 8},
        {"model": "cbm", "epochs": 15},
        {"model": "dpl", "epochs": 12, "entropy_weight": 1.0},
    ],
    "seeds": [0],
}
"""On sums of even or odd digits the model that follows the rule reads the digits wrong. On a formula over bits the
black box is right until a combination is new, or one bit is changed. On robots all concepts show in one image."""


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study that was run: its folder and the page of its report."""

    folder: Path
    page: Path
    verdicts: tuple[VerdictLine, ...] = ()
    """The verdict on each model on each task."""
    names: tuple[str, ...] = ()
    """The names of the runs that were asked for."""

    @property
    def records(self) -> list[Record]:
        """Every number of every run."""
        return list(read_records(self.folder))

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a data frame."""
        return to_frame([asdict(record) for record in self.records])

    def __repr__(self) -> str:
        return f"StudyResult({len({record.run for record in self.records})} runs, {str(self.page)[-120:]!r})"


def run_study(
    study: Mapping[str, Any] | Path | str,
    output: Path | str | None = None,
    *,
    size: Literal["small", "paper"] = "small",
    models: Sequence[str] = (),
    seeds: int | None = None,
    plan: bool = False,
    trial: bool | None = None,
    workers: int | LocalWorkers | RayWorkers | None = 1,
    cluster: str | None = None,
    log: str | None = None,
    allow_code: Sequence[Path] = (),
    say: Say = ignore,
    progress: bool | None = None,
) -> StudyResult:
    """Run a study: make data, train, diagnose, report; what is finished in the output folder is kept.

    Parameters
    ----------
    study
        The study as a mapping, its YAML file, or the name of a ready one, which `assay.list("studies")` has.
    output
        The output folder; by default that of the file.
    size
        The size of a ready study.
    models
        Only these models of the study.
    seeds
        Only the first so many seeds.
    plan
        Whether to stop after planning: nothing is made, and the result has the names of the runs.
    trial
        Whether to say first how long it will take, by a trial of each step, for a minute at most; False says only what
        is left to do, None (the default) nothing.
    workers
        The number of processes, None for one per processor; or a pool of workers.
    cluster
        Run on a Ray cluster instead: `auto`, `local` or an address.
    log
        Log each epoch and the final scores: `tensorboard`, `wandb` or `mlflow`.
    allow_code
        Python files that the study names and that may be run.
    say
        Is told what is begun and ended, such as `print`.
    progress
        Whether to show progress on standard error.
    """
    check_log(log)
    place = refuse_remote(None if output is None else Path(output))
    whole = (
        study_from(Settings(dict(study)), place)
        if isinstance(study, Mapping)
        else find_study(str(study), size, place, allow_code)
    )
    planned = whole.only(models, seeds).with_log(log)
    for allowed in loaded_files() if trial is not None else ():
        say(f"runs code  {allowed.file.path}  sha256 {allowed.file.sha256}")
    pool = _pool(workers, cluster)
    pool.check(planned.runs, planned.output)
    if trial is not None:
        for missing in planned.absent:
            say(f"left out: {missing}")
        with progress_bar(progress) as bar:
            say(f"{planned.name}: {plan_of(planned, bar, trial).text(pool.count)}")
    names = tuple(run.name for run in planned.runs)
    if plan:
        return StudyResult(planned.output, planned.output / "report.html", names=names)
    with progress_bar(progress) as bar:
        page = run(planned, say, bar, pool)
    return StudyResult(planned.output, page, tuple(verdict_lines(planned.runs, planned.output)), names)


def _pool(workers: int | LocalWorkers | RayWorkers | None, cluster: str | None) -> LocalWorkers | RayWorkers:
    """Return who does the work."""
    if isinstance(workers, LocalWorkers | RayWorkers):
        return workers
    return RayWorkers(cluster) if cluster else LocalWorkers(workers or os.cpu_count() or 1)


def demo(output: Path | str = "demo", *, say: Say = ignore, progress: bool | None = None) -> StudyResult:
    """Run every step on three small tasks: make three datasets, train three models on each, and diagnose them.

    Parameters
    ----------
    output
        The folder to write.
    say
        Is told what is begun and ended, such as `print`.
    progress
        Whether to show progress on standard error.
    """
    return run_study(DEMO, output, workers=None, say=say, progress=progress)
