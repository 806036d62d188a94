"""One phase of training under way: the step, its optimiser and its learning rate; on a GPU as CUDA graphs."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from assay.models.core.capture import Captured
from assay.models.core.feeds import Feed

if TYPE_CHECKING:
    from assay.models.core.training import Training, TrainingStep

CAPTURABLE = ("adam", "adamw")


class Optimization:
    """One phase under way: the step, its optimiser and its learning rate."""

    def __init__(self, step: "TrainingStep", models: Sequence[nn.Module], feed: Feed, config: "Training") -> None:
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


def make_optimizer(learned: list[Tensor], config: "Training", device: torch.device) -> torch.optim.Optimizer:
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
