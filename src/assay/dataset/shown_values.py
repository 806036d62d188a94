"""Which values of each concept training shows: of others a model cannot know."""

from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes
from assay.logic import ConceptSpace


@dataclass(frozen=True)
class ShownValues:
    """Which values of each concept training shows."""

    tables: tuple[Array, ...]
    """For each concept, whether each of its values is shown, by code."""

    @classmethod
    def of(cls, space: ConceptSpace, codes: Codes) -> "ShownValues":
        """Return the values that occur in worlds; a code of -1 is none."""
        return cls(tuple(np.isin(np.arange(size), codes[:, place]) for place, size in enumerate(space.sizes)))

    def holds(self, codes: Codes) -> Array:
        """Return for each cell whether its value is shown; one that is not known is no other value."""
        columns = [table[codes[:, place]] | (codes[:, place] < 0) for place, table in enumerate(self.tables)]
        return np.stack(columns, axis=1)

    def __or__(self, other: "ShownValues") -> "ShownValues":
        return ShownValues(tuple(a | b for a, b in zip(self.tables, other.tables, strict=True)))
