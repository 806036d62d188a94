"""Models that learn from concepts, not from pictures: what all of them share. No torch.

To add a learner, subclass one of two classes and register it in `assay.models` with one `MODELS.add` line:

`FormulaModel`    (in `formulas.py`) what is learned is a formula for each label (a program, clauses, a rule). Set
                  `name`, `Config` (a subclass of `SymbolicConfig`) and give `learn_label(label, examples) -> Learned`:
                  the formula (of the label's kind, or a truth value for each of its values) and notes for the record.
                  Saving, loading, answering, `do` and perception are done for you.
`SymbolicModel`   (here) what is learned is something else (a tree, weights). Give `learn(examples)`,
                  `labels_given(concepts)` and, to keep what was learned, `state()` / `set_state()` (plain JSON) and
                  `arrays()` / `set_arrays()` (numpy arrays, kept in safetensors; never pickles).

A learner that searches should have a setting `seconds`, the most it may take: the contract test sets it to a few.
`examples.codes` are the concepts to learn from (a row an example, a column a concept), `examples.labels` the label
codes; `examples.space` and `examples.knowledge` say what they mean. The rule inside the knowledge is the one to be
found: a learner must read its label names and values only (`label.name`, `label.values`, `label.kind`).
"""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from assay.arrays import Array
from assay.concepts import ConceptSpace
from assay.config import Config, Settings, checked
from assay.data.dataset import SplitData
from assay.data.manifest import to_json, versions
from assay.errors import ConfigError, DataError
from assay.files import write_atomically
from assay.logic.knowledge import Knowledge
from assay.metrics.quality import macro_f1
from assay.models.core.epoch import Epoch, Report
from assay.models.symbolic.examples import Examples, is_spread, likeliest
from assay.models.symbolic.perception import Unperceived, certain, moved, perception_of
from assay.predictions import Answer, Predictions
from assay.render.picture import Layout
from assay.runs import PROGRAM, WEIGHTS
from assay.seeds import rng_for


class SymbolicConfig(Config):
    """What every symbolic learner can set."""

    perception: str | None = None
    """Who tells the concepts: a run's folder or a predictions file; by default they are the true ones."""
    learn_from: Literal["perception", "truth"] = "perception"
    """Concepts to learn from: what perception says, or the true ones, with perception in use only."""
    reading: Literal["hard", "soft"] = "hard"
    """How concepts are used: the likeliest value of each, or all of them as likely as they are, where that can be."""


class SymbolicModel(ABC):
    """A learner on concepts: true ones, or those that perception says."""

    name: ClassVar[str]
    has_concepts: ClassVar[bool] = True
    can_intervene: ClassVar[bool] = True
    is_network: ClassVar[bool] = False
    Config: ClassVar[type[SymbolicConfig]] = SymbolicConfig

    def __init__(
        self,
        knowledge: Knowledge,
        layout: Layout,
        settings: Settings | None = None,
        backbones: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        self.config = self.settled(settings or Settings(), backbones or {})
        self.knowledge = knowledge
        self.layout = layout
        self.seed = seed
        self.history: list[Epoch] = []
        self.perception = perception_of(self.config.perception)
        """Who tells the concepts; one that is not there is told now, before anything is written."""
        self.begin()

    @classmethod
    def settled(cls, settings: Settings, backbones: Mapping[str, str]) -> SymbolicConfig:
        """Return all settings, the path of perception made whole."""
        config = checked(cls.Config, settings)
        if config.perception is None:
            return config
        return config.model_copy(update={"perception": str(Path(config.perception).resolve())})

    # -- what a learner gives --------------------------------------------------------------------------------------

    @classmethod  # noqa: B027
    def ready(cls, config: Any) -> None:
        """Refuse if what these settings need is not installed; asked by who plans, before anything is run."""

    def begin(self) -> None:  # noqa: B027
        """Make ready to learn: what is held, and what can be refused already, once all settings are known."""

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Learn from examples."""

    @abstractmethod
    def labels_given(self, concepts: list[Array]) -> list[Array]:
        """Return the probabilities of each label that follow from those of each concept (rows x values)."""

    def in_words(self) -> list[str]:
        """Return what was learned in words, a line each."""
        return []

    def state(self) -> dict[str, Any]:
        """Return what was learned as plain data."""
        return {}

    def set_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Take what `state` gave."""

    def arrays(self) -> dict[str, Array]:
        """Return what was learned as arrays."""
        return {}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:  # noqa: B027
        """Take what `arrays` gave."""

    # -- what is done for all --------------------------------------------------------------------------------------

    @property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return self.knowledge.space

    def rng(self, *purpose: object) -> np.random.Generator:
        """Return where randomness comes from."""
        return rng_for(self.seed, self.name, *purpose)

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split; another only tells how well that went."""
        self.learn(self.examples(train_data))
        try:
            score = self._f1(valid)
        except Unperceived:
            score = 0.0
        self.history = [Epoch("learning", 1, 1 - self._f1(train_data), score, True)]
        report(self.history[0], 1)

    def examples(self, data: SplitData) -> Examples:
        """Return what is learned from: given labels, and concepts as perception says or as they were given."""
        true = self.config.perception is None or self.config.learn_from == "truth"
        spreads = certain(data.given_concepts, self.space) if true else self.perception.spreads(data)
        return Examples(self.knowledge, likeliest(spreads), spreads, data.given_labels)

    def _f1(self, data: SplitData) -> float:
        """Return the macro F1 of the labels, averaged."""
        said = self.predict(data)
        found = []
        for place, label in enumerate(self.knowledge.labels):
            known = data.labels[:, place] >= 0
            codes = said.labels[label.name].codes
            found.append(macro_f1(data.labels[known, place], codes[known], len(label.values)))
        return float(np.mean(found))

    def predict(self, data: SplitData, do: Mapping[str, Array] | None = None) -> Predictions:
        """Answer for every example of a split; `do` sets concepts to codes, or to probabilities (examples x values)."""
        spreads = self.perception.spreads(data)
        for name, given in (do or {}).items():
            spreads[self.space.place(name)] = self._given(name, given, len(data))
        labels = self.labels_from_concepts(spreads)
        return Predictions(
            data.fingerprint,
            data.name,
            data.index,
            {label.name: Answer.of(p) for label, p in zip(self.knowledge.labels, labels, strict=True)},
            {concept.name: Answer.of(p) for concept, p in zip(self.space.concepts, spreads, strict=True)},
            self.about(),
        )

    def labels_from_concepts(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities that follow from concept probabilities, in the reading that is set."""
        if self.config.reading == "hard":
            concepts = certain(likeliest(concepts), self.space)
        return self.labels_given(concepts)

    def _given(self, name: str, given: Array, rows: int) -> Array:
        """Return what a concept is set to as probabilities: from a code for each example, or from probabilities."""
        column, concept = np.asarray(given), self.space.concept(name)
        size = len(concept.values)
        if column.shape == (rows,) and np.isin(column, np.arange(size)).all():
            return np.eye(size)[column.astype(np.int64)]
        if column.shape == (rows, size) and is_spread(column):
            return column.astype(np.float64)
        raise ConfigError(
            f"do: {name!r} needs {rows} codes from 0 to {size - 1}, one for each example, "
            f"or {rows} x {size} probabilities"
        )

    def about(self) -> dict[str, Any]:
        """Return who the model is, and who told it the concepts, for the record."""
        return {
            "model": self.name,
            "seed": self.seed,
            "config": self.config.model_dump(mode="json"),
            "versions": versions(),
            "perception": self.perception.about(),
        }

    def history_as_dicts(self) -> list[dict[str, Any]]:
        """Return the training history as plain data."""
        return [asdict(epoch) for epoch in self.history]

    def save(self, folder: Path) -> dict[str, Any]:
        """Write what was learned: plain data as JSON, arrays as safetensors."""
        write_atomically(folder / PROGRAM, to_json(self.state()))
        arrays = self.arrays()
        if arrays:
            from safetensors.numpy import save

            write_atomically(folder / WEIGHTS, save({n: np.ascontiguousarray(a) for n, a in arrays.items()}))
        seen = self.perception.about()
        if seen is not None:
            seen["from_run"] = Path(os.path.relpath(seen["folder"], folder.resolve())).as_posix()
        return {"perception": seen, "parameters": int(sum(array.size for array in arrays.values()))}

    @classmethod
    def opened(cls, folder: Path, about: Mapping[str, Any], device: str = "cpu") -> Self:
        """Return the trained model of a run."""
        knowledge, layout = Knowledge.from_dict(about["knowledge"]), Layout.from_dict(about["layout"])
        config = {**about["config"], "perception": moved(about.get("perception"), folder)}
        model = cls(knowledge, layout, Settings(config), seed=about["seed"])
        try:
            model.set_state(json.loads((folder / PROGRAM).read_text(encoding="utf-8")))
            if (folder / WEIGHTS).exists():
                from safetensors.numpy import load

                model.set_arrays(load((folder / WEIGHTS).read_bytes()))
        except Exception as error:  # whatever a damaged file may cause in a learner's own reading of it
            raise DataError(f"what {str(folder)!r} has learned cannot be read: {_first_line(error)}") from None
        return model


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
