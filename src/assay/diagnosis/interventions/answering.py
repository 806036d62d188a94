"""What an intervention needs of a model: its own concept probabilities, and its labels when some of them are set.

Everything goes through `answer`, with nothing set as with all set, so that a curve has one encoding from end to end: a
concept is always a row of probabilities, a certain answer being one of 0 and 1. A row of NaN leaves a concept as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.interventions.fronts import LinearFront
from assay.errors import ConfigError, DataError
from assay.logic.knowledge import Knowledge
from assay.predictions import Predictions

Rows = Array | slice
EVERY = slice(None)
Front = Callable[[list[Array]], list[Array]]
"""From the probabilities of each concept to those of each label, arrays of rows x values."""
WORK = 25_000_000
WORK_LINEAR = 200_000_000


@dataclass(frozen=True)
class Told:
    """The probabilities of the values of each label and of each concept."""

    labels: list[Array]
    concepts: list[Array]

    @property
    def label_codes(self) -> Codes:
        """The most probable labels, a column a label."""
        return np.stack([spread.argmax(axis=1) for spread in self.labels], axis=1)

    @property
    def concept_codes(self) -> Codes:
        """The most probable concepts, a column a concept."""
        return np.stack([spread.argmax(axis=1) for spread in self.concepts], axis=1)


class Answerer(Protocol):
    """A model with its pictures at hand."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def soft(self) -> bool:
        """Whether the concepts are probabilities, and not only values."""

    @property
    def work(self) -> int:
        """How many rows may be answered for to choose what to ask."""

    @property
    def concepts(self) -> Sequence[Array]:
        """The model's own probabilities of each concept."""

    @property
    def linear(self) -> LinearFront | None:
        """The way from concepts to labels, if it is known to be linear."""

    def answer(self, rows: Rows, given: Mapping[int, Array]) -> Told:
        """Return what the model says of rows where concepts, by place, are set to probabilities."""


@dataclass(frozen=True)
class FrontEnd:
    """A model whose labels follow from its concepts: the pictures are read once, and never again."""

    name: str
    concepts: Sequence[Array]
    front: Front
    linear: LinearFront | None = None
    soft: bool = True

    @property
    def work(self) -> int:
        """How many rows may be answered for."""
        return WORK if self.linear is None else WORK_LINEAR

    def answer(self, rows: Rows, given: Mapping[int, Array]) -> Told:
        """Return the labels that follow from the concepts as they are now."""
        held = [spread[rows] for spread in self.concepts]
        for place, spread in given.items():
            held[place] = settled(held[place], spread)
        return Told(self.front(held), held)


def settled(own: Array, given: Array) -> Array:
    """Return the given probabilities, and the own ones in rows that are NaN."""
    if given.shape != own.shape:
        raise ConfigError(f"answers of {given.shape} where the model has {own.shape} (examples, values)")
    left = np.isnan(given[:, :1])
    return np.where(left, own, given).astype(own.dtype) if left.any() else given.astype(own.dtype)


def rule_front(knowledge: Knowledge) -> Front:
    """Return the rule itself as the way from concepts to labels, exact for independent concepts."""
    diagram = knowledge.diagram
    tables = []
    for place, label in enumerate(knowledge.labels):
        tables.append(
            np.array([[float(outcome[place] == value) for value in label.values] for outcome in diagram.outcomes])
        )

    def front(concepts: list[Array]) -> list[Array]:
        outcomes = diagram.probabilities([np.asarray(spread, dtype=np.float64) for spread in concepts])
        return [outcomes @ table for table in tables]

    return front


def answerer_of(predictions: Predictions, knowledge: Knowledge) -> FrontEnd:
    """Return a model of any make by its predictions of concepts, with the rule as its way to the labels."""
    spreads, soft = [], True
    for concept in knowledge.space.concepts:
        answer = predictions.concepts.get(concept.name)
        if answer is None or (answer.probabilities is None and (answer.codes < 0).any()):
            raise DataError(f"interventions need every concept of every example; {concept.name!r} is not answered for")
        soft &= answer.probabilities is not None
        certain = answer.probabilities is None
        spreads.append(one_hot(answer.codes, len(concept.values)) if certain else np.asarray(answer.probabilities))
    name = f"{predictions.about.get('model', 'predictions')} + rule"
    return FrontEnd(name, spreads, rule_front(knowledge), soft=soft)


def one_hot(codes: Array, size: int) -> Array:
    """Return certain probabilities; a code of -1 becomes a row of NaN.

    >>> one_hot(np.array([1, -1]), 2).tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    spread = np.zeros((len(codes), size))
    known = codes >= 0
    spread[known, codes[known]] = 1
    spread[~known] = np.nan
    return spread
