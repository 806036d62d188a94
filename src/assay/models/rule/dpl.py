"""The probabilistic model: concepts from the picture, labels from the concepts by the rule, exactly.

What DeepProbLog does for a rule over independent concepts: the probability of a label is the sum over the worlds that
give it. Here it is one sweep over the rule's decision diagram.

`RuleLearner` is what it shares with other models that learn concepts through the rule: the encoder, and ways to keep
them from shortcuts. Every way can be combined with every other: supervising some concepts, keeping the average concepts
diverse, drawing the picture again from the concepts, and giving further labels that the same concepts must explain.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.base import ConfigError
from assay.logic import Knowledge, parse
from assay.models.core.circuit import RuleLayer
from assay.models.core.network import ConceptModel
from assay.models.core.settings import NeuralConfig, PerceptionConfig, Sharing, Supervision
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    entropy_loss,
    label_loss,
    softmax_each,
)

SMOOTHING = 1e-5
"""What rsbench adds to every label's probability."""
STYLE = 16
HIDDEN = 256


class RuleLearnerConfig(NeuralConfig, Supervision, PerceptionConfig):
    """Settings that all of them have; by default only labels are supervised, no concepts."""

    concept_weight: float = Field(0.0, ge=0)
    """The weight of concept supervision."""
    entropy_weight: float = Field(0.0, ge=0)
    """The weight of the entropy of the average concepts, which works against collapse."""
    reconstruction_weight: float = Field(0.0, ge=0)
    """The weight of drawing the picture again from the concepts and a small code of its style."""
    rule: dict[str, str] = {}
    """The rule that the model is given, by label, where it is another than the one of the data: wrong knowledge."""
    further_labels: dict[str, str] = {}
    """Multi-task learning: further labels by name, as formulas over the concepts; only used in training."""
    share: Sharing = True
    """Read concepts of one encoder group with one network; `objects`: all attributes of an object with one;
    `crossed`: so too, and taken for other concepts, as in the first release of rsbench."""


class PictureDecoder(nn.Module):
    """Draws a picture from concept probabilities and a code of its style, which it reads off the picture itself."""

    def __init__(self, pixels: int, concepts: int) -> None:
        super().__init__()
        self.style = nn.Sequential(nn.Flatten(), nn.Linear(pixels, STYLE), nn.Tanh())
        self.draw = nn.Sequential(nn.Linear(concepts + STYLE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, pixels))

    def forward(self, pictures: Tensor, concepts: list[Tensor]) -> Tensor:
        """Return how badly the pictures are drawn again: the mean binary cross-entropy of the pixels."""
        code = torch.cat([*concepts, self.style(pictures)], dim=1)
        return F.binary_cross_entropy_with_logits(self.draw(code), pictures.flatten(1))


class RuleLearner(ConceptModel):
    """A model that is taught labels and finds concepts which explain them by the rule."""

    Config: ClassVar[type[NeuralConfig]] = RuleLearnerConfig
    config: RuleLearnerConfig
    why_pictures: ClassVar[str | None] = None

    def build(self, backbone: str) -> None:
        """Make the encoder, the knowledge that is taught, and the decoder if there is one."""
        self.knowledge.require_rule(f"model {self.name!r}")
        if self.perception is not None and self.config.reconstruction_weight:
            raise ConfigError("reconstruction_weight draws pictures again, and with perception none are read")
        self.encoder = self.make_encoder(backbone)
        self.taught = self._taught()
        if self.config.reconstruction_weight and self.reads is not None:
            raise ConfigError(
                f"reconstruction_weight draws pictures again, and this model reads input={self.reads.kind}"
            )
        if self.config.reconstruction_weight:
            pixels = self.layout.channels * self.layout.height * self.layout.width
            self.decoder = PictureDecoder(pixels, sum(self.space.sizes))

    def _taught(self) -> Knowledge:
        """Return the knowledge that the model is given: with its own rule, and with the further labels."""
        config, own = self.config, {label.name: label.formula for label in self.knowledge.labels}
        if not config.rule and not config.further_labels:
            return self.knowledge
        for name in config.rule:
            self.knowledge.label(name)
        given = {name: parse(text, self.space.names) for name, text in {**config.rule, **config.further_labels}.items()}
        taught = Knowledge.of(self.space, {**own, **given}, self.knowledge.constraints)
        for name in config.rule:
            if taught.label(name).values != self.knowledge.label(name).values:
                raise ConfigError(f"rule: '{config.rule[name]}' gives other values than label {name!r} of the data has")
        return taught

    def labels_taught(self, data: Annotations) -> Tensor:
        """Return the labels of all examples: those of the data, and the further ones that the rule gives."""
        if not self.config.further_labels:
            return data.labels
        if bool((data.concepts < 0).any()):
            raise ConfigError("further_labels follow from concepts, and some of those are missing in the data")
        codes = self.taught.labels_of(data.concepts.cpu().numpy())[:, len(self.knowledge.labels) :]
        more = torch.from_numpy(np.ascontiguousarray(codes)).to(data.labels.device)
        return torch.cat([data.labels, more], dim=1)

    @abstractmethod
    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the label probabilities that the rule gives."""

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` set, and the label probabilities that the rule gives."""
        concepts = apply_interventions(softmax_each(self.encoder(pictures)), do)
        return Outputs(self.labels_from_concepts(concepts), concepts)

    @abstractmethod
    def rule_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return how badly concepts of these logits explain the labels."""

    def phases(self, data: Annotations) -> list[Phase]:
        """Return one phase: the rule, and what else is weighted in."""
        mask = self.supervision(data)
        taught = self.labels_taught(data)

        def loss(batch: Batch) -> Tensor:
            logits = self.encoder(batch.pictures)
            concepts = softmax_each(logits)
            total = self.rule_loss(logits, taught[batch.rows])
            return total + self.against_shortcuts(logits, concepts, batch, mask[batch.rows])

        return [Phase("rule", list(self.parameters()), loss, begin=self.begin, varies=self.varies)]

    def against_shortcuts(self, logits: list[Tensor], concepts: list[Tensor], batch: Batch, mask: Tensor) -> Tensor:
        """Return the weighted losses that work against shortcuts."""
        config, total = self.config, logits[0].new_zeros(())
        groups = [[self.space.place(name) for name in group.concepts] for group in self.space.encoders]
        if config.entropy_weight:
            total = total + config.entropy_weight * entropy_loss(concepts, groups)
        if config.concept_weight:
            total = total + config.concept_weight * concept_loss(logits, batch.concepts, mask)
        if config.reconstruction_weight:
            total = total + config.reconstruction_weight * self.decoder(batch.pictures, concepts)
        return total

    @property
    def varies(self) -> bool:
        """Whether `begin` changes numbers that the loss reads."""
        return False

    def begin(self, epoch: int, epochs: int) -> None:
        """Do what is to be done before an epoch."""


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
