"""The one training loop: Adam, the best epoch on validation kept, seeds, progress."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.config import Config
from assay.errors import ConfigError, RunFailed
from assay.models.core.model import Epoch, Report
from assay.models.core.precision import check_precision
from assay.models.core.tensors import Batch
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
    precision: Literal["float32", "bfloat16"] = "float32"
    """In which numbers networks compute; `bfloat16` is faster on recent GPUs, weights stay in float32.

    On a CPU bfloat16 is tried first, in a process of its own, and refused where that fails.
    """
    compiled: bool = False
    """Compile the training step, which pays for long runs."""
    deterministic: bool = False
    """Only use operations that give the same bytes again on the same GPU; slower."""


@dataclass(frozen=True)
class Phase:
    """A part of training: what is learned, by which loss, and which score on validation chooses the best epoch."""

    name: str
    parameters: list[nn.Parameter]
    loss: Callable[[Batch], Tensor]
    score: Literal["labels", "concepts", "told", "all"] = "labels"
    """`told` is that of labels where known concepts are told; `all` is the mean of the three."""
    begin: Callable[[int, int], None] = lambda epoch, epochs: None
    """Called before each epoch with its number and how many there are at most."""


@dataclass
class BestEpoch:
    """How training stands: the best epoch's score, loss and weights, and for how many epochs no score was higher."""

    score: float = -1.0
    loss: float = math.inf
    weights: dict[str, Tensor] = field(default_factory=dict)
    since: int = 0

    def judge(self, score: float, loss: float, model: nn.Module) -> bool:
        """Take an epoch in and return whether it is the best: of the highest score, the one with the lowest loss.

        Where all answers are right soon, the first such epoch is hardly sure of them; a later one is.
        """
        self.since = 0 if score > self.score else self.since + 1
        best = (score, -loss) > (self.score, -self.loss)
        if best:
            self.score, self.loss = score, loss
            self.weights = {name: value.clone() for name, value in model.state_dict().items()}
        return best


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


def device_for(config: Training) -> torch.device:
    """Return the device to train on, or refuse what it cannot compute."""
    device = device_of(config.device)
    check_precision(config.precision, device)
    return device


def seed_of(seed: int, *purpose: object) -> int:
    """Return the number that seeds torch for one purpose."""
    return int.from_bytes(digest(seed, *purpose)[:6], "little")


def seed_all(seed: int, *purpose: object) -> None:
    """Seed torch for one purpose."""
    torch.manual_seed(seed_of(seed, *purpose))


def one_thread() -> None:
    """Let torch compute in one thread: sums then have one order, and processes do not fight for cores."""
    torch.set_num_threads(1)


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
    with determinism(config.deterministic):
        for phase in phases:
            if phase.parameters:
                history += _run(model, phase, data, score, config, report)
    return history


@contextmanager
def determinism(wanted: bool) -> Iterator[None]:
    """Refuse operations that give other bytes each time, while something runs."""
    before = torch.are_deterministic_algorithms_enabled()
    if wanted:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as cuBLAS asks for
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def _run(
    model: nn.Module, phase: Phase, data: Batch, score: Callable[[str], float], config: Training, report: Report
) -> list[Epoch]:
    optimizer = torch.optim.Adam(phase.parameters, lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.learning_rate_decay)
    standing = BestEpoch()
    history: list[Epoch] = []
    step = torch.compile(phase.loss) if config.compiled else phase.loss
    for number in range(1, config.epochs + 1):
        phase.begin(number, config.epochs)
        loss = _epoch(model, replace(phase, loss=step), data, optimizer, config)
        schedule.step()
        found = score(phase.score)
        history.append(Epoch(phase.name, number, loss, found, standing.judge(found, loss, model)))
        report(history[-1], config.epochs)
        if standing.since >= config.patience:
            break
    model.load_state_dict(standing.weights)
    return history


def _epoch(model: nn.Module, phase: Phase, data: Batch, optimizer: torch.optim.Optimizer, config: Training) -> float:
    """Take one step for each batch and return the mean loss."""
    model.train()
    device = data.images.device
    total = torch.zeros((), device=device)
    for rows in _shuffled(len(data), config.batch_size):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bfloat16"):
            loss = phase.loss(data.take(rows.to(device)))
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
