"""What all networks share: building from knowledge and layout, fitting, answering, saving and loading."""

import json
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.base import Array, ConfigError, DataError, Settings, validate, write_atomically
from assay.contracts import IntervenableModel, ModelOutput, to_json
from assay.dataset import SplitData
from assay.models.backbones.build import can_read, is_deep, rebuilding, require_reads
from assay.models.backbones.dropout import HeadLayer
from assay.models.core.answering import network_answerer
from assay.models.core.checkpoints import Checkpoint
from assay.models.core.devices import device_of, seed_all
from assay.models.core.encoder import ConceptEncoder, PerceivedConcepts, Sharing
from assay.models.core.feeds import ConceptFeed, Feed, PictureSource
from assay.models.core.fitting import fit_models
from assay.models.core.inputs import InputSettings, ModelInput, input_from, learn_input
from assay.models.core.model import Model, Report
from assay.models.core.perception import Perception
from assay.models.core.perception_settings import (
    PerceptionConfig,
    perception_of,
    perception_seen_from,
    resolve_perception,
    saved_perception,
    with_perception,
)
from assay.models.core.robust import Robustness
from assay.models.core.steps import OneSeed
from assay.models.core.subconcepts import reading_f1
from assay.models.core.tensors import Annotations, one_hot_like, scaled
from assay.models.core.training import Facts, Phase, Precision, Training
from assay.models.core.validation import f1_of_columns
from assay.runs import INPUT, WEIGHTS

CHUNK = 1024
MOST_PIXELS = 2**25
"""How many pictures, and how many pixels, a network is asked about at once."""
SAME = 1e-4
"""Probabilities in `do` that differ by no more from the model's own are no intervention."""
PERCEIVING = ("cbm", "semantic", "dpl", "ltn")
"""The networks that can take their concepts from another model."""


class NeuralConfig(Training, Robustness):
    """What every network can set, besides how it is trained."""

    backbone: str | None = None
    """By default the one that the task suggests for the role; for texts `bag-of-ngrams`, for numbers `mlp`."""
    input: Literal["auto", "image", "text", "table", "features"] = "auto"
    """What the network sees of an example. `auto` is the picture if there is one, else features, else the text. A
    `table` is a text in one line, `head=round, knees=no`, or a grid."""
    tokens: int = Field(256, ge=1)
    """The most words of a text that are used."""
    feature_files: str | None = None
    """A folder with `train.npy`, `valid.npy`, ...: for each split a row of features an example, by its number."""
    sentences: str | None = None
    """A local folder with a text model (needs transformers): texts are read as its features, which are not trained."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """The share of the backbone's features that is dropped in training before the linear layer on top of it, which
    gives concepts, or in a model without concepts labels."""


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
    answer_cost: ClassVar[int] = 1
    """How many times the work of a label head an answer takes after the pictures are read."""
    checkpoint: Checkpoint | None = None
    """Where training is kept, so that it can go on after it was ended."""
    training_facts: Facts | None = None
    """How it was trained, for the record."""
    why_pictures: ClassVar[str | None] = "its labels follow from the picture, not from concepts"
    """Why it must read pictures itself; None where it can take its concepts from another model."""
    perception: Perception | None = None
    """Where its concepts come from, if it does not read pictures itself."""
    reads: ModelInput | None = None
    """What is read of an example, if it is no picture."""

    @classmethod
    def configure(cls, settings: Settings, backbones: Mapping[str, str]) -> NeuralConfig:
        """Return all settings, the backbone being the one that is set, or else suggested, or else usual."""
        if settings.values.get("perception") is not None and cls.why_pictures is not None:
            raise ConfigError(
                f"{settings.place('perception')}{cls.name!r} cannot take its concepts from perception: "
                f"{cls.why_pictures}; {', '.join(PERCEIVING)} and all learners on concepts can"
            )
        config = validate(cls.Config, settings)
        updates = resolve_perception(config) if isinstance(config, PerceptionConfig) else {}
        backbone = config.backbone or backbones.get(cls.role, cls.default_backbone)
        return config.model_copy(update={"backbone": backbone, **updates})

    def prepare(self) -> None:
        """Build the network, from weights that the seed decides; one that reads no pictures when it sees its data."""
        config = self.config
        if isinstance(config, PerceptionConfig) and config.perception is not None:
            self.perception = perception_of(config.perception, config.reader)
        pictures = config.input in ("auto", "image") and self.layout.width and can_read(str(config.backbone), "image")
        if pictures or self.perception is not None:
            self._build()

    def _build(self) -> None:
        seed_all(self.seed, self.name, "weights")
        self.build(str(self.config.backbone))
        for part in self.modules():
            if isinstance(part, HeadLayer):
                part.dropout = self.config.dropout

    def sees_pictures(self, columns: Collection[str]) -> bool:
        """Return whether it reads the pictures of a dataset with these columns."""
        other = self.config.feature_files or self.config.sentences
        return "image" in columns and other is None and self.config.input in ("auto", "image")

    def see(self, data: SplitData) -> None:
        """Learn from the training split what is read of an example; where it is no picture, build what reads it."""
        if self.reads is not None:
            return
        config = self.config
        reads = learn_input(InputSettings(config.input, config.tokens, config.feature_files, config.sentences), data)
        if reads is None:
            require_reads(str(config.backbone), "image")
        else:
            self.read_as(reads)

    def read_as(self, reads: ModelInput) -> None:
        """Build the network that reads this of each example."""
        backbone = self.given.values.get("backbone") or reads.usual_backbone
        require_reads(str(backbone), "numbers" if reads.layout.channels == 1 else reads.kind)
        self.reads, self.layout = reads, reads.layout
        self.config = self.config.model_copy(update={"input": reads.kind, "backbone": str(backbone)})
        self._build()

    @abstractmethod
    def build(self, backbone: str) -> None:
        """Make the layers."""

    @abstractmethod
    def phases(self, data: Annotations) -> list[Phase]:
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

    @property
    def device(self) -> torch.device:
        """Where it is; one without weights is where its rule is."""
        return next(chain(self.parameters(), self.buffers()), torch.empty(0)).device

    def feed(self, data: SplitData, device: torch.device, channels_last: bool = False, repeats: bool = False) -> Feed:
        """Return a split on its way to the network: its pictures, or the concepts that perception gives."""
        if self.perception is not None:
            return ConceptFeed(data, device, self.perception.probabilities(data))
        return Feed(data, device, self.config.memory_share, channels_last, repeats, self.reads)

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split, keeping the epoch that is best on another."""
        fit_models([self], train_data, valid, report, OneSeed)

    def training_precision(self, device: torch.device) -> Precision:
        """Return the numbers that it is trained in on a device."""
        if self.config.precision != "auto":
            return self.config.precision
        deep = (
            self.perception is None
            and is_deep(str(self.config.backbone))
            and device.type == "cuda"
            and torch.cuda.is_bf16_supported()
        )
        return "bfloat16" if deep else "float32"

    def validation_f1(self, validation: Feed, what: str) -> Tensor:
        """Return the mean macro F1 of labels, of concepts, or of labels after all known concepts were set.

        It is computed on the device, and NaN where an answer is no number.
        """
        if what == "subconcepts":
            return reading_f1(self, validation)
        truth, own = validation.annotations, self.probabilities(validation, {})
        concepts = own.concepts or []
        parts = {"labels": (truth.labels, own.labels), "concepts": (truth.concepts, concepts)}
        if what in ("intervened", "all"):
            known, codes = truth.concepts >= 0, truth.concepts.clamp(min=0)
            true = [one_hot_like(codes[:, i], p) for i, p in enumerate(concepts)]
            do = {i: torch.where(known[:, i, None], true[i], p) for i, p in enumerate(concepts)}
            parts["intervened"] = (truth.labels, self.probabilities(validation, do).labels)
        return torch.stack([f1_of_columns(*parts[key]) for key in (parts if what == "all" else [what])]).mean()

    def probabilities(self, pictures: PictureSource, do: Mapping[int, Tensor]) -> Outputs:
        """Return the probabilities for pictures, chunk by chunk."""
        return self.answer_chunks(self.chunks(pictures), do)

    @torch.no_grad()
    def answer_chunks(self, pictures: Iterable[Tensor], do: Mapping[int, Tensor]) -> Outputs:
        """Return the probabilities for all pictures of some chunks."""
        self.eval()
        chunks, start = [], 0
        for images in pictures:
            interventions = {place: codes[start : start + len(images)] for place, codes in do.items()}
            chunks.append(self.answer(images, interventions))
            start += len(images)
        labels = [torch.cat(parts) for parts in zip(*(chunk.labels for chunk in chunks), strict=True)]
        if chunks[0].concepts is None:
            return Outputs(labels)
        concepts = [chunk.concepts or [] for chunk in chunks]
        return Outputs(labels, [torch.cat(parts) for parts in zip(*concepts, strict=True)])

    def chunks(self, pictures: PictureSource) -> Iterator[Tensor]:
        """Yield pictures as numbers from 0 to 1, so many at a time as the network is asked about at once."""
        pixels = self.layout.channels * self.layout.height * self.layout.width
        return (scaled(images) for images in pictures.chunks(max(1, min(CHUNK, MOST_PIXELS // pixels))))

    def answers(self, data: SplitData, do: Mapping[int, Array]) -> ModelOutput:
        """Return the probabilities for a split, as arrays whose rows add up to 1."""
        interventions = {place: _tensor(column).to(self.device) for place, column in do.items()}
        outputs = self.probabilities(self.feed(data, self.device), interventions)
        return ModelOutput([_array(p) for p in outputs.labels], [_array(p) for p in outputs.concepts or []])

    def answerer(self, data: SplitData) -> IntervenableModel:
        """Return the network with pictures; these are read once where labels follow from concepts alone."""
        return network_answerer(self, self.feed(data, self.device))

    def about(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        record = super().about()
        record = {**record, "versions": {**record["versions"], "torch": torch.__version__}}
        return record if self.perception is None else with_perception(record, self.perception)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the weights, and return where they were learned and how many they are."""
        weights = {name: tensor.contiguous().cpu() for name, tensor in self.state_dict().items()}
        write_atomically(folder / WEIGHTS, save(weights))
        if self.reads is not None:
            write_atomically(folder / INPUT, to_json(self.reads.to_dict()))
        facts: dict[str, Any] = {"device": str(self.device), "parameters": sum(p.numel() for p in self.parameters())}
        if self.perception is not None:
            facts["perception"] = perception_seen_from(self.perception, folder)
        return facts if self.training_facts is None else {**facts, "training": self.training_facts}

    @classmethod
    def saved_settings(cls, folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a run, with perception where it is now."""
        perceived = saved_perception(about, folder) if about["config"].get("perception") is not None else {}
        return {**about["config"], **perceived}

    @classmethod
    def load(cls, folder: Path, about: Mapping[str, Any], device: str = "cpu") -> Self:
        """Return the trained network of a run, without reading the weights that it began from."""
        with rebuilding():
            return super().load(folder, about, device)

    def restore(self, folder: Path, device: str) -> None:
        """Read the weights, ready to predict on a device."""
        if self.config.input not in ("auto", "image"):
            self.read_as(_read_input(folder))
        try:
            self.load_state_dict(dict(load((folder / WEIGHTS).read_bytes())))
        except (OSError, SafetensorError, RuntimeError) as error:
            raise DataError(f"the weights in {str(folder)!r} cannot be read: {str(error).splitlines()[0]}") from None
        self.to(device_of(device)).eval()


class ConceptModel(NeuralModel):
    """A network that predicts concepts, which can be intervened on, and labels from them."""

    role = "concept"
    has_concepts = True
    can_intervene = True
    default_backbone = "conv-stride"
    why_pictures: ClassVar[str | None] = "its labels follow from embeddings that it reads off the picture"

    def make_encoder(self, backbone: str) -> nn.Module:
        """Return what gives the logits of all concepts: a network that reads them, or what perception says of them."""
        return self.read_encoder(backbone) if self.perception is None else PerceivedConcepts(self.space)

    def read_encoder(self, backbone: str, widths: Mapping[str, int] | None = None) -> ConceptEncoder:
        """Return what reads the logits of each concept, or as many numbers for it as `widths` says."""
        share: Sharing = getattr(self.config, "share", True)
        return ConceptEncoder(self.space, self.layout, backbone, share, widths, self.knowledge.subconcepts)


def _read_input(folder: Path) -> ModelInput:
    """Return what a run's network reads."""
    try:
        return input_from(json.loads((folder / INPUT).read_bytes()))
    except (OSError, ValueError) as error:
        raise DataError(f"{str(folder / INPUT)!r} cannot be read: {error}") from None


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
    return one_hot_like(setting, own)


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
