"""The probabilistic model: concepts from the picture, labels from the concepts by the rule, exactly.

What DeepProbLog does for a rule over independent concepts: the probability of a label is the sum over the worlds that
give it. Here it is one sweep over the rule's decision diagram.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from assay.models.circuit import RuleLayer
from assay.models.encoder import ConceptEncoder
from assay.models.losses import Supervision, concept_loss, entropy_loss, outcome_loss, supervision_mask
from assay.models.neural import NeuralConfig, NeuralModel, Outputs, intervened
from assay.models.tensors import Batch
from assay.models.training import Phase


class ProbabilisticConfig(NeuralConfig, Supervision):
    """Settings of the probabilistic model; by default it is shown no concepts, only labels."""

    concept_weight: float = Field(0.0, ge=0)
    """The weight of concept supervision."""
    entropy_weight: float = Field(0.0, ge=0)
    """The weight of the entropy of the average concepts, which works against collapse."""
    share: bool = True
    """Read concepts of one encoder group with one network."""


class Probabilistic(NeuralModel):
    """Concepts that are learned through the rule."""

    name = "dpl"
    role = "concept"
    has_concepts = True
    can_intervene = True
    Config: ClassVar[type[NeuralConfig]] = ProbabilisticConfig
    config: ProbabilisticConfig
    default_backbone = "conv-stride"

    def build(self, backbone: str) -> None:
        """Make the encoder and the rule."""
        self.encoder = ConceptEncoder(self.space, self.layout, backbone, self.config.share)
        self.rule = RuleLayer(self.knowledge)

    def phases(self, data: Batch) -> list[Phase]:
        """Return one phase: the likelihood of the joint labels, and what else is weighted in."""
        mask = supervision_mask(self.config, self.space, data, self.seed)
        outcomes = torch.from_numpy(self.rule.outcome_numbers(data.labels.cpu().numpy())).to(data.images.device)
        groups = [[self.space.place(name) for name in group.concepts] for group in self.space.encoders]

        def loss(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            concepts = [one.softmax(dim=1) for one in logits]
            total = outcome_loss(self.rule(concepts), outcomes[batch.rows])
            if self.config.entropy_weight:
                total = total + self.config.entropy_weight * entropy_loss(concepts, groups)
            if self.config.concept_weight:
                total = total + self.config.concept_weight * concept_loss(logits, batch.concepts, mask[batch.rows])
            return total

        return [Phase("rule", list(self.parameters()), loss)]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` certain, and the label probabilities that the rule gives."""
        concepts = intervened([one.softmax(dim=1) for one in self.encoder(pictures)], do)
        return Outputs(self.rule.marginals(self.rule(concepts)), concepts)
