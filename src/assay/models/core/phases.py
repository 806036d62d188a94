"""Phases with more in them than their model says: subconcepts first, replay, and training against confounders.

*Group DRO* (Sagawa et al., 2020): examples of one label and one value of each nuisance are a group; the loss is the sum
of the groups' mean losses, weighted by exponentiated gradient ascent, so that the worst group counts most. *Right for
the right reasons* (Ross et al., 2017): the squared gradient of the summed log probabilities with respect to pixels that
show no object and no part is added to the loss.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from assay.base import Array, ConfigError, SeededPermutation
from assay.dataset import NUISANCES, SplitData, decode
from assay.models.core.circuit import SubconceptReader
from assay.models.core.feeds import Feed
from assay.models.core.settings import MASKS, Robustness
from assay.models.core.steps import Phase
from assay.models.core.tensors import SMALLEST, Batch, Outputs, concept_loss

CELLS = 8
"""How many subconcepts of each example of a usual batch a batch of the first phase has, on average."""
Loss = Callable[[Batch], Tensor]


def with_subconcepts(
    phases: Sequence[Phase], readers: Sequence[SubconceptReader], feed: Feed, tuned: bool, batch_size: int
) -> list[Phase]:
    """Return the phases of a model, before them one that trains its readers of subconcepts on their annotations.

    Unless they are to be tuned, the readers then stay as they are.
    """
    codes = feed.data.subconcepts
    if codes is None:
        raise ConfigError(
            "subconcepts are not annotated in these examples; leave them to be learned: subconcepts=latent"
        )
    truth = torch.from_numpy(codes).to(feed.device)
    known = truth >= 0

    def loss(examples: Batch) -> Tensor:
        own, mask = truth[examples.rows], known[examples.rows]
        losses = [concept_loss(reader.read(examples.pictures), own, mask) for reader in readers]
        return torch.stack(losses).sum()

    def fix(fixed: bool) -> None:
        for reader in readers:
            reader.fixed = fixed

    def without_readers(phase: Phase) -> Phase:
        def begin(epoch: int, epochs: int) -> None:
            fix(True)
            phase.begin(epoch, epochs)

        return replace(phase, parameters=[p for p in phase.parameters if id(p) not in same], begin=begin)

    learned = [parameter for reader in readers for parameter in reader.encoder.parameters()]
    same = {id(parameter) for parameter in learned}
    size = max(1, CELLS * batch_size // truth.shape[1])
    first = Phase("subconcepts", learned, loss, "subconcepts", lambda *_: fix(False), batch_size=size)
    return [first, *(phases if tuned else map(without_readers, phases))]


def with_replay(phases: Sequence[Phase], feed: Feed, mask: Tensor, count: int) -> list[Phase]:
    """Return the phases with so many supervised examples, those of the mask, added to every training batch."""
    if not feed.is_held:
        raise ConfigError(
            "supervised_replay needs pictures that are held in memory; raise memory_share, or set it to 0"
        )
    rows = mask.any(dim=1).nonzero().flatten()

    def replayed(loss: Loss) -> Loss:
        def both(batch: Batch) -> Tensor:
            again = feed.take(rows[torch.randint(len(rows), (count,), device=rows.device)])
            return loss(batch.joined(again))

        return both

    return [replace(phase, loss=replayed(phase.loss)) for phase in phases] if len(rows) else list(phases)


def with_groups(phases: Sequence[Phase], feed: Feed, config: Robustness, seed: int) -> list[Phase]:
    """Return the phases with losses of groups, each weighted by how high it has been."""
    annotated = _annotated_rows(len(feed), config.group_examples, seed)
    groups = torch.from_numpy(_group_numbers(feed.data, annotated)).to(feed.device)
    return [replace(phase, loss=GroupLoss(phase.loss, groups, config.group_step)) for phase in phases]


class GroupLoss:
    """The loss of a phase as the sum over groups, each weighted by how high its loss has been."""

    def __init__(self, loss: Loss, groups: Tensor, step: float) -> None:
        self.loss, self.groups, self.step = loss, groups, step
        count = int(groups.max()) + 1
        self.weights = torch.full((count,), 1 / count, device=groups.device)

    def __call__(self, batch: Batch) -> Tensor:
        """Return the weighted loss of a batch, after the weights have followed the losses of its groups."""
        own = self.groups[batch.rows]
        there = torch.unique(own)
        losses = torch.stack([self.loss(batch.only(own == group)) for group in there])
        with torch.no_grad():
            self.weights[there] *= (self.step * losses.detach()).exp()
            self.weights /= self.weights.sum()
        return (self.weights[there] * losses).sum()


def _annotated_rows(size: int, count: int | None, seed: int) -> Array:
    """Return which rows of a split are annotated; with a higher count, those of a lower one are among them."""
    if count is None:
        return np.ones(size, dtype=bool)
    return np.asarray(SeededPermutation(size, seed, "annotated against confounders").deal(np.arange(size)) < count)


def _group_numbers(data: SplitData, annotated: Array) -> Array:
    """Return the group of each row: 0 where nuisances are not annotated, else one for each label and nuisances."""
    styles = [json.loads(style).get(NUISANCES) for style in data.table["style"].to_pylist()]
    if not styles or None in styles:
        raise ConfigError(
            f"group_step: the styles of split {data.name!r} name no nuisances; plant a confounder, or set group_step=0"
        )
    codes = np.array([list(style.values()) for style in styles], dtype=np.int64)
    cells = np.concatenate([data.given_labels, codes], axis=1)
    numbers = np.unique(cells[annotated], axis=0, return_inverse=True)[1].ravel() + 1
    groups = np.zeros(len(data), dtype=np.int64)
    groups[annotated] = numbers
    return groups


def with_reasons(
    phases: Sequence[Phase],
    feed: Feed,
    config: Robustness,
    seed: int,
    answer: Callable[[Tensor, Mapping[int, Tensor]], Outputs],
) -> list[Phase]:
    """Return the phases with a penalty on the gradient of what a model answers at pixels that show nothing."""
    data, rows = feed.data, np.flatnonzero(_annotated_rows(len(feed), config.reasons_examples, seed))
    column = next((name for name in MASKS if name in data.columns), None)
    if column is None:
        raise ConfigError(
            f"reasons_weight: split {data.name!r} has no masks, neither {' nor '.join(MASKS)}; set it to 0"
        )
    masks = [decode(file)[:, :, 0] == 0 for file in data.files(rows, column)]
    shape = (len(rows), 1, data.layout.height, data.layout.width)
    outside = torch.from_numpy(np.array(masks, dtype=bool).reshape(shape)).to(feed.device)
    indices = torch.full((len(data),), -1)
    indices[rows] = torch.arange(len(rows))
    indices = indices.to(feed.device)

    def gradient(pictures: Tensor, outside: Tensor) -> Tensor:
        """Return the squared gradient of the summed log probabilities outside, added up, mean over pictures."""
        inputs = pictures.detach().clone().requires_grad_()
        outputs = answer(inputs, {})
        logs = [p.clamp(min=SMALLEST).log().sum() for p in (*outputs.labels, *(outputs.concepts or []))]
        (slope,) = torch.autograd.grad(torch.stack(logs).sum(), inputs, create_graph=True)
        return (slope * outside).square().flatten(1).sum(dim=1).mean()

    def penalised(loss: Loss) -> Loss:
        def both(batch: Batch) -> Tensor:
            own = indices[batch.rows]
            known = own >= 0
            if not bool(known.any()):
                return loss(batch)
            penalty = gradient(batch.pictures[known], outside[own[known]])
            return loss(batch) + config.reasons_weight * penalty

        return both

    return [replace(phase, loss=penalised(phase.loss)) for phase in phases]
