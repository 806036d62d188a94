"""The decision diagram as a layer: label probabilities from concept probabilities, exact and differentiable."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, Codes, DataError, KnowledgeError
from assay.logic import Diagram, Knowledge, Value

LEAST_LOG = -1e30
SMALLEST = 1e-30
"""So that what is impossible has a very low probability and not a gradient that is no number."""


class DiagramLayer(nn.Module):
    """One sweep over the layers of a diagram for a whole batch; nothing in it is learned."""

    def __init__(self, diagram: Diagram) -> None:
        super().__init__()
        self.order = diagram.order
        self.outcomes = len(diagram.outcomes)
        self.widths = [*(len(layer) for layer in diagram.layers[1:]), len(diagram.outcomes)]
        self.one_to_one: list[bool] = []
        """Of each layer whether every node is reached in one way: nothing is then to be added up."""
        for number, (layer, width) in enumerate(zip(diagram.layers, self.widths, strict=True)):
            targets = layer.astype(np.int64).ravel()
            self.one_to_one.append(len(targets) == width and len(np.unique(targets)) == width)
            sources = np.argsort(targets) if self.one_to_one[-1] else targets
            self.register_buffer(f"targets_{number}", torch.from_numpy(targets), persistent=False)
            self.register_buffer(f"sources_{number}", torch.from_numpy(sources), persistent=False)

    def forward(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the probability of each outcome; `concepts[i]` is batch x values of concept `i`."""
        mass = torch.ones_like(concepts[0][:, :1])
        for number, (place, width) in enumerate(zip(self.order, self.widths, strict=True)):
            shares = (mass[:, :, None] * concepts[place][:, None, :]).flatten(1)
            mass = shares.new_zeros(len(shares), width).index_add(1, self.get_buffer(f"targets_{number}"), shares)
        return mass

    def logs(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the log probability of each outcome from those of the concepts, however improbable they are."""
        mass = torch.zeros_like(concepts[0][:, :1])
        for number, (place, width) in enumerate(zip(self.order, self.widths, strict=True)):
            shares = (mass[:, :, None] + concepts[place][:, None, :]).flatten(1)
            if self.one_to_one[number]:
                mass = shares[:, self.get_buffer(f"sources_{number}")].clamp(min=LEAST_LOG)
            else:
                mass = _add_logs(shares, self.get_buffer(f"targets_{number}"), width)
        return mass


def _add_logs(shares: Tensor, targets: Tensor, width: int) -> Tensor:
    """Add up probabilities that lead to the same node, given and returned as logs."""
    with torch.no_grad():
        largest = shares.new_full((len(shares), width), -torch.inf)
        largest = largest.scatter_reduce(1, targets.expand_as(shares), shares, "amax").clamp(min=LEAST_LOG)
    added = torch.zeros_like(largest).index_add(1, targets, (shares - largest[:, targets]).exp())
    return largest + added.clamp(min=SMALLEST).log()


class RuleLayer(nn.Module):
    """The rule as a layer: joint outcomes of all labels, and each label's own probabilities."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__()
        self.knowledge = knowledge
        self.diagram = DiagramLayer(knowledge.diagram)
        self.numbers = {self._codes(outcome): i for i, outcome in enumerate(knowledge.diagram.outcomes)}
        for place, label in enumerate(knowledge.labels):
            table = np.zeros((len(self.numbers), len(label.values)), dtype=np.float32)
            for codes, number in self.numbers.items():
                table[number, codes[place]] = 1
            self.register_buffer(f"label_{place}", torch.from_numpy(table), persistent=False)

    def _codes(self, outcome: tuple[Value, ...]) -> tuple[int, ...]:
        for label, value in zip(self.knowledge.labels, outcome, strict=True):
            if value not in label.values:
                raise KnowledgeError(f"label {label.name!r} can be {value!r}, which is none of its values")
        return tuple(x.values.index(v) for x, v in zip(self.knowledge.labels, outcome, strict=True))

    def outcome_numbers(self, labels: Codes) -> Array:
        """Return the number of the joint outcome of each row of label codes."""
        distinct, which = np.unique(labels, axis=0, return_inverse=True)
        strangers = [row for row in distinct.tolist() if tuple(row) not in self.numbers]
        if strangers:
            raise DataError(f"the rule can never give the labels {strangers[0]} (as codes) that the data shows")
        return np.array([self.numbers[tuple(row)] for row in distinct.tolist()])[which.ravel()]

    def forward(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the probability of each joint outcome."""
        outcomes: Tensor = self.diagram(concepts)
        return outcomes

    def logs(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the log probability of each joint outcome from the log probabilities of the concepts."""
        return self.diagram.logs(concepts)

    def marginals(self, outcomes: Tensor) -> list[Tensor]:
        """Return the probabilities of each label's values."""
        return [outcomes @ getattr(self, f"label_{place}") for place in range(len(self.knowledge.labels))]
