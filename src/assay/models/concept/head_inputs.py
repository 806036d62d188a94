"""What a label head gets for concepts: the truth where it is supervised, else the model's own probabilities.

One encoding holds from training to intervention. Soft: probabilities as they are. Hard: only the likeliest value of
each concept, so that setting a concept to that very value changes nothing.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from assay.models.core.encoder import Sharing
from assay.models.core.losses import Supervision
from assay.models.core.neural import NeuralConfig
from assay.models.core.tensors import one_hot_like

DrawnFor = Literal["example", "batch"]
"""What random concepts are drawn for in training: each example by itself, or all examples of a batch together."""


class ConceptConfig(NeuralConfig, Supervision):
    """What every model with a learned label head can set."""

    concept_weight: float = Field(1.0, ge=0)
    """The weight of the concept loss beside the label loss."""
    share: Sharing = True
    """Read concepts of one encoder group with one network; `objects`: all attributes of an object with one;
    `crossed`: so too, and taken for other concepts, as in the first release of rsbench."""
    hard: bool = False
    """The label head receives only the most probable value of each concept, not the probabilities."""


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
