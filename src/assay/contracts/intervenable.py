"""A model as interventions use it: its own concept probabilities, and its labels when some concepts are set.

Every call goes through `answer`, whether no concept is set or all are, so that a curve has one encoding from end to
end: a concept is always a row of probabilities, a certain value a row of 0 and 1. A row of NaN leaves it as it is.
Labels may come from a linear head, from the rule (`rule_head`), or from any function of the concepts' probabilities.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from assay.base import Array, Codes, ConfigError, DataError
from assay.contracts.predictions import Predictions
from assay.logic import Knowledge

Rows = Array | slice
EVERY = slice(None)
WORK = 25_000_000
WORK_LINEAR = 200_000_000


LabelHead = Callable[[list[Array]], list[Array]]
"""From the probabilities of each concept to those of each label, arrays of rows x values."""


@dataclass(frozen=True)
class LinearHead:
    """`weights[i]` (values of concept `i` x outputs) and `bias` (outputs); `sizes` cut the outputs into labels."""

    weights: Sequence[Array]
    bias: Array
    sizes: tuple[int, ...]

    def scores(self, concepts: Sequence[Array]) -> Array:
        """Return the scores of all outputs: rows x outputs."""
        pairs = zip(concepts, self.weights, strict=True)
        return np.asarray(sum((np.asarray(p, dtype=np.float64) @ w for p, w in pairs), self.bias))

    def __call__(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities: the softmax of each label's scores."""
        return [softmax(scores) for scores in np.split(self.scores(concepts), np.cumsum(self.sizes)[:-1], axis=1)]

    @property
    def binary(self) -> bool:
        """Whether every label has two values."""
        return all(size == 2 for size in self.sizes)

    def margins(self) -> tuple[list[Array], Array]:
        """Return, for labels of two values, weights and bias of the second value's score less the first's."""
        return [w[:, 1::2] - w[:, ::2] for w in self.weights], self.bias[1::2] - self.bias[::2]


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


def softmax(scores: Array) -> Array:
    """Return probabilities in proportion to the exponentials of scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def rule_head(knowledge: Knowledge) -> LabelHead:
    """Return the rule as a label head, exact for independent concepts."""
    diagram = knowledge.diagram
    tables = [
        np.array([[float(outcome[place] == value) for value in label.values] for outcome in diagram.outcomes])
        for place, label in enumerate(knowledge.labels)
    ]

    def head(concepts: list[Array]) -> list[Array]:
        outcomes = diagram.probabilities([np.asarray(p, dtype=np.float64) for p in concepts])
        return [outcomes @ table for table in tables]

    return head


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
