"""What the baselines on concepts share (`tree`, `linear`, `mlp`).

scikit-learn fits them; the fitted parameters are stored as arrays and evaluated here, so that no file holds code.
"""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from assay.base import Array, Codes, ConfigError, import_extra
from assay.logic import Concept, ConceptSpace
from assay.models.symbolic.base import SymbolicConfig, SymbolicModel
from assay.models.symbolic.examples import Examples

Encoding = Literal["numbers", "values", "both"]


class BaselineConfig(SymbolicConfig):
    """What the baselines share."""

    encoding: Encoding = "numbers"
    """Concepts as columns: `numbers` (counts as they are), `values` (a column for each value), or `both`."""
    scaled: bool = True
    """Shift and scale columns to mean 0 and deviation 1, where that matters to the learner."""


class Baseline(SymbolicModel):
    """One estimator for each label, stored as arrays named `LABEL.PART`."""

    Config: ClassVar[type[SymbolicConfig]] = BaselineConfig
    config: BaselineConfig
    parts: dict[str, dict[str, Array]]

    @classmethod
    def ready(cls, config: BaselineConfig) -> None:
        """Refuse if scikit-learn is missing."""
        import_extra("sklearn", f"the model {cls.name!r}")

    @abstractmethod
    def fit_estimator(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return what an estimator learns, as arrays."""

    @abstractmethod
    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return the probabilities of the classes that were learned, a column each."""

    def learn(self, examples: Examples) -> None:
        """Learn label by label."""
        self.parts = {}
        for label in self.knowledge.labels:
            annotated = examples.of_label(label)
            if not len(annotated):
                raise ConfigError(f"model {self.name!r}: no example has the label {label.name!r}")
            inputs = columns(self.space, annotated.probabilities, self.config.encoding)
            scale = _scale(inputs) if self.config.scaled else _no_scale(inputs)
            classes = np.unique(annotated.targets)
            parts = {**scale, "classes": classes}
            if len(classes) > 1:
                seed = int(self.rng(label.name).integers(2**31))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that the most steps were taken is no fault of the data
                    parts |= self.fit_estimator(_scaled(inputs, scale), annotated.targets, seed)
            self.parts[label.name] = parts

    def label_probabilities(self, concepts: list[Array]) -> list[Array]:
        """Return each estimator's probabilities; a value that was not in the training data has probability 0."""
        inputs = columns(self.space, concepts, self.config.encoding)
        return [self._estimate(self.parts[x.name], inputs, len(x.values)) for x in self.knowledge.labels]

    def _estimate(self, parts: Mapping[str, Array], inputs: Array, size: int) -> Array:
        classes = parts["classes"]
        probabilities = np.zeros((len(inputs), size))
        constant = len(classes) == 1
        probabilities[:, classes] = 1.0 if constant else self.scores(parts, _scaled(inputs, parts))
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of all labels."""
        return {f"{label}.{part}": array for label, parts in self.parts.items() for part, array in parts.items()}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take the arrays of all labels."""
        self.parts = {name: {} for name in self.knowledge.label_names}
        for key, array in arrays.items():
            label, _, part = key.partition(".")
            self.parts[label][part] = array


def columns(space: ConceptSpace, probabilities: Sequence[Array], encoding: Encoding) -> Array:
    """Return a row of numbers for each example.

    `numbers`  a number as itself (its mean where uncertain), a truth value as 0 or 1, a symbol as a column a value
    `values`   the probability of each value of each concept
    """
    parts = [part for c, p in zip(space.concepts, probabilities, strict=True) for part in _columns(c, p, encoding)]
    return np.concatenate(parts, axis=1)


def _columns(concept: Concept, probabilities: Array, encoding: Encoding) -> list[Array]:
    ordered = not concept.optional and concept.kind != "symbol"
    if not ordered or encoding == "values":
        return [np.asarray(probabilities)]
    mean = probabilities @ np.array([float(value) for value in concept.values if not isinstance(value, str)])
    return [mean[:, None]] + ([np.asarray(probabilities)] if encoding == "both" else [])


def _scale(inputs: Array) -> dict[str, Array]:
    deviation = inputs.std(axis=0)
    return {"mean": inputs.mean(axis=0), "deviation": np.where(deviation > 0, deviation, 1.0)}


def _no_scale(inputs: Array) -> dict[str, Array]:
    return {"mean": np.zeros(inputs.shape[1]), "deviation": np.ones(inputs.shape[1])}


def _scaled(inputs: Array, parts: Mapping[str, Array]) -> Array:
    return np.asarray((inputs - parts["mean"]) / parts["deviation"])


def layer_probabilities(parts: Mapping[str, Array], inputs: Array) -> Array:
    """Return the probabilities of a network of these weights and biases, with ReLU between the layers."""
    layers = sum(1 for name in parts if name.startswith("weight"))
    for place in range(layers):
        inputs = inputs @ parts[f"weight{place}"] + parts[f"bias{place}"]
        if place < layers - 1:
            inputs = np.maximum(inputs, 0)
    if inputs.shape[1] == 1:
        inputs = np.concatenate([-inputs / 2, inputs / 2], axis=1)
    powers = np.exp(inputs - inputs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
