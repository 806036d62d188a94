"""Which map explains the predictions of a concept: of its own values, of another concept's, or of a whole object's.

The classes of maps are those of counting, the simplest first: the identity; a map of the concept's own values; one of
another concept's values (two concepts exchanged are two such maps); one of all attributes of an object together; one of
the whole world. Each is fitted on one half of the examples and judged on the other, so that a map with more entries
does not look better for that alone. A later class is taken only where it explains clearly more than an earlier one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from assay.base import Array, Codes, distinct_rows, number_rows, rng_for
from assay.diagnosis.thresholds import Maps
from assay.logic import ConceptSpace, Value
from assay.metrics import Evidence, at_least, wilson

MapKind = Literal["own", "source", "object", "world"]
AT_ONCE = 2**16
"""How many examples are spread out into zeros and ones at a time."""


@dataclass(frozen=True)
class ConceptMap:
    """A map from true values to the value most often said; `sources` are the concepts whose true values it looks at."""

    concept: str
    kind: MapKind
    sources: tuple[str, ...]
    image: dict[tuple[Value, ...], Value]
    entries: dict[tuple[Value, ...], tuple[int, int]]
    """For each entry how many examples have these true values, and how many answers follow the map."""

    @property
    def fidelity(self) -> float:
        """The share of answers that follow the map."""
        total = sum(examples for examples, _ in self.entries.values())
        return sum(follow for _, follow in self.entries.values()) / total if total else float("nan")

    @cached_property
    def is_identity(self) -> bool:
        """Whether every true value that occurs is most often said as it is."""
        return self.kind == "own" and all(key == (value,) for key, value in self.image.items())

    @cached_property
    def renames(self) -> bool:
        """Whether the map is from one concept to another value by value, each said as it is."""
        return self.kind == "source" and all(key == (value,) for key, value in self.image.items())

    @cached_property
    def merges(self) -> bool:
        """Whether values are merged but none that is still said is misnamed: mapping twice is mapping once."""
        images = {value: self.image.get((value,), value) for value in self.image.values()}
        return self.kind == "own" and not self.is_identity and all(key == value for key, value in images.items())


def halves_of(rows: int) -> Array:
    """Return a half for each row, the same in every run."""
    return np.asarray(rng_for(0, "halves", rows).permutation(rows) % 2)


def follows_map(keys: Array, answers: Array, size: int, halves: Array) -> Array:
    """Return for each answer whether it follows the map from keys to answers that the other half suggests."""
    found = distinct_rows(keys[:, None])
    places, width = found.which, max(1, len(found))
    right = np.zeros(len(answers), dtype=bool)
    for half in (0, 1):
        fitted, judged = halves != half, halves == half
        counts = np.bincount(places[fitted] * size + answers[fitted], minlength=width * size).reshape(width, size)
        right[judged] = counts.argmax(axis=1)[places[judged]] == answers[judged]
        right[judged] &= counts.max(axis=1)[places[judged]] > 0
    return right


def explained_by_sources(truth: Codes, answers: Codes, sizes: Sequence[int], halves: Array) -> Array:
    """Return for each concept said (row) and true concept (column) how many answers the best map explains."""
    width, count = max(sizes), truth.shape[1]
    tables = []
    for half in (0, 1):
        rows, together = np.flatnonzero(halves == half), np.zeros((count * width, count * width))
        for start in range(0, len(rows), AT_ONCE):
            block = rows[start : start + AT_ONCE]
            sides = [codes[block][:, :, None] == np.arange(width) for codes in (answers, truth)]
            predicted, true = (side.reshape(len(block), -1).astype(np.float32) for side in sides)
            together += predicted.T @ true
        tables.append(together.reshape(count, width, count, width).transpose(0, 2, 3, 1))
    explained = np.zeros((count, count))
    for fitted, judged in (tables, tables[::-1]):
        best = fitted.argmax(axis=3)[..., None]
        explained += np.take_along_axis(judged, best, axis=3)[..., 0].sum(axis=2)
    return explained


class MapFitter:
    """Fits maps to the answers of a model on one split."""

    def __init__(self, evidence: Evidence, level: float, settings: Maps = Maps()) -> None:  # noqa: B008 - it is frozen
        self.evidence, self.level, self.settings = evidence, level, settings
        self.space: ConceptSpace = evidence.knowledge.space
        self.halves = halves_of(len(evidence))

    @cached_property
    def by_source(self) -> Array:
        """How many answers of each concept the best map from each concept explains."""
        return explained_by_sources(
            self.evidence.concepts, self.evidence.predicted_concepts, self.space.sizes, self.halves
        )

    def own(self, place: int) -> ConceptMap:
        """Return the map of a concept's own values."""
        return self._map(place, "own", (place,), self._answered(place))

    def clearly_misread(self, place: int) -> bool:
        """Return whether the map of a concept's own values explains clearly more answers than reading them right."""
        rows = self._answered(place)
        follows = self._follows(place, (place,), rows)
        right = self.evidence.predicted_concepts[rows, place] == self.evidence.concepts[rows, place]
        return self._gains(follows, right, self.settings.clearly / 2)

    def _gains(self, follows: Array, before: Array, margin: float) -> bool:
        """Return whether more answers follow one map than another, clearly and by a margin."""
        gained, lost = int((follows & ~before).sum()), int((before & ~follows).sum())
        clearly = at_least(gained, gained + lost, 0.5) <= self.level / len(self.space)
        return clearly and gained - lost >= margin * max(1, len(follows))

    def elsewhere(self, place: int) -> ConceptMap | None:
        """Return a map from other true values, if one explains clearly more of the answers than their own concept."""
        rows = self._answered(place)
        if rows.sum() < 2 * self.settings.examples:
            return None
        own = self._follows(place, (place,), rows)
        fits: list[tuple[MapKind, tuple[int, ...]]] = [("source", (self._best_source(place),))]
        fits += [("object", columns) for columns in self._object(place)]
        if self._few_worlds:
            fits.append(("world", tuple(range(len(self.space)))))
        for kind, columns in fits:
            known = rows & self.evidence.known[:, list(columns)].all(axis=1)
            if known.sum() < 2 * self.settings.examples:
                continue
            follows = self._follows(place, columns, known)
            mostly = wilson(int(follows.sum()), len(follows))[0] >= self.settings.mostly and columns != (place,)
            if mostly and self._gains(follows, own[known[rows]], self.settings.clearly):
                return self._map(place, kind, columns, known)
        return None

    def _answered(self, place: int) -> Array:
        return np.asarray(self.evidence.judged_concepts[:, place] >= 0)

    def _best_source(self, place: int) -> int:
        explained = self.by_source[place].copy()
        explained[place] += 0.5  # the concept itself, where another explains as much
        return int(explained.argmax())

    def _object(self, place: int) -> list[tuple[int, ...]]:
        name = self.space.names[place]
        slots = [slot for slot in self.space.slots if name in slot.concepts and len(slot.concepts) > 1]
        return [tuple(self.space.place(concept) for concept in slot.concepts) for slot in slots]

    @cached_property
    def _few_worlds(self) -> bool:
        worlds = self.evidence.concepts[self.evidence.known.all(axis=1)]
        return len(self.space) > 1 and len(distinct_rows(worlds)) * self.settings.examples <= len(worlds)

    def _keys(self, columns: tuple[int, ...], rows: Array) -> Array:
        return number_rows(*(self.evidence.concepts[:, column : column + 1] for column in columns))[rows]

    def _follows(self, place: int, columns: tuple[int, ...], rows: Array) -> Array:
        answers = self.evidence.predicted_concepts[rows, place]
        return follows_map(self._keys(columns, rows), answers, self.space.sizes[place], self.halves[rows])

    def _map(self, place: int, kind: MapKind, columns: tuple[int, ...], rows: Array) -> ConceptMap:
        space, answers = self.space, self.evidence.predicted_concepts[rows, place]
        values = space.concepts[place].values
        truth = self.evidence.concepts[np.ix_(np.flatnonzero(rows), np.array(columns))]
        worlds = distinct_rows(truth)
        counts = np.bincount(worlds.which * len(values) + answers, minlength=len(worlds) * len(values))
        image, entries = {}, {}
        for codes, row in zip(truth[worlds.first].tolist(), counts.reshape(-1, len(values)), strict=True):
            key = tuple(space.concepts[column].values[code] for column, code in zip(columns, codes, strict=True))
            # where its own value is said as often as another, it is taken for read right
            best = codes[0] if kind == "own" and row[codes[0]] == row.max() else int(row.argmax())
            image[key], entries[key] = values[best], (int(row.sum()), int(row[best]))
        return ConceptMap(space.names[place], kind, tuple(space.names[c] for c in columns), image, entries)
