"""What runs need of a model of any kind: a network, a program, a tree. Needs no torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from assay.arrays import Array
from assay.config import Settings
from assay.data.dataset import SplitData
from assay.logic.knowledge import Knowledge
from assay.models.core.epoch import Epoch, Report
from assay.predictions import Predictions
from assay.render.picture import Layout


class Trained(Protocol):
    """A model that learns, answers, and keeps what it learned in a run's folder."""

    name: ClassVar[str]
    has_concepts: ClassVar[bool]
    can_intervene: ClassVar[bool]
    is_network: ClassVar[bool]
    """Whether it is a torch module, so that layers can be looked into."""
    knowledge: Knowledge
    layout: Layout
    seed: int
    history: list[Epoch]

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split, choosing by another."""

    def predict(self, data: SplitData, do: Mapping[str, Array] | None = None) -> Predictions:
        """Answer for every example of a split."""

    def about(self) -> dict[str, Any]:
        """Return who the model is, for the record."""

    def history_as_dicts(self) -> list[dict[str, Any]]:
        """Return the training history as plain data."""

    def in_words(self) -> list[str]:
        """Return what was learned in words, a line each; none for what has no words."""

    def save(self, folder: Path) -> dict[str, Any]:
        """Write what was learned into a run's folder, and return what else is to be recorded of it."""


class Trainable(Protocol):
    """The class of such a model."""

    def __call__(
        self,
        knowledge: Knowledge,
        layout: Layout,
        settings: Settings | None = None,
        backbones: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> Trained:
        """Make an untrained model."""

    def opened(self, folder: Path, about: Mapping[str, Any], device: str = "cpu") -> Trained:
        """Return the trained model of a run's folder, of which `about` tells."""
