"""Concepts as they are handed on to what gives labels: true ones where they are shown, else the model's own.

One encoding holds from training to intervention. Soft: probabilities are handed on as they are. Hard: of every concept
only the likeliest value is handed on, and being told that very value changes nothing.
"""

from collections.abc import Sequence

import torch
from pydantic import Field
from torch import Tensor

from assay.models.core.losses import Supervision
from assay.models.core.neural import NeuralConfig


class ConceptConfig(NeuralConfig, Supervision):
    """What every model with a learned way from concepts to labels can set."""

    concept_weight: float = Field(1.0, ge=0)
    """The weight of the concepts beside the labels."""
    share: bool = True
    """Read concepts of one encoder group with one network."""
    hard: bool = False
    """Hand on only the likeliest value of each concept, not its probabilities."""


def harden(concepts: Sequence[Tensor]) -> list[Tensor]:
    """Return certainty of the likeliest value of each concept; gradients pass as if probabilities were handed on."""
    return [
        one_hot_like(probabilities.argmax(dim=1), probabilities) + (probabilities - probabilities.detach())
        for probabilities in concepts
    ]


def one_hot_like(codes: Tensor, like: Tensor) -> Tensor:
    """Return certainty of the codes, in the form of these probabilities."""
    return (codes[:, None] == torch.arange(like.shape[1], device=like.device)).to(like.dtype)


def insert_truth(codes: Tensor, mask: Tensor, otherwise: Sequence[Tensor]) -> list[Tensor]:
    """Return certainty of a concept's code where the mask says so, and the probabilities given otherwise elsewhere."""
    return [torch.where(mask[:, i, None], one_hot_like(codes[:, i], own), own) for i, own in enumerate(otherwise)]


def sample_mask(mask: Tensor, chance: float) -> Tensor:
    """Return the mask with each of its places kept by chance: what is intervened on in a step of training."""
    return mask & (torch.rand(mask.shape, device=mask.device) < chance)
