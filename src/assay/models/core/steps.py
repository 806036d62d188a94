"""Steps of training that return one loss for each seed: one model by itself, or several seeds of it on stacked weights.

Small networks leave a GPU idle most of the time; ten of them stacked take little longer than one. Each seed has its own
weights and its own order of examples, as if it were trained alone. On a GPU a step (batch, forward, rule, loss,
backward, optimiser) is one CUDA graph where it can be. The last, shorter batch of an epoch has a graph of its own:
dropping it would leave examples out, and padding would change batch norms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from assay.models.core.devices import Captured
from assay.models.core.feeds import Feed
from assay.models.core.model import Epoch
from assay.models.core.settings import Training
from assay.models.core.tensors import Batch

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
CAPTURABLE = ("adam", "adamw")


@dataclass(frozen=True)
class Phase:
    """A part of training: what is learned, by which loss, and which score on validation chooses the best epoch."""

    name: str
    parameters: list[nn.Parameter]
    loss: Callable[[Batch], Tensor]
    score: Literal["labels", "concepts", "intervened", "all", "subconcepts"] = "labels"
    """`intervened` is that of labels after all known concepts were set to the truth; `all` is the mean of the three."""
    begin: Callable[[int, int], None] = lambda epoch, epochs: None
    """Called before each epoch with its number and how many there are at most."""
    varies: bool = False
    """Whether `begin` changes numbers that the loss reads, so that a captured step has to be captured again."""
    batch_size: int | None = None
    """By default that of the settings."""


@dataclass
class BestEpoch:
    """How training stands: the best epoch's score, loss and weights, and for how many epochs no score was higher."""

    score: float = -1.0
    loss: float = math.inf
    weights: dict[str, Tensor] = field(default_factory=dict)
    since: int = 0
    keeps_last: bool = False
    """Whether every epoch counts as the best so far."""

    def judge(self, score: float, loss: float, model: nn.Module) -> bool:
        """Take an epoch in and return whether it is the best: of the highest score, the one with the lowest loss.

        Where all answers are right soon, the first such epoch is hardly sure of them; a later one is.
        """
        self.since = 0 if score > self.score or self.keeps_last else self.since + 1
        best = self.keeps_last or (score, -loss) > (self.score, -self.loss)
        if best:
            self.score, self.loss = score, loss
            self.weights = {name: value.clone() for name, value in model.state_dict().items()}
        return best


@dataclass
class TrainState:
    """One seed in training: its model, its phases, and its score on validation."""

    model: nn.Module
    phases: Sequence[Phase]
    score: Callable[[str], Tensor]
    order: torch.Generator | None = None
    """What shuffles its examples; by default all randomness of torch is one stream."""
    seed: int | None = None
    """Which seed it is, for the record of an error."""
    history: list[Epoch] = field(default_factory=list)


class OneSeed:
    """A model that is trained in place."""

    def __init__(self, models: Sequence[nn.Module], phases: Sequence[Phase], feed: Feed, config: Training) -> None:
        self.feed = feed
        self.loss = torch.compile(phases[0].loss) if config.compiled else phases[0].loss
        self.learned: list[Tensor] = list(phases[0].parameters)

    def losses(self, rows: Tensor, images: Tensor | None = None) -> Tensor:
        """Return the loss of the only row of examples; `images` are given where they are not held."""
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


class Optimization:
    """One phase under way: the step, its optimiser and its learning rate."""

    def __init__(self, step: OneSeed | ManySeeds, models: Sequence[nn.Module], feed: Feed, config: Training) -> None:
        self.step, self.feed, self.config = step, feed, config
        self.optimizer = make_optimizer(step.learned, config, feed.device)
        self.total = torch.zeros(len(models), device=feed.device)
        self.take: Callable[..., Tensor | None] = self._take
        self.graphs: Captured | None = None
        if feed.device.type == "cuda" and config.captured and config.optimizer in CAPTURABLE:
            buffers = [buffer for model in models for buffer in model.buffers()]
            self.take = self.graphs = Captured(self._take, [*buffers, self.total])

    def _take(self, rows: Tensor, images: Tensor | None = None) -> None:
        """Take one step on some rows of each seed (seeds x examples), adding to the total of losses."""
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=self.config.precision == "bfloat16"):
            losses = self.step.losses(rows, images)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.total.add_(losses.detach(), alpha=rows.shape[1])

    def epoch(self, orders: Tensor) -> Tensor:
        """Take one step for each batch and return the mean loss of each seed."""
        self.total.zero_()
        for rows, images in self.feed.batches(orders, self.config.batch_size):
            self.take(rows, images)
        return self.total / orders.shape[1]

    def set_rate(self, value: float) -> None:
        """Set the learning rate, in place where a captured step reads it."""
        group = self.optimizer.param_groups[0]
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(value)
        else:
            group["lr"] = value

    @property
    def is_captured(self) -> bool:
        """Whether steps were run as a CUDA graph."""
        return self.graphs is not None and self.graphs.refusal is None

    @property
    def refusal(self) -> str | None:
        """Why steps could not be captured, if they should have been."""
        if self.graphs is not None:
            return self.graphs.refusal
        wanted = self.feed.device.type == "cuda" and self.config.captured
        return f"{self.config.optimizer} is not captured" if wanted else None

    def capture_again(self) -> None:
        """Forget what was captured: the loss reads other numbers now."""
        if self.graphs is not None:
            self.graphs.forget()


def make_optimizer(learned: list[Tensor], config: Training, device: torch.device) -> torch.optim.Optimizer:
    """Return the optimiser of a setting; on a GPU Adam and AdamW take a rate that a captured step reads again."""
    rate, decay = config.learning_rate, config.weight_decay
    if config.optimizer == "sgd":
        return torch.optim.SGD(learned, lr=rate, weight_decay=decay, momentum=config.momentum)
    if config.optimizer == "rmsprop":
        return torch.optim.RMSprop(learned, lr=rate, weight_decay=decay, momentum=config.momentum)
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    if device.type != "cuda":
        return kind(learned, lr=rate, weight_decay=decay)
    there = torch.tensor(rate, device=device)
    return kind(learned, lr=there, weight_decay=decay, fused=True, capturable=True)
