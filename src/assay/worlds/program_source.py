"""Rejection sampling for a rule that is a program: worlds are drawn until one has the label wanted at its position."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, KnowledgeError
from assay.logic import Diagram
from assay.worlds.source import LabelGroup, WorldSource

PROBE = 4_000
"""How many worlds show which labels there are."""
TRIES = 1 << 14
"""How many worlds are drawn for one position before an error is raised."""
AT_ONCE = 1 << 14


class ProgramSource(WorldSource):
    """The worlds of one split, labelled by running the program; which worlds are possible is still counted exactly."""

    @cached_property
    def base(self) -> WorldSource:
        """The same worlds whatever their labels, each as often."""
        bare = replace(self.knowledge, labels=())
        return WorldSource(bare, replace(self.split, balance="world", quota=None), self.seed, *self.purpose)

    @property
    def diagram(self) -> Diagram:
        """The diagram of which worlds belong to the split; the program is not compiled."""
        return self.base.diagram

    @cached_property
    def label_groups(self) -> tuple[LabelGroup, ...]:
        """All worlds of the split together."""
        return self.base.label_groups

    @cached_property
    def kinds(self) -> Array:
        """The combinations of labels that occur among the first worlds."""
        codes = self.base.codes(np.arange(min(PROBE, self.base.total)))
        return np.asarray(np.unique(self.knowledge.labels_of(codes), axis=0))

    def _refuse_trivial(self) -> None:
        if not self.base.label_groups:
            raise KnowledgeError(f"split {self.split.name!r}: no world fits, so there is nothing to draw")
        for place, label in enumerate(self.knowledge.labels):
            if len(np.unique(self.kinds[:, place])) < 2:
                only = label.values[self.kinds[0, place]]
                raise KnowledgeError(
                    f"split {self.split.name!r}: label {label.name!r} is {only} in all of {PROBE:,} worlds: change the "
                    "rule, or give the split size 0"
                )

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        places = np.asarray(places, dtype=np.int64)
        if self.split.balance == "world":
            return self.base.codes(places)
        wanted = self.kinds[self._deck(len(self.kinds), "label").deal(places)]
        codes = np.zeros((len(places), len(self.knowledge.space)), dtype=np.int64)
        todo, turn, batch = np.arange(len(places)), 0, 2
        while len(todo):
            if turn >= TRIES:
                values = [
                    label.values[code] for label, code in zip(self.knowledge.labels, wanted[todo[0]], strict=True)
                ]
                raise KnowledgeError(
                    f"split {self.split.name!r}: no world with labels {values} in {TRIES:,} draws; they are too rare"
                )
            turns = np.arange(turn, turn + batch)
            tried = self.base.codes((places[todo][:, None] * TRIES + turns).ravel())
            fits = (self.knowledge.labels_of(tried) == np.repeat(wanted[todo], batch, axis=0)).all(axis=1)
            fits = fits.reshape(len(todo), batch)
            hit = fits.any(axis=1)
            codes[todo[hit]] = tried.reshape(len(todo), batch, -1)[hit, fits[hit].argmax(axis=1)]
            turn, todo = turn + batch, todo[~hit]
            batch = max(1, min(2 * batch, AT_ONCE // max(1, len(todo)), TRIES - turn))
        return codes
