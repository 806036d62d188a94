"""Dropout: of single features, and of all that a block adds to an example."""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Dropout of one half. On a CPU it draws one random byte an entry, eight at a time: dropout was 40 % of a step."""

    def forward(self, features: Tensor) -> Tensor:
        """Return the features, in training with each one either doubled or zero."""
        if not self.training:
            return features
        if features.device.type != "cpu":
            return nn.functional.dropout(features, 0.5)
        words = torch.empty(-(-features.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        mask = words.view(torch.uint8)[: features.numel()].view(features.shape) >= 128
        return features * mask.to(features.dtype).mul_(2)


class StochasticDepth(nn.Module):
    """Dropout of what a block adds to an example, all of it or nothing: the deeper the block, the likelier."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, added: Tensor) -> Tensor:
        """Return what is added, in training to some of the examples only."""
        if not self.training or self.rate == 0:
            return added
        ones = torch.ones(len(added), *[1] * (added.ndim - 1), dtype=added.dtype, device=added.device)
        return added * nn.functional.dropout(ones, self.rate)

    def extra_repr(self) -> str:
        """Return the share of examples that go without."""
        return f"{self.rate:g}"


class HeadLayer(nn.Linear):
    """The linear layer on top of a backbone's features, with dropout of these in training."""

    dropout: float = 0.0

    def forward(self, input: Tensor) -> Tensor:
        """Return the layer's outputs."""
        return super().forward(nn.functional.dropout(input, self.dropout, self.training) if self.dropout else input)

    def extra_repr(self) -> str:
        """Return its sizes and its dropout."""
        return f"{super().extra_repr()}, dropout={self.dropout:g}"
