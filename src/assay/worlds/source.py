"""Sampling the worlds of a split: exact, balanced, and with access to any position without drawing those before it.

The decision diagram numbers the worlds of each label; a deck permutes the numbers. No world is drawn twice before every
world of its label was drawn once, a split of any size is balanced, and spaces too large to list are no harder. Of a
rule that is a program, worlds are drawn until one has the label wanted at its position.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from assay.base import Array, Codes, FormulaError, KnowledgeError, SeededPermutation, Streams
from assay.logic import TRUE, Diagram, Knowledge, Value, WorldRanking, shape_of
from assay.worlds.world import LUCK, Split, Style, World

PROBE = 4_000
"""How many worlds show which labels there are."""
TRIES = 1 << 14
"""How many worlds are drawn for one position before an error is raised."""
AT_ONCE = 1 << 14


class Source(Protocol):
    """The worlds of one split, as a function of the seed and the place."""

    @property
    def split(self) -> Split:
        """The split."""

    @property
    def total(self) -> int:
        """How many different worlds the split can hold."""

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places, concepts and style."""

    def contains(self, codes: Codes) -> Array:
        """Return whether each combination of concepts may occur in this split."""


def labels_of(knowledge: Knowledge, codes: Codes, worlds: Sequence[World]) -> Codes:
    """Return the labels of worlds with these concepts; those left to chance fell as the worlds' styles say.

    Parameters
    ----------
    knowledge
        The rule; without chance it alone decides.
    codes
        The concepts, a row a world.
    worlds
        The same worlds, whose styles hold what was drawn for labels left to chance.
    """
    if knowledge.stochastic:
        return knowledge.drawn_labels(codes, np.array([world.style[LUCK] for world in worlds]))
    return knowledge.labels_of(codes)


DrawStyle = Callable[[np.random.Generator, Sequence[int], str], Style]


@dataclass(frozen=True)
class Range:
    """Worlds that have the same labels and belong to the same stages: a range of a shuffled numbering."""

    outcome: int
    ranking: WorldRanking
    shuffle: SeededPermutation
    start: int
    stop: int

    @property
    def total(self) -> int:
        """How many worlds there are."""
        return self.stop - self.start

    def worlds(self, numbers: Array) -> Codes:
        """Return the worlds of these numbers, 0 to `total` - 1."""
        return self.ranking.worlds(numbers if self._whole else self.shuffle.deal(numbers + self.start))

    @property
    def _whole(self) -> bool:
        return self.start == 0 and self.stop == self.ranking.total

    def contains(self, codes: Codes) -> Array:
        """Return whether each world of this outcome is one of these."""
        if self._whole:
            return np.ones(len(codes), dtype=bool)
        places = self.shuffle.place(self.ranking.ranks(codes))
        return np.asarray((places >= self.start) & (places < self.stop), dtype=bool)


@dataclass(frozen=True)
class LabelGroup:
    """The worlds of a split that have the same labels."""

    labels: tuple[Value, ...]
    ranges: tuple[Range, ...]

    @property
    def total(self) -> int:
        """How many worlds there are."""
        return sum(part.total for part in self.ranges)

    def worlds(self, numbers: Array) -> Codes:
        """Return the worlds of these numbers, 0 to `total` - 1."""
        return _gather(self.ranges, *_locate(numbers, self.ranges))


def _locate(numbers: Array, parts: Sequence[Range | LabelGroup]) -> tuple[Array, Array]:
    """Return in which part each number lies when the parts follow one another, and its number there."""
    totals = [part.total for part in parts]
    ends = np.cumsum(np.array(totals, dtype=object if sum(totals) >= 2**62 else np.int64))
    which = np.searchsorted(ends, numbers, side="right")
    return which, numbers - (ends - totals)[which]


def _gather(parts: Sequence[Range | LabelGroup], which: Array, numbers: Array) -> Codes:
    """Return the worlds of these numbers, each from its part."""
    rows = [part.worlds(numbers[which == place]) for place, part in enumerate(parts)]
    codes = np.zeros((len(which), rows[0].shape[1]), dtype=np.int64)
    for place, worlds in enumerate(rows):
        codes[which == place] = worlds
    return codes


class SeededSource(ABC):
    """What sources share that draw the concepts of a place, and then a style for it."""

    def __init__(
        self, knowledge: Knowledge, split: Split, seed: int, *purpose: object, style: DrawStyle = lambda *_: {}
    ) -> None:
        self.knowledge = knowledge
        self.style = style
        self.split = split
        self.seed = seed
        self.purpose = purpose

    @abstractmethod
    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places of the split."""

    @abstractmethod
    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split."""

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places of the split, each with a style of its own."""
        return self.style_worlds(places, self.codes(places))

    def style_worlds(self, places: Array, codes: Codes) -> list[World]:
        """Return worlds of these concepts, each with the style that is drawn for its place."""
        streams = Streams(self.seed, *self.purpose, self.split.name)
        space, pool, worlds = self.knowledge.space, self.split.pool, []
        for place, row in zip(np.asarray(places).tolist(), np.asarray(codes).tolist(), strict=True):
            rng = streams[place]
            style = self.style(rng, row, pool)
            if self.knowledge.stochastic:
                style = {**style, LUCK: rng.random(len(self.knowledge.labels)).tolist()}
            worlds.append(World(space, tuple(row), style))
        return worlds

    def _deck(self, size: int, *purpose: object) -> SeededPermutation:
        return SeededPermutation(size, self.seed, *self.purpose, self.split.name, *purpose)


class WorldSource(SeededSource):
    """The worlds of one split of one task, numbered by the rule's decision diagram."""

    def __init__(
        self, knowledge: Knowledge, split: Split, seed: int, *purpose: object, style: DrawStyle = lambda *_: {}
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose, style=style)
        self._refuse_trivial()

    @property
    def diagram(self) -> Diagram:
        """The diagram whose outcomes are the labels, the stages, and whether a world belongs to the split."""
        return self.knowledge.diagram_within(self.split.where, self.split.stages)

    @cached_property
    def label_groups(self) -> tuple[LabelGroup, ...]:
        """The worlds of this split, gathered by their labels."""
        labels, diagram = self.knowledge.labels, self.diagram
        ranges: dict[tuple[Value, ...], list[Range]] = {}
        for place, outcome in enumerate(diagram.outcomes):
            if outcome[-1] and (self.split.stage is None or outcome[len(labels) + self.split.stage]):
                ranking = diagram.among(np.arange(len(diagram.outcomes)) == place)
                ranges.setdefault(outcome[: len(labels)], []).append(self._range(place, outcome[:-1], ranking))
        groups = [LabelGroup(values, tuple(part for part in parts if part.total)) for values, parts in ranges.items()]
        return tuple(group for group in groups if group.total)

    def _range(self, place: int, kind: tuple[Value, ...], ranking: WorldRanking) -> Range:
        low, high = self.split.share
        shuffle = SeededPermutation(ranking.total, self.seed, *self.purpose, "share", kind)
        return Range(place, ranking, shuffle, _cut(ranking.total, low), _cut(ranking.total, high))

    def _refuse_trivial(self) -> None:
        where = f"split {self.split.name!r}" + ("" if self.split.formula == TRUE else f" ({self.split.formula})")
        for formula in (self.split.where, *self.split.stages):
            if shape_of(formula, self.knowledge.space).kind != "bool":
                raise FormulaError(f"{where}: {formula} must be true or false, not a number")
        if not self.label_groups:
            raise KnowledgeError(f"{where}: no world fits, so there is nothing to draw")
        for place, label in enumerate(self.knowledge.labels):
            values = {group.labels[place] for group in self.label_groups}
            if len(values) < 2 and not self.split.one_sided:
                only = next(iter(values))
                raise KnowledgeError(
                    f"{where}: label {label.name!r} is always {only}: change the rule, or give the split size 0"
                )

    @cached_property
    def total(self) -> int:
        """How many worlds this split can hold."""
        return sum(group.total for group in self.label_groups)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places of the split."""
        places = np.asarray(places, dtype=np.int64)
        which, numbers = self._by_label(places) if self.split.balance == "label" else self._by_world(places)
        return _gather(self.label_groups, which, numbers)

    def _by_label(self, places: Array) -> tuple[Array, Array]:
        """Deal the labels evenly, and to each label its worlds evenly."""
        which = self._deck(len(self.label_groups), "label").deal(places)
        rounds = places // len(self.label_groups)
        numbers = np.zeros(len(places), dtype=object if self.total >= 2**62 else np.int64)
        for number, group in enumerate(self.label_groups):
            mine = which == number
            numbers[mine] = self._deck(group.total, "world", group.labels).deal(rounds[mine])
        return which, numbers

    def _by_world(self, places: Array) -> tuple[Array, Array]:
        """Deal all worlds evenly, whatever their labels."""
        return _locate(self._deck(self.total, "world").deal(places), self.label_groups)

    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split."""
        outcomes, inside = self.diagram.outcome_of(codes), np.zeros(len(codes), dtype=bool)
        for part in (part for group in self.label_groups for part in group.ranges):
            mine = np.flatnonzero(outcomes == part.outcome)
            inside[mine] = part.contains(codes[mine])
        return inside


def _cut(total: int, fraction: float) -> int:
    """Return where a fraction of the worlds ends; a fraction between none and all takes at least one."""
    if fraction in (0.0, 1.0):
        return int(fraction) * total
    return max(1, int(total * fraction))


class ProgramSource(WorldSource):
    """The worlds of one split, labelled by running the program; which worlds are possible is still counted exactly."""

    @cached_property
    def base(self) -> WorldSource:
        """The same worlds whatever their labels, each as often."""
        bare = replace(self.knowledge, labels=())
        return WorldSource(bare, replace(self.split, balance="world", quota=None), self.seed, *self.purpose)

    @property
    def diagram(self) -> Diagram:
        """The diagram of which worlds belong to the split; the program is not compiled."""
        return self.base.diagram

    @cached_property
    def label_groups(self) -> tuple[LabelGroup, ...]:
        """All worlds of the split together."""
        return self.base.label_groups

    @cached_property
    def kinds(self) -> Array:
        """The combinations of labels that occur among the first worlds."""
        codes = self.base.codes(np.arange(min(PROBE, self.base.total)))
        return np.asarray(np.unique(self.knowledge.labels_of(codes), axis=0))

    def _refuse_trivial(self) -> None:
        if not self.base.label_groups:
            raise KnowledgeError(f"split {self.split.name!r}: no world fits, so there is nothing to draw")
        for place, label in enumerate(self.knowledge.labels):
            if len(np.unique(self.kinds[:, place])) < 2:
                only = label.values[self.kinds[0, place]]
                raise KnowledgeError(
                    f"split {self.split.name!r}: label {label.name!r} is {only} in all of {PROBE:,} worlds: change the "
                    "rule, or give the split size 0"
                )

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        places = np.asarray(places, dtype=np.int64)
        if self.split.balance == "world":
            return self.base.codes(places)
        wanted = self.kinds[self._deck(len(self.kinds), "label").deal(places)]
        codes = np.zeros((len(places), len(self.knowledge.space)), dtype=np.int64)
        todo, turn, batch = np.arange(len(places)), 0, 2
        while len(todo):
            if turn >= TRIES:
                values = [
                    label.values[code] for label, code in zip(self.knowledge.labels, wanted[todo[0]], strict=True)
                ]
                raise KnowledgeError(
                    f"split {self.split.name!r}: no world with labels {values} in {TRIES:,} draws; they are too rare"
                )
            turns = np.arange(turn, turn + batch)
            tried = self.base.codes((places[todo][:, None] * TRIES + turns).ravel())
            fits = (self.knowledge.labels_of(tried) == np.repeat(wanted[todo], batch, axis=0)).all(axis=1)
            fits = fits.reshape(len(todo), batch)
            hit = fits.any(axis=1)
            codes[todo[hit]] = tried.reshape(len(todo), batch, -1)[hit, fits[hit].argmax(axis=1)]
            turn, todo = turn + batch, todo[~hit]
            batch = max(1, min(2 * batch, AT_ONCE // max(1, len(todo)), TRIES - turn))
        return codes
