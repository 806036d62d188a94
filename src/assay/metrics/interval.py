"""Intervals and tests of shares, and shares in words.

Wilson's interval keeps within 0 and 1, and does not shrink to a point when all or none of the examples are right.
From it come intervals for averages of shares: macro F1, accuracy averaged over the values of a label or the regions
of a rule. Tests are exact binomial ones, and Holm's correction for several.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from assay.base import Array, Codes

ROUNDING = 1e-9
ADDED = 2
"""Examples of 0 or 1 that are added to a variance, since a few values may differ too little by chance."""
LEAST_TOGETHER = 0.01
FOR_VARIANCE, FOR_BIAS = 3.0, 0.5
"""Examples added to each share; these cover best in `benchmarks/coverage.py`."""


def wilson(right: float, examples: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share; both numbers may be fractions.

    Parameters
    ----------
    right
        How many are right; need not be whole.
    examples
        Of how many.
    confidence
        How often the interval shall hold the true share.

    >>> [round(x, 3) for x in wilson(20, 20)]
    [0.839, 1.0]
    """
    if examples <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = right / examples
    centre = share + z * z / (2 * examples)
    half = z * math.sqrt(max(0.0, share * (1 - share)) / examples + z * z / (4 * examples * examples))
    low, high = ((centre + side) / (1 + z * z / examples) for side in (-half, half))
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def of_mean(values: Array, confidence: float = 0.95, weights: Array | None = None) -> tuple[float, float]:
    """Return an interval for the mean of what each example gives, NaN left out; a value may stand for several examples.

    Values in [0, 1] give Wilson's interval of n p (1 - p) / variance examples: n where each value is 0 or 1, more where
    an example is the mean of several answers. Other values give Student's t interval.

    Parameters
    ----------
    values
        A value an example.
    confidence
        How often the interval shall hold the true mean.
    weights
        How many examples each value stands for.

    >>> [round(x, 3) for x in of_mean(np.array([1.0, 1.0, 0.0, 1.0]))]
    [0.301, 0.954]
    """
    values = np.asarray(values, dtype=float)
    known = ~np.isnan(values)
    values, weights = values[known], np.ones(int(known.sum())) if weights is None else weights[known]
    count = int(weights.sum())
    value, variance = _moments(values, weights) if count else (0.0, 0.0)
    if count and (values.min() < 0 or values.max() > 1):
        least = 0.0 if values.min() >= 0 else -math.inf
        return _student(value, variance, count, least, confidence)
    if variance > ROUNDING**2:
        variance = (count * variance + ADDED * value * (1 - value)) / (count + ADDED)
    return from_error(value, math.sqrt(variance / max(count, 1)), count, confidence)


def of_difference(values: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Return Student's t interval for the mean of differences, one an example; without bounds for one example.

    >>> [round(x, 3) for x in of_difference(np.array([0.1, 0.3, 0.2]))]
    [-0.048, 0.448]
    """
    value, variance = _moments(np.asarray(values, dtype=float), np.ones(len(values))) if len(values) else (0.0, 0.0)
    return _student(value, variance, len(values), -math.inf, confidence)


def from_error(value: float, standard_error: float, examples: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a value in [0, 1] with a known standard error, `examples` where that is 0.

    >>> [round(x, 3) for x in from_error(0.9, 0.03, 100)]  # as 90 right of 100
    [0.826, 0.945]
    """
    bounded = value * (1 - value)
    effective = bounded / standard_error**2 if standard_error > ROUNDING and bounded > 0 else examples
    return wilson(value * effective, effective, confidence)


def _moments(values: Array, weights: Array) -> tuple[float, float]:
    """Return the mean and the variance."""
    value = np.average(values, weights=weights)
    return float(value), float(np.average((values - value) ** 2, weights=weights))


def _student(value: float, variance: float, count: int, least: float, confidence: float) -> tuple[float, float]:
    """Return Student's t interval of a mean, not below the least that it can be; without bounds for one example."""
    from scipy.special import stdtrit

    if count < 2:
        return least, math.inf
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * math.sqrt(variance / (count - 1))
    return max(least, value - half), value + half


def at_least(right: int, examples: int, share: float) -> float:
    """Return the chance of at least so many right if the true share is `share`: a small one says that it is above.

    Parameters
    ----------
    right
        How many are right.
    examples
        Of how many.
    share
        The chance of each under the null hypothesis.

    >>> round(at_least(9, 10, 0.5), 4)
    0.0107
    """
    from scipy.special import betainc

    return 1.0 if right <= 0 else float(betainc(right, examples - right + 1, share))


def at_most(right: int, examples: int, share: float) -> float:
    """Return the chance of at most so many right if the true share is `share`: a small one says that it is below.

    Parameters
    ----------
    right
        How many are right.
    examples
        Of how many.
    share
        The chance of each under the null hypothesis.

    >>> round(at_most(1, 10, 0.5), 4)
    0.0107
    """
    return at_least(examples - right, examples, 1 - share)


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Return which of several tests are significant together: Holm's step-down keeps any false alarm below `level`.

    >>> holm([0.04, 0.001, 0.03])
    [False, True, False]
    """
    significant = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda i: (math.isnan(p_values[i]), p_values[i]))):
        if not p_values[place] <= level / (len(p_values) - rank):
            break
        significant[place] = True
    return significant


def percent(share: float) -> str:
    """Return a share as a percentage that says 0 or 100 only where it is exactly so.

    >>> percent(0.999), percent(1.0), percent(0.001)
    ('99.9 %', '100 %', '0.1 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


def share_of(right: int, examples: int) -> str:
    """Return a share with its interval and its number of examples.

    >>> share_of(45, 50)
    '90 % (79 to 96 %) of 50'
    """
    low, high = wilson(right, examples)
    return f"{percent(right / max(1, examples))} ({_end(low)} to {_end(high)} %) of {examples:,}"


def _end(share: float) -> str:
    """Return an end of an interval in per cent; one decimal where it is near to 0 or 100 and not there."""
    whole = share in (0.0, 1.0) or 0.01 <= share <= 0.99
    return f"{100 * share:.0f}" if whole else f"{min(max(100 * share, 0.1), 99.9):.1f}"


@dataclass(frozen=True)
class Between:
    """A number that lies between two others; known exactly if they are the same."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high


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
