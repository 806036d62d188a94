"""Baselines on concepts: a decision tree, logistic regression, a small network. scikit-learn learns them; what it has
learned is kept as arrays and answered from here, so that no file holds code."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.arrays import Array, Codes
from assay.errors import ConfigError
from assay.models.symbolic.base import SymbolicConfig, SymbolicModel
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.features import Encoding, columns


class BaselineConfig(SymbolicConfig):
    """What the baselines share."""

    encoding: Encoding = "numbers"
    """Concepts as columns: `numbers` (counts as they are), `values` (a column for each value), or `both`."""
    scaled: bool = True
    """Shift and scale columns to mean 0 and deviation 1, where that matters to the learner."""


class Baseline(SymbolicModel):
    """One estimator for each label, kept as arrays named `LABEL.PART`."""

    Config: ClassVar[type[SymbolicConfig]] = BaselineConfig
    config: BaselineConfig
    parts: dict[str, dict[str, Array]]

    @abstractmethod
    def fitted(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return what an estimator learns, as arrays."""

    @abstractmethod
    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return the probabilities of the classes that were learned, a column each."""

    def learn(self, examples: Examples) -> None:
        """Learn label by label."""
        self.parts = {}
        for label in self.knowledge.labels:
            held = examples.of_label(label)
            if not len(held):
                raise ConfigError(f"model {self.name!r}: no example has the label {label.name!r}")
            inputs = columns(self.space, held.spreads, self.config.encoding)
            scale = _scale(inputs) if self.config.scaled else _no_scale(inputs)
            classes = np.unique(held.targets)
            parts = {**scale, "classes": classes}
            if len(classes) > 1:
                seed = int(self.rng(label.name).integers(2**31))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that the most steps were taken is no fault of the data
                    parts |= self.fitted(_scaled(inputs, scale), held.targets, seed)
            self.parts[label.name] = parts

    def labels_given(self, concepts: list[Array]) -> list[Array]:
        """Return what each estimator says; a value that was never seen has probability 0."""
        inputs = columns(self.space, concepts, self.config.encoding)
        return [self._spread(self.parts[x.name], inputs, len(x.values)) for x in self.knowledge.labels]

    def _spread(self, parts: Mapping[str, Array], inputs: Array, size: int) -> Array:
        classes = parts["classes"]
        spread = np.zeros((len(inputs), size))
        one = len(classes) == 1
        spread[:, classes] = 1.0 if one else self.scores(parts, _scaled(inputs, parts))
        return np.asarray(spread / spread.sum(axis=1, keepdims=True))

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of all labels."""
        return {f"{label}.{part}": array for label, parts in self.parts.items() for part, array in parts.items()}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take the arrays of all labels."""
        self.parts = {name: {} for name in self.knowledge.label_names}
        for key, array in arrays.items():
            label, _, part = key.partition(".")
            self.parts[label][part] = array


def _scale(inputs: Array) -> dict[str, Array]:
    deviation = inputs.std(axis=0)
    return {"mean": inputs.mean(axis=0), "deviation": np.where(deviation > 0, deviation, 1.0)}


def _no_scale(inputs: Array) -> dict[str, Array]:
    return {"mean": np.zeros(inputs.shape[1]), "deviation": np.ones(inputs.shape[1])}


def _scaled(inputs: Array, parts: Mapping[str, Array]) -> Array:
    return np.asarray((inputs - parts["mean"]) / parts["deviation"])


class TreeConfig(BaselineConfig):
    """How a tree is grown."""

    scaled: bool = False
    depth: int | None = Field(None, ge=1)
    """The most questions in a row."""
    leaf: int = Field(1, ge=1)
    """The fewest examples in a leaf."""


class Tree(Baseline):
    """A decision tree on concepts."""

    name = "tree"
    Config: ClassVar[type[SymbolicConfig]] = TreeConfig
    config: TreeConfig

    def fitted(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return the nodes of a tree."""
        from sklearn.tree import DecisionTreeClassifier

        made = DecisionTreeClassifier(
            max_depth=self.config.depth, min_samples_leaf=self.config.leaf, random_state=seed
        ).fit(inputs, targets)
        tree: Any = made.tree_
        shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
        return {
            "left": np.asarray(tree.children_left, dtype=np.int64),
            "right": np.asarray(tree.children_right, dtype=np.int64),
            "feature": np.asarray(tree.feature, dtype=np.int64),
            "threshold": np.asarray(tree.threshold, dtype=np.float64),
            "shares": np.asarray(shares, dtype=np.float64),
        }

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Walk all examples down the tree at once."""
        nodes, rows = np.zeros(len(inputs), dtype=np.int64), np.arange(len(inputs))
        while (inner := parts["left"][nodes] >= 0).any():
            asked = inputs[rows, np.maximum(parts["feature"][nodes], 0)].astype(np.float32)  # as scikit-learn compares
            step = np.where(asked <= parts["threshold"][nodes], parts["left"][nodes], parts["right"][nodes])
            nodes = np.where(inner, step, nodes)
        return parts["shares"][nodes]


class LinearConfig(BaselineConfig):
    """How logistic regression is fitted."""

    strength: float = Field(1.0, gt=0)
    """The inverse of how much large weights are held against it."""
    steps: int = Field(1000, ge=1)
    """The most steps."""


class Linear(Baseline):
    """Logistic regression on concepts."""

    name = "linear"
    Config: ClassVar[type[SymbolicConfig]] = LinearConfig
    config: LinearConfig

    def fitted(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return weights and bias."""
        from sklearn.linear_model import LogisticRegression

        made = LogisticRegression(C=self.config.strength, max_iter=self.config.steps, random_state=seed)
        made.fit(inputs, targets)
        return {"weight0": np.asarray(made.coef_.T), "bias0": np.asarray(made.intercept_)}

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return what one layer says."""
        return _forward(parts, inputs)


class NetworkConfig(BaselineConfig):
    """How the network is trained."""

    hidden: list[int] = [64]
    """The width of each hidden layer."""
    steps: int = Field(500, ge=1)
    """The most passes over the examples."""
    learning_rate: float = Field(1e-3, gt=0)
    decay: float = Field(1e-4, ge=0)
    """How much large weights are held against it."""


class Network(Baseline):
    """A small network on concepts."""

    name = "mlp"
    Config: ClassVar[type[SymbolicConfig]] = NetworkConfig
    config: NetworkConfig

    def fitted(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return the weights and biases of each layer."""
        from sklearn.neural_network import MLPClassifier

        made = MLPClassifier(
            tuple(self.config.hidden),
            alpha=self.config.decay,
            learning_rate_init=self.config.learning_rate,
            max_iter=self.config.steps,
            random_state=seed,
        ).fit(inputs, targets)
        weights = {f"weight{place}": np.asarray(one) for place, one in enumerate(made.coefs_)}
        return weights | {f"bias{place}": np.asarray(one) for place, one in enumerate(made.intercepts_)}

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return what the layers say, with ReLU between them."""
        return _forward(parts, inputs)


def _forward(parts: Mapping[str, Array], inputs: Array) -> Array:
    layers = sum(1 for name in parts if name.startswith("weight"))
    for place in range(layers):
        inputs = inputs @ parts[f"weight{place}"] + parts[f"bias{place}"]
        if place < layers - 1:
            inputs = np.maximum(inputs, 0)
    if inputs.shape[1] == 1:
        inputs = np.concatenate([-inputs / 2, inputs / 2], axis=1)
    powers = np.exp(inputs - inputs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
