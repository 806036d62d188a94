"""A decision tree on concepts, by scikit-learn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, import_extra
from assay.logic import ConceptSpace
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.baseline import Baseline, BaselineConfig, Encoding


class TreeConfig(BaselineConfig):
    """How a tree is grown."""

    scaled: bool = False
    depth: int | None = Field(None, ge=1)
    """The most questions in a row."""
    leaf: int = Field(1, ge=1)
    """The fewest examples in a leaf."""


MOST_LEAVES = 12
"""How many leaves of a tree are written in words."""


def column_tests(space: ConceptSpace, encoding: Encoding) -> list[tuple[str, str]]:
    """Return for each column of the inputs what is written where it is at most a threshold `{}`, and where above.

    >>> from assay.logic.concepts import bits
    >>> column_tests(bits(["a"]), "numbers")
    [('not a', 'a')]
    """
    tests: list[tuple[str, str]] = []
    for concept in space.concepts:
        ordered = not concept.optional and concept.kind != "symbol"
        if ordered and encoding != "values":
            name = concept.name
            tests.append((f"not {name}", name) if concept.kind == "bool" else (f"{name} <= {{:g}}", f"{name} > {{:g}}"))
        if not ordered or encoding != "numbers":
            tests += [(f"{concept.name} != {value}", f"{concept.name} == {value}") for value in concept.values]
    return tests


def _leaves(
    parts: Mapping[str, Array], node: int, path: tuple[str, ...], tests: Sequence[tuple[str, str]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Give the leaves below a node, each with the tests on the way to it."""
    if parts["left"][node] < 0:
        yield node, path
        return
    below, above = (side.format(parts["threshold"][node]) for side in tests[int(parts["feature"][node])])
    yield from _leaves(parts, int(parts["left"][node]), (*path, below), tests)
    yield from _leaves(parts, int(parts["right"][node]), (*path, above), tests)


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
            "examples": np.asarray(tree.n_node_samples, dtype=np.int64),
        }

    def in_words(self) -> list[str]:
        """Return a rule for each leaf, with how many training examples it covers, those with most first."""
        names = column_tests(self.space, self.config.encoding)
        lines = []
        for label in self.knowledge.labels:
            parts = self.parts[label.name]
            if "examples" not in parts:
                continue
            leaves = list(_leaves(parts, 0, (), names))
            for node, path in sorted(leaves, key=lambda leaf: -int(parts["examples"][leaf[0]]))[:MOST_LEAVES]:
                count, best = int(parts["examples"][node]), int(parts["shares"][node].argmax())
                value = label.values[int(parts["classes"][best])]
                right = round(count * float(parts["shares"][node][best]))
                lines.append(
                    f"{label.name} is {value} in {right:,} of {count:,} where {' and '.join(path) or 'always'}"
                )
            if len(leaves) > MOST_LEAVES:
                lines.append(f"{label.name}: {len(leaves) - MOST_LEAVES} more leaves of fewer examples")
        return lines

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Walk all examples down the tree at once."""
        nodes, rows = np.zeros(len(inputs), dtype=np.int64), np.arange(len(inputs))
        while (inner := parts["left"][nodes] >= 0).any():
            values = inputs[rows, np.maximum(parts["feature"][nodes], 0)].astype(np.float32)  # as scikit-learn compares
            step = np.where(values <= parts["threshold"][nodes], parts["left"][nodes], parts["right"][nodes])
            nodes = np.where(inner, step, nodes)
        return parts["shares"][nodes]
