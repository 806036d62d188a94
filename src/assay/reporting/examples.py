"""Examples in a report: pictures with what is true, what the model reads, and what the rule makes of it."""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Value
from assay.data.dataset import Dataset
from assay.diagnosis.findings import Finding, Kind
from assay.diagnosis.wording import join_first, join_words
from assay.metrics.evidence import Evidence
from assay.predictions import Predictions

EXAMPLES = 12
COARSE = 120
"""Up to how many pixels a picture is drawn with squares for its pixels."""
MOST_NAMED = 4
"""How many concepts a sentence about an example names."""
KEEPS_LABELS: tuple[Kind, ...] = ("shortcut", "leaking", "unidentified")
"""Kinds of findings that an example with a right label and wrong concepts shows best."""
FINE: tuple[Kind, ...] = ("sound", "no rule", "too few")


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
    """The concepts that a finding is about; the others are told only where it is about none."""

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

    def sentences(self, model: str) -> tuple[str, str]:
        """Return what is true of the example, and what the model makes of it."""
        labels, said = _assign(self.labels), _assign(self.predicted_labels)
        if self.misread:
            true = join_first([f"{name} = {pair[0]}" for name, pair in self.misread.items()], MOST_NAMED)
            read = join_first([f"{name} = {pair[1]}" for name, pair in self.misread.items()], MOST_NAMED)
            if self.right and self.implied == self.labels:
                return f"True: {true}; {labels}.", f"{model} reads {read}: by the rule {said} as well."
            return f"True: {true}; {labels}.", f"{model} reads {read}, and {'still ' * self.right}says {said}."
        shown = join_first([f"{name} = {value}" for name, value in self.truth.items()], MOST_NAMED)
        if not self.predicted:
            return f"True: {shown}; {labels}.", f"{model} predicts no concept, and says {said}."
        which = "every concept" if self.predicted.keys() >= self.truth.keys() else "what it predicts of the concepts"
        return f"True: {shown}; {labels}.", f"{model} reads {which} right, and says {said}."


def _assign(values: Mapping[str, Value]) -> str:
    return join_words([f"{name} = {value}" for name, value in values.items()])


def examples_of(dataset: Dataset, predictions: Predictions, evidence: Evidence) -> tuple[Example, ...]:
    """Return examples of the split, those with wrong labels or concepts first."""
    wrong_label = (evidence.labels != evidence.predicted_labels).any(axis=1)
    wrong_concept = _misread(evidence, ()).any(axis=1)
    order = np.argsort(-(2 * wrong_label + wrong_concept), kind="stable")
    half = EXAMPLES // 2
    chosen = dict.fromkeys([*order[:half].tolist(), *range(min(EXAMPLES, len(evidence)))])
    return tuple(_example(dataset, predictions, evidence, row) for row in list(chosen)[:EXAMPLES])


def example_for(dataset: Dataset, predictions: Predictions, evidence: Evidence, finding: Finding) -> Example:
    """Return the example that shows a finding best: for a shortcut, two misread concepts that keep the label."""
    wrong_label = (evidence.labels != evidence.predicted_labels).any(axis=1)
    misread = _misread(evidence, finding.concepts).sum(axis=1)
    label_kept = ~wrong_label & (misread > 0)
    if finding.kind in KEEPS_LABELS:
        wanted = [label_kept, wrong_label]
    elif finding.kind in FINE:
        wanted = [~wrong_label & (misread == 0)]
    else:
        wanted = [wrong_label, label_kept]
    rows = next((np.flatnonzero(rows) for rows in wanted if rows.any()), np.arange(len(evidence)))
    best = rows[np.argmin(np.abs(misread[rows] - 2))]  # two errors that make up for each other are seen at a glance
    return replace(_example(dataset, predictions, evidence, int(best)), focus=finding.concepts)


def _misread(evidence: Evidence, concepts: tuple[str, ...]) -> Array:
    """Return which concepts are predicted wrong; only these concepts where some are named."""
    wrong = (evidence.concepts != evidence.judged_concepts) & (evidence.judged_concepts >= 0)
    if concepts:
        wrong = wrong[:, [evidence.knowledge.space.place(name) for name in concepts]]
    return np.asarray(wrong)


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
