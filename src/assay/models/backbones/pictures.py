"""Pictures made ready for a deep network: stretched to a size, and three colours scaled as its weights expect."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.models.backbones.build import Shape

Scale = tuple[tuple[float, ...], tuple[float, ...]]
"""The mean and deviation of each colour."""
IMAGENET: Scale = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


class Colours(nn.Module):
    """Three colours, with this mean and deviation taken out."""

    def __init__(self, mean: tuple[float, ...], deviation: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1), persistent=False)
        self.register_buffer("deviation", torch.tensor(deviation).view(1, -1, 1, 1), persistent=False)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the scaled pictures."""
        mean, deviation = self.get_buffer("mean"), self.get_buffer("deviation")
        return (pictures[:, :3].expand(-1, 3, -1, -1) - mean) / deviation


class Resized(nn.Module):
    """Pictures stretched to one size, smoothly."""

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the pictures at the size."""
        if tuple(pictures.shape[2:]) == self.size:
            return pictures
        return F.interpolate(pictures, self.size, mode="bilinear", antialias=True)

    def extra_repr(self) -> str:
        """Return the size, which is part of what the network is."""
        return str(self.size)


def next_multiple(shape: Shape, step: int) -> tuple[int, int]:
    """Return the height and width of pictures, each rounded up to a multiple of the step.

    >>> next_multiple((3, 270, 480), 16)
    (272, 480)
    """
    return -(-shape[1] // step) * step, -(-shape[2] // step) * step
