"""Backbones, networks from a picture to features: how they are named and built, and the layers that they share.

A backbone is named by its registry name, `conv-pool`; with weights to begin from, `resnet-18@weights.safetensors`; and
as it is, not to be trained, with a small network on top, `frozen:pretrained@folder`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.base import ConfigError
from assay.models.backbones.weights import Frozen, rebuilding
from assay.models.registered import BACKBONES

Shape = tuple[int, int, int]
"""Channels, height, width."""

Scale = tuple[tuple[float, ...], tuple[float, ...]]
"""The mean and deviation of each colour."""
IMAGENET: Scale = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
FROZEN = "frozen:"
NAMES = {"image": "pictures", "text": "texts", "numbers": "tables or features"}
HEAD = (256, 64)
"""The layers on top of frozen features, those of rsbench for embeddings (Tables 15 and 19)."""


@dataclass(frozen=True)
class Backbone:
    """A network and the number of features it gives."""

    network: nn.Module
    features: int


@dataclass(frozen=True)
class BackbonePlan:
    """How a backbone is made, the smallest picture it reads, and whether it can begin from weights, or must."""

    make: Callable[[Shape, str | None], nn.Module]
    smallest: int = 1
    weights: str = "no"
    deep: bool = False
    """Whether it is so deep that GPUs train it in bfloat16 unless told otherwise."""
    reads: tuple[str, ...] = ("image",)
    """What it reads: pictures, numbers of words (`text`), or plain `numbers` of tables and features."""

    def __call__(self, shape: Shape, source: str | None = None) -> nn.Module:
        """Return the network for pictures of this shape, with the weights from the source if there is one."""
        return self.make(shape, source)


def backbone(
    smallest: int = 1, reads: tuple[str, ...] = ("image",)
) -> Callable[[Callable[[Shape], nn.Module]], BackbonePlan]:
    """Declare a backbone that takes its sizes from the picture, and so has no weights to begin from."""
    return lambda make: BackbonePlan(lambda shape, source: make(shape), smallest, reads=reads)


@dataclass(frozen=True)
class BackboneSpec:
    """What a text such as `frozen:resnet-18@weights.safetensors` asks for."""

    name: str
    source: str | None = None
    frozen: bool = False

    @classmethod
    def of(cls, text: str) -> "BackboneSpec":
        """Read the text.

        >>> BackboneSpec.of("frozen:vit@weights.safetensors")
        BackboneSpec(name='vit', source='weights.safetensors', frozen=True)
        """
        name, at, source = text.removeprefix(FROZEN).partition("@")
        return cls(name, source if at else None, text.startswith(FROZEN))


def is_deep(text: str) -> bool:
    """Return whether a backbone is a deep one."""
    spec = BackboneSpec.of(text)
    plan: BackbonePlan = BACKBONES[spec.name]
    return plan.deep and not spec.frozen


def require_reads(text: str, kind: str) -> None:
    """Refuse a backbone that does not read what there is: `image`, `text` or `numbers`."""
    if not can_read(text, kind):
        there = [name for name in BACKBONES if can_read(name, kind)]
        raise ConfigError(f"backbone {text!r} does not read {NAMES[kind]}; these do: {', '.join(there)}")


def can_read(text: str, kind: str) -> bool:
    """Return whether a backbone reads `image`s, `text`s or `numbers`; one that is frozen reads pictures only."""
    spec = BackboneSpec.of(text)
    plan: BackbonePlan = BACKBONES[spec.name]
    return kind in plan.reads and not (spec.frozen and kind != "image")


def build_backbone(text: str, shape: Shape) -> Backbone:
    """Return the backbone that the text asks for, for pictures of this shape."""
    if not BackboneSpec.of(text).frozen:
        return build_network(text, shape)
    body = frozen_backbone(text, shape)
    return Backbone(nn.Sequential(body.network, *dense(body.features, HEAD)), HEAD[-1])


def frozen_backbone(text: str, shape: Shape) -> Backbone:
    """Return features that are not trained, without a network on top of them."""
    with torch.random.fork_rng(devices=[]), rebuilding(False):  # a run does not hold these weights
        torch.manual_seed(0)  # one that was never trained is the same for every seed, as one with weights is
        body = build_network(text, shape)
    return Backbone(Frozen(body.network, BackboneSpec.of(text).source), body.features)


def build_network(text: str, shape: Shape) -> Backbone:
    """Return the network that the text names, to be trained."""
    spec = BackboneSpec.of(text)
    plan: BackbonePlan = BACKBONES[spec.name]
    _refuse_source(spec, plan)
    refusal = ConfigError(
        f"backbone {spec.name!r} cannot read pictures of {shape[2]} x {shape[1]} pixels; try 'mlp' "
        f"(it needs {plan.smallest} x {plan.smallest})"
    )
    if min(shape[1:]) < plan.smallest:
        raise refusal
    try:
        network = plan(shape, spec.source)
        with torch.no_grad():
            example = torch.zeros(1, 1, *shape[1:]).long() if "text" in plan.reads else torch.zeros(1, *shape)
            features = network.eval()(example).shape[1]
    except RuntimeError:
        raise refusal from None
    return Backbone(network.train(), int(features))


def _refuse_source(spec: BackboneSpec, plan: BackbonePlan) -> None:
    if plan.weights == "no" and spec.source is not None:
        raise ConfigError(f"backbone {spec.name!r} cannot begin from weights; ask for it without '@{spec.source}'")
    if plan.weights == "must" and not spec.source:
        raise ConfigError(f"backbone {spec.name!r} needs weights: backbone={spec.name}@FOLDER")
    if spec.source == "":
        raise ConfigError(f"backbone {spec.name!r}: after '@' comes a file or folder of weights")


def dense(inputs: int, widths: tuple[int, ...] | list[int]) -> list[nn.Module]:
    """Return layers of these widths, each with a rectifier."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
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
