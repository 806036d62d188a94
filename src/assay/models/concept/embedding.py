"""Labels from an embedding: a network that is not trained, and a small one on top of it that is (rsbench's CLIP)."""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.base import ConfigError
from assay.models.backbones.build import FROZEN, HeadLayer, dense, frozen_backbone
from assay.models.concept.blackbox import BlackBox
from assay.models.core.inputs import ModelInput
from assay.models.core.settings import NeuralConfig
from assay.render import Box, Layout


class EmbeddingConfig(NeuralConfig):
    """Settings of the embedding; its backbone is never trained, and by default was not: a baseline for one that was."""

    hidden: list[int] = Field([256, 64], max_length=8)
    """The widths of the layers between the embedding and the labels."""
    parts: bool = True
    """Embed each part of the picture that shows concepts by itself, where the task says which parts there are."""


def parts_of(layout: Layout) -> tuple[Box, ...]:
    """Return the distinct parts of the picture that show concepts, if they are of one size, else the whole picture."""
    boxes = tuple(dict.fromkeys(layout.regions.values()))
    sizes = {(box.right - box.left, box.bottom - box.top) for box in boxes}
    return boxes if len(sizes) == 1 else (Box(0, 0, layout.width, layout.height),)


class Embedding(BlackBox):
    """Labels from features that are computed once."""

    name = "embedding"
    Config: ClassVar[type[NeuralConfig]] = EmbeddingConfig
    config: EmbeddingConfig
    default_backbone = "mlp"

    def build(self, backbone: str) -> None:
        """Make the embedding, the layers on top, and one linear layer for all labels."""
        whole = (Box(0, 0, self.layout.width, self.layout.height),)
        self.parts = parts_of(self.layout) if self.config.parts else whole
        part = self.parts[0]
        text = backbone if backbone.startswith(FROZEN) else FROZEN + backbone
        body = frozen_backbone(text, (self.layout.channels, part.bottom - part.top, part.right - part.left))
        self.body = body.network
        widths = [len(self.parts) * body.features, *self.config.hidden]
        self.layers = nn.Sequential(*dense(widths[0], widths[1:]))
        self.head = HeadLayer(widths[-1], sum(self.label_sizes))

    def fit_input(self, reads: ModelInput) -> None:
        """Refuse what is no picture."""
        raise ConfigError(f"model 'embedding' embeds pictures, not input={reads.kind}; blackbox reads sentences=FOLDER")

    def logits(self, pictures: Tensor) -> list[Tensor]:
        """Return the logits of each label."""
        cuts = [pictures[:, :, box.top : box.bottom, box.left : box.right] for box in self.parts]
        features = torch.cat(self.body(torch.cat(cuts)).chunk(len(cuts)), dim=1)
        return list(self.head(self.layers(features)).split(self.label_sizes, dim=1))
