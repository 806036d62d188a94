"""What a strategy sees when it chooses: the model so far, its training split, what was acquired, what may be spent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, Config, ConfigError, rng_for
from assay.contracts import Predictions, RunRecord
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Diagnosis, diagnose_run, taught_by, used_concepts
from assay.metrics import Evidence, gather_from
from assay.models import Model, load_model
from assay.runs import RunFolder

COUNTED = ("labels", "redrawn", "fresh", "nuisances", "masks")
"""What costs 1 each."""


class MendSettings(Config):
    """How a model is mended."""

    strategy: str = "plan"
    """What is bought; `assay list strategies` has all."""
    budget: int = Field(200, ge=1)
    """The most that is spent: a concept label, an example, an annotated nuisance and a mask cost 1 each."""
    first: int = Field(10, ge=1)
    """What the first round spends."""
    growth: float = Field(2.0, ge=1)
    """How many times as much as the round before each later round spends."""
    seed: int = Field(0, ge=0)
    """The seed of what is chosen by chance."""
    concept_weight: float = Field(1.0, gt=0)
    """The weight of concept labels in training, where the run has none."""
    replay: int = Field(16, ge=0)
    """How many examples with concept labels are added to every training batch."""
    clean: str | None = None
    """For `augment` where marks were planted by `assay confound`: the folder of the dataset without them."""
    group_step: float = Field(0.05, gt=0)
    """For `reweight`: the step size of the group weights."""
    reasons_weight: float = Field(10.0, gt=0)
    """For `reasons`: the weight of gradients outside of masks."""

    def spending(self, number: int) -> int:
        """Return what a round may spend; the first has number 1.

        >>> [MendSettings(first=10).spending(number) for number in (1, 2, 3)]
        [10, 20, 40]
        """
        return max(1, round(self.first * self.growth ** (number - 1)))


@dataclass(frozen=True)
class AcquiredData:
    """What a model may learn from besides the pictures and labels of its training split."""

    concepts: Codes
    """The concept labels (examples x concepts), -1 where there is none."""
    redrawn: tuple[int, ...] = ()
    """Training examples, by row, that are shown once more with another value of the nuisance."""
    fresh: int = 0
    """How many further examples were drawn, as training's own."""
    nuisances: int = 0
    """Of how many training examples the nuisance is annotated."""
    masks: int = 0
    """Of how many training examples it is annotated which pixels show objects or parts."""
    searched: int = 0
    """At how many concepts of pictures an annotator looked to find the values that were asked for."""

    @property
    def labels(self) -> int:
        """How many concept labels there are."""
        return int((self.concepts >= 0).sum())

    def bought_since(self, start: "AcquiredData") -> dict[str, int]:
        """Return how many of each kind were bought since."""
        return {name: _count(getattr(self, name)) - _count(getattr(start, name)) for name in COUNTED}

    def spent_since(self, start: "AcquiredData") -> int:
        """Return what was spent since: one for each concept label, example, nuisance or mask."""
        return sum(self.bought_since(start).values())

    def with_labels(self, cells: Array, answers: Codes, searched: int | None = None) -> "AcquiredData":
        """Return the holdings with the labels of some cells (pairs of row and concept), as an annotator answers."""
        concepts, rows, places = self.concepts.copy(), cells[:, 0], cells[:, 1]
        concepts[rows, places] = answers[rows, places]
        looked = len(cells) if searched is None else searched
        return replace(self, concepts=concepts, searched=self.searched + looked)

    def purchase_since(self, before: "AcquiredData") -> dict[str, Any]:
        """Return what was bought in a round as plain data; labels as triples of row, concept and code."""
        rows, places = np.nonzero((self.concepts >= 0) & (before.concepts < 0))
        codes = self.concepts[rows, places]
        return {
            "labels": np.stack([rows, places, codes], axis=1).tolist(),
            "redrawn": list(self.redrawn[len(before.redrawn) :]),
            **{name: getattr(self, name) - getattr(before, name) for name in ("fresh", "nuisances", "masks")},
            "searched": self.searched - before.searched,
        }

    def with_purchase(self, purchase: Mapping[str, Any]) -> "AcquiredData":
        """Return the holdings after a round whose purchase was kept as plain data."""
        cells: Sequence[Sequence[int]] = purchase["labels"]
        concepts = self.concepts.copy()
        for row, place, code in cells:
            concepts[row, place] = code
        counts = {name: getattr(self, name) + purchase[name] for name in ("fresh", "nuisances", "masks", "searched")}
        return replace(self, concepts=concepts, redrawn=(*self.redrawn, *purchase["redrawn"]), **counts)


def _count(part: int | tuple[int, ...]) -> int:
    return part if isinstance(part, int) else len(part)


@dataclass(frozen=True)
class AcquisitionContext:
    """The run so far and the dataset that it was trained on, what was bought, and how much may be spent now."""

    run: Path
    dataset: Dataset
    """What the first run was trained on."""
    current: Dataset
    """What the run so far was trained on: the same with what was bought."""
    holdings: AcquiredData
    budget: int
    number: int
    """The round, the first being 1."""
    settings: MendSettings
    committee: Path
    """A folder for models that a strategy trains to choose by."""

    @cached_property
    def rng(self) -> np.random.Generator:
        """What chance is drawn from in this round."""
        return rng_for(self.settings.seed, "mend", self.settings.strategy, self.number)

    @cached_property
    def training(self) -> SplitData:
        """The training split."""
        return self.dataset["train"]

    @cached_property
    def record(self) -> RunRecord:
        """The record of the run so far."""
        return RunFolder(self.run).record

    @cached_property
    def model(self) -> Model:
        """The model so far."""
        return load_model(self.run)

    @cached_property
    def concepts(self) -> list[Array]:
        """What the model says of the concepts of the training split: for each, examples x values."""
        self.require_labels()
        found = list(self.model.answers(self.training, {}).concepts)
        if len(found) != len(self.training.knowledge.space):
            raise ConfigError(f"strategy {self.settings.strategy!r} needs a model that predicts every concept")
        return found

    @property
    def answers(self) -> Codes:
        """What an annotator answers: as the dataset's annotations, and where it has none the truth; -1 if not known."""
        given = self.training.annotated_concepts
        return np.asarray(np.where(given >= 0, given, self.training.concepts))

    @property
    def is_open(self) -> Array:
        """Which concept labels can still be bought (examples x concepts)."""
        return np.asarray((self.answers >= 0) & (self.holdings.concepts < 0))

    @cached_property
    def predictions(self) -> dict[str, Predictions]:
        """What the model so far predicts for each split that it was asked about."""
        return RunFolder(self.run).all_predictions(self.dataset.knowledge)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the run so far."""
        return diagnose_run(RunFolder(self.run), self.current, taught_by(self.dataset))

    def evidence(self, split: str) -> Evidence:
        """Return what the model so far predicts for a split, beside the truth."""
        return gather_from(self.current, self.predictions[split])

    def require_labels(self) -> None:
        """Refuse a model that does not learn from concept labels."""
        model = type(self.model)
        if "concept_weight" not in model.Config.model_fields or not model.is_network:
            raise ConfigError(
                f"strategy {self.settings.strategy!r} buys concept labels, and model {model.name!r} does not learn "
                "from any; choose another strategy or model"
            )

    def buy(self, scores: Array, used: bool = False) -> AcquiredData:
        """Return the holdings with the labels of the highest scores (examples x concepts), as many as can be paid.

        With `used`, only concepts that the rule uses are bought.
        """
        self.require_labels()
        columns = sorted(used_concepts(self.training.knowledge)) if used else range(scores.shape[1])
        cells = np.argwhere(self.is_open & np.isin(np.arange(scores.shape[1]), columns))
        ranks = np.argsort(-scores[cells[:, 0], cells[:, 1]], kind="stable")
        return self.holdings.with_labels(cells[ranks[: self.budget]], self.answers)
