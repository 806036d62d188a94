"""The one training loop, for one seed or many: Adam, the best epoch on validation, early stopping, progress."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

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
    score: Literal["labels", "concepts", "intervened", "all"] = "labels"
    """`intervened` is that of labels after all known concepts were set to the truth; `all` is the mean of the three."""
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


@dataclass
class Trainee:
    """One seed in training: its model, its phases, and its score on validation."""

    model: nn.Module
    phases: Sequence[Phase]
    score: Callable[[str], float]
    order: torch.Generator | None = None
    """What shuffles its examples; by default all randomness of torch is one stream."""
    seed: int | None = None
    """Which seed it is, for the record of an error."""
    history: list[Epoch] = field(default_factory=list)


class TrainingStep(Protocol):
    """What a batch does in one phase: a loss for each seed."""

    data: Batch
    learned: list[Tensor]
    """What is trained."""

    def losses(self, rows: Tensor) -> Tensor:
        """Return the loss of each seed on its rows (seeds x examples)."""

    def write_back(self, seed: int) -> None:
        """Put the weights of a seed, by place, into its model."""


Stepping = Callable[[Sequence[nn.Module], Sequence[Phase], Batch, Training], TrainingStep]


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
    trainees: Sequence[Trainee],
    data: Batch,
    config: Training,
    step: Stepping,
    report: Report = lambda epoch, epochs: None,
) -> None:
    """Run all phases and leave each model as it was in its best epoch of the last one."""
    with determinism(config.deterministic):
        for phases in zip(*(trainee.phases for trainee in trainees), strict=True):
            if phases[0].parameters:
                models = [trainee.model for trainee in trainees]
                _run(trainees, phases, step(models, phases, data, config), config, report)


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
    trainees: Sequence[Trainee], phases: Sequence[Phase], step: TrainingStep, config: Training, report: Report
) -> None:
    """Run one phase until every seed has stopped."""
    optimizer = torch.optim.Adam(step.learned, lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.learning_rate_decay)
    best = [BestEpoch() for _ in trainees]
    for number in range(1, config.epochs + 1):
        for phase in phases:
            phase.begin(number, config.epochs)
        losses = _epoch(trainees, step, optimizer, config)
        schedule.step()
        for seed, trainee in enumerate(trainees):
            if best[seed].since < config.patience:
                step.write_back(seed)
                trainee.history.append(_judge_epoch(trainee, phases[seed], number, losses[seed], best[seed]))
        report(trainees[0].history[-1], config.epochs)
        if all(epoch.since >= config.patience for epoch in best):
            break
    for trainee, epoch in zip(trainees, best, strict=True):
        trainee.model.load_state_dict(epoch.weights)


def _epoch(
    trainees: Sequence[Trainee], step: TrainingStep, optimizer: torch.optim.Optimizer, config: Training
) -> list[float]:
    """Take one step for each batch and return the mean loss of each seed."""
    trainees[0].model.train()
    device, size = step.data.images.device, len(step.data)
    orders = torch.stack([torch.randperm(size, generator=trainee.order) for trainee in trainees]).to(device)
    total = torch.zeros(len(trainees), device=device)
    for rows in torch.split(orders, config.batch_size, dim=1):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bfloat16"):
            losses = step.losses(rows)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += losses.detach() * rows.shape[1]
    return [loss / size for loss in total.tolist()]


def _judge_epoch(trainee: Trainee, phase: Phase, number: int, loss: float, best: BestEpoch) -> Epoch:
    """Return what an epoch gave a seed, keeping its weights if it is the best."""
    if loss != loss:
        whose = "" if trainee.order is None else f" of seed {trainee.seed}"
        raise RunFailed(f"the loss{whose} became NaN in phase {phase.name!r}; lower the learning rate")
    score = trainee.score(phase.score)
    return Epoch(phase.name, number, loss, score, best.judge(score, loss, trainee.model))
