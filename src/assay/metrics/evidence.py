"""Evidence: the truth about some examples beside what a model says of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from assay.base import Array, Codes, DataError, DistinctRows, distinct_rows, find_rows

if TYPE_CHECKING:  # so that listing the metrics imports numpy and little else
    from assay.contracts import Prediction, Predictions
    from assay.dataset import Dataset, SplitData
    from assay.logic import Boundary, Knowledge


@dataclass(frozen=True)
class Side:
    """Where examples lie in the rule of one label: of which variants and near-boundary types they are, or far."""

    variants: tuple[str, ...]
    types: tuple[str, ...]
    in_variants: Array
    in_types: Array
    placed: Array
    """Which examples can be placed: those whose concepts are all known."""

    @property
    def far(self) -> Array:
        """Which examples are neither of a variant nor of a type."""
        return np.asarray(self.placed & ~self.in_variants.any(axis=1) & ~self.in_types.any(axis=1))

    def take(self, rows: Array) -> "Side":
        """Return some rows."""
        return replace(self, in_variants=self.in_variants[rows], in_types=self.in_types[rows], placed=self.placed[rows])


def _side(boundary: "Boundary", codes: Codes) -> Side:
    placed = np.asarray((codes >= 0).all(axis=1))
    known = np.maximum(codes, 0)
    if boundary.explicit:
        names = [tuple(region.name for region in regions) for regions in (boundary.variants, boundary.types)]
        parts = [inside(known) & placed[:, None] for inside in (boundary.in_variants, boundary.in_types)]
        return Side(names[0], names[1], parts[0], parts[1], placed)
    named = tuple(f"change {name}" for name in boundary.space.names)
    return Side((), named, np.zeros((len(codes), 0), dtype=bool), boundary.flips(known) & placed[:, None], placed)


@dataclass(frozen=True, repr=False)
class Evidence:
    """True and predicted codes, a row an example; a predicted code of -1 means that the model said nothing.

    A true concept of -1 is not known (imported data may have gaps): nothing is judged by it. A row may stand for
    several examples, all alike: `weights` says for how many.
    """

    knowledge: "Knowledge"
    split: str
    labels: Codes
    concepts: Codes
    predicted_labels: Codes
    predicted_concepts: Codes
    label_probabilities: tuple[Array | None, ...]
    concept_probabilities: tuple[Array | None, ...]
    counts: Array | None = None
    """How many examples each row stands for; None where each stands for one."""

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def weights(self) -> Array:
        """How many examples each row stands for."""
        return np.ones(len(self), dtype=np.int64) if self.counts is None else self.counts

    @property
    def examples(self) -> int:
        """How many examples there are."""
        return len(self) if self.counts is None else int(self.counts.sum())

    @cached_property
    def equal_rows(self) -> DistinctRows:
        """Which rows have the same true and predicted codes."""
        return distinct_rows(self.concepts, self.predicted_concepts, self.labels, self.predicted_labels)

    @cached_property
    def distinct(self) -> "Evidence":
        """The same examples, equal rows put together and counted; without probabilities, in which rows differ.

        Worlds and answers are few, so that a million examples are often some hundred rows. Where they are not, or where
        equal rows were put together before, it is the evidence itself.
        """
        if self.counts is not None or 2 * len(self.equal_rows) > len(self):
            return self
        silent = (None,) * self.labels.shape[1], (None,) * self.concepts.shape[1]
        bare = replace(self, label_probabilities=silent[0], concept_probabilities=silent[1])
        return replace(bare.take(self.equal_rows.first), counts=self.equal_rows.counts)

    @property
    def singly(self) -> "Evidence":
        """The same examples, a row each."""
        if self.counts is None:
            return self
        return replace(self.take(np.repeat(np.arange(len(self)), self.counts)), counts=None)

    def take(self, rows: Array) -> "Evidence":
        """Return the evidence of some rows, by their numbers, repeated ones allowed, or by a mask."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else rows
        evidence = replace(
            self,
            labels=self.labels.take(rows, axis=0),
            concepts=self.concepts.take(rows, axis=0),
            predicted_labels=self.predicted_labels.take(rows, axis=0),
            predicted_concepts=self.predicted_concepts.take(rows, axis=0),
            label_probabilities=tuple(None if p is None else p.take(rows, axis=0) for p in self.label_probabilities),
            concept_probabilities=tuple(
                None if p is None else p.take(rows, axis=0) for p in self.concept_probabilities
            ),
            counts=None if self.counts is None else self.counts[rows],
        )
        if "sides" in self.__dict__:  # computed once, not for every resample
            evidence.__dict__["sides"] = tuple(side.take(rows) for side in self.sides)
        return evidence

    @cached_property
    def sides(self) -> tuple["Side", ...]:
        """Where each example lies in the rule of each label; nowhere where no rule is known."""
        if not self.knowledge.has_rule:
            none = np.zeros((len(self), 0), dtype=bool)
            return tuple(Side((), (), none, none, np.zeros(len(self), dtype=bool)) for _ in self.knowledge.labels)
        if self.distinct is not self:
            return tuple(side.take(self.equal_rows.which) for side in self.distinct.sides)
        return tuple(_side(boundary, self.concepts) for boundary in self.knowledge.boundaries)

    @cached_property
    def known(self) -> Array:
        """Which true concepts are known: a row an example, a column a concept."""
        return np.asarray(self.concepts >= 0)

    @cached_property
    def judged_concepts(self) -> Codes:
        """The predicted concepts, -1 also where the truth is not known."""
        return self.predicted_concepts if self.known.all() else np.where(self.known, self.predicted_concepts, -1)

    @cached_property
    def broken(self) -> Array:
        """How many constraints each prediction breaks; NaN without constraints, or where a concept is not spoken of."""
        known = (self.predicted_concepts >= 0).all(axis=1)
        counts = np.full(len(self), np.nan)
        if known.any() and self.knowledge.constraints:
            counts[known] = self.knowledge.violations(self.predicted_concepts[known]).sum(axis=1)
        return counts

    @cached_property
    def answered(self) -> tuple[int, ...]:
        """The columns of the concepts that the model speaks of at all."""
        return tuple(i for i in range(self.concepts.shape[1]) if (self.predicted_concepts[:, i] >= 0).any())

    @property
    def has_concepts(self) -> bool:
        """Whether the model speaks of any concept."""
        return bool(self.answered)

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The answered columns of each encoder group that has any."""
        space = self.knowledge.space
        columns_of = {
            g.name: [space.place(n) for n in g.concepts if space.place(n) in self.answered] for g in space.encoders
        }
        return {name: columns for name, columns in columns_of.items() if columns}

    def __repr__(self) -> str:
        spoken = f"{len(self.answered)} of {self.concepts.shape[1]} concepts predicted"
        return f"Evidence(split {self.split}: {self.examples:,} examples, {self.labels.shape[1]} labels, {spoken})"


def gather(data: "SplitData", predictions: "Predictions") -> Evidence:
    """Put predictions beside the truth; refuse those that were made for other data."""
    if predictions.fingerprint != data.fingerprint:
        raise DataError(
            f"the predictions are for a dataset with fingerprint {predictions.fingerprint}, "
            f"this one has {data.fingerprint}; predict again"
        )
    if predictions.split != data.name:
        raise DataError(f"the predictions are for split {predictions.split!r}, not {data.name!r}")
    if not len(predictions.index):
        raise DataError("the predictions hold no example")
    rows = find_rows(predictions.index, data.index)
    if (rows < 0).any():
        stranger = predictions.index[rows < 0][0]
        raise DataError(f"split {data.name!r} has no example {stranger} (it has {len(data)})")
    whole = np.array_equal(rows, np.arange(len(data.index)))  # then the truth is not copied
    true_labels, true_concepts = (codes if whole else codes[rows] for codes in (data.labels, data.concepts))
    knowledge = data.knowledge
    labels = [predictions.labels.get(name) for name in knowledge.label_names]
    if any(answer is None for answer in labels):
        missing = next(n for n, answer in zip(knowledge.label_names, labels, strict=True) if answer is None)
        raise DataError(f"the predictions say nothing of label {missing!r}; add a column 'label_{missing}'")
    concepts = [predictions.concepts.get(name) for name in knowledge.space.names]
    return Evidence(
        knowledge,
        data.name,
        true_labels,
        true_concepts,
        _stack_codes(labels, len(rows)),
        _stack_codes(concepts, len(rows)),
        tuple(answer.probabilities if answer else None for answer in labels),
        tuple(answer.probabilities if answer else None for answer in concepts),
    )


def gather_from(dataset: "Dataset", predictions: "Predictions") -> Evidence:
    """Put predictions beside the truth of the split that they name."""
    return gather(dataset.symbols(predictions.split, styles=False), predictions)


def _stack_codes(answers: "list[Prediction | None]", rows: int) -> Codes:
    silent = np.full(rows, -1, dtype=np.int64)
    return np.stack([silent if answer is None else answer.codes for answer in answers], axis=1)
