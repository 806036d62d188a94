"""Steps of work, and what a worker does: one step, from plain data to a finished folder.

A step is plain data and names the folder that it fills. A step that is done again does nothing; one that was killed
half-way starts from what is finished. Steps report only through files in the folder of all steps, so that workers may
be processes, or machines that share the folder.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import (
    AssayError,
    CodeFile,
    ConfigError,
    DataError,
    ProgressCallback,
    RunFailed,
    Settings,
    UnknownName,
    copy_folder,
    load_files,
    validate,
    write_atomically,
    write_folder,
)
from assay.contracts import to_json
from assay.dataset import NAME, Dataset, Fold, Pool, Recipe, make
from assay.exchange import Annotation, Machine, annotate, likeliest_codes, read_scores
from assay.lab.analyses import run_analysis
from assay.lab.judged import JudgedBy, facts_of, is_judged
from assay.models import reader_for
from assay.runs import RUN, USAGE, RunFolder, measure_usage

PLAIN = "plain"
"""The name of the challenge that changes nothing."""
PERCEPTION = "perception"
"""The setting by which a model names another model of the study whose predicted concepts it learns from."""


def title_of(task: str, challenge: str) -> str:
    """Return what a task under a challenge is called.

    >>> title_of("mnadd", "plain"), title_of("mnadd", "noise")
    ('mnadd', 'mnadd, noise')
    """
    return task if challenge == PLAIN else f"{task}, {challenge}"


@dataclass(frozen=True)
class DataStep:
    """A dataset to be made, or to be copied from a folder where it lies already."""

    name: str
    recipe: Recipe | None
    source: str = ""
    """The folder of a dataset that is there, such as one of `assay import`."""


@dataclass(frozen=True)
class CopyStep:
    """An annotated copy of a dataset to be made."""

    name: str
    parent: str
    annotation: Mapping[str, Any]


@dataclass(frozen=True)
class RunStep:
    """One model to be trained on one dataset with one seed, perhaps without one fold of the training examples."""

    name: str
    data: str
    task: str
    challenge: str
    model: str
    label: str
    settings: Settings
    seed: int
    fold: int | None = None
    folds: int = 0
    analyses: tuple[tuple[str, Settings], ...] = ()
    needs: str = ""
    """The run whose predicted concepts it learns from, which must be finished before."""
    log: str | None = None
    """What its epochs are logged to; it changes no number, and so is no part of the name."""
    judged_by: JudgedBy = field(default_factory=JudgedBy)
    """By what it is judged when it is trained; no part of the name, so that other thresholds train nothing again."""


Step = DataStep | CopyStep | RunStep


@dataclass(frozen=True)
class Steps:
    """Steps that belong together, such as those of a study, and the folder that they fill."""

    name: str
    output: Path
    datasets: tuple[DataStep, ...] = ()
    copies: tuple[CopyStep, ...] = ()
    runs: tuple[RunStep, ...] = ()


Report = Callable[[int, int], None]
"""Told how much of a step is done, and how much there is."""
RECORDS = "records.json"
"""The scores of a run, written last: a run's folder without it is not finished."""
PROGRESS = ".progress"
FAULT = ".fault"


@dataclass(frozen=True)
class Outcome:
    """How a step ended: whether it was done now, how long it took, and what went wrong."""

    name: str
    done: bool
    seconds: float
    fault: str | None = None
    refused: bool = False
    """Whether it was refused in a line that says why, and did not break."""


def folder_of(step: Step, output: Path) -> Path:
    """Return the folder that a step fills."""
    return output / ("runs" if isinstance(step, RunStep) else "data") / step.name


def is_finished(step: Step, output: Path) -> bool:
    """Return whether a step's folder is filled, a run's with a record that was judged as the step asks."""
    folder = folder_of(step, output)
    if not isinstance(step, RunStep):
        return (folder / NAME).exists()
    return (folder / RECORDS).exists() and not _is_outdated(step, folder)


def _is_outdated(step: RunStep, folder: Path) -> bool:
    """Return whether a run can be judged again, and was judged by other thresholds, findings or an older version."""
    predictions = RunFolder(folder).predictions("").parent.glob("*.parquet")
    return not is_judged(folder / RECORDS, step.judged_by) and any(predictions)


def perform(
    step: Step,
    output: Path,
    workers: int = 1,
    pool: Pool | None = None,
    code: Sequence[CodeFile] = (),
    watch: Report = lambda done, whole: None,
) -> Outcome:
    """Do a step unless it is done; what goes wrong is returned, and kept beside the step for whoever looks.

    `code` are the user's files that the study may run, for a worker that is another process; `watch` is told how much
    is done, which other processes read from a file beside the step.

    Parameters
    ----------
    step
        A dataset, a copy or a run.
    output
        The study's folder.
    workers
        How many processes may draw a dataset.
    pool
        What draws shards instead, such as a cluster.
    code
        The user's files that the study may run, for a worker that is another process.
    watch
        Told how much is done, and how much there is.
    """
    began = time.perf_counter()
    if is_finished(step, output):
        return Outcome(step.name, False, 0.0)
    note = _note(step, output, FAULT)
    try:
        load_files(code)
        _perform(step, output, workers, pool, watch)
    except Exception as error:  # whatever a task or a model may raise: the other steps shall go on
        refused = isinstance(error, AssayError) and not isinstance(error, RunFailed)
        fault = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
        write_atomically(note, fault.encode())
        return Outcome(step.name, False, time.perf_counter() - began, fault, refused)
    note.unlink(missing_ok=True)
    _note(step, output, PROGRESS).unlink(missing_ok=True)
    return Outcome(step.name, True, time.perf_counter() - began)


def _perform(step: Step, output: Path, workers: int, pool: Pool | None, watch: Report) -> None:
    folder, write = folder_of(step, output), _progress_writer(_note(step, output, PROGRESS))

    def report(done: int, whole: int) -> None:
        write(done, whole)
        watch(done, whole)

    if isinstance(step, DataStep):
        _make(step, folder, workers, pool, report)
    elif isinstance(step, CopyStep):
        _copy(step, output, folder)
    else:
        _train(step, Dataset.open(output / "data" / step.data), folder, report)


def _note(step: Step, output: Path, kind: str) -> Path:
    """Return a small file about a step that is under way, outside of its folder."""
    return output / ".steps" / f"{step.name}{kind}"


def _progress_writer(path: Path) -> Report:
    """Return a function that writes how much is done, not more often than a person can read."""
    last = 0.0

    def write(done: int, whole: int) -> None:
        nonlocal last
        if time.monotonic() - last > 0.2:
            last = time.monotonic()
            write_atomically(path, json.dumps([done, whole]).encode())

    return write


def progress_of(step: Step, output: Path) -> tuple[int, int]:
    """Return how much of a step is done, and how much there is, as last reported."""
    try:
        done, whole = json.loads(_note(step, output, PROGRESS).read_text())
    except (OSError, ValueError):
        return 0, 1
    return int(done), int(whole)


def _make(step: DataStep, folder: Path, workers: int, pool: Pool | None, report: Report) -> None:
    if step.recipe is None:
        Dataset.open(step.source)
        with write_folder(folder) as half:
            copy_folder(Path(step.source), half)
        return
    rows = sum(split.size for split in step.recipe.splits)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(done, rows)

    make(step.recipe, folder, workers, count, pool)


def _copy(step: CopyStep, output: Path, folder: Path) -> None:
    dataset, annotation = Dataset.open(output / "data" / step.parent), validate(Annotation, Settings(step.annotation))
    annotate(dataset, annotation, folder, machine_of(annotation, dataset))


def _train(step: RunStep, dataset: Dataset, folder: Path, report: Report) -> None:
    """Train, unless that is done, and score: two stages, so that one that was killed between them goes on there."""
    from assay.models import TrainSpec, train_run

    if not (folder / RUN).exists():
        fold = None if step.fold is None else Fold(step.fold, step.folds)
        settings = step.settings
        if step.needs:
            settings = settings.merge(Settings({PERCEPTION: str(folder.with_name(step.needs))}))
        order = TrainSpec(step.model, settings, step.seed, fold, step.log, _called(step))
        usage = measure_usage(
            lambda: train_run(order, dataset, folder, lambda epoch, epochs: report(epoch.number, epochs))
        )
        write_atomically(folder / USAGE, to_json(asdict(usage)))
    write_atomically(folder / RECORDS, to_json(_score(step, RunFolder(folder), dataset)))


def _called(step: RunStep) -> dict[str, str]:
    """Return what the study calls the model and the task, with the challenge that changed its data."""
    return {"model": step.label, "task": title_of(step.task, step.challenge)}


def train_side_by_side(steps: Sequence[RunStep], output: Path, code: Sequence[CodeFile] = ()) -> None:
    """Train runs that differ in their seed only in one pass over the data; `perform` then only scores them.

    What goes wrong is left to `perform`, which trains each by itself and says what does.
    """
    from assay.models import TrainSpec, train_seeds

    load_files(code)
    folders = {step.seed: RunFolder(folder_of(step, output)) for step in steps}
    first, report = steps[0], _progress_writer(_note(steps[0], output, PROGRESS))
    order = TrainSpec(first.model, first.settings, first.seed, None, first.log, _called(first))
    with suppress(AssayError):
        dataset = Dataset.open(output / "data" / first.data)
        usage = measure_usage(
            lambda: train_seeds(order, folders, dataset, lambda epoch, epochs: report(epoch.number, epochs))
        )
        each = replace(usage, seconds=usage.seconds / len(steps))  # one pass over the data served all of them
        for run in folders.values():
            write_atomically(run.folder / USAGE, to_json(asdict(each)))


def groups_of_seeds(steps: Sequence[Step], output: Path) -> list[list[RunStep]]:
    """Return the runs that can be trained side by side: several seeds of a network on one dataset, none begun."""
    groups: dict[str, list[RunStep]] = {}
    for step in steps:
        if isinstance(step, RunStep) and step.fold is None and not step.needs and not folder_of(step, output).exists():
            alike = [step.data, step.label, step.challenge, dict(step.settings.values)]
            groups.setdefault(json.dumps(alike, sort_keys=True, default=str), []).append(step)
    return [group for group in groups.values() if len(group) > 1]


def _run_analyses(step: RunStep, folder: Path, dataset: Dataset) -> dict[str, Any]:
    """Return the numbers of the analyses, and why some do not apply; a run that is judged again keeps what it has."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        old = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
        return {"numbers": old["numbers"], "refused": old["refused"]}
    numbers: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    for name, settings in step.analyses:
        try:
            numbers += [asdict(number) for number in run_analysis(name, folder, dataset, settings)]
        except (ConfigError, DataError, UnknownName) as error:  # such as a black box, whose concepts cannot be set
            refused[name] = str(error)
    return {"numbers": numbers, "refused": refused}


def _score(step: RunStep, run: RunFolder, dataset: Dataset) -> Mapping[str, Any]:
    from assay.diagnosis import diagnose_run, headline

    diagnosis = diagnose_run(run, dataset, thresholds=step.judged_by.settings())
    return {
        "run": step.name,
        "verdict": diagnosis.verdict,
        "headline": headline(diagnosis).to_dict(),
        "findings": list(diagnosis.kinds),
        "reasons": list(diagnosis.reasons),
        **facts_of(diagnosis, step.judged_by),
        "fingerprint": dataset.fingerprint,
        "data_seed": dataset.manifest.seed,
        "config": run.record.config,
        "versions": dataset.manifest.versions,
        **_metric_code(),
        "scores": {split: [score.to_dict() for score in scores.values()] for split, scores in diagnosis.scores.items()},
        **_run_analyses(step, run.folder, dataset),
        "counterfactuals": None if diagnosis.counterfactuals is None else diagnosis.counterfactuals.to_dict(),
    }


def _metric_code() -> dict[str, Any]:
    """Return the name and hash of the user's file of each metric that is in one, if any is."""
    from assay.metrics import METRICS

    files = {name: code.to_dict() for name in METRICS if (code := METRICS.entry(name).code) is not None}
    return {"code": files} if files else {}


def short_hash(data: Any) -> str:
    """Return a few letters that stand for plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()[:8]


def machine_of(annotation: Annotation, dataset: Dataset, report: ProgressCallback = lambda *_: None) -> Machine | None:
    """Return a machine that reads, scores of a CSV file, or predicted concepts of a file or of a run.

    Parameters
    ----------
    annotation
        The settings of a copy, which name the machine.
    dataset
        The dataset that is annotated.
    report
        Told how much has been read.
    """
    reader = reader_for(annotation.machine, annotation.reader, report)
    if reader is not None or annotation.machine is None:
        return reader
    path = Path(annotation.machine)
    if path.suffix == ".csv":
        return read_scores(path)
    if isinstance(annotation.threshold, str):
        raise ConfigError(f"threshold: {annotation.threshold!r} is for a CSV of scores; give a probability")
    codes: dict[str, Any] = {}
    for split, predictions in RunFolder(path).all_predictions(dataset.knowledge).items():
        if predictions.fingerprint != dataset.fingerprint:
            raise DataError(
                f"{str(path)!r} is about a dataset with fingerprint {predictions.fingerprint}, not this one"
            )
        size = 1 + max(int(predictions.index.max(initial=-1)), int(dataset.symbols(split).index.max()))
        codes[split] = np.full((size, len(dataset.knowledge.space)), -1)
        for place, concept in enumerate(dataset.knowledge.space.concepts):
            answer = predictions.concepts.get(concept.name)
            if answer is None:
                raise DataError(f"{str(path)!r} has no concept {concept.name!r} in split {split!r}")
            known = answer.codes
            if answer.probabilities is not None and annotation.threshold is not None:
                known = likeliest_codes(answer.probabilities, concept, annotation.threshold)
            codes[split][predictions.index, place] = known
    return codes
