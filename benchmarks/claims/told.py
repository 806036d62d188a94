"""A diagnosis beside the evidence that it speaks of, and the place of a sentence in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes
from assay.diagnosis import Diagnosis, Finding
from assay.logic import Knowledge
from assay.metrics import Evidence
from benchmarks.claims.patterns import Share, percent_is
from benchmarks.claims.rows import Rows, not_used_rightly
from benchmarks.trained.kept import Changes

ASIDE = frozenset({"hard", "valid", "unconfounded", "reversed"})
"""Splits that are no evidence of how often labels are wrong."""


@dataclass(frozen=True, eq=False)
class Told:
    """A diagnosis, and what it was made of."""

    name: str
    evidence: Mapping[str, Evidence]
    training: Codes
    diagnosis: Diagnosis
    changes: Changes | None = None

    @property
    def knowledge(self) -> Knowledge:
        """The rule, or the names alone where none is known."""
        return next(iter(self.evidence.values())).knowledge

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The concepts that the rule uses, as the diagnosis has them."""
        states = next(iter(self.diagnosis.concepts.values()))
        return tuple(column for column, state in enumerate(states) if state.used)

    @property
    def not_used_rightly(self) -> str:
        """Why these are not the concepts that the rule uses; nothing if they may be."""
        seen = np.concatenate([self.training, *(rows.concepts for rows in self.evidence.values())])
        return not_used_rightly(self.knowledge, self.used, seen)

    @cached_property
    def splits(self) -> Mapping[str, Rows]:
        """Every split, the first one first."""
        return {name: Rows(rows, self.used, self.training) for name, rows in self.evidence.items()}

    @property
    def first(self) -> Rows:
        """The first split."""
        return next(iter(self.splits.values()))

    @cached_property
    def compared(self) -> Mapping[str, Rows]:
        """The splits over which wrong labels are counted."""
        return {name: rows for name, rows in self.splits.items() if name not in ASIDE} or dict(
            [next(iter(self.splits.items()))]
        )

    def gathered(self, name: str) -> Array:
        """Return something of every example of the compared splits of which the used concepts are known."""
        return np.concatenate([getattr(rows, name)[rows.known] for rows in self.compared.values()])

    def columns(self, name: str) -> list[int]:
        """Return the columns of a concept, or of the encoder group of this name; none of another name."""
        space = self.knowledge.space
        if name in space.places:
            return [space.place(name)]
        return [space.place(n) for group in space.encoders if group.name == name for n in group.concepts]

    def label(self, name: str) -> int | None:
        """Return the column of a label; None of another name."""
        names = self.knowledge.label_names
        return names.index(name) if name in names else None


@dataclass(frozen=True)
class Place:
    """Where a sentence stands: in which finding (None for a note), on which split, after which text."""

    told: Told
    finding: Finding | None
    split: str
    text: str
    around: str = ""
    """The whole text that the sentence stands in."""

    @property
    def rows(self) -> Rows:
        """The split that it speaks of."""
        return self.told.splits[self.split if self.split in self.told.splits else next(iter(self.told.splits))]

    def on(self, split: str) -> Rows:
        """Return a split that a sentence names; the one of its place if it is no split."""
        return self.told.splits.get(split, self.rows)

    def named(self) -> list[int]:
        """Return the columns of the concepts of the finding."""
        return [self.told.knowledge.space.place(name) for name in (self.finding.concepts if self.finding else ())]

    def labels(self) -> list[int]:
        """Return the columns of the labels of the finding."""
        return [
            place
            for name in (self.finding.labels if self.finding else ())
            if (place := self.told.label(name)) is not None
        ]


def share_is(what: str, said: Share, hits: int, of: int) -> Iterator[str]:
    """Yield what is false about a share."""
    if not said.is_of(int(hits), int(of)):
        yield f"{what}: says {said.text}, counted {int(hits)} of {int(of)}"


def count_is(what: str, said: int, counted: int) -> Iterator[str]:
    """Yield what is false about a count."""
    if said != int(counted):
        yield f"{what}: says {said}, counted {int(counted)}"


def percent_of(what: str, said: str, share: float, slack: float = 0.0) -> Iterator[str]:
    """Yield what is false about a share in per cent."""
    if not percent_is(said, share, slack):
        yield f"{what}: says {said}, counted {100 * share:.2f} %"


def points_are(what: str, said: str, difference: float, slack: float = 0.0) -> Iterator[str]:
    """Yield what is false about a difference of two shares in points."""
    if abs(100 * difference - int(said.partition(" ")[0])) > 0.51 + 100 * slack:
        yield f"{what}: says {said}, counted {100 * difference:.2f} points"


def holds(what: str, true: object) -> Iterator[str]:
    """Yield a statement that is false."""
    if not true:
        yield f"not so: {what}"


def values_of(knowledge: Knowledge, column: int) -> list[str]:
    """Return the values of a concept as they are written."""
    return [str(value) for value in knowledge.space.concepts[column].values]


def any_of(*claims: Sequence[str]) -> Iterator[str]:
    """Yield what is false about all of several statements of which one must hold; nothing if one holds."""
    parts = [list(claim) for claim in claims]
    if all(parts):
        yield " / ".join(problem for part in parts for problem in part)
