"""The black box: a network from the whole picture to the labels."""

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor

from assay.models.backbones.build import HeadLayer, build_backbone
from assay.models.core.network import NeuralModel
from assay.models.core.settings import NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import Annotations, Outputs, label_loss, softmax_each


class BlackBox(NeuralModel):
    """Labels without concepts."""

    name = "blackbox"
    role = "label"
    has_concepts = False
    can_intervene = False
    Config: ClassVar[type[NeuralConfig]] = NeuralConfig

    def build(self, backbone: str) -> None:
        """Make the backbone and one linear layer for all labels."""
        body = build_backbone(backbone, (self.layout.channels, self.layout.height, self.layout.width))
        self.body = body.network
        self.head = HeadLayer(body.features, sum(self.label_sizes))

    def logits(self, pictures: Tensor) -> list[Tensor]:
        """Return the logits of each label."""
        return list(self.head(self.body(pictures)).split(self.label_sizes, dim=1))

    def phases(self, data: Annotations) -> list[Phase]:
        """Return one phase: the cross-entropy of the labels."""
        return [Phase("labels", list(self.parameters()), lambda b: label_loss(self.logits(b.pictures), b.labels))]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the label probabilities."""
        return Outputs(softmax_each(self.logits(pictures)))
