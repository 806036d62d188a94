"""Explanations of a trained model: saliency maps, what its layers encode, its label head under constraints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.api.predictions import is_torch_module, predictor_of
from assay.api.runs import Run, trained_run
from assay.base import ConfigError, UnknownName, progress_bar, suggestion, validate
from assay.dataset import Dataset
from assay.runs import RunFolder, check_dataset

if TYPE_CHECKING:
    from assay.models import Aligned, ExaminedModel, Probed, Saliency

PROBES = ("linear", "tcav")


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
    from assay.models import SaliencyPlan, explain, explain_into

    plan = SaliencyPlan.of(method, merge_settings(config, settings), examples=n, split=split, seed=seed)
    examined = _examine(model, data)
    with progress_bar(progress) as bar:
        if output is None:
            return explain(examined, data, plan, bar)
        return explain_into(Path(output), examined, data, plan, bar)


def _dataset_of(model: Any, dataset: Data | None) -> Dataset:
    """Return the dataset on which a model is explained."""
    if isinstance(model, (Run, str, Path)):
        run = Run.open(model, dataset)
        check_dataset(RunFolder(run.folder), run.dataset)
        return run.dataset
    if dataset is None:
        raise ConfigError("saliency of a model that is no run needs a dataset: assay.saliency(model, dataset)")
    return open_dataset(dataset)


def _examine(model: Any, dataset: Dataset) -> "ExaminedModel":
    """Return the model that is explained."""
    from assay.models import ExaminedPredictor, Model, examine_model

    if isinstance(model, (str, Path)):
        model = Run(Path(model), dataset)
    if isinstance(model, Run):
        return examine_model(model.model)
    if isinstance(model, Model):
        return examine_model(model)
    if is_torch_module(model):
        from assay.models import wrap

        return examine_model(wrap(model, dataset))
    name = getattr(model, "__name__", type(model).__name__)
    return ExaminedPredictor(predictor_of(model, dataset), name, {"model": name}, has_concepts=False)


if TYPE_CHECKING:
    from assay.models import Aligned, Probed


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
    if method not in PROBES:
        raise UnknownName(f"no method named {method!r}{suggestion(method, PROBES)}")
    trained = trained_run(run, dataset)
    from assay.models import Ask, ProbeConfig, probe_run

    plan = validate(ProbeConfig, merge_settings(config, settings))
    ask = Ask("tcav" if method == "tcav" else "linear", tuple(layers), every, plan, seed)
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
