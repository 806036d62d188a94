"""Which example shows a finding: for each word of ours what is looked for, for any other what the finding is about."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, distinct_rows
from assay.diagnosis import Diagnosis, Finding, SplitView, headline, tone_of

PAIR = 2
"""Two misread concepts that make up for each other are seen at a glance."""


@dataclass(frozen=True)
class Shown:
    """The examples of a split, one of which is to show a finding."""

    view: SplitView
    finding: Finding
    new_worlds: Callable[[], Array | None] = lambda: None
    """Which examples have a world that training does not show."""

    @cached_property
    def misread(self) -> Array:
        """How many concepts of each example are predicted wrong, of those that the finding names, if it names some."""
        evidence, places = self.view.evidence, self.view.evidence.knowledge.space.place
        truth, predicted = evidence.concepts, evidence.judged_concepts
        wrong = (truth != predicted) & (predicted >= 0) & (truth >= 0)
        named = [places(name) for name in self.finding.concepts if name in evidence.knowledge.space.names]
        return np.asarray((wrong[:, named] if named else wrong).sum(axis=1))

    @cached_property
    def wrong(self) -> Array:
        """Which examples have a wrong label, of those that the finding names, if it names some."""
        names = self.view.evidence.knowledge.label_names
        named = [names.index(name) for name in self.finding.labels if name in names]
        return np.asarray((self.view.wrong[:, named] if named else self.view.wrong).any(axis=1))

    @property
    def errs(self) -> Array:
        """Which examples have a concept predicted wrong, of those that the finding names."""
        return np.asarray(self.misread > 0)

    @property
    def right(self) -> Array:
        """Which examples have every label right."""
        return self.view.right

    @cached_property
    def new(self) -> Array:
        """Which examples have a world that training does not show; none where that is not known."""
        new = self.new_worlds()
        return np.zeros(len(self.view), dtype=bool) if new is None else new

    @cached_property
    def worlds(self) -> Array:
        """The number of each example's world."""
        return distinct_rows(self.view.evidence.concepts).which

    @cached_property
    def mixed(self) -> Array:
        """Which examples share all concepts with one whose labels differ."""
        pairs = distinct_rows(self.view.evidence.concepts, self.view.truth)
        kinds = np.bincount(self.worlds[pairs.first])
        return np.asarray(kinds[self.worlds] > 1)

    def twin(self, row: int) -> int | None:
        """Return an example with the same concepts and other labels, if there is one."""
        same = (self.worlds == self.worlds[row]) & (self.view.truth != self.view.truth[row]).any(axis=1)
        return int(np.flatnonzero(same)[0]) if same.any() else None


@dataclass(frozen=True)
class Showing:
    """How an example shows a finding."""

    wanted: Callable[[Shown], Sequence[Array]]
    """The examples to choose from, the most wanted ones first."""
    heading: str = ""
    """What stands above it; by default what is right and wrong about it."""
    remark: str = ""
    """What is said of it: `twin`, a second example with the same concepts; `new`, its world; `annotations`, its own."""
    fits: int = 1
    """For how many of the wanted ones heading and remark hold."""
    by_concepts: bool = False
    """Whether misread concepts show it, so that two of them are looked for."""
    over_splits: bool = False
    """Whether its wrong labels are those of several splits, so that the split with the most of them shows it."""


def _about(seen: Shown) -> Sequence[Array]:
    """Return the examples that show what a finding names: concepts, or labels, or nothing in particular."""
    if tone_of(seen.finding.kind) == "good":
        return _fine(seen)
    if seen.finding.concepts:
        return [seen.wrong & seen.errs, seen.errs, seen.wrong]
    return [seen.wrong, ~seen.right]


def _fine(seen: Shown) -> Sequence[Array]:
    return [seen.right & ~seen.errs, seen.right]


def _keeps_label(seen: Shown) -> Sequence[Array]:
    return [seen.right & seen.errs, seen.wrong]


def _past_concepts(seen: Shown) -> Sequence[Array]:
    view = seen.view
    implied_wrong = view.complete & ~view.implied_right
    return [seen.right & implied_wrong, *_keeps_label(seen)]


def _contradicts(seen: Shown) -> Sequence[Array]:
    view, misread = seen.view, seen.errs
    by_table = np.asarray(view.by_table.any(axis=1))
    by_concepts: list[Array] = [
        view.contradicts & misread & view.implied_right & seen.right,
        view.contradicts & misread,
    ]
    return [*by_concepts, by_table, misread] if seen.finding.concepts else [by_table, *by_concepts]


def _does_not_follow(seen: Shown) -> Sequence[Array]:
    apart = seen.view.complete & ~seen.view.follows
    return [apart & seen.wrong, apart, seen.wrong]


GENERIC = Showing(_about)
SHOWINGS: Mapping[str, Showing] = {
    "sound": Showing(_fine),
    "no rule": Showing(_fine),
    "too few": Showing(_fine),
    "shortcut": Showing(_keeps_label, by_concepts=True),
    "unidentified": Showing(_keeps_label, by_concepts=True),
    "leaking": Showing(_past_concepts, by_concepts=True),
    "annotations": Showing(
        _contradicts, "Annotations that contradict the rule", "annotations", fits=3, by_concepts=True
    ),
    "inconsistent": Showing(_does_not_follow),
    "wrong rule": Showing(lambda seen: [seen.wrong & seen.view.concepts_right, seen.wrong]),
    "memorised": Showing(lambda seen: [seen.wrong & seen.new, seen.wrong], "A wrong label in a new world", "new"),
    "boundary": Showing(lambda seen: [seen.wrong & seen.view.near, seen.wrong], "A wrong label near the boundary"),
    "missed region": Showing(lambda seen: [seen.wrong], over_splits=True),
    "incomplete": Showing(
        lambda seen: [seen.wrong & seen.mixed, seen.mixed, seen.wrong], "Equal concepts, other labels", "twin", fits=2
    ),
}
"""The words of ours that need more than what they name."""


@dataclass(frozen=True)
class Choice:
    """The example that was chosen to show a finding."""

    row: int
    heading: str = ""
    remark: str = ""
    twin: int | None = None
    """Another example with the same concepts and other labels."""


def split_for(diagnosis: Diagnosis, splits: Collection[str]) -> str:
    """Return the split whose examples show the first finding: that which decided, if it is one of these."""
    names = [name for name in diagnosis.errors if name in splits]
    showing = SHOWINGS.get(diagnosis.verdict, GENERIC)
    if showing.over_splits:
        compared = [name for name in names if name in diagnosis.compared_splits] or names
        return max(compared, key=lambda name: diagnosis.errors[name].wrong)
    deciding = headline(diagnosis).split
    return deciding if deciding in names else names[0]


def choose(seen: Shown) -> Choice:
    """Return the example that shows a finding best."""
    showing = SHOWINGS.get(seen.finding.kind, GENERIC)
    for level, rows in enumerate(showing.wanted(seen)):
        if rows.any():
            row = _clearest(seen, np.flatnonzero(rows), showing.by_concepts or bool(seen.finding.concepts))
            if level >= showing.fits:
                return Choice(row)
            return Choice(row, showing.heading, showing.remark, seen.twin(row) if showing.remark == "twin" else None)
    return Choice(_clearest(seen, np.arange(len(seen.view)), False))


def _clearest(seen: Shown, rows: Array, by_concepts: bool) -> int:
    """Return which of some examples is the clearest: with two misread concepts, or one of the most frequent ones."""
    misread = seen.misread[rows]
    if by_concepts and misread.any():
        return int(rows[np.argmin(np.abs(misread - PAIR))])
    used, evidence = seen.view.columns, seen.view.evidence
    alike = distinct_rows(evidence.concepts[rows][:, used], evidence.judged_concepts[rows][:, used])
    return int(rows[alike.first[np.argmax(alike.counts)]])
