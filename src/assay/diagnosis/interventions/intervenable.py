"""A model as interventions use it: its own concept probabilities, and its labels when some concepts are set.

Every call goes through `answer`, whether no concept is set or all are, so that a curve has one encoding from end to
end: a concept is always a row of probabilities, a certain value a row of 0 and 1. A row of NaN leaves it as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.interventions.label_heads import LabelHead, LinearHead, rule_head
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.predictions import Predictions

Rows = Array | slice
EVERY = slice(None)
WORK = 25_000_000
WORK_LINEAR = 200_000_000


@dataclass(frozen=True)
class ModelOutput:
    """The probabilities of the values of each label and of each concept."""

    labels: list[Array]
    concepts: list[Array]

    @property
    def label_codes(self) -> Codes:
        """The most probable labels, a column a label."""
        return np.stack([probabilities.argmax(axis=1) for probabilities in self.labels], axis=1)

    @property
    def concept_codes(self) -> Codes:
        """The most probable concepts, a column a concept."""
        return np.stack([probabilities.argmax(axis=1) for probabilities in self.concepts], axis=1)


class IntervenableModel(Protocol):
    """A model together with the examples that it is asked about."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def soft(self) -> bool:
        """Whether the concepts are probabilities, and not only values."""

    @property
    def work(self) -> int:
        """How many rows a policy may have answered to choose what to ask."""

    @property
    def concepts(self) -> Sequence[Array]:
        """The model's own probabilities of each concept."""

    @property
    def linear(self) -> LinearHead | None:
        """The label head, if it is known to be linear."""

    def answer(self, rows: Rows, do: Mapping[int, Array]) -> ModelOutput:
        """Return the model's output for rows where concepts, by column, are set to probabilities."""


@dataclass(frozen=True)
class BottleneckModel:
    """A model whose labels follow from its concepts alone: the images are read once, and never again."""

    name: str
    concepts: Sequence[Array]
    head: LabelHead
    linear: LinearHead | None = None
    soft: bool = True

    @property
    def work(self) -> int:
        """How many rows a policy may have answered."""
        return WORK if self.linear is None else WORK_LINEAR

    def answer(self, rows: Rows, do: Mapping[int, Array]) -> ModelOutput:
        """Return the labels that follow from the concepts after the intervention."""
        concepts = [probabilities[rows] for probabilities in self.concepts]
        for place, probabilities in do.items():
            concepts[place] = override(concepts[place], probabilities)
        return ModelOutput(self.head(concepts), concepts)


def override(own: Array, answers: Array) -> Array:
    """Return the answers' probabilities, and the model's own in rows where the answer is NaN."""
    if answers.shape != own.shape:
        raise ConfigError(f"answers of {answers.shape} where the model has {own.shape} (examples, values)")
    unanswered = np.isnan(answers[:, :1])
    return np.where(unanswered, own, answers).astype(own.dtype) if unanswered.any() else answers.astype(own.dtype)


def model_from_predictions(predictions: Predictions, knowledge: Knowledge) -> BottleneckModel:
    """Return any model by its predicted concepts, with the rule as its label head."""
    concepts, soft = [], True
    for concept in knowledge.space.concepts:
        answer = predictions.concepts.get(concept.name)
        if answer is None or (answer.probabilities is None and (answer.codes < 0).any()):
            raise DataError(f"interventions need every concept of every example; {concept.name!r} is not answered for")
        soft &= answer.probabilities is not None
        certain = answer.probabilities is None
        concepts.append(one_hot(answer.codes, len(concept.values)) if certain else np.asarray(answer.probabilities))
    name = f"{predictions.about.get('model', 'predictions')} + rule"
    return BottleneckModel(name, concepts, rule_head(knowledge), soft=soft)


def one_hot(codes: Array, size: int) -> Array:
    """Return certain probabilities; a code of -1 becomes a row of NaN.

    >>> one_hot(np.array([1, -1]), 2).tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    probabilities = np.zeros((len(codes), size))
    known = codes >= 0
    probabilities[known, codes[known]] = 1
    probabilities[~known] = np.nan
    return probabilities
