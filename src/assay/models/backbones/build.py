"""Backbones: from a picture to features. Layers as in the appendix of the rsbench paper, sizes taken from the input.

A backbone is asked for by name, `conv-pool`; with weights to begin from, `resnet-18@weights.safetensors`; and as it is,
not to be trained, with a small network on top, `frozen:pretrained@folder`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from assay.errors import ConfigError
from assay.models import BACKBONES

Shape = tuple[int, int, int]
"""Channels, height, width."""

FROZEN = "frozen:"
HEAD = (256, 64)
"""The layers on top of frozen features, those of rsbench for embeddings (Tables 15 and 19)."""


@dataclass(frozen=True)
class Backbone:
    """A network and the number of features it gives."""

    network: nn.Module
    features: int


@dataclass(frozen=True)
class Plan:
    """How a backbone is made, the smallest picture it reads, and whether it can begin from weights, or must."""

    make: Callable[[Shape, str | None], nn.Module]
    smallest: int = 1
    weights: str = "no"

    def __call__(self, shape: Shape, source: str | None = None) -> nn.Module:
        """Return the network for pictures of this shape, with the weights from the source if there is one."""
        return self.make(shape, source)


def backbone(smallest: int = 1) -> Callable[[Callable[[Shape], nn.Module]], Plan]:
    """Declare a backbone that takes its sizes from the picture, and so has no weights to begin from."""
    return lambda make: Plan(lambda shape, source: make(shape), smallest)


@dataclass(frozen=True)
class Named:
    """What a text such as `frozen:resnet-18@weights.safetensors` asks for."""

    name: str
    source: str | None = None
    frozen: bool = False

    @classmethod
    def of(cls, text: str) -> "Named":
        """Read the text.

        >>> Named.of("frozen:vit@weights.safetensors")
        Named(name='vit', source='weights.safetensors', frozen=True)
        """
        name, at, source = text.removeprefix(FROZEN).partition("@")
        return cls(name, source if at else None, text.startswith(FROZEN))


_REBUILDING = ContextVar("rebuilding", default=False)


@contextmanager
def rebuilding(wanted: bool = True) -> Iterator[None]:
    """Build networks without the weights they began from: those of a trained run are about to replace them."""
    token = _REBUILDING.set(wanted)
    try:
        yield
    finally:
        _REBUILDING.reset(token)


def is_rebuilding() -> bool:
    """Return whether weights are about to be replaced, so that they need not be read."""
    return _REBUILDING.get()


def build_backbone(text: str, shape: Shape) -> Backbone:
    """Return the backbone that the text asks for, for pictures of this shape."""
    if not Named.of(text).frozen:
        return build_network(text, shape)
    body = frozen_backbone(text, shape)
    return Backbone(nn.Sequential(body.network, *dense(body.features, HEAD)), HEAD[-1])


def frozen_backbone(text: str, shape: Shape) -> Backbone:
    """Return features that are not trained, without a network on top of them."""
    from assay.models.backbones.frozen import Frozen

    with torch.random.fork_rng(devices=[]), rebuilding(False):  # a run does not hold these weights
        torch.manual_seed(0)  # one that was never trained is the same for every seed, as one with weights is
        body = build_network(text, shape)
    return Backbone(Frozen(body.network, Named.of(text).source), body.features)


def build_network(text: str, shape: Shape) -> Backbone:
    """Return the network that the text names, to be trained."""
    asked = Named.of(text)
    plan: Plan = BACKBONES[asked.name]
    _refuse_source(asked, plan)
    refusal = ConfigError(
        f"backbone {asked.name!r} cannot read pictures of {shape[2]} x {shape[1]} pixels; try 'mlp' "
        f"(it needs {plan.smallest} x {plan.smallest})"
    )
    if min(shape[1:]) < plan.smallest:
        raise refusal
    try:
        network = plan(shape, asked.source)
        with torch.no_grad():
            features = network.eval()(torch.zeros(1, *shape)).shape[1]
    except RuntimeError:
        raise refusal from None
    return Backbone(network.train(), int(features))


def _refuse_source(asked: Named, plan: Plan) -> None:
    if plan.weights == "no" and asked.source is not None:
        raise ConfigError(f"backbone {asked.name!r} cannot begin from weights; ask for it without '@{asked.source}'")
    if plan.weights == "must" and not asked.source:
        raise ConfigError(f"backbone {asked.name!r} needs weights: backbone={asked.name}@FOLDER")
    if asked.source == "":
        raise ConfigError(f"backbone {asked.name!r}: after '@' comes a file or folder of weights")


def dense(inputs: int, widths: tuple[int, ...] | list[int]) -> list[nn.Module]:
    """Return layers of these widths, each with a rectifier."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return layers


def _dense(shape: Shape, convolutions: list[nn.Module], widths: list[int]) -> nn.Sequential:
    """Return convolutions followed by layers of these widths, each with a rectifier."""
    front = nn.Sequential(*convolutions, nn.Flatten())
    with torch.no_grad():
        inputs = int(front.eval()(torch.zeros(1, *shape)).shape[1])
    return nn.Sequential(front, *dense(inputs, widths))


def _pooled(*depths: int) -> list[nn.Module]:
    """Return convolutions from each depth to the next, each rectified and pooled."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(depths):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return layers


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


@backbone(smallest=4)
def conv_pool(shape: Shape) -> nn.Module:
    """Return two pooled convolutions and two layers."""
    return _dense(shape, _pooled(shape[0], 16, 32), [128, 64])


@backbone(smallest=4)
def conv_pool_3(shape: Shape) -> nn.Module:
    """Return two pooled convolutions, a plain one, and two layers."""
    last = [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()]
    return _dense(shape, [*_pooled(shape[0], 16, 32), *last], [128, 64])


@backbone(smallest=32)
def conv_pool_5(shape: Shape) -> nn.Module:
    """Return five pooled convolutions and two layers."""
    return _dense(shape, _pooled(shape[0], 16, 32, 64, 128, 256), [512, 64])


@backbone(smallest=64)
def conv_pool_6(shape: Shape) -> nn.Module:
    """Return six pooled convolutions and two layers; Table 9 prints rectifiers after the first two only."""
    return _dense(shape, _pooled(shape[0], 16, 32, 64, 128, 256, 512), [128, 64])


@backbone(smallest=4)
def conv_wide(shape: Shape) -> nn.Module:
    """Return two wide pooled convolutions and one layer."""
    return _dense(shape, _pooled(shape[0], 32, 64), [128])


@backbone()
def mlp_embedding(shape: Shape) -> nn.Module:
    """Return two layers for a picture that is an embedding."""
    return _dense(shape, [], [256, 64])


@backbone()
def mlp_embedding_small(shape: Shape) -> nn.Module:
    """Return two smaller layers for a picture that is an embedding."""
    return _dense(shape, [], [128, 64])


@backbone()
def mlp_wide(shape: Shape) -> nn.Module:
    """Return two wide layers on the pixels."""
    return _dense(shape, [], [256, 128])


@backbone()
def mlp(shape: Shape) -> nn.Module:
    """Return two layers on the pixels."""
    return _dense(shape, [], [64, 64])
