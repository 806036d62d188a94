"""A run on disk: what was trained on what, the weights, the history, and the predictions."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.manifest import to_json
from assay.data.pairs import pairs_of
from assay.data.rebuild import task_of
from assay.data.shard import write_atomically
from assay.errors import DataError
from assay.logic.knowledge import Knowledge
from assay.models import MODELS
from assay.models.backbones import rebuilding
from assay.models.many import fit_together, why_not_together
from assay.models.neural import NeuralModel
from assay.models.training import Report
from assay.render.picture import Layout
from assay.runs import RUN, RunFolder

WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Order:
    """What to train: a model by name, its settings and its seed."""

    model: str
    settings: Settings
    seed: int = 0


def split_for(dataset: Dataset, name: str) -> str:
    """Return the split of this name, or the first stage of it where the dataset has stages."""
    if name in dataset or f"{name}_1" not in dataset:
        return name
    return f"{name}_1"


def train_run(order: Order, dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None) -> NeuralModel:
    """Train a model, save it, and write its predictions for every split but the training one."""
    make: type[NeuralModel] = MODELS[order.model]
    hints = dataset.manifest["backbones"]
    model = make(dataset.knowledge, dataset.layout, order.settings, hints, order.seed)
    training, valid = (dataset[split_for(dataset, name)] for name in ("train", "valid"))
    run = RunFolder(folder)
    run.claim()
    model.fit(training, valid, report)
    finish_run(model, dataset, run)
    return model


def train_together(
    order: Order, seeds: Sequence[int], dataset: Dataset, folder: Path, report: Report = lambda epoch, epochs: None
) -> list[Path]:
    """Train several seeds of a model in this process, side by side where that can be, and save each in its folder."""
    make: type[NeuralModel] = MODELS[order.model]
    hints = dataset.manifest["backbones"]
    models = [make(dataset.knowledge, dataset.layout, order.settings, hints, seed) for seed in seeds]
    training, valid = (dataset[split_for(dataset, name)] for name in ("train", "valid"))
    runs = [RunFolder(folder / f"seed{seed}") for seed in seeds]
    for run in runs:
        run.claim()
    if why_not_together(models[0]) is None:
        fit_together(models, training, valid, report)
    else:
        for model in models:
            model.fit(training, valid, report)
    for model, run in zip(models, runs, strict=True):
        finish_run(model, dataset, run)
    return [run.folder for run in runs]


def finish_run(model: NeuralModel, dataset: Dataset, run: RunFolder) -> None:
    """Write the predictions of a trained model, and then that the run is finished."""
    for name in dataset.split_names:
        if not name.startswith("train"):
            _predict(model, dataset, name, run)
    _save(model, dataset, run, predict_pairs(model, dataset, run))


def predict_run(folder: Path, dataset: Dataset, split: str) -> Path:
    """Write the predictions of a run for a split of its dataset and return the file."""
    run = RunFolder(folder)
    trained_on = run.about()["data"]["fingerprint"]
    if dataset.fingerprint != trained_on:
        raise DataError(
            f"{str(folder)!r} was trained on a dataset with fingerprint {trained_on}, "
            f"{str(dataset.folder)!r} has {dataset.fingerprint}"
        )
    return _predict(load_model(folder), dataset, split, run)


def _predict(model: NeuralModel, dataset: Dataset, split: str, run: RunFolder) -> Path:
    path = run.predictions(split)
    model.predict(dataset[split]).write(path, dataset.knowledge)
    return path


def predict_pairs(model: NeuralModel, dataset: Dataset, run: RunFolder) -> str:
    """Write the predictions for the counterfactual pairs of the test split, and say how many, or why there are none."""
    split = split_for(dataset, "test")
    if split not in dataset:
        return "none: the dataset has no test split"
    try:
        pairs = pairs_of(dataset, split, task_of(dataset))
    except DataError as error:
        return f"none: {error}"
    model.predict(pairs.data).write(run.pairs(split), dataset.knowledge)
    return f"{len(pairs)} of split {split}"


def _save(model: NeuralModel, dataset: Dataset, run: RunFolder, pairs: str) -> None:
    weights = {name: tensor.contiguous().cpu() for name, tensor in model.state_dict().items()}
    write_atomically(run.folder / WEIGHTS, save(weights))
    write_atomically(run.folder / "history.json", to_json({"epochs": model.history_as_dicts()}))
    data = dataset.folder.resolve()
    from_run = Path(os.path.relpath(data, run.folder.resolve())).as_posix()
    about = {
        **model.about(),
        "device": str(next(model.parameters()).device),
        "parameters": sum(p.numel() for p in model.parameters()),
        "data": {
            "folder": str(data),
            "from_run": from_run,
            "fingerprint": dataset.fingerprint,
            "task": dataset.name,
        },
        "knowledge": model.knowledge.to_dict(),
        "layout": model.layout.to_dict(),
        "pairs": pairs,
        "machine": platform.machine(),
    }
    write_atomically(run.folder / RUN, to_json(about))


def load_model(folder: Path, device: str = "cpu") -> NeuralModel:
    """Return the trained model of a run."""
    about = RunFolder(folder).about()
    make: type[NeuralModel] = MODELS[about["model"]]
    knowledge, layout = Knowledge.from_dict(about["knowledge"]), Layout.from_dict(about["layout"])
    with rebuilding():
        model = make(knowledge, layout, Settings(about["config"]), seed=about["seed"])
    try:
        weights: Mapping[str, Any] = load((folder / WEIGHTS).read_bytes())
        model.load_state_dict(dict(weights))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DataError(f"the weights in {str(folder)!r} cannot be read: {str(error).splitlines()[0]}") from None
    return model.to(torch.device(device)).eval()
