"""The worlds of a split with nuisances in their styles, that go with their labels or do not."""

from collections.abc import Sequence

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.dataset.confounding.confounder import Coupling, draw_codes, set_codes
from assay.worlds import Source, Split, World, labels_of

TRIES = 2000
"""How many worlds are tried for one whose concepts go with its label, or do not."""


class ConfoundedSource:
    """The worlds of a split with nuisances that go with their labels, or do not.

    A formula over concepts is confounded by taking another world of the same labels where the first does not fit: that
    of a place further on, beyond those that the split holds.
    """

    def __init__(self, base: Source, split: Split, couplings: Sequence[Coupling], seed: int) -> None:
        self.base = base
        self.split = split
        self.couplings = couplings
        self.seed = seed
        self.knowledge = couplings[0].knowledge

    @property
    def total(self) -> int:
        """How many different worlds the split can hold."""
        return self.base.total

    def contains(self, codes: Codes) -> Array:
        """Return whether each combination of concepts may occur in this split."""
        return self.base.contains(codes)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        return self.base.codes(self._drawn(places)[0])

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places, each with the codes of its nuisances in its style."""
        taken, drawn = self._drawn(places)
        return [
            set_codes(world, self.couplings, row)
            for world, row in zip(self.base.worlds(taken), drawn.tolist(), strict=True)
        ]

    def _drawn(self, places: Array) -> tuple[Array, Codes]:
        """Return from which places of the base the worlds come, and the codes of their nuisances."""
        places = np.asarray(places, dtype=np.int64)
        codes = self.base.codes(places)
        labels = self._labels(places, codes)
        partners = np.stack([coupling.partner(codes, labels) for coupling in self.couplings], axis=1)
        origin = self.base.split
        drawn = np.array(draw_codes(self.couplings, self.split.name, origin.name, self.seed, places, partners))
        if origin.quota is not None:  # worlds chosen by where they lie in the rule are left as they are
            drawn[:, [coupling.is_formula for coupling in self.couplings]] = -1
        return self._fitting(places, codes, labels, drawn), drawn

    def _labels(self, places: Array, codes: Codes) -> Codes:
        """Return the labels at places, whose concepts are known; only those left to chance need the styles."""
        return labels_of(self.knowledge, codes, self.base.worlds(places) if self.knowledge.stochastic else ())

    def _fitting(self, places: Array, codes: Codes, labels: Codes, drawn: Codes) -> Array:
        """Return the places of the worlds that have the same labels, and formulas as drawn."""
        formulas = [place for place, coupling in enumerate(self.couplings) if coupling.is_formula]
        if not formulas:
            return places
        taken, left = places.copy(), np.arange(len(places))
        for attempt in range(1, TRIES):
            shown = np.stack([self.couplings[i].code_shown(codes) for i in formulas], axis=1)
            wanted = drawn[left][:, formulas]
            fits = ((shown == wanted) | (wanted < 0)).all(axis=1)
            left = left[~(fits & (self._labels(taken[left], codes) == labels[left]).all(axis=1))]
            if not len(left):
                return taken
            taken[left] = places[left] + attempt * self.base.split.size
            codes = self.base.codes(taken[left])
        names = " and ".join(repr(self.couplings[i].name) for i in formulas)
        raise ConfigError(
            f"confound: split {self.split.name!r} has hardly a world whose {names} is as asked for its label; "
            "lower the strength, or drop the split"
        )
