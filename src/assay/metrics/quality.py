"""How right a model is: accuracy and F1 of labels and concepts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.base import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.interval import f1_of, interval_of
from assay.metrics.metric import Metric, overall, per_example


def confusion(truth: Codes, predicted: Codes, size: int, weights: Array | None = None) -> Array:
    """Return how often each true value was predicted as each value; the last column counts silence.

    Rows whose true value is not known (-1) are left out; a row may stand for several.

    Parameters
    ----------
    truth
        True codes; rows of -1 are left out.
    predicted
        Predicted codes; -1, nothing said, is the last column.
    size
        How many values there are.
    weights
        How many examples each row stands for.

    >>> confusion(np.array([0, 1, 1]), np.array([0, 0, -1]), 2).tolist()
    [[1, 0, 0], [1, 0, 1]]
    """
    known = truth >= 0
    predicted, truth, weights = predicted[known], truth[known], None if weights is None else weights[known]
    columns = np.where(predicted < 0, size, predicted)
    counts = np.bincount(truth * (size + 1) + columns, weights, minlength=size * (size + 1))
    return counts.reshape(size, size + 1).astype(np.int64)


def f1_by_value(truth: Codes, predicted: Codes, size: int, weights: Array | None = None) -> Array:
    """Return the F1 of each value, NaN for a value that neither occurs nor is predicted."""
    counts = confusion(truth, predicted, size, weights)
    hits = np.diag(counts).astype(float)
    missed_and_false = counts.sum(axis=1) + counts[:, :size].sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * hits / missed_and_false)


def macro_f1(truth: Codes, predicted: Codes, size: int) -> float:
    """Return the mean F1 over the values that occur; one stray answer is one error, not a whole value with F1 = 0.

    >>> round(macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), 3), 3)
    0.583
    """
    return float(f1_by_value(truth, predicted, size)[occurring(truth, predicted)].mean())


@per_example("label_accuracy", "share of labels that are right", counted=True)
def label_accuracy(evidence: Evidence) -> Array:
    """Return for each example the share of its labels that are right."""
    right: Array = evidence.labels == evidence.predicted_labels
    return np.asarray(right.mean(axis=1))


@per_example("label_exact", "share of examples with every label right", counted=True)
def label_exact(evidence: Evidence) -> Array:
    """Return for each example whether every label is right."""
    right: Array = evidence.labels == evidence.predicted_labels
    return right.all(axis=1).astype(float)


@per_example("concept_accuracy", "share of concepts that are right", counted=True)
def concept_accuracy(evidence: Evidence) -> Array:
    """Return for each example the share of its known concepts that are right, of those that the model speaks of."""
    if not evidence.has_concepts:
        return np.full(len(evidence), np.nan)
    columns = list(evidence.answered)
    right: Array = evidence.concepts[:, columns] == evidence.predicted_concepts[:, columns]
    return _mean_of_known(right, evidence.known[:, columns])


def _mean_of_known(values: Array, known: Array) -> Array:
    """Return the mean of each row over the cells that are known, NaN where none is."""
    if known.all():
        return np.asarray(values.mean(axis=1))
    counts = known.sum(axis=1)
    return np.where(counts > 0, (values & known).sum(axis=1) / np.maximum(counts, 1), np.nan)


@per_example("concept_exact", "share of examples with every concept right", counted=True)
def concept_exact(evidence: Evidence) -> Array:
    """Return for each example whether every concept is right; only for models that speak of all, where all is known."""
    if len(evidence.answered) < evidence.concepts.shape[1]:
        return np.full(len(evidence), np.nan)
    right: Array = evidence.concepts == evidence.predicted_concepts
    return np.where(evidence.known.all(axis=1), right.all(axis=1).astype(float), np.nan)


@dataclass(frozen=True)
class F1Part:
    """Columns of codes that one F1 pools, and the values over which it is averaged."""

    truth: Codes
    predicted: Codes
    size: int
    values: Array
    weights: Array
    """How many examples each row stands for."""

    @property
    def f1(self) -> float:
        """The mean F1 of the values; 0 for one that neither occurs nor is predicted."""
        if not len(self.values):
            return float("nan")  # no true value is known
        often = np.repeat(self.weights, self.truth.shape[1])
        by_value = f1_by_value(self.truth.ravel(), self.predicted.ravel(), self.size, often)
        return float(np.nan_to_num(by_value[self.values]).mean())


def f1_metric(name: str, summary: str, parts: Callable[[Evidence], list[F1Part]], counted: bool = True) -> Metric:
    """Register the mean F1 of some parts of the evidence; not counted if they look at probabilities."""

    def value(evidence: Evidence) -> float:
        scores = [part.f1 for part in parts(evidence)]
        scores = [score for score in scores if not np.isnan(score)]
        return float(np.mean(scores)) if scores else float("nan")

    def interval(evidence: Evidence) -> tuple[float, float]:
        known = [part for part in parts(evidence) if len(part.values)]
        return interval_of([f1_of(part.truth, part.predicted, part.values, part.size, part.weights) for part in known])

    metric: Metric = overall(name, summary, interval=interval, counted=counted)(value)
    return metric


def occurring(truth: Codes, predicted: Codes) -> Array:
    """Return the values that occur."""
    values = np.unique(truth)
    return values[values >= 0]


def occurring_or_predicted(truth: Codes, predicted: Codes) -> Array:
    """Return the values that occur or are predicted."""
    values = np.union1d(truth, predicted)
    return values[values >= 0]


def _of_labels(evidence: Evidence, values: Callable[[Codes, Codes], Array]) -> list[F1Part]:
    """Return each label with these of its values."""
    parts = []
    for place, label in enumerate(evidence.knowledge.labels):
        truth, predicted = evidence.labels[:, [place]], evidence.predicted_labels[:, [place]]
        parts.append(F1Part(truth, predicted, len(label.values), values(truth, predicted), evidence.weights))
    return parts


def _of_occurring_labels(evidence: Evidence) -> list[F1Part]:
    """Return each label with the likeliest of the values that occur as the answer, as rsbench scores MNAdd.

    Where all values occur this is nothing of its own.
    """
    parts: list[F1Part] = []
    if all(len(part.values) == part.size for part in _of_labels(evidence.distinct, occurring)):
        return parts
    labels = _of_labels(evidence, occurring)
    for part, probabilities in zip(labels, evidence.label_probabilities, strict=True):
        if probabilities is None:
            return []
        likeliest = part.values[probabilities[:, part.values].argmax(axis=1)]
        parts.append(replace(part, predicted=likeliest[:, None]))
    return parts


def _of_true_labels(evidence: Evidence) -> list[F1Part]:
    """Return each true-or-false label with the value "true", for mF1(Y)."""
    parts = zip(_of_labels(evidence, lambda *_: np.array([1])), evidence.knowledge.labels, strict=True)
    return [part for part, label in parts if label.kind == "bool"]


def _of_groups(evidence: Evidence, values: Callable[[Codes, Codes], Array]) -> list[F1Part]:
    """Return each encoder group, its concepts pooled, with these of its values."""
    sizes, parts = evidence.knowledge.space.sizes, []
    for columns in evidence.groups.values():
        truth, predicted = evidence.concepts[:, columns], evidence.judged_concepts[:, columns]
        parts.append(F1Part(truth, predicted, sizes[columns[0]], values(truth, predicted), evidence.weights))
    return parts


def _of_concepts(evidence: Evidence) -> list[F1Part]:
    """Return each concept with the value "true" where it is true or false, else with those that occur, for mF1(C)."""
    parts = []
    for column in evidence.answered:
        concept = evidence.knowledge.space.concepts[column]
        truth, predicted = evidence.concepts[:, [column]], evidence.judged_concepts[:, [column]]
        truth_value = concept.kind == "bool" and len(concept.values) == 2 and bool(evidence.known[:, column].any())
        values = np.array([1]) if truth_value else occurring(truth, predicted)
        parts.append(F1Part(truth, predicted, len(concept.values), values, evidence.weights))
    return parts


label_f1 = f1_metric(
    "label_f1",
    "macro F1 of the labels over the values that occur, averaged over labels",
    lambda evidence: _of_labels(evidence, occurring),
)
rsbench_label_f1 = f1_metric(
    "rsbench_label_f1",
    "rsbench's F1(Y): as label_f1, but over the values that occur or are predicted",
    lambda evidence: _of_labels(evidence, occurring_or_predicted),
)
closed_label_f1 = f1_metric(
    "closed_label_f1",
    "rsbench's F1(Y) of MNAdd: as label_f1, when the model may only answer with values that occur",
    _of_occurring_labels,
    counted=False,
)
label_mean_f1 = f1_metric(
    "label_mean_f1", "binary F1 of each true-or-false label, averaged over labels", _of_true_labels
)
concept_f1 = f1_metric(
    "concept_f1",
    "macro F1 of the concepts over the values that occur, pooled over concepts that share an encoder",
    lambda evidence: _of_groups(evidence, occurring),
)
rsbench_concept_f1 = f1_metric(
    "rsbench_concept_f1",
    "rsbench's F1(C): as concept_f1, but over the values that occur or are predicted",
    lambda evidence: _of_groups(evidence, occurring_or_predicted),
)
concept_mean_f1 = f1_metric("concept_mean_f1", "F1 of each concept, averaged over concepts", _of_concepts)
