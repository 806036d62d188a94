"""Trained networks under intervention: labels from the label head alone, or from running the network again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from assay.arrays import Array
from assay.diagnosis.interventions.intervenable import BottleneckModel, IntervenableModel, ModelOutput, Rows, override
from assay.diagnosis.interventions.label_heads import LinearHead
from assay.models.core.feeds import Feed

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel, Outputs

WORK_RUN = 400_000
CLOSE = 1e-4


def network_answerer(model: "NeuralModel", feed: Feed) -> IntervenableModel:
    """Return a network with the pictures of a split; they are encoded once where labels follow from concepts alone."""
    model.eval()
    outputs = _plain(model.probabilities(feed, {}))
    again = labels_given(model, outputs.concepts)
    if again is not None and all(np.abs(a - b).max() <= CLOSE for a, b in zip(again, outputs.labels, strict=True)):
        return BottleneckModel(model.name, outputs.concepts, lambda x: labels_given(model, x) or [], _linear(model))
    return Rerun(model, feed, outputs)


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

    def answer(self, rows: Rows, given: Mapping[int, Array]) -> ModelOutput:
        """Run the network with concepts set."""
        device = self.feed.device
        settings = {place: override(self.own.concepts[place][rows], np.asarray(x)) for place, x in given.items()}
        do = {place: torch.tensor(x, dtype=torch.float32, device=device) for place, x in settings.items()}
        return _plain(self.model.probabilities(self.feed.choose(rows), do))


def _plain(outputs: "Outputs") -> ModelOutput:
    """Return what a network says as arrays."""
    return ModelOutput([p.cpu().numpy() for p in outputs.labels], [p.cpu().numpy() for p in outputs.concepts or []])


def _linear(model: "NeuralModel") -> LinearHead | None:
    """Return the linear layer from soft concepts to labels as arrays, if that is what the model has."""
    layer = getattr(model, "linear", None)
    if not isinstance(layer, nn.Linear) or getattr(model.config, "hard", False):
        return None
    weights = layer.weight.detach().double().cpu().numpy().T
    sizes = tuple(len(label.values) for label in model.knowledge.labels)
    cuts = np.split(weights, np.cumsum(model.space.sizes)[:-1])
    return LinearHead(cuts, layer.bias.detach().double().cpu().numpy(), sizes)
