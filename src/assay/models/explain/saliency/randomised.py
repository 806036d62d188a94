"""A network whose layers are drawn anew from the top down: a check of saliency methods (Adebayo et al., 2018)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from assay.models.core.devices import seed_of

MOST_STAGES = 6


@dataclass(frozen=True)
class WeightedLayer:
    """A layer with weights of its own, by its name in the network."""

    name: str
    module: nn.Module


def weighted_layers(network: nn.Module, call: Callable[[], object]) -> list[WeightedLayer]:
    """Return the layers with weights, those called last first; layers that are not called come at the end."""
    layers = [
        WeightedLayer(name, part) for name, part in network.named_modules() if list(part.parameters(recurse=False))
    ]
    order: dict[nn.Module, int] = {}

    def note(part: nn.Module, inputs: object, output: object) -> None:
        order[part] = len(order) if part not in order else order[part]

    hooks = [layer.module.register_forward_hook(note) for layer in layers]
    try:
        with torch.no_grad():
            call()
    finally:
        for hook in hooks:
            hook.remove()
    return sorted(layers, key=lambda layer: -order.get(layer.module, -1))


@torch.no_grad()
def draw_weights(layer: nn.Module) -> None:
    """Draw the weights of a layer anew: as the layer begins, or else normal with the mean and deviation they have."""
    reset = getattr(layer, "reset_parameters", None)
    if callable(reset):
        reset()
        return
    for weights in layer.parameters(recurse=False):
        deviation = float(weights.float().std(unbiased=False)) if weights.numel() > 1 else 1.0
        weights.normal_(float(weights.float().mean()), deviation or 1.0)


@contextmanager
def kept_weights(network: nn.Module) -> Iterator[None]:
    """Put all weights and buffers back when the block ends."""
    tensors = [*network.parameters(), *network.buffers()]
    before = [tensor.detach().clone() for tensor in tensors]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, old in zip(tensors, before, strict=True):
                tensor.copy_(old)


def stage_ends(layers: int, cascade: bool, most: int = MOST_STAGES) -> list[int]:
    """Return after how many layers maps are looked at: all of them at the end, and on the way if it is a cascade.

    >>> stage_ends(4, True), stage_ends(20, True), stage_ends(20, False)
    ([1, 2, 3, 4], [1, 4, 8, 12, 16, 20], [20])
    """
    if not cascade:
        return [layers]
    if layers <= most:
        return list(range(1, layers + 1))
    return [1, *(round(layers * stage / (most - 1)) for stage in range(1, most))]


def randomise_downwards(
    network: nn.Module, layers: list[WeightedLayer], ends: list[int], seed: int
) -> Iterator[tuple[int, WeightedLayer]]:
    """Draw layers anew one after the other, and yield after some how many it were and which was last.

    Weights are put back when the iterator ends or is closed.
    """
    with kept_weights(network), torch.random.fork_rng(devices=[]):
        for number, layer in enumerate(layers, start=1):
            torch.manual_seed(seed_of(seed, "saliency", "weights", layer.name))
            draw_weights(layer.module)
            if number in ends:
                yield number, layer
