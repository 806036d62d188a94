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
from assay.config import Settings, validate
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
"""Probabilities in `do` that differ by no more from the model's own are no intervention."""


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
    def configure(cls, settings: Settings, backbones: Mapping[str, str]) -> NeuralConfig:
        """Return all settings, the backbone being the one that is set, or else suggested, or else usual."""
        config = validate(cls.Config, settings)
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
        """Return the probabilities for pictures, with concepts in `do` (by place) set to codes or probabilities."""

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor] | None:
        """Return the label probabilities that concept probabilities give, if they follow from nothing else."""
        return None

    @property
    def label_sizes(self) -> list[int]:
        """How many values each label has."""
        return [len(label.values) for label in self.knowledge.labels]

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split, keeping the epoch that is best on another."""
        _fit([self], train_data, valid, report, OneSeed)

    def validation_f1(self, validation: Batch, what: str) -> float:
        """Return the mean macro F1 of labels, of concepts, or of labels after all known concepts were set."""
        own = self.probabilities(validation.images, {})
        concepts = own.concepts or []
        parts = {"labels": (validation.labels, own.labels), "concepts": (validation.concepts, concepts)}
        if what in ("intervened", "all"):
            known = validation.concepts >= 0
            codes = validation.concepts.clamp(min=0)
            truth = [as_probabilities(codes[:, i], p) for i, p in enumerate(concepts)]
            do = {i: torch.where(known[:, i, None], truth[i], p) for i, p in enumerate(concepts)}
            parts["intervened"] = (validation.labels, self.probabilities(validation.images, do).labels)
        return float(np.mean([_mean_f1(*parts[key]) for key in (parts if what == "all" else [what])]))

    @torch.no_grad()
    def probabilities(self, images: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the probabilities for pictures of bytes, chunk by chunk."""
        self.eval()
        chunks = []
        for start in range(0, len(images), CHUNK):
            rows = slice(start, start + CHUNK)
            interventions = {place: codes[rows] for place, codes in do.items()}
            chunks.append(self.answer(images[rows].float() / 255, interventions))
        labels = [torch.cat(parts) for parts in zip(*(chunk.labels for chunk in chunks), strict=True)]
        if chunks[0].concepts is None:
            return Outputs(labels)
        concepts = [chunk.concepts or [] for chunk in chunks]
        return Outputs(labels, [torch.cat(parts) for parts in zip(*concepts, strict=True)])

    def answers(self, data: SplitData, do: Mapping[int, Array]) -> ModelOutput:
        """Return the probabilities for a split, as arrays whose rows add up to 1."""
        device = next(self.parameters(), torch.empty(0)).device  # one that is wrapped may have none
        interventions = {place: _tensor(column).to(device) for place, column in do.items()}
        outputs = self.probabilities(to_batch(data, device).images, interventions)
        return ModelOutput([_array(p) for p in outputs.labels], [_array(p) for p in outputs.concepts or []])

    def answerer(self, data: SplitData) -> IntervenableModel:
        """Return the network with pictures; these are read once where labels follow from concepts alone."""
        return network_answerer(self, to_batch(data, next(self.parameters()).device).images)

    def about(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        record = super().about()
        return {**record, "versions": {**record["versions"], "torch": torch.__version__}}

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


class ConceptModel(NeuralModel):
    """A network that predicts concepts, which can be intervened on, and labels from them."""

    role = "concept"
    has_concepts = True
    can_intervene = True
    default_backbone = "conv-stride"


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
    data, validation = to_batch(train_data, device), to_batch(valid, device)
    orders = _seeded_orders(models) if step is ManySeeds else _seeded_alone(models[0])
    trainees = [
        Trainee(model, model.phases(data), partial(model.validation_f1, validation), order, model.seed)
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


def _mean_f1(truth: Tensor, probabilities: list[Tensor]) -> float:
    """Return the macro F1 of the likeliest values where the truth is known, averaged over columns."""
    if not all(bool(p.isfinite().all()) for p in probabilities):
        raise RunFailed("the answers became NaN; lower the learning rate")
    codes = [p.argmax(1).cpu().numpy() for p in probabilities]
    return mean_f1(truth.cpu().numpy(), codes, [p.shape[1] for p in probabilities])


def _tensor(setting: Array) -> Tensor:
    return torch.from_numpy(setting if setting.ndim == 1 else setting.astype(np.float32))


def _array(probabilities: Tensor) -> Array:
    rows = probabilities.double().cpu().numpy()
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def softmax_each(logits: Sequence[Tensor]) -> list[Tensor]:
    """Return the probabilities of each label or concept from its logits."""
    return [scores.softmax(dim=1) for scores in logits]


def as_probabilities(setting: Tensor, own: Tensor) -> Tensor:
    """Return what a concept is set to, codes or probabilities, as probabilities like the model's own."""
    if setting.is_floating_point():
        return setting.to(own.dtype)
    return torch.nn.functional.one_hot(setting, own.shape[1]).to(own.dtype)


def is_set(own: Tensor, setting: Tensor) -> Tensor:
    """Return in which examples a concept is set to something else than what the model predicts."""
    return (as_probabilities(setting, own) - own).abs().amax(dim=1) > SAME


def apply_interventions(concepts: list[Tensor], do: Mapping[int, Tensor]) -> list[Tensor]:
    """Return concept probabilities with those in `do` set; where `do` repeats the model's own, they stay."""
    changed = list(concepts)
    for place, setting in do.items():
        own = concepts[place]
        changed[place] = torch.where(is_set(own, setting)[:, None], as_probabilities(setting, own), own)
    return changed
