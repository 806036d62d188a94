"""Training against confounders: groups weighted by their loss, and gradients only where objects are.

*Group DRO* (Sagawa et al., 2020): examples of one label and one value of each nuisance are a group; the loss is the sum
of the groups' mean losses, weighted by exponentiated gradient ascent, so that the worst group counts most. *Right for
the right reasons* (Ross et al., 2017): the squared gradient of the summed log probabilities with respect to pixels that
show no object and no part is added to the loss.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from assay.base import Array, Config, ConfigError, Deck
from assay.dataset import NUISANCES, SplitData, decode
from assay.models.core.tensors import Batch

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel
    from assay.models.core.training import Phase

SMALLEST = 1e-12
MASKS = ("instances", "parts")
"""The columns that say which pixels show something, the first that is there."""


class Robustness(Config):
    """Training against confounders."""

    group_step: float = Field(0.0, ge=0)
    """Group DRO: the step size of the weights of groups, each a label with values of the nuisances; 0 for none."""
    group_examples: int | None = Field(None, ge=0)
    """Of how many training examples the nuisances are annotated; by default of all. All others are one group."""
    reasons_weight: float = Field(0.0, ge=0)
    """Right for the right reasons: the weight of the squared gradient at pixels that show no object and no part."""
    reasons_examples: int | None = Field(None, ge=0)
    """Of how many training examples these pixels are annotated; by default of all."""

    @property
    def is_robust(self) -> bool:
        """Whether training works against confounders at all."""
        return bool(self.group_step or self.reasons_weight)


def against_confounders(model: "NeuralModel", phases: "Sequence[Phase]", data: SplitData) -> "list[Phase]":
    """Return the phases with what the settings ask for against confounders; as they are where that is nothing."""
    config, changed = model.config, list(phases)
    if config.group_step:
        groups = torch.from_numpy(group_numbers(data, annotated_rows(len(data), config.group_examples, model.seed)))
        changed = [replace(phase, loss=GroupLoss(phase.loss, groups, config.group_step)) for phase in changed]
    if config.reasons_weight:
        reasons = Reasons(model, data, annotated_rows(len(data), config.reasons_examples, model.seed))
        changed = [replace(phase, loss=reasons.added_to(phase.loss)) for phase in changed]
    return changed


def annotated_rows(size: int, count: int | None, seed: int) -> Array:
    """Return which rows of a split are annotated; with a higher count, those of a lower one are among them."""
    if count is None:
        return np.ones(size, dtype=bool)
    return np.asarray(Deck(size, seed, "annotated against confounders").deal(np.arange(size)) < count)


def group_numbers(data: SplitData, annotated: Array) -> Array:
    """Return the group of each row: 0 where nuisances are not annotated, else one for each label and nuisances."""
    styles = [json.loads(style).get(NUISANCES) for style in data.table["style"].to_pylist()]
    if not styles or None in styles:
        raise ConfigError(
            f"group_step: the styles of split {data.name!r} name no nuisances; plant a confounder, or set group_step=0"
        )
    codes = np.array([list(style.values()) for style in styles], dtype=np.int64)
    cells = np.concatenate([data.given_labels, codes], axis=1)
    numbers = np.unique(cells[annotated], axis=0, return_inverse=True)[1].ravel() + 1
    groups = np.zeros(len(data), dtype=np.int64)
    groups[annotated] = numbers
    return groups


class GroupLoss:
    """The loss of a phase as the sum over groups, each weighted by how high its loss has been."""

    def __init__(self, loss: Callable[[Batch], Tensor], groups: Tensor, step: float) -> None:
        self.loss, self.groups, self.step = loss, groups, step
        count = int(groups.max()) + 1
        self.weights = torch.full((count,), 1 / count)

    def __call__(self, batch: Batch) -> Tensor:
        """Return the weighted loss of a batch, after the weights have followed the losses of its groups."""
        self.groups, self.weights = self.groups.to(batch.device), self.weights.to(batch.device)
        own = self.groups[batch.rows]
        there = torch.unique(own)
        losses = torch.stack([self.loss(_part(batch, own == group)) for group in there])
        with torch.no_grad():
            self.weights[there] *= (self.step * losses.detach()).exp()
            self.weights /= self.weights.sum()
        return (self.weights[there] * losses).sum()


def _part(batch: Batch, chosen: Tensor) -> Batch:
    return Batch(batch.labels[chosen], batch.concepts[chosen], batch.rows[chosen], batch.images[chosen])


class Reasons:
    """Which pixels of which training examples show nothing, and the penalty on gradients there."""

    def __init__(self, model: "NeuralModel", data: SplitData, annotated: Array) -> None:
        if model.perception is not None or model.reads is not None:
            raise ConfigError("reasons_weight: gradients are of pixels, and this model reads no pictures; set it to 0")
        column = next((name for name in MASKS if name in data.columns), None)
        if column is None:
            raise ConfigError(
                f"reasons_weight: split {data.name!r} has no masks, neither {' nor '.join(MASKS)}; set it to 0"
            )
        rows = np.flatnonzero(annotated)
        masks = [decode(file)[:, :, 0] == 0 for file in data.files(rows, column)]
        shape = (len(rows), 1, data.layout.height, data.layout.width)
        self.model, self.weight = model, model.config.reasons_weight
        self.outside = torch.from_numpy(np.array(masks, dtype=bool).reshape(shape))
        self.places = torch.full((len(data),), -1)
        self.places[rows] = torch.arange(len(rows))

    def added_to(self, loss: Callable[[Batch], Tensor]) -> Callable[[Batch], Tensor]:
        """Return a loss with the penalty on top."""

        def both(batch: Batch) -> Tensor:
            self.places, self.outside = self.places.to(batch.device), self.outside.to(batch.device)
            places = self.places[batch.rows]
            known = places >= 0
            if not bool(known.any()):
                return loss(batch)
            penalty = gradient_outside(self.model, batch.pictures[known], self.outside[places[known]])
            return loss(batch) + self.weight * penalty

        return both


def gradient_outside(model: "NeuralModel", pictures: Tensor, outside: Tensor) -> Tensor:
    """Return the squared gradient of the summed log probabilities at pixels outside, added up, mean over pictures."""
    inputs = pictures.detach().clone().requires_grad_()
    said = model.answer(inputs, {})
    logs = [p.clamp(min=SMALLEST).log().sum() for p in (*said.labels, *(said.concepts or []))]
    (gradient,) = torch.autograd.grad(torch.stack(logs).sum(), inputs, create_graph=True)
    return (gradient * outside).square().flatten(1).sum(dim=1).mean()
