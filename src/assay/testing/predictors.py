"""Predictors whose scores are known."""

from collections.abc import Mapping

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.contracts import Prediction, Predictions
from assay.dataset import SplitData
from assay.logic import Value


def oracle(data: SplitData) -> Predictions:
    """Return the truth, with certainty."""
    return _hard(data, data.labels, data.concepts)


def constant(data: SplitData) -> Predictions:
    """Return, for every example, the first value of every label and concept."""
    return _hard(data, np.zeros_like(data.labels), np.zeros_like(data.concepts))


def shuffled(data: SplitData, seed: int = 0) -> Predictions:
    """Return the truth of other examples: right frequencies, no knowledge."""
    order = rng_for(seed, "shuffled", data.name).permutation(len(data))
    return _hard(data, data.labels[order], data.concepts[order])


def given_mapping(data: SplitData, reading: Mapping[str, Mapping[Value, Value]]) -> Predictions:
    """Return what a model says that reads concepts this way (encoder group, then value to value) and knows the rule."""
    space = data.knowledge.space
    read = data.concepts.copy()
    for group in space.encoders:
        for name in group.concepts:
            concept, column = space.concept(name), space.place(name)
            meanings = reading.get(group.name, {})
            table = np.array([concept.code(meanings.get(value, value)) for value in concept.values])
            read[:, column] = table[data.concepts[:, column]]
    return _hard(data, data.knowledge.labels_of(read), read)


def _hard(data: SplitData, labels: Codes, concepts: Codes) -> Predictions:
    knowledge = data.knowledge
    label_answers = {x.name: _certain(labels[:, i], len(x.values)) for i, x in enumerate(knowledge.labels)}
    concept_answers = {c.name: _certain(concepts[:, i], len(c.values)) for i, c in enumerate(knowledge.space.concepts)}
    return Predictions(data.fingerprint, data.name, data.index, label_answers, concept_answers, {"model": "reference"})


def _certain(codes: Array, size: int) -> Prediction:
    return Prediction(codes, np.eye(size)[codes])
