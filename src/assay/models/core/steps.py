"""Steps of training that return one loss for each seed: one model by itself, or several seeds of it on stacked weights.

Small networks leave a GPU idle most of the time; ten of them stacked take little longer than one. Each seed has its own
weights and its own order of examples, as if it were trained alone.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from assay.models.core.feeds import Feed
from assay.models.core.training import Phase, Training

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class OneSeed:
    """A model that is trained in place."""

    def __init__(self, models: Sequence[nn.Module], phases: Sequence[Phase], feed: Feed, config: Training) -> None:
        self.feed = feed
        self.loss = torch.compile(phases[0].loss) if config.compiled else phases[0].loss
        self.learned: list[Tensor] = list(phases[0].parameters)

    def losses(self, rows: Tensor, images: Tensor | None = None) -> Tensor:
        """Return the loss of the only row of examples."""
        return self.loss(self.feed.take(rows[0], None if images is None else images[0]))[None]

    def write_back(self, seed: int) -> None:
        """Do nothing: the model holds its weights."""


class ManySeeds:
    """Models that differ in their seed only: one pass for all, their weights being stacked.

    The running means of batch norms are stacked as weights are, so that each seed keeps its own.
    """

    def __init__(self, models: Sequence[nn.Module], phases: Sequence[Phase], feed: Feed, config: Training) -> None:
        self.models, self.feed = models, feed
        self.weights = _stack_weights(models, phases[0])
        self.learned = [weight for weight in self.weights.values() if weight.requires_grad]
        self.module = _Loss(models[0], phases[0], feed)

    def losses(self, rows: Tensor, images: Tensor | None = None) -> Tensor:
        """Return the loss of each seed on its own rows."""

        def loss(weights: dict[str, Tensor], *own: Tensor) -> Any:
            return functional_call(self.module, weights, own)

        inside = {f"model.{name}": weight for name, weight in self.weights.items()}
        inputs = (rows,) if images is None else (rows, images)
        with sdpa_kernel(SDPBackend.MATH):  # the other ways to compute attention cannot be stacked
            losses: Tensor = vmap(loss, randomness="different")(inside, *inputs)
        return losses

    def write_back(self, seed: int) -> None:
        """Write the weights of a seed into its model."""
        own = {name: weight[seed].detach().clone() for name, weight in self.weights.items()}
        self.models[seed].load_state_dict(own, strict=False)


def _stack_weights(models: Sequence[nn.Module], phase: Phase) -> dict[str, Tensor]:
    """Return the weights of all models, those that a phase learns as leaves, and what their batch norms keep."""
    learned = {id(parameter) for parameter in phase.parameters}
    weights = {}
    for name, parameter in models[0].named_parameters():
        same = torch.stack([dict(model.named_parameters())[name].detach() for model in models])
        weights[name] = same.requires_grad_(id(parameter) in learned)
    for name in running_means(models[0]):
        weights[name] = torch.stack([dict(model.named_buffers())[name] for model in models])
    return weights


def running_means(model: nn.Module) -> list[str]:
    """Return the names of the buffers that a model's batch norms change while it is trained."""
    norms = [(name, part) for name, part in model.named_modules() if isinstance(part, NORMS)]
    return [f"{name}.{own}" for name, part in norms for own, _ in part.named_buffers(recurse=False)]


class _Loss(nn.Module):
    """The loss of a phase as a module, so that the weights of its model can be put in from outside."""

    def __init__(self, model: nn.Module, phase: Phase, feed: Feed) -> None:
        super().__init__()
        self.model, self.phase, self.feed = model, phase, feed

    def forward(self, rows: Tensor, images: Tensor | None = None) -> Tensor:
        """Return the loss of some rows."""
        return self.phase.loss(self.feed.take(rows, images))
