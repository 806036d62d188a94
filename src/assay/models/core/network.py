"""What all networks share: building from knowledge and layout, fitting, answering, saving and loading.

A network is fitted by itself, or with others that differ in their seed only side by side; each keeps the epoch that is
best on validation.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from assay.base import Array, Codes, ConfigError, DataError, RunFailed, Settings, validate, write_atomically
from assay.contracts import EVERY, BottleneckModel, IntervenableModel, LinearHead, ModelOutput, RunRecord, to_json
from assay.dataset import SplitData
from assay.models.backbones.build import Dropout, HeadLayer, can_read, is_deep, require_reads
from assay.models.backbones.weights import rebuilding
from assay.models.core.answering import (
    WORK_READ,
    WORK_READ_GPU,
    WORK_RUN,
    NetworkAnswers,
    are_close,
    linear_head,
    only_encoder,
    to_arrays,
)
from assay.models.core.circuit import readers_of
from assay.models.core.devices import device_for, device_of, reuse_memory, seed_all, seed_of
from assay.models.core.encoder import ConceptEncoder, PerceivedConcepts, ReadPictures
from assay.models.core.feeds import ConceptFeed, Feed, PictureSource
from assay.models.core.inputs import ModelInput, learn_input, read_input
from assay.models.core.model import Epoch, Model, Report, load_model
from assay.models.core.perception import (
    Perception,
    perception_of,
    perception_seen_from,
    resolve_perception,
    saved_perception,
    with_perception,
)
from assay.models.core.phases import with_groups, with_reasons, with_replay, with_subconcepts
from assay.models.core.settings import NeuralConfig, PerceptionConfig, Precision, Sharing, Supervision
from assay.models.core.steps import Phase, TrainState
from assay.models.core.tensors import (
    Annotations,
    Outputs,
    f1_of_columns,
    one_hot_like,
    scaled,
    supervision_mask,
    to_annotations,
)
from assay.models.core.training import Checkpoint, Facts, train
from assay.models.registered import MODELS
from assay.runs import INPUT, WEIGHTS

CHUNK = 1024
MOST_PIXELS = 2**25
"""How many pictures, and how many pixels, a network is asked about at once."""


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
                f"{cls.why_pictures}; {', '.join(_perceiving())} and all learners on concepts can"
            )
        config = validate(cls.Config, settings)
        perceives = isinstance(config, PerceptionConfig) and config.perception is not None
        updates = resolve_perception(cast(PerceptionConfig, config)) if perceives else {}
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

    def uses_images(self, columns: Collection[str]) -> bool:
        """Return whether it reads the pictures of a dataset with these columns."""
        other = self.config.feature_files or self.config.sentences
        return "image" in columns and other is None and self.config.input in ("auto", "image")

    def see(self, data: SplitData) -> None:
        """Learn from the training split what is read of an example; where it is no picture, build what reads it."""
        if self.reads is not None:
            return
        reads = None if self.uses_images(data.columns) else learn_input(self.config, data)
        if reads is None:
            require_reads(str(self.config.backbone), "image")
        else:
            self.fit_input(reads)

    def fit_input(self, reads: ModelInput) -> None:
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
        _fit([self], train_data, valid, report, together=False)

    def fit_together(
        self, others: Sequence[Model], train_data: SplitData, valid: SplitData, report: Report = lambda *_: None
    ) -> bool:
        """Fit it and others that differ in their seed only side by side, if that can be, and return whether.

        It cannot where each seed sees the concepts of other examples, in training against confounders, and on a CPU
        with dropout, which is drawn for one network at a time.
        """
        models = [self, *(other for other in others if isinstance(other, NeuralModel))]
        for model in models:
            model.see(train_data)
        config = self.config
        seeds_differ = isinstance(config, Supervision) and (config.supervised_share < 1 or config.supervised_replay)
        has_dropout = any(isinstance(part, Dropout) for part in self.modules())
        if seeds_differ or _is_robust(config) or (has_dropout and device_of(config.device).type == "cpu"):
            return False
        _fit(models, train_data, valid, report, together=True)
        return True

    def all_phases(self, feed: Feed) -> list[Phase]:
        """Return the parts of training with all that the settings add: subconcepts first, replay, confounders."""
        phases, config, seed = self.phases(feed.annotations), self.config, self.seed
        if isinstance(config, Supervision):
            readers = readers_of(self)
            if readers and config.subconcepts != "latent":
                phases = with_subconcepts(phases, readers, feed, config.subconcepts == "tuned", config.batch_size)
            if config.supervised_replay:
                mask = self.supervision(feed.annotations)
                phases = with_replay(phases, feed, mask, config.supervised_replay)
        if config.group_step:
            phases = with_groups(phases, feed, config, seed)
        if config.reasons_weight:
            if self.perception is not None or self.reads is not None:
                raise ConfigError(
                    "reasons_weight: gradients are of pixels, and this model reads no pictures; set it to 0"
                )
            phases = with_reasons(phases, feed, config, seed, self.answer)
        return phases

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
            return self._subconcept_f1(validation)
        truth, own = validation.annotations, self.probabilities(validation, {})
        concepts = own.concepts or []
        parts = {"labels": (truth.labels, own.labels), "concepts": (truth.concepts, concepts)}
        if what in ("intervened", "all"):
            known, codes = truth.concepts >= 0, truth.concepts.clamp(min=0)
            true = [one_hot_like(codes[:, i], p) for i, p in enumerate(concepts)]
            do = {i: torch.where(known[:, i, None], true[i], p) for i, p in enumerate(concepts)}
            parts["intervened"] = (truth.labels, self.probabilities(validation, do).labels)
        return torch.stack([f1_of_columns(*parts[key]) for key in (parts if what == "all" else [what])]).mean()

    @torch.no_grad()
    def _subconcept_f1(self, validation: Feed) -> Tensor:
        """Return the mean macro F1 of the subconcepts; 0 where they are not annotated, so that loss decides."""
        codes = validation.data.subconcepts
        if codes is None:
            return torch.zeros(())
        self.eval()
        truth, scores = torch.from_numpy(codes).to(validation.device), []
        for reader in readers_of(self):
            chunks = [reader.read(pictures) for pictures in self.chunks(validation)]
            scores.append(f1_of_columns(truth, [torch.cat(parts) for parts in zip(*chunks, strict=True)]))
        return torch.stack(scores).mean()

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
        """Return the network with pictures.

        They are encoded once, unless the network looks at them otherwise than by its encoder of concepts.
        """
        feed = self.feed(data, self.device)
        own = to_arrays(self.probabilities(feed, {}))
        again = self._labels_of_arrays(own.concepts)
        if again is not None and are_close(again, own.labels):
            return BottleneckModel(
                self.name, own.concepts, lambda x: self._labels_of_arrays(x) or [], self._linear_head()
            )
        encoder, on_gpu = only_encoder(self), self.device.type == "cuda"
        if encoder is not None:
            with torch.no_grad():
                read = ReadPictures.of([encoder(images) for images in self.chunks(feed)])
            work = (WORK_READ_GPU if on_gpu else WORK_READ) // self.answer_cost
            once = NetworkAnswers(
                self.name, own, lambda rows, do: self.answer_chunks(read.chunks(rows), do), self.device, work
            )
            if are_close(once.answer(EVERY, {}).labels, own.labels):
                return once
        return NetworkAnswers(
            self.name, own, lambda rows, do: self.probabilities(feed.choose(rows), do), self.device, WORK_RUN
        )

    @torch.no_grad()
    def _labels_of_arrays(self, concepts: list[Array]) -> list[Array] | None:
        """Return the label probabilities that concept probabilities give, or None where they follow from more."""
        like = next(self.parameters(), torch.empty(0, device=self.device))
        inputs = [torch.tensor(column, dtype=like.dtype, device=like.device) for column in concepts]
        labels = self.labels_from_concepts(inputs)
        return None if labels is None else [label.cpu().numpy() for label in labels]

    def _linear_head(self) -> LinearHead | None:
        """Return the linear layer from soft concepts to labels as arrays, if that is what the model has."""
        layer = getattr(self, "linear", None)
        if not isinstance(layer, nn.Linear) or getattr(self.config, "hard", False):
            return None
        return linear_head(layer, self.space.sizes, tuple(self.label_sizes))

    def supervision(self, data: Annotations) -> Tensor:
        """Return which concepts are supervised (examples x concepts, true or false); never one that is missing."""
        return supervision_mask(cast(Supervision, self.config), self.space, data, self.seed)

    def supervised_concepts(self, data: SplitData) -> Codes:
        """Return the concept labels of a training split that it learns from: codes, -1 where it sees none."""
        if not isinstance(self.config, Supervision) or not getattr(self.config, "concept_weight", 0):
            return super().supervised_concepts(data)
        mask = self.supervision(to_annotations(data, torch.device("cpu")))
        return np.asarray(np.where(mask.numpy(), data.annotated_concepts, -1))

    def metadata(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        record = super().metadata()
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
    def saved_settings(cls, folder: Path, record: RunRecord) -> dict[str, Any]:
        """Return the settings of a run, with perception where it is now."""
        perceived = saved_perception(record, folder) if record.config.get("perception") is not None else {}
        return {**record.config, **perceived}

    @classmethod
    def load(cls, folder: Path, record: RunRecord, device: str = "cpu") -> Self:
        """Return the trained network of a run, without reading the weights that it began from."""
        with rebuilding():
            return super().load(folder, record, device)

    def restore(self, folder: Path, device: str) -> None:
        """Read the weights, ready to predict on a device."""
        if self.config.input not in ("auto", "image"):
            self.fit_input(read_input(folder / INPUT))
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


def _tensor(setting: Array) -> Tensor:
    return torch.from_numpy(setting if setting.ndim == 1 else setting.astype(np.float32))


def _array(probabilities: Tensor) -> Array:
    rows = probabilities.double().cpu().numpy()
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _perceiving() -> list[str]:
    """Return the networks that can take their concepts from another model, those of one folder side by side."""
    networks = [made for name in MODELS if issubclass(made := MODELS[name], NeuralModel) and made.why_pictures is None]
    return [made.name for made in sorted(networks, key=lambda made: made.__module__)]


def load_network(folder: Path, device: str = "cpu") -> NeuralModel:
    """Return the trained network of a run, refusing a model of another kind."""
    model = load_model(folder, device)
    if not isinstance(model, NeuralModel):
        raise ConfigError(f"{str(folder)!r} holds {model.name!r}, which is no network: it has no layers to look into")
    return model


def _fit(
    models: Sequence[NeuralModel], train_data: SplitData, valid: SplitData, report: Report, together: bool
) -> None:
    """Fit one model, or seeds of it side by side, each keeping the epoch that is best on validation."""
    first = models[0]
    device = device_for(first.config.device, first.config.precision)
    if device.type == "cpu":
        reuse_memory()
    config = first.config.model_copy(update={"precision": first.training_precision(device)})
    if _is_robust(config):  # its steps differ in size, and group weights are in no checkpoint
        config, first.checkpoint = config.model_copy(update={"captured": False}), None
    channels_last = device.type == "cuda" and config.channels_last and not together
    for model in models:
        model.see(train_data)
        model.to(device)
        if channels_last:
            model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    feed, validation = (first.feed(data, device, channels_last, repeats=True) for data in (train_data, valid))
    seed_all(first.seed, first.name, "side by side" if together else "training")
    trainees = [
        TrainState(model, model.all_phases(feed), partial(model.validation_f1, validation), order, model.seed)
        for model, order in zip(models, _orders(models, device) if together else [None], strict=True)
    ]
    try:
        facts = train(trainees, feed, config, report, first.checkpoint)
    except torch.OutOfMemoryError:
        raise RunFailed(f"device {device} has not enough memory; lower batch_size") from None
    for model, trainee in zip(models, trainees, strict=True):
        model.history, model.training_facts = trainee.history or [_as_given(model, feed, validation)], facts
        model.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]


def _is_robust(config: NeuralConfig) -> bool:
    """Return whether training works against confounders."""
    return bool(config.group_step or config.reasons_weight)


def _orders(models: Sequence[NeuralModel], device: torch.device) -> list[torch.Generator]:
    """Return what shuffles the examples of each model, as if it were alone."""
    return [torch.Generator(device).manual_seed(seed_of(model.seed, model.name, "training")) for model in models]


def _as_given(model: NeuralModel, feed: Feed, validation: Feed) -> Epoch:
    """Return how a model answers that has nothing to learn: its concepts are perceived, and its rule is given."""
    right, score = (float(model.validation_f1(split, "labels")) for split in (feed, validation))
    return Epoch("as given", 1, 1 - right, score, True)
