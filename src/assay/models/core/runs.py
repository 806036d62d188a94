"""Runs of models: train and save, predict for a split, transfer to another dataset.

In continual learning a model is trained stage by stage and scored on every stage after each. What a stage leaves lies
in `stages/1`, `stages/2`, ... of the run's folder, its scores written last, so that a killed run goes on with the stage
that it was in.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.base import AssayError, ConfigError, DataError, Settings, code_of, refuse_links, stays, write_atomically
from assay.contracts import to_json
from assay.dataset import Dataset, Fold
from assay.metrics import gather, score, stage_metrics
from assay.models.core.logs import EpochLog, check_log, log_of
from assay.models.core.model import Epoch, Model, Report, load_model, require_size
from assay.models.core.perception import MissingPerception
from assay.models.registered import MODELS
from assay.runs import (
    CHECKPOINT,
    LOGS,
    STAGES,
    RunFolder,
    split_for,
    write_pairs,
    write_record,
)

NOTHING: Mapping[str, object] = MappingProxyType({})
MEASURED = ("label_accuracy", "label_f1", "concept_f1")
"""What is measured on the test split of each stage."""
Scores = dict[str, list[float]]


@dataclass(frozen=True)
class TrainSpec:
    """What to train: a model by name or `FILE.py:Name`, its settings and its seed."""

    model: str
    settings: Settings
    seed: int = 0
    fold: Fold | None = None
    """The part of the training examples that is held out."""
    log: str | None = None
    """What epochs and scores are logged to: `tensorboard`, `wandb` or `mlflow`."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What a study calls the model and its task, where these are not their own names."""

    @property
    def record(self) -> dict[str, object]:
        """What a run's record says of the order beside the model's own facts."""
        return {"called": dict(self.called)} if self.called else {}


def train_run(order: TrainSpec, dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None) -> Model:
    """Train a model, save it, and write its predictions for every split but the training one.

    Parameters
    ----------
    order
        The model, its settings and its seed.
    dataset
        What it learns from.
    folder
        Where the run is written; one that was stopped goes on there.
    report
        Told after each epoch which one it was, and how many there are.
    """
    if order.log is not None:
        check_log(order.log)
    model = _build(order, dataset, order.seed)
    run = RunFolder(folder)
    run.claim()
    try:
        with stays(run.folder), _log_of(order, model, dataset, run) as log:

            def report_and_log(epoch: Epoch, epochs: int) -> None:
                report(epoch, epochs)
                if log is not None:
                    log.add(epoch)

            more = _fit(model, order, dataset, run, report_and_log)
            finish_run(model, dataset, run, {**more, **order.record})
            if log is not None:
                log.add_scores(dataset, run)
    except AssayError:
        run.release()
        raise
    return model


def _log_of(
    order: TrainSpec, model: Model, dataset: Dataset, run: RunFolder
) -> AbstractContextManager[EpochLog | None]:
    """Return the log of a run, None where nothing is logged."""
    return nullcontext() if order.log is None else log_of(order.log, model, dataset, run)


def finished_already(order: TrainSpec, dataset: Dataset, folder: Path) -> bool:
    """Return whether a folder holds what an order asks for, trained by the same code on this dataset.

    Parameters
    ----------
    order
        What would be trained.
    dataset
        On what.
    folder
        Where a run may lie.
    """
    run = RunFolder(folder)
    if not run.is_finished or not _is_finished(run, model := _build(order, dataset, order.seed), dataset):
        return False
    code = code_of(type(model))
    return bool(run.record.code == (None if code is None else code.to_dict()))


def _build(order: TrainSpec, dataset: Dataset, seed: int) -> Model:
    """Return the model of an order, untrained, with the backbones that the dataset suggests."""
    make: type[Model] = MODELS.find(order.model)
    model = make(dataset.knowledge, dataset.layout, order.settings, dataset.manifest.backbones, seed)
    if not model.uses_images(dataset.manifest.columns):
        model.see(dataset[split_for(dataset, "train")])  # what it reads is part of its record
    return model


def _fit(model: Model, order: TrainSpec, dataset: Dataset, run: RunFolder, report: Report) -> dict[str, object]:
    """Fit a model: on all training examples, outside of a fold, or stage by stage; return what else to record."""
    if order.fold is None and _count_stages(dataset) > 1:
        return {STAGES: _fit_stages(model, dataset, run, report)}
    training, valid = (dataset[split_for(dataset, name)] for name in ("train", "valid"))
    if order.fold is None:
        _keep_checkpoints(model, dataset, run)
        model.fit(training, valid, report)
        return {}
    _keep_checkpoints(model, dataset, run, {"fold": asdict(order.fold)})
    inside, held_out = order.fold.divide(training)
    model.fit(inside, valid, report)
    model.predict(held_out).write(run.predictions(training.name), dataset.knowledge)
    return {"fold": asdict(order.fold)}


def _count_stages(dataset: Dataset) -> int:
    """Return how many stages a dataset has; 0 if it has none."""
    count = 0
    while f"train_{count + 1}" in dataset:
        count += 1
    return count


def _fit_stages(model: Model, dataset: Dataset, run: RunFolder, report: Report) -> dict[str, Any]:
    """Train a model on each stage in turn and return the scores on all stages after each, and what they amount to."""
    count = _count_stages(dataset)
    rows: list[Scores] = []
    history: list[Epoch] = []
    for number in range(1, count + 1):
        folder = run.folder / STAGES / str(number)
        known = _read(folder / "scores.json")
        if known is not None:
            model.restore(folder, "cpu")
            rows.append(known["scores"])
            history += [Epoch(**epoch) for epoch in known["history"]]
            continue
        _keep_checkpoints(model, dataset, run, {"stage": number})
        valid = f"valid_{number}" if f"valid_{number}" in dataset else "valid"
        model.fit(dataset[f"train_{number}"], dataset[valid], report)
        own = [replace(epoch, phase=f"stage {number}, {epoch.phase}") for epoch in model.history]
        history += own
        rows.append(_scores(model, dataset, count))
        folder.mkdir(parents=True, exist_ok=True)  # a stranger's model finds a folder to save into
        model.save(folder)
        record = {"scores": rows[-1], "history": [asdict(epoch) for epoch in own]}
        write_atomically(folder / "scores.json", to_json(record))
    model.history = history
    amounts = {name: stage_metrics(np.array([row[name] for row in rows])).to_dict() for name in rows[0]}
    return {"after_each": rows, **amounts}


def _scores(model: Model, dataset: Dataset, count: int) -> Scores:
    """Return each metric on the test split of every stage; none of concepts for a model without them."""
    names = [name for name in MEASURED if model.has_concepts or not name.startswith("concept")]
    splits = [dataset[f"test_{number}"] for number in range(1, count + 1)]
    found = [score(gather(data, model.predict(data)), names) for data in splits]
    return {name: [own[name].value for own in found] for name in names}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a finished stage left."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise DataError(f"{str(path)!r} is damaged; delete the folder of this stage") from None
    return record


def train_together(
    order: TrainSpec, seeds: Sequence[int], dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None
) -> list[Path]:
    """Train several seeds of a model in this process, side by side where that can be, and save each in its folder.

    Seeds that an earlier, killed call has finished are left as they are.

    Parameters
    ----------
    order
        The model and its settings; its seed is not used.
    seeds
        One run each.
    dataset
        What they learn from.
    folder
        Where the runs are written, a folder for each seed.
    report
        Told after each epoch of the first seed.
    """
    check_log(order.log)
    if _count_stages(dataset) > 1:
        raise ConfigError("several seeds at once are not trained stage by stage; train them one by one: --seed")
    refuse_links(folder, unread=LOGS)
    runs = {seed: RunFolder(folder / f"seed{seed}") for seed in seeds}
    try:
        train_seeds(order, runs, dataset, report)
    except AssayError:
        RunFolder(folder).release()
        raise
    return [run.folder for run in runs.values()]


def train_seeds(order: TrainSpec, folders: Mapping[int, RunFolder], dataset: Dataset, report: Report) -> None:
    """Train the seeds of a model, each for its folder, side by side where that can be.

    Parameters
    ----------
    order
        The model and its settings.
    folders
        Where the run of each seed is written.
    dataset
        What they learn from.
    report
        Told after each epoch of the first seed.
    """
    models = [_build(order, dataset, seed) for seed in folders]
    training, valid = (dataset[split_for(dataset, name)] for name in ("train", "valid"))
    runs = list(folders.values())
    for model, run in zip(models, runs, strict=True):
        if runs[-1].is_finished or not _is_finished(run, model, dataset):
            run.claim()
    try:
        _keep_checkpoints(models[0], dataset, runs[-1], {"seeds": list(folders)})  # with the one that is finished last
        together = models[0].fit_together(models[1:], training, valid, report)
        for model, run in zip(models, runs, strict=True):
            if run.is_finished:
                continue
            if not together:
                _keep_checkpoints(model, dataset, run)
                model.fit(training, valid, report)
            finish_run(model, dataset, run, order.record)
            with _log_of(order, model, dataset, run) as log:  # a report speaks of the first seed only
                if log is not None:
                    for epoch in model.history:
                        log.add(epoch)
                    log.add_scores(dataset, run)
    except AssayError:
        for run in runs:
            run.release()
        raise


def _keep_checkpoints(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object] = NOTHING) -> None:
    """Let a network in training be kept in its run's folder, and go on from there."""
    if not model.is_network:
        return
    from assay.models.core.training import Checkpoint

    identity = {**model.metadata(), "data": dataset.fingerprint, **more}
    model.checkpoint = Checkpoint(run.folder / CHECKPOINT, identity)


def _is_finished(run: RunFolder, model: Model, dataset: Dataset) -> bool:
    """Return whether a run is that of this very model on this dataset, and finished."""
    if not run.is_finished:
        return False
    record = run.record
    known = {"model": record.model, "seed": record.seed, "config": record.config}
    wanted = {key: value for key, value in model.metadata().items() if key in known}
    return known == wanted and record.data.fingerprint == dataset.fingerprint


def finish_run(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object] = NOTHING) -> None:
    """Write the predictions of a trained model, and then that the run is finished, with what `more` is known of it."""
    for name in dataset.split_names:
        if not name.startswith("train"):
            with suppress(MissingPerception):  # a detector of another make was asked about some splits only
                _predict(model, dataset, name, run)
    _save(model, dataset, run, {"pairs": write_pairs(model.predict, dataset, run), **more})


def transfer_run(folder: Path, dataset: Dataset, output: Path) -> list[Path]:
    """Write a run's predictions for a dataset that it was not trained on, as a run of its own without weights.

    Concepts, labels and the size of pictures must be those that it was trained on; rules and scenes may differ.

    Parameters
    ----------
    folder
        The run's folder.
    dataset
        Other data with the same concepts.
    output
        The folder of the new run.
    """
    model = load_model(folder)
    _require_fitting(model, dataset)
    new = RunFolder(output)
    if new.is_finished and _is_transfer(new, folder, dataset):
        return sorted((output / "predictions").glob("*.parquet"))
    new.claim()
    for name in dataset.split_names:
        if not name.startswith("train"):
            _predict(model, dataset, name, new)
    about = RunFolder(folder).metadata()
    pairs = write_pairs(model.predict, dataset, new)
    write_record(
        new, dataset, {**about, "pairs": pairs, "transfer": {"run": str(folder.resolve()), "data": about["data"]}}
    )
    return sorted((output / "predictions").glob("*.parquet"))


def _is_transfer(run: RunFolder, source: Path, dataset: Dataset) -> bool:
    """Return whether a run holds another's predictions for this dataset."""
    record = run.record
    of = record.transfer
    same = of is not None and (of.run, of.data) == (str(source.resolve()), RunFolder(source).record.data)
    return same and record.data.fingerprint == dataset.fingerprint


def _require_fitting(model: Model, dataset: Dataset) -> None:
    """Refuse a dataset whose concepts, labels or pictures are others than those of a model."""
    own, other = model.knowledge, dataset.knowledge
    concepts = [[(concept.name, concept.kind, concept.values) for concept in k.space.concepts] for k in (own, other)]
    if concepts[0] != concepts[1]:
        raise DataError(f"{dataset.name!r} has other concepts than the run was trained on")
    labels = [[(label.name, label.values) for label in knowledge.labels] for knowledge in (own, other)]
    if labels[0] != labels[1]:
        raise DataError(f"{dataset.name!r} has other labels, or other values of them, than the run was trained on")
    if model.reads is None:
        require_size(model, dataset.layout, repr(dataset.name))


def _predict(model: Model, dataset: Dataset, split: str, run: RunFolder) -> Path:
    path = run.predictions(split)
    model.predict(dataset[split]).write(path, dataset.knowledge)
    return path


def _save(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object]) -> None:
    learned = model.save(run.folder)
    write_atomically(run.folder / "history.json", to_json({"epochs": model.history_as_dicts()}))
    rule = {"knowledge": model.knowledge.to_dict(), "layout": model.layout.to_dict()}
    facts = {**model.metadata(), **learned, **rule, **more, "machine": platform.machine()}
    code = code_of(type(model))
    write_record(run, dataset, facts if code is None else {**facts, "code": code.to_dict()})
    (run.folder / CHECKPOINT).unlink(missing_ok=True)
