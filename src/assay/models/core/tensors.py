"""Splits as tensors on a device, and as a torch dataset for a DataLoader and a training loop of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import Dataset

from assay.data.dataset import SplitData


@dataclass(frozen=True)
class Batch:
    """Pictures (bytes, examples x channels x height x width), label codes and concept codes, as annotated.

    A concept code of -1 is missing.
    """

    images: Tensor
    labels: Tensor
    concepts: Tensor
    rows: Tensor
    """Which rows of the whole split these are."""

    def __len__(self) -> int:
        return len(self.images)

    def take(self, rows: Tensor) -> "Batch":
        """Return some of the rows."""
        return Batch(self.images[rows], self.labels[rows], self.concepts[rows], self.rows[rows])

    @property
    def pictures(self) -> Tensor:
        """The pictures as numbers from 0 to 1."""
        return self.images.float() / 255


def to_batch(data: SplitData, device: torch.device) -> Batch:
    """Return a whole split on a device."""
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous()
    return Batch(
        images.to(device),
        torch.from_numpy(data.given_labels).to(device),
        torch.from_numpy(data.given_concepts).to(device),
        torch.arange(len(data), device=device),
    )


class TorchSplit(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """A split as a torch dataset of (picture from 0 to 1, label codes, concept codes); decodes what is asked for."""

    def __init__(self, data: SplitData) -> None:
        self.data = data
        self.labels = torch.from_numpy(data.given_labels)
        self.concepts = torch.from_numpy(data.given_concepts)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return one example."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"split {self.data.name!r} has {len(self)} examples, so no example {row}")
        return self.__getitems__([row % len(self)])[0]

    def __getitems__(self, rows: Sequence[int]) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Return some examples, as a DataLoader asks for those of a batch."""
        pictures = torch.from_numpy(self.data.pictures(rows)).permute(0, 3, 1, 2).float() / 255
        return list(zip(pictures, self.labels[rows], self.concepts[rows], strict=True))
