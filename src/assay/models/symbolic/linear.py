"""Logistic regression on concepts, by scikit-learn."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, import_extra
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.baseline import Baseline, BaselineConfig, layer_probabilities


class LinearConfig(BaselineConfig):
    """How logistic regression is fitted."""

    strength: float = Field(1.0, gt=0)
    """The inverse of the L2 regularisation strength."""
    steps: int = Field(1000, ge=1)
    """The most steps."""


class Linear(Baseline):
    """Logistic regression on concepts."""

    name = "linear"
    Config: ClassVar[type[SymbolicConfig]] = LinearConfig
    config: LinearConfig

    def fit_estimator(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return weights and bias."""
        library = import_extra("sklearn.linear_model", "the model 'linear'")
        estimator = library.LogisticRegression(C=self.config.strength, max_iter=self.config.steps, random_state=seed)
        estimator.fit(inputs, targets)
        return {"weight0": np.asarray(estimator.coef_.T), "bias0": np.asarray(estimator.intercept_)}

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Return the probabilities of one linear layer."""
        return layer_probabilities(parts, inputs)
