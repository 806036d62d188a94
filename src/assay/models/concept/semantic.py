"""Training with constraints: a concept bottleneck that knows which worlds are possible.

The semantic loss is -log P(all constraints hold) under the predicted concepts, exact by the decision diagram of the
constraints. Where one diagram cannot hold them all, they are put into as few groups as can be, and the sum over groups
is an approximation: it takes groups for independent of one another. The penalty is the expected number of constraints
broken, which is exact however many there are, as expectations add up.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from assay.base import ConfigError, suggestion
from assay.logic import Diagram, Limits, true_steps
from assay.models.concept.cbm import CBM, CBMConfig
from assay.models.core.feeds import Feed
from assay.models.core.settings import NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import Annotations, Batch, concept_loss, label_loss, softmax_each

SMALLEST = 1e-30


class TruthLayer(nn.Module):
    """The log probability that a formula holds: one sweep over the ways through its diagram that can still end true."""

    def __init__(self, diagram: Diagram) -> None:
        super().__init__()
        self.order = diagram.order
        self.widths = diagram.next_widths
        self.letters: list[int] = []
        for number, steps in enumerate(true_steps(diagram)):
            self.letters.append(int(steps.of_code.max()) + 1)
            for name, numbers in vars(steps).items():
                self._keep(f"{name}_{number}", numbers)

    def _keep(self, name: str, values: Any) -> None:
        self.register_buffer(name, torch.from_numpy(np.asarray(values, dtype=np.int64)), persistent=False)

    def forward(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return log P for each example; `concepts[i]` is batch x values of concept `i`."""
        concepts = [
            probabilities if probabilities.dtype == torch.float64 else probabilities.float()
            for probabilities in concepts
        ]
        mass = torch.ones_like(concepts[0][:, :1])
        total = torch.zeros_like(mass[:, 0])
        for number, (place, width) in enumerate(zip(self.order, self.widths, strict=True)):
            own = {name: getattr(self, f"{name}_{number}") for name in ("of_code", "source", "letter", "target")}
            read = mass.new_zeros(len(mass), self.letters[number]).index_add(1, own["of_code"], concepts[place])
            shares = mass[:, own["source"]] * read[:, own["letter"]]
            mass = shares.new_zeros(len(mass), width).index_add(1, own["target"], shares)
            scale = mass.sum(dim=1).clamp(min=SMALLEST)  # kept apart, so that however small it is it stays a number
            total, mass = total + scale.log(), mass / scale[:, None]
        return total


class SemanticConfig(CBMConfig):
    """Settings of training with constraints."""

    semantic_weight: float = Field(0.1, ge=0)
    """The weight of -log P(all constraints hold)."""
    violation_weight: float = Field(0.0, ge=0)
    """The weight of the expected number of constraints broken."""
    constraints: list[str] | None = None
    """Only these constraints; by default all."""
    most_nodes: int = Field(150_000, ge=1)
    """How large the decision diagram of a group of constraints may be."""


class ConstraintLoss(nn.Module):
    """The semantic loss and the penalty of a knowledge's constraints."""

    def __init__(self, limits: Limits, config: SemanticConfig) -> None:
        super().__init__()
        known = config.constraints is None or all(name in limits.names for name in config.constraints)
        if not known:
            strange = next(name for name in config.constraints or [] if name not in limits.names)
            raise ConfigError(f"no constraint named {strange!r}{suggestion(strange, limits.names)}")
        self.semantic_weight, self.violation_weight = config.semantic_weight, config.violation_weight
        chosen = limits if config.constraints is None else limits.only(config.constraints)
        groups = chosen.of_groups() if self.semantic_weight else []
        own = [chosen.diagram([name]) for name in chosen.names] if self.violation_weight else []
        self.groups = nn.ModuleList(TruthLayer(diagram) for diagram in groups)
        self.rules = nn.ModuleList(TruthLayer(diagram) for diagram in own if diagram is not None)
        self.about = {
            "exact": len(groups) <= 1 and not chosen.left_out,
            "groups": [list(group) for group in chosen.groups] if self.semantic_weight else [],
            "left_out": list(chosen.left_out),
        }

    def forward(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the weighted losses, averaged over the batch."""
        total = concepts[0].new_zeros(())
        for group in self.groups:
            total = total - self.semantic_weight * group(concepts).mean()
        for rule in self.rules:
            total = total + self.violation_weight * (1 - rule(concepts).exp()).mean()
        return total


class Semantic(CBM):
    """A bottleneck whose concepts are also taught to keep the constraints; without constraints it is a bottleneck."""

    name = "semantic"
    Config: ClassVar[type[NeuralConfig]] = SemanticConfig
    config: SemanticConfig

    def phases(self, data: Annotations) -> list[Phase]:
        """Return the phases of the chosen mode, with the constraints wherever concepts are learned."""
        mask = self.supervision(data)
        self.keeping = ConstraintLoss(Limits(self.knowledge, self.config.most_nodes), self.config).to(data.device)
        usual = super().phases(data)

        def concepts(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            penalty: Tensor = self.keeping(softmax_each(logits))
            return concept_loss(logits, batch.concepts, mask[batch.rows]) + penalty

        def joint(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            probabilities = softmax_each(logits)
            supervised = self.config.concept_weight * concept_loss(logits, batch.concepts, mask[batch.rows])
            penalty: Tensor = self.keeping(probabilities)
            return label_loss(self.labels_from(probabilities), batch.labels) + supervised + penalty

        losses = {"joint": joint, "concepts": concepts}
        return [replace(phase, loss=losses.get(phase.name, phase.loss)) for phase in usual]

    def validation_f1(self, validation: Feed, what: str) -> Tensor:
        """Return the usual score times the share of answers that keep every constraint, so that the epoch kept is one
        that has learned both.
        """
        f1 = super().validation_f1(validation, what)
        if not self.knowledge.constraints:
            return f1
        concepts = self.probabilities(validation, {}).concepts or []
        codes = torch.stack([probabilities.argmax(dim=1) for probabilities in concepts], dim=1).cpu().numpy()
        return f1 * float(1 - self.knowledge.violations(codes).any(axis=1).mean())

    def metadata(self) -> dict[str, Any]:
        """Return who the model is, and how its constraints were taught."""
        taught = self.keeping.about if hasattr(self, "keeping") else {}
        return {**super().metadata(), **({"constraints": taught} if taught else {})}
