"""A decision tree on concepts, by scikit-learn."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.arrays import Array, Codes
from assay.distribution import import_extra
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.baseline import Baseline, BaselineConfig


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

    def fit_estimator(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return the nodes of a tree."""
        library = import_extra("sklearn.tree", "the model 'tree'")
        estimator = library.DecisionTreeClassifier(
            max_depth=self.config.depth, min_samples_leaf=self.config.leaf, random_state=seed
        ).fit(inputs, targets)
        tree: Any = estimator.tree_
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
            values = inputs[rows, np.maximum(parts["feature"][nodes], 0)].astype(np.float32)  # as scikit-learn compares
            step = np.where(values <= parts["threshold"][nodes], parts["left"][nodes], parts["right"][nodes])
            nodes = np.where(inner, step, nodes)
        return parts["shares"][nodes]
