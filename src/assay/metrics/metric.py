"""What a metric is, and where it registers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.arrays import Array
from assay.metrics.evidence import Evidence
from assay.registry import Registry

METRICS = Registry("metric", "assay.metrics", "assay.metrics", "assay.metrics.metric:Metric")


@dataclass(frozen=True)
class Metric:
    """A name, which way is better, and a function of evidence.

    `values` gives a number for each example (NaN where the metric does not apply) for metrics that are means; `overall`
    gives one number for all examples together (NaN where it does not apply), for the rest, and `interval` its 95 %
    interval where that is known better than from resamples.
    """

    name: str
    summary: str
    better: Literal["higher", "lower"]
    values: Callable[[Evidence], Array] | None = None
    overall: Callable[[Evidence], float] | None = None
    interval: Callable[[Evidence], tuple[float, float]] | None = None

    def __call__(self, evidence: Evidence) -> float:
        """Return the metric over all examples."""
        if self.values is not None:
            return mean(self.values(evidence))
        if self.overall is None:
            raise TypeError(f"metric {self.name!r} has no function")
        return self.overall(evidence)


def mean(values: Array) -> float:
    """Return the mean of the values that there are, NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def per_example(name: str, summary: str, better: Literal["higher", "lower"] = "higher") -> Callable[..., Metric]:
    """Register a function that gives a number for each example."""

    def register(function: Callable[[Evidence], Array]) -> Metric:
        metric = Metric(name, summary, better, values=function)
        METRICS.add(name, summary, metric)
        return metric

    return register


def overall(
    name: str,
    summary: str,
    better: Literal["higher", "lower"] = "higher",
    interval: Callable[[Evidence], tuple[float, float]] | None = None,
) -> Callable[..., Metric]:
    """Register a function that gives one number for all examples, with an interval of its own or one by resamples."""

    def register(function: Callable[[Evidence], float]) -> Metric:
        metric = Metric(name, summary, better, overall=function, interval=interval)
        METRICS.add(name, summary, metric)
        return metric

    return register
