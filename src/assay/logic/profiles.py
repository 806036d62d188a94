"""The profiles of a rule: which combinations of its features' classes can occur, and the rule's value for each.

A profile is a class for every feature. Rules over few worlds have their worlds listed; rules that only group the values
of single concepts have their profiles listed, however many worlds there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from assay.base import Array, Codes, TooLarge
from assay.logic.concepts import ConceptSpace
from assay.logic.evaluation import evaluate
from assay.logic.features import Feature, GroupedValues, features_of
from assay.logic.formula import TRUE, Formula
from assay.logic.ground import ground_formula
from assay.logic.traverse import names_in

MOST_WORLDS = 200_000
MOST_PROFILES = 4096


@dataclass(frozen=True)
class Move:
    """Changes of one concept that lead from false to true: pairs of profile numbers."""

    name: str
    before: Array
    after: Array


@dataclass(frozen=True)
class Profiles:
    """The profiles that occur, a row each, whether the rule holds in each, and the moves between them."""

    features: tuple[Feature, ...]
    rows: Array
    holds: Array
    moves: tuple[Move, ...]


def profiles_of(rule: Formula, space: ConceptSpace, within: Formula) -> Profiles:
    """Return the profiles of a rule, or raise TooLarge."""
    flat = ground_formula(rule, space)
    features = features_of(flat, space)
    if not features:
        return _of_constant(rule, space)
    named = dict.fromkeys((*names_in(flat), *names_in(ground_formula(within, space))))
    places = [space.place(name) for name in named]
    if prod(space.sizes[place] for place in places) <= MOST_WORLDS:
        return _from_worlds(rule, space, within, features, places)
    if within == TRUE and all(isinstance(feature, GroupedValues) for feature in features):
        return _from_classes(rule, space, [feature for feature in features if isinstance(feature, GroupedValues)])
    raise TooLarge("the rule has too many worlds to list the ways in which it holds")


def _of_constant(rule: Formula, space: ConceptSpace) -> Profiles:
    """Return the one profile of a rule that tells nothing apart."""
    holds = evaluate(rule, space, np.zeros((1, len(space)), dtype=np.int64))
    return Profiles((), np.zeros((1, 0), dtype=np.int64), holds, ())


def _listed(sizes: Sequence[int]) -> Array:
    """Return all combinations, the last number fastest."""
    return np.stack(np.unravel_index(np.arange(prod(sizes)), tuple(sizes)), axis=1)


def _from_worlds(
    rule: Formula, space: ConceptSpace, within: Formula, features: tuple[Feature, ...], places: list[int]
) -> Profiles:
    codes = np.zeros((prod(space.sizes[p] for p in places), len(space)), dtype=np.int64)
    codes[:, places] = _listed([space.sizes[place] for place in places])
    possible, truth = evaluate(within, space, codes), evaluate(rule, space, codes)
    classes = np.stack([feature.classes(space, codes) for feature in features], axis=1).astype(np.int64)
    numbers = np.ravel_multi_index(tuple(classes.T), tuple(feature.size for feature in features))
    distinct, first, which = np.unique(numbers[possible], return_index=True, return_inverse=True)
    _refuse_many(len(distinct))
    which_of = np.full(len(codes), -1)
    which_of[possible] = which.ravel()
    rows, holds = classes[possible][first], truth[possible][first]
    concepts = {name for feature in features for name in feature.names}
    grid = _Grid(space, places, codes, which_of, truth & possible, len(distinct))
    moves = [grid.move(place, features) for place in places if space.names[place] in concepts]
    return Profiles(features, rows, holds, tuple(moves))


@dataclass(frozen=True)
class _Grid:
    """All worlds of the concepts at some places, numbered; `which` is a world's profile, -1 if it cannot be."""

    space: ConceptSpace
    places: list[int]
    codes: Codes
    which: Array
    truth: Array
    profiles: int

    def move(self, place: int, features: Sequence[Feature]) -> Move:
        """Return where a change of one concept makes the rule true."""
        sizes = [self.space.sizes[p] for p in self.places]
        stride = prod(sizes[self.places.index(place) + 1 :])
        column, numbers = self.codes[:, place], np.arange(len(self.codes))
        false = (self.which >= 0) & ~self.truth
        steps = steps_of(self.space.names[place], features)
        reached = np.zeros((self.profiles, self.profiles), dtype=bool)
        for code in range(self.space.sizes[place]):
            there = numbers + (code - column) * stride
            some = false & self.truth[there] if steps is None else false & self.truth[there] & steps[column, code]
            reached[self.which[some], self.which[there[some]]] = True
        before, after = np.nonzero(reached)
        return Move(self.space.names[place], before, after)


def _from_classes(rule: Formula, space: ConceptSpace, features: Sequence[GroupedValues]) -> Profiles:
    sizes = [feature.size for feature in features]
    _refuse_many(prod(sizes))
    rows = _listed(sizes)
    codes = np.zeros((len(rows), len(space)), dtype=np.int64)
    for number, feature in enumerate(features):
        member = np.array([feature.of.index(number_of_class) for number_of_class in range(feature.size)])
        codes[:, space.place(feature.concept.name)] = member[rows[:, number]]
    holds = evaluate(rule, space, codes)
    moves = [_class_move(number, feature, rows, holds) for number, feature in enumerate(features)]
    return Profiles(tuple(features), rows, holds, tuple(moves))


def _class_move(number: int, feature: GroupedValues, rows: Array, holds: Array) -> Move:
    stride = prod(int(size) for size in rows.max(axis=0)[number + 1 :] + 1)
    pairs = []
    for target in range(feature.size):
        there = np.arange(len(rows)) + (target - rows[:, number]) * stride
        near = np.abs(target - rows[:, number]) <= 1 if feature.concept.counts else True
        before = np.flatnonzero(~holds & holds[there] & near)
        pairs.append(np.stack([before, there[before]], axis=1))
    before, after = np.concatenate(pairs).T
    return Move(feature.concept.name, before, after)


def steps_of(name: str, features: Sequence[Feature]) -> Array | None:
    """Return the steps of a concept, or None where every change of it is one."""
    grouped = (feature for feature in features if isinstance(feature, GroupedValues))
    return next((feature.steps for feature in grouped if feature.concept.name == name), None)


def _refuse_many(profiles: int) -> None:
    if profiles > MOST_PROFILES:
        raise TooLarge(
            f"the rule tells {profiles:,} kinds of worlds apart, too many to list the ways in which it holds"
        )
