"""Linear ways from concepts to labels: the scores of the label's values are sums over concepts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array


@dataclass(frozen=True)
class LinearFront:
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
        cuts = np.split(self.scores(concepts), np.cumsum(self.sizes)[:-1], axis=1)
        return [softmax(one) for one in cuts]

    @property
    def binary(self) -> bool:
        """Whether every label has two values."""
        return all(size == 2 for size in self.sizes)

    def margins(self) -> tuple[list[Array], Array]:
        """Return, for labels of two values, weights and bias of the second value's score less the first's."""
        return [w[:, 1::2] - w[:, ::2] for w in self.weights], self.bias[1::2] - self.bias[::2]


def logistic_front(weights: Sequence[float], bias: float) -> LinearFront:
    """Return logistic regression on true-or-false concepts.

    >>> front = logistic_front([2.0, -1.0], 0.5)
    >>> front([np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])])[0].round(3).tolist()
    [[0.076, 0.924]]
    """
    made = [np.array([[0.0, 0.0], [0.0, float(weight)]]) for weight in weights]
    return LinearFront(made, np.array([0.0, bias]), (2,))


def softmax(scores: Array) -> Array:
    """Return probabilities in proportion to the exponentials of scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
