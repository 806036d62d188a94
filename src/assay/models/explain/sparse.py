"""Sparse autoencoders: activations as sums of few directions, learned by drawing the activations again.

TopK (Gao et al., 2024) keeps the k largest units of each example; units that were not among them for a while are
revived by drawing what the others left. L1 (Bricken et al., 2023; Cunningham et al., 2023) has a penalty on the sum of
the units. The directions have length 1, so that the penalty cannot be avoided by small units with long directions.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.base import Array, ProgressCallback
from assay.models.core.devices import device_of
from assay.models.explain.discovery import Discoverer, DiscoveryConfig, Scaler, SplitRows, seeded

TOLD = 50
"""After how many steps progress is told."""
PATIENCE, REVIVAL = 50, 1 / 32
"""A unit is dead after so many steps without a part; the weight of the loss that revives dead ones."""


class AutoencoderConfig(DiscoveryConfig):
    """What both kinds of sparse autoencoders can set."""

    steps: int = Field(1500, ge=1)
    """The steps of training."""
    batch_size: int = Field(256, ge=1)
    learning_rate: float = Field(3e-3, gt=0)


class TopKConfig(AutoencoderConfig):
    """Settings of the TopK autoencoder."""

    active: int = Field(8, ge=1)
    """How many units of each example are kept."""


class L1Config(AutoencoderConfig):
    """Settings of the L1 autoencoder."""

    penalty: float = Field(0.1, ge=0)
    """The weight of the sum of the units beside the squared error."""


class Dictionary(nn.Module):
    """An encoder, and directions of length 1 that units are multiplied with."""

    def __init__(self, features: int, units: int) -> None:
        super().__init__()
        self.directions = nn.Parameter(F.normalize(torch.randn(units, features), dim=1))
        self.encoder = nn.Parameter(self.directions.detach().clone())
        self.bias = nn.Parameter(torch.zeros(units))
        self.centre = nn.Parameter(torch.zeros(features))

    def raw(self, rows: Tensor) -> Tensor:
        """Return the units before they are made sparse."""
        return (rows - self.centre) @ self.encoder.T + self.bias

    def draw(self, units: Tensor) -> Tensor:
        """Return activations from units."""
        return units @ self.directions + self.centre

    @torch.no_grad()
    def normalise(self) -> None:
        """Give every direction length 1 again."""
        self.directions.copy_(F.normalize(self.directions, dim=1))


class SparseAutoencoder(Discoverer):
    """What both kinds share: training by gradient descent on the squared error and what makes units few."""

    Config: ClassVar[type[DiscoveryConfig]] = AutoencoderConfig
    config: AutoencoderConfig
    dictionary: Dictionary
    scaler: Scaler

    @abstractmethod
    def sparse(self, raw: Tensor) -> Tensor:
        """Return the units as they are used."""

    @abstractmethod
    def loss(self, rows: Tensor, idle: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of some rows, and their units; `idle` says for how many steps each unit had no part."""

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Learn the dictionary."""
        device = device_of(self.config.device)
        self.scaler = Scaler.of(train.rows)
        rows = self.scaler(train.rows).to(device)
        with seeded(self.torch_seed()) as generator:
            self.dictionary = Dictionary(rows.shape[1], self.config.units).to(device)
            self._descend(rows, generator, report)
        dead = int((self.units(train).max(axis=0) <= 0).sum())
        if dead:
            self.notes.append(f"{dead} of {self.config.units} units are never active")

    def _descend(self, rows: Tensor, generator: torch.Generator, report: ProgressCallback) -> None:
        config = self.config
        search = torch.optim.Adam(self.dictionary.parameters(), lr=config.learning_rate)
        fall = torch.optim.lr_scheduler.LambdaLR(search, lambda step: min(1.0, 5 * (1 - step / config.steps)))
        idle = torch.zeros(config.units, device=rows.device)
        for step in range(config.steps):
            chosen = torch.randint(len(rows), (config.batch_size,), generator=generator).to(rows.device)
            search.zero_grad()
            loss, units = self.loss(rows[chosen], idle)
            loss.backward()  # type: ignore[no-untyped-call]
            search.step()
            fall.step()
            self.dictionary.normalise()
            idle = torch.where((units.detach() > 0).any(dim=0), torch.zeros_like(idle), idle + 1)
            if step % TOLD == 0:
                report(f"{self.name}, seed {self.seed}", step, config.steps)

    @torch.no_grad()
    def units(self, split: SplitRows) -> Array:
        """Return the sparse units of a split."""
        rows = self.scaler(split.rows).to(self.dictionary.centre.device)
        units: Array = self.sparse(self.dictionary.raw(rows)).double().cpu().numpy()
        return units

    @property
    def directions(self) -> Array:
        """The direction of each unit in the space of the activations, a row each."""
        directions: Array = self.dictionary.directions.detach().cpu().numpy()
        return directions


class TopKAutoencoder(SparseAutoencoder):
    """The k largest units of each example."""

    name = "sae-topk"
    Config: ClassVar[type[DiscoveryConfig]] = TopKConfig
    config: TopKConfig

    def sparse(self, raw: Tensor) -> Tensor:
        """Keep the k largest, and of these what is above 0."""
        kept = raw.topk(min(self.config.active, raw.shape[1]), dim=1)
        return torch.zeros_like(raw).scatter(1, kept.indices, kept.values.relu())

    def loss(self, rows: Tensor, idle: Tensor) -> tuple[Tensor, Tensor]:
        """Return the squared error, and that of dead units drawing what the others left."""
        raw = self.dictionary.raw(rows)
        units = self.sparse(raw)
        error = rows - self.dictionary.draw(units)
        loss = error.square().mean()
        dead = idle > PATIENCE
        if dead.any():
            revived = self.sparse(raw.masked_fill(~dead, -torch.inf).clamp_min(-1e9))
            loss = loss + REVIVAL * (error.detach() - revived @ self.dictionary.directions).square().mean()
        return loss, units


class L1Autoencoder(SparseAutoencoder):
    """Units above 0 with a penalty on their sum."""

    name = "sae-l1"
    Config: ClassVar[type[DiscoveryConfig]] = L1Config
    config: L1Config

    def sparse(self, raw: Tensor) -> Tensor:
        """Keep what is above 0."""
        return raw.relu()

    def loss(self, rows: Tensor, idle: Tensor) -> tuple[Tensor, Tensor]:
        """Return the squared error and the penalty."""
        units = self.sparse(self.dictionary.raw(rows))
        error = (rows - self.dictionary.draw(units)).square().sum(dim=1).mean()
        penalty = self.config.penalty * rows.shape[1] ** 0.5 * units.sum(dim=1).mean()
        return (error + penalty) / rows.shape[1], units
