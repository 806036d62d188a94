"""The one training loop, for one seed or many: the best epoch on validation, early stopping, progress, checkpoints.

A checkpoint is what a run in training needs to go on after it was ended, and to end with the same weights: one
safetensors file, written whole or not at all, with weights, the best weights so far, the optimiser's state, random
states, and as JSON the history and where training stands. It is kept after every epoch, but not more often than once a
second, so that short epochs are not spent on writing; what was not kept is computed again.
"""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from assay.base import RunFailed, write_atomically
from assay.models.core.devices import computing
from assay.models.core.feeds import Feed
from assay.models.core.model import Epoch, Report
from assay.models.core.settings import Training
from assay.models.core.steps import BestEpoch, ManySeeds, OneSeed, Optimization, Phase, TrainState

SECONDS = 1.0
"""The least time between two checkpoints."""
NOTES, SEAL = "training", "sha256"
Facts = dict[str, Any]
"""How a model was trained, for the record: the device, the precision, whether steps were captured."""


@dataclass
class Progress:
    """Where training stands: the phase, how many of its epochs are done, its learning rate, and each seed's best."""

    phase: int = 0
    epoch: int = 0
    rate: float = 0.0
    best: list[BestEpoch] = field(default_factory=list)
    moments: dict[str, Tensor] = field(default_factory=dict)
    """The state of the optimiser, as it was read."""
    randomness: dict[str, Tensor] = field(default_factory=dict)
    """Random states, as they were read."""

    def begin(self, trainees: Sequence[TrainState], descent: Optimization, config: Training) -> list[BestEpoch]:
        """Return each seed's best epoch so far, after setting optimiser and randomness to what was read, if it was."""
        if not self.epoch:
            self.rate = config.learning_rate / max(1, config.warmup_epochs)
            self.best = [BestEpoch() for _ in trainees]
        else:
            _set_moments(descent.optimizer, self.moments)
            _set_randomness(trainees, descent.feed.device, self.randomness)
        descent.set_rate(self.rate)
        return self.best


@dataclass
class Checkpoint:
    """The file of a run's checkpoint. One that was written for another `identity` is not taken up."""

    path: Path
    identity: Mapping[str, Any]
    seconds: float = SECONDS
    _last: float = field(default=-float("inf"), init=False)

    def keep(self, trainees: Sequence[TrainState], descent: Optimization, progress: Progress) -> None:
        """Write where training stands, unless that was done a moment ago."""
        if time.monotonic() - self._last < self.seconds:
            return
        tensors = dict(_tensors_of(trainees, descent, progress))
        notes = {
            "identity": dict(self.identity),
            "phase": progress.phase,
            "epoch": progress.epoch,
            "rate": progress.rate,
            "best": [{"score": best.score, "loss": best.loss, "since": best.since} for best in progress.best],
            "histories": [[asdict(epoch) for epoch in trainee.history] for trainee in trainees],
        }
        plain = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
        text = json.dumps(notes)
        write_atomically(self.path, save(plain, {NOTES: text, SEAL: _seal(plain, text)}))
        self._last = time.monotonic()

    def restore(self, trainees: Sequence[TrainState]) -> Progress | None:
        """Set models and histories to what was kept and return where training stood; nothing if there is nothing.

        A file that is damaged, or of another run, is as good as none: training begins again.
        """
        try:
            with safe_open(self.path, "pt") as file:
                about = file.metadata()
                notes = json.loads(about[NOTES])
                if notes["identity"] != json.loads(json.dumps(dict(self.identity))):
                    return None
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if about[SEAL] != _seal(tensors, about[NOTES]):
                return None
            best = [BestEpoch(**numbers) for numbers in notes["best"]]
            histories = [[Epoch(**epoch) for epoch in history] for history in notes["histories"]]
            if len(histories) != len(trainees):
                return None
            for place, trainee in enumerate(trainees):
                trainee.model.load_state_dict(_part(tensors, f"model.{place}."))
                trainee.history = histories[place]
                device = next(trainee.model.parameters()).device
                best[place].weights = {k: v.to(device) for k, v in _part(tensors, f"best.{place}.").items()}
        except (OSError, SafetensorError, ValueError, KeyError, TypeError, RuntimeError):
            return None
        moments, randomness = _part(tensors, "moments."), _part(tensors, "random.")
        return Progress(notes["phase"], notes["epoch"], notes["rate"], best, moments, randomness)


def _tensors_of(
    trainees: Sequence[TrainState], descent: Optimization, progress: Progress
) -> Iterator[tuple[str, Tensor]]:
    """Yield all that a checkpoint holds, by name."""
    for place, (trainee, best) in enumerate(zip(trainees, progress.best, strict=True)):
        yield from ((f"model.{place}.{name}", tensor.clone()) for name, tensor in trainee.model.state_dict().items())
        yield from ((f"best.{place}.{name}", tensor) for name, tensor in best.weights.items())
        if trainee.order is not None:
            yield f"random.order.{place}", trainee.order.get_state()
    for place, learned in enumerate(descent.step.learned):
        state = descent.optimizer.state[learned]
        yield from ((f"moments.{place}.{name}", value) for name, value in state.items() if isinstance(value, Tensor))
    yield "random.cpu", torch.get_rng_state()
    if descent.feed.device.type == "cuda":
        yield "random.cuda", torch.cuda.get_rng_state(descent.feed.device)


def _seal(tensors: Mapping[str, Tensor], notes: str) -> str:
    """Return the hash of what a checkpoint holds."""
    digest = hashlib.sha256(save(dict(sorted(tensors.items()))))
    digest.update(notes.encode())
    return digest.hexdigest()


def _part(tensors: Mapping[str, Tensor], start: str) -> dict[str, Tensor]:
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def _set_moments(optimizer: torch.optim.Optimizer, moments: Mapping[str, Tensor]) -> None:
    """Set the optimiser's state of each parameter, by its place."""
    capturable = optimizer.param_groups[0].get("capturable", False)
    for place, learned in enumerate(optimizer.param_groups[0]["params"]):
        state = _part(moments, f"{place}.")
        optimizer.state[learned] = {name: _like(learned, tensor, capturable) for name, tensor in state.items()}


def _like(learned: Tensor, moment: Tensor, capturable: bool) -> Tensor:
    """Return a moment where its parameter is, and as this lies in memory; a count of steps only if it is captured."""
    if moment.shape != learned.shape:
        return moment.to(learned.device) if capturable else moment
    return torch.empty_like(learned, dtype=moment.dtype, requires_grad=False).copy_(moment)


def _set_randomness(trainees: Sequence[TrainState], device: torch.device, states: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    for place, trainee in enumerate(trainees):
        if trainee.order is not None:
            trainee.order.set_state(states[f"order.{place}"])


def train(
    trainees: Sequence[TrainState],
    feed: Feed,
    config: Training,
    report: Report = lambda epoch, epochs: None,
    checkpoint: Checkpoint | None = None,
) -> Facts:
    """Run all phases and leave each model as it was in its best epoch of the last one; return how steps were taken.

    With a checkpoint, training goes on from the last epoch that was kept there.
    """
    facts: Facts = {"device": str(feed.device), "precision": config.precision, "held": feed.is_held}
    step = OneSeed if trainees[0].order is None else ManySeeds
    begun = Progress() if checkpoint is None else checkpoint.restore(trainees) or Progress()
    with computing(config, feed.device):
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
    trainees: Sequence[TrainState],
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
        progress.rate = _next_rate(config, progress.epoch, progress.rate)
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


def _next_rate(config: Training, epoch: int, rate: float) -> float:
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


def _shuffle(trainees: Sequence[TrainState], size: int, device: torch.device) -> Tensor:
    """Return an order of the examples for each seed (seeds x examples), drawn on the device."""
    orders = [torch.randperm(size, generator=trainee.order, device=device) for trainee in trainees]
    return torch.stack(orders)


def _score(
    trainees: Sequence[TrainState], phases: Sequence[Phase], losses: Tensor, active: Sequence[int]
) -> list[tuple[float, float]]:
    """Return the loss and the score on validation of each seed that has not stopped, in one copy from the device."""
    scores = [torch.as_tensor(trainees[seed].score(phases[seed].score)).double().to(losses.device) for seed in active]
    pairs = torch.stack([losses[list(active)].double(), torch.stack(scores)], dim=1)
    return [(loss, score) for loss, score in pairs.tolist()]


def _judge_epoch(
    trainee: TrainState, phase: Phase, number: int, numbers: tuple[float, float], best: BestEpoch
) -> Epoch:
    """Return what an epoch gave a seed, keeping its weights if it is the best."""
    loss, score = numbers
    whose = "" if trainee.order is None else f" of seed {trainee.seed}"
    if loss != loss:
        raise RunFailed(f"the loss{whose} became NaN in phase {phase.name!r}; lower the learning rate")
    if score != score:
        raise RunFailed(f"the answers{whose} became NaN; lower the learning rate")
    return Epoch(phase.name, number, loss, score, best.judge(score, loss, trainee.model))
