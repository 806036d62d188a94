"""Trained networks as models that interventions can ask: through their way from concepts to labels, or run again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from assay.arrays import Array
from assay.diagnosis.interventions.intervenable import BottleneckModel, IntervenableModel, ModelOutput, Rows, override
from assay.diagnosis.interventions.label_heads import LinearHead

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel, Outputs

WORK_RUN = 400_000
CLOSE = 1e-4


def network_answerer(model: "NeuralModel", images: Tensor) -> IntervenableModel:
    """Return a network with pictures of bytes; these are read once where labels follow from concepts alone."""
    model.eval()
    told = _plain(model.probabilities(images, {}))
    again = labels_given(model, told.concepts)
    if again is not None and all(np.abs(a - b).max() <= CLOSE for a, b in zip(again, told.labels, strict=True)):
        return BottleneckModel(model.name, told.concepts, _Front(model), _linear(model))
    return Rerun(model, images, told)


def labels_given(model: "NeuralModel", concepts: list[Array]) -> list[Array] | None:
    """Return the label probabilities that concept probabilities give, or None where they follow from more."""
    like = next(model.parameters())
    with torch.no_grad():
        told = [torch.tensor(spread, dtype=like.dtype, device=like.device) for spread in concepts]
        found = model.labels_from_concepts(told)
    return None if found is None else [one.cpu().numpy() for one in found]


@dataclass(frozen=True)
class _Front:
    """The way from concepts to labels of a network that has one."""

    model: "NeuralModel"

    def __call__(self, concepts: list[Array]) -> list[Array]:
        return labels_given(self.model, concepts) or []


@dataclass(frozen=True)
class Rerun:
    """A network whose labels follow from more than its concepts: it is run again for every question.

    A concept that nothing is said of is handed its own probabilities, which the network takes as nothing said.
    """

    model: "NeuralModel"
    images: Tensor
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

    def answer(self, rows: Rows, given: Mapping[int, Array]) -> ModelOutput:
        """Run the network with concepts set."""
        device = self.images.device
        settings = {p: override(self.own.concepts[p][rows], np.asarray(spread)) for p, spread in given.items()}
        do = {place: torch.tensor(spread, dtype=torch.float32, device=device) for place, spread in settings.items()}
        images = self.images[rows] if isinstance(rows, slice) else self.images[torch.from_numpy(rows).to(device)]
        return _plain(self.model.probabilities(images, do))


def _plain(found: "Outputs") -> ModelOutput:
    """Return what a network says as arrays."""
    return ModelOutput([one.cpu().numpy() for one in found.labels], [one.cpu().numpy() for one in found.concepts or []])


def _linear(model: "NeuralModel") -> LinearHead | None:
    """Return the linear layer from soft concepts to labels as arrays, if that is what the model has."""
    layer = getattr(model, "linear", None)
    if not isinstance(layer, nn.Linear) or getattr(model.config, "hard", False):
        return None
    weights = layer.weight.detach().double().cpu().numpy().T
    sizes = tuple(len(label.values) for label in model.knowledge.labels)
    cuts = np.split(weights, np.cumsum(model.space.sizes)[:-1])
    return LinearHead(cuts, layer.bias.detach().double().cpu().numpy(), sizes)
