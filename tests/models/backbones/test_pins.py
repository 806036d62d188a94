"""Every backbone that is quick enough computes what it did from weights that a seed decides."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from assay.models.backbones import deep
from assay.models.backbones.build import build_backbone
from assay.models.backbones.dropout import Dropout, HeadLayer, StochasticDepth
from assay.models.backbones.pictures import Colours, Resized
from assay.models.backbones.swin import Swin
from assay.models.backbones.vit import VisionTransformer, vision_transformer
from tests.models.pins import require_pins, summary

Made = tuple[nn.Module, Tensor]


def pictures(*shape: int, count: int = 3) -> Tensor:
    """Return pictures that are brighter to the right, with noise."""
    noise = torch.rand(count, *shape, generator=torch.Generator().manual_seed(4))
    return (noise + torch.linspace(0, 1, shape[-1])) / 2


def texts(words: int, length: int) -> Tensor:
    """Return numbers of words, the later texts being shorter."""
    numbers = torch.randint(1, words, (3, 1, 1, length), generator=torch.Generator().manual_seed(5))
    for row in range(3):
        numbers[row, ..., length - 2 * row :] = 0
    return numbers


def named(name: str, *shape: int) -> Callable[[], Made]:
    """Return what makes a backbone by its name, and its pictures."""
    return lambda: (build_backbone(name, (shape[0], shape[1], shape[2])).network, pictures(*shape))


def reading(name: str) -> Callable[[], Made]:
    """Return what makes a backbone for texts."""
    return lambda: (build_backbone(name, (11, 1, 7)).network, texts(11, 7))


def part(make: Callable[[], nn.Module], *shape: int) -> Callable[[], Made]:
    """Return what makes a part of backbones, and what goes in."""
    return lambda: (make(), pictures(*shape))


def with_dropout() -> nn.Module:
    """Return a head layer that drops features."""
    layer = HeadLayer(10, 4)
    layer.dropout = 0.4
    return layer


CASES: dict[str, Callable[[], Made]] = {
    "conv-stride": named("conv-stride", 1, 9, 12),
    "conv-pool": named("conv-pool", 3, 9, 12),
    "conv-pool-3": named("conv-pool-3", 2, 9, 12),
    "conv-pool-5": named("conv-pool-5", 1, 32, 40),
    "conv-wide": named("conv-wide", 1, 9, 12),
    "conv-norm": named("conv-norm", 3, 9, 12),
    "mlp": named("mlp", 1, 5, 3),
    "mlp-wide": named("mlp-wide", 2, 5, 3),
    "mlp-embedding": named("mlp-embedding", 1, 12, 1),
    "mlp-embedding-small": named("mlp-embedding-small", 1, 12, 1),
    "frozen": named("frozen:conv-pool", 3, 9, 12),
    "bag-of-ngrams": reading("bag-of-ngrams"),
    "text-transformer": reading("text-transformer"),
    "resnet-18": named("resnet-18", 1, 20, 16),
    "resnet-small": named("resnet-small", 3, 10, 12),
    "resnet of bottlenecks": part(lambda: deep.ResNet((4, 6), (2, 2), True, deep.Bottleneck), 3, 20, 16),
    "vgg": part(lambda: deep.Vgg(((4,), (6, 5))), 3, 9, 12),
    "efficientnet-lite0": named("efficientnet-lite0", 3, 32, 34),
    "efficientnet-b0": named("efficientnet-b0", 3, 32, 40),
    "vision transformer": part(lambda: VisionTransformer((8, 12), 4, 2, 12, 3), 3, 8, 12),
    "vision transformer, resized": part(lambda: vision_transformer(4, 2, 8, 2).make((3, 7, 10), None), 3, 7, 10),
    "swin": part(lambda: Swin((60, 37), ((2, 2), (2, 4), (1, 8)), 8), 3, 60, 37),
    "swin, small": part(lambda: Swin((16, 20), ((2, 1), (2, 2)), 6), 3, 16, 20),
    "dropout": part(Dropout, 3, 5, 7),
    "stochastic depth": part(lambda: StochasticDepth(0.6), 3, 5, 7),
    "head layer": part(with_dropout, 10),
    "colours": part(lambda: Colours((0.5, 0.2, 0.1), (0.3, 0.9, 0.6)), 3, 4, 5),
    "colours of grey": part(lambda: Colours((0.5, 0.2, 0.1), (0.3, 0.9, 0.6)), 1, 4, 5),
    "resized": part(lambda: Resized((5, 3)), 2, 8, 9),
}


def sized(outputs: Tensor) -> list[float]:
    """Return the greatest number, as a logarithm, and the summary of all in its units."""
    most = outputs.detach().abs().max().clamp(min=1e-30)
    return [round(float(most.log()), 5), *summary(outputs / most)]


def measure(name: str) -> Any:
    """Return what a backbone is and computes, in use and in training."""
    torch.manual_seed(8)
    network, inputs = CASES[name]()
    weights = list(network.parameters())
    with torch.no_grad():
        answers = network.eval()(inputs)
    facts = {
        "parameters": [len(weights), sum(own.numel() for own in weights)],
        "weights": summary(*weights[:40]) if weights else [],
        "learned": sum(own.requires_grad for own in weights),
        "shape": list(answers.shape),
        "answers": sized(answers),
    }
    torch.manual_seed(9)
    trained = network.train()(inputs)
    if len(weights) < 100:  # deeper ones make much of how numbers are rounded
        facts["trained"] = sized(trained)
    if trained.requires_grad and len(weights) < 100:
        (trained / trained.detach().abs().max()).square().mean().backward()
        facts["gradients"] = sized(torch.stack([own.grad.norm() for own in weights if own.grad is not None]))
    return facts


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_it_did(name: str) -> None:
    require_pins(__file__, name, measure(name))
