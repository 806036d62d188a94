"""Explain a model's answers by saliency maps, and score them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.answers import is_torch_module, predictor_of
from assay.api.running import Run
from assay.config import Settings
from assay.data import Dataset
from assay.errors import ConfigError
from assay.progress import progress_bar
from assay.runs import RunFolder, check_dataset

if TYPE_CHECKING:
    from assay.models import ExaminedModel, Saliency


def saliency(
    model: Any,
    dataset: Dataset | None = None,
    method: str = "integrated-gradients",
    output: Path | str | None = None,
    *,
    n: int = 200,
    split: str = "test",
    seed: int = 0,
    **settings: Any,
) -> "Saliency":
    """Score saliency maps on the pixels that show the concepts, beside chance, and check the method by random weights.

    `model` is a run or its folder; with a dataset also a torch module, or for `occlusion` a function of pictures or an
    estimator. With an `output` folder, maps over pictures are written there. Other keywords are settings, such as
    `steps` or `concepts`.
    """
    from assay.models import SaliencyPlan, explain, explain_into

    plan = SaliencyPlan.of(method, Settings(dict(settings)), examples=n, split=split, seed=seed)
    data, examined = _examine(model, dataset)
    with progress_bar() as bar:
        if output is None:
            return explain(examined, data, plan, bar)
        return explain_into(Path(output), examined, data, plan, bar)


def _examine(model: Any, dataset: Dataset | None) -> tuple[Dataset, "ExaminedModel"]:
    """Return the dataset and the model that is explained."""
    from assay.models import ExaminedPredictor, Model, examine_model

    if isinstance(model, (str, Path)):
        model = Run.open(model)
    if isinstance(model, Run):
        data = dataset or model.dataset
        check_dataset(RunFolder(model.folder), data)
        return data, examine_model(model.model)
    if dataset is None:
        raise ConfigError("saliency of a model that is no run needs a dataset: assay.saliency(model, dataset)")
    if isinstance(model, Model):
        return dataset, examine_model(model)
    if is_torch_module(model):
        from assay.models import wrap

        return dataset, examine_model(wrap(model, dataset))
    name = getattr(model, "__name__", type(model).__name__)
    return dataset, ExaminedPredictor(predictor_of(model, dataset), name, {"model": name}, has_concepts=False)
