"""The probabilistic model: concepts from the picture, labels from the concepts by the rule, exactly.

What DeepProbLog does for a rule over independent concepts: the probability of a label is the sum over the worlds that
give it. Here it is one sweep over the rule's decision diagram.
"""

from typing import ClassVar

import torch
from torch import Tensor

from assay.models.core.losses import label_loss
from assay.models.core.neural import NeuralConfig, softmax_each
from assay.models.core.tensors import Annotations
from assay.models.rule.circuit import RuleLayer
from assay.models.rule.rule_learner import RuleLearner, RuleLearnerConfig

SMOOTHING = 1e-5
"""What rsbench adds to every label's probability."""


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
        """Return the number of the joint outcome of all labels, as one column; under a rule of its own, the labels."""
        labels = super().labels_taught(data)
        if self.config.rule:
            return labels
        return torch.from_numpy(self.rule.outcome_numbers(labels.cpu().numpy())).to(labels.device)[:, None]

    def rule_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return the negative log-likelihood of the joint labels."""
        if self.config.rule:
            return self._smoothed_loss(softmax_each(logits), labels)
        return -self.rule.logs([scores.log_softmax(dim=1) for scores in logits]).gather(1, labels).mean()

    def _smoothed_loss(self, concepts: list[Tensor], labels: Tensor) -> Tensor:
        """Return the loss under a rule of its own, which may exclude what the data shows: nothing is impossible."""
        smooth = [(label + SMOOTHING).log() for label in self.rule.marginals(self.rule(concepts))]
        return label_loss(smooth, labels)  # the cross-entropy makes them add up to 1

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the label probabilities that the rule gives."""
        return self.rule.marginals(self.rule(concepts))[: len(self.knowledge.labels)]
