"""Readings of whole worlds (`per-world`): all concepts that the rule uses are read from one another, together.

Each world of the support may be read as any world with the same labels, so that the number of readings is a product
over worlds. Only supervision of whole concepts helps: an entry of one world says nothing about another's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, TooLarge, distinct_rows
from assay.counting.problem import Supervised, deciding_concepts
from assay.counting.readings import LabellingStep
from assay.logic import Knowledge

MOST_WORLDS = 2**18
"""How many worlds of the used concepts may be listed, to count under supervision."""


@dataclass(frozen=True)
class WorldReadings:
    """The readings of whole worlds that keep the labels of a support, some concepts perhaps supervised."""

    knowledge: Knowledge
    support: Codes
    supervised: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For each supervised concept, by column, the codes on which it is read right."""

    @classmethod
    def of(cls, knowledge: Knowledge, support: Codes, supervised: Supervised) -> "WorldReadings":
        """Return the readings under supervision of concepts, on all of their values or some."""
        known: dict[int, frozenset[int]] = {}
        for name, values in supervised.items():
            concept = knowledge.space.concept(name)
            chosen = concept.values if values is None else values
            known[knowledge.space.place(name)] = frozenset(concept.code(value) for value in chosen)
        return cls(knowledge, support, known)

    @cached_property
    def used(self) -> list[int]:
        """The columns of the concepts that the rule uses."""
        return sorted(deciding_concepts(self.knowledge))

    @property
    def unused(self) -> tuple[str, ...]:
        """The concepts that the rule does not use."""
        return tuple(name for i, name in enumerate(self.knowledge.space.names) if i not in self.used)

    @cached_property
    def worlds(self) -> Codes:
        """The worlds of the support, each set of values of the used concepts once; the others have any value."""
        return np.asarray(self.support[distinct_rows(self.support[:, self.used]).first])

    @property
    def total(self) -> int:
        """The number of readings of the used concepts that keep every label."""
        return self._left(self.supervised)

    def plan(self) -> list[LabellingStep]:
        """Return which concepts to supervise, one after the other, each removing as many readings as possible."""
        space, left, steps = self.knowledge.space, self.total, list[LabellingStep]()
        chosen = dict(self.supervised)
        while left > 1:
            every = {column: frozenset(range(space.sizes[column])) for column in self.used}
            tried = {column: self._left({**chosen, column: every[column]}) for column in self.used}
            column = min(tried, key=lambda one: (tried[one], one))
            chosen[column], left = every[column], tried[column]
            steps.append(LabellingStep(space.names[column], left))
        return steps

    def _left(self, supervised: Mapping[int, frozenset[int]]) -> int:
        """Return how many readings are left under supervision; worlds differ in which of their values are known."""
        columns = [column for column in self.used if column in supervised]
        if not columns:
            return math.prod(self._by_diagram())
        known = np.stack([np.isin(self.worlds[:, column], list(supervised[column])) for column in columns], axis=1)
        left = 1
        for pattern in np.unique(known, axis=0):
            rows = (known == pattern).all(axis=1)
            left *= math.prod(self._alternatives(list(np.array(columns)[pattern]), self.worlds[rows]))
        return left

    def _by_diagram(self) -> list[int]:
        """Return for each world how many worlds of the used concepts have its labels."""
        diagram, sizes = self.knowledge.diagram, self.knowledge.space.sizes
        idle = math.prod(size for i, size in enumerate(sizes) if i not in self.used)
        ways = [count // idle for count in diagram.counts.values()]
        return [ways[outcome] for outcome in diagram.outcome_of(self.worlds).tolist()]

    def _alternatives(self, known: Sequence[int], worlds: Codes) -> list[int]:
        """Return for each world how many worlds have its labels and its values of the known concepts."""
        if self._listed is None:
            raise TooLarge(f"{self.knowledge.space.worlds:,} worlds are too many to count under supervision")
        every, outcomes = self._listed
        both = np.concatenate([every[:, known], worlds[:, known]])
        own = self.knowledge.diagram.outcome_of(worlds)
        keys = distinct_rows(both, np.concatenate([outcomes, own])[:, None]).which
        counts = np.bincount(keys[: len(every)], minlength=len(keys))
        return [int(count) for count in counts[keys[len(every) :]]]

    @cached_property
    def _listed(self) -> tuple[Codes, Array] | None:
        """Every world of the used concepts and its outcome, None if they are too many."""
        sizes = [size if i in self.used else 1 for i, size in enumerate(self.knowledge.space.sizes)]
        if math.prod(sizes) > MOST_WORLDS:
            return None
        worlds = np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1)
        return worlds, self.knowledge.diagram.outcome_of(worlds)
