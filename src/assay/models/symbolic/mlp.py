"""A small network on concepts (a multi-layer perceptron), by scikit-learn."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, import_extra
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.baseline import Baseline, BaselineConfig, layer_probabilities


class MLPConfig(BaselineConfig):
    """How the network is trained."""

    hidden: list[int] = [64]
    """The width of each hidden layer."""
    steps: int = Field(500, ge=1)
    """The most passes over the examples."""
    learning_rate: float = Field(1e-3, gt=0)
    decay: float = Field(1e-4, ge=0)
    """The L2 regularisation strength."""


class MLP(Baseline):
    """A small network on concepts."""

    name = "mlp"
    Config: ClassVar[type[SymbolicConfig]] = MLPConfig
    config: MLPConfig

    def fit_estimator(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return the weights and biases of each layer."""
        library = import_extra("sklearn.neural_network", "the model 'mlp'")
        estimator = library.MLPClassifier(
            tuple(self.config.hidden),
            alpha=self.config.decay,
            learning_rate_init=self.config.learning_rate,
            max_iter=self.config.steps,
            random_state=seed,
        ).fit(inputs, targets)
        weights = {f"weight{place}": np.asarray(array) for place, array in enumerate(estimator.coefs_)}
        return weights | {f"bias{place}": np.asarray(array) for place, array in enumerate(estimator.intercepts_)}

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return the network's probabilities."""
        return layer_probabilities(parts, inputs)
