"""The probabilistic model: concepts from the picture, labels from the concepts by the rule, exactly.

What DeepProbLog does for a rule over independent concepts: the probability of a label is the sum over the worlds that
give it. Here it is one sweep over the rule's decision diagram.
"""

from typing import ClassVar

import torch
from torch import Tensor

from assay.models.core.neural import NeuralConfig
from assay.models.core.tensors import Annotations
from assay.models.rule.circuit import RuleLayer
from assay.models.rule.rule_learner import RuleLearner, RuleLearnerConfig


class DPLConfig(RuleLearnerConfig):
    """Settings of the probabilistic model."""


class DPL(RuleLearner):
    """Concepts that are learned through the rule."""

    name = "dpl"
    Config: ClassVar[type[NeuralConfig]] = DPLConfig
    config: DPLConfig

    def build(self, backbone: str) -> None:
        """Make the encoder and the rule."""
        super().build(backbone)
        self.rule = RuleLayer(self.taught)

    def labels_taught(self, data: Annotations) -> Tensor:
        """Return the number of the joint outcome of all labels, as one column."""
        labels = super().labels_taught(data)
        return torch.from_numpy(self.rule.outcome_numbers(labels.cpu().numpy())).to(labels.device)[:, None]

    def rule_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return the negative log-likelihood of the joint labels."""
        return -self.rule.logs([scores.log_softmax(dim=1) for scores in logits]).gather(1, labels).mean()

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the label probabilities that the rule gives."""
        return self.rule.marginals(self.rule(concepts))[: len(self.knowledge.labels)]
