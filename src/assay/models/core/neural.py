"""What all networks share: building from knowledge and layout, fitting, answering, saving and loading."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.arrays import Array
from assay.config import Settings, checked
from assay.data.dataset import SplitData
from assay.diagnosis.interventions.intervenable import IntervenableModel, ModelOutput
from assay.errors import ConfigError, DataError, RunFailed
from assay.files import write_atomically
from assay.models.backbones.build import rebuilding
from assay.models.backbones.small import Dropout
from assay.models.core.answering import network_answerer
from assay.models.core.losses import Supervision
from assay.models.core.model import Model, Report, mean_f1
from assay.models.core.steps import ManySeeds, OneSeed
from assay.models.core.tensors import Batch, to_batch
from assay.models.core.training import (
    Phase,
    Stepping,
    Trainee,
    Training,
    device_for,
    device_of,
    seed_all,
    seed_of,
    train,
)
from assay.runs.folder import WEIGHTS

CHUNK = 1024
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
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


class NeuralModel(Model, nn.Module):
    """A network that learns from pictures. Subclasses build themselves in `build`, and give `phases` and `answer`."""

    role: ClassVar[str]
    """Which of the task's suggested backbones it uses: `concept` or `label`."""
    is_network = True
    Config: ClassVar[type[NeuralConfig]]
    config: NeuralConfig
    default_backbone: ClassVar[str] = "conv-pool"

    @classmethod
    def settled(cls, settings: Settings, backbones: Mapping[str, str]) -> NeuralConfig:
        """Return all settings, the backbone being the one that is set, or else suggested, or else usual."""
        config = checked(cls.Config, settings)
        return config.model_copy(update={"backbone": config.backbone or backbones.get(cls.role, cls.default_backbone)})

    def prepare(self) -> None:
        """Build the network, from weights that the seed decides."""
        seed_all(self.seed, self.name, "weights")
        self.build(str(self.config.backbone))

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
        _fit([self], train_data, valid, report, OneSeed)

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

    def answers(self, data: SplitData, do: Mapping[int, Array]) -> ModelOutput:
        """Return the probabilities for a split, as arrays whose rows add up to 1."""
        device = next(self.parameters(), torch.empty(0)).device  # one that is wrapped may have none
        given = {place: _tensor(column).to(device) for place, column in do.items()}
        found = self.probabilities(to_batch(data, device).images, given)
        return ModelOutput([_array(p) for p in found.labels], [_array(p) for p in found.concepts or []])

    def answerer(self, data: SplitData) -> IntervenableModel:
        """Return the network with pictures; these are read once where labels follow from concepts alone."""
        return network_answerer(self, to_batch(data, next(self.parameters()).device).images)

    def about(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        told = super().about()
        return {**told, "versions": {**told["versions"], "torch": torch.__version__}}

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the weights, and return where they were learned and how many they are."""
        weights = {name: tensor.contiguous().cpu() for name, tensor in self.state_dict().items()}
        write_atomically(folder / WEIGHTS, save(weights))
        parameters = list(self.parameters())
        return {"device": str(parameters[0].device), "parameters": sum(p.numel() for p in parameters)}

    @classmethod
    def load(cls, folder: Path, about: Mapping[str, Any], device: str = "cpu") -> Self:
        """Return the trained network of a run, without reading the weights that it began from."""
        with rebuilding():
            return super().load(folder, about, device)

    def restore(self, folder: Path, device: str) -> None:
        """Read the weights, ready to predict on a device."""
        try:
            self.load_state_dict(dict(load((folder / WEIGHTS).read_bytes())))
        except (OSError, SafetensorError, RuntimeError) as error:
            raise DataError(f"the weights in {str(folder)!r} cannot be read: {str(error).splitlines()[0]}") from None
        self.to(torch.device(device)).eval()


def why_not_together(model: NeuralModel) -> str | None:
    """Return why seeds of a model cannot be trained side by side, or None if they can."""
    if any(isinstance(part, NORMS) for part in model.modules()):
        return "its network keeps running means of each batch"
    if device_of(model.config.device).type == "cpu" and any(isinstance(part, Dropout) for part in model.modules()):
        return "on a CPU its dropout is drawn for one network at a time"
    if isinstance(model.config, Supervision) and model.config.supervised_share < 1:
        return "each seed is shown the concepts of other examples"
    return None


def fit_together(
    models: Sequence[NeuralModel], train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None
) -> None:
    """Fit models that differ in their seed only, side by side in one process."""
    why = why_not_together(models[0])
    if why is not None:
        raise ConfigError(f"seeds of {models[0].name!r} cannot be trained side by side: {why}")
    _fit(models, train_data, valid, report, ManySeeds)


def _fit(
    models: Sequence[NeuralModel], train_data: SplitData, valid: SplitData, report: Report, step: Stepping
) -> None:
    """Fit one model, or seeds of it side by side, each keeping the epoch that is best on validation."""
    config = models[0].config
    device = device_for(config)
    for model in models:
        model.to(device)
    data, held = to_batch(train_data, device), to_batch(valid, device)
    orders = _seeded_orders(models) if step is ManySeeds else _seeded_alone(models[0])
    trainees = [
        Trainee(model, model.phases(data), partial(model.validation_f1, held), order, model.seed)
        for model, order in zip(models, orders, strict=True)
    ]
    try:
        train(trainees, data, config, step, report)
    except torch.OutOfMemoryError:
        raise RunFailed(f"device {device} has not enough memory; lower batch_size") from None
    for model, trainee in zip(models, trainees, strict=True):
        model.history = trainee.history


def _seeded_alone(model: NeuralModel) -> list[None]:
    """Seed torch for one model, whose examples are shuffled by the same stream of randomness."""
    seed_all(model.seed, model.name, "training")
    return [None]


def _seeded_orders(models: Sequence[NeuralModel]) -> list[torch.Generator]:
    """Seed torch for several models, and return what shuffles the examples of each, as if it were alone."""
    first = models[0]
    seed_all(first.seed, first.name, "side by side")
    return [torch.Generator().manual_seed(seed_of(model.seed, model.name, "training")) for model in models]


def _mean_f1(truth: Tensor, spreads: list[Tensor]) -> float:
    """Return the macro F1 of the likeliest values where the truth is known, averaged over columns."""
    if not all(bool(p.isfinite().all()) for p in spreads):
        raise RunFailed("the answers became NaN; lower the learning rate")
    return mean_f1(truth.cpu().numpy(), [p.argmax(1).cpu().numpy() for p in spreads], [p.shape[1] for p in spreads])


def _tensor(given: Array) -> Tensor:
    return torch.from_numpy(given if given.ndim == 1 else given.astype(np.float32))


def _array(probabilities: Tensor) -> Array:
    spread = probabilities.double().cpu().numpy()
    return np.asarray(spread / spread.sum(axis=1, keepdims=True))


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
