"""What a board shows: for each model and dataset the verdicts over seeds with their numbers, or why there are none.

Models are ranked within their level, with bootstrap intervals over datasets and seeds.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from assay.base import Array, rng_for
from assay.diagnosis import VERSION, Tone, kinds_in_order, meaning_of
from assay.lab.suites.rows import MEASURES, RANKED, BoardMeasure, BoardRow
from assay.lab.suites.suite import Suite, SuiteDataset
from assay.reporting import Table

NONE = "–"
TONES = get_args(Tone)
NOT_HERE = "A finding of a package that is not installed here."


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


RESAMPLES = 1000
ENDS = (2.5, 97.5)


@dataclass(frozen=True)
class BoardCell:
    """One model on one dataset, over its seeds."""

    model: str
    dataset: str
    rows: tuple[BoardRow, ...]

    @cached_property
    def judged(self) -> tuple[BoardRow, ...]:
        """The rows that have a verdict."""
        return tuple(row for row in self.rows if row.status == "done")

    @cached_property
    def verdicts(self) -> tuple[tuple[str, int], ...]:
        """Each verdict with the number of seeds, the most frequent first, of equally frequent ones the gravest."""
        counts = Counter(row.verdict for row in self.judged)
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], _place(pair[0]), pair[0])))

    @property
    def verdict(self) -> str:
        """The most frequent verdict, or that the model was refused or broke; empty where it was not run."""
        if self.verdicts:
            return self.verdicts[0][0]
        return self.rows[0].status if self.rows else ""

    @property
    def seeds(self) -> str:
        """How many seeds say so.

        >>> said = ("sound", "noisy", "sound")
        >>> rows = [BoardRow("s", "d", "m", "rule", seed, "done", verdict=verdict) for seed, verdict in enumerate(said)]
        >>> BoardCell("m", "d", tuple(rows)).seeds
        '2 of 3'
        """
        return f"{self.verdicts[0][1]} of {len(self.judged)}" if self.verdicts else ""

    @property
    def other(self) -> str:
        """The verdicts of the other seeds."""
        return ", ".join(f"{verdict} {count}" for verdict, count in self.verdicts[1:])

    @property
    def tone(self) -> str:
        """How the verdict is coloured."""
        if self._typical is None:
            return "none"
        return self._typical.tone if self.verdict in kinds_in_order() and self._typical.tone in TONES else "unknown"

    @property
    def why(self) -> str:
        """The reason of the verdict, or why there is none."""
        if self._typical:
            return self._typical.why
        return self.rows[0].reason if self.rows else "not run"

    @property
    def _typical(self) -> BoardRow | None:
        return next((row for row in self.judged if row.verdict == self.verdict), None)

    @property
    def grave(self) -> int:
        """Where the verdict stands for sorting: the best last among verdicts, no verdict before all."""
        return _place(self.verdict) + 1 if self.verdicts else 0

    def values(self, measure: str) -> list[float]:
        """Return the values of a measure that apply."""
        found = [float(getattr(row, measure)) for row in self.judged]
        return [value for value in found if not math.isnan(value)]

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over seeds, NaN where it does not apply."""
        values = self.values(measure)
        return float(np.mean(values)) if values else math.nan

    def short(self, measure: str) -> str:
        """Return the mean of a measure over seeds, a dash where it does not apply."""
        mean = self.mean(measure)
        if math.isnan(mean):
            return NONE
        return f"{mean:,.0f}" if mean > 10 else f"{mean:.2f}"  # counts and seconds, or shares

    def text(self, measure: str) -> str:
        """Return the mean of a measure over seeds with its standard deviation."""
        values = self.values(measure)
        spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 and max(values) <= 10 else ""
        return self.short(measure) + spread


@dataclass(frozen=True)
class BoardModel:
    """A row of the board: a model with its cells, in the order of the datasets."""

    name: str
    level: str
    link: str
    cells: tuple[BoardCell, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many datasets have each verdict."""
        return dict(Counter(cell.verdict for cell in self.cells if cell.verdict))

    @property
    def sound(self) -> int:
        """On how many datasets it is sound."""
        return self.counts.get("sound", 0)


@dataclass(frozen=True)
class SuiteBoard:
    """All rows of a suite, ordered for a page."""

    suite: Suite
    rows: tuple[BoardRow, ...]

    @cached_property
    def datasets(self) -> tuple[SuiteDataset, ...]:
        """The datasets that any row is about, in the order of the suite."""
        there = {row.dataset for row in self.rows}
        return tuple(data for name, data in self.suite.datasets.items() if name in there)

    @cached_property
    def models(self) -> tuple[BoardModel, ...]:
        """The models, level by level, those that are sound on most datasets first."""
        firsts = {row.model: row for row in reversed(self.rows)}
        models = [self._model(name, row) for name, row in firsts.items()]
        levels = list(self.suite.levels)
        return tuple(sorted(models, key=lambda model: (levels.index(model.level), -model.sound, model.name)))

    def _model(self, name: str, first: BoardRow) -> BoardModel:
        cells = []
        for data in self.datasets:
            own = tuple(row for row in self.rows if (row.model, row.dataset) == (name, data.name))
            cells.append(BoardCell(name, data.name, own))
        return BoardModel(name, first.level, first.link, tuple(cells))

    def on(self, dataset: str) -> list[tuple[BoardModel, BoardCell]]:
        """Return each model with its cell of a dataset."""
        place = [data.name for data in self.datasets].index(dataset)
        return [(model, model.cells[place]) for model in self.models]

    @cached_property
    def ranks(self) -> dict[tuple[str, str], MeanRank]:
        """The ranks by model and measure."""
        return {(rank.model, rank.measure): rank for rank in ranks_of(self.rows)}

    @property
    def measures(self) -> tuple[BoardMeasure, ...]:
        """The measures that pages list."""
        return MEASURES

    @property
    def meanings(self) -> dict[str, str]:
        """The verdicts that occur, with what they say, the gravest first."""
        there = {row.verdict for row in self.rows if row.status == "done"}
        return {kind: meaning_of(kind) or NOT_HERE for kind in sorted(there, key=lambda kind: (_place(kind), kind))}

    @property
    def older(self) -> int:
        """How many verdicts are of an older version of the diagnosis."""
        return sum(row.diagnosis < VERSION for row in self.rows if row.status == "done")

    @property
    def thresholds(self) -> dict[str, str]:
        """The thresholds of rows that are not the defaults, with their values."""
        changed: dict[str, set[float]] = {}
        for row in self.rows:
            for name, value in row.thresholds.items():
                changed.setdefault(name, set()).add(float(value))
        return {name: " or ".join(f"{value:g}" for value in sorted(changed[name])) for name in sorted(changed)}

    @property
    def refusals(self) -> list[tuple[str, str, list[str]]]:
        """The models that take a dataset not, with the reason and the datasets: a reason that is shared is one line."""
        groups: dict[tuple[str, str], list[str]] = {}
        for model in self.models:
            for cell in model.cells:
                if cell.rows and not cell.judged:
                    groups.setdefault((model.name, f"{cell.verdict}: {cell.why}"), []).append(cell.dataset)
        return [(model, reason, names) for (model, reason), names in groups.items()]

    @property
    def verdict_table(self) -> Table:
        """The verdicts as a table: a row for each model, a column for each dataset."""
        head = ("level", "model", *(data.name for data in self.datasets))
        rows = []
        for model in self.models:
            cells = [f"{cell.verdict} {cell.seeds}".strip() or NONE for cell in model.cells]
            rows.append((model.level, model.name, *cells))
        note = "The most frequent verdict over seeds, and how many seeds have it."
        return Table(f"{self.suite.name}: verdicts", head, tuple(rows), 2, note)

    @property
    def rank_table(self) -> Table:
        """The mean ranks as a table, models of a level among themselves."""
        head = ("level", "model", *(measure.title for measure in RANKED))
        rows = []
        for model in self.models:
            found = [self.ranks.get((model.name, measure.name)) for measure in RANKED]
            if any(found):
                rows.append((model.level, model.name, *(NONE if rank is None else rank.text for rank in found)))
        note = (
            "The mean rank over datasets among the models of the level, 1 the best, with a 95 % interval from 1,000 "
            "resamples of datasets and seeds. A model that refuses a dataset ranks last there."
        )
        return Table(f"{self.suite.name}: mean ranks within each level", head, tuple(rows), 2, note)


def _place(kind: str) -> int:
    """Return where a verdict stands among all, the gravest first; one that is not registered here counts as gravest."""
    order = kinds_in_order()
    return order.index(kind) + 1 if kind in order else 0
