"""Splits as tensors on a device, and as a torch dataset for a DataLoader and a training loop of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import Dataset

from assay.dataset import SplitData


@dataclass(frozen=True)
class Annotations:
    """Label codes and concept codes of examples, as annotated, on a device. A concept code of -1 is missing."""

    labels: Tensor
    concepts: Tensor
    rows: Tensor
    """Which rows of the whole split these are."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.rows.device


@dataclass(frozen=True)
class Batch(Annotations):
    """Examples with their annotations and their pictures: bytes, examples x channels x height x width.

    Texts, tables, features, and where another model reads the pictures its concept probabilities take the place of
    pictures, as numbers that are not bytes.
    """

    images: Tensor

    @property
    def pictures(self) -> Tensor:
        """The pictures, or what takes their place, as numbers from 0 to 1."""
        return scaled(self.images)


def scaled(images: Tensor) -> Tensor:
    """Return bytes as numbers from 0 to 1, and other numbers as they are."""
    return images / 255 if images.dtype == torch.uint8 else images


def to_annotations(data: SplitData, device: torch.device) -> Annotations:
    """Return what a whole split says of its pictures, on a device."""
    labels, concepts = (torch.from_numpy(codes).to(device) for codes in (data.given_labels, data.given_concepts))
    return Annotations(labels, concepts, torch.arange(len(data), device=device))


def to_batch(data: SplitData, device: torch.device) -> Batch:
    """Return a whole split with its pictures on a device."""
    examples = to_annotations(data, device)
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous().to(device)
    return Batch(examples.labels, examples.concepts, examples.rows, images)


def one_hot_like(codes: Tensor, like: Tensor) -> Tensor:
    """Return the codes as one-hot, in the width and type of these probabilities."""
    return (codes[:, None] == torch.arange(like.shape[1], device=like.device)).to(like.dtype)


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
