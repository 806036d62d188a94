"""Numbers over seeds: mean, deviation, interval, and whether two models differ, compared seed by seed.

Numbers that were published stand beside them.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from assay.base import Array, ConfigError, PlottedValue, rng_for
from assay.lab.steps import PLAIN
from assay.lab.studies.records import Record
from assay.lab.studies.study import Study

MOST_FLIPS = 14
"""Up to so many pairs, all sign flips are gone through; beyond, so many thousand are drawn."""
DRAWN = 10_000
ROUNDING = 1e-12
ALL = "all"
"""The task of numbers that are means over the tasks of a study."""
KEYS = ("task", "model", "metric", "split", "challenge", "value", "deviation", "source")


class RecordKey(NamedTuple):
    """What a record is about: everything but the seed and the fold."""

    task: str
    challenge: str
    model: str
    split: str
    metric: str


@dataclass(frozen=True)
class SeedSummary:
    """A metric over seeds and folds, with a 95 % interval of its mean (Student's t)."""

    key: RecordKey
    mean: float
    deviation: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Comparison:
    """A model against the baseline on pairs with the same seed and fold: mean difference, its interval, and p."""

    key: RecordKey
    baseline: str
    difference: float
    low: float
    high: float
    p: float
    differences: tuple[float, ...]
    """The difference of each pair."""

    @property
    def pairs(self) -> int:
        """How many pairs were compared."""
        return len(self.differences)


def summaries(records: Sequence[Record], over_all: bool = False) -> dict[RecordKey, SeedSummary]:
    """Return the mean of every number over seeds and folds; runs to which a metric does not apply are left out.

    With `over_all` there are also means over all tasks, as those of a task `all`.
    """
    values: dict[RecordKey, list[float]] = defaultdict(list)
    for record in [*records, *(over_tasks(records) if over_all else ())]:
        if not math.isnan(record.value):
            values[record_key(record)].append(record.value)
    return {key: _summary(key, np.array(column)) for key, column in values.items()}


def over_tasks(records: Sequence[Record]) -> list[Record]:
    """Return the mean over all tasks of each number that all of them have, as records of a task `all`."""
    tasks = {record.task for record in records}
    groups: dict[tuple[str, str, str, str, int, int], list[Record]] = defaultdict(list)
    for record in records:
        if not math.isnan(record.value):
            same = (record.challenge, record.model, record.split, record.metric, record.seed, record.fold)
            groups[same].append(record)
    whole = [group for group in groups.values() if {record.task for record in group} == tasks]
    return [replace(group[0], task=ALL, value=float(np.mean([record.value for record in group]))) for group in whole]


def record_key(record: Record) -> RecordKey:
    """Return what a record is about."""
    return RecordKey(record.task, record.challenge, record.model, record.split, record.metric)


def _summary(key: RecordKey, values: Array) -> SeedSummary:
    mean, half = float(values.mean()), _half_width(values)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    return SeedSummary(key, mean, deviation, mean - half, mean + half, len(values))


def _half_width(values: Array) -> float:
    """Return half the width of the 95 % interval of a mean; not known for one value.

    >>> round(_half_width(np.array([1.0, 2.0, 3.0])), 3)
    2.484
    """
    from scipy.special import stdtrit  # `scipy.stats` takes a second to import

    count = len(values)
    return float(stdtrit(count - 1, 0.975) * values.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan


def comparisons(records: Sequence[Record], baseline: str) -> dict[RecordKey, Comparison]:
    """Compare every model with the baseline wherever both have runs of the same seeds and folds."""
    by_key: dict[RecordKey, dict[tuple[int, int], float]] = defaultdict(dict)
    for record in records:
        if not math.isnan(record.value):
            by_key[record_key(record)][record.seed, record.fold] = record.value
    compared = {}
    for key, values in by_key.items():
        other = by_key.get(RecordKey(key.task, key.challenge, baseline, key.split, key.metric), {})
        shared = sorted(values.keys() & other.keys())
        if key.model != baseline and shared:
            compared[key] = _comparison(key, baseline, np.array([values[pair] - other[pair] for pair in shared]))
    return compared


def _comparison(key: RecordKey, baseline: str, differences: Array) -> Comparison:
    mean, half = float(differences.mean()), _half_width(differences)
    return Comparison(
        key, baseline, mean, mean - half, mean + half, sign_flip(differences), tuple(differences.tolist())
    )


def sign_flip(differences: Array) -> float:
    """Return how likely a mean difference as large as this is if the sign of each pair were a toss of a coin.

    Exact for few pairs; with n pairs it cannot fall below 2 / 2**n, so that three seeds never prove much.

    >>> sign_flip(np.array([1.0, 1.0, 1.0]))
    0.25
    """
    size = np.abs(differences)
    if not size.any():
        return 1.0
    if len(size) <= MOST_FLIPS:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(size))))
        extra = 0
    else:
        signs = rng_for(0, "sign flips", len(size)).choice([-1.0, 1.0], size=(DRAWN, len(size)))
        extra = 1  # the draw at hand counts as one, so that a drawn p is never 0
    reached = np.abs(signs @ size) >= abs(differences.sum()) - ROUNDING * size.sum()  # a tie is as large
    return float((reached.sum() + extra) / (len(signs) + extra))


@dataclass(frozen=True)
class Published:
    """A number that was published, with its deviation and its source where they are known."""

    value: float
    deviation: float = math.nan
    source: str = ""

    @property
    def text(self) -> str:
        """The number for a table.

        >>> Published(0.5, 0.02, "paper").text, Published(0.5).text
        ('0.50 ± 0.02 [paper]', '0.50')
        """
        deviation = "" if math.isnan(self.deviation) else f" ± {self.deviation:.2f}"
        return f"{self.value:.2f}{deviation}{f' [{self.source}]' if self.source else ''}"

    @property
    def estimate(self) -> PlottedValue:
        """The number for a chart; the interval is one deviation to each side."""
        return PlottedValue(self.value, self.value - self.deviation, self.value + self.deviation)


def published_numbers(study: Study) -> dict[RecordKey, Published]:
    """Return the published numbers by what they are about."""
    numbers = {}
    for entry in study.config.published:
        strangers = entry.keys() - set(KEYS)
        if strangers or not {"task", "model", "metric", "value"} <= entry.keys():
            raise ConfigError(f"published: expected task, model, metric and value, not {dict(entry)!r}")
        key = RecordKey(
            *(str(entry["task"]), str(entry.get("challenge", PLAIN)), str(entry["model"])),
            *(str(entry.get("split", "test")), str(entry["metric"])),
        )
        deviation = float(entry.get("deviation", math.nan))
        numbers[key] = Published(float(entry["value"]), deviation, str(entry.get("source", "")))
    return numbers
