"""The worlds of a split with nuisances in their styles, that go with their labels or do not."""

from collections.abc import Sequence

import numpy as np

from assay.arrays import Array, Codes
from assay.data.confounding.confounder import Coupling, draw_codes, labels_of, set_codes
from assay.errors import ConfigError
from assay.worlds.source import Source
from assay.worlds.split import Split
from assay.worlds.world import World

TRIES = 400
"""How many worlds are tried for one whose concepts go with its label, or do not."""


class ConfoundedSource:
    """The worlds of a split with nuisances that go with their labels, or do not."""

    def __init__(self, base: Source, split: Split, couplings: Sequence[Coupling], seed: int) -> None:
        self.base = base
        self.split = split
        self.couplings = couplings
        self.seed = seed

    @property
    def total(self) -> int:
        """How many different worlds the split can hold."""
        return self.base.total

    def contains(self, codes: Codes) -> Array:
        """Return whether each combination of concepts may occur in this split."""
        return self.base.contains(codes)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        if not any(coupling.is_formula for coupling in self.couplings):
            return self.base.codes(places)
        return np.array([world.codes for world in self.worlds(places)], dtype=np.int64)

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places, each with the codes of its nuisances in its style."""
        knowledge = self.couplings[0].knowledge
        worlds = self.base.worlds(places)
        labels = labels_of(worlds, knowledge)
        codes = np.array([world.codes for world in worlds], dtype=np.int64)
        partners = np.stack([coupling.partner(codes, labels) for coupling in self.couplings], axis=1)
        wanted = draw_codes(self.couplings, self.split.name, self.base.split.name, self.seed, places, partners)
        return [
            set_codes(self._found(place, world, row, drawn), self.couplings, drawn)
            for place, world, row, drawn in zip(
                np.asarray(places).tolist(), worlds, labels.tolist(), wanted, strict=True
            )
        ]

    def _found(self, place: int, world: World, labels: Sequence[int], drawn: Sequence[int]) -> World:
        """Return a world whose concepts are as drawn, of the same labels: this one, or the next that is."""
        wanted = [(c, code) for c, code in zip(self.couplings, drawn, strict=True) if c.is_formula]
        knowledge, tried = self.couplings[0].knowledge, world
        for attempt in range(1, TRIES):
            codes = np.array([tried.codes], dtype=np.int64)
            same = labels_of([tried], knowledge)[0].tolist() == list(labels)
            if same and all(coupling.shown(codes)[0] == code for coupling, code in wanted):
                return tried
            (tried,) = self.base.worlds(np.array([place + attempt * self.base.split.size]))
        names = " and ".join(repr(coupling.name) for coupling, _ in wanted)
        raise ConfigError(
            f"confound: split {self.split.name!r} has hardly a world whose {names} goes with its label as asked; "
            "lower the strength, or drop the split"
        )
