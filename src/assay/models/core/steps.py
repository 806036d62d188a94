"""Steps of training that return one loss for each seed: one model by itself, or several seeds of it on stacked weights.

Small networks leave a GPU idle most of the time; ten of them stacked take little longer than one. Each seed has its own
weights and its own order of examples, as if it were trained alone.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from assay.models.core.tensors import Batch
from assay.models.core.training import Phase, Training


class OneSeed:
    """A model that is trained in place."""

    def __init__(self, models: Sequence[nn.Module], phases: Sequence[Phase], data: Batch, config: Training) -> None:
        self.data = data
        self.loss = torch.compile(phases[0].loss) if config.compiled else phases[0].loss
        self.learned: list[Tensor] = list(phases[0].parameters)

    def losses(self, rows: Tensor) -> Tensor:
        """Return the loss of the only row of examples."""
        return self.loss(self.data.take(rows[0]))[None]

    def write_back(self, seed: int) -> None:
        """Do nothing: the model holds its weights."""


class ManySeeds:
    """Models that differ in their seed only: one pass for all, their weights being stacked."""

    def __init__(self, models: Sequence[nn.Module], phases: Sequence[Phase], data: Batch, config: Training) -> None:
        self.models, self.data = models, data
        self.weights = _stack_weights(models, phases[0])
        self.learned = [weight for weight in self.weights.values() if weight.requires_grad]
        self.module = _Loss(models[0], phases[0], data)

    def losses(self, rows: Tensor) -> Tensor:
        """Return the loss of each seed on its own rows."""

        def loss(weights: dict[str, Tensor], own: Tensor) -> Any:
            return functional_call(self.module, weights, (own,))

        inside = {f"model.{name}": weight for name, weight in self.weights.items()}
        losses: Tensor = vmap(loss, randomness="different")(inside, rows)
        return losses

    def write_back(self, seed: int) -> None:
        """Write the weights of a seed into its model."""
        own = {name: weight[seed].detach().clone() for name, weight in self.weights.items()}
        self.models[seed].load_state_dict(own, strict=False)


def _stack_weights(models: Sequence[nn.Module], phase: Phase) -> dict[str, Tensor]:
    """Return the weights of all models, those that a phase learns as leaves."""
    learned = {id(parameter) for parameter in phase.parameters}
    weights = {}
    for name, parameter in models[0].named_parameters():
        same = torch.stack([dict(model.named_parameters())[name].detach() for model in models])
        weights[name] = same.requires_grad_(id(parameter) in learned)
    return weights


class _Loss(nn.Module):
    """The loss of a phase as a module, so that the weights of its model can be put in from outside."""

    def __init__(self, model: nn.Module, phase: Phase, data: Batch) -> None:
        super().__init__()
        self.model, self.phase, self.data = model, phase, data

    def forward(self, rows: Tensor) -> Tensor:
        """Return the loss of some rows."""
        return self.phase.loss(self.data.take(rows))
