"""What all trained models share: building from knowledge and layout, fitting, answering, saving and loading."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.arrays import Array
from assay.concepts import ConceptSpace
from assay.config import Settings, checked
from assay.data.dataset import SplitData
from assay.data.manifest import versions
from assay.errors import ConfigError, DataError, RunFailed
from assay.files import write_atomically
from assay.logic.knowledge import Knowledge
from assay.metrics.quality import macro_f1
from assay.models.backbones.build import rebuilding
from assay.models.core.tensors import Batch, to_batch
from assay.models.core.training import Epoch, Phase, Report, Training, device_for, seed_all, train
from assay.predictions import Answer, Predictions
from assay.render.picture import Layout
from assay.runs import WEIGHTS

CHUNK = 1024
SAME = 1e-4
"""How near probabilities that are given must be to the model's own to be the same."""


class NeuralConfig(Training):
    """What every network can set, besides how it is trained."""

    backbone: str | None = None
    """By default the one that the task suggests for the role."""


@dataclass(frozen=True)
class Outputs:
    """Probabilities of the values of each label, and of each concept if the model has concepts."""

    labels: list[Tensor]
    concepts: list[Tensor] | None = None


class NeuralModel(nn.Module):
    """A network that learns from pictures. Subclasses build themselves in `build`, and give `phases` and `answer`."""

    name: ClassVar[str]
    role: ClassVar[str]
    """Which of the task's suggested backbones it uses: `concept` or `label`."""
    has_concepts: ClassVar[bool]
    can_intervene: ClassVar[bool]
    is_network: ClassVar[bool] = True
    Config: ClassVar[type[NeuralConfig]]
    default_backbone: ClassVar[str] = "conv-pool"

    def __init__(
        self,
        knowledge: Knowledge,
        layout: Layout,
        settings: Settings | None = None,
        backbones: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config = self.settled(settings or Settings(), backbones or {})
        self.knowledge = knowledge
        self.layout = layout
        self.seed = seed
        self.history: list[Epoch] = []
        seed_all(seed, self.name, "weights")
        self.build(str(self.config.backbone))

    @classmethod
    def ready(cls, config: Any) -> None:
        """Refuse if what these settings need is not installed; asked by who plans, before anything is run."""

    @classmethod
    def settled(cls, settings: Settings, backbones: Mapping[str, str]) -> NeuralConfig:
        """Return all settings, the backbone being the one that is set, or else suggested, or else usual."""
        config = checked(cls.Config, settings)
        return config.model_copy(update={"backbone": config.backbone or backbones.get(cls.role, cls.default_backbone)})

    @property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return self.knowledge.space

    @abstractmethod
    def build(self, backbone: str) -> None:
        """Make the layers."""

    @abstractmethod
    def phases(self, data: Batch) -> list[Phase]:
        """Return the parts of training on this data."""

    @abstractmethod
    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the probabilities for pictures, with the concepts in `do` (by column) as given: codes or spreads."""

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor] | None:
        """Return the label probabilities that concept probabilities give, if they follow from nothing else."""
        return None

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split, keeping the epoch that is best on another."""
        device = device_for(self.config)
        self.to(device)
        data, held = to_batch(train_data, device), to_batch(valid, device)
        seed_all(self.seed, self.name, "training")
        phases = self.phases(data)
        try:
            self.history = train(self, phases, data, lambda what: self.validation_f1(held, what), self.config, report)
        except torch.OutOfMemoryError:
            raise RunFailed(f"device {device} has not enough memory; lower batch_size") from None

    def validation_f1(self, held: Batch, what: str) -> float:
        """Return the macro F1, averaged over columns, of labels, of concepts, or of labels where concepts are told."""
        own = self.probabilities(held.images, {})
        concepts = own.concepts or []
        parts = {"labels": (held.labels, own.labels), "concepts": (held.concepts, concepts)}
        if what in ("told", "all"):
            known = held.concepts >= 0
            codes = held.concepts.clamp(min=0)
            do = {i: torch.where(known[:, i, None], spread_of(codes[:, i], p), p) for i, p in enumerate(concepts)}
            parts["told"] = (held.labels, self.probabilities(held.images, do).labels)
        return float(np.mean([_mean_f1(*parts[one]) for one in (parts if what == "all" else [what])]))

    @torch.no_grad()
    def probabilities(self, images: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the probabilities for pictures of bytes, chunk by chunk."""
        self.eval()
        chunks = []
        for start in range(0, len(images), CHUNK):
            rows = slice(start, start + CHUNK)
            given = {place: codes[rows] for place, codes in do.items()}
            chunks.append(self.answer(images[rows].float() / 255, given))
        labels = [torch.cat(parts) for parts in zip(*(chunk.labels for chunk in chunks), strict=True)]
        if chunks[0].concepts is None:
            return Outputs(labels)
        spoken = [chunk.concepts or [] for chunk in chunks]
        return Outputs(labels, [torch.cat(parts) for parts in zip(*spoken, strict=True)])

    def predict(self, data: SplitData, do: Mapping[str, Array] | None = None) -> Predictions:
        """Answer for every example of a split; `do` sets concepts to codes, or to probabilities (examples x values).

        Rows whose probabilities are those that the model itself gives change nothing, whatever the model.
        """
        if do and not self.can_intervene:
            raise ConfigError(f"model {self.name!r} has no concepts that can be set")
        device = next(self.parameters(), torch.empty(0)).device  # one that is wrapped may have none
        given = {self.space.place(n): self._given(n, codes, data).to(device) for n, codes in (do or {}).items()}
        batch = to_batch(data, device)
        found = self.probabilities(batch.images, given)
        names = self.knowledge.label_names
        labels = {name: _answer(p) for name, p in zip(names, found.labels, strict=True)}
        spoken = found.concepts or []
        concepts = {name: _answer(p) for name, p in zip(self.space.names, spoken, strict=False)}
        return Predictions(data.fingerprint, data.name, data.index, labels, concepts, self.about())

    def _given(self, name: str, given: Array, data: SplitData) -> Tensor:
        """Return what a concept is set to: a code for each example, or a probability for each example and value."""
        column, size = np.asarray(given), len(self.space.concept(name).values)
        if column.shape == (len(data),) and np.isin(column, np.arange(size)).all():
            return torch.from_numpy(column.astype(np.int64))
        if column.shape == (len(data), size) and _is_spread(column):
            return torch.from_numpy(column.astype(np.float32))
        raise ConfigError(
            f"do: {name!r} needs {len(data)} codes from 0 to {size - 1}, one for each example, "
            f"or {len(data)} x {size} probabilities"
        )

    def about(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        config = self.config.model_dump(mode="json")
        used = {**versions(), "torch": torch.__version__}
        return {"model": self.name, "seed": self.seed, "config": config, "versions": used}

    def history_as_dicts(self) -> list[dict[str, Any]]:
        """Return the training history as plain data."""
        return [asdict(epoch) for epoch in self.history]

    def in_words(self) -> list[str]:
        """Return nothing: weights are not words."""
        return []

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the weights, and return where they were learned and how many they are."""
        weights = {name: tensor.contiguous().cpu() for name, tensor in self.state_dict().items()}
        write_atomically(folder / WEIGHTS, save(weights))
        parameters = list(self.parameters())
        return {"device": str(parameters[0].device), "parameters": sum(p.numel() for p in parameters)}

    @classmethod
    def opened(cls, folder: Path, about: Mapping[str, Any], device: str = "cpu") -> Self:
        """Return the trained model of a run."""
        knowledge, layout = Knowledge.from_dict(about["knowledge"]), Layout.from_dict(about["layout"])
        with rebuilding():
            model = cls(knowledge, layout, Settings(about["config"]), seed=about["seed"])
        try:
            model.load_state_dict(dict(load((folder / WEIGHTS).read_bytes())))
        except (OSError, SafetensorError, RuntimeError) as error:
            raise DataError(f"the weights in {str(folder)!r} cannot be read: {str(error).splitlines()[0]}") from None
        return model.to(torch.device(device)).eval()


def _mean_f1(truth: Tensor, spreads: list[Tensor]) -> float:
    """Return the macro F1 of the likeliest values where the truth is known, averaged over columns."""
    if not all(bool(p.isfinite().all()) for p in spreads):
        raise RunFailed("the answers became NaN; lower the learning rate")
    codes, found = truth.cpu().numpy(), []
    for place, spread in enumerate(spreads):
        known = codes[:, place] >= 0
        if known.any():
            found.append(macro_f1(codes[known, place], spread.argmax(1).cpu().numpy()[known], spread.shape[1]))
    return float(np.mean(found)) if found else 0.0


def _answer(probabilities: Tensor) -> Answer:
    spread = probabilities.double().cpu().numpy()
    return Answer.of(spread / spread.sum(axis=1, keepdims=True))


def _is_spread(given: Array) -> bool:
    """Return whether every row holds probabilities that add up to 1."""
    if not np.issubdtype(given.dtype, np.number) or not np.isfinite(given).all():
        return False
    return bool((given >= 0).all() and (np.abs(given.sum(axis=1) - 1) <= 1e-3).all())


def spread_of(given: Tensor, own: Tensor) -> Tensor:
    """Return what is given, codes or probabilities, as probabilities of the kind that the model has."""
    if given.is_floating_point():
        return given.to(own.dtype)
    return torch.nn.functional.one_hot(given, own.shape[1]).to(own.dtype)


def is_set(own: Tensor, given: Tensor) -> Tensor:
    """Return in which examples something else is given than what the model says itself."""
    return (spread_of(given, own) - own).abs().amax(dim=1) > SAME


def intervened(concepts: list[Tensor], do: Mapping[int, Tensor]) -> list[Tensor]:
    """Return concept probabilities with those in `do` as they are given there; what the model says itself stays."""
    changed = list(concepts)
    for place, given in do.items():
        own = concepts[place]
        changed[place] = torch.where(is_set(own, given)[:, None], spread_of(given, own), own)
    return changed
