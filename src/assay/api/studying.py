"""Run a study: tasks x models x seeds."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.base import Settings, progress_bar, refuse_remote, to_frame
from assay.lab import (
    LocalWorkers,
    RayWorkers,
    Record,
    Study,
    VerdictLine,
    find_study,
    plan_of,
    read_records,
    study_from,
    verdict_lines,
)
from assay.lab import run_study as carry_out
from assay.models import check_log

if TYPE_CHECKING:
    import pandas as pd

Pool = LocalWorkers | RayWorkers
StudySource = Study | Mapping[str, Any] | Path | str


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study that was run: its folder and the page of its report."""

    folder: Path
    page: Path
    verdicts: tuple[VerdictLine, ...] = ()
    """The verdict on each model on each task."""

    @property
    def records(self) -> list[Record]:
        """Every number of every run."""
        return list(read_records(self.folder))

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a data frame."""
        rows = [asdict(record) for record in self.records]
        return to_frame({key: [row[key] for row in rows] for key in rows[0]} if rows else {})

    def __repr__(self) -> str:
        return f"StudyResult({len({record.run for record in self.records})} runs, {str(self.page)[-120:]!r})"


def run_study(
    study: StudySource,
    output: Path | str | None = None,
    *,
    size: Literal["small", "paper"] = "small",
    models: Sequence[str] = (),
    seeds: int | None = None,
    workers: int | Pool | None = 1,
    cluster: str | None = None,
    log: str | None = None,
    allow_code: Sequence[Path] = (),
    say: Callable[[str], Any] | None = None,
    progress: bool | None = None,
) -> StudyResult:
    """Run a study: make data, train, diagnose, report; what is finished in the output folder is kept.

    Parameters
    ----------
    study
        The study as a mapping, its YAML file, or the name of a ready one, which `assay study list` has.
    output
        The output folder; by default that of the file.
    size
        The size of a ready study.
    models
        Only these models of the study.
    seeds
        Only the first so many seeds.
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
    planned = open_study(study, output, size=size, models=models, seeds=seeds, log=log, allow_code=allow_code)
    pool = study_workers(planned, workers, cluster)
    with progress_bar(progress) as bar:
        page = carry_out(planned, say or _ignore, bar, pool)
    return StudyResult(planned.output, page, tuple(verdict_lines(planned.runs, planned.output)))


def _ignore(text: str) -> None:
    """Take what is said, where nobody wants to hear it."""


def open_study(
    study: StudySource,
    output: Path | str | None = None,
    *,
    size: Literal["small", "paper"] = "small",
    models: Sequence[str] = (),
    seeds: int | None = None,
    log: str | None = None,
    allow_code: Sequence[Path] = (),
) -> Study:
    """Return a study as `run_study` would run it; the arguments are the same."""
    check_log(log)
    if isinstance(study, Study):
        return study
    place = refuse_remote(None if output is None else Path(output))
    if isinstance(study, Mapping):
        found = study_from(Settings(dict(study)), place)
    else:
        found = find_study(str(study), size, place, allow_code)
    return found.only(models, seeds).with_log(log)


def study_workers(study: Study, workers: int | Pool | None = None, cluster: str | None = None) -> Pool:
    """Return the workers of a study, refusing what they cannot do before anything is made.

    Parameters
    ----------
    study
        The study.
    workers
        The number of processes, None for one per processor; or a pool of workers.
    cluster
        A Ray cluster instead: `auto`, `local` or an address.
    """
    if isinstance(workers, int) or workers is None:
        pool: Pool = RayWorkers(cluster) if cluster else LocalWorkers(workers or os.cpu_count() or 1)
    else:
        pool = workers
    pool.check(study.runs, study.output)
    return pool


def estimate_study(study: Study, workers: Pool, *, trial: bool = True, progress: bool | None = None) -> str:
    """Return what is left of a study, and what that takes, in words.

    Parameters
    ----------
    study
        The study.
    workers
        Who would do it.
    trial
        Whether to try each step for a minute at most; without it only the numbers of steps are told.
    progress
        Whether to show progress on standard error.
    """
    with progress_bar(progress) as bar:
        return plan_of(study, bar, trial).text(workers.count)
