"""The decision diagram as a layer: label probabilities from concept probabilities, exact and differentiable.

Concepts of two levels use it as well. A task whose knowledge has subconcepts says of which finer concepts each concept
is made, and by which formula: a row of a sudoku board is valid if the digits of its nine cells differ. One network
reads all cells, each off its own part of the picture, and the probability of a valid row is that of its formula under
the nine distributions: one sweep over the formula's decision diagram, in logs. Concepts whose formulas are alike but
for names share one diagram.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, Codes, DataError, KnowledgeError
from assay.logic import (
    Concept,
    ConceptSpace,
    Diagram,
    Formula,
    Knowledge,
    Label,
    Value,
    Var,
    free_names,
    ground_formula,
    substitute,
)

LEAST_LOG = -1e30
SMALLEST = 1e-30
"""So that what is impossible has a very low probability and not a gradient that is no number."""
LEAST_SEEN = -20.0
"""The lowest log probability that features tell from lower ones."""


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


class LikeConcepts(nn.Module):
    """Concepts made by one formula, each of subconcepts of its own."""

    def __init__(self, formula: Formula, parts: Sequence[Sequence[int]], space: ConceptSpace, concept: Concept) -> None:
        super().__init__()
        self.parts = parts
        """The places of the subconcepts that each concept is made of."""
        own = ConceptSpace(tuple(replace(space.concepts[p], name=_name(i)) for i, p in enumerate(parts[0])))
        self.rule = RuleLayer(Knowledge(own, (Label("made", formula, concept.values),)))
        numbers = [self.rule.numbers.get((code,), len(self.rule.numbers)) for code in range(len(concept.values))]
        self.register_buffer("outcomes", torch.tensor(numbers), persistent=False)

    def columns(self, logs: Sequence[Tensor]) -> list[Tensor]:
        """Return what the first, second, ... subconcepts of all concepts are, one concept after the other."""
        return [torch.cat([logs[place] for place in places]) for places in zip(*self.parts, strict=True)]

    def forward(self, logs: Sequence[Tensor]) -> list[Tensor]:
        """Return the log probabilities of each concept's values from those of all subconcepts."""
        outcomes = self.rule.logs(self.columns(logs))
        never = torch.full_like(outcomes[:, :1], LEAST_LOG)
        made = torch.cat([outcomes, never], dim=1)[:, self.get_buffer("outcomes")]
        return list(made.chunk(len(self.parts)))


class SubconceptReader(nn.Module):
    """Reads subconcepts, and gives of the concepts made of them the log probabilities, or pooled features.

    Features are a linear function of the mean and the greatest of its subconcepts' probabilities, and of the concept's
    own probabilities and their logs.
    """

    def __init__(
        self, encoder: nn.Module, knowledge: Knowledge, space: ConceptSpace, widths: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.names = knowledge.label_names
        self.fixed = False
        """Whether it stays as it is while the rest is trained."""
        groups: dict[tuple[Formula, tuple[int, ...], int], list[Label]] = {}
        for label in knowledge.labels:
            groups.setdefault(_signature(label, knowledge.space, widths), []).append(label)
        self.groups, self.group_names = nn.ModuleList(), list[tuple[str, ...]]()
        self.pooling = nn.ModuleList()
        for (formula, sizes, width), labels in groups.items():
            parts = [_places(label, knowledge.space) for label in labels]
            concept = space.concept(labels[0].name)
            self.groups.append(LikeConcepts(formula, parts, knowledge.space, concept))
            self.group_names.append(tuple(label.name for label in labels))
            if widths:
                self.pooling.append(nn.Linear(2 * max(sizes) + 2 * len(concept.values), width))

    def read(self, images: Tensor) -> list[Tensor]:
        """Return the logits of each subconcept."""
        if not self.fixed:
            return list(self.encoder(images))
        self.encoder.eval()
        with torch.no_grad():
            return list(self.encoder(images))

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        """Return of each concept that is made the log probabilities of its values, or its features."""
        logs = [logits.float().log_softmax(dim=1) for logits in self.read(images)]
        outputs = dict[str, Tensor]()
        for number, (group, names) in enumerate(zip(self.groups, self.group_names, strict=True)):
            made = group(logs)
            if len(self.pooling):
                made = self._pool(self.pooling[number], group, logs, made)
            outputs.update(zip(names, made, strict=True))
        return outputs

    def _pool(self, layer: nn.Module, group: nn.Module, logs: list[Tensor], made: list[Tensor]) -> list[Tensor]:
        assert isinstance(group, LikeConcepts)
        cells = torch.stack(group.columns(logs), dim=1).exp()
        own = torch.cat(made)
        inputs = [cells.mean(dim=1), cells.amax(dim=1), own.exp(), own.clamp(min=LEAST_SEEN) / -LEAST_SEEN]
        return list(layer(torch.cat(inputs, dim=1)).chunk(len(made)))


def _name(place: int) -> str:
    return f"part{place + 1}"


def _places(label: Label, space: ConceptSpace) -> list[int]:
    """Return the places of the subconcepts in a formula, in the order in which they occur."""
    return [space.place(name) for name in dict.fromkeys(free_names(ground_formula(label.formula, space)))]


def _signature(label: Label, space: ConceptSpace, widths: Mapping[str, int]) -> tuple[Formula, tuple[int, ...], int]:
    """Return a formula with its subconcepts renamed in their order, their sizes, and the width wanted."""
    places = _places(label, space)
    renamed: dict[str, Formula] = {space.names[place]: Var(_name(i)) for i, place in enumerate(places)}
    formula = substitute(ground_formula(label.formula, space), renamed)
    return formula, tuple(space.sizes[place] for place in places), widths.get(label.name, 0)


def readers_of(model: nn.Module) -> list[SubconceptReader]:
    """Return what reads subconcepts inside of a model."""
    return [part for part in model.modules() if isinstance(part, SubconceptReader)]
