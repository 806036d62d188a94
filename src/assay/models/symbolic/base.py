"""Models that learn from concepts, not from pictures: what all of them share. No torch.

To add a learner, subclass one of two classes and register it in `assay.models` with one `MODELS.add` line:

`FormulaModel`    (in `formulas.py`) what is learned is a formula for each label (a program, clauses, rules). Set `name`
                  and `Config` (a subclass of `SymbolicConfig`), and give `learn_label(label, examples)`. It returns
                  `LearnedFormulas`: the formula (of the label's kind, or a truth value for each of its values) and
                  notes for the record. Saving, loading, answering, `do` and perception are done for you.
`SymbolicModel`   (here) what is learned is something else (a tree, weights). Give `learn(examples)`,
                  `label_probabilities(concepts)` and, to keep what was learned, `state()` / `set_state()` (plain JSON)
                  and `arrays()` / `set_arrays()` (numpy arrays, kept in safetensors; never pickles).

A learner that searches should have a setting `seconds`, the most it may take: the contract test sets it to a few.
`examples.codes` are the concepts to learn from (a row an example, a column a concept), `examples.labels` the label
codes; `examples.space` and `examples.knowledge` say what they mean. The rule inside the knowledge is the one to be
found: a learner must read its label names and values only (`label.name`, `label.values`, `label.kind`).
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from assay.base import Array, DataError, Settings, rng_for, validate, write_atomically
from assay.contracts import BottleneckModel, IntervenableModel, ModelOutput, RunRecord, to_json
from assay.dataset import SplitData
from assay.metrics import label_f1
from assay.models.core.model import Epoch, Model, Report
from assay.models.core.perception import (
    MissingPerception,
    one_hot,
    perception_of,
    perception_seen_from,
    resolve_perception,
    saved_perception,
    with_perception,
)
from assay.models.core.settings import PerceptionConfig
from assay.models.symbolic.examples import Examples, most_probable_codes
from assay.runs import PROGRAM, WEIGHTS

FEWEST_WHOLE = 20
"""With fewer examples that have every concept annotated, those with gaps are learned from as well."""


class SymbolicConfig(PerceptionConfig):
    """What every symbolic learner can set."""

    learn_from: Literal["perception", "truth"] = "perception"
    """Concepts to learn from: those that perception predicts, or the ground truth (perception then only predicts)."""
    reading: Literal["hard", "soft"] = "hard"
    """How concepts are used: the most probable value of each, or the probabilities of all values, where possible."""


class SymbolicModel(Model):
    """A learner on concepts: ground truth, or those that perception predicts."""

    has_concepts = True
    can_intervene = True
    is_network = False
    Config: ClassVar[type[SymbolicConfig]] = SymbolicConfig
    config: SymbolicConfig

    def prepare(self) -> None:
        """Find the source of concepts; one that is missing raises now, before anything is written."""
        self.perception = perception_of(self.config.perception, self.config.reader)
        self.begin()

    @classmethod
    def configure(cls, settings: Settings, backbones: Mapping[str, str]) -> SymbolicConfig:
        """Return all settings, the path of perception made whole."""
        config = validate(cls.Config, settings)
        return config.model_copy(update=resolve_perception(config))

    # -- what a learner gives --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Prepare to learn once all settings are known; settings that cannot work raise here."""

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Learn from examples."""

    @abstractmethod
    def label_probabilities(self, concepts: list[Array]) -> list[Array]:
        """Return the probabilities of each label that follow from those of each concept (rows x values)."""

    def state(self) -> dict[str, Any]:
        """Return what was learned as plain data."""
        return {}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""

    def arrays(self) -> dict[str, Array]:
        """Return what was learned as arrays."""
        return {}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Restore what `arrays` returned."""

    # -- what is done for all --------------------------------------------------------------------------------------

    def rng(self, *purpose: object) -> np.random.Generator:
        """Return where randomness comes from."""
        return rng_for(self.seed, self.name, *purpose)

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Learn from one split; the other is for the validation score."""
        self.learn(self.examples(train_data))
        try:
            score = self._f1(valid)
        except MissingPerception:
            score = 0.0
        self.history = [Epoch("learning", 1, 1 - self._f1(train_data), score, True)]
        report(self.history[0], 1)

    def examples(self, data: SplitData) -> Examples:
        """Return the training examples: annotated labels, and concepts as predicted by perception or as annotated.

        Where enough examples have every concept annotated, only these are learned from: a gap is no value.
        """
        true = self.config.perception is None or self.config.learn_from == "truth"
        whole = np.flatnonzero((data.annotated_concepts >= 0).all(axis=1))
        if true and FEWEST_WHOLE <= len(whole) < len(data):
            data = data.take(whole)
        probabilities = one_hot(data.annotated_concepts, self.space) if true else self.perception.probabilities(data)
        return Examples(self.knowledge, most_probable_codes(probabilities), probabilities, data.given_labels)

    def _f1(self, data: SplitData) -> float:
        """Return the macro F1 of the labels, averaged."""
        predictions = self.predict(data)
        codes = [predictions.labels[label.name].codes for label in self.knowledge.labels]
        return float(np.nan_to_num(label_f1(data.labels, np.stack(codes, axis=1))))

    def answers(self, data: SplitData, do: Mapping[int, Array]) -> ModelOutput:
        """Return label probabilities from perception's concepts, with some concepts intervened on."""
        concepts = self.perception.probabilities(data)
        for place, values in do.items():
            concepts[place] = np.eye(self.space.sizes[place])[values] if values.ndim == 1 else values
        return ModelOutput(self.labels_from_concepts(concepts), concepts)

    def answerer(self, data: SplitData) -> IntervenableModel:
        """Return the label head, with the concepts that perception predicts for a split."""
        return BottleneckModel(self.name, self.perception.probabilities(data), self.labels_from_concepts)

    def labels_from_concepts(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities that follow from concept probabilities, in the reading that is set."""
        if self.config.reading == "hard":
            concepts = one_hot(most_probable_codes(concepts), self.space)
        return self.label_probabilities(concepts)

    def metadata(self) -> dict[str, Any]:
        """Return the record of the model and of the source of its concepts."""
        return with_perception(super().metadata(), self.perception)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write what was learned: plain data as JSON, arrays as safetensors."""
        write_atomically(folder / PROGRAM, to_json(self.state()))
        arrays = self.arrays()
        if arrays:
            from safetensors.numpy import save

            write_atomically(folder / WEIGHTS, save({n: np.ascontiguousarray(a) for n, a in arrays.items()}))
        perception = perception_seen_from(self.perception, folder)
        return {"perception": perception, "parameters": int(sum(array.size for array in arrays.values()))}

    @classmethod
    def saved_settings(cls, folder: Path, record: RunRecord) -> dict[str, Any]:
        """Return the settings of a run, with perception where it is now."""
        return {**record.config, **saved_perception(record, folder)}

    def restore(self, folder: Path, device: str) -> None:
        """Read what was learned."""
        try:
            self.set_state(json.loads((folder / PROGRAM).read_text(encoding="utf-8")))
            if (folder / WEIGHTS).exists():
                from safetensors.numpy import load

                self.set_arrays(load((folder / WEIGHTS).read_bytes()))
        except Exception as error:  # whatever a damaged file may cause in a learner's own reading of it
            raise DataError(f"what {str(folder)!r} has learned cannot be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
