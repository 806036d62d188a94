"""Trained networks under intervention: labels from running the network again, or only what comes after its encoder."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array
from assay.contracts import LinearHead, ModelOutput, override
from assay.models.core.encoder import ConceptEncoder, ReadPictures
from assay.models.core.feeds import Feed, PictureSource
from assay.models.core.tensors import Outputs

WORK_RUN = 400_000
WORK_READ, WORK_READ_GPU = 4_000_000, 25_000_000
"""How many rows a policy may have answered by a network that is run again, or that has read the pictures before."""
AT_ONCE = 4096
CLOSE = 1e-4


@dataclass(frozen=True)
class Rerun:
    """A network whose labels follow from more than its concepts: it is run again for every intervention.

    A concept that is not intervened on is set to its own probabilities, which changes nothing.
    """

    name: str
    probabilities: Callable[[PictureSource, Mapping[int, Tensor]], Outputs]
    """The network's probabilities for pictures, with concepts set."""
    feed: Feed
    own: ModelOutput
    soft: bool = True
    linear: LinearHead | None = None
    work: int = WORK_RUN

    @property
    def concepts(self) -> list[Array]:
        """The network's own probabilities."""
        return self.own.concepts

    def answer(self, rows: Array | slice, given: Mapping[int, Array]) -> ModelOutput:
        """Run the network with concepts set."""
        do = _settings(self.own, rows, given, self.feed.device)
        return to_arrays(self.probabilities(self.feed.choose(rows), do))


@dataclass(frozen=True)
class ReadOnce:
    """A network whose labels follow from what its encoder reads: only what comes after that is run again."""

    name: str
    answer_chunks: Callable[[Iterable[Tensor], Mapping[int, Tensor]], Outputs]
    """The network's probabilities for chunks of what its encoder has read, with concepts set."""
    read: ReadPictures
    own: ModelOutput
    device: torch.device
    cost: int
    """How many times the work of a label head an answer takes."""
    soft: bool = True
    linear: LinearHead | None = None

    @property
    def work(self) -> int:
        """How many rows a policy may have answered: fewer where an answer takes a search."""
        return (WORK_READ_GPU if self.device.type == "cuda" else WORK_READ) // self.cost

    @property
    def concepts(self) -> list[Array]:
        """The network's own probabilities."""
        return self.own.concepts

    def answer(self, rows: Array | slice, given: Mapping[int, Array]) -> ModelOutput:
        """Run what comes after the encoder with concepts set."""
        do = _settings(self.own, rows, given, self.device)
        chosen = torch.arange(len(self.read), device=self.device)
        chosen = chosen[rows] if isinstance(rows, slice) else chosen[torch.from_numpy(np.asarray(rows))]
        chunks = (cast(Tensor, self.read.take(part)) for part in torch.split(chosen, AT_ONCE))
        return to_arrays(self.answer_chunks(chunks, do))


def _settings(
    own: ModelOutput, rows: Array | slice, given: Mapping[int, Array], device: torch.device
) -> dict[int, Tensor]:
    """Return what concepts are set to in rows, as tensors; a network's own probabilities where nothing is set."""
    settings = {place: override(own.concepts[place][rows], np.asarray(x)) for place, x in given.items()}
    return {place: torch.tensor(x, dtype=torch.float32, device=device) for place, x in settings.items()}


def only_encoder(network: nn.Module) -> ConceptEncoder | None:
    """Return the encoder of a network, if it has one; an encoder of subconcepts inside of it does not count."""
    encoders = [module for module in network.modules() if isinstance(module, ConceptEncoder)]
    inner = {own for module in encoders for own in module.modules() if own is not module}
    outer = [module for module in encoders if module not in inner]
    return outer[0] if len(outer) == 1 else None


def are_close(again: list[Array], labels: list[Array]) -> bool:
    """Return whether labels that were answered in another way are the same."""
    return all(np.abs(a - b).max() <= CLOSE for a, b in zip(again, labels, strict=True))


def to_arrays(outputs: Outputs) -> ModelOutput:
    """Return what a network says as arrays; they leave a GPU together, which waits for each that leaves by itself."""
    labels, columns = len(outputs.labels), [*outputs.labels, *(outputs.concepts or [])]
    if len({column.dtype for column in columns}) > 1:
        arrays = [column.cpu().numpy() for column in columns]
    else:
        widths = [column.shape[1] for column in columns]
        arrays = np.split(torch.cat(columns, dim=1).cpu().numpy(), np.cumsum(widths)[:-1], axis=1)
    return ModelOutput(arrays[:labels], arrays[labels:])


def linear_head(layer: nn.Linear, sizes: tuple[int, ...], label_sizes: tuple[int, ...]) -> LinearHead:
    """Return the layer from the probabilities of concepts to the logits of labels as arrays."""
    weights = layer.weight.detach().double().cpu().numpy().T
    cuts = np.split(weights, np.cumsum(sizes)[:-1])
    return LinearHead(cuts, layer.bias.detach().double().cpu().numpy(), label_sizes)
