"""A split as checks see it: how its concepts and labels were judged, and which labels are wrong for which cause."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, TooLarge
from assay.contracts import rule_head
from assay.diagnosis.concepts import WRONG, ConceptState
from assay.diagnosis.labels import Errors, LabelState, causes_of, errors_of, expected_labels
from assay.metrics import Evidence

CERTAIN = 0.5
"""From this probability of the most probable concepts on, no other label than theirs is as probable."""
KEPT_BY_ROWS = (
    "truth", "implied_labels", "probable_labels", "table_labels", "near", "near_types", "complete", "concepts_right",
)  # fmt: skip
"""What is computed of each example by itself, and so can be carried over to a resample."""


@dataclass(frozen=True)
class SplitView:
    """A split with what was judged on it, and what follows for checks. Arrays of labels have a column a label."""

    name: str
    evidence: Evidence
    concepts: tuple[ConceptState, ...]
    labels: tuple[LabelState, ...]
    used: frozenset[int]
    level: float

    def __len__(self) -> int:
        return len(self.evidence)

    @cached_property
    def truth(self) -> Codes:
        """The labels to be expected."""
        return expected_labels(self.evidence)

    @cached_property
    def columns(self) -> list[int]:
        """The columns of the concepts that the rule uses."""
        return sorted(self.used)

    @cached_property
    def known(self) -> Array:
        """Which examples have known truth for every concept that the rule uses."""
        return np.asarray(self.evidence.known[:, self.columns].all(axis=1))

    @cached_property
    def complete(self) -> Array:
        """Which examples have a prediction for every concept that the rule uses, and known truth."""
        return np.asarray((self.evidence.judged_concepts[:, self.columns] >= 0).all(axis=1))

    @cached_property
    def implied_labels(self) -> Codes:
        """The labels that the rule gives for the predicted concepts, -2 where some are not predicted."""
        return self.labels_implied_by(self.evidence.predicted_concepts)

    def labels_implied_by(self, concepts: Codes) -> Codes:
        """Return the labels that the rule gives for concepts, -2 where some that it uses are not predicted."""
        labels = np.full(self.truth.shape, -2)
        filled = np.where(concepts >= 0, concepts, np.maximum(self.evidence.concepts, 0))  # what the rule does not use
        if self.complete.any() and self.evidence.knowledge.has_rule:
            labels[self.complete] = self.evidence.knowledge.labels_of(filled[self.complete])
        return labels

    @cached_property
    def table_labels(self) -> Codes:
        """The labels that the rule gives for the annotated concepts; the annotated ones where they are not known."""
        labels, knowledge = self.evidence.labels.copy(), self.evidence.knowledge
        if knowledge.has_rule and not knowledge.stochastic and self.known.any():
            filled = np.maximum(self.evidence.concepts, 0)
            labels[self.known] = knowledge.labels_of(filled[self.known])
        return labels

    @cached_property
    def contradicts(self) -> Array:
        """Which examples have annotations that contradict each other by the rule."""
        if self.evidence.knowledge.stochastic:
            return np.zeros(len(self), dtype=bool)
        return np.asarray((self.table_labels != self.evidence.labels).any(axis=1))

    @cached_property
    def concepts_right(self) -> Array:
        """Which examples have every concept that the rule uses right."""
        same = self.evidence.concepts[:, self.columns] == self.evidence.predicted_concepts[:, self.columns]
        return np.asarray((same & self.evidence.known[:, self.columns]).all(axis=1))

    @cached_property
    def misread(self) -> Array:
        """Which examples have all concepts that the rule uses predicted, and some wrong."""
        return self.complete & ~self.concepts_right

    @cached_property
    def wrong(self) -> Array:
        """Which labels are wrong."""
        return np.asarray(self.evidence.predicted_labels != self.truth)

    @cached_property
    def right(self) -> Array:
        """Which examples have every label right."""
        return np.asarray(~self.wrong.any(axis=1))

    @cached_property
    def implied_right(self) -> Array:
        """Which examples have predicted concepts from which the right labels follow."""
        return np.asarray((self.implied_labels == self.truth).all(axis=1))

    @cached_property
    def probable_labels(self) -> Codes:
        """The labels that the rule makes most probable; those implied where there are no probabilities."""
        labels, probabilities = self.implied_labels.copy(), self.evidence.concept_probabilities
        used = [p for column in self.columns if (p := probabilities[column]) is not None]
        knowledge = self.evidence.knowledge
        if len(used) < len(self.columns) or not used or knowledge.stochastic or not knowledge.has_rule:
            return labels
        likeliest = np.prod([p.max(axis=1) for p in used], axis=0)
        rows = np.flatnonzero(self.complete & (likeliest < CERTAIN))
        if len(rows):
            with suppress(TooLarge):  # it cannot be known
                labels[rows] = self._probable_labels(rows)
        return labels

    def _probable_labels(self, rows: Array) -> Codes:
        """Return the labels that the rule makes most probable for the concepts' probabilities in some rows."""
        evidence = self.evidence
        pairs = zip(evidence.knowledge.space.concepts, evidence.concept_probabilities, strict=True)
        concepts = [np.ones((len(rows), len(c.values))) / len(c.values) if p is None else p[rows] for c, p in pairs]
        return np.stack([p.argmax(axis=1) for p in rule_head(evidence.knowledge)(concepts)], axis=1)

    @cached_property
    def probably_right(self) -> Array:
        """Which examples have concepts for which the rule makes the right labels most probable."""
        return np.asarray((self.probable_labels == self.truth).all(axis=1))

    @cached_property
    def best_implied_right(self) -> Array:
        """Which examples the rule gets right over the most probable concepts, or over their probabilities if better."""
        better = self.probably_right.sum() > self.implied_right.sum()
        return self.probably_right if better else self.implied_right

    @cached_property
    def follows(self) -> Array:
        """Which examples have labels that follow: from the most probable concepts or from their probabilities."""
        said = self.evidence.predicted_labels
        return np.asarray(((self.implied_labels == said) | (self.probable_labels == said)).all(axis=1))

    @cached_property
    def unsure(self) -> Array:
        """Which labels are predicted because of uncertain concepts: the rule makes them most probable."""
        said = self.evidence.predicted_labels
        return np.asarray((self.probable_labels == said) & (self.implied_labels != said) & self.complete[:, None])

    # -- wrong labels by cause: each has exactly one -------------------------------------------------------------------

    @cached_property
    def by_table(self) -> Array:
        """Which wrong labels are those that the rule gives for the annotated concepts."""
        if self.evidence.knowledge.stochastic:
            return np.zeros(self.wrong.shape, dtype=bool)
        told = self.known[:, None] & (self.table_labels != self.truth)
        return np.asarray(self.wrong & told & (self.evidence.predicted_labels == self.table_labels))

    @property
    def _cells(self) -> tuple[Array, ...]:
        told = self.complete & self.evidence.knowledge.has_rule
        known = np.broadcast_to(told[:, None], self.truth.shape)
        return self.truth, self.evidence.predicted_labels, self.implied_labels, known, self.unsure, self.by_table

    @cached_property
    def causes(self) -> Mapping[str, Array]:
        """The wrong labels by cause, as `diagnose` and `attribute` count them."""
        return causes_of(*self._cells)

    @cached_property
    def errors(self) -> Errors:
        """The wrong labels by cause, counted."""
        return errors_of(*self._cells)

    @cached_property
    def by_concepts(self) -> Array:
        """Which wrong labels come with misread or uncertain concepts that explain them."""
        return np.asarray(self.causes["perception"] | self.causes["unsure"])

    @cached_property
    def open(self) -> Array:
        """Which wrong labels neither annotations nor concepts explain: the label head's, or of an unknown cause."""
        return np.asarray(self.causes["rule"] | self.causes["unknown"])

    @cached_property
    def unexplained(self) -> Array:
        """Which wrong labels concepts do not explain by themselves, where the used concepts are known."""
        return self.in_rows(self.open | self.causes["both"], self.known)

    def in_rows(self, cells: Array, rows: Array) -> Array:
        """Return cells of labels in some examples only."""
        return np.asarray(cells & rows[:, None])

    def misread_of(self, concepts: Iterable[str]) -> Array:
        """Return which examples have one of these concepts predicted wrong."""
        columns = [self.evidence.knowledge.space.place(name) for name in concepts]
        said = self.evidence.judged_concepts[:, columns]
        return np.asarray(((said != self.evidence.concepts[:, columns]) & (said >= 0)).any(axis=1))

    # -- where examples lie --------------------------------------------------------------------------------------------

    @cached_property
    def near(self) -> Array:
        """Which examples one change brings across the boundary of some label."""
        return np.asarray(self.near_types.any(axis=1))

    @cached_property
    def near_types(self) -> Array:
        """Which examples one change brings across the boundary of each label."""
        return np.stack([side.in_types.any(axis=1) for side in self.evidence.sides], axis=1)

    def in_state(self, states: Sequence[str], used: bool = True) -> tuple[ConceptState, ...]:
        """Return the concepts in one of these states that the rule uses, or does not."""
        return tuple(c for c in self.concepts if c.used == used and c.state in states)

    @cached_property
    def wrong_used(self) -> tuple[ConceptState, ...]:
        """The concepts that the rule uses and that are misread."""
        return self.in_state(WRONG)

    def carry(self, other: "SplitView", rows: Array) -> None:
        """Take over from another view what was computed of its examples, for these rows of it."""
        for name in KEPT_BY_ROWS:
            if name in other.__dict__:
                self.__dict__[name] = other.__dict__[name][rows]
