"""What every discovery method is: settings, learning from the training split, and units for any split."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from assay.base import Array, Config, ProgressCallback, rng_for
from assay.dataset import SplitData


class DiscoveryConfig(Config):
    """What every method can set."""

    units: int = Field(64, ge=1)
    """How many units are looked for; components there are no more of than features and examples."""
    examples: int = Field(2000, ge=8)
    """The most training examples that are learned from, and the most of other splits that are scored."""
    most_features: int = Field(2048, ge=1)
    """Maps with more features are averaged over neighbouring places."""
    learner: Literal["tree", "rules", "ilp", "synthesis"] = "tree"
    """What learns the rule from the discovered concepts."""
    repetitions: int = Field(5, ge=1)
    """How often examples are shuffled to find what chance gives."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class SplitRows:
    """The examples of a split, and what a method sees of them: rows of activations, or pictures of bytes."""

    data: SplitData
    rows: Tensor


class Discoverer(ABC):
    """A method with its settings and its seed."""

    name: ClassVar[str]
    reads: ClassVar[Literal["activations", "pictures"]] = "activations"
    Config: ClassVar[type[DiscoveryConfig]] = DiscoveryConfig

    def __init__(self, config: DiscoveryConfig, seed: int) -> None:
        self.config, self.seed = config, seed
        self.names: tuple[str, ...] = ()
        """What the units are called, where the method names them."""
        self.notes: list[str] = []
        """What a reader of the result must know, a sentence each."""

    @abstractmethod
    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Learn from the training examples; what must be chosen is chosen on validation."""

    @abstractmethod
    def units(self, split: SplitRows) -> Array:
        """Return the units of a split, a column each."""

    def label_probabilities(self, units: Array) -> list[Array] | None:
        """Return the probabilities of each label by the method's own label head, None if it has none."""
        return None

    def torch_seed(self) -> int:
        """Return the seed of what torch draws for this method."""
        return int(rng_for(self.seed, "discovery", self.name).integers(2**31))

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Turn what a library warns of, such as too few steps, into notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for message in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
            if f"{self.name}: {message}" not in self.notes:
                self.notes.append(f"{self.name}: {message}")


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Let torch draw from a seed inside of a block only; what draws by itself takes the generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)


@dataclass(frozen=True)
class Scaler:
    """Rows around their mean, in units of their mean length, so that settings mean the same at every layer."""

    mean: Tensor
    scale: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> "Scaler":
        """Return the scaler of some rows."""
        mean = rows.mean(dim=0)
        length = torch.linalg.vector_norm(rows - mean, dim=1).mean()
        return cls(mean, (length / rows.shape[1] ** 0.5).clamp_min(1e-12))

    def __call__(self, rows: Tensor) -> Tensor:
        """Return rows scaled."""
        return (rows - self.mean) / self.scale
