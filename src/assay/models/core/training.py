"""The one training loop, for one seed or many: Adam, the best epoch on validation, early stopping, progress.

On a GPU a step (batch, forward, rule, loss, backward, optimiser) is one CUDA graph where it can be. The last, shorter
batch of an epoch has a graph of its own: dropping it would leave examples out, and padding would change batch norms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.base import Config, RunFailed
from assay.models.core.checkpoints import Checkpoint, Progress
from assay.models.core.devices import determinism, number_formats, own_stream
from assay.models.core.feeds import Feed
from assay.models.core.model import Epoch, Report
from assay.models.core.optimization import Optimization
from assay.models.core.tensors import Batch

OptimizerName = Literal["adam", "adamw", "sgd", "rmsprop"]
Schedule = Literal["exponential", "step", "cosine"]
Precision = Literal["auto", "float32", "bfloat16"]
Facts = dict[str, Any]
"""How a model was trained, for the record: the device, the precision, whether steps were captured."""


class Training(Config):
    """How a model is trained."""

    epochs: int = Field(40, ge=1)
    """The most passes over the training split."""
    batch_size: int = Field(64, ge=1)
    """How many examples a training step sees."""
    learning_rate: float = Field(1e-3, gt=0)
    """The learning rate of the first epoch."""
    optimizer: OptimizerName = "adam"
    """`adam` adds the weight decay to the gradient, as most published runs do; `adamw` decays the weights directly."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """The momentum of `sgd` and `rmsprop`."""
    weight_decay: float = Field(1e-4, ge=0)
    """The strength of L2 regularisation."""
    schedule: Schedule = "exponential"
    """How the learning rate falls: by `learning_rate_decay` after each epoch (`exponential`) or after every
    `schedule_epochs` (`step`), or along a half cosine to 0 at the last epoch (`cosine`)."""
    learning_rate_decay: float = Field(0.99, gt=0, le=1)
    """The factor of `exponential` and `step`."""
    schedule_epochs: int = Field(10, ge=1)
    """After how many epochs `step` lowers the rate."""
    warmup_epochs: int = Field(0, ge=0)
    """In how many first epochs the rate rises to its full value, in equal steps."""
    patience: int = Field(10, ge=1)
    """Stop after this many epochs without a better score on validation."""
    keeps: Literal["best", "last"] = "best"
    """Which epoch is kept: the best on validation, or the last one, without early stopping. Validation that shares a
    confounder with training prefers models that follow it."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""
    precision: Precision = "auto"
    """The number format of training; weights and predictions stay in float32. `auto` is bfloat16 for deep backbones on
    GPUs that compute in it, and float32 elsewhere. On a CPU bfloat16 is tried first, in a process of its own, and
    refused where that fails."""
    tf32: bool = True
    """On a GPU, let training multiply float32 numbers in the shorter TensorFloat-32."""
    channels_last: bool = True
    """On a GPU, keep pictures and convolutions of a single seed in channels-last memory, which is faster."""
    captured: bool = True
    """On a GPU, run the training step as one CUDA graph, where it can be."""
    compiled: bool = False
    """Compile the training step with `torch.compile`, which is worth it for long runs."""
    memory_share: float = Field(0.25, ge=0, le=1)
    """Hold the pictures of a split on the device if they fill no more than this share of its free memory; those of a
    larger split are decoded batch by batch."""
    deterministic: bool = False
    """Only use operations that give the same bytes again on the same GPU; slower."""


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
class Trainee:
    """One seed in training: its model, its phases, and its score on validation."""

    model: nn.Module
    phases: Sequence[Phase]
    score: Callable[[str], Tensor]
    order: torch.Generator | None = None
    """What shuffles its examples; by default all randomness of torch is one stream."""
    seed: int | None = None
    """Which seed it is, for the record of an error."""
    history: list[Epoch] = field(default_factory=list)


class TrainingStep(Protocol):
    """What a batch does in one phase: a loss for each seed."""

    learned: list[Tensor]
    """What is trained."""

    def losses(self, rows: Tensor, images: Tensor | None = None) -> Tensor:
        """Return the loss of each seed on its rows (seeds x examples); `images` are given where they are not held."""

    def write_back(self, seed: int) -> None:
        """Put the weights of a seed, by place, into its model."""


Stepping = Callable[[Sequence[nn.Module], Sequence[Phase], Feed, Training], TrainingStep]


def train(
    trainees: Sequence[Trainee],
    feed: Feed,
    config: Training,
    step: Stepping,
    report: Report = lambda epoch, epochs: None,
    checkpoint: Checkpoint | None = None,
) -> Facts:
    """Run all phases and leave each model as it was in its best epoch of the last one; return how steps were taken.

    With a checkpoint, training goes on from the last epoch that was kept there.
    """
    facts: Facts = {"device": str(feed.device), "precision": config.precision, "held": feed.is_held}
    begun = Progress() if checkpoint is None else checkpoint.restore(trainees) or Progress()
    with determinism(config.deterministic), number_formats(config, feed.device), own_stream(feed.device):
        for number, phases in enumerate(zip(*(trainee.phases for trainee in trainees), strict=True)):
            if not phases[0].parameters or number < begun.phase:
                continue
            models = [trainee.model for trainee in trainees]
            own = config.model_copy(update={"batch_size": phases[0].batch_size or config.batch_size})
            descent = Optimization(step(models, phases, feed, own), models, feed, own)
            progress = begun if number == begun.phase else Progress(number)
            _run(trainees, phases, descent, config, report, progress, checkpoint)
            facts["captured"] = descent.is_captured
            if descent.refusal is not None:
                facts["not_captured"] = descent.refusal
    return facts


def _run(
    trainees: Sequence[Trainee],
    phases: Sequence[Phase],
    descent: Optimization,
    config: Training,
    report: Report,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> None:
    """Run one phase until every seed has stopped."""
    best = progress.begin(trainees, descent, config)
    for own in best:
        own.keeps_last = config.keeps == "last"
    while progress.epoch < config.epochs and any(own.since < config.patience for own in best):
        progress.epoch += 1
        for phase in phases:
            phase.begin(progress.epoch, config.epochs)
        if phases[0].varies:
            descent.capture_again()
        trainees[0].model.train()
        losses = descent.epoch(_shuffle(trainees, len(descent.feed), descent.feed.device))
        progress.rate = next_rate(config, progress.epoch, progress.rate)
        descent.set_rate(progress.rate)
        active = [seed for seed, own in enumerate(best) if own.since < config.patience]
        for seed in active:
            descent.step.write_back(seed)
        for seed, numbers in zip(active, _score(trainees, phases, losses, active), strict=True):
            trainees[seed].history.append(
                _judge_epoch(trainees[seed], phases[seed], progress.epoch, numbers, best[seed])
            )
        report(trainees[0].history[-1], config.epochs)
        if checkpoint is not None:
            checkpoint.keep(trainees, descent, progress)
    for trainee, kept in zip(trainees, best, strict=True):
        trainee.model.load_state_dict(kept.weights)


def next_rate(config: Training, epoch: int, rate: float) -> float:
    """Return the learning rate of the epoch after this one, whose rate is given."""
    if epoch < config.warmup_epochs:
        return config.learning_rate * (epoch + 1) / config.warmup_epochs
    if config.schedule == "exponential":
        return rate * config.learning_rate_decay
    done = epoch - config.warmup_epochs
    if config.schedule == "step":
        return config.learning_rate * config.learning_rate_decay ** (done // config.schedule_epochs)
    whole = max(1, config.epochs - config.warmup_epochs)
    return config.learning_rate * (1 + math.cos(math.pi * min(done, whole) / whole)) / 2


def first_rate(config: Training) -> float:
    """Return the learning rate of the first epoch."""
    return config.learning_rate / max(1, config.warmup_epochs)


def _shuffle(trainees: Sequence[Trainee], size: int, device: torch.device) -> Tensor:
    """Return an order of the examples for each seed (seeds x examples), drawn on the device."""
    orders = [torch.randperm(size, generator=trainee.order, device=device) for trainee in trainees]
    return torch.stack(orders)


def _score(
    trainees: Sequence[Trainee], phases: Sequence[Phase], losses: Tensor, active: Sequence[int]
) -> list[tuple[float, float]]:
    """Return the loss and the score on validation of each seed that has not stopped, in one copy from the device."""
    scores = [torch.as_tensor(trainees[seed].score(phases[seed].score)).double().to(losses.device) for seed in active]
    pairs = torch.stack([losses[list(active)].double(), torch.stack(scores)], dim=1)
    return [(loss, score) for loss, score in pairs.tolist()]


def _judge_epoch(trainee: Trainee, phase: Phase, number: int, numbers: tuple[float, float], best: BestEpoch) -> Epoch:
    """Return what an epoch gave a seed, keeping its weights if it is the best."""
    loss, score = numbers
    whose = "" if trainee.order is None else f" of seed {trainee.seed}"
    if loss != loss:
        raise RunFailed(f"the loss{whose} became NaN in phase {phase.name!r}; lower the learning rate")
    if score != score:
        raise RunFailed(f"the answers{whose} became NaN; lower the learning rate")
    return Epoch(phase.name, number, loss, score, best.judge(score, loss, trainee.model))
