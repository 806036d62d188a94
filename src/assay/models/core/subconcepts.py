"""Concepts of two levels: a network reads the finer ones, and those made of them follow exactly.

A task whose knowledge has subconcepts says of which finer concepts each concept is made, and by which formula: a row of
a sudoku board is valid if the digits of its nine cells differ. One network reads all cells, each off its own part of
the picture, and the probability of a valid row is that of its formula under the nine distributions: one sweep over the
formula's decision diagram, in logs. Concepts whose formulas are alike but for names share one diagram.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from assay.base import Codes, ConfigError
from assay.logic import Concept, ConceptSpace, Formula, Knowledge, Label, Var, free_names, ground_formula, substitute
from assay.models.core.feeds import Feed
from assay.models.core.losses import SubconceptTraining, concept_loss
from assay.models.core.tensors import Batch
from assay.models.core.training import Phase
from assay.models.core.validation import f1_of_columns
from assay.models.rule.circuit import LEAST_LOG, RuleLayer

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel

LEAST_SEEN = -20.0
"""The lowest log probability that features tell from lower ones."""
CELLS = 8
"""How many subconcepts of each example of a usual batch a batch of the first phase has, on average."""


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


@torch.no_grad()
def reading_f1(model: "NeuralModel", validation: Feed) -> Tensor:
    """Return the mean macro F1 of the subconcepts of a split; 0 where they are not annotated, so that loss decides."""
    codes = validation.data.subconcepts
    if codes is None:
        return torch.zeros(())
    model.eval()
    truth, scores = torch.from_numpy(codes).to(validation.device), []
    for reader in readers_of(model):
        chunks = [reader.read(pictures) for pictures in model.chunks(validation)]
        scores.append(f1_of_columns(truth, [torch.cat(parts) for parts in zip(*chunks, strict=True)]))
    return torch.stack(scores).mean()


def with_reading(
    model: nn.Module, phases: list[Phase], codes: Codes | None, config: SubconceptTraining, batch: int
) -> list[Phase]:
    """Return the phases of a model, before them one that teaches its readers of subconcepts from their annotations."""
    readers = readers_of(model)
    if not readers or config == "latent":
        return phases
    if codes is None:
        raise ConfigError(
            "subconcepts are not annotated in these examples; leave them to be learned: subconcepts=latent"
        )
    device = next(model.parameters()).device
    truth = torch.from_numpy(codes).to(device)
    known = truth >= 0

    def loss(examples: Batch) -> Tensor:
        own, mask = truth[examples.rows], known[examples.rows]
        losses = [concept_loss(reader.read(examples.pictures), own, mask) for reader in readers]
        return torch.stack(losses).sum()

    def let_learn(free: bool) -> None:
        for reader in readers:
            reader.fixed = not free

    learned = [parameter for reader in readers for parameter in reader.encoder.parameters()]
    size = max(1, CELLS * batch // truth.shape[1])
    first = Phase("subconcepts", learned, loss, "subconcepts", lambda *_: let_learn(True), batch_size=size)
    if config == "tuned":
        return [first, *phases]
    same = {id(parameter) for parameter in learned}
    return [first, *(_without(phase, same, lambda: let_learn(False)) for phase in phases)]


def _without(phase: Phase, fixed: set[int], begin: Callable[[], None]) -> Phase:
    """Return a phase that leaves some parameters as they are."""

    def both(epoch: int, epochs: int) -> None:
        begin()
        phase.begin(epoch, epochs)

    return replace(phase, parameters=[p for p in phase.parameters if id(p) not in fixed], begin=both)
