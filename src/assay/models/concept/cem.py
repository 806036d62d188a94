"""Concept embeddings (CEM): each value of a concept has an embedding, read off the picture; labels follow from the mix.

After Espinosa Zarlenga et al. (2022). Of a concept with k values k embeddings are read, a scorer that all such concepts
share says how probable each value is, and the label is a linear function of the embeddings, each concept's mixed by its
probabilities. In training some concepts are mixed by the truth instead, so that the model learns to take interventions.
To intervene is to mix by what is given; the embeddings stay those of the picture, which is why labels follow from more
than the concepts.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.models.concept.heads import DrawnFor, harden, insert_truth, sample_mask
from assay.models.core.encoder import ConceptEncoder, Context
from assay.models.core.network import ConceptModel
from assay.models.core.settings import ConceptConfig, NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    label_loss,
    softmax_each,
)


class EmbeddedConcepts(nn.Module):
    """From pictures to the embeddings of each concept's values, and how probable they are, as logits."""

    def __init__(self, encoder: ConceptEncoder, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        self.sizes = list(sizes)
        self.encoder = encoder
        self.context = Context(self.encoder)
        self.scorers = nn.ModuleDict({str(size): nn.Linear(size * width, size) for size in sorted(set(self.sizes))})

    def forward(self, pictures: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return for each concept its embeddings (examples x values x width) and its logits."""
        read = self.encoder(pictures)
        logits = [
            self.scorers[str(size)](F.leaky_relu(features)) for size, features in zip(self.sizes, read, strict=True)
        ]
        wide = [F.leaky_relu(features) for features in self.context(read)]
        return [
            features.reshape(len(features), size, features.shape[1] // size)
            for size, features in zip(self.sizes, wide, strict=True)
        ], logits


def mix_embeddings(embeddings: Sequence[Tensor], concepts: Sequence[Tensor]) -> Tensor:
    """Return the embeddings of each concept, mixed by its probabilities: examples x concepts x width."""
    pairs = zip(embeddings, concepts, strict=True)
    return torch.stack([(values * probabilities[:, :, None]).sum(dim=1) for values, probabilities in pairs], dim=1)


class CEMConfig(ConceptConfig):
    """Settings of concept embeddings; defaults as in the concept benchmark's Table 7."""

    width: int = Field(16, ge=1)
    """The length of an embedding."""
    intervention_chance: float = Field(0.25, ge=0, le=1)
    """The probability that a supervised concept is mixed by its true value in training."""
    intervened_by: DrawnFor = "example"
    """Whether these concepts are drawn for each example or, as in the authors' code, once for a batch."""
    weight_decay: float = Field(4e-5, ge=0)


class CEM(ConceptModel):
    """Labels from embeddings of concepts."""

    name = "cem"
    Config: ClassVar[type[NeuralConfig]] = CEMConfig
    config: CEMConfig

    def build(self, backbone: str) -> None:
        """Make what reads embeddings, and the linear layer on top."""
        config = self.config
        widths = {concept.name: len(concept.values) * config.width for concept in self.space.concepts}
        self.embedded = EmbeddedConcepts(self.read_encoder(backbone, widths), self.space.sizes, config.width)
        self.head = nn.Linear(len(self.space) * config.width, sum(self.label_sizes))

    def labels_from(self, embeddings: list[Tensor], concepts: list[Tensor]) -> list[Tensor]:
        """Return label logits from embeddings and concept probabilities."""
        inputs = harden(concepts) if self.config.hard else concepts
        return list(self.head(mix_embeddings(embeddings, inputs).flatten(1)).split(self.label_sizes, dim=1))

    def phases(self, data: Annotations) -> list[Phase]:
        """Return one phase: labels and concepts together."""
        mask = self.supervision(data)

        def loss(batch: Batch) -> Tensor:
            embeddings, logits = self.embedded(batch.pictures)
            known = mask[batch.rows]
            own = softmax_each(logits)
            intervened = sample_mask(known, self.config.intervention_chance, self.config.intervened_by)
            inputs = insert_truth(batch.concepts, intervened, own)
            labels = label_loss(self.labels_from(embeddings, inputs), batch.labels)
            return labels + self.config.concept_weight * concept_loss(logits, batch.concepts, known)

        return [Phase("joint", list(self.parameters()), loss, "all")]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` as given, and the label probabilities that follow."""
        embeddings, logits = self.embedded(pictures)
        concepts = apply_interventions(softmax_each(logits), do)
        return Outputs(softmax_each(self.labels_from(embeddings, concepts)), concepts)
