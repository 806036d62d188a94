"""Backbones, networks from a picture to features: how they are named and built.

A backbone is named by its registry name, `conv-pool`; with weights to begin from, `resnet-18@weights.safetensors`; and
as it is, not to be trained, with a small network on top, `frozen:pretrained@folder`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import nn

from assay.base import ConfigError
from assay.models.registered import BACKBONES

Shape = tuple[int, int, int]
"""Channels, height, width."""

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
    from assay.models.backbones.frozen import Frozen

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
