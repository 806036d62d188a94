"""The one training loop: Adam, the best epoch on validation kept, seeds, progress."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.config import Config
from assay.errors import ConfigError, RunFailed
from assay.models.tensors import Batch
from assay.seeds import digest


class Training(Config):
    """How a model is trained."""

    epochs: int = Field(40, ge=1)
    batch_size: int = Field(64, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    learning_rate_decay: float = Field(0.99, gt=0, le=1)
    """The factor on the learning rate after each epoch."""
    patience: int = Field(10, ge=1)
    """Stop after this many epochs without a better score on validation."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class Phase:
    """A part of training: what is learned, by which loss, and which score on validation chooses the best epoch."""

    name: str
    parameters: list[nn.Parameter]
    loss: Callable[[Batch], Tensor]
    score: Literal["labels", "concepts"] = "labels"


@dataclass(frozen=True)
class Epoch:
    """What one epoch gave."""

    phase: str
    number: int
    loss: float
    score: float
    best: bool


Report = Callable[[Epoch, int], None]


def device_of(name: str) -> torch.device:
    """Return the device of this name; `auto` takes a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device


def seed_all(seed: int, *purpose: object) -> None:
    """Seed torch for one purpose."""
    torch.manual_seed(int.from_bytes(digest(seed, *purpose)[:6], "little"))


def train(
    model: nn.Module,
    phases: Sequence[Phase],
    data: Batch,
    score: Callable[[str], float],
    config: Training,
    report: Report = lambda epoch, epochs: None,
) -> list[Epoch]:
    """Run all phases and leave the model as it was in the best epoch of the last one."""
    history: list[Epoch] = []
    for phase in phases:
        if phase.parameters:
            history += _run(model, phase, data, score, config, report)
    return history


def _run(
    model: nn.Module, phase: Phase, data: Batch, score: Callable[[str], float], config: Training, report: Report
) -> list[Epoch]:
    optimizer = torch.optim.Adam(phase.parameters, lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.learning_rate_decay)
    best, best_state, since = -1.0, {k: v.clone() for k, v in model.state_dict().items()}, 0
    history: list[Epoch] = []
    for number in range(1, config.epochs + 1):
        loss = _epoch(model, phase, data, optimizer, config.batch_size)
        schedule.step()
        found = score(phase.score)
        since = 0 if found > best else since + 1
        if found > best:
            best, best_state = found, {k: v.clone() for k, v in model.state_dict().items()}
        history.append(Epoch(phase.name, number, loss, found, since == 0))
        report(history[-1], config.epochs)
        if since >= config.patience:
            break
    model.load_state_dict(best_state)
    return history


def _epoch(model: nn.Module, phase: Phase, data: Batch, optimizer: torch.optim.Optimizer, size: int) -> float:
    """Take one step for each batch and return the mean loss."""
    model.train()
    total = torch.zeros((), device=data.images.device)
    for rows in _shuffled(len(data), size):
        optimizer.zero_grad(set_to_none=True)
        loss = phase.loss(data.take(rows.to(data.images.device)))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.detach() * len(rows)
    mean = float(total) / len(data)
    if mean != mean:
        raise RunFailed(f"the loss became NaN in phase {phase.name!r}; lower the learning rate")
    return mean


def _shuffled(size: int, batch: int) -> Iterator[Tensor]:
    order = torch.randperm(size)
    for start in range(0, size, batch):
        yield order[start : start + batch]
