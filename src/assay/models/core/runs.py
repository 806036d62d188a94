"""Runs of models: train and save, predict for a split, load."""

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.base import (
    AssayError,
    ConfigError,
    DataError,
    Settings,
    code_of,
    explain_missing,
    refuse_links,
    require_same,
    stays,
    write_atomically,
)
from assay.contracts import to_json
from assay.dataset import Dataset, Fold, SplitData
from assay.models.core.continual import count_stages, fit_stages
from assay.models.core.logs import check_log, log_of
from assay.models.core.model import Epoch, Model, Report
from assay.models.core.perception import MissingPerception
from assay.models.registered import MODELS
from assay.render import Layout
from assay.runs import (
    CHECKPOINT,
    LOGS,
    STAGES,
    RunFolder,
    check_dataset,
    split_for,
    write_pairs,
    write_record,
)

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel

NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Order:
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


def train_run(order: Order, dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None) -> Model:
    """Train a model, save it, and write its predictions for every split but the training one."""
    check_log(order.log)
    model = _build(order, dataset, order.seed)
    run = RunFolder(folder)
    run.claim()
    try:
        with stays(run.folder), log_of(order.log, model, dataset, run) as log:

            def report_and_log(epoch: Epoch, epochs: int) -> None:
                report(epoch, epochs)
                log.add(epoch)

            more = _fit(model, order, dataset, run, report_and_log)
            finish_run(model, dataset, run, {**more, **order.record})
            log.add_scores(dataset, run)
    except AssayError:
        run.release()
        raise
    return model


def finished_already(order: Order, dataset: Dataset, folder: Path) -> bool:
    """Return whether a folder holds what an order asks for, trained by the same code on this dataset."""
    run = RunFolder(folder)
    if not run.is_finished or not _is_finished(run, model := _build(order, dataset, order.seed), dataset):
        return False
    code = code_of(type(model))
    return bool(run.record.code == (None if code is None else code.to_dict()))


def _build(order: Order, dataset: Dataset, seed: int) -> Model:
    """Return the model of an order, untrained, with the backbones that the dataset suggests."""
    make: type[Model] = MODELS.find(order.model)
    model = make(dataset.knowledge, dataset.layout, order.settings, dataset.manifest.backbones, seed)
    network = network_of(model)
    if network is not None and not network.sees_pictures(dataset.manifest.columns):
        network.see(dataset[split_for(dataset, "train")])  # what it reads is part of its record
    return model


def _fit(model: Model, order: Order, dataset: Dataset, run: RunFolder, report: Report) -> dict[str, object]:
    """Fit a model: on all training examples, outside of a fold, or stage by stage; return what else to record."""
    if order.fold is None and count_stages(dataset) > 1:
        return {
            STAGES: fit_stages(
                model, dataset, run, report, lambda number: _keep_checkpoints(model, dataset, run, {"stage": number})
            )
        }
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


def train_together(
    order: Order, seeds: Sequence[int], dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None
) -> list[Path]:
    """Train several seeds of a model in this process, side by side where that can be, and save each in its folder.

    Seeds that an earlier, killed call has finished are left as they are.
    """
    check_log(order.log)
    if count_stages(dataset) > 1:
        raise ConfigError("several seeds at once are not trained stage by stage; train them one by one: --seed")
    refuse_links(folder, unread=LOGS)
    runs = {seed: RunFolder(folder / f"seed{seed}") for seed in seeds}
    try:
        train_seeds(order, runs, dataset, report)
    except AssayError:
        RunFolder(folder).release()
        raise
    return [run.folder for run in runs.values()]


def train_seeds(order: Order, folders: Mapping[int, RunFolder], dataset: Dataset, report: Report) -> None:
    """Train the seeds of a model, each for its folder, side by side where that can be."""
    models = [_build(order, dataset, seed) for seed in folders]
    training, valid = (dataset[split_for(dataset, name)] for name in ("train", "valid"))
    runs = list(folders.values())
    for model, run in zip(models, runs, strict=True):
        if runs[-1].is_finished or not _is_finished(run, model, dataset):
            run.claim()
    try:
        together = _fit_side_by_side(models, training, valid, report, dataset, runs[-1])
        for model, run in zip(models, runs, strict=True):
            if run.is_finished:
                continue
            if not together:
                _keep_checkpoints(model, dataset, run)
                model.fit(training, valid, report)
            finish_run(model, dataset, run, order.record)
            with log_of(order.log, model, dataset, run) as log:  # a report speaks of the first seed only
                for epoch in model.history:
                    log.add(epoch)
                log.add_scores(dataset, run)
    except AssayError:
        for run in runs:
            run.release()
        raise


def _fit_side_by_side(
    models: Sequence[Model], training: SplitData, valid: SplitData, report: Report, dataset: Dataset, last: RunFolder
) -> bool:
    """Fit networks that differ in their seed only in one pass, and return whether that can be.

    Their checkpoint lies with the seed that is finished last.
    """
    networks = [network for model in models if (network := network_of(model)) is not None]
    if not networks:
        return False
    from assay.models.core.fitting import fit_together, why_not_together

    if why_not_together(networks[0]) is not None:
        return False
    _keep_checkpoints(networks[0], dataset, last, {"seeds": [network.seed for network in networks]})
    fit_together(networks, training, valid, report)
    return True


def _keep_checkpoints(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object] = NOTHING) -> None:
    """Let a network in training be kept in its run's folder, and go on from there."""
    network = network_of(model)
    if network is None:
        return
    from assay.models.core.checkpoints import Checkpoint

    identity = {**model.about(), "data": dataset.fingerprint, **more}
    network.checkpoint = Checkpoint(run.folder / CHECKPOINT, identity)


def _is_finished(run: RunFolder, model: Model, dataset: Dataset) -> bool:
    """Return whether a run is that of this very model on this dataset, and finished."""
    if not run.is_finished:
        return False
    record = run.record
    known = {"model": record.model, "seed": record.seed, "config": record.config}
    wanted = {key: value for key, value in model.about().items() if key in known}
    return known == wanted and record.data.fingerprint == dataset.fingerprint


def finish_run(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object] = NOTHING) -> None:
    """Write the predictions of a trained model, and then that the run is finished, with what `more` is known of it."""
    for name in dataset.split_names:
        if not name.startswith("train"):
            with suppress(MissingPerception):  # a detector of another make was asked about some splits only
                _predict(model, dataset, name, run)
    _save(model, dataset, run, {"pairs": write_pairs(model.predict, dataset, run), **more})


def predict_run(folder: Path, dataset: Dataset, split: str) -> Path:
    """Write the predictions of a run for a split of its dataset and return the file."""
    run = RunFolder(folder)
    check_dataset(run, dataset)
    return _predict(load_model(folder), dataset, split, run)


def transfer_run(folder: Path, dataset: Dataset, output: Path) -> list[Path]:
    """Write a run's predictions for a dataset that it was not trained on, as a run of its own without weights.

    Concepts, labels and the size of pictures must be those that it was trained on; rules and scenes may differ.
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
    about = RunFolder(folder).about()
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
    network = network_of(model)
    if network is None or network.reads is None:
        require_size(model, dataset.layout, repr(dataset.name))


def require_size(model: Model, layout: Layout, what: str) -> None:
    """Refuse pictures of another size than a network reads."""
    sizes = [(known.width, known.height, known.channels) for known in (model.layout, layout)]
    if model.is_network and sizes[0] != sizes[1]:
        raise DataError(f"the run reads pictures of {_size(sizes[0])}, and {what} has {_size(sizes[1])}")


def _size(size: tuple[int, int, int]) -> str:
    return f"{size[0]} x {size[1]} in {size[2]} channel{'s' if size[2] > 1 else ''}"


def _predict(model: Model, dataset: Dataset, split: str, run: RunFolder) -> Path:
    path = run.predictions(split)
    model.predict(dataset[split]).write(path, dataset.knowledge)
    return path


def _save(model: Model, dataset: Dataset, run: RunFolder, more: Mapping[str, object]) -> None:
    learned = model.save(run.folder)
    write_atomically(run.folder / "history.json", to_json({"epochs": model.history_as_dicts()}))
    rule = {"knowledge": model.knowledge.to_dict(), "layout": model.layout.to_dict()}
    facts = {**model.about(), **learned, **rule, **more, "machine": platform.machine()}
    code = code_of(type(model))
    write_record(run, dataset, facts if code is None else {**facts, "code": code.to_dict()})
    (run.folder / CHECKPOINT).unlink(missing_ok=True)


def load_model(folder: Path, device: str = "cpu") -> Model:
    """Return the trained model of a run, a network on a device by name, or with `auto` on a GPU if there is one."""
    record = RunFolder(folder).record
    if record.transfer is not None:
        raise DataError(f"{str(folder)!r} holds predictions only; the run that made them is {record.transfer.run!r}")
    name, what = record.model, repr(str(folder))
    if name not in MODELS:  # a name in a record is never taken for a file
        raise DataError(explain_missing("model", name, record.code, what))
    require_same(MODELS.entry(name).code, record.code, what)
    make: type[Model] = MODELS[name]
    RunFolder(folder).check_learned(record)
    return make.load(folder, record.to_dict(), device)


def load_network(folder: Path, device: str = "cpu") -> "NeuralModel":
    """Return the trained network of a run, refusing a model of another kind."""
    model = load_model(folder, device)
    network = network_of(model)
    if network is None:
        raise ConfigError(f"{str(folder)!r} holds {model.name!r}, which is no network: it has no layers to look into")
    return network


def network_of(model: Model) -> "NeuralModel | None":
    """Return the model if it is a network."""
    if not model.is_network:
        return None
    from assay.models.core.neural import NeuralModel

    return model if isinstance(model, NeuralModel) else None
