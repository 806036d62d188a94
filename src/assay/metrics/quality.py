"""How right a model is: accuracy and F1 of labels and concepts."""

import numpy as np

from assay.arrays import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.metric import overall, per_example


def confusion(truth: Codes, predicted: Codes, size: int) -> Array:
    """Return how often each true value was predicted as each value; the last column counts silence.

    >>> confusion(np.array([0, 1, 1]), np.array([0, 0, -1]), 2).tolist()
    [[1, 0, 0], [1, 0, 1]]
    """
    columns = np.where(predicted < 0, size, predicted)
    counts = np.bincount(truth * (size + 1) + columns, minlength=size * (size + 1))
    return counts.reshape(size, size + 1)


def f1_by_value(truth: Codes, predicted: Codes, size: int) -> Array:
    """Return the F1 of each value, NaN for a value that neither occurs nor is predicted."""
    counts = confusion(truth, predicted, size)
    hits = np.diag(counts).astype(float)
    missed_and_false = counts.sum(axis=1) + counts[:, :size].sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * hits / missed_and_false)


def macro_f1(truth: Codes, predicted: Codes, size: int) -> float:
    """Return the mean F1 over the values that occur; one stray answer is one error, not a whole value with F1 = 0.

    >>> round(macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), 3), 3)
    0.583
    """
    return float(f1_by_value(truth, predicted, size)[np.unique(truth)].mean())


def macro_f1_of_union(truth: Codes, predicted: Codes, size: int) -> float:
    """Return the mean F1 over the values that occur or are predicted, as scikit-learn does unless told otherwise."""
    return float(np.nanmean(f1_by_value(truth, predicted, size)))


def binary_f1(truth: Codes, predicted: Codes) -> float:
    """Return the F1 of the value true; 0 if it neither occurs nor is predicted, as is usual."""
    found = float(f1_by_value(truth, predicted, 2)[1])
    return 0.0 if np.isnan(found) else found


@per_example("label_accuracy", "share of labels that are right")
def label_accuracy(evidence: Evidence) -> Array:
    """Return for each example the share of its labels that are right."""
    right: Array = evidence.labels == evidence.predicted_labels
    return np.asarray(right.mean(axis=1))


@per_example("label_exact", "share of examples with every label right")
def label_exact(evidence: Evidence) -> Array:
    """Return for each example whether every label is right."""
    right: Array = evidence.labels == evidence.predicted_labels
    return right.all(axis=1).astype(float)


@overall("label_f1", "macro F1 of the labels, averaged over labels")
def label_f1(evidence: Evidence) -> float:
    """Return the macro F1 of each label, averaged."""
    columns = enumerate(evidence.knowledge.labels)
    found = [macro_f1(evidence.labels[:, i], evidence.predicted_labels[:, i], len(x.values)) for i, x in columns]
    return float(np.mean(found))


@overall("label_f1_union", "macro F1 of the labels over values that occur or are predicted (scikit-learn's default)")
def label_f1_union(evidence: Evidence) -> float:
    """Return the macro F1 of each label over the values that occur or are predicted, averaged."""
    truth, predicted = evidence.labels, evidence.predicted_labels
    columns = enumerate(evidence.knowledge.labels)
    return float(np.mean([macro_f1_of_union(truth[:, i], predicted[:, i], len(x.values)) for i, x in columns]))


@overall("label_mean_f1", "binary F1 of each true-or-false label, averaged over labels")
def label_mean_f1(evidence: Evidence) -> float:
    """Return mF1(Y): the F1 of "true" for each true-or-false label, averaged."""
    places = [i for i, label in enumerate(evidence.knowledge.labels) if label.kind == "bool"]
    found = [binary_f1(evidence.labels[:, i], evidence.predicted_labels[:, i]) for i in places]
    return float(np.mean(found)) if found else float("nan")


@per_example("concept_accuracy", "share of concepts that are right")
def concept_accuracy(evidence: Evidence) -> Array:
    """Return for each example the share of its concepts that are right, of those that the model speaks of."""
    if not evidence.has_concepts:
        return np.full(len(evidence), np.nan)
    columns = list(evidence.answered)
    right: Array = evidence.concepts[:, columns] == evidence.predicted_concepts[:, columns]
    return np.asarray(right.mean(axis=1))


@per_example("concept_exact", "share of examples with every concept right")
def concept_exact(evidence: Evidence) -> Array:
    """Return for each example whether every concept is right; only for models that speak of all."""
    if len(evidence.answered) < evidence.concepts.shape[1]:
        return np.full(len(evidence), np.nan)
    right: Array = evidence.concepts == evidence.predicted_concepts
    return right.all(axis=1).astype(float)


@overall("concept_f1", "macro F1 of the concepts, pooled over those that share an encoder")
def concept_f1(evidence: Evidence) -> float:
    """Return the macro F1 of each encoder group, its concepts pooled as in rsbench's F1(C), averaged over groups."""
    found = []
    for columns in evidence.groups.values():
        size = evidence.knowledge.space.sizes[columns[0]]
        truth, predicted = evidence.concepts[:, columns], evidence.predicted_concepts[:, columns]
        found.append(macro_f1(truth.ravel(), predicted.ravel(), size))
    return float(np.mean(found)) if found else float("nan")


@overall("concept_mean_f1", "F1 of each concept, averaged over concepts")
def concept_mean_f1(evidence: Evidence) -> float:
    """Return mF1(C): the F1 of each concept column (of "true" where true or false, else macro), averaged."""
    found = []
    for column in evidence.answered:
        concept = evidence.knowledge.space.concepts[column]
        truth, predicted = evidence.concepts[:, column], evidence.predicted_concepts[:, column]
        truth_value = concept.kind == "bool" and len(concept.values) == 2
        score = binary_f1(truth, predicted) if truth_value else macro_f1(truth, predicted, len(concept.values))
        found.append(score)
    return float(np.mean(found)) if found else float("nan")
