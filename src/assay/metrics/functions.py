"""Metrics as plain functions of arrays, for who has no dataset of ours; and as objects that a training loop feeds.

`truth` and `predicted` hold codes: whole numbers from 0, a row an example, one column or several; -1 is "nothing said"
in what is predicted, "unknown" in the truth, where it is left out. Two or more columns of floating-point numbers are
the probabilities (or logits) of the values of one label or concept; a list of such arrays is one for each. They may
be numpy arrays, lists, tensors of any device or data frames. The numbers are those of the metrics of the same name.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.base import Codes, DataError, as_array
from assay.logic import Knowledge
from assay.metrics.concept_collapse import collapse as collapse_of_values
from assay.metrics.quality import macro_f1

Groups = Sequence[Sequence[int]]
"""Columns that share an encoder, whose values are pooled; by default each column is by itself."""


def accuracy(truth: Any, predicted: Any) -> float:
    """Return the share of entries that are right.

    >>> accuracy([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    true, said = _pair(truth, predicted)
    return float((true == said)[true >= 0].mean())


def exact_match(truth: Any, predicted: Any) -> float:
    """Return the share of examples with every column right.

    >>> exact_match([[0, 1], [1, 1]], [[0, 1], [1, 0]])
    0.5
    """
    true, said = _pair(truth, predicted)
    return float(((true == said) | (true < 0)).all(axis=1).mean())


def label_f1(truth: Any, predicted: Any) -> float:
    """Return the macro F1 over the values that occur, averaged over columns.

    >>> round(label_f1([0, 0, 1, 1], [0, 1, 1, 1]), 3)
    0.733
    """
    return concept_f1(truth, predicted)


def concept_f1(truth: Any, predicted: Any, groups: Groups | None = None) -> float:
    """Return the macro F1 over the values that occur, columns of a group pooled, averaged over groups.

    Parameters
    ----------
    truth
        True codes, a column a concept.
    predicted
        Codes or probabilities.
    groups
        Columns that share an encoder, whose values are pooled; by default each is by itself.

    >>> round(concept_f1([[0, 1], [1, 0]], [[0, 1], [0, 0]], groups=[[0, 1]]), 3)
    0.733
    """
    return _mean_over_groups(truth, predicted, groups, _f1)


def collapse(truth: Any, predicted: Any, groups: Groups | None = None) -> float:
    """Return 1 - (values predicted) / (values predicted or true), averaged over groups of columns.

    Parameters
    ----------
    truth
        True codes, a column a concept.
    predicted
        Codes or probabilities.
    groups
        Columns that share an encoder, whose values are pooled; by default each is by itself.

    >>> collapse([0, 1, 2, 3], [0, 0, 2, 2])
    0.5
    """
    return _mean_over_groups(truth, predicted, groups, collapse_of_values)


def rule_consistency(labels: Any, concepts: Any, knowledge: Knowledge) -> float:
    """Return the share of examples whose predicted labels follow by the rule from the predicted concepts.

    Examples in which a concept is not spoken of are left out; NaN if there are no others.

    Parameters
    ----------
    labels
        Predicted labels, as codes or probabilities.
    concepts
        Predicted concepts, a column or array for each.
    knowledge
        The rule for these concepts and labels.

    >>> from assay.logic.concepts import bits
    >>> rule_consistency([1, 1], [[1, 0], [0, 0]], Knowledge.of(bits(["a", "b"]), {"y": "a or b"}))
    0.5
    """
    said, read = class_indices(labels), class_indices(concepts)
    columns = len(knowledge.label_names), len(knowledge.space.names)
    if len(said) != len(read) or (said.shape[1], read.shape[1]) != columns:
        raise DataError(
            f"expected {columns[0]} columns of labels and {columns[1]} of concepts, with as many rows, "
            f"not shapes {said.shape} and {read.shape}"
        )
    known = (read >= 0).all(axis=1)
    if not known.any():
        return float("nan")
    return float((knowledge.labels_of(read[known]) == said[known]).all(axis=1).mean())


class RunningMetric:
    """A metric that is fed batch by batch, as those of `torchmetrics`: `update`, `compute`, `reset`.

    It keeps the codes of all batches, so that the result is that of the function on all examples at once.

    >>> metric = RunningMetric(concept_f1)
    >>> metric.update([0, 1], [0, 1])
    >>> metric.update([[0.9, 0.1], [0.2, 0.8]], [1, 1])
    >>> metric.compute() == concept_f1([0, 1, 1, 1], [0, 1, 0, 1])
    True
    """

    def __init__(self, function: Callable[..., float], **options: Any) -> None:
        self.function = function
        self.options = options
        self.batches: list[tuple[Codes, Codes]] = []

    def __repr__(self) -> str:
        rows = sum(len(truth) for truth, _ in self.batches)
        return f"RunningMetric({getattr(self.function, '__name__', self.function)}, {rows} examples)"

    def __call__(self, preds: Any, target: Any) -> float:
        """Add a batch, and return the metric of this batch alone."""
        self.update(preds, target)
        truth, predicted = self.batches[-1]
        return float(self.function(truth, predicted, **self.options))

    def update(self, preds: Any, target: Any) -> None:
        """Add a batch: what was predicted, then the truth, in the order of `torchmetrics`."""
        self.batches.append((class_indices(target), class_indices(preds)))

    def compute(self) -> float:
        """Return the metric of all batches since the last reset."""
        if not self.batches:
            raise DataError("the metric has seen no example; call update(preds, target) first")
        truth, predicted = (np.concatenate(parts) for parts in zip(*self.batches, strict=True))
        return float(self.function(truth, predicted, **self.options))

    def reset(self) -> None:
        """Forget all batches."""
        self.batches = []


def class_indices(given: Any) -> Codes:
    """Return codes or probabilities as codes, a row an example and a column a label or concept.

    >>> class_indices([0, 2]).tolist(), class_indices([[0.1, 0.9]]).tolist(), class_indices([[0, 1], [1, 1]]).tolist()
    ([[0], [2]], [[1]], [[0, 1], [1, 1]])
    """
    if isinstance(given, (list, tuple)) and given and all(np.ndim(as_array(part)) == 2 for part in given):
        return np.concatenate([class_indices(part) for part in given], axis=1)
    array = as_array(given)
    if array.ndim not in (1, 2) or not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise DataError(f"expected codes or probabilities in one or two dimensions, not {array.dtype} of {array.shape}")
    if array.ndim == 1:
        array = array[:, None]
    elif np.issubdtype(array.dtype, np.floating) and array.shape[1] > 1 and np.isfinite(array).all():
        return np.asarray(array.argmax(axis=1)[:, None])
    if not np.isfinite(array).all() or (array != np.rint(array)).any() or (array < -1).any():
        raise DataError("codes must be whole numbers from 0, or -1 for unknown; one column of probabilities is no code")
    return array.astype(np.int64)


def _pair(truth: Any, predicted: Any) -> tuple[Codes, Codes]:
    true, said = class_indices(truth), class_indices(predicted)
    if true.shape != said.shape or not len(true):
        raise DataError(f"expected as many predictions as there are true values, not {said.shape} for {true.shape}")
    return true, said


def _mean_over_groups(
    truth: Any, predicted: Any, groups: Groups | None, function: Callable[[Codes, Codes], float]
) -> float:
    """Return the mean of a function over groups of columns, in each of which what is known of the truth is pooled."""
    true, said = _pair(truth, predicted)
    chosen: Groups = [[place] for place in range(true.shape[1])] if groups is None else groups
    if any(place not in range(true.shape[1]) for columns in chosen for place in columns):
        raise DataError(f"groups: there are columns 0 to {true.shape[1] - 1}, not all of {[list(c) for c in chosen]}")
    numbers = []
    for columns in chosen:
        pooled, answers = true[:, list(columns)].ravel(), said[:, list(columns)].ravel()
        known = pooled >= 0
        if known.any():
            numbers.append(function(pooled[known], answers[known]))
    return float(np.mean(numbers)) if numbers else float("nan")


def _f1(truth: Codes, predicted: Codes) -> float:
    return macro_f1(truth, predicted, int(max(truth.max(), predicted.max())) + 1)
