"""Metrics with bootstrap intervals."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.metrics import METRICS
from assay.metrics.evidence import Evidence
from assay.metrics.metric import mean
from assay.seeds import rng_for

RESAMPLES = 200


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

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data, None for NaN."""
        return {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in asdict(self).items()}


def score(
    evidence: Evidence, names: Iterable[str] | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Score]:
    """Return every metric, or those named, with intervals from resampled examples."""
    chosen = [METRICS[name] for name in (METRICS if names is None else names)]
    means = {metric.name: metric.values(evidence) for metric in chosen if metric.values is not None}
    value = {metric.name: metric(evidence) for metric in chosen}
    others = [metric for metric in chosen if metric.name not in means and not math.isnan(value[metric.name])]
    repeated: dict[str, list[float]] = {name: [] for name in value}
    for rows in rng_for(seed, "bootstrap", len(evidence)).integers(len(evidence), size=(resamples, len(evidence))):
        for name, values in means.items():
            repeated[name].append(mean(values[rows]))
        again = evidence.take(rows) if others else evidence
        for metric in others:
            repeated[metric.name].append(metric(again))
    return {name: scored(name, value[name], repeated[name], len(evidence)) for name in value}


def scored(name: str, value: float, repeated: list[float], examples: int) -> Score:
    """Return a value with the interval of what resamples gave."""
    known = [x for x in repeated if not math.isnan(x)]
    if math.isnan(value) or not known:
        return Score(name, value, math.nan, math.nan, examples)
    low, high = np.quantile(known, [0.025, 0.975]).tolist()
    # a resample holds fewer distinct examples, which moves collapse and calibration to one side
    return Score(name, value, min(low, value), max(high, value), examples)
