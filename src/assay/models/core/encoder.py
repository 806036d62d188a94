"""The concept encoder: from pictures to the logits of every concept, one network for each encoder group."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from assay.concepts import ConceptSpace, EncoderGroup
from assay.models.backbones.build import build_backbone
from assay.render.picture import Box, Layout

CONTEXT = 64
SMALLEST = 1e-12


@dataclass(frozen=True)
class EncoderView:
    """What one network looks at: the concepts it reads, each in its own part of the picture, or all in the whole."""

    concepts: tuple[str, ...]
    boxes: tuple[Box, ...] = ()


def encoder_views(space: ConceptSpace, layout: Layout, share: bool = True) -> list[EncoderView]:
    """Return a view for each encoder group whose concepts have regions, and one for all concepts that have none.

    Without sharing, each concept has a view of its own.
    """
    groups = space.encoders if share else tuple(EncoderGroup(name, (name,)) for name in space.names)
    views = []
    whole: list[str] = []
    for group in groups:
        boxes = tuple(layout.regions[name] for name in group.concepts if name in layout.regions)
        sizes = {(box.right - box.left, box.bottom - box.top) for box in boxes}
        if len(boxes) == len(group.concepts) and len(sizes) == 1:
            views.append(EncoderView(group.concepts, boxes))
        else:
            whole += group.concepts
    return [*views, EncoderView(tuple(whole))] if whole else views


class Reader(nn.Module):
    """The network of one view, which gives so many numbers for each concept."""

    def __init__(self, view: EncoderView, widths: Mapping[str, int], layout: Layout, backbone: str) -> None:
        super().__init__()
        self.view = view
        self.sizes = [widths[name] for name in view.concepts]
        box = view.boxes[0] if view.boxes else Box(0, 0, layout.width, layout.height)
        body = build_backbone(backbone, (layout.channels, box.bottom - box.top, box.right - box.left))
        self.body = body.network
        self.head = nn.Linear(body.features, self.sizes[0] if view.boxes else sum(self.sizes))

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the numbers of each concept of the view."""
        if not self.view.boxes:
            return list(self.head(self.body(images)).split(self.sizes, dim=1))
        cuts = [images[:, :, box.top : box.bottom, box.left : box.right] for box in self.view.boxes]
        logits = self.head(self.body(torch.cat(cuts)))
        return list(logits.chunk(len(cuts)))


class ConceptEncoder(nn.Module):
    """All readers together: logits of each concept, or as many numbers for it as `widths` says.

    Concepts of one encoder group must have one width.
    """

    def __init__(
        self,
        space: ConceptSpace,
        layout: Layout,
        backbone: str,
        share: bool = True,
        widths: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        self.names = space.names
        wide = widths or {concept.name: len(concept.values) for concept in space.concepts}
        self.widths = [wide[name] for name in space.names]
        views = encoder_views(space, layout, share)
        self.readers = nn.ModuleList(Reader(view, wide, layout, backbone) for view in views)
        self.parts = len(views) > 1 or bool(views[0].boxes)
        """Whether concepts are read off parts of the picture, or by several networks."""

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the numbers of each concept, in the order of the space."""
        outputs: dict[str, Tensor] = {}
        for reader in self.readers:
            assert isinstance(reader, Reader)
            outputs.update(zip(reader.view.concepts, reader(images), strict=True))
        return [outputs[name] for name in self.names]


class PerceivedConcepts(nn.Module):
    """In place of an encoder, where another model perceives: its concept probabilities come in, as logits they go out.

    Nothing is trained.
    """

    def __init__(self, space: ConceptSpace) -> None:
        super().__init__()
        self.sizes = list(space.sizes)

    def forward(self, probabilities: Tensor) -> list[Tensor]:
        """Return the logits of each concept, whose softmax is what came in."""
        return list(torch.split(probabilities.clamp(min=SMALLEST).log(), self.sizes, dim=1))


class Context(nn.Module):
    """Adds to what is read of each concept something of what is read of all: where each is read off its own part of the
    picture, embeddings know no more of the rest than this.
    """

    def __init__(self, encoder: ConceptEncoder) -> None:
        super().__init__()
        self.widths = encoder.widths if encoder.parts else []
        total = sum(self.widths)
        layers = [nn.Linear(total, CONTEXT), nn.LeakyReLU(), nn.Linear(CONTEXT, total)] if self.widths else []
        self.network = nn.Sequential(*layers)

    def forward(self, read: list[Tensor]) -> list[Tensor]:
        """Return as many numbers for each concept."""
        if not self.widths:
            return read
        more = torch.split(self.network(torch.cat(read, dim=1)), self.widths, dim=1)
        return [own + other for own, other in zip(read, more, strict=True)]
