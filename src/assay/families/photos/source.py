"""The worlds of a split as images that are there already, chosen beforehand."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.logic import ConceptSpace
from assay.worlds import Split, World


class ChosenSource:
    """The worlds of a split that are images chosen once and for all, for a seed."""

    def __init__(
        self, split: Split, space: ConceptSpace, codes: Codes, style: Callable[[int], Mapping[str, Any]], rows: Array
    ) -> None:
        if len(rows) < split.size:
            raise ConfigError(f"split {split.name!r}: {split.size:,} images are wanted, there are {len(rows):,}")
        self.split = split
        self.space = space
        self.style = style
        self.rows = rows
        self._codes = codes

    @property
    def total(self) -> int:
        """How many different images the split holds."""
        return len(self.rows)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the images at these places."""
        return self._codes[self.rows[np.asarray(places, dtype=np.int64)]]

    def worlds(self, places: Array) -> list[World]:
        """Return the images at these places as worlds."""
        numbers = self.rows[np.asarray(places, dtype=np.int64)].tolist()
        return [World(self.space, tuple(self._codes[number].tolist()), self.style(number)) for number in numbers]

    def contains(self, codes: Codes) -> Array:
        """Return whether each combination of counts occurs in the split."""
        present = {tuple(row) for row in self._codes[self.rows].tolist()}
        return np.array([tuple(row) in present for row in np.asarray(codes).tolist()], dtype=bool)
