"""What a metric is, where it registers, and its score with a 95 % interval.

A mean over examples gets Wilson's interval, a metric that knows its own interval that one, and any other one from
resampled examples. Metrics that are counted see equal rows once, and their resamples are counts drawn anew.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from assay.base import Array, Registry, rng_for
from assay.metrics.evidence import Evidence
from assay.metrics.interval import from_error, of_mean

METRICS: Registry = Registry("metric", "assay.metrics.registered", "assay.metrics", "assay.metrics.metric:Metric")
NORMAL = 1.96
RESAMPLES = 200
FEWEST = 30
"""A score on fewer examples says little, and deserves a warning."""


@dataclass(frozen=True)
class Metric:
    """A name, which way is better, and a function of evidence.

    `values` gives a number for each example (NaN where the metric does not apply) for metrics that are means; `overall`
    gives one number for all examples together (NaN where it does not apply), for the rest, and `interval` its 95 %
    interval where that is known better than from resamples. A metric that is `counted` is given equal rows once,
    without probabilities: its `values` look at their row alone, its `overall` counts each row by `evidence.weights`.
    """

    name: str
    summary: str
    better: Literal["higher", "lower"]
    values: Callable[[Evidence], Array] | None = None
    overall: Callable[[Evidence], float] | None = None
    interval: Callable[[Evidence], tuple[float, float]] | None = None
    counted: bool = False

    def __call__(self, evidence: Evidence) -> float:
        """Return the metric over all examples."""
        rows = self.rows_of(evidence)
        if self.values is not None:
            return mean(self.values(rows), rows.weights)
        if self.overall is None:
            raise TypeError(f"metric {self.name!r} has no function")
        return self.overall(rows)

    def rows_of(self, evidence: Evidence) -> Evidence:
        """Return the rows that the metric looks at: each distinct one once, or every example."""
        return evidence.distinct if self.counted else evidence.singly


def mean(values: Array, weights: Array | None = None) -> float:
    """Return the mean of the values that there are, NaN if there are none; a value may count several times.

    >>> mean(np.array([1.0, 0.0, np.nan]), np.array([3, 1, 5]))
    0.75
    """
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    return float(np.average(values[known], weights=None if weights is None else weights[known]))


def per_example(
    name: str, summary: str, better: Literal["higher", "lower"] = "higher", counted: bool = False
) -> Callable[..., Metric]:
    """Register a function that gives a number for each example; `counted` if it looks at the codes of its row alone."""

    def register(function: Callable[[Evidence], Array]) -> Metric:
        metric = Metric(name, summary, better, values=function, counted=counted)
        METRICS.add(name, summary, metric)
        return metric

    return register


def overall(
    name: str,
    summary: str,
    better: Literal["higher", "lower"] = "higher",
    interval: Callable[[Evidence], tuple[float, float]] | None = None,
    counted: bool = False,
) -> Callable[..., Metric]:
    """Register a function that gives one number for all examples, with an interval of its own or one by resamples.

    It is `counted` if it looks at codes alone and counts each row by `evidence.weights`.
    """

    def register(function: Callable[[Evidence], float]) -> Metric:
        metric = Metric(name, summary, better, overall=function, interval=interval, counted=counted)
        METRICS.add(name, summary, metric)
        return metric

    return register


@dataclass(frozen=True)
class Score:
    """A metric's value on some examples, with a 95 % interval; NaN where the metric does not apply."""

    metric: str
    value: float
    low: float
    high: float
    examples: int

    @property
    def applies(self) -> bool:
        """Whether the metric applies to this model and task."""
        return not math.isnan(self.value)

    @property
    def few(self) -> bool:
        """Whether these are too few examples to say much."""
        return self.examples < FEWEST

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data, None for NaN and for a bound that is infinite."""
        return {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in asdict(self).items()}


def format_score(score: object, interval: bool = True) -> str:
    """Return a score as text, with its interval; a dash where there is none, such as an undefined name of a page."""
    if not isinstance(score, Score) or not score.applies:
        return "–"
    return f"{score.value:.2f} ({score.low:.2f}–{score.high:.2f})" if interval else f"{score.value:.2f}"


def score(
    evidence: Evidence, names: Iterable[str] | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Score]:
    """Return every metric, or those named, with its interval, by resamples where the metric has none of its own.

    Parameters
    ----------
    evidence
        What a model said beside the truth.
    names
        Names in `METRICS`; by default all.
    resamples
        How often examples are drawn again where a metric has no interval of its own.
    seed
        What these draws depend on.
    """
    chosen = [METRICS[name] for name in (METRICS if names is None else names)]
    without = [metric for metric in chosen if metric.values is None and metric.interval is None]
    repeated = _resample(without, evidence, resamples, seed) if without else {}
    return {metric.name: _score(metric, evidence, repeated.get(metric.name, [])) for metric in chosen}


def _resample(metrics: list[Metric], evidence: Evidence, resamples: int, seed: int) -> dict[str, list[float]]:
    """Return what each metric gives on examples drawn with repetition."""
    repeated: dict[str, list[float]] = {metric.name: [] for metric in metrics}
    for alike in ([m for m in metrics if m.counted], [m for m in metrics if not m.counted]):
        rng = rng_for(seed, "bootstrap", evidence.examples)
        for _ in range(resamples if alike else 0):  # one at a time: all together would be 200 times the evidence
            again = _draw_again(alike[0].rows_of(evidence), rng)
            for metric in alike:
                repeated[metric.name].append(metric(again))
    return repeated


def _draw_again(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """Return as many examples, drawn with repetition: rows, or the counts of equal rows, which are multinomial."""
    if evidence.counts is None:
        drawn = np.bincount(rng.integers(len(evidence), size=len(evidence)), minlength=len(evidence))
        return evidence.take(np.repeat(np.arange(len(evidence)), drawn))  # in order, which is read ten times as fast
    counts = rng.multinomial(evidence.examples, evidence.counts / evidence.examples)
    rows = np.flatnonzero(counts)
    return replace(evidence.take(rows), counts=counts[rows])


def _score(metric: Metric, evidence: Evidence, repeated: list[float]) -> Score:
    rows = metric.rows_of(evidence)
    if metric.values is not None:
        return mean_score(metric.name, metric.values(rows), rows.weights)
    value = metric(rows)
    if metric.interval is None or math.isnan(value):
        return score_with_resamples(metric.name, value, repeated, evidence.examples)
    return _around(metric.name, value, metric.interval(rows), evidence.examples)


def mean_score(name: str, values: Array, weights: Array | None = None) -> Score:
    """Return the mean of the values that there are, with its interval; a value may stand for several examples.

    Parameters
    ----------
    name
        The name of the score.
    values
        A value an example; NaN where there is none.
    weights
        How many examples each value stands for.
    """
    value = mean(values, weights)
    bounds = (math.nan, math.nan) if math.isnan(value) else of_mean(values, weights=weights)
    return _around(name, value, bounds, len(values) if weights is None else int(weights.sum()))


def score_with_resamples(name: str, value: float, repeated: list[float], examples: int) -> Score:
    """Return a value with an interval from the standard deviation of what resamples gave."""
    known = np.array([x for x in repeated if not math.isnan(x)])
    if math.isnan(value) or not len(known):
        return Score(name, value, math.nan, math.nan, examples)
    error = float(known.std())
    if min(value, known.min()) >= 0 and max(value, known.max()) <= 1:
        return _around(name, value, from_error(value, error, examples), examples)
    return _around(name, value, (value - NORMAL * error, value + NORMAL * error), examples)


def _around(name: str, value: float, bounds: tuple[float, float], examples: int) -> Score:
    """Return a score whose interval holds its value, whatever rounding did."""
    return Score(name, value, min(bounds[0], value), max(bounds[1], value), examples)
