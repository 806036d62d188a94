"""The concept bottleneck: concepts from the picture, labels from the concepts by a label head, learned or given."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from assay.base import ConfigError
from assay.models.concept.heads import GivenHead, HeadKind, harden, insert_truth, label_head
from assay.models.core.network import ConceptModel
from assay.models.core.settings import ConceptConfig, NeuralConfig, PerceptionConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    label_loss,
    one_hot_like,
    softmax_each,
)

ONE_IN_A_MILLION = 1e-6


class CBMConfig(ConceptConfig, PerceptionConfig):
    """Settings of the bottleneck."""

    mode: Literal["joint", "sequential", "independent"] = "joint"
    """`joint`: all at once. `sequential`: concepts, then the head on predicted concepts. `independent`: the head on
    true concepts. With perception only the head is learned, on perceived or else on true concepts."""
    head: HeadKind = "linear"
    """`linear` (with softmax on top: logistic regression), `log-linear` (the same on log probabilities, among whose
    functions are products such as "all are true"), `mlp`, `rule` (the knowledge itself, exactly) or `and` (true where
    all concepts are)."""
    hidden: list[int] = [64]
    """The widths of the hidden layers of an `mlp`."""
    reads: Literal["probabilities", "logits"] = "probabilities"
    """What a learned head gets of each concept: the probabilities of its values, or their logarithms (at least those of
    one in a million), as rsbench's bottlenecks do."""
    softmax_twice: bool = False
    """Train on the softmax of the labels' probabilities instead of on these, as rsbench's released bottlenecks do."""
    missing: Literal["predicted", "frequency"] = "predicted"
    """What an independent head gets for a concept that is missing: what the encoder predicts, or how frequent its
    values are among the annotated ones."""


class CBM(ConceptModel):
    """Concepts first, then labels; which concepts are supervised is set by `supervised_*`."""

    name = "cbm"
    Config: ClassVar[type[NeuralConfig]] = CBMConfig
    config: CBMConfig
    why_pictures: ClassVar[str | None] = None

    def build(self, backbone: str) -> None:
        """Make the encoder and the head."""
        self.encoder = self.make_encoder(backbone)
        self.head = label_head(self.config.head, self.knowledge, self.config.hidden)
        if self.config.reads == "logits" and isinstance(self.head, GivenHead):
            raise ConfigError(f"reads: a head that is given ({self.config.head!r}) reads probabilities, not logits")

    @property
    def linear(self) -> nn.Linear | None:
        """The layer that gives label logits from concept probabilities side by side, if the head is linear."""
        only = self.head[0] if isinstance(self.head, nn.Sequential) and len(self.head) == 1 else None
        return only if isinstance(only, nn.Linear) else None

    def labels_from(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return label logits from concept probabilities."""
        inputs = torch.cat(harden(concepts) if self.config.hard else concepts, dim=1)
        if self.config.reads == "logits":
            inputs = inputs.clamp(min=ONE_IN_A_MILLION).log()
        return list(self.head(inputs).split(self.label_sizes, dim=1))

    def label_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return the cross-entropy of the labels, as the settings say."""
        return label_loss(softmax_each(logits) if self.config.softmax_twice else logits, labels)

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the label probabilities that the head gives."""
        return softmax_each(self.labels_from(concepts))

    def predict_concepts(self, batch: Batch) -> list[Tensor]:
        """Return the concepts that the trained encoder predicts: without dropout, as in use."""
        self.encoder.eval()
        with torch.no_grad():
            return softmax_each(self.encoder(batch.pictures))

    def phases(self, data: Annotations) -> list[Phase]:
        """Return the phases of the chosen mode."""
        mask = self.supervision(data)

        def only_concepts(batch: Batch) -> Tensor:
            return concept_loss(self.encoder(batch.pictures), batch.concepts, mask[batch.rows])

        def joint(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            labels = self.labels_from(softmax_each(logits))
            concepts = concept_loss(logits, batch.concepts, mask[batch.rows])
            return self.label_loss(labels, batch.labels) + self.config.concept_weight * concepts

        def head_on_predictions(batch: Batch) -> Tensor:
            return self.label_loss(self.labels_from(self.predict_concepts(batch)), batch.labels)

        if self.config.mode == "joint" and self.perception is None:
            return [Phase("joint", list(self.parameters()), joint)]
        first = Phase("concepts", list(self.encoder.parameters()), only_concepts, "concepts")
        if self.config.mode != "independent":
            return [first, Phase("labels", list(self.head.parameters()), head_on_predictions)]
        return [first, Phase("labels", list(self.head.parameters()), self._head_on_truth(data, mask), "intervened")]

    def _head_on_truth(self, data: Annotations, mask: Tensor) -> Callable[[Batch], Tensor]:
        """Return the loss of a head on true concepts, and for missing ones on what `missing` names."""
        sizes = self.space.sizes
        frequencies = [_frequencies(data.concepts[:, i], mask[:, i], size) for i, size in enumerate(sizes)]
        whole = bool(mask.all())  # then pictures are not looked at

        def loss(batch: Batch) -> Tensor:
            if whole or self.config.missing == "frequency":
                otherwise = [share.expand(len(batch), -1) for share in frequencies]
            else:
                otherwise = self.predict_concepts(batch)
            inputs = insert_truth(batch.concepts, mask[batch.rows], otherwise)
            return self.label_loss(self.labels_from(inputs), batch.labels)

        return loss

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` as given, and the label probabilities that follow."""
        concepts = apply_interventions(softmax_each(self.encoder(pictures)), do)
        return Outputs(self.labels_from_concepts(concepts), concepts)


def _frequencies(codes: Tensor, mask: Tensor, size: int) -> Tensor:
    """Return the share of each value among the supervised examples; all are alike where there are none."""
    counts = (one_hot_like(codes, torch.zeros(1, size, device=codes.device)) * mask[:, None]).sum(dim=0) + 1e-6
    return counts / counts.sum()
