"""Explain a model's predictions by saliency maps, and score them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.answers import is_torch_module, predictor_of
from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.api.running import Run, open_run
from assay.base import ConfigError, progress_bar
from assay.dataset import Dataset
from assay.runs import RunFolder, check_dataset

if TYPE_CHECKING:
    from assay.models import ExaminedModel, Saliency


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
        run = open_run(model, dataset)
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
