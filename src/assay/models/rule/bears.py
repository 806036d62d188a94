"""An ensemble that is aware of reasoning shortcuts (BEARS): members explain the labels by concepts as unlike as can be.

A reading that the labels leave open is one that some members take and others do not; their average is then unsure of
just those concepts, while the labels stay certain. Members are trained one after the other, each away from the average
of those before it.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from assay.base import Array
from assay.dataset import SplitData
from assay.models.core.settings import NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    SMALLEST,
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    as_probabilities,
    is_set,
    softmax_each,
)
from assay.models.rule.dpl import DPL, RuleLearnerConfig


class BearsConfig(RuleLearnerConfig):
    """Settings of the ensemble."""

    members: int = Field(5, ge=2)
    """How many models the ensemble has."""
    diversity: float = Field(0.1, ge=0)
    """The weight of differing from the members that were trained before."""


class Bears(DPL):
    """Several encoders behind one rule, each explaining the labels in its own way."""

    name = "bears"
    Config: ClassVar[type[NeuralConfig]] = BearsConfig
    config: BearsConfig  # type: ignore[assignment]
    why_pictures = "its members differ in how they read the picture"

    def build(self, backbone: str) -> None:
        """Make the members and the rule; `encoder` is the first of them."""
        super().build(backbone)
        more = [self.read_encoder(backbone) for _ in range(self.members - 1)]
        self.others = nn.ModuleList(more)
        self.learned = self.members

    @property
    def members(self) -> int:
        """How many members there are."""
        return self.config.members

    def encoders(self) -> list[nn.Module]:
        """Return the members that are learned, or being learned."""
        return [self.encoder, *self.others][: self.learned]

    def phases(self, data: Annotations) -> list[Phase]:
        """Return a phase for each member."""
        mask = self.supervision(data)
        taught = self.labels_taught(data)
        return [self._phase(number, mask, taught) for number in range(self.members)]

    def _phase(self, number: int, mask: Tensor, taught: Tensor) -> Phase:
        member = [self.encoder, *self.others][number]

        def begin(epoch: int, epochs: int) -> None:
            self.learned = number + 1

        def loss(batch: Batch) -> Tensor:
            logits = member(batch.pictures)
            concepts = softmax_each(logits)
            total = self.rule_loss(logits, taught[batch.rows])
            total = total + self.against_shortcuts(logits, concepts, batch, mask[batch.rows])
            return total - self.config.diversity * self._unlike(concepts, batch, number) if number else total

        return Phase(f"member {number + 1}", list(member.parameters()), loss, begin=begin)

    def _unlike(self, concepts: list[Tensor], batch: Batch, number: int) -> Tensor:
        """Return how unlike the average of those before it a member's concepts are, for each at most log 2."""
        with torch.no_grad():
            before = [member(batch.pictures) for member in [self.encoder, *self.others][:number]]
            averages = [torch.stack(softmax_each(same)).mean(0) for same in zip(*before, strict=True)]
        divergences = []
        for own, average in zip(concepts, averages, strict=True):
            middle = (own + average) / 2
            divergences.append((_relative(own, middle) + _relative(average, middle)) / 2)
        return torch.stack(divergences).mean()

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the average of what the members say of concepts and labels."""
        by_member = [softmax_each(concepts(pictures)) for concepts in self.encoders()]
        own = [torch.stack(same).mean(0) for same in zip(*by_member, strict=True)]
        for place, setting in do.items():  # set in every member, where it differs from their average
            rows = is_set(own[place], setting)[:, None]
            for concepts in by_member:
                concepts[place] = torch.where(rows, as_probabilities(setting, own[place]), concepts[place])
        averaged = apply_interventions(own, do)
        labels = [self.rule.marginals(self.rule(concepts)) for concepts in by_member]
        averaged_labels = [torch.stack(same).mean(0) for same in zip(*labels, strict=True)]
        return Outputs(averaged_labels[: len(self.knowledge.labels)], averaged)

    @torch.no_grad()
    def member_concepts(self, data: SplitData) -> list[list[Array]]:
        """Return what each member says of each concept of a split (examples x values)."""
        self.eval()
        pictures, members = self.chunks(self.feed(data, self.device)), self.encoders()
        chunks = [[softmax_each(member(images)) for member in members] for images in pictures]
        return [
            [torch.cat(parts).cpu().numpy() for parts in zip(*(chunk[number] for chunk in chunks), strict=True)]
            for number in range(len(members))
        ]


def _relative(left: Tensor, right: Tensor) -> Tensor:
    """Return the mean Kullback-Leibler divergence of one distribution from another."""
    logs = left.clamp(min=SMALLEST).log() - right.clamp(min=SMALLEST).log()
    return (left * logs).sum(dim=1).mean()
