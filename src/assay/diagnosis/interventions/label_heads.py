"""Label heads, from concept probabilities to label probabilities: linear ones, and the rule itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.logic import Knowledge

LabelHead = Callable[[list[Array]], list[Array]]
"""From the probabilities of each concept to those of each label, arrays of rows x values."""


@dataclass(frozen=True)
class LinearHead:
    """`weights[i]` (values of concept `i` x outputs) and `bias` (outputs); `sizes` cut the outputs into labels."""

    weights: Sequence[Array]
    bias: Array
    sizes: tuple[int, ...]

    def scores(self, concepts: Sequence[Array]) -> Array:
        """Return the scores of all outputs: rows x outputs."""
        pairs = zip(concepts, self.weights, strict=True)
        return np.asarray(sum((np.asarray(p, dtype=np.float64) @ w for p, w in pairs), self.bias))

    def __call__(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities: the softmax of each label's scores."""
        return [softmax(scores) for scores in np.split(self.scores(concepts), np.cumsum(self.sizes)[:-1], axis=1)]

    @property
    def binary(self) -> bool:
        """Whether every label has two values."""
        return all(size == 2 for size in self.sizes)

    def margins(self) -> tuple[list[Array], Array]:
        """Return, for labels of two values, weights and bias of the second value's score less the first's."""
        return [w[:, 1::2] - w[:, ::2] for w in self.weights], self.bias[1::2] - self.bias[::2]


def logistic_head(weights: Sequence[float], bias: float) -> LinearHead:
    """Return logistic regression on true-or-false concepts.

    >>> head = logistic_head([2.0, -1.0], 0.5)
    >>> head([np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])])[0].round(3).tolist()
    [[0.076, 0.924]]
    """
    tables = [np.array([[0.0, 0.0], [0.0, float(weight)]]) for weight in weights]
    return LinearHead(tables, np.array([0.0, bias]), (2,))


def rule_head(knowledge: Knowledge) -> LabelHead:
    """Return the rule as a label head, exact for independent concepts."""
    diagram = knowledge.diagram
    tables = [
        np.array([[float(outcome[place] == value) for value in label.values] for outcome in diagram.outcomes])
        for place, label in enumerate(knowledge.labels)
    ]

    def head(concepts: list[Array]) -> list[Array]:
        outcomes = diagram.probabilities([np.asarray(p, dtype=np.float64) for p in concepts])
        return [outcomes @ table for table in tables]

    return head


def softmax(scores: Array) -> Array:
    """Return probabilities in proportion to the exponentials of scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
