"""Metrics with bootstrap intervals."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.metrics import METRICS
from assay.metrics.evidence import Evidence
from assay.metrics.metric import Metric, mean
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
    rng = rng_for(seed, "bootstrap", len(evidence))
    draws = rng.integers(len(evidence), size=(resamples, len(evidence)))
    chosen = [METRICS[name] for name in (METRICS if names is None else names)]
    resampled = [evidence.take(rows) for rows in draws] if any(m.values is None for m in chosen) else []
    return {metric.name: _score(metric, evidence, draws, resampled) for metric in chosen}


def _score(metric: Metric, evidence: Evidence, draws: Any, resampled: list[Evidence]) -> Score:
    if metric.values is not None:
        values = metric.values(evidence)
        value, repeated = mean(values), [mean(values[rows]) for rows in draws]
    else:
        value, repeated = metric(evidence), []
        if not math.isnan(value):
            repeated = [metric(again) for again in resampled]
    known = [x for x in repeated if not math.isnan(x)]
    if math.isnan(value) or not known:
        return Score(metric.name, value, math.nan, math.nan, len(evidence))
    low, high = np.quantile(known, [0.025, 0.975])
    return Score(metric.name, value, float(low), float(high), len(evidence))
