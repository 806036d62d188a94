"""Which robots a split holds: pools that share no robot, or as in the paper no rendering, and skewed training."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm

import numpy as np

from assay.base import Array, Codes, KnowledgeError, Streams, rng_for
from assay.families.robots.drawing import PALETTE
from assay.families.robots.parts import FEET, PARTS, ROBOTS, RobotRule, Views
from assay.logic import Knowledge, Value, evaluate
from assay.worlds import CONTENT, LUCK, DrawStyle, SeededSource, Split, Style, World

CUTS = {"train": (0.0, 0.6), "valid": (0.6, 0.7), "test": (0.7, 1.0)}
"""The shares of the robots that each pool has, where pools share no robot."""
PAPER_SHARES = {"test": Fraction(10_000, 30_720), "train": Fraction(3_800, 30_720)}
"""The shares of the renderings that the paper draws for testing and then for training."""
SCHEMES = tuple(combinations(range(len(PALETTE)), 2))
"""The 120 pairs of colours, left and right aside."""


@dataclass(frozen=True)
class Allocation:
    """How robots are allocated to splits.

    `renders`   how many renderings of a robot are told apart; 0: none are, and pools share no robot
    `skew`      the least share of each foot in skewed splits; the rest is drawn from all robots
    `skewed`    the splits that are skewed
    `tied`      how many colour schemes follow from the number of the rendering; 0: colours are drawn
    """

    renders: int = 0
    skew: tuple[tuple[str, float], ...] = ()
    skewed: tuple[str, ...] = ("train",)
    tied: int = 0

    def rows(self, pool: str, seed: int) -> Array:
        """Return the renderings of a pool, numbered as the paper does: all robots, then all robots again."""
        rng = rng_for(seed, "robots", "pools")
        if self.renders:
            return self._by_rendering(pool, rng)
        order = rng.permutation(len(ROBOTS))
        low, high = (round(share * len(order)) for share in CUTS.get(pool, (0.0, 1.0)))
        return np.asarray(order[low:high])

    def _by_rendering(self, pool: str, rng: np.random.Generator) -> Array:
        """Follow the paper: test from all, then train with its least shares of feet, and valid from what is left."""
        order = rng.permutation(self.renders * len(ROBOTS))
        tests, trains = (round(PAPER_SHARES[name] * len(order)) for name in ("test", "train"))
        rest = order[tests:]
        feet = ROBOTS[rest % len(ROBOTS), PARTS.place("foot")]
        chosen = np.zeros(len(rest), dtype=bool)
        for foot, share in self.skew:
            chosen[np.flatnonzero(feet == FEET.index(foot))[: int(share * trains)]] = True
        chosen[np.flatnonzero(~chosen)[: trains - int(chosen.sum())]] = True
        pools = {"test": order[:tests], "train": rest[chosen], "valid": rest[~chosen]}
        return np.asarray(pools.get(pool, order))

    def packs(self, split: str) -> list[tuple[str | None, int]]:
        """Return how many of a pack of cards go to each foot, and to any, where a split is skewed."""
        if self.renders or split.split("_")[0] not in self.skewed or not self.skew:
            return [(None, 1)]
        shares = {foot: Fraction(share).limit_denominator(1000) for foot, share in self.skew}
        size = lcm(*(share.denominator for share in shares.values()))
        cards = [(foot, int(share * size)) for foot, share in shares.items() if share]
        left = size - sum(count for _, count in cards)
        return [*cards, *([(None, left)] if left > 0 else [])]


@dataclass(frozen=True)
class Catalogue:
    """All robots: their concepts, their labels, and how likely those are by the parts and by the concepts."""

    rule: RobotRule
    views: Views
    knowledge: Knowledge

    @cached_property
    def concepts(self) -> Codes:
        """The concepts of every robot."""
        return self.views.concepts_of(ROBOTS)

    @cached_property
    def keys(self) -> Array:
        """A number for the combination of concepts of every robot."""
        return self.keys_of(self.concepts)

    def keys_of(self, codes: Codes) -> Array:
        """Return a number for each combination of concepts."""
        return np.asarray(np.ravel_multi_index(tuple(codes.T), self.views.space.sizes))

    @cached_property
    def labels(self) -> Array:
        """The likelier label of every robot."""
        return self.rule.of_robots.labels_of(ROBOTS)[:, 0]

    @cached_property
    def chances(self) -> tuple[Array, Array]:
        """The probability of the label of every robot, given its parts and given its concepts only."""
        return self.rule.of_robots.chances(ROBOTS)[:, 0], self.knowledge.chances(self.concepts)[:, 0]

    @cached_property
    def tells_apart(self) -> bool:
        """Whether no two robots have the same concepts."""
        return len(np.unique(self.keys)) == len(ROBOTS)

    def content(self, robot: int) -> dict[str, Value]:
        """Return the parts of a robot that its concepts do not determine."""
        return {part: PARTS.concept(part).values[ROBOTS[robot, PARTS.place(part)]] for part in self.views.hidden}

    def luck(self, robot: int, draw: float, within: float) -> float:
        """Return the random number by which the concepts give the same label that `draw` gives the whole robot.

        So a label is the same whether it is drawn given the parts or given the concepts.
        """
        by_parts, by_concepts = (float(chances[robot]) for chances in self.chances)
        if by_parts == by_concepts:
            return draw
        return within * by_concepts if draw < by_parts else by_concepts + within * (1 - by_concepts)


class RobotSource(SeededSource):
    """The robots of one split, as a function of the seed and the place."""

    def __init__(self, catalogue: Catalogue, split: Split, seed: int, allocation: Allocation, style: DrawStyle) -> None:
        super().__init__(catalogue.knowledge, split, seed, "robots", style=style)
        self.catalogue, self.allocation = catalogue, allocation
        where = f"split {split.name!r} ({split.formula})"
        labels = np.unique(catalogue.labels[self.rows % len(ROBOTS)]).astype(bool).tolist()
        if not labels:
            raise KnowledgeError(f"{where}: no robot fits, so there is nothing to draw")
        if len(labels) < 2:
            raise KnowledgeError(f"{where}: the label is always {labels[0]}: change the rule, or give the split size 0")
        for foot, _ in allocation.packs(split.name):
            if foot is not None and not len(self._rows_of(foot)):
                raise KnowledgeError(f"{where}: no robot has the foot {foot!r} that 'skew' wants")

    @cached_property
    def rows(self) -> Array:
        """The renderings that the split can hold."""
        rows = self.allocation.rows(self.split.pool, self.seed)
        return np.asarray(rows[self.inside[rows % len(ROBOTS)]])

    def _rows_of(self, foot: str | None) -> Array:
        if foot is None:
            return self.rows
        feet = ROBOTS[self.rows % len(ROBOTS), PARTS.place("foot")]
        return np.asarray(self.rows[feet == FEET.index(foot)])

    @cached_property
    def inside(self) -> Array:
        """Whether each robot is one that the split's formula, stage and share let in."""
        inside = evaluate(self.split.formula, self.catalogue.views.space, self.catalogue.concepts)
        return inside if self.split.share == (0.0, 1.0) else inside & self._in_share()

    def _in_share(self) -> Array:
        """Return whether a robot's concepts are in the split's share of the combinations that have its label."""
        keys, labels = self.catalogue.keys, self.catalogue.knowledge.labels_of(self.catalogue.concepts)[:, 0]
        chosen = np.zeros(len(keys), dtype=bool)
        for label in np.unique(labels).tolist():
            order = rng_for(self.seed, "robots", "share", label).permutation(np.unique(keys[labels == label]))
            low, high = (round(share * len(order)) for share in self.split.share)
            chosen |= (labels == label) & np.isin(keys, order[low:high])
        return chosen

    @property
    def total(self) -> int:
        """How many renderings, or robots, the split can hold."""
        return len(self.rows)

    def rows_at(self, places: Array) -> Array:
        """Return the renderings at these places: skewed by packs of cards, each pack with the shares of `skew`."""
        packs = self.allocation.packs(self.split.name)
        size = sum(count for _, count in packs)
        places = np.asarray(places, dtype=np.int64)
        cards, rounds = self._deck(size, "foot").deal(places), places // size
        rows, start = np.zeros(len(places), dtype=np.int64), 0
        for foot, count in packs:
            mine = (cards >= start) & (cards < start + count)
            rows[mine] = self._deal_rows(self._rows_of(foot), rounds[mine] * count + cards[mine] - start, foot)
            start += count
        return rows

    def _deal_rows(self, rows: Array, numbers: Array, foot: str | None) -> Array:
        """Deal renderings evenly, or labels evenly and to each its renderings."""
        if self.split.balance == "world":
            return np.asarray(rows[self._deck(len(rows), "row", foot).deal(numbers)])
        labels = self.catalogue.labels[rows % len(ROBOTS)]
        kinds = np.unique(labels)
        which, rounds = self._deck(len(kinds), "label", foot).deal(numbers), numbers // len(kinds)
        chosen = np.zeros(len(numbers), dtype=np.int64)
        for place, label in enumerate(kinds.tolist()):
            some = rows[labels == label]
            chosen[which == place] = some[self._deck(len(some), "row", foot, label).deal(rounds[which == place])]
        return chosen

    def codes(self, places: Array) -> Codes:
        """Return the concepts of the robots at these places."""
        return np.asarray(self.catalogue.concepts[self.rows_at(places) % len(ROBOTS)])

    def worlds(self, places: Array) -> list[World]:
        """Return the robots at these places, each in a style of its own."""
        return self._style_rows(places, self.rows_at(places))

    def style_worlds(self, places: Array, codes: Codes) -> list[World]:
        """Return robots with these concepts, as they look at these places; which robots, the places decide."""
        keys, own_keys = self.catalogue.keys_of(codes), self.catalogue.keys[self.rows % len(ROBOTS)]
        rows = np.zeros(len(keys), dtype=np.int64)
        for key in np.unique(keys).tolist():
            some, mine = self.rows[own_keys == key], keys == key
            rows[mine] = some[self._deck(len(some), "alike", key).deal(np.asarray(places)[mine])]
        return self._style_rows(places, rows)

    def _style_rows(self, places: Array, rows: Array) -> list[World]:
        streams = Streams(self.seed, "robots", self.split.name)
        space, stochastic, worlds = self.catalogue.views.space, self.catalogue.knowledge.stochastic, []
        for place, row in zip(np.asarray(places).tolist(), rows.tolist(), strict=True):
            rng, robot = streams[place], row % len(ROBOTS)
            luck = rng.random(2).tolist()  # before the style, so that it is the same in every modality
            codes = self.catalogue.concepts[robot].tolist()
            style = {**self.style(rng, codes, self.split.pool), **self._tied(row)}
            if self.catalogue.views.hidden:
                style[CONTENT] = self.catalogue.content(robot)
            if stochastic:
                style[LUCK] = [self.catalogue.luck(robot, *luck)]
            worlds.append(World(space, tuple(codes), style))
        return worlds

    def _tied(self, row: int) -> Style:
        return {"colours": list(SCHEMES[row % self.allocation.tied])} if self.allocation.tied else {}

    def contains(self, codes: Codes) -> Array:
        """Return whether robots with these concepts may occur in this split."""
        return np.isin(self.catalogue.keys_of(codes), self.catalogue.keys[np.unique(self.rows % len(ROBOTS))])
