"""ProbCBM with and without attention over positions, the one part of its authors' encoder that ours does not have.

Our encoders hand over one vector for each concept, whatever the backbone, so that there are no positions to attend to.
Here a small convolutional network keeps them: features of each concept at 8 x 8 positions, averaged, or averaged with
what attention picks out added (PIE, Song and Soleymani 2019), as Kim et al. (2023) do.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.models import MODELS

CHANNELS = 48


class Attention(nn.Module):
    """Features of the positions that matter: their mean, weighted by a small network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weigh = nn.Sequential(nn.Linear(width, width, bias=False), nn.Tanh(), nn.Linear(width, 1, bias=False))

    def forward(self, positions: Tensor) -> Tensor:
        """Return the weighted mean of features: examples x positions x width to examples x width."""
        return (self.weigh(positions).softmax(dim=1) * positions).sum(dim=1)


class Place(nn.Module):
    """The mean and the log variance of one concept's embedding, from its features at all positions."""

    def __init__(self, width: int, attend: bool) -> None:
        super().__init__()
        self.mean, self.log_variance = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.attend = attend
        if attend:
            self.picks = nn.ModuleList(Attention(width) for _ in range(2))
            self.added = nn.ModuleList(nn.Linear(width, width) for _ in range(2))

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return both, of examples x positions x width."""
        average = positions.mean(dim=1)
        mean, log_variance = self.mean(average), self.log_variance(average)
        if self.attend:
            mean = mean + self.added[0](self.picks[0](positions)).sigmoid()
            log_variance = log_variance + self.added[1](self.picks[1](positions))
        return self.norm(mean), log_variance


class PositionedGaussians(nn.Module):
    """In place of `Gaussians`: a convolutional network that keeps positions, and a stem for each concept."""

    def __init__(self, channels: int, count: int, width: int, attend: bool) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs, stride in ((channels, 24, 2), (24, CHANNELS, 2), (CHANNELS, CHANNELS, 1)):
            layers += [nn.Conv2d(inputs, outputs, 3, stride, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
        stem = [nn.Conv2d(CHANNELS, width * count, 1), nn.BatchNorm2d(width * count), nn.ReLU()]
        self.body, self.width = nn.Sequential(*layers, *stem), width
        self.places = nn.ModuleList(Place(width, attend) for _ in range(count))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return means of length 1, and log variances: examples x concepts x width."""
        maps = self.body(pictures).flatten(2).split(self.width, dim=1)
        pairs = [place(own.transpose(1, 2)) for place, own in zip(self.places, maps, strict=True)]
        mean, log_variance = (torch.stack(parts, dim=1) for parts in zip(*pairs, strict=True))
        return F.normalize(mean, dim=-1), log_variance.clamp(max=10)


class AveragedProbCBM(MODELS["probcbm"]):
    """ProbCBM whose features are averaged over positions."""

    attend = False

    def build(self, backbone: str) -> None:
        """Make all but the encoder as usual."""
        super().build(backbone)
        count, width = len(self.space), self.config.width
        self.gaussians = PositionedGaussians(self.layout.channels, count, width, self.attend)  # type: ignore[assignment]


class AttendingProbCBM(AveragedProbCBM):
    """ProbCBM with its authors' attention."""

    attend = True
