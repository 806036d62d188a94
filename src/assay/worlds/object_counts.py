"""Worlds with few or many objects: each number of objects as often as another, whatever the label.

Dealt evenly from the rule's decision diagram, nearly all worlds would have as many objects as there can be, and where
more objects make a label likelier, their number would tell it. Here numbers are dealt first, and then for each number
labels and worlds. Where the diagram is too large, worlds are drawn until one has the label that is wanted.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from assay.base import GOLDEN, Array, Codes, Draws, KnowledgeError, TooLarge, fractions, mix_words, numbers_below
from assay.logic import ABSENT, Concept, Evaluator, Formula, Knowledge, Var, compile_diagram, conjunction
from assay.worlds.source import DrawStyle, SeededSource, Source, WorldSource
from assay.worlds.world import Split

NODES = 20_000
"""How large a diagram may be; a larger one takes longer than drawing does."""
PROBE = 20_000
"""How many draws show which labels there are."""
TRIES, ROWS, MOST_TRIES = 32, 32_768, 4_000_000
"""How many draws each world gets at first, how many are made at a time, and the most before an error is raised."""
ODD = np.uint64(GOLDEN)


def object_count_source(
    knowledge: Knowledge, split: Split, seed: int, *purpose: object, numbers: Sequence[int], style: DrawStyle
) -> "ObjectCountSource":
    """Return the worlds of a split, the first so many slots filled, with each of these numbers as often.

    Parameters
    ----------
    knowledge
        The concepts, in slots, and the rule.
    split
        Which worlds.
    seed
        The seed of the dataset.
    *purpose
        What else the draws depend on, such as the task and its version.
    numbers
        How many slots may be filled.
    style
        What draws the style of a world.
    """
    exact = _is_small(knowledge, split.where)
    parts: list[Source] = []
    for number in numbers:
        own = replace(split, where=conjunction(split.where, *_slots_filled(knowledge, number)), quota=None)
        kind: type[WorldSource | RejectionSource] = WorldSource if exact else RejectionSource
        parts.append(kind(knowledge, own, seed, *purpose, number))
    return ObjectCountSource(knowledge, split, seed, *purpose, parts=parts, style=style)


@lru_cache(maxsize=32)
def _is_small(knowledge: Knowledge, where: Formula) -> bool:
    try:
        compile_diagram([*(label.formula for label in knowledge.labels), where], knowledge.space, budget=NODES)
    except TooLarge:
        return False
    return True


def _slots_filled(knowledge: Knowledge, number: int) -> list[Formula]:
    """Return formulas that hold where exactly so many slots are filled."""
    firsts = [slot.concepts[0] for slot in knowledge.space.slots]
    optional = [name for name in firsts if knowledge.space.concept(name).optional]
    return [Var(name).ne(ABSENT) if name in firsts[:number] else Var(name).eq(ABSENT) for name in optional]


class ObjectCountSource(SeededSource):
    """The worlds of a split, taken from several sources in turn; the style depends on the position only."""

    def __init__(
        self, knowledge: Knowledge, split: Split, seed: int, *purpose: object, parts: Sequence[Source], style: DrawStyle
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose, style=style)
        self.parts = parts

    @property
    def total(self) -> int:
        """How many different worlds there are."""
        return sum(part.total for part in self.parts)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        places = np.asarray(places, dtype=np.int64)
        which = self._deck(len(self.parts), "number").deal(places)
        codes = np.zeros((len(places), len(self.knowledge.space)), dtype=np.int64)
        for number, part in enumerate(self.parts):
            codes[which == number] = part.codes(places[which == number] // len(self.parts))
        return codes

    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split."""
        return np.asarray(np.any([part.contains(codes) for part in self.parts], axis=0))


class RejectionSource(SeededSource):
    """Worlds drawn value by value until one belongs to the split and has the labels that its place is to have."""

    def __init__(self, knowledge: Knowledge, split: Split, seed: int, *purpose: object) -> None:
        super().__init__(knowledge, split, seed, *purpose)
        self.filled = int(str(purpose[-1]))
        self.salt = np.uint64(Draws(seed, *purpose, "share").key)
        for place, label in enumerate(knowledge.labels):
            if len({kind[place] for kind in self.kinds}) < 2:
                only = label.values[self.kinds[0][place]] if self.kinds else "missing"
                raise KnowledgeError(
                    f"split {split.name!r}: with {self.filled} objects label {label.name!r} is {only} in all of "
                    f"{PROBE:,} draws: change the rule or the number of objects, or give the split size 0"
                )

    @property
    def total(self) -> int:
        """How many different worlds can be drawn, whatever their labels."""
        return prod(self.sizes.tolist())

    @cached_property
    def absent(self) -> Array:
        """The code of `absent` for each concept of a slot that is empty, and for others -1."""
        space = self.knowledge.space
        empty = {name for slot in space.slots[self.filled :] for name in slot.concepts}
        return np.array([c.code(ABSENT) if c.name in empty else -1 for c in space.concepts])

    @cached_property
    def sizes(self) -> Array:
        """From how many values each concept is drawn: `absent` comes last, so it is not drawn where it must not be."""
        return np.array(
            [1 if code >= 0 else len(c.present) for c, code in zip(self._concepts, self.absent, strict=True)]
        )

    @property
    def _concepts(self) -> tuple[Concept, ...]:
        return self.knowledge.space.concepts

    @cached_property
    def inside(self) -> Evaluator:
        """Whether a world is possible and the split's formula lets it in."""
        return Evaluator(self.knowledge.space, conjunction(self.knowledge.possible, self.split.formula))

    @cached_property
    def kinds(self) -> list[tuple[int, ...]]:
        """The combinations of labels that occur, those that are very rare left out."""
        codes = self._draw(np.zeros(1, dtype=np.int64), 0, PROBE, "kinds").reshape(PROBE, -1)
        labels, counts = np.unique(self.knowledge.labels_of(codes[self.contains(codes)]), axis=0, return_counts=True)
        return [tuple(row) for row in labels[counts > 1].tolist()]

    def _draw(self, places: Array, first: int, tries: int, what: str = "drawn") -> Codes:
        """Return for each place the worlds that these tries give: places x tries x concepts."""
        key = np.uint64(Draws(self.seed, *self.purpose, self.split.name, what).key)
        own = mix_words(places.astype(np.uint64) * ODD + key)[:, None]
        each = mix_words(own + np.arange(first, first + tries, dtype=np.uint64) * ODD)[..., None]
        words = mix_words(each + np.arange(len(self.sizes), dtype=np.uint64) * ODD)
        return np.where(self.absent >= 0, self.absent, numbers_below(words, self.sizes))

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        places = np.asarray(places, dtype=np.int64)
        wanted = self._deck(len(self.kinds), "kind").deal(places)
        rows = np.zeros((len(places), len(self.sizes)), dtype=np.int64)
        left, first, tries = np.arange(len(places)), 0, TRIES
        while len(left):
            if first >= MOST_TRIES:
                raise KnowledgeError(f"split {self.split.name!r}: no world of the wanted label in {first:,} draws")
            still = []
            for some in np.array_split(left, -(-len(left) * tries // ROWS)):
                hit, codes = self._draw_tries(places[some], wanted[some], first, tries)
                rows[some[hit]] = codes
                still.append(some[~hit])
            left, first, tries = np.concatenate(still), first + tries, min(2 * tries, ROWS)
        return rows

    def _draw_tries(self, places: Array, wanted: Array, first: int, tries: int) -> tuple[Array, Codes]:
        """Return for which places these tries give a world that fits, and the first such worlds."""
        codes = self._draw(places, first, tries).reshape(len(places) * tries, -1)
        fits = np.ones(len(codes), dtype=bool)
        if self.split.balance == "label":
            fits = (self.knowledge.labels_of(codes) == np.repeat(np.array(self.kinds)[wanted], tries, axis=0)).all(
                axis=1
            )
        fits[fits] = self.contains(codes[fits])
        chosen = fits.reshape(len(places), tries)
        hit = np.asarray(chosen.any(axis=1))
        return hit, codes.reshape(len(places), tries, -1)[hit, chosen.argmax(axis=1)[hit]]

    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split: its number of objects, its formula, its share."""
        here = np.array([c.codes.get((str, ABSENT), -1) for c in self._concepts])
        inside = np.asarray(((codes == here) == (self.absent >= 0)).all(axis=1))
        inside[inside] = self.inside(codes[inside])
        low, high = self.split.share
        if (low, high) != (0.0, 1.0):
            shares = self._share(codes)
            inside &= (shares >= low) & (shares < high)
        return inside

    def _share(self, codes: Codes) -> Array:
        """Return a number from 0 to 1 for each world, the same in all splits."""
        words = np.full(len(codes), self.salt, dtype=np.uint64)
        for column in codes.T:
            words = mix_words(words + (column.astype(np.uint64) + np.uint64(1)) * ODD)
        return fractions(words)
