"""Trained networks under intervention: labels from running the network again, or only what comes after its encoder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array
from assay.contracts import LinearHead, ModelOutput, override
from assay.models.core.encoder import ConceptEncoder
from assay.models.core.tensors import Outputs

WORK_RUN = 400_000
WORK_READ, WORK_READ_GPU = 4_000_000, 25_000_000
"""How many rows a policy may have answered by a network that is run again, or that has read the pictures before."""
CLOSE = 1e-4


@dataclass(frozen=True)
class NetworkAnswers:
    """A network whose labels follow from more than its concepts: it is run again for every intervention.

    A concept that is not intervened on is set to its own probabilities, which changes nothing.
    """

    name: str
    own: ModelOutput
    """What it answers without interventions."""
    run: Callable[[Array | slice, Mapping[int, Tensor]], Outputs]
    """Its probabilities for some rows, with concepts set."""
    device: torch.device
    work: int
    """How many rows a policy may have answered."""
    soft: bool = True
    linear: LinearHead | None = None

    @property
    def concepts(self) -> list[Array]:
        """The network's own probabilities."""
        return self.own.concepts

    def answer(self, rows: Array | slice, given: Mapping[int, Array]) -> ModelOutput:
        """Run the network with concepts set."""
        settings = {place: override(self.own.concepts[place][rows], np.asarray(x)) for place, x in given.items()}
        do = {place: torch.tensor(x, dtype=torch.float32, device=self.device) for place, x in settings.items()}
        return to_arrays(self.run(rows, do))


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
