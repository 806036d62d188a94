"""Backbones: from a picture to features. Layers as in the appendix of the rsbench paper, sizes taken from the input."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from assay.errors import ConfigError
from assay.models import BACKBONES

Shape = tuple[int, int, int]
"""Channels, height, width."""


@dataclass(frozen=True)
class Backbone:
    """A network and the number of features it gives."""

    network: nn.Module
    features: int


def build_backbone(name: str, shape: Shape) -> Backbone:
    """Return the named backbone for pictures of this shape."""
    make: Callable[[Shape], nn.Sequential] = BACKBONES[name]
    try:
        network = make(shape)
        with torch.no_grad():
            features = network.eval()(torch.zeros(1, *shape)).shape[1]
    except RuntimeError:
        size = f"{shape[2]} x {shape[1]}"
        raise ConfigError(f"backbone {name!r} cannot read pictures of {size} pixels; try 'mlp'") from None
    return Backbone(network.train(), int(features))


def _dense(shape: Shape, convolutions: list[nn.Module], widths: list[int]) -> nn.Sequential:
    """Return convolutions followed by layers of these widths, each with a rectifier."""
    front = nn.Sequential(*convolutions, nn.Flatten())
    with torch.no_grad():
        inputs = int(front.eval()(torch.zeros(1, *shape)).shape[1])
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(front, *layers)


def _pooled(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]


class Dropout(nn.Module):
    """Dropout of one half. On a CPU it draws one random byte an entry, eight at a time: dropout was 40 % of a step."""

    def forward(self, features: Tensor) -> Tensor:
        """Return the features, in training with each one either doubled or zero."""
        if not self.training:
            return features
        if features.device.type != "cpu":
            return nn.functional.dropout(features, 0.5)
        words = torch.empty(-(-features.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: features.numel()].view(features.shape) >= 128
        return features * kept.to(features.dtype).mul_(2)


def conv_stride(shape: Shape) -> nn.Sequential:
    """Return three strided convolutions with dropout between them."""
    return nn.Sequential(
        nn.Conv2d(shape[0], 32, 4, stride=2, padding=1),
        nn.ReLU(),
        Dropout(),
        nn.Conv2d(32, 64, 4, stride=2, padding=1),
        nn.ReLU(),
        Dropout(),
        nn.Conv2d(64, 128, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
    )


def conv_pool(shape: Shape) -> nn.Sequential:
    """Return two pooled convolutions and two layers."""
    return _dense(shape, [*_pooled(shape[0], 16), *_pooled(16, 32)], [128, 64])


def mlp_embedding(shape: Shape) -> nn.Sequential:
    """Return two layers for a picture that is an embedding."""
    return _dense(shape, [], [256, 64])


def conv_pool_3(shape: Shape) -> nn.Sequential:
    """Return two pooled convolutions, a plain one, and two layers."""
    last = [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()]
    return _dense(shape, [*_pooled(shape[0], 16), *_pooled(16, 32), *last], [128, 64])


def conv_wide(shape: Shape) -> nn.Sequential:
    """Return two wide pooled convolutions and one layer."""
    return _dense(shape, [*_pooled(shape[0], 32), *_pooled(32, 64)], [128])


def mlp(shape: Shape) -> nn.Sequential:
    """Return two layers on the pixels."""
    return _dense(shape, [], [64, 64])
