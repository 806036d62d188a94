"""The concept encoder: from pictures to the logits of every concept.

By default there is one network for each encoder group (all shapes, all colours); or one for each concept; or one for
objects, which reads all attributes of an object off its part of the picture, as the published networks for Kand-Logic.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, ConfigError
from assay.logic import ConceptSpace, EncoderGroup, Knowledge
from assay.models.backbones.build import HeadLayer, build_backbone
from assay.models.core.circuit import SubconceptReader
from assay.models.core.settings import Sharing
from assay.render import Box, Layout

CONTEXT = 64
AT_ONCE = 4096
"""How many pictures that were read are answered at once."""
SMALLEST = 1e-12
MOST_WEIGHTS, RANK = 100_000_000, 512
"""How many weights the last layer of a reader may have, and the rank that it has where they would be more: embeddings
of every value of a chess board read off a whole picture are 490 million, which take 10 GB in training."""


@dataclass(frozen=True)
class EncoderView:
    """What one network looks at: the concepts it reads, each in its own part of the picture, or all in the whole.

    Where it reads several concepts off each part, those of one part follow one another.
    """

    concepts: tuple[str, ...]
    boxes: tuple[Box, ...] = ()


def encoder_views(
    space: ConceptSpace, layout: Layout, share: Sharing = True, without: Collection[str] = ()
) -> list[EncoderView]:
    """Return a view for each encoder group whose concepts have regions, and one for all concepts that have none.

    Without sharing, each concept has a view of its own. Those `without` are not read off the picture.
    """
    if isinstance(share, str):
        views = _object_views(space, layout)
        return [_crossed(view, space) for view in views] if share == "crossed" else views
    names = [tuple(name for name in group.concepts if name not in without) for group in space.encoders]
    groups = [EncoderGroup(group.name, own) for group, own in zip(space.encoders, names, strict=True) if own]
    if not share:
        groups = [EncoderGroup(name, (name,)) for name in space.names if name not in without]
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


def _object_views(space: ConceptSpace, layout: Layout) -> list[EncoderView]:
    """Return a view for each kind of objects, which sees one object at a time and reads all its attributes."""
    views = []
    for slots in space.kinds:
        parts = [{layout.regions.get(name) for name in slot.concepts} for slot in slots]
        boxes = tuple(box for part in parts for box in part if box is not None)
        if any(len(part) != 1 for part in parts) or len(boxes) < len(slots):
            raise ConfigError(f"share: objects: the pictures do not show {slots[0].name} in a part of its own")
        views.append(EncoderView(tuple(name for slot in slots for name in slot.concepts), boxes))
    if {name for view in views for name in view.concepts} != set(space.names):
        raise ConfigError("share: objects: the concepts are not all attributes of objects; set share=true")
    return views


def _head(features: int, outputs: int) -> nn.Module:
    """Return a linear layer from features to outputs; of low rank where it would have too many weights otherwise."""
    if features * outputs <= MOST_WEIGHTS:
        return HeadLayer(features, outputs)
    return nn.Sequential(HeadLayer(features, RANK), nn.Linear(RANK, outputs))


def _crossed(view: EncoderView, space: ConceptSpace) -> EncoderView:
    """Return the view with the concepts of each group of objects listed attribute by attribute: its parts stay."""
    own, names = set(view.concepts), []
    for slots in space.groups.values():
        members = [slot for slot in slots if set(slot.concepts) <= own]
        attributes = members[0].attributes if members else ()
        names += [slot.concept(attribute) for attribute in attributes for slot in members]
    if len({len(space.concept(name).values) for name in names}) > 1:
        raise ConfigError("share: crossed: the attributes of an object have different numbers of values")
    if [slot.name for slots in space.groups.values() for slot in slots] != [slot.name for slot in space.slots]:
        raise ConfigError("share: crossed: the objects of a group do not follow one another")
    return EncoderView(tuple(names), view.boxes)


class Reader(nn.Module):
    """The network of one view, which gives so many numbers for each concept."""

    def __init__(self, view: EncoderView, widths: Mapping[str, int], layout: Layout, backbone: str) -> None:
        super().__init__()
        self.view = view
        self.sizes = [widths[name] for name in view.concepts]
        box = view.boxes[0] if view.boxes else Box(0, 0, layout.width, layout.height)
        body = build_backbone(backbone, (layout.channels, box.bottom - box.top, box.right - box.left))
        self.body = body.network
        self.each = len(view.concepts) // max(1, len(view.boxes))
        """How many concepts are read off each part."""
        self.head = _head(body.features, sum(self.sizes[: self.each]) if view.boxes else sum(self.sizes))

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        """Return the numbers of each concept of the view."""
        if not self.view.boxes:
            outputs = list(self.head(self.body(images)).split(self.sizes, dim=1))
        else:
            cuts = [images[:, :, box.top : box.bottom, box.left : box.right] for box in self.view.boxes]
            outputs = list(self.head(self.body(torch.cat(cuts))).chunk(len(cuts)))
            if self.each > 1:
                outputs = [own for part in outputs for own in part.split(self.sizes[: self.each], dim=1)]
        return dict(zip(self.view.concepts, outputs, strict=True))


@dataclass(frozen=True)
class ReadPictures:
    """Pictures that an encoder has read already: its numbers of each concept."""

    numbers: list[Tensor]

    @classmethod
    def of(cls, chunks: list[list[Tensor]]) -> "ReadPictures":
        """Return what was read chunk by chunk."""
        return cls([torch.cat(parts) for parts in zip(*chunks, strict=True)])

    def __len__(self) -> int:
        return len(self.numbers[0])

    def chunks(self, rows: Array | slice) -> Iterator[Tensor]:
        """Yield some of them, so many at a time, in the place of pictures."""
        chosen = torch.arange(len(self), device=self.numbers[0].device)
        chosen = chosen[rows] if isinstance(rows, slice) else chosen[torch.from_numpy(np.asarray(rows))]
        for part in torch.split(chosen, AT_ONCE):
            yield cast(Tensor, ReadPictures([own[part] for own in self.numbers]))


class ConceptEncoder(nn.Module):
    """All readers together: logits of each concept, or as many numbers for it as `widths` says.

    Concepts of one encoder group must have one width. Concepts that are made of subconcepts follow from those.
    """

    def __init__(
        self,
        space: ConceptSpace,
        layout: Layout,
        backbone: str,
        share: Sharing = True,
        widths: Mapping[str, int] | None = None,
        subconcepts: Knowledge | None = None,
    ) -> None:
        super().__init__()
        self.names = space.names
        wide = widths or {concept.name: len(concept.values) for concept in space.concepts}
        self.widths = [wide[name] for name in space.names]
        views = encoder_views(space, layout, share, () if subconcepts is None else subconcepts.label_names)
        self.readers = nn.ModuleList(Reader(view, wide, layout, backbone) for view in views)
        if subconcepts is not None:
            finer = ConceptEncoder(subconcepts.space, layout, backbone, share)
            self.readers.append(SubconceptReader(finer, subconcepts, space, widths or {}))
        self.parts = len(self.readers) > 1 or not views or bool(views[0].boxes)
        """Whether concepts are read off parts of the picture, or by several networks."""

    def forward(self, images: Tensor | ReadPictures) -> list[Tensor]:
        """Return the numbers of each concept, in the order of the space."""
        if isinstance(images, ReadPictures):
            return images.numbers
        outputs: dict[str, Tensor] = {}
        for reader in self.readers:
            outputs.update(reader(images))
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
