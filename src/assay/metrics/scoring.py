"""Metrics with 95 % intervals.

A mean over examples gets Wilson's interval, a metric that knows its own interval that one, and any other one from
resampled examples. Metrics that are counted see equal rows once, and their resamples are counts drawn anew.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from assay.base import Array, rng_for
from assay.metrics.evidence import Evidence
from assay.metrics.interval import from_error, of_mean
from assay.metrics.metric import METRICS, Metric, mean

NORMAL = 1.96
RESAMPLES = 200
FEWEST = 30
"""A score on fewer examples says little, and deserves a warning."""


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
    """Return every metric, or those named, with its interval, by resamples where the metric has none of its own."""
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
    """Return the mean of the values that there are, with its interval; a value may stand for several examples."""
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
