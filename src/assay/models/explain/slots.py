"""Slot attention (Locatello et al., 2020): a set of slots that compete for the places of a picture.

An encoder turns the picture into a map, slots attend to its places for a few rounds, and a decoder draws each slot by
itself with a mask; together they must give the picture again. Nothing else is learned from. Slots have no order of
their own: they are put from left to right by the centre of what they attend to, so that each has a fixed place. A unit
is one number of one slot: its features, then the centre (across, down) and the share of the picture it attends to.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.base import Array, ProgressCallback
from assay.models.core.devices import device_of
from assay.models.explain.discovery import Discoverer, DiscoveryConfig, SplitRows, seeded

TOLD = 10
STEP = 4
"""Pictures are drawn in sides that this divides."""
AT_ONCE = 128


class SlotsConfig(DiscoveryConfig):
    """Settings of slot attention; `units` has no effect, since each slot has `width` numbers, its centre and size."""

    slots: int = Field(4, ge=2)
    """How many slots compete: one for each object, and one for the background."""
    width: int = Field(24, ge=4)
    """How many features a slot has."""
    rounds: int = Field(3, ge=1)
    """How often slots attend."""
    side: int = Field(32, ge=8)
    """The longer side of the pictures that are drawn, in pixels."""
    steps: int = Field(400, ge=1)
    """The steps of training."""
    batch_size: int = Field(32, ge=1)
    learning_rate: float = Field(4e-3, gt=0)


class SlotAttention(nn.Module):
    """Slots that compete for places: softmax over slots, then a mean over the places each has won, round by round."""

    def __init__(self, slots: int, width: int, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.start = nn.Parameter(torch.randn(slots, width) * width**-0.5)
        self.norm_places, self.norm_slots, self.norm_out = (nn.LayerNorm(width) for _ in range(3))
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.update = nn.GRUCell(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Return slots (examples x slots x width), and how much each attends to each place (... x slots x places)."""
        places = self.norm_places(places)
        keys, values = self.key(places), self.value(places)
        slots = self.start.expand(len(places), -1, -1)
        attention = torch.zeros(0)
        for _ in range(self.rounds):
            queries = self.query(self.norm_slots(slots)) * slots.shape[2] ** -0.5
            attention = (queries @ keys.transpose(1, 2)).softmax(dim=1) + 1e-8
            means = (attention / attention.sum(dim=2, keepdim=True)) @ values
            slots = self.update(means.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
            slots = slots + self.mlp(self.norm_out(slots))
        return slots, attention


def grid(height: int, width: int) -> Tensor:
    """Return where each place is: its distances from the left, the top, the right and the bottom (places x 4)."""
    down, across = torch.meshgrid(torch.linspace(0, 1, height), torch.linspace(0, 1, width), indexing="ij")
    return torch.stack([across, down, 1 - across, 1 - down], dim=-1).flatten(0, 1)


class SlotAutoencoder(nn.Module):
    """Encoder, slot attention and a decoder that draws every slot by itself."""

    def __init__(self, channels: int, height: int, width: int, config: SlotsConfig) -> None:
        super().__init__()
        size = config.width
        self.places_shape, self.canvas_shape = (height // 2, width // 2), (height // 4, width // 4)
        self.encoder = nn.Sequential(
            *(nn.Conv2d(channels, size, 5, padding=2), nn.GELU()),
            *(nn.Conv2d(size, size, 5, stride=2, padding=2), nn.GELU()),
            nn.Conv2d(size, size, 3, padding=1),
        )
        self.places, self.canvas = nn.Linear(4, size), nn.Linear(4, size)
        self.mix = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, size), nn.GELU(), nn.Linear(size, size))
        self.attention = SlotAttention(config.slots, size, config.rounds)
        self.decoder = nn.Sequential(
            *(nn.ConvTranspose2d(size, size, 4, stride=2, padding=1), nn.GELU()),
            *(nn.ConvTranspose2d(size, 16, 4, stride=2, padding=1), nn.GELU()),
            nn.Conv2d(16, channels + 1, 3, padding=1),
        )

    def encode(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return the slots of pictures, and what each attends to."""
        places = self.encoder(pictures).flatten(2).transpose(1, 2) + self.places(
            grid(*self.places_shape).to(pictures.device)
        )
        slots, attention = self.attention(self.mix(places))
        return slots, attention

    def forward(self, pictures: Tensor) -> Tensor:
        """Return pictures drawn again: each slot's drawing, mixed by the masks."""
        slots, _ = self.encode(pictures)
        canvas = slots.flatten(0, 1)[:, None] + self.canvas(grid(*self.canvas_shape).to(pictures.device))
        maps = canvas.transpose(1, 2).unflatten(2, self.canvas_shape)
        drawn = self.decoder(maps).unflatten(0, slots.shape[:2])
        masks = drawn[:, :, -1:].softmax(dim=1)
        mixed: Tensor = (masks * drawn[:, :, :-1]).sum(dim=1)
        return mixed


@dataclass(frozen=True)
class DrawnSize:
    """The size in which pictures are drawn again, and their mean and deviation, which are taken to 0 and 1.

    Without that, few bright pixels on a dark ground would be a small error, and the mean picture learned for long.
    """

    height: int
    width: int
    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def of(cls, height: int, width: int, side: int) -> "DrawnSize":
        """Return the size whose longer side is at most `side`, both divisible by four.

        >>> DrawnSize.of(28, 56, 32)
        DrawnSize(height=16, width=32, mean=0.0, deviation=1.0)
        """
        scale = side / max(height, width)
        return cls(*(max(2 * STEP, round(length * scale / STEP) * STEP) for length in (height, width)))

    def scaled_for(self, images: Tensor) -> "DrawnSize":
        """Return the size with the mean and deviation of some pictures."""
        pictures = self(images)
        return replace(self, mean=float(pictures.mean()), deviation=float(pictures.std().clamp_min(1e-6)))

    def __call__(self, images: Tensor) -> Tensor:
        """Return pictures of bytes as numbers in this size."""
        pictures = F.interpolate(images.float() / 255, (self.height, self.width), mode="bilinear", antialias=True)
        return (pictures - self.mean) / self.deviation


class Slots(Discoverer):
    """Slots, trained to draw the pictures again."""

    name = "slots"
    reads = "pictures"
    Config: ClassVar[type[DiscoveryConfig]] = SlotsConfig
    config: SlotsConfig
    network: SlotAutoencoder
    size: DrawnSize

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Train on the pictures alone; note how much of their variance is drawn on validation."""
        device = device_of(self.config.device)
        channels, height, width = train.rows.shape[1:]
        self.size = DrawnSize.of(height, width, self.config.side).scaled_for(train.rows)
        with seeded(self.torch_seed()) as generator:
            self.network = SlotAutoencoder(channels, self.size.height, self.size.width, self.config).to(device)
            self._descend(self.size(train.rows), generator, report)
        self.notes.append(f"the slots explain {self._explained(valid):.0%} of the variance of validation's pixels")

    def _descend(self, pictures: Tensor, generator: torch.Generator, report: ProgressCallback) -> None:
        config, device = self.config, next(self.network.parameters()).device
        search = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate)
        warm = max(1, config.steps // 10)
        pace = torch.optim.lr_scheduler.LambdaLR(
            search, lambda step: min((step + 1) / warm, 0.5 ** (3 * step / config.steps))
        )
        for step in range(config.steps):
            chosen = torch.randint(len(pictures), (config.batch_size,), generator=generator)
            batch = pictures[chosen].to(device)
            search.zero_grad()
            loss = F.mse_loss(self.network(batch), batch)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            search.step()
            pace.step()
            if step % TOLD == 0:
                report(f"{self.name}, seed {self.seed}", step, config.steps)

    @torch.no_grad()
    def _explained(self, split: SplitRows) -> float:
        """Return 1 minus the squared error, in units of the variance of each pixel."""
        pictures, device = self.size(split.rows), next(self.network.parameters()).device
        drawn = torch.cat([self.network(part.to(device)).cpu() for part in torch.split(pictures, AT_ONCE)])
        variance = (pictures - pictures.mean(dim=0)).square().mean()
        return float(1 - (drawn - pictures).square().mean() / variance.clamp_min(1e-12))

    @torch.no_grad()
    def units(self, split: SplitRows) -> Array:
        """Return the numbers of all slots, from left to right."""
        device = next(self.network.parameters()).device
        rows = []
        for part in torch.split(split.rows, AT_ONCE):
            slots, attention = (x.cpu() for x in self.network.encode(self.size(part).to(device)))
            mass = attention.sum(dim=2, keepdim=True)
            centres = attention / mass @ grid(*self.network.places_shape)[:, :2]
            numbers = torch.cat([slots, centres, mass / attention.shape[2]], dim=2)
            order = centres[:, :, 0].argsort(dim=1)
            rows.append(numbers.gather(1, order[:, :, None].expand_as(numbers)).flatten(1))
        units: Array = torch.cat(rows).double().numpy()
        return units
