"""The energy-based bottleneck (ECBM): the lower the energy, the better picture, concepts and label fit together.

After Xu et al. (2024). Values and labels have embeddings, and three small networks say how badly things fit: a value of
a concept to the picture, a label to the picture, and a label to all concepts together. Training lowers the energy of
what is true against that of the other values. To answer is to search: logits of concepts and labels begin at zero and
follow the gradient of the total energy, embeddings being mixed by the probabilities they stand for. To intervene is to
hold a concept at what is given and to search for all the rest, other concepts included, with the same total energy.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.models.concept.heads import DrawnFor, harden, insert_truth
from assay.models.core.network import ConceptModel
from assay.models.core.settings import ConceptConfig, NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    is_set,
    label_loss,
    softmax_each,
)

DROPOUT = 0.2
Weights = tuple[float, float, float]
"""Of the energies between picture and concepts, picture and label, concepts and label."""
GLOBAL: Weights = (0.0, 0.0, 3.0)
"""The weights of the authors' code after an intervention."""


class ECBMConfig(ConceptConfig):
    """Settings of the energies; defaults as in the concept benchmark's Table 7.

    `concept_weight` is the weight of the energy between picture and concepts. `hard` hands only the likeliest values to
    the energy between concepts and label, as the authors' code does; then concepts do not learn of each other.
    """

    features: int = Field(8, ge=1)
    """How many features of the picture each concept is read from."""
    width: int = Field(64, ge=1)
    """The length of all embeddings."""
    label_weight: float = Field(1.0, ge=0)
    """The weight of the energy between picture and label."""
    global_weight: float = Field(1.0, ge=0)
    """The weight of the energy between concepts and label."""
    perturbed: float = Field(0.2, ge=0, le=1)
    """The share of examples, and of their concepts, that are changed before the last energy sees them in training."""
    perturbed_by: DrawnFor = "example"
    """Whether the concepts to change are drawn for each example or, as in the authors' code, for a batch: then those
    examples of it that are changed are changed in the same concepts."""
    reads: Literal["concept", "picture"] = "concept"
    """Whether the energy of a concept uses the concept's own features or, as in the authors' code, all of them."""
    steps: int | None = Field(None, ge=1)
    """How many steps the search takes: by default 10 (the published number) where every concept and label has two
    values, otherwise 100, because 10 steps cannot separate many values."""
    begin: Literal["zero", "picture"] = "zero"
    """Where the search starts: at zero, as the authors do, or where the energies with the picture alone are least."""
    step: float = Field(0.1, gt=0)
    """The learning rate of the search."""
    told: Literal["all", "global"] = "all"
    """Which energies decide the labels of an example after one of its concepts was set: `all`, as without an
    intervention, or `global`, as in the authors' code: only the energy between concepts and labels, so that the
    picture is ignored."""


class Energy(nn.Module):
    """How badly an embedding fits what it is beside."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, beside: Tensor, embeddings: Tensor, read: nn.Module) -> Tensor:
        """Return the energy of each embedding (examples or 1 x embeddings x width)."""
        projected = self.dropout(self.project(beside))[:, None]
        energies: Tensor = read(F.relu(projected + projected * F.normalize(embeddings, dim=-1)))
        return energies[..., 0]


class ECBM(ConceptModel):
    """Concepts and labels of least energy."""

    name = "ecbm"
    answer_cost: ClassVar[int] = 6
    Config: ClassVar[type[NeuralConfig]] = ECBMConfig
    config: ECBMConfig

    def build(self, backbone: str) -> None:
        """Make the encoder, the embeddings and the three energies."""
        config, count = self.config, len(self.space)
        widths = dict.fromkeys(self.space.names, config.features)
        self.encoder = self.read_encoder(backbone, widths)
        self.values = nn.ParameterList(torch.randn(size, config.width) for size in self.space.sizes)
        self.labels = nn.ParameterList(torch.randn(size, config.width) for size in self.label_sizes)
        self.register_buffer("sizes", torch.tensor(self.space.sizes), persistent=False)
        self.of_concept = Energy(config.features * (1 if config.reads == "concept" else count), config.width, DROPOUT)
        self.of_label = Energy(count * config.features, config.width, DROPOUT)
        self.of_both = Energy(count * config.width, config.width, 0.0)
        self.read_concept = nn.ModuleList(nn.Linear(config.width, 1) for _ in range(count))
        self.read_label = nn.ModuleList(nn.Linear(config.width, 1) for _ in self.label_sizes)
        self.read_both = nn.ModuleList(nn.Linear(config.width, 1) for _ in self.label_sizes)

    def concept_energies(self, features: Sequence[Tensor], embeddings: Sequence[Tensor]) -> list[Tensor]:
        """Return the energy of embeddings of each concept beside the picture."""
        if self.config.reads == "picture":
            features = [torch.cat(list(features), dim=1)] * len(features)
        parts = zip(features, embeddings, self.read_concept, strict=True)
        return [self.of_concept(beside, vectors, read) for beside, vectors, read in parts]

    def label_energies(self, features: Sequence[Tensor], embeddings: Sequence[Tensor]) -> list[Tensor]:
        """Return the energy of embeddings of each label beside the picture."""
        picture = torch.cat(list(features), dim=1)
        return [
            self.of_label(picture, vectors, read) for vectors, read in zip(embeddings, self.read_label, strict=True)
        ]

    def global_energies(self, concepts: Sequence[Tensor], embeddings: Sequence[Tensor]) -> list[Tensor]:
        """Return the energy of embeddings of each label beside all concepts, given by their probabilities."""
        inputs = harden(concepts) if self.config.hard else concepts
        both = torch.cat([probabilities @ own for probabilities, own in zip(inputs, self.values, strict=True)], dim=1)
        return [self.of_both(both, vectors, read) for vectors, read in zip(embeddings, self.read_both, strict=True)]

    def phases(self, data: Annotations) -> list[Phase]:
        """Return one phase: what is true against all other values, by each of the three energies."""
        mask, config = self.supervision(data), self.config

        def loss(batch: Batch) -> Tensor:
            features, known = self.encoder(batch.pictures), mask[batch.rows]
            labels = [energy[None] for energy in self.labels]
            fit = [-energy for energy in self.concept_energies(features, [energy[None] for energy in self.values])]
            own = [energy.softmax(dim=1).detach() for energy in fit]
            inputs = insert_truth(self._perturb(batch.concepts), known, own)
            total = config.concept_weight * len(own) * concept_loss(fit, batch.concepts, known)
            by_picture = label_loss([-energy for energy in self.label_energies(features, labels)], batch.labels)
            by_concepts = label_loss([-energy for energy in self.global_energies(inputs, labels)], batch.labels)
            return total + config.label_weight * by_picture + config.global_weight * by_concepts

        return [Phase("energies", list(self.parameters()), loss, "all")]

    def _perturb(self, codes: Tensor) -> Tensor:
        """Return the codes with some changed to another value; those missing stay so."""
        share = self.config.perturbed
        where = torch.rand(codes.shape[0], 1, device=codes.device) < share
        rows = len(codes) if self.config.perturbed_by == "example" else 1
        where = where & (torch.rand(rows, codes.shape[1], device=codes.device) < share) & (codes >= 0)
        sizes = self.get_buffer("sizes")
        others = (torch.rand(codes.shape, device=codes.device) * (sizes - 1)).long() + 1
        return torch.where(where, (codes + others) % sizes, codes)

    def energy(
        self, features: Sequence[Tensor], concepts: Sequence[Tensor], labels: Sequence[Tensor], weights: Weights
    ) -> Tensor:
        """Return the total energy of each example, for probabilities of concepts and labels."""
        values = [(probabilities @ own)[:, None] for probabilities, own in zip(concepts, self.values, strict=True)]
        answers = [(probabilities @ own)[:, None] for probabilities, own in zip(labels, self.labels, strict=True)]
        total = weights[0] * torch.cat(self.concept_energies(features, values), dim=1).sum(dim=1)
        total = total + weights[1] * torch.cat(self.label_energies(features, answers), dim=1).sum(dim=1)
        return total + weights[2] * torch.cat(self.global_energies(concepts, answers), dim=1).sum(dim=1)

    def search(
        self, features: Sequence[Tensor], fixed: Mapping[int, tuple[Tensor, Tensor]], weights: Weights
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the probabilities of concepts and labels that the search ends with.

        `held` gives for some concepts in which examples they are held, and at which probabilities.
        """
        sizes, count = [*self.space.sizes, *self.label_sizes], len(self.space)
        logits = self._beginning(features, sizes)
        steps = self.config.steps or (10 if max(sizes) <= 2 else 100)

        def probabilities() -> list[Tensor]:
            current = softmax_each(logits)
            for place, (where, target) in fixed.items():
                current[place] = torch.where(where[:, None], target, current[place])
            return current

        with torch.enable_grad():
            beside = [logit.detach() for logit in features]
            logits = [logit.requires_grad_() for logit in logits]
            search = torch.optim.Adam(logits, lr=self.config.step)
            for _ in range(steps):
                current = probabilities()
                total = self.energy(beside, current[:count], current[count:], weights).sum()  # so examples do not touch
                for logit, slope in zip(logits, torch.autograd.grad(total, logits), strict=True):
                    logit.grad = slope
                search.step()
        current = [logit.detach() for logit in probabilities()]
        return current[:count], current[count:]

    def _beginning(self, features: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
        """Return the logits at which the search begins."""
        if self.config.begin == "zero":
            return [features[0].new_zeros(len(features[0]), size) for size in sizes]
        energies = self.concept_energies(features, [vectors[None] for vectors in self.values])
        energies += self.label_energies(features, [vectors[None] for vectors in self.labels])
        return [-energy.detach() for energy in energies]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the concept and label probabilities that the search finds, with concepts in `do` held."""
        features = self.encoder(pictures)
        weights = (self.config.concept_weight, self.config.label_weight, self.config.global_weight)
        own, labels = self.search(features, {}, weights)
        if not do:
            return Outputs(labels, own)
        concepts_set = apply_interventions(own, do)
        where = {place: is_set(own[place], setting) for place, setting in do.items()}
        if self.config.told == "all":
            concepts, labels = self.search(
                features, {place: (where[place], concepts_set[place]) for place in do}, weights
            )
            return Outputs(labels, concepts)
        some = torch.stack(list(where.values())).any(dim=0)
        _, after = self.search(features, {place: (some, target) for place, target in enumerate(concepts_set)}, GLOBAL)
        return Outputs(
            [torch.where(some[:, None], new, old) for new, old in zip(after, labels, strict=True)], concepts_set
        )
