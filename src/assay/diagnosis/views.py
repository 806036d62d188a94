"""A split as findings see it: how its concepts and labels were judged, and which errors have which cause."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.concepts import WRONG, ConceptState
from assay.diagnosis.interventions.label_heads import rule_head
from assay.diagnosis.labels import LabelState, expected_labels
from assay.diagnosis.wording import join_words
from assay.errors import TooLarge
from assay.metrics.evidence import Evidence


@dataclass(frozen=True)
class Errors:
    """The wrong labels of a split by cause, as far as predictions tell.

    `rule`        the true rule gives the right label for the predicted concepts
    `unsure`      it does, too; but these concepts are so uncertain that it makes the wrong label more probable
    `perception`  the label is the one that the rule gives for the predicted concepts, which are wrong
    `both`        neither: the concepts imply a wrong label, and the model says another wrong one
    `unknown`     the model does not say every concept that the rule uses, its truth is not known, or no rule is
    `luck`        labels that are right although the predicted concepts imply another
    """

    labels: int
    wrong: int
    rule: int
    unsure: int
    perception: int
    both: int
    unknown: int
    luck: int

    @property
    def text(self) -> str:
        """The causes in a sentence."""
        if not self.wrong:
            return ""
        causes = {
            "perception": self.perception,
            "the rule": self.rule,
            "uncertain concepts": self.unsure,
            "both": self.both,
            "a cause unknown": self.unknown,
        }
        parts = [f"{count:,} to {cause}" for cause, count in causes.items() if count]
        return f"Of {self.wrong:,} wrong labels, {join_words(parts)}: this is what would have to be mended."

    def to_dict(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class SplitView:
    """A split with what was judged on it, and what follows for findings."""

    name: str
    evidence: Evidence
    concepts: tuple[ConceptState, ...]
    labels: tuple[LabelState, ...]
    used: frozenset[int]
    level: float

    @cached_property
    def truth(self) -> Codes:
        """The labels to be expected."""
        return expected_labels(self.evidence)

    @cached_property
    def columns(self) -> list[int]:
        """The columns of the concepts that the rule uses."""
        return sorted(self.used)

    @cached_property
    def complete(self) -> Array:
        """Which examples have an answer for every concept that the rule uses, and known truth."""
        return np.asarray((self.evidence.judged_concepts[:, self.columns] >= 0).all(axis=1))

    @cached_property
    def implied_labels(self) -> Codes:
        """The labels that the rule gives for the predicted concepts, -2 where some are not said."""
        return self.labels_implied_by(self.evidence.predicted_concepts)

    def labels_implied_by(self, concepts: Codes) -> Codes:
        """Return the labels that the rule gives for concepts said, -2 where some that it uses are not said."""
        labels = np.full(self.truth.shape, -2)
        filled = np.where(concepts >= 0, concepts, np.maximum(self.evidence.concepts, 0))  # what the rule does not use
        if self.complete.any() and self.evidence.knowledge.has_rule:
            labels[self.complete] = self.evidence.knowledge.labels_of(filled[self.complete])
        return labels

    @cached_property
    def concepts_right(self) -> Array:
        """Which examples have every concept that the rule uses right."""
        same = self.evidence.concepts[:, self.columns] == self.evidence.predicted_concepts[:, self.columns]
        return np.asarray((same & self.evidence.known[:, self.columns]).all(axis=1))

    @cached_property
    def right(self) -> Array:
        """Which examples have every label right."""
        return np.asarray((self.evidence.predicted_labels == self.truth).all(axis=1))

    @cached_property
    def implied_right(self) -> Array:
        """Which examples have predicted concepts from which the right labels follow."""
        return np.asarray((self.implied_labels == self.truth).all(axis=1))

    @cached_property
    def follows(self) -> Array:
        """Which examples have labels that follow from the predicted concepts."""
        return np.asarray((self.implied_labels == self.evidence.predicted_labels).all(axis=1))

    @cached_property
    def unsure(self) -> Array:
        """Which wrong labels the rule makes most probable, though the predicted concepts imply the right ones."""
        predicted, probabilities = self.evidence.predicted_labels, self.evidence.concept_probabilities
        wrong = (predicted != self.truth) & (self.implied_labels == self.truth)
        used = [p for column in self.columns if (p := probabilities[column]) is not None]
        found = np.zeros(self.truth.shape, dtype=bool)
        if len(used) < len(self.columns) or self.evidence.knowledge.stochastic:
            return found
        likeliest = np.prod([p.max(axis=1) for p in used], axis=0)  # from a half on, no other label is as probable
        rows = np.flatnonzero(wrong.any(axis=1) & (likeliest < 0.5))
        if len(rows):
            with suppress(TooLarge):  # it cannot be told
                found[rows] = wrong[rows] & (self._probable_labels(rows) == predicted[rows])
        return found

    def _probable_labels(self, rows: Array) -> Codes:
        """Return the labels that the rule makes most probable for the concepts' probabilities in some rows."""
        evidence = self.evidence
        pairs = zip(evidence.knowledge.space.concepts, evidence.concept_probabilities, strict=True)
        concepts = [np.ones((len(rows), len(c.values))) / len(c.values) if p is None else p[rows] for c, p in pairs]
        return np.stack([p.argmax(axis=1) for p in rule_head(evidence.knowledge)(concepts)], axis=1)

    @cached_property
    def near(self) -> Array:
        """Which examples one change brings across the boundary of some label."""
        return np.asarray(np.any([side.in_types.any(axis=1) for side in self.evidence.sides], axis=0))

    def in_state(self, states: Sequence[str], used: bool = True) -> tuple[ConceptState, ...]:
        """Return the concepts in one of these states that the rule uses, or does not."""
        return tuple(c for c in self.concepts if c.used == used and c.state in states)

    @cached_property
    def wrong_used(self) -> tuple[ConceptState, ...]:
        """The concepts that the rule uses and that are read wrong."""
        return self.in_state(WRONG)

    @cached_property
    def errors(self) -> Errors:
        """The wrong labels by cause."""
        told = self.complete & self.evidence.knowledge.has_rule
        predicted, known = self.evidence.predicted_labels, np.broadcast_to(told[:, None], self.truth.shape)
        wrong, good = predicted != self.truth, self.implied_labels == self.truth
        same = self.implied_labels == predicted
        return Errors(
            labels=wrong.size,
            wrong=int(wrong.sum()),
            rule=int((wrong & known & good & ~self.unsure).sum()),
            unsure=int(self.unsure.sum()),
            perception=int((wrong & known & same).sum()),
            both=int((wrong & known & ~good & ~same).sum()),
            unknown=int((wrong & ~known).sum()),
            luck=int((~wrong & known & ~good).sum()),
        )
