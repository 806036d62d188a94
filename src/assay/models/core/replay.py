"""Replay of supervised examples: some of them are added to every training batch, where few have concept labels."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from assay.base import ConfigError
from assay.models.core.feeds import Feed
from assay.models.core.losses import Supervision, supervision_mask
from assay.models.core.tensors import Batch

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel
    from assay.models.core.training import Phase


def with_replay(model: "NeuralModel", phases: "Sequence[Phase]", feed: Feed, config: Supervision) -> "list[Phase]":
    """Return the phases with supervised examples added to every batch; as they are where none are to be added."""
    if not config.supervised_replay:
        return list(phases)
    if not feed.is_held:
        raise ConfigError(
            "supervised_replay needs pictures that are held in memory; raise memory_share, or set it to 0"
        )
    mask = supervision_mask(config, model.space, feed.annotations, model.seed)
    rows = mask.any(dim=1).nonzero().flatten()
    if not len(rows):
        return list(phases)
    return [replace(phase, loss=_replayed(phase.loss, feed, rows, config.supervised_replay)) for phase in phases]


def _replayed(loss: Callable[[Batch], Tensor], feed: Feed, rows: Tensor, count: int) -> Callable[[Batch], Tensor]:
    def both(batch: Batch) -> Tensor:
        drawn = torch.randint(len(rows), (count,), device=rows.device)
        again = feed.take(rows[drawn])
        pairs = zip(_fields(batch), _fields(again), strict=True)
        return loss(Batch(*(torch.cat(pair) for pair in pairs)))

    return both


def _fields(batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return batch.labels, batch.concepts, batch.rows, batch.images
