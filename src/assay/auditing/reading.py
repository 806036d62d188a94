"""Do pictures show the concepts? For data whose worlds nobody can draw again.

A model learns to read each concept on one half of the examples and is asked about the other half, and the other way
round: once from the other concepts alone, and once from pixels too. What pixels add is what they show of it; a
hidden concept that goes with visible ones is guessed from them all the same. A concept that no model reads may be
invisible, or too small for these models: they see 16 x 16 grey pixels and statistics of 8 x 8 regions.

Concepts that name colours are compared with the colours of the pictures: where another concept follows these
instead, two concepts were exchanged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.auditing.audited import NOT_CHECKED, NOTHING, AuditedDataset, CheckResult, fail_if
from assay.base import Array, Codes, import_extra, rng_for
from assay.logic import Value
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
HUES = {"red": 0, "orange": 30, "yellow": 60, "green": 120, "cyan": 180, "blue": 240, "purple": 280, "magenta": 300}
"""Colour words by their hue, in degrees."""
WIDTH = 20
LEAST_CHROMA = 40
MOST = 600
FEWEST = 100
CLEAR = 4.0
"""How many standard errors apart pictures with and without a value are in a colour that follows it."""


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


def colours(data: AuditedDataset) -> CheckResult:
    """A concept whose values are colour words is the one that the colours of the pictures follow."""
    named = [concept for concept in data.space.concepts if _hues_of(concept.values)]
    if not named:
        return CheckResult("colours", NOTHING, "no concept names colours")
    parts = [part for part in data.parts.values() if len(part.pictures)]
    rows = [(part, row) for part in parts for row in range(len(part.pictures))][:MOST]
    if len(rows) < FEWEST:
        return CheckResult("colours", NOT_CHECKED, f"fewer than {FEWEST} pictures")
    words = sorted({word for concept in named for word in _hues_of(concept.values)})
    shares = np.stack([hue_shares(part.image(row), [HUES[word] for word in words]) for part, row in rows])
    codes = np.stack([part.concepts[row] for part, row in rows])
    exchanged, unseen = list[str](), list[str]()
    for concept in named:
        own = [(concept.values.index(word), words.index(word)) for word in _hues_of(concept.values)]
        scores = _scores(codes[:, data.space.names.index(concept.name)], shares, len(concept.values))
        if max(scores[value, hue] for value, hue in own) >= CLEAR:
            continue
        unseen.append(concept.name)
        for place, other in enumerate(data.space.concepts):
            alike = not _hues_of(other.values) and len(other.values) == len(concept.values)
            if alike and _follows(_scores(codes[:, place], shares, len(other.values))):
                exchanged.append(f"{other.name} follows the colours that {concept.name} names")
    if unseen and not exchanged:
        text = f"the pictures do not clearly follow the colours that {', '.join(unseen)} name"
        return CheckResult("colours", "note", text)
    return fail_if(exchanged, "colours", "concepts were exchanged", "pictures show the colours that concepts name")


def _hues_of(values: Sequence[Value]) -> list[str]:
    """Return the colour words among values, if there are two or more."""
    words = [value for value in values if isinstance(value, str) and value in HUES]
    return words if len(words) > 1 else []


def hue_shares(image: Array, hues: Sequence[int]) -> Array:
    """Return each hue's share of the pixels that have one of them: large things count no more than small ones.

    >>> hue_shares(np.array([[[255, 0, 0], [0, 0, 255], [9, 9, 9], [9, 9, 9]]]), [0, 240]).tolist()
    [0.5, 0.5]
    """
    if image.shape[2] < 3:
        return np.zeros(len(hues))
    red, green, blue = image[:, :, :3].reshape(-1, 3).astype(np.float64).T
    angle = np.degrees(np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue))
    chroma = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    apart = np.abs((angle[:, None] - np.array(hues)[None, :] + 180) % 360 - 180)
    counts = ((apart <= WIDTH) & (chroma >= LEAST_CHROMA)[:, None]).sum(axis=0)
    return np.asarray(counts / max(1, int(counts.sum())))


def _scores(codes: Codes, shares: Array, values: int) -> Array:
    """Return how many standard errors more of each colour (column) pictures with each value (row) show than others."""
    scores = np.zeros((values, shares.shape[1]))
    for value in range(values):
        inside = codes == value
        if min(inside.sum(), (~inside).sum()) > 1:
            first, second = shares[inside], shares[~inside]
            errors = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
            scores[value] = (first.mean(axis=0) - second.mean(axis=0)) / np.maximum(errors, 1e-9)
    return scores


def _follows(scores: Array) -> bool:
    """Return whether each value has a colour of its own."""
    best = scores.argmax(axis=1)
    return len(set(best.tolist())) == len(best) and bool((scores.max(axis=1) >= CLEAR).all())
