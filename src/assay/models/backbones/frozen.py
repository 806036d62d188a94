"""Features of a network that is not trained, remembered for every picture seen, on disk too where they have weights.

A picture's features are kept under the hash of its bytes, in a folder named after the hash of the weights, so that they
are found again by any model, run or dataset, and never taken for those of other weights or other pictures.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.base import DataError, write_atomically
from assay.dataset import cache_folder

CHUNK = 256
KEY = 16


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
