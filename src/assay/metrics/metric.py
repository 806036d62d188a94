"""What a metric is, and where it registers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.base import Array, Registry
from assay.metrics.evidence import Evidence

METRICS: Registry = Registry("metric", "assay.metrics.registered", "assay.metrics", "assay.metrics.metric:Metric")


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
