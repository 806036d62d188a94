"""Small networks: layers as in the appendix of the rsbench paper, sizes taken from the input."""

from itertools import pairwise

import torch
from torch import nn

from assay.models.backbones.build import BackbonePlan, Dropout, Shape, backbone, dense


def _dense(shape: Shape, convolutions: list[nn.Module], widths: list[int]) -> nn.Sequential:
    """Return convolutions followed by layers of these widths, each with a rectifier."""
    front = nn.Sequential(*convolutions, nn.Flatten())
    with torch.no_grad():
        inputs = int(front.eval()(torch.zeros(1, *shape)).shape[1])
    return nn.Sequential(front, *dense(inputs, widths))


def _pooled_convolutions(*depths: int) -> list[nn.Module]:
    """Return convolutions from each depth to the next, each rectified and pooled."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(depths):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return layers


@backbone(smallest=8)
def conv_stride(shape: Shape) -> nn.Module:
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


@backbone(smallest=8)
def conv_norm(shape: Shape) -> nn.Module:
    """Return two pooled convolutions with group norm at half the resolution, and a layer.

    White paper makes batch norms unsteady: what they keep of batches lags behind, and answers in use are then poor.
    """
    layers: list[nn.Module] = [nn.AvgPool2d(2)]
    for inputs, outputs in pairwise((shape[0], 32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(8, outputs), nn.ReLU(), nn.MaxPool2d(2)]
    return _dense(shape, layers, [128])


@backbone(smallest=4)
def conv_pool_3(shape: Shape) -> nn.Module:
    """Return two pooled convolutions, a plain one, and two layers."""
    last = [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()]
    return _dense(shape, [*_pooled_convolutions(shape[0], 16, 32), *last], [128, 64])


@backbone(smallest=1)
def conv_3(shape: Shape) -> nn.Module:
    """Return three convolutions without pooling, 64 features a pixel: the detector of the concept benchmark."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise((shape[0], 16, 32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten())


def _pooling(*depths: int, widths: list[int], smallest: int) -> BackbonePlan:
    """Declare pooled convolutions of these depths, followed by layers of these widths."""
    return backbone(smallest)(lambda shape: _dense(shape, _pooled_convolutions(shape[0], *depths), widths))


def _perceptron(*widths: int) -> BackbonePlan:
    """Declare layers of these widths on the pixels, or on an embedding that takes the place of a picture."""
    return backbone(reads=("image", "numbers"))(lambda shape: _dense(shape, [], list(widths)))


conv_pool = _pooling(16, 32, widths=[128, 64], smallest=4)
conv_pool_5 = _pooling(16, 32, 64, 128, 256, widths=[512, 64], smallest=32)
conv_pool_6 = _pooling(16, 32, 64, 128, 256, 512, widths=[128, 64], smallest=64)
"""Table 9 of rsbench prints rectifiers after the first two convolutions only."""
conv_wide = _pooling(32, 64, widths=[128], smallest=4)
mlp_embedding = _perceptron(256, 64)
mlp_embedding_small = _perceptron(128, 64)
mlp_wide = _perceptron(256, 128)
mlp = _perceptron(64, 64)
