"""What to explain and how: settings, examples, concepts, and the method for a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from assay.base import Config, ConfigError, DataError, Settings, UnknownName, rng_for, suggestion, validate
from assay.dataset import Dataset, SplitData
from assay.models.explain.saliency.examined import ExaminedModel
from assay.models.explain.saliency.methods import (
    Attribution,
    GradCam,
    IntegratedGradients,
    Occlusion,
    eyes_of,
    input_gradient,
)

METHODS = {
    "integrated-gradients": "gradients summed on the way from a blank picture, times what the picture adds to it",
    "grad-cam": "the last convolution's maps, weighted by their mean gradients",
    "occlusion": "how much the log-probability falls where a grey patch hides the picture; needs no gradients",
    "input-gradient": "the absolute gradient of each pixel",
}
"""The methods, each in words."""
MOST_CONCEPTS = 12
"""How many concepts are explained where none are named."""


class SaliencyConfig(Config):
    """Settings of saliency maps."""

    baseline: Literal["mean", "black"] = "mean"
    """Where integrated gradients begin: the mean of the explained pictures, or black."""
    steps: int = Field(32, ge=1)
    """The steps of integrated gradients."""
    patch: int | None = Field(None, ge=1)
    """The side of the grey patch of occlusion in pixels; by default an eighth of the picture's smaller side."""
    stride: int | None = Field(None, ge=1)
    """By how many pixels the patch moves; by default half its side."""
    check: Literal["cascade", "all", "none"] = "cascade"
    """Draw weights anew layer by layer from the top down, all at once, or leave this check out."""
    check_examples: int = Field(40, ge=1)
    """How many of the examples the check is made with."""
    pictures: int = Field(24, ge=0)
    """How many maps of each target are kept, to be drawn over their pictures."""
    concepts: list[str] = []
    """The concepts to explain; by default the first twelve, if the model predicts concepts."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class SaliencyPlan:
    """What to explain, and how."""

    method: str
    config: SaliencyConfig
    examples: int = 200
    split: str = "test"
    seed: int = 0

    @classmethod
    def of(cls, method: str, settings: Settings, **rest: Any) -> "SaliencyPlan":
        """Return a plan, its method and settings checked."""
        if method not in METHODS:
            raise UnknownName(f"no saliency method named {method!r}{suggestion(method, METHODS)}")
        return cls(method, validate(SaliencyConfig, settings), **rest)


def choose_examples(dataset: Dataset, plan: SaliencyPlan) -> SplitData:
    """Return the examples to explain, drawn by the seed."""
    data = dataset[plan.split]
    if "image" not in data.columns or not data.layout.width:
        raise DataError(f"{str(dataset.folder)!r} has no pictures: there is nothing to draw maps of")
    if plan.examples < 1 or not len(data):
        raise DataError(f"split {plan.split!r} has {len(data)} examples, and {plan.examples} are asked for")
    order = rng_for(plan.seed, "saliency", plan.split).permutation(len(data))
    return data.take(np.sort(order[: plan.examples]))


def choose_concepts(model: ExaminedModel, dataset: Dataset, plan: SaliencyPlan) -> tuple[Sequence[str], str]:
    """Return the concepts to explain, and what is to be said about that."""
    space = dataset.knowledge.space
    if plan.config.concepts and not model.has_concepts:
        raise ConfigError(f"{model.name!r} predicts no concepts, so none can be explained; leave out --concept")
    if plan.config.concepts or not model.has_concepts:
        return [space.concept(name).name for name in plan.config.concepts], ""
    if len(space) <= MOST_CONCEPTS:
        return space.names, ""
    note = f"The first {MOST_CONCEPTS} of {len(space)} concepts are explained; name others by --concept."
    return space.names[:MOST_CONCEPTS], note


def attribution_for(plan: SaliencyPlan, model: ExaminedModel, data: SplitData) -> Attribution:
    """Return the method for a model; refuse one that the model has nothing for."""
    config, layout = plan.config, data.layout
    if plan.method == "occlusion":
        return Occlusion.of_size(layout.height, layout.width, config.patch, config.stride)
    if model.network is None:
        raise ConfigError(f"{model.name!r} has no gradients, which {plan.method} needs; use --method occlusion")
    if plan.method == "grad-cam":
        return GradCam(eyes_of(model.network, model.name))
    if plan.method == "input-gradient":
        return input_gradient
    baseline = torch.zeros(layout.channels, layout.height, layout.width)
    if config.baseline == "mean":
        total = sum(images.astype(np.float64).sum(axis=0) for _, images in data.batches(64))
        baseline = torch.from_numpy(np.asarray(total) / len(data) / 255).permute(2, 0, 1).float()
    return IntegratedGradients(baseline.to(model.device), config.steps)
