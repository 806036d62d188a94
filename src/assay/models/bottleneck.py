"""The concept bottleneck: concepts from the picture, labels from the concepts by a head that is learned."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.models.encoder import ConceptEncoder
from assay.models.losses import Supervision, concept_loss, label_loss, supervision_mask
from assay.models.neural import NeuralConfig, NeuralModel, Outputs, intervened
from assay.models.tensors import Batch
from assay.models.training import Phase


class BottleneckConfig(NeuralConfig, Supervision):
    """Settings of the bottleneck."""

    mode: Literal["joint", "sequential", "independent"] = "joint"
    """`joint`: all at once. `sequential`: concepts, then the head on predicted concepts. `independent`: the head on
    true concepts."""
    head: Literal["linear", "mlp"] = "linear"
    concept_weight: float = Field(1.0, ge=0)
    """The weight of the concepts beside the labels, in `joint`."""
    share: bool = True
    """Read concepts of one encoder group with one network."""


class Bottleneck(NeuralModel):
    """Concepts first, then labels; where concepts are shown is set by `supervised_*`."""

    name = "cbm"
    role = "concept"
    has_concepts = True
    can_intervene = True
    Config: ClassVar[type[NeuralConfig]] = BottleneckConfig
    config: BottleneckConfig
    default_backbone = "conv-stride"

    def build(self, backbone: str) -> None:
        """Make the encoder and the head."""
        self.encoder = ConceptEncoder(self.space, self.layout, backbone, self.config.share)
        self.sizes = [len(label.values) for label in self.knowledge.labels]
        inputs, outputs = sum(self.space.sizes), sum(self.sizes)
        hidden = [nn.Linear(inputs, 64), nn.ReLU()] if self.config.head == "mlp" else []
        self.head = nn.Sequential(*hidden, nn.Linear(64 if hidden else inputs, outputs))

    def labels_from(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return label logits from concept probabilities."""
        return list(self.head(torch.cat(concepts, dim=1)).split(self.sizes, dim=1))

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the label probabilities that the head gives."""
        return [one.softmax(dim=1) for one in self.labels_from(concepts)]

    def phases(self, data: Batch) -> list[Phase]:
        """Return the phases of the chosen mode."""
        mask = supervision_mask(self.config, self.space, data, self.seed)

        def concepts(batch: Batch) -> Tensor:
            return concept_loss(self.encoder(batch.pictures), batch.concepts, mask[batch.rows])

        def joint(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            labels = self.labels_from([one.softmax(dim=1) for one in logits])
            weight = self.config.concept_weight
            return label_loss(labels, batch.labels) + weight * concept_loss(logits, batch.concepts, mask[batch.rows])

        def head_on_predictions(batch: Batch) -> Tensor:
            self.encoder.eval()  # it is learned by now: the head sees what it will see in use, without dropout
            with torch.no_grad():
                spread = [one.softmax(dim=1) for one in self.encoder(batch.pictures)]
            return label_loss(self.labels_from(spread), batch.labels)

        def head_on_truth(batch: Batch) -> Tensor:
            columns = enumerate(self.space.sizes)
            truth = [F.one_hot(batch.concepts[:, i], size).float() for i, size in columns]
            return label_loss(self.labels_from(truth), batch.labels)

        if self.config.mode == "joint":
            return [Phase("joint", list(self.parameters()), joint)]
        head = head_on_truth if self.config.mode == "independent" else head_on_predictions
        return [
            Phase("concepts", list(self.encoder.parameters()), concepts, "concepts"),
            Phase("labels", list(self.head.parameters()), head),
        ]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` certain, and the label probabilities that follow."""
        concepts = intervened([one.softmax(dim=1) for one in self.encoder(pictures)], do)
        return Outputs(self.labels_from_concepts(concepts), concepts)
