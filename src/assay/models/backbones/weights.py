"""Weights of networks from local files, under the names of torchvision or of timm."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor, nn

from assay.base import DataError
from assay.models.backbones.build import is_rebuilding

Weights = Mapping[str, Tensor]
Names = Iterable[tuple[str, str]]
"""Patterns of a file's tensor names, and what they are called here."""
Adapt = Callable[[Weights], Weights]
CLASSES = ("fc.", "head.", "heads.", "classifier.", "pre_logits.", "pooler.")
"""How the names of layers for the classes of another task begin, which no backbone needs."""
DERIVED = ("num_batches_tracked", "relative_position_index", "attn_mask")
"""How the names of tensors end that are counted or computed, not learned."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file."""
    try:
        weights: dict[str, Tensor] = load(path.read_bytes())
    except OSError as error:
        raise DataError(f"weights {str(path)!r} cannot be read: {error.strerror}") from None
    except SafetensorError:
        raise DataError(f"weights {str(path)!r} are no safetensors file; convert them to one") from None
    return weights


def rename(weights: Weights, names: Names) -> dict[str, Tensor]:
    """Return tensors with each pattern in their names replaced.

    >>> import torch
    >>> list(rename({"blocks.3.norm1.bias": torch.zeros(1)}, [(r"^blocks\\.(\\d+)\\.norm", r"layer_\\1.ln_")]))
    ['layer_3.ln_1.bias']
    """
    renamed = {}
    for name, tensor in weights.items():
        for pattern, replacement in names:
            name = re.sub(pattern, replacement, name)
        renamed[name] = tensor
    return renamed


def fill(network: nn.Module, weights: Weights, path: Path | str) -> None:
    """Set all of a network's tensors; a file may hold more only for the classes of another task."""
    own = network.state_dict()
    for name, tensor in own.items():
        if name.endswith(DERIVED):
            continue
        if name not in weights:
            raise DataError(f"weights {str(path)!r} have no tensor {name!r}, which the backbone needs")
        if weights[name].shape != tensor.shape:
            size, needed = list(weights[name].shape), list(tensor.shape)
            raise DataError(f"weights {str(path)!r}: tensor {name!r} is of size {size}, not {needed}")
    for name in sorted(weights):
        if name not in own and not name.startswith(CLASSES) and not name.endswith(DERIVED):
            raise DataError(f"weights {str(path)!r} are of another network: the backbone has no tensor {name!r}")
    network.load_state_dict({name: weights.get(name, tensor) for name, tensor in own.items()})


def begin_from(network: nn.Module, source: str | None, adapt: Adapt = lambda weights: weights) -> nn.Module:
    """Return a network with the weights of a file, if there is one and a run's are not about to replace them.

    `adapt` gives a file's tensors the names and sizes that they have in the network.
    """
    if source is not None and not is_rebuilding():
        fill(network, adapt(read_weights(Path(source))), source)
    return network
