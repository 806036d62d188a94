"""Intervals for averages of shares: macro F1, accuracy averaged over the values of a label or the regions of a rule."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes
from assay.metrics.interval import wilson

LEAST_TOGETHER = 0.01
FOR_VARIANCE, FOR_BIAS = 3.0, 0.5
"""Examples added to each share; these cover best in `benchmarks/coverage.py`."""


@dataclass(frozen=True)
class Average:
    """A weighted mean of shares `right / counted`, or of their F1.

    `influence` says how much the mean rises with the weight of an example of each row, of which there are `examples`;
    the sum of its squares is the variance of the mean by the delta method. Where F1 is averaged, a share is the Jaccard
    index of a value J = hits / (true or predicted), of which the F1 is 2 J / (1 + J).
    """

    right: Array
    counted: Array
    weights: Array
    influence: Array
    examples: Array
    f1: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean.

        It is Wilson's, around the mean less the bias of F1, with as many examples as give its variance. A share of few
        examples shows no variance where all of them are right, so that variances are those of shares with some examples
        added that are right as often as all are. Shares that vary together count by the ratio of the variance of the
        mean to what it were if they did not.
        """
        mean, variance, _ = self._moments(0.0)
        smooth, smooth_variance, _ = self._moments(FOR_VARIANCE)
        middle = min(1.0, max(0.0, mean - self._moments(FOR_BIAS)[2]))
        if variance > 0 and 0 < middle < 1:
            together = max(float((self.examples * self.influence**2).sum()) / variance, LEAST_TOGETHER)
            examples = middle * (1 - middle) / (smooth_variance * together)
        else:
            together = 2.0 if self.f1 else 1.0  # a wrong answer counts against two values
            examples = min(smooth * (1 - smooth) / (smooth_variance * together), int(self.examples.sum()))
        return wilson(middle * examples, examples)

    def _moments(self, added: float) -> tuple[float, float, float]:
        """Return the mean with examples added to each share, its variance if they were independent, and its bias."""
        usual = (self.right.sum() + 0.5) / (self.counted.sum() + 1)
        counted = np.maximum(self.counted, 1)
        shares = (self.right + added * usual) / np.maximum(self.counted + added, 1)
        variances, biases = shares * (1 - shares) / counted, np.zeros(len(shares))
        if self.f1:
            biases = -2 * variances / (1 + shares) ** 3  # half the second derivative of 2 J / (1 + J)
            shares, variances = 2 * shares / (1 + shares), 4 * variances / (1 + shares) ** 4
        return float(self.weights @ shares), float(self.weights**2 @ variances), float(self.weights @ biases)


def interval_of(averages: Sequence[Average]) -> tuple[float, float]:
    """Return the interval of the mean of several averages over the same examples, NaN without any."""
    if not averages:
        return math.nan, math.nan
    right, counted = (np.concatenate(parts) for parts in zip(*((x.right, x.counted) for x in averages), strict=True))
    weights = np.concatenate([x.weights for x in averages]) / len(averages)
    influence = np.mean([x.influence for x in averages], axis=0)
    return Average(right, counted, weights, influence, averages[0].examples, averages[0].f1).interval


def f1_of(truth: Codes, predicted: Codes, values: Array, size: int, examples: Array) -> Average:
    """Return the mean F1 of these values, pooled over the columns of codes; -1 is silence, or truth not known."""
    hit = (truth == predicted) & (truth >= 0)
    often = np.broadcast_to(examples[:, None], truth.shape)
    cells = ((truth, truth >= 0), (predicted, predicted >= 0), (truth, hit))
    true, guessed, hits = (np.bincount(codes[some], often[some], minlength=size) for codes, some in cells)
    total = true + guessed
    weight = np.zeros(size + 1)  # the last place is for silence
    weight[values] = 1 / (len(values) * np.maximum(total, 1)[values])
    lost = weight * np.append(2 * hits / np.maximum(total, 1), 0.0)
    influence = (2 * hit * weight[truth] - lost[truth] - lost[predicted]).sum(axis=1)
    weights = np.full(len(values), 1 / len(values))
    return Average(hits[values], (total - hits)[values], weights, influence, examples, f1=True)


def accuracy_of(right: Array, inside: Array, examples: Array) -> Average:
    """Return the mean accuracy over those regions (the columns of `inside`) that hold examples."""
    inside = inside[:, inside.any(axis=0)].astype(float)
    sizes, hits = examples.astype(float) @ inside, (examples * right).astype(float) @ inside
    influence = (inside * (right[:, None] - hits / sizes) / sizes).mean(axis=1)
    return Average(hits, sizes, np.full(len(sizes), 1 / len(sizes)), influence, examples)
