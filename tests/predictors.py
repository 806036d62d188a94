"""Predictors whose scores are known: the oracle, the constant, the shuffled, and one that reads wrongly."""

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.contracts import Prediction, Predictions
from assay.dataset import SplitData
from assay.logic import Knowledge
from assay.metrics import Evidence, gather


def predictions(data: SplitData, labels: Codes, concepts: Codes | None = None) -> Predictions:
    """Return predictions of these codes, a row an example."""
    knowledge = data.knowledge
    spoken = {} if concepts is None else {n: Prediction(concepts[:, i]) for i, n in enumerate(knowledge.space.names)}
    named = {name: Prediction(labels[:, i]) for i, name in enumerate(knowledge.label_names)}
    return Predictions(data.fingerprint, data.name, data.index, named, spoken)


def oracle(data: SplitData) -> Evidence:
    """Return the evidence of a model that is right."""
    return gather(data, predictions(data, data.labels, data.concepts))


def constant(data: SplitData) -> Evidence:
    """Return the evidence of a model that always says what is true of the first example."""
    rows = np.zeros(len(data), dtype=np.int64)
    return gather(data, predictions(data, data.labels[rows], data.concepts[rows]))


def shuffled(data: SplitData) -> Evidence:
    """Return the evidence of a model that answers for another example."""
    rows = rng_for(0, "shuffled", len(data)).permutation(len(data))
    return gather(data, predictions(data, data.labels[rows], data.concepts[rows]))


def reading(data: SplitData, tables: Array) -> Evidence:
    """Return the evidence of a model that reads concept `i` through row `i` of tables, and reasons by the rule."""
    read = np.stack([tables[i][data.concepts[:, i]] for i in range(len(tables))], axis=1)
    return gather(data, predictions(data, data.knowledge.labels_of(read), read))


def labels_only(data: SplitData) -> Evidence:
    """Return the evidence of a model that says the right labels and nothing else."""
    return gather(data, predictions(data, data.labels))


def random_codes(rows: int, sizes: tuple[int, ...], *purpose: object) -> Codes:
    """Return random codes, a column a size."""
    return rng_for(0, *purpose).integers(np.array(sizes), size=(rows, len(sizes)))


def random_evidence(knowledge: Knowledge, rows: int, *purpose: object) -> Evidence:
    """Return true and predicted codes that have nothing to do with one another nor with the rule."""
    values = tuple(len(label.values) for label in knowledge.labels)
    labels, said = (random_codes(rows, values, *purpose, side, "labels") for side in ("true", "said"))
    concepts, spoken = (random_codes(rows, knowledge.space.sizes, *purpose, side) for side in ("true", "said"))
    silent = (None,) * len(values), (None,) * len(knowledge.space)
    return Evidence(knowledge, "test", labels, concepts, said, spoken, *silent)
