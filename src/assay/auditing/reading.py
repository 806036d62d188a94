"""Can a concept be read from the pictures at all? For data whose worlds nobody can draw again.

A model learns to read each concept on one half of the examples and is asked about the other half, and the other way
round: once from the other concepts alone, and once from pixels too. What pixels add is what they show of it; a hidden
concept that goes with visible ones is guessed from them all the same. A concept that no model reads may be invisible,
or too small for these models: they see 16 x 16 grey pixels and statistics of 8 x 8 regions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.auditing.audited import AuditedDataset
from assay.base import Array, Codes, import_extra, rng_for
from assay.metrics import balanced_accuracy

PURPOSE = "the audit of what pictures show"
MOST_READ = 2000
FEWEST_READ = 200
FEWEST_OF_VALUE = 20
MOST_CELLS, FEWEST_TRIED = 36_000_000, 8
"""How many numbers models may learn from in all, so that many concepts take about a minute; but so many are tried."""
SECONDS_OF_CELL = 0.85e-6
MOST_COLUMNS, PIXEL_COLUMNS = 40, 450
DEVIATIONS = 2.576
"""Half the width of a 99 % interval, in standard errors."""
FAINT = 0.1
"""What pixels may add, as a share of the way from chance to certainty, to a concept that is called invisible."""

Reader = Callable[[Array, Codes, Array], Codes]


@dataclass(frozen=True)
class PixelReading:
    """How well a concept is read with and without pixels, balanced over its values, and what they add (99 %)."""

    concept: str
    accuracy: float
    without: float
    low: float
    high: float
    chance: float

    @property
    def visible(self) -> bool:
        """Whether pixels add something."""
        return self.low > 0

    @property
    def hidden(self) -> bool:
        """Whether what pixels add is nothing, or next to nothing."""
        return not self.visible and self.high < FAINT * (1 - self.chance)

    @property
    def text(self) -> str:
        """The reading in words."""
        scores = f"balanced accuracy {self.accuracy:.2f}, {self.without:.2f} without pixels"
        return f"{self.concept} ({scores}, gain {self.low:.2f} to {self.high:.2f})"


def readings(data: AuditedDataset) -> list[PixelReading]:
    """Return how well each concept that varies is read, or some of many; none where pictures are few."""
    parts = [part for part in data.parts.values() if len(part.pictures)]
    if sum(len(part.pictures) for part in parts) < FEWEST_READ:
        return []
    channels = min(len(stats.means) for part in parts for stats in part.stats)  # grey ones have one, colour three
    pixels = np.concatenate([[np.append(s.small, s.means[:channels]) for s in part.stats] for part in parts])
    patches = np.concatenate([[s.patches[:, :, :3].ravel() for s in part.stats] for part in parts])
    concepts = np.concatenate([part.concepts[: len(part.pictures)] for part in parts])
    rows = rng_for(0, "audit", "reading").permutation(len(concepts))[:MOST_READ]
    seen = np.concatenate([_standard(pixels[rows]), _standard(patches[rows])], axis=1)
    places = concepts_to_read(data)
    tried = []
    for done, place in enumerate(places):
        data.progress(done / len(places))
        tried.append(_reading(data.space.names[place], place, seen, concepts[rows]))
    return [reading for reading in tried if reading is not None]


def concepts_to_read(data: AuditedDataset) -> list[int]:
    """Return the places of the concepts that are tried: all, or some of many."""
    most = max(FEWEST_TRIED, MOST_CELLS // max(1, _cells(data)))
    return sorted(rng_for(0, "audit", "tried").permutation(len(data.space.names))[:most].tolist())


def seconds_to_read(data: AuditedDataset) -> float:
    """Return about how long that takes."""
    return len(concepts_to_read(data)) * _cells(data) * SECONDS_OF_CELL


def _cells(data: AuditedDataset) -> int:
    """Return from about how many numbers models learn to read one concept."""
    columns = sum(size - 1 for size in data.space.sizes)
    columns += columns**2 // 2 if columns <= MOST_COLUMNS else 0
    rows = min(MOST_READ, sum(len(part.pictures) for part in data.parts.values()))
    return rows * (columns + PIXEL_COLUMNS)


def _standard(columns: Array) -> Array:
    return np.asarray((columns - columns.mean(axis=0)) / np.maximum(columns.std(axis=0), 1e-6))


def _reading(name: str, place: int, pixels: Array, concepts: Codes) -> PixelReading | None:
    codes = concepts[:, place]
    often = [value for value in np.unique(codes) if value >= 0 and (codes == value).sum() >= FEWEST_OF_VALUE]
    if len(often) < 2:
        return None
    rows = np.isin(codes, often)
    others = _others(np.delete(concepts, place, axis=1))[rows]
    best: PixelReading | None = None
    for reader in (_ridge, _forest):
        reading = _compared(name, reader, pixels[rows], others, codes[rows])
        best = reading if best is None or reading.low > best.low else best
        if best.visible:
            break
    return best


def _others(concepts: Codes) -> Array:
    """Return a column for each value of the other concepts and, if they are few, for each pair of values."""
    columns = [(column == value).astype(np.float64) for column in concepts.T for value in np.unique(column)[1:]]
    if len(columns) <= MOST_COLUMNS:
        columns += [first * second for first, second in combinations(columns, 2)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(concepts), 1))


def _compared(name: str, reader: Reader, pixels: Array, others: Array, codes: Codes) -> PixelReading:
    without = _cross_read(reader, others, codes)
    using = _cross_read(reader, np.concatenate([pixels, others], axis=1), codes)
    gains = (using == codes).astype(np.float64) - (without == codes)
    by_value = [gains[codes == value] for value in np.unique(codes)]
    gain = float(np.mean([each.mean() for each in by_value]))
    error = float(np.sqrt(sum((each.var() + 1 / len(each)) / len(each) for each in by_value)) / len(by_value))
    return PixelReading(
        name,
        balanced_accuracy(codes, using),
        balanced_accuracy(codes, without),
        gain - DEVIATIONS * error,
        gain + DEVIATIONS * error,
        1 / len(by_value),
    )


def _cross_read(reader: Reader, inputs: Array, codes: Codes) -> Codes:
    """Return what is read of each half by a model of the other half."""
    read, first = np.zeros_like(codes), np.arange(len(codes)) % 2 == 0
    for learn in (first, ~first):
        read[~learn] = reader(inputs[learn], codes[learn], inputs[~learn])
    return read


def _ridge(inputs: Array, codes: Codes, queries: Array) -> Codes:
    model = import_extra("sklearn.linear_model", PURPOSE).RidgeClassifier(alpha=100.0, class_weight="balanced")
    return np.asarray(model.fit(inputs, codes).predict(queries))


def _forest(inputs: Array, codes: Codes, queries: Array) -> Codes:
    model = import_extra("sklearn.ensemble", PURPOSE).ExtraTreesClassifier(
        60, min_samples_leaf=2, max_features=0.1, class_weight="balanced", random_state=0, n_jobs=1
    )
    return np.asarray(model.fit(inputs, codes).predict(queries))
