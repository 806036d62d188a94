"""Probabilistic concept embeddings (ProbCBM): a concept is a Gaussian in a space where each of its values has a point.

After Kim et al. (2023). From the picture come the mean and the variance of a concept's embedding; a value is the more
probable the nearer its point; the label is the more probable the nearer its point is to a linear function of all
embeddings. Probabilities are averages over samples, as no closed form is known: in training fresh ones, in use always
the same, so that answers are the same each time and do not depend on other examples. To intervene on a concept is to
put its embedding onto the point of the value that is given.
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.models.concept.heads import harden
from assay.models.core.devices import seed_of
from assay.models.core.encoder import ConceptEncoder
from assay.models.core.network import ConceptModel
from assay.models.core.settings import ConceptConfig, NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    SMALLEST,
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    is_set,
    label_loss,
    one_hot_like,
)

SCALE = 5.0
"""How fast probability falls with distance, before anything is learned."""
MOST_LOG_VARIANCE = 10.0


class ProbCBMConfig(ConceptConfig):
    """Settings of probabilistic embeddings; defaults as in the concept benchmark's Table 7."""

    mode: Literal["sequential", "joint"] = "sequential"
    """`sequential`: concepts, then labels, as the authors train it. `joint`: all at once."""
    latent: int = Field(8, ge=2)
    """How many features of the picture each concept is read from."""
    width: int = Field(8, ge=1)
    """The length of a concept's embedding."""
    label_width: int = Field(64, ge=1)
    """The length of a label's embedding."""
    samples: int = Field(50, ge=0)
    """How many samples probabilities are averaged over; with 0 the means are used as they are."""
    intervention_chance: float = Field(0.25, ge=0, le=1)
    """The probability that a sample is moved to the points of the true values in training, where they are
    supervised."""
    spread_weight: float = Field(5e-5, ge=0)
    """The weight of the divergence between embeddings and the standard Gaussian."""


class Gaussians(nn.Module):
    """From pictures to the mean and the log variance of each concept's embedding: examples x concepts x width."""

    def __init__(self, encoder: ConceptEncoder, count: int, config: ProbCBMConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.norm = nn.LayerNorm(config.latent)
        self.mean = nn.Parameter(torch.randn(count, config.latent, config.width) / math.sqrt(config.latent))
        self.log_variance = nn.Parameter(torch.randn(count, config.latent, config.width) / math.sqrt(config.latent))
        self.middle = nn.Parameter(torch.zeros(count, config.width))
        self.level = nn.Parameter(torch.full((count, config.width), -3.0))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return means of length 1, and log variances."""
        read = F.leaky_relu(self.norm(torch.stack(self.encoder(pictures), dim=1)))
        mean = torch.einsum("bcl,clw->bcw", read, self.mean) + self.middle
        log_variance = torch.einsum("bcl,clw->bcw", read, self.log_variance) + self.level
        return F.normalize(mean, dim=-1), log_variance.clamp(max=MOST_LOG_VARIANCE)


class ProbCBM(ConceptModel):
    """Labels from concepts that are uncertain embeddings."""

    name = "probcbm"
    Config: ClassVar[type[NeuralConfig]] = ProbCBMConfig
    config: ProbCBMConfig

    def build(self, backbone: str) -> None:
        """Make the encoder, the points of values and labels, and the linear layer between them."""
        config, count = self.config, len(self.space)
        widths = dict.fromkeys(self.space.names, config.latent)
        self.gaussians = Gaussians(self.read_encoder(backbone, widths), count, config)
        self.points = nn.ParameterList(torch.randn(size, config.width) for size in self.space.sizes)
        self.scale = nn.Parameter(torch.tensor(SCALE))
        self.head = nn.Linear(count * config.width, len(self.label_sizes) * config.label_width)
        self.label_points = nn.ParameterList(torch.randn(size, config.label_width) for size in self.label_sizes)
        self.label_scale = nn.Parameter(torch.tensor(SCALE))
        fixed = torch.Generator().manual_seed(seed_of(self.seed, self.name, "samples"))
        noise = torch.randn(max(1, config.samples), count, config.width, generator=fixed)
        self.register_buffer("noise", noise if config.samples else torch.zeros_like(noise), persistent=False)

    def sample_embeddings(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        """Return embeddings: examples x samples x concepts x width."""
        noise: Tensor = self.noise  # type: ignore[assignment]
        if self.training and self.config.samples:
            noise = torch.randn(len(mean), *noise.shape, device=mean.device)
        return mean[:, None] + noise * (log_variance / 2).exp()[:, None]

    def concepts_of(self, embeddings: Tensor) -> list[Tensor]:
        """Return the probabilities of each concept's values."""
        probabilities = []
        for place, points in enumerate(self.points):
            distance = _distance(embeddings[:, :, place], F.normalize(points, dim=-1))
            probabilities.append((-self.scale * distance).softmax(dim=-1).mean(dim=1))
        return probabilities

    def labels_of(self, embeddings: Tensor) -> list[Tensor]:
        """Return the probabilities of each label's values."""
        projected = self.head(embeddings.flatten(2)).chunk(len(self.label_sizes), dim=-1)
        probabilities = []
        for embedding, points in zip(projected, self.label_points, strict=True):
            distance = _distance(embedding, points) / math.sqrt(self.config.label_width)
            probabilities.append((-self.label_scale * distance).softmax(dim=-1).mean(dim=1))
        return probabilities

    def set_concepts(self, embeddings: Tensor, concepts: list[Tensor], where: Tensor) -> Tensor:
        """Return the embeddings with concepts put onto the points of values, mixed where these are not certain.

        `where` says in which examples, samples (or in all, where that side is 1) and concepts.
        """
        pairs = zip(concepts, self.points, strict=True)
        points = torch.stack([probabilities @ F.normalize(own, dim=-1).detach() for probabilities, own in pairs], dim=1)
        return torch.where(where[..., None], points[:, None], embeddings)

    def phases(self, data: Annotations) -> list[Phase]:
        """Return concepts, then labels; or one phase for all."""
        mask = self.supervision(data)

        def concepts(batch: Batch) -> tuple[Tensor, Tensor]:
            mean, log_variance = self.gaussians(batch.pictures)
            embeddings = self.sample_embeddings(mean, log_variance)
            logs = [probabilities.clamp(min=SMALLEST).log() for probabilities in self.concepts_of(embeddings)]
            apart = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(dim=-1).mean()
            loss = concept_loss(logs, batch.concepts, mask[batch.rows]) + self.config.spread_weight * apart
            return embeddings, loss

        def labels(batch: Batch, embeddings: Tensor) -> Tensor:
            known = mask[batch.rows]
            truth = [one_hot_like(batch.concepts[:, i], points.T) for i, points in enumerate(self.points)]
            drawn = torch.rand(embeddings.shape[:2], device=known.device) < self.config.intervention_chance
            if self.config.hard:
                embeddings = self.set_concepts(
                    embeddings, harden(self.concepts_of(embeddings)), torch.ones_like(known[:, None])
                )
            inputs = self.set_concepts(embeddings, truth, known[:, None] & drawn[:, :, None])
            logs = [probabilities.clamp(min=SMALLEST).log() for probabilities in self.labels_of(inputs)]
            return label_loss(logs, batch.labels)

        def joint(batch: Batch) -> Tensor:
            embeddings, loss = concepts(batch)
            return labels(batch, embeddings) + self.config.concept_weight * loss

        def labels_alone(batch: Batch) -> Tensor:
            self.gaussians.eval()
            with torch.no_grad():
                embeddings = self.sample_embeddings(*self.gaussians(batch.pictures))
            return labels(batch, embeddings)

        if self.config.mode == "joint":
            return [Phase("joint", list(self.parameters()), joint, "all")]
        last = [*self.head.parameters(), *self.label_points.parameters(), self.label_scale]
        first = [*self.gaussians.parameters(), *self.points.parameters(), self.scale]
        return [
            Phase("concepts", first, lambda b: concepts(b)[1], "concepts"),
            Phase("labels", last, labels_alone, "all"),
        ]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` as given, and the label probabilities that follow."""
        embeddings = self.sample_embeddings(*self.gaussians(pictures))
        own = self.concepts_of(embeddings)
        concepts = apply_interventions(own, do)
        if self.config.hard:
            every = torch.ones(1, 1, len(own), dtype=torch.bool, device=embeddings.device)
            return Outputs(self.labels_of(self.set_concepts(embeddings[:, :1], harden(concepts), every)), concepts)
        where = torch.zeros(len(pictures), 1, len(own), dtype=torch.bool, device=embeddings.device)
        for place, setting in do.items():
            where[:, 0, place] = is_set(own[place], setting)
        return Outputs(self.labels_of(self.set_concepts(embeddings, concepts, where)), concepts)


def _distance(embeddings: Tensor, points: Tensor) -> Tensor:
    """Return the distance of each embedding (examples x samples x width) to each point."""
    squares = embeddings.square().sum(dim=-1, keepdim=True) + points.square().sum(dim=-1) - 2 * embeddings @ points.T
    return (squares.clamp(min=0) + 1e-6).sqrt()
