"""Ranks of models within their level, with bootstrap intervals over datasets and seeds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, rng_for
from assay.lab.suites.rows import RANKED, BoardMeasure, BoardRow

RESAMPLES = 1000
ENDS = (2.5, 97.5)


@dataclass(frozen=True)
class MeanRank:
    """The mean rank of a model over datasets, 1 the best, with a 95 % interval."""

    model: str
    level: str
    measure: str
    mean: float
    low: float
    high: float
    of: int
    """How many models of the level were ranked."""

    @property
    def text(self) -> str:
        """The rank for a table.

        >>> MeanRank("cbm", "concepts", "label_f1", 1.25, 1.0, 1.5, 4).text
        '1.2 (1.0–1.5)'
        """
        return f"{self.mean:.1f} ({self.low:.1f}–{self.high:.1f})"


def ranks_of(rows: Sequence[BoardRow]) -> list[MeanRank]:
    """Return the ranks of all models by every measure that says which is better, level by level.

    On a dataset that a model refuses, it ranks last. A model to which a measure never applies is not ranked by it.
    """
    ranks = []
    for level in dict.fromkeys(row.level for row in rows):
        own = [row for row in rows if row.level == level]
        for measure in RANKED:
            ranks += _ranks(own, level, measure)
    return ranks


def _ranks(rows: Sequence[BoardRow], level: str, measure: BoardMeasure) -> list[MeanRank]:
    applies = [row for row in rows if not np.isnan(getattr(row, measure.name))]
    models = list(dict.fromkeys(row.model for row in applies))
    if len(models) < 2:
        return []
    datasets = list(dict.fromkeys(row.dataset for row in applies))
    seeds = sorted({row.seed for row in applies})
    values = np.full((len(models), len(datasets), len(seeds)), np.nan)
    for row in applies:
        place = models.index(row.model), datasets.index(row.dataset), seeds.index(row.seed)
        values[place] = getattr(row, measure.name) * (1 if measure.rising else -1)
    mean = rank_each(_seed_means(values)).mean(axis=-1)
    drawn = _resampled(values, level, measure.name)
    low, high = np.percentile(drawn, ENDS, axis=0)
    return [
        MeanRank(model, level, measure.name, float(mean[i]), float(low[i]), float(high[i]), len(models))
        for i, model in enumerate(models)
    ]


def _seed_means(values: Array) -> Array:
    """Return the mean over the seeds that there are, NaN where there is none."""
    known = ~np.isnan(values)
    counts = known.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(axis=-1) / np.where(counts, counts, np.nan))


def rank_each(values: Array) -> Array:
    """Return the rank of each model (a row) on each dataset (a column), 1 the greatest; ties share, NaN comes last.

    There may be further axes before these two.

    >>> rank_each(np.array([[0.9, 0.5], [0.9, np.nan], [0.1, 0.7]])).tolist()
    [[1.5, 2.0], [1.5, 3.0], [3.0, 1.0]]
    """
    known = np.where(np.isnan(values), -np.inf, values)
    own, other = known[..., :, None, :], known[..., None, :, :]
    greater, equal = (other > own).sum(axis=-2), (other == own).sum(axis=-2)
    return np.asarray(1 + greater + (equal - 1) / 2)


def _resampled(values: Array, level: str, measure: str) -> Array:
    """Return the mean ranks of resamples (resamples x models): datasets drawn again, and for each model a seed."""
    models, datasets, _ = values.shape
    rng = rng_for(0, "ranks", level, measure)
    columns = rng.integers(datasets, size=(RESAMPLES, 1, datasets))
    packed = np.take_along_axis(values, np.argsort(np.isnan(values), axis=2, kind="stable"), axis=2)  # NaN last
    counts = (~np.isnan(values)).sum(axis=2)
    rows = np.arange(models)[None, :, None]
    seeds = (rng.random((RESAMPLES, models, datasets)) * np.maximum(counts[rows, columns], 1)).astype(np.int64)
    return np.asarray(rank_each(packed[rows, columns, seeds]).mean(axis=-1))
