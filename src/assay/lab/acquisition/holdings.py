"""What was bought to mend a model, and what it cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.base import Array, Codes

COUNTED = ("labels", "redrawn", "fresh", "nuisances", "masks")
"""What costs 1 each."""


@dataclass(frozen=True)
class Holdings:
    """What a model may learn from besides the pictures and labels of its training split."""

    concepts: Codes
    """The concept labels (examples x concepts), -1 where there is none."""
    redrawn: tuple[int, ...] = ()
    """Training examples, by row, that are shown once more with another value of the nuisance."""
    fresh: int = 0
    """How many further examples were drawn, as training's own."""
    nuisances: int = 0
    """Of how many training examples the nuisance is annotated."""
    masks: int = 0
    """Of how many training examples it is annotated which pixels show objects or parts."""
    searched: int = 0
    """At how many concepts of pictures an annotator looked to find the values that were asked for."""

    @property
    def labels(self) -> int:
        """How many concept labels there are."""
        return int((self.concepts >= 0).sum())

    def bought_since(self, start: "Holdings") -> dict[str, int]:
        """Return how many of each kind were bought since."""
        return {name: _count(getattr(self, name)) - _count(getattr(start, name)) for name in COUNTED}

    def spent_since(self, start: "Holdings") -> int:
        """Return what was spent since: one for each concept label, example, nuisance or mask."""
        return sum(self.bought_since(start).values())

    def with_labels(self, cells: Array, answers: Codes, searched: int | None = None) -> "Holdings":
        """Return the holdings with the labels of some cells (pairs of row and concept), as an annotator answers."""
        concepts, rows, places = self.concepts.copy(), cells[:, 0], cells[:, 1]
        concepts[rows, places] = answers[rows, places]
        looked = len(cells) if searched is None else searched
        return replace(self, concepts=concepts, searched=self.searched + looked)

    def purchase_since(self, before: "Holdings") -> dict[str, Any]:
        """Return what was bought in a round as plain data; labels as triples of row, concept and code."""
        rows, places = np.nonzero((self.concepts >= 0) & (before.concepts < 0))
        codes = self.concepts[rows, places]
        return {
            "labels": np.stack([rows, places, codes], axis=1).tolist(),
            "redrawn": list(self.redrawn[len(before.redrawn) :]),
            **{name: getattr(self, name) - getattr(before, name) for name in ("fresh", "nuisances", "masks")},
            "searched": self.searched - before.searched,
        }

    def with_purchase(self, purchase: Mapping[str, Any]) -> "Holdings":
        """Return the holdings after a round whose purchase was kept as plain data."""
        cells: Sequence[Sequence[int]] = purchase["labels"]
        concepts = self.concepts.copy()
        for row, place, code in cells:
            concepts[row, place] = code
        counts = {name: getattr(self, name) + purchase[name] for name in ("fresh", "nuisances", "masks", "searched")}
        return replace(self, concepts=concepts, redrawn=(*self.redrawn, *purchase["redrawn"]), **counts)


def _count(part: int | tuple[int, ...]) -> int:
    return part if isinstance(part, int) else len(part)
