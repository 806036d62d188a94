"""What every model is, a network or a learner on concepts: settings, fit, predict, intervene, save, load. No torch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from assay.base import Array, Codes, ConfigError, DataError, Settings, explain_missing, require_same, validate
from assay.base import Config as AnyConfig
from assay.contracts import IntervenableModel, ModelOutput, Prediction, Predictions, RunRecord
from assay.dataset import Dataset, SplitData, versions
from assay.logic import ConceptSpace, Knowledge
from assay.models.registered import MODELS
from assay.render import Layout
from assay.runs import RunFolder


@dataclass(frozen=True)
class Epoch:
    """What one epoch gave."""

    phase: str
    number: int
    loss: float
    score: float
    best: bool


Report = Callable[[Epoch, int], None]
"""Called after each epoch with what it gave and how many there are at most."""


class Model(ABC):
    """A model that learns, predicts, takes interventions, and keeps what it learned in a run's folder."""

    name: ClassVar[str]
    has_concepts: ClassVar[bool]
    can_intervene: ClassVar[bool]
    is_network: ClassVar[bool]
    """Whether it is a torch module, so that layers can be looked into."""
    Config: ClassVar[type[AnyConfig]]
    config: AnyConfig
    reads: Any = None
    """What is read of an example, if it is no picture."""
    checkpoint: Any = None
    """Where training is kept, so that it can go on after it was ended."""

    def __init__(
        self,
        knowledge: Knowledge | Dataset,
        layout: Layout | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        backbones: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        """Make a model of a rule and a layout, or of a dataset, which has both."""
        super().__init__()
        if isinstance(knowledge, Dataset):
            dataset = knowledge
            backbones = dataset.manifest.backbones if backbones is None else backbones
            knowledge, layout = dataset.knowledge, layout or dataset.layout
        if not isinstance(knowledge, Knowledge):
            raise ConfigError(f"a model is made of a dataset, not of a {type(knowledge).__name__}")
        given = settings if isinstance(settings, Settings) else Settings(dict(settings or {}))
        self.given = given
        self.config = self.configure(given, backbones or {})
        self.knowledge = knowledge
        self.layout = cast(Layout, layout)  # learners on concepts need none
        self.seed = seed
        self.history: list[Epoch] = []
        self.prepare()

    # -- what each kind of model gives ---------------------------------------------------------------------------------

    @classmethod  # noqa: B027
    def ready(cls, config: Any) -> None:
        """Refuse if what these settings need is not installed; a study checks this before anything is run."""

    @classmethod
    def configure(cls, settings: Settings, backbones: Mapping[str, str]) -> AnyConfig:
        """Return all settings; `backbones` are those that the task suggests, by role."""
        return validate(cls.Config, settings)

    @abstractmethod
    def prepare(self) -> None:
        """Make what is to be trained, once all settings are known."""

    def uses_images(self, columns: Collection[str]) -> bool:
        """Return whether it is ready for a dataset with these columns; otherwise it is to `see` the training split."""
        return True

    def see(self, data: SplitData) -> None:  # noqa: B027
        """Learn from the training split what is read of an example, where that is no picture."""

    def supervised_concepts(self, data: SplitData) -> Codes:
        """Return the concept labels of a training split that it learns from: codes, -1 where it sees none."""
        return np.full(data.annotated_concepts.shape, -1)

    def member_concepts(self, data: SplitData) -> list[list[Array]]:
        """Return what each member of an ensemble says of each concept of a split (examples x values)."""
        raise TypeError(f"a {type(self).__name__} is no ensemble")

    @abstractmethod
    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split, choosing by another."""

    def fit_together(
        self, others: Sequence["Model"], train_data: SplitData, valid: SplitData, report: Report = lambda *_: None
    ) -> bool:
        """Fit it and others that differ in their seed only side by side, if that can be, and return whether."""
        return False

    @abstractmethod
    def answers(self, data: SplitData, do: Mapping[int, Array]) -> ModelOutput:
        """Return the probabilities for a split, with the concepts in `do` (by place) set to codes or probabilities."""

    @abstractmethod
    def answerer(self, data: SplitData) -> IntervenableModel:
        """Return the model with the pictures of a split, ready for interventions."""

    @abstractmethod
    def save(self, folder: Path) -> dict[str, Any]:
        """Write what was learned into a run's folder, and return what else is to be recorded of it."""

    @abstractmethod
    def restore(self, folder: Path, device: str) -> None:
        """Read what `save` wrote."""

    @classmethod
    def saved_settings(cls, folder: Path, record: RunRecord) -> dict[str, Any]:
        """Return the settings that a run in this folder was trained with."""
        return dict(record.config)

    def describe(self) -> list[str]:
        """Return what was learned in words, a line each; none for what has no words."""
        return []

    def coverage(self) -> list[str]:
        """Return how far what was learned in words covers the training examples, and where it is wrong, a line each."""
        return []

    # -- what is the same for all --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        trained = f"{len(self.history)} epochs" if self.history else "as made or loaded"
        return f"{type(self).__name__}(seed {self.seed}, {trained})"

    @property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return self.knowledge.space

    def predict(self, data: SplitData, do: Mapping[str, Array] | None = None) -> Predictions:
        """Answer for every example of a split; `do` sets concepts to codes, or to probabilities (examples x values).

        Rows whose probabilities are those that the model itself gives change nothing, whatever the model.
        """
        if do and not self.can_intervene:
            raise ConfigError(f"model {self.name!r} has no concepts that can be set")
        settings = {name: self._check_setting(name, column, len(data)) for name, column in (do or {}).items()}
        answers = self.answers(data, {self.space.place(name): column for name, column in settings.items()})
        labels = {name: Prediction.of(p) for name, p in zip(self.knowledge.label_names, answers.labels, strict=True)}
        concepts = {name: Prediction.of(p) for name, p in zip(self.space.names, answers.concepts, strict=False)}
        return Predictions(data.fingerprint, data.name, data.index, labels, concepts, self.metadata())

    def _check_setting(self, name: str, setting: Array, rows: int) -> Array:
        """Return what a concept is set to: a code for each example, or a probability for each example and value."""
        column, size = np.asarray(setting), len(self.space.concept(name).values)
        if column.shape == (rows,) and np.isin(column, np.arange(size)).all():
            return column.astype(np.int64)
        if column.shape == (rows, size) and _are_probabilities(column):
            return column.astype(np.float64)
        raise ConfigError(
            f"do: {name!r} needs {rows} codes from 0 to {size - 1}, one for each example, "
            f"or {rows} x {size} probabilities"
        )

    def intervene(self, data: SplitData) -> IntervenableModel:
        """Return the model with the pictures of a split, for interventions on its concepts."""
        if not (self.can_intervene and self.has_concepts):
            raise ConfigError(f"model {self.name!r} has no concepts that can be set")
        return self.answerer(data)

    def metadata(self) -> dict[str, Any]:
        """Return who the model is, for the record."""
        config = self.config.model_dump(mode="json")
        return {"model": self.name, "seed": self.seed, "config": config, "versions": versions()}

    def history_as_dicts(self) -> list[dict[str, Any]]:
        """Return the training history as plain data."""
        return [asdict(epoch) for epoch in self.history]

    @classmethod
    def load(cls, folder: Path, record: RunRecord, device: str = "cpu") -> Self:
        """Return the trained model of a run's folder, which has this record."""
        knowledge, layout = Knowledge.from_dict(record.knowledge), Layout.from_dict(record.layout)
        model = cls(knowledge, layout, Settings(cls.saved_settings(folder, record)), seed=record.seed)
        model.restore(folder, device)
        return model


def load_model(folder: Path, device: str = "cpu") -> Model:
    """Return the trained model of a run, a network on a device by name, or with `auto` on a GPU if there is one."""
    record = RunFolder(folder).record
    if record.transfer is not None:
        raise DataError(f"{str(folder)!r} holds predictions only; the run that made them is {record.transfer.run!r}")
    name, what = record.model, repr(str(folder))
    if name not in MODELS:  # a name in a record is never taken for a file
        raise DataError(explain_missing("model", name, record.code, what))
    require_same(MODELS.entry(name).code, record.code, what)
    make: type[Model] = MODELS[name]
    RunFolder(folder).check_learned(record)
    return make.load(folder, record, device)


def require_size(model: Model, layout: Layout, what: str) -> None:
    """Refuse pictures of another size than a network reads."""
    own, other = ((known.width, known.height, known.channels) for known in (model.layout, layout))
    if model.is_network and own != other:
        raise DataError(f"the run reads pictures of {_size(*own)}, and {what} has {_size(*other)}")


def _size(width: int, height: int, channels: int) -> str:
    return f"{width} x {height} in {channels} channel{'s' if channels > 1 else ''}"


def _are_probabilities(rows: Array) -> bool:
    """Return whether every row holds probabilities that add up to 1."""
    if not np.issubdtype(rows.dtype, np.number) or not np.isfinite(rows).all():
        return False
    return bool((rows >= 0).all() and (np.abs(rows.sum(axis=1) - 1) <= 1e-3).all())
