"""Checkpoints: what a run in training needs to go on after it was ended, and to end with the same weights.

A checkpoint is one safetensors file, written whole or not at all: weights, the best weights so far, the optimiser's
state, random states, and as JSON the history and where training stands. It is kept after every epoch, but not more
often than once a second, so that short epochs are not spent on writing; what was not kept is computed again.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from assay.base import write_atomically
from assay.models.core.model import Epoch

if TYPE_CHECKING:
    from assay.models.core.optimization import Optimization
    from assay.models.core.training import BestEpoch, Trainee, Training

SECONDS = 1.0
"""The least time between two checkpoints."""
NOTES, SEAL = "training", "sha256"


@dataclass
class Progress:
    """Where training stands: the phase, how many of its epochs are done, its learning rate, and each seed's best."""

    phase: int = 0
    epoch: int = 0
    rate: float = 0.0
    best: "list[BestEpoch]" = field(default_factory=list)
    moments: dict[str, Tensor] = field(default_factory=dict)
    """The state of the optimiser, as it was read."""
    randomness: dict[str, Tensor] = field(default_factory=dict)
    """Random states, as they were read."""

    def begin(self, trainees: "Sequence[Trainee]", descent: "Optimization", config: "Training") -> "list[BestEpoch]":
        """Return each seed's best epoch so far, after setting optimiser and randomness to what was read, if it was."""
        from assay.models.core.training import BestEpoch, first_rate

        if not self.epoch:
            self.rate, self.best = first_rate(config), [BestEpoch() for _ in trainees]
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

    def keep(self, trainees: "Sequence[Trainee]", descent: "Optimization", progress: Progress) -> None:
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

    def restore(self, trainees: "Sequence[Trainee]") -> Progress | None:
        """Set models and histories to what was kept and return where training stood; nothing if there is nothing.

        A file that is damaged, or of another run, is as good as none: training begins again.
        """
        from assay.models.core.training import BestEpoch

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
    trainees: "Sequence[Trainee]", descent: "Optimization", progress: Progress
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


def _set_randomness(trainees: "Sequence[Trainee]", device: torch.device, states: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    for place, trainee in enumerate(trainees):
        if trainee.order is not None:
            trainee.order.set_state(states[f"order.{place}"])
