"""The ceiling of incomplete concepts: how many labels the annotated concepts determine, whatever the model.

Examples that share all concepts and differ in a label put a bound on any model that sees concepts only. The share of
the most frequent label in each cell is the bound in sample, too high where cells are small; cells of one half judged on
the other give one that is too low.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, distinct_rows, rng_for
from assay.metrics.interval import wilson

FEWEST = 30
TIMES = 10
"""How often examples are halved; one halving of few examples is off by several points."""


@dataclass(frozen=True)
class Ceiling:
    """How many labels the concepts determine, in sample and on the other half."""

    label: str
    examples: int
    determined: int
    """Examples whose label is the most frequent of their cell."""
    held_out: int
    """Examples whose label is the most frequent of their cell on the other half, in the mean over several halvings."""
    cells: int
    """Combinations of concepts that have two labels or more."""

    @property
    def share(self) -> float:
        """The share of the labels that the concepts determine at most."""
        return self.determined / self.examples

    @property
    def upper(self) -> float:
        """The upper end of its 95 % interval."""
        return wilson(self.determined, self.examples)[1]


def ceilings(concepts: Codes, labels: Codes, names: tuple[str, ...]) -> tuple[Ceiling, ...]:
    """Return the ceiling of each label, over the examples whose concepts are all known; none where these are few.

    Parameters
    ----------
    concepts
        The annotated codes, a column a concept; -1 is not known.
    labels
        The true codes, a column a label.
    names
        The names of the labels.

    >>> concepts, labels = np.array([[0], [0], [1], [1]] * 10), np.array([[0], [1], [1], [1]] * 10)
    >>> ceilings(concepts, labels, ("y",))[0].share
    0.75
    """
    rows = np.flatnonzero((concepts >= 0).all(axis=1))
    if len(rows) < FEWEST:
        return ()
    cells = distinct_rows(concepts[rows]).which
    rng = rng_for(0, "ceiling", len(rows))
    halves = [rng.permutation(len(rows)) % 2 for _ in range(TIMES)]
    return tuple(_ceiling(name, cells, labels[rows, place], halves) for place, name in enumerate(names))


def _ceiling(name: str, cells: Array, labels: Array, halvings: Sequence[Array]) -> Ceiling:
    size, count = int(labels.max()) + 1, int(cells.max()) + 1

    def table(chosen: Array) -> Array:
        return np.bincount(cells[chosen] * size + labels[chosen], minlength=count * size).reshape(count, size)

    whole = table(np.ones(len(cells), dtype=bool))
    right = 0
    for judged in (halves == half for halves in halvings for half in (0, 1)):
        fitted = table(~judged)
        best = np.where(fitted.sum(axis=1) > 0, fitted.argmax(axis=1), fitted.sum(axis=0).argmax())
        right += int((best[cells[judged]] == labels[judged]).sum())
    mixed = int(((whole > 0).sum(axis=1) > 1).sum())
    return Ceiling(name, len(cells), int(whole.max(axis=1).sum()), round(right / len(halvings)), mixed)
