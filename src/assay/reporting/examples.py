"""Examples in a report: pictures with what is true, what the model predicts, and what the rule makes of it.

Which example shows a finding: for each word of ours what is looked for, for any other what the finding is about.
"""

import base64
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, distinct_rows, join_first, join_words
from assay.contracts import Predictions
from assay.dataset import Dataset
from assay.diagnosis import Diagnosis, Finding, SplitView, headline, tone_of
from assay.logic import Value
from assay.metrics import Evidence

EXAMPLES = 12
COARSE = 120
"""Up to how many pixels a picture is drawn with squares for its pixels."""
MOST_NAMED = 4
"""How many concepts a sentence about an example names."""


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


PAIR = 2
"""Two misread concepts that make up for each other are seen at a glance."""


@dataclass(frozen=True)
class Choice:
    """The example that was chosen to show a finding."""

    row: int
    heading: str = ""
    remark: str = ""
    twin: int | None = None
    """Another example with the same concepts and other labels."""


@dataclass(frozen=True)
class Example:
    """An image with its ground truth and the model's predictions."""

    number: int
    picture: str
    """A data address, so that the page needs no other file; empty where there is no picture."""
    truth: Mapping[str, Value]
    predicted: Mapping[str, Value]
    labels: Mapping[str, Value]
    predicted_labels: Mapping[str, Value]
    coarse: bool = False
    """Whether the picture is so small that its pixels are to be seen as squares."""
    text: str = ""
    """What stands in the place of a picture."""
    implied: Mapping[str, Value] | None = None
    """The labels that the rule gives for the predicted concepts, where all are predicted and there is a rule."""
    focus: tuple[str, ...] = ()
    """The concepts that a finding is about; the others are named only where it is about none."""
    split: str = ""
    used: tuple[str, ...] = ()
    """The concepts that the rule uses, which stand for all where none is misread."""
    above: str = ""
    """A heading that says what it shows."""
    remark: str = ""
    """A further sentence: why it shows the finding."""
    doubted: bool = False
    """Whether its annotations are in doubt, and so not called true."""

    @property
    def right(self) -> bool:
        """Whether the labels are right."""
        return self.labels == self.predicted_labels

    @property
    def misread(self) -> dict[str, tuple[Value, Value]]:
        """The true and the predicted value of each concept in focus that is known, predicted, and wrong."""
        pairs = {name: (self.truth[name], said) for name, said in self.predicted.items() if name in self.truth}
        wrong = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        return {name: pair for name, pair in wrong.items() if name in self.focus} or wrong

    @property
    def is_right_by_wrong_concepts(self) -> bool:
        """Whether labels are right although concepts are wrong."""
        return self.right and bool(self.misread)

    @property
    def changes(self) -> str:
        """The misread concepts in short, such as `a 2→4, b 8→6`."""
        return join_first([f"{name} {true}→{said}" for name, (true, said) in self.misread.items()], 6)

    @property
    def heading(self) -> str:
        """What the example shows, in a few words."""
        if self.above:
            return self.above
        if self.is_right_by_wrong_concepts:
            return "Right label, wrong concepts"
        if not self.right:
            return "A wrong label"
        return "A right label from right concepts" if self.predicted else "A right label, and no concepts"

    def sentences(self, model: str) -> tuple[str, str]:
        """Return what is true of the example, and what the model predicts for it."""
        used = {name: value for name, value in self.truth.items() if name in self.used} or self.truth
        shown = {name: pair[0] for name, pair in self.misread.items()} or used
        true = f"{'Annotated' if self.doubted else 'True'}: {_first(shown)}; {_assign(self.labels)}."
        return true, " ".join(text for text in (f"{model} {self._prediction}.", self.remark) if text)

    @property
    def _prediction(self) -> str:
        """What the model predicts, without its name."""
        labels = _assign(self.predicted_labels)
        if not self.predicted:
            return f"predicts no concept, and {labels}"
        if not self.misread:
            every = self.predicted.keys() >= self.truth.keys()
            which = "every concept" if every else "the concepts that it predicts"
            how = "as annotated" if self.doubted else "right"
            return f"predicts {which} {how}, {'and' if self.right else 'yet'} {labels}"
        read = f"predicts {_first({name: pair[1] for name, pair in self.misread.items()})}"
        if self.implied is None:
            return f"{read}, and {'still ' * self.right}{labels}"
        if self.implied != self.predicted_labels:
            return f"{read}: by the rule {_assign(self.implied)}; its label is {'still ' * self.right}{labels}"
        return f"{read}: by the rule {labels}{' as well' * self.right}"


def _first(values: Mapping[str, Value]) -> str:
    return join_first([f"{name} = {value}" for name, value in values.items()], MOST_NAMED)


def _assign(values: Mapping[str, Value]) -> str:
    return join_words([f"{name} = {value}" for name, value in values.items()])


def examples_of(dataset: Dataset, predictions: Predictions, evidence: Evidence) -> tuple[Example, ...]:
    """Return examples of the split, those with wrong labels or concepts first."""
    wrong_label = (evidence.labels != evidence.predicted_labels).any(axis=1)
    wrong_concept = ((evidence.concepts != evidence.judged_concepts) & (evidence.judged_concepts >= 0)).any(axis=1)
    order = np.argsort(-(2 * wrong_label + wrong_concept), kind="stable")
    half = EXAMPLES // 2
    chosen = dict.fromkeys([*order[:half].tolist(), *range(min(EXAMPLES, len(evidence)))])
    return tuple(_example(dataset, predictions, evidence, row) for row in list(chosen)[:EXAMPLES])


def example_for(dataset: Dataset, predictions: Predictions, seen: Shown) -> Example:
    """Return the example that shows a finding best, with why it does."""
    choice = choose(seen)
    found = _example(dataset, predictions, seen.view.evidence, choice.row)
    return replace(
        found,
        focus=seen.finding.concepts,
        used=tuple(dataset.knowledge.space.names[column] for column in seen.view.columns),
        above=choice.heading,
        remark=_remark(dataset, predictions, seen, choice),
        doubted=choice.remark == "annotations",
    )


def _remark(dataset: Dataset, predictions: Predictions, seen: Shown, choice: Choice) -> str:
    """Return why an example shows a finding, where that is not seen at once."""
    if choice.remark == "new":
        return "Training does not show this world."
    if choice.remark == "annotations":
        return (
            f"By the rule, the annotated concepts give {_assign(_labels(seen.view.table_labels[choice.row], dataset))}."
        )
    if choice.twin is None:
        return ""
    number, labels = predictions.index[choice.twin], _labels(seen.view.truth[choice.twin], dataset)
    return f"Example {number} has the same concepts, and {_assign(labels)}."


def _example(dataset: Dataset, predictions: Predictions, evidence: Evidence, row: int) -> Example:
    space, data = dataset.knowledge.space, dataset[predictions.split]
    place = np.flatnonzero(data.index == predictions.index[row])[:1]
    shown = "image" in data.columns
    png = data.files(place)[0] if shown else b""
    pairs = zip(space.concepts, evidence.predicted_concepts[row], strict=True)
    return Example(
        number=int(predictions.index[row]),
        picture=f"data:image/png;base64,{base64.b64encode(png).decode()}" if shown else "",
        coarse=shown and max(struct.unpack(">II", png[16:24])) <= COARSE,
        truth=space.decode(evidence.concepts[row]),
        predicted={concept.name: concept.values[code] for concept, code in pairs if code >= 0},
        labels=_labels(evidence.labels[row], dataset),
        predicted_labels=_labels(evidence.predicted_labels[row], dataset),
        split=predictions.split,
        text="" if shown or "text" not in data.columns else data.texts[int(place[0])],
        implied=_implied(evidence.predicted_concepts[row], dataset),
    )


def _implied(codes: Codes, dataset: Dataset) -> dict[str, Value] | None:
    if not dataset.knowledge.has_rule or (codes < 0).any():
        return None
    return _labels(dataset.knowledge.labels_of(codes[None])[0], dataset)


def _labels(codes: Codes, dataset: Dataset) -> dict[str, Value]:
    labels = dataset.knowledge.labels
    return {x.name: x.values[code] if code >= 0 else "none" for x, code in zip(labels, codes, strict=True)}


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
