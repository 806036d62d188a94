"""Trained networks under intervention: labels from the label head alone, or from running the network again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array
from assay.contracts import EVERY, BottleneckModel, IntervenableModel, LinearHead, ModelOutput, override
from assay.models.core.encoder import ConceptEncoder, ReadPictures
from assay.models.core.feeds import Feed

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel, Outputs

WORK_RUN = 400_000
WORK_READ, WORK_READ_GPU = 4_000_000, 25_000_000
"""How many rows a policy may have answered by a network that is run again, or that has read the pictures before."""
AT_ONCE = 4096
CLOSE = 1e-4


def network_answerer(model: "NeuralModel", feed: Feed) -> IntervenableModel:
    """Return a network with the pictures of a split.

    They are encoded once, unless the network looks at them otherwise than by its encoder of concepts.
    """
    model.eval()
    outputs = _plain(model.probabilities(feed, {}))
    again = labels_given(model, outputs.concepts)
    if again is not None and _is_close(again, outputs.labels):
        return BottleneckModel(model.name, outputs.concepts, lambda x: labels_given(model, x) or [], _linear(model))
    read = _read(model, feed)
    if read is not None:
        once = ReadOnce(model, read, outputs)
        if _is_close(once.answer(EVERY, {}).labels, outputs.labels):
            return once
    return Rerun(model, feed, outputs)


def _is_close(again: list[Array], labels: list[Array]) -> bool:
    return all(np.abs(a - b).max() <= CLOSE for a, b in zip(again, labels, strict=True))


@torch.no_grad()
def _read(model: "NeuralModel", feed: Feed) -> ReadPictures | None:
    """Return what the encoder of a network reads off all pictures, if it has one encoder."""
    encoders = [module for module in model.modules() if isinstance(module, ConceptEncoder)]
    inner = {own for module in encoders for own in module.modules() if own is not module}
    outer = [module for module in encoders if module not in inner]
    if len(outer) != 1:
        return None
    chunks = [outer[0](images) for images in model.chunks(feed)]
    return ReadPictures([torch.cat(parts) for parts in zip(*chunks, strict=True)])


def labels_given(model: "NeuralModel", concepts: list[Array]) -> list[Array] | None:
    """Return the label probabilities that concept probabilities give, or None where they follow from more."""
    like = next(model.parameters(), torch.empty(0, device=model.device))
    with torch.no_grad():
        inputs = [torch.tensor(column, dtype=like.dtype, device=like.device) for column in concepts]
        labels = model.labels_from_concepts(inputs)
    return None if labels is None else [label.cpu().numpy() for label in labels]


@dataclass(frozen=True)
class Rerun:
    """A network whose labels follow from more than its concepts: it is run again for every intervention.

    A concept that is not intervened on is set to its own probabilities, which changes nothing.
    """

    model: "NeuralModel"
    feed: Feed
    own: ModelOutput
    soft: bool = True
    linear: LinearHead | None = None
    work: int = WORK_RUN

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def concepts(self) -> list[Array]:
        """The network's own probabilities."""
        return self.own.concepts

    def answer(self, rows: Array | slice, given: Mapping[int, Array]) -> ModelOutput:
        """Run the network with concepts set."""
        do = _settings(self.own, rows, given, self.feed.device)
        return _plain(self.model.probabilities(self.feed.choose(rows), do))


@dataclass(frozen=True)
class ReadOnce:
    """A network whose labels follow from what its encoder reads: only what comes after that is run again."""

    model: "NeuralModel"
    read: ReadPictures
    own: ModelOutput
    soft: bool = True
    linear: LinearHead | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def work(self) -> int:
        """How many rows a policy may have answered: fewer where an answer takes a search."""
        whole = WORK_READ_GPU if self.model.device.type == "cuda" else WORK_READ
        return whole // self.model.answer_cost

    @property
    def concepts(self) -> list[Array]:
        """The network's own probabilities."""
        return self.own.concepts

    def answer(self, rows: Array | slice, given: Mapping[int, Array]) -> ModelOutput:
        """Run what comes after the encoder with concepts set."""
        do = _settings(self.own, rows, given, self.model.device)
        chosen = torch.arange(len(self.read), device=self.model.device)
        chosen = chosen[rows] if isinstance(rows, slice) else chosen[torch.from_numpy(np.asarray(rows))]
        chunks = (cast(Tensor, self.read.take(part)) for part in torch.split(chosen, AT_ONCE))
        return _plain(self.model.answer_chunks(chunks, do))


def _settings(
    own: ModelOutput, rows: Array | slice, given: Mapping[int, Array], device: torch.device
) -> dict[int, Tensor]:
    """Return what concepts are set to in rows, as tensors; a network's own probabilities where nothing is set."""
    settings = {place: override(own.concepts[place][rows], np.asarray(x)) for place, x in given.items()}
    return {place: torch.tensor(x, dtype=torch.float32, device=device) for place, x in settings.items()}


def _plain(outputs: "Outputs") -> ModelOutput:
    """Return what a network says as arrays; they leave a GPU together, which waits for each that leaves by itself."""
    labels, columns = len(outputs.labels), [*outputs.labels, *(outputs.concepts or [])]
    if len({column.dtype for column in columns}) > 1:
        arrays = [column.cpu().numpy() for column in columns]
    else:
        widths = [column.shape[1] for column in columns]
        arrays = np.split(torch.cat(columns, dim=1).cpu().numpy(), np.cumsum(widths)[:-1], axis=1)
    return ModelOutput(arrays[:labels], arrays[labels:])


def _linear(model: "NeuralModel") -> LinearHead | None:
    """Return the linear layer from soft concepts to labels as arrays, if that is what the model has."""
    layer = getattr(model, "linear", None)
    if not isinstance(layer, nn.Linear) or getattr(model.config, "hard", False):
        return None
    weights = layer.weight.detach().double().cpu().numpy().T
    sizes = tuple(len(label.values) for label in model.knowledge.labels)
    cuts = np.split(weights, np.cumsum(model.space.sizes)[:-1])
    return LinearHead(cuts, layer.bias.detach().double().cpu().numpy(), sizes)
