"""The fuzzy model: concepts from the picture, learned by making the rule as true as it can be (LTN).

For each example, "the rule gives this label" has a fuzzy truth. The loss is 1 less "for all examples", a p-mean of what
each lacks, whose p rises during training, so that first the bulk counts and then the exceptions.
"""

from dataclasses import replace
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.models.core.neural import NeuralConfig, softmax_each
from assay.models.rule.fuzzy_logic import (
    Exists,
    FuzzyRule,
    FuzzyValues,
    Implication,
    Semantics,
    Tnorm,
    p_mean_error,
)
from assay.models.rule.rule_learner import RuleLearner, RuleLearnerConfig


class LTNConfig(RuleLearnerConfig):
    """Settings of the fuzzy model."""

    conjunction: Tnorm = "product"
    """The t-norm that stands for "and"."""
    disjunction: Tnorm = "product"
    """The t-norm whose dual stands for "or"."""
    implication: Implication = "product"
    """The fuzzy implication that stands for "if ... then"."""
    exists: Literal["auto", "p-mean", "or"] = "auto"
    """How "for some values" is read: by LTN's p-mean, or as the disjunction of all cases. `auto` is the p-mean for
    labels that are numbers or symbols, and the disjunction for labels that are true or false: there a p-mean would
    give "a equals b" the mean truth of its cases, and certain concepts would not give the rule's label."""
    p: float = Field(2.0, ge=1)
    """The p of the quantifiers; the larger, the more the worst example and the best case count."""
    last_p: float | None = Field(None, ge=1)
    """The p of the last epoch, which the p of the first rises to; by default it stays."""


class LTN(RuleLearner):
    """Concepts that are learned through the rule, read as fuzzy logic."""

    name = "ltn"
    Config: ClassVar[type[NeuralConfig]] = LTNConfig
    config: LTNConfig

    def build(self, backbone: str) -> None:
        """Make the encoder, and the fuzzy reading of each label."""
        super().build(backbone)
        config = self.config
        exists: Exists = "p-mean" if config.exists == "auto" else config.exists
        self.semantics = Semantics(config.conjunction, config.disjunction, config.implication, exists, config.p)
        self.readings = nn.ModuleList(self._reading(place) for place in range(len(self.taught.labels)))

    def _reading(self, place: int) -> FuzzyRule | FuzzyValues:
        """Return a rule for a label that is true or false, and for others the cases of each value."""
        label = self.taught.labels[place]
        if label.kind == "bool":
            return FuzzyRule(label.formula, self.space)
        return FuzzyValues(label.formula, self.space, label.values)

    @property
    def varies(self) -> bool:
        """Whether p rises."""
        return self.config.last_p not in (None, self.config.p)

    def begin(self, epoch: int, epochs: int) -> None:
        """Set the p of this epoch."""
        last = self.config.last_p or self.config.p
        share = (epoch - 1) / max(1, epochs - 1)
        self.semantics = replace(self.semantics, p=self.config.p + share * (last - self.config.p))

    def truths(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return for each label how true each of its values is."""
        truths = []
        inside = replace(self.semantics, exists="or") if self.config.exists == "auto" else self.semantics
        for reading in self.readings:
            truth = reading(concepts, inside if isinstance(reading, FuzzyRule) else self.semantics)
            truths.append(torch.stack([1 - truth, truth], dim=1) if isinstance(reading, FuzzyRule) else truth)
        return truths

    def rule_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return 1 less the truth of "the rule gives every example its labels"."""
        concepts = softmax_each(logits)
        truths = [truth.gather(1, labels[:, i : i + 1])[:, 0] for i, truth in enumerate(self.truths(concepts))]
        return 1 - p_mean_error(torch.cat(truths), self.semantics.p)

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the labels' truths, made to add up to 1."""
        truths = [truth.clamp(min=1e-9) for truth in self.truths(concepts)[: len(self.knowledge.labels)]]
        return [truth / truth.sum(dim=1, keepdim=True) for truth in truths]
