"""Label heads: from concept probabilities to the logits of each label, learned or given.

A head gets of each concept the truth where it is supervised, else the model's own probabilities. One encoding holds
from training to intervention. Soft: probabilities as they are. Hard: only the likeliest value of each concept, so that
setting a concept to that very value changes nothing.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from assay.base import ConfigError
from assay.logic import Knowledge
from assay.models.core.circuit import LEAST_SEEN, RuleLayer
from assay.models.core.tensors import one_hot_like

HeadKind = Literal["linear", "log-linear", "mlp", "rule", "and"]
HIDDEN = 64
SMALLEST = 1e-12


def label_head(kind: HeadKind, knowledge: Knowledge, widths: Sequence[int] = (HIDDEN,)) -> nn.Module:
    """Return the head of this kind; its input are the probabilities of all concepts, side by side.

    `widths` are those of the hidden layers of an `mlp`.
    """
    if kind == "rule":
        return RuleHead(knowledge)
    if kind == "and":
        return AndHead(knowledge)
    inputs, outputs = sum(knowledge.space.sizes), sum(len(label.values) for label in knowledge.labels)
    if kind == "log-linear":
        return nn.Sequential(LogProbabilities(), nn.Linear(inputs, outputs))
    sizes = [inputs, *(widths if kind == "mlp" else ())]
    hidden = [layer for before, size in pairwise(sizes) for layer in (nn.Linear(before, size), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(sizes[-1], outputs))


class LogProbabilities(nn.Module):
    """Probabilities as logs from -1 to 0: what is nearly impossible differs from what is impossible."""

    def forward(self, concepts: Tensor) -> Tensor:
        """Return the logs, in parts of the lowest that is told from lower ones."""
        return concepts.clamp(min=math.exp(LEAST_SEEN)).log() / -LEAST_SEEN


class GivenHead(nn.Module):
    """A head that is given, not learned: exact label probabilities of independent concepts, as logs."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__()
        self.sizes = list(knowledge.space.sizes)

    @abstractmethod
    def labels(self, concepts: Sequence[Tensor]) -> list[Tensor]:
        """Return the probabilities of each label."""

    def forward(self, concepts: Tensor) -> Tensor:
        """Return the log probabilities of all labels, side by side."""
        probabilities = torch.cat(self.labels(torch.split(concepts, self.sizes, dim=1)), dim=1)
        return probabilities.clamp(min=SMALLEST).log()


class RuleHead(GivenHead):
    """The rule itself, by its decision diagram."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(knowledge)
        self.rule = RuleLayer(knowledge)

    def labels(self, concepts: Sequence[Tensor]) -> list[Tensor]:
        """Return what the rule gives."""
        return self.rule.marginals(self.rule(concepts))


class AndHead(GivenHead):
    """Every label is true where all concepts are."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(knowledge)
        kinds = {concept.name: (concept.kind, len(concept.values)) for concept in knowledge.space.concepts}
        kinds |= {label.name: (label.kind, len(label.values)) for label in knowledge.labels}
        for name, kind in kinds.items():
            if kind != ("bool", 2):
                raise ConfigError(f"head 'and' needs truth values only, and {name!r} has others; try 'rule'")
        self.true = [concept.code(True) for concept in knowledge.space.concepts]
        self.count = len(knowledge.labels)

    def labels(self, concepts: Sequence[Tensor]) -> list[Tensor]:
        """Return the product of the probabilities of being true."""
        true = torch.stack(
            [probabilities[:, code] for probabilities, code in zip(concepts, self.true, strict=True)], dim=1
        ).prod(dim=1)
        return [torch.stack([1 - true, true], dim=1)] * self.count


DrawnFor = Literal["example", "batch"]
"""What random concepts are drawn for in training: each example by itself, or all examples of a batch together."""


def harden(concepts: Sequence[Tensor]) -> list[Tensor]:
    """Return the likeliest value of each concept as one-hot; gradients pass as for probabilities (straight-through)."""
    return [
        one_hot_like(probabilities.argmax(dim=1), probabilities) + (probabilities - probabilities.detach())
        for probabilities in concepts
    ]


def insert_truth(codes: Tensor, mask: Tensor, otherwise: Sequence[Tensor]) -> list[Tensor]:
    """Return the true concepts as one-hot where the mask says so, and the probabilities `otherwise` elsewhere."""
    return [torch.where(mask[:, i, None], one_hot_like(codes[:, i], own), own) for i, own in enumerate(otherwise)]


def sample_mask(mask: Tensor, chance: float, drawn_for: DrawnFor = "example") -> Tensor:
    """Return the mask with each entry kept by chance: the concepts intervened on in one training step.

    They are drawn anew for each example, or once for all examples of the batch.
    """
    rows = len(mask) if drawn_for == "example" else 1
    return mask & (torch.rand(rows, mask.shape[1], device=mask.device) < chance)
