"""A split of a kept case beside its truth, and which concepts its labels depend on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, distinct_rows
from assay.logic import Knowledge
from assay.metrics import Evidence
from benchmarks.trained.kept import Case

Count = list[int]
ENOUGH = 600
"""Training worlds that tell which concepts are used."""


@dataclass(frozen=True)
class Judged:
    """A split of a case with the truth of its pictures beside the table."""

    knowledge: Knowledge
    evidence: Evidence
    concepts: Codes
    labels: Codes
    used: tuple[int, ...]

    @cached_property
    def right(self) -> Array:
        """Where all labels are right, by the truth."""
        return np.asarray((self.evidence.predicted_labels == self.labels).all(axis=1))

    @cached_property
    def spoken(self) -> tuple[int, ...]:
        """The used concepts that the model predicts."""
        return tuple(i for i in self.used if i in self.evidence.answered)

    @cached_property
    def complete(self) -> bool:
        """Whether the model predicts every used concept."""
        return self.spoken == self.used

    @cached_property
    def read(self) -> Array:
        """Where all used concepts are predicted rightly, by the truth."""
        columns = list(self.used)
        return np.asarray((self.evidence.predicted_concepts == self.concepts)[:, columns].all(axis=1))

    @cached_property
    def implied(self) -> Codes:
        """The labels that the rule gives for the predicted values; what the model leaves out does not matter to it."""
        return self.knowledge.labels_of(np.maximum(self.evidence.predicted_concepts, 0))

    @cached_property
    def marginal(self) -> Codes:
        """The most probable labels by the rule over the predicted probabilities, summed exactly."""
        space, diagram = self.knowledge.space, self.knowledge.diagram
        flat = [np.full((len(self.right), size), 1 / size) for size in space.sizes]
        parts = [f if p is None else p for p, f in zip(self.evidence.concept_probabilities, flat, strict=True)]
        mass, columns = diagram.probabilities(parts), []
        for place, label in enumerate(self.knowledge.labels):
            shares = np.zeros((len(mass), len(label.values)))
            for number, outcome in enumerate(diagram.outcomes):
                shares[:, label.values.index(outcome[place])] += mass[:, number]
            columns.append(shares.argmax(axis=1))
        return np.stack(columns, axis=1)


def judged(case: Case, split: str, used: Sequence[int]) -> Judged:
    """Return a split with its truth."""
    truth = case.true_concepts(split), case.true_labels(split)
    return Judged(case.knowledge, case.evidence[split], *truth, tuple(used))


def count(flags: Array, of: Array | None = None) -> Count:
    """Return how many flags are set, of how many rows."""
    flags = flags if of is None else flags[of]
    return [int(flags.sum()), len(flags)]


def numbered(codes: Codes) -> Array:
    """Return a number for each row, from 0 on, equal for equal rows."""
    return np.asarray(distinct_rows(codes).which)


def moves(knowledge: Knowledge, codes: Codes, possible: bool = True) -> Array:
    """Return for each world and concept whether changing it alone can give a (possible) world with other labels."""
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    labels = knowledge.labels_of(distinct)
    moved = np.zeros(distinct.shape, dtype=bool)
    for column, size in enumerate(knowledge.space.sizes):
        for value in range(size):
            other = distinct.copy()
            other[:, column] = value
            differs = (knowledge.labels_of(other) != labels).any(axis=1)
            moved[:, column] |= differs & (np.asarray(knowledge.can_be(other)).astype(bool) | (not possible))
    return np.asarray(moved[which.reshape(-1)])


def used_columns(case: Case) -> tuple[int, ...]:
    """Return the concepts of which a change alone gives some possible world other labels; without a rule, all."""
    if not case.knowledge.has_rule:
        return tuple(range(len(case.knowledge.space)))
    worlds = np.concatenate([case.true_concepts("test"), np.maximum(case.training[:ENOUGH], 0)])
    worlds = worlds[np.asarray(case.knowledge.can_be(worlds)).astype(bool)]
    used = moves(case.knowledge, worlds, possible=False).any(axis=0)
    return tuple(np.flatnonzero(used).tolist())
