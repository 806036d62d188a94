"""Explanations of a trained model: saliency maps, what its layers encode, its label head under constraints."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.api.predictions import is_torch_module, predictor_of
from assay.api.runs import Run, trained_run
from assay.base import (
    Array,
    ConfigError,
    progress_bar,
    validate,
    write_atomically,
    write_folder,
)
from assay.contracts import to_json
from assay.dataset import Dataset
from assay.diagnosis import used_concepts
from assay.logic import Knowledge
from assay.render import encode_png
from assay.runs import RunFolder, check_dataset

RECORD, MAPS = "saliency.json", "maps"
RED = np.array([225.0, 30.0, 40.0])
STRONG = 99.5
"""The percentile of the positive relevance from which on it is drawn in full."""
LEAST_SIDE = 128
"""Smaller pictures are enlarged to about this many pixels."""


if TYPE_CHECKING:
    from assay.models import Aligned, ExaminedPredictor, Model, Probed, Saliency


def saliency(
    model: Any,
    dataset: Data | None = None,
    method: str = "integrated-gradients",
    output: Path | str | None = None,
    *,
    n: int = 200,
    split: str = "test",
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "Saliency":
    """Score saliency maps on the pixels that show the concepts, beside chance, and check the method by random weights.

    Parameters
    ----------
    model
        A run or its folder; with a dataset also a torch module, or for `occlusion` a function of pictures or an
        estimator.
    dataset
        The dataset; by default the one that the run was trained on.
    method
        `integrated-gradients`, `grad-cam`, `occlusion` or `input-gradient`.
    output
        The folder for maps over pictures, and the record.
    n
        How many examples to explain.
    split
        The split to explain.
    seed
        The random seed.
    progress
        Whether to show progress on standard error.
    config
        Settings of the method, or the YAML file that has them; keywords override them.
    **settings
        Settings of the method, such as `steps` or `concepts`.
    """
    data = _dataset_of(model, dataset)
    from assay.models import SaliencyPlan, measure_saliency

    plan = SaliencyPlan.of(method, merge_settings(config, settings), examples=n, split=split, seed=seed)
    examined, used = _examine(model, data), _used(data.knowledge)
    with progress_bar(progress) as bar:
        if output is None:
            return measure_saliency(examined, data, plan, used, bar)
        with write_folder(Path(output), lambda there: (there / RECORD).is_file()) as half:
            found = measure_saliency(examined, data, plan, used, bar)
            _write_maps(found, half)
        return found


def _dataset_of(model: Any, dataset: Data | None) -> Dataset:
    """Return the dataset on which a model is explained."""
    if isinstance(model, (Run, str, Path)):
        run = Run.open(model, dataset)
        check_dataset(RunFolder(run.folder), run.dataset)
        return run.dataset
    if dataset is None:
        raise ConfigError("saliency of a model that is no run needs a dataset: assay.saliency(model, dataset)")
    return open_dataset(dataset)


def _used(knowledge: Knowledge) -> dict[str, tuple[str, ...]]:
    """Return the concepts that each label depends on."""
    alone = {label.name: replace(knowledge, labels=(label,)) for label in knowledge.labels}
    return {name: tuple(knowledge.space.names[i] for i in sorted(used_concepts(own))) for name, own in alone.items()}


def _examine(model: Any, dataset: Dataset) -> "Model | ExaminedPredictor":
    """Return the model that is explained."""
    from assay.models import ExaminedPredictor, Model

    if isinstance(model, (str, Path)):
        model = Run(Path(model), dataset)
    if isinstance(model, Run):
        return model.model
    if isinstance(model, Model):
        return model
    if is_torch_module(model):
        from assay.models import wrap

        return wrap(model, dataset)
    name = getattr(model, "__name__", type(model).__name__)
    return ExaminedPredictor(predictor_of(model, dataset), name, {"model": name}, has_concepts=False)


def _write_maps(found: "Saliency", output: Path) -> None:
    """Write the record and the maps that are kept into a folder."""
    for number, target in enumerate(found.targets):
        for row, image in enumerate(found.shown.images):
            value = str(target.values[found.codes[number, row]])
            name = f"{found.shown.index[row]:05d}-{_file_name(value)}.png"
            drawn = encode_png(draw_over(image, found.maps[number, row]))
            write_atomically(output / MAPS / _file_name(target.title) / name, drawn)
    write_atomically(output / RECORD, to_json(found.to_dict()))


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text)


def draw_over(image: Array, relevance: Array) -> Array:
    """Return a picture, and beside it the picture in grey with its positive relevance in red.

    >>> draw_over(np.zeros((64, 128, 1), dtype=np.uint8), np.ones((64, 128))).shape
    (128, 516, 3)
    """
    grey = image.astype(np.float64).mean(axis=2, keepdims=True)
    strength = np.maximum(relevance, 0)[:, :, None]
    most = float(np.percentile(strength, STRONG)) or float(strength.max())
    strength = np.minimum(strength / most, 1) if most else strength
    sides = [np.broadcast_to(image, (*image.shape[:2], 3)), grey * (1 - strength) + RED * strength]
    large = max(1, round(LEAST_SIDE / image.shape[0]))
    gap = np.full((image.shape[0] * large, 4, 3), 255.0)
    left, right = (side.repeat(large, axis=0).repeat(large, axis=1) for side in sides)
    return np.round(np.concatenate([left, gap, right], axis=1)).astype(np.uint8)


def probe(
    run: Run | Path | str,
    dataset: Data | None,
    output: Path | str,
    *,
    method: str = "linear",
    layers: Sequence[str] = (),
    every: bool = False,
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "Probed":
    """Probe the layers of a trained model for the concepts; the predictions of the best probe are written as a run.

    Parameters
    ----------
    run
        A run or its folder.
    dataset
        The dataset; None for the one that the run was trained on.
    output
        The folder for what was found.
    method
        `linear` or `tcav`.
    layers
        Only these; by default all with weights.
    every
        Also layers without weights.
    seed
        The random seed.
    progress
        Whether to show progress on standard error.
    config
        Settings of the probes, or the YAML file that has them; keywords override them.
    **settings
        Settings of the probes.
    """
    from assay.models import Ask, probe_run

    ask = Ask.of(method, merge_settings(config, settings), layers, every=every, seed=seed)
    trained = trained_run(run, dataset)
    with progress_bar(progress) as bar:
        return probe_run(trained.folder, trained.dataset, Path(output), ask, bar)


def align(
    run: Run | Path | str,
    dataset: Data | None,
    output: Path | str,
    *,
    config: ConfigSource = None,
    **settings: Any,
) -> "Aligned":
    """Refit the linear label head of a run under constraints on its weights, and write the run that comes out.

    Parameters
    ----------
    run
        A run or its folder, of a model with a linear label head.
    dataset
        The dataset; None for the one that the run was trained on.
    output
        The folder of the new run.
    config
        The constraints, or the YAML file that has them; keywords override them.
    **settings
        The constraints: weights that are `zero`, `positive`, `negative` or bounded.
    """
    trained = trained_run(run, dataset)
    from assay.models import Alignment, align_run

    alignment = validate(Alignment, merge_settings(config, settings))
    return align_run(trained.folder, trained.dataset, alignment, Path(output))
