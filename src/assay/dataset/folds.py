"""Cross-validation: the examples of a split in parts that have every label in equal shares."""

from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, ConfigError, Deck
from assay.dataset.dataset import SplitData


@dataclass(frozen=True)
class Fold:
    """One of several parts, to be held out."""

    number: int
    of: int

    def divide(self, data: SplitData) -> tuple[SplitData, SplitData]:
        """Return the examples outside of the fold and those inside."""
        if not 0 <= self.number < self.of or not 2 <= self.of <= len(data):
            raise ConfigError(f"fold {self.number} of {self.of} of {len(data)} examples cannot be")
        inside = folds_of(data.labels, self.of, data.fingerprint) == self.number
        return data.take(np.flatnonzero(~inside)), data.take(np.flatnonzero(inside))


def folds_of(labels: Codes, folds: int, key: str) -> Array:
    """Return the fold of each example: the examples of each combination of labels go to the folds in turn.

    >>> labels = np.array([[0], [0], [0], [0], [1], [1]])
    >>> sorted(np.bincount(folds_of(labels, 2, "key")[labels[:, 0] == 0]).tolist())
    [2, 2]
    """
    shuffled = np.argsort(Deck(len(labels), 0, "folds", key).deal(np.arange(len(labels))))
    order = shuffled[np.lexsort(labels[shuffled].T)]
    numbers = np.empty(len(labels), dtype=np.int64)
    numbers[order] = np.arange(len(labels)) % folds
    return numbers
