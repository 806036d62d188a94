"""Runs a study: data, models, diagnosis, report. What is finished is not done again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.data.dataset import Dataset
from assay.data.make import default_workers, make
from assay.errors import AssayError, RunFailed
from assay.models import MODELS
from assay.report.write import write_report
from assay.runs import RUN, RunFolder
from assay.studies.study import PlannedRun, Study

Say = Callable[[str], None]
Watch = Callable[[str, int, int], None]
"""Called with what is under way, how much is done, and how much there is."""


@dataclass(frozen=True)
class Outcome:
    """How one planned run ended."""

    run: PlannedRun
    folder: Path
    fault: str | None


def run_study(study: Study, say: Say = lambda text: None, watch: Watch = lambda what, done, all_: None) -> Path:
    """Run all of a study and return the report; failures are told at the end and do not stop the rest."""
    datasets = {name: _dataset(study, name, say, watch) for name in study.datasets}
    outcomes = [_run(study, planned, datasets[planned.data], say, watch) for planned in study.runs]
    done = [outcome.folder for outcome in outcomes if outcome.fault is None]
    failed = [outcome for outcome in outcomes if outcome.fault is not None]
    if not done:
        raise RunFailed(f"every run failed; the first, {failed[0].run.name}: {failed[0].fault}")
    page = write_report(done, study.output / "report", study.name)
    if failed:
        raise RunFailed(
            f"{len(failed)} of {len(outcomes)} runs failed ({failed[0].run.name}: {failed[0].fault}); {page}"
        )
    return page


def _dataset(study: Study, name: str, say: Say, watch: Watch) -> Dataset:
    recipe, folder = study.datasets[name], study.output / "data" / name
    rows = sum(split.size for split in recipe.splits)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        watch(f"making {name}", done, rows)

    try:
        make(recipe, folder, default_workers(rows), count)
    except AssayError as error:
        raise type(error)(f"{name}: {error}") from None
    say(f"data    {folder} ({rows:,} examples)")
    return Dataset.open(folder)


def _run(study: Study, planned: PlannedRun, dataset: Dataset, say: Say, watch: Watch) -> Outcome:
    from assay.models.runs import Order, train_run

    folder = study.output / "runs" / planned.name
    order = Order(planned.model, planned.settings, planned.seed)
    try:
        if (folder / RUN).exists() and _up_to_date(folder, planned, dataset):
            say(f"kept    {folder}")
            return Outcome(planned, folder, None)
        train_run(order, dataset, folder, lambda epoch, all_: watch(f"training {planned.name}", epoch.number, all_))
    except Exception as error:  # whatever a model may raise: the other runs shall go on
        fault = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
        say(f"failed  {folder}: {fault}")
        return Outcome(planned, folder, fault)
    say(f"trained {folder}")
    return Outcome(planned, folder, None)


def _up_to_date(folder: Path, planned: PlannedRun, dataset: Dataset) -> bool:
    """Return whether a finished run is of this model, settings and data; refuse to write over another one."""
    about = RunFolder(folder).about()
    asked = MODELS[planned.model].settled(planned.settings, dataset.manifest["backbones"]).model_dump(mode="json")
    same = about["config"] == asked and about["data"]["fingerprint"] == dataset.fingerprint
    if not same or about["model"] != planned.model:
        raise RunFailed(f"{str(folder)!r} holds a run with other settings; choose another output folder or name")
    return True
