"""Examples in a report: pictures with what is true, what the model predicts, and what the rule makes of it."""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from assay.base import Codes, join_first, join_words
from assay.contracts import Predictions
from assay.dataset import Dataset
from assay.logic import Value
from assay.metrics import Evidence
from assay.reporting.showing import Choice, Shown, choose

EXAMPLES = 12
COARSE = 120
"""Up to how many pixels a picture is drawn with squares for its pixels."""
MOST_NAMED = 4
"""How many concepts a sentence about an example names."""


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
