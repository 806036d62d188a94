"""Weights of networks from local files, under the names of torchvision or of timm, and networks that are not trained.

The features of a network that is not trained are remembered for every picture seen, on disk too where it has weights: a
picture's features are kept under the hash of its bytes, in a folder named after the hash of the weights, so that they
are found again by any model, run or dataset, and never taken for those of other weights or other pictures.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.base import DataError, write_atomically
from assay.dataset import cache_folder

Weights = Mapping[str, Tensor]
Names = Iterable[tuple[str, str]]
"""Patterns of a file's tensor names, and what they are called here."""
Adapt = Callable[[Weights], Weights]
CLASSES = ("fc.", "head.", "heads.", "classifier.", "pre_logits.", "pooler.")
"""How the names of layers for the classes of another task begin, which no backbone needs."""
DERIVED = ("num_batches_tracked", "relative_position_index", "attn_mask")
"""How the names of tensors end that are counted or computed, not learned."""
CHUNK = 256
KEY = 16
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


def signature(network: nn.Module) -> bytes:
    """Return the hash of a network's layers and weights."""
    hashed = hashlib.sha256(str(network).encode())
    for name, tensor in sorted({**network.state_dict(), **dict(network.named_buffers())}.items()):
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        hashed.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return hashed.digest()


class Memory:
    """Features by the hash of a picture, in memory and, if there is a folder, on disk."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.rows: dict[bytes, Tensor] = {}
        self.unsaved: list[bytes] = []
        self.opened = False

    def open(self) -> None:
        """Read what is on disk, once; a damaged file is left out and its features are computed again."""
        if self.opened or self.folder is None:
            return
        self.opened = True
        for path in sorted(self.folder.glob("*.safetensors")):
            try:
                stored = load(path.read_bytes())
                keys, features = stored["keys"].numpy(), stored["features"]
            except (OSError, SafetensorError, KeyError):
                continue
            self.rows.update((key.tobytes(), row) for key, row in zip(keys, features, strict=True))

    def add(self, keys: Sequence[bytes], features: Tensor) -> None:
        """Remember the features of some pictures."""
        self.rows.update(zip(keys, features, strict=True))
        self.unsaved += keys
        if len(self.unsaved) >= CHUNK:
            self.save()

    def save(self) -> None:
        """Write what is new to a file of its own."""
        if self.folder is None or not self.unsaved:
            return
        keys = list(dict.fromkeys(self.unsaved))
        table = torch.frombuffer(bytearray(b"".join(keys)), dtype=torch.uint8).view(-1, KEY)
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:KEY]
        features = torch.stack([self.rows[key] for key in keys])
        write_atomically(self.folder / f"{name}.safetensors", save({"keys": table, "features": features}))
        self.unsaved = []


class Frozen(nn.Module):
    """A network as it is. Its weights are no part of the model: a run holds their hash, and says if they changed."""

    def __init__(self, network: nn.Module, source: str | None) -> None:
        super().__init__()
        digest = signature(network.eval().requires_grad_(False))
        self.source = source
        self.inside = [network]  # in a list, so that it is neither trained nor saved
        self.memory = Memory(cache_folder() / "embeddings" / digest.hex()[:32] if source else None)
        self.digest = digest
        self.register_buffer("signature", torch.frombuffer(bytearray(digest), dtype=torch.uint8).clone())

    def train(self, mode: bool = True) -> "Frozen":
        """Save what is new whenever training gives way to use, or use to training."""
        self.memory.save()
        return super().train(mode)

    @torch.no_grad()
    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features of pictures from 0 to 1, computing those that are not remembered."""
        self._check()
        self.memory.open()
        images = (pictures * 255).round().to(torch.uint8)
        plain = images.cpu().contiguous().numpy()
        shape = str(plain.shape[1:]).encode()
        keys = [hashlib.blake2b(row.tobytes() + shape, digest_size=KEY).digest() for row in plain]
        new = list({key: place for place, key in enumerate(keys) if key not in self.memory.rows}.items())
        for start in range(0, len(new), CHUNK):
            chunk = new[start : start + CHUNK]
            places = torch.tensor([place for _, place in chunk], device=images.device)
            with torch.autocast(images.device.type, enabled=False):  # what is kept does not depend on how others train
                features = self.inside[0].to(images.device).eval()(images[places].float() / 255)
            self.memory.add([key for key, _ in chunk], features.float().cpu())
        return torch.stack([self.memory.rows[key] for key in keys]).to(pictures.device)

    def _check(self) -> None:
        if self.get_buffer("signature").cpu().numpy().tobytes() != self.digest:
            where = f"in {self.source!r} " if self.source else ""
            raise DataError(f"the weights {where}are not those that the model was trained with")
