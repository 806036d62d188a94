"""The losses that models share."""

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from assay.base import Array, Codes, Config, ConfigError, Deck
from assay.dataset import SplitData
from assay.logic import ConceptSpace, Value
from assay.models.core.tensors import Annotations, to_annotations

if TYPE_CHECKING:
    from assay.models.core.model import Model

SMALLEST = 1e-12
SubconceptTraining = Literal["fixed", "tuned", "latent"]


class Supervision(Config):
    """Which concepts of which examples are supervised."""

    supervised_concepts: list[str] | None = None
    """Only these concepts; by default all."""
    supervised_values: list[Value] | None = None
    """Only where a concept has one of these values; by default all. The paper supervises digits 3, 4, 8 and 9."""
    supervised_share: float = Field(1.0, ge=0, le=1)
    """The share of examples whose concepts are supervised."""
    supervised_replay: int = Field(0, ge=0)
    """How many examples with supervised concepts, drawn at random, are added to every training batch: where few are
    supervised, most batches would have none."""
    subconcepts: SubconceptTraining = "fixed"
    """How finer concepts are learned where concepts are made of them, such as units of cells. `fixed`: a first phase
    trains their encoder on annotations, then it is frozen; `tuned`: it is trained further with the concepts;
    `latent`: they are not supervised, and learned through the concepts only."""


def supervision_mask(rules: Supervision, space: ConceptSpace, batch: Annotations, seed: int) -> Tensor:
    """Return which concepts are supervised (examples x concepts, true or false); never one that is missing."""
    _refuse_unknown(rules, space)
    mask = batch.concepts >= 0
    if rules.supervised_share < 1:
        size = len(batch)
        order: Array = Deck(size, seed, "supervision").deal(torch.arange(size).numpy())
        mask &= torch.from_numpy(order < rules.supervised_share * size).to(mask.device)[:, None]
    for place, concept in enumerate(space.concepts):
        if rules.supervised_concepts is not None and concept.name not in rules.supervised_concepts:
            mask[:, place] = False
        if rules.supervised_values is not None:
            codes = [code for code, value in enumerate(concept.values) if value in rules.supervised_values]
            allowed = torch.tensor(codes, device=mask.device, dtype=torch.long)
            mask[:, place] &= torch.isin(batch.concepts[:, place], allowed)
    return mask


def _refuse_unknown(rules: Supervision, space: ConceptSpace) -> None:
    """Refuse unknown concepts and values: a typo would silently leave the model without supervision."""
    for name in rules.supervised_concepts or []:
        space.concept(name)
    known = {value for concept in space.concepts for value in concept.values}
    for value in rules.supervised_values or []:
        if value not in known:
            raise ConfigError(f"supervised_values: no concept has the value {value!r}")


def concept_loss(logits: list[Tensor], concepts: Tensor, mask: Tensor) -> Tensor:
    """Return the mean cross-entropy of the supervised concepts; zero if there are none."""
    known = concepts.clamp(min=0)  # what is missing is masked
    losses = [F.cross_entropy(scores, known[:, i], reduction="none") for i, scores in enumerate(logits)]
    supervised = torch.stack(losses, dim=1) * mask
    return supervised.sum() / mask.sum().clamp(min=1)


def label_loss(logits: list[Tensor], labels: Tensor) -> Tensor:
    """Return the cross-entropy of the labels, averaged over labels."""
    losses = [F.cross_entropy(scores, labels[:, i]) for i, scores in enumerate(logits)]
    return losses[0] if len(losses) == 1 else torch.stack(losses).mean()


def entropy_loss(concepts: list[Tensor], groups: list[list[int]]) -> Tensor:
    """Return 1 - the entropy of the average concept distribution of each encoder group, as a share of its greatest."""
    losses = []
    for columns in groups:
        average = torch.cat([concepts[i] for i in columns]).mean(dim=0)
        entropy = -(average * average.clamp(min=SMALLEST).log()).sum()
        losses.append(1 - entropy / math.log(max(2, len(average))))  # a concept of one value has no entropy
    return torch.stack(losses).mean()


def supervised_labels(model: "Model", data: SplitData) -> Codes:
    """Return the concept labels of a training split that a model learns from: codes, -1 where it sees none."""
    config, given = model.config, data.given_concepts
    if not isinstance(config, Supervision) or not getattr(config, "concept_weight", 0):
        return np.full(given.shape, -1)
    mask = supervision_mask(config, model.space, to_annotations(data, torch.device("cpu")), model.seed)
    return np.asarray(np.where(mask.numpy(), given, -1))
