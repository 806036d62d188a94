"""Trains: what cars there are and how likely each is, trains drawn by number, changed ones, and the trains of a split.

A car is a row of seven codes; under either distribution it is one of a few hundred or thousand kinds whose chances are
known exactly, so that a car is one draw from a table. The chances of `michalski` are those of Muggleton's generator as
V-LoL uses it; `uniform` draws every attribute evenly. A changed train is the nearest that there is; V-LoL's test-time
interventions ask for no such thing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Literal

import numpy as np

from assay.base import GOLDEN, Array, Codes, Draws, KnowledgeError, fractions, mix_words, numbers_below
from assay.logic import (
    ABSENT,
    TRUE,
    Concept,
    ConceptSpace,
    EncoderGroup,
    Evaluator,
    Knowledge,
    Slot,
    Value,
    conjunction,
)
from assay.worlds import DrawStyle, SeededSource, Split, World

Distribution = Literal["michalski", "uniform"]
Car = tuple[Value, ...]

VALUES: dict[str, tuple[Value, ...]] = {
    "colour": ("yellow", "green", "grey", "red", "blue"),
    "length": ("short", "long"),
    "wall": ("solid", "braced"),
    "roof": ("none", "foundation", "solid", "braced", "peaked"),
    "axles": (2, 3),
    "loads": (0, 1, 2, 3),
    "load": ("none", "box", "golden_vase", "barrel", "diamond", "metal_pot", "oval_vase"),
}
"""The attributes of a car, and their values."""
ATTRIBUTES = tuple(VALUES)
GROUP = "cars"
TRIES = 1 << 16
"""How many trains are drawn for one position before an error is raised."""
MOST_AT_ONCE = 1 << 17


def train_space(slots: int, least: int) -> ConceptSpace:
    """Return the concepts of trains of so many cars; a car may be absent where `least` is fewer.

    >>> train_space(4, 2).names[:2], train_space(4, 2).concept("car1.axles").values
    (('car1.colour', 'car1.length'), (2, 3, 'absent'))
    """
    cars = tuple(Slot(f"car{number + 1}", GROUP, ATTRIBUTES) for number in range(slots))
    maybe = (ABSENT,) if least < slots else ()
    concepts = tuple(Concept(car.concept(name), (*VALUES[name], *maybe)) for car in cars for name in ATTRIBUTES)
    encoders = tuple(EncoderGroup(name, tuple(car.concept(name) for car in cars)) for name in ATTRIBUTES)
    return ConceptSpace(concepts, cars, encoders)


@dataclass(frozen=True, eq=False)
class CarKinds:
    """Every kind of car that a distribution draws, as rows of codes, and the chance of each."""

    codes: Array
    chances: tuple[Fraction, ...]

    @cached_property
    def steps(self) -> Array:
        """The chances added up, as shares of 2 ** 53; the last takes what rounding leaves."""
        sums, total = [], Fraction(0)
        for chance in self.chances:
            total += chance
            sums.append(round(total * 2**53))
        return np.array(sums, dtype=np.uint64)

    def draw(self, words: Array) -> Array:
        """Return the cars that 64-bit words stand for."""
        which = np.searchsorted(self.steps, words >> np.uint64(11), side="right")
        cars: Array = self.codes[np.minimum(which, len(self.codes) - 1)]
        return cars


@cache
def kinds_of(distribution: Distribution) -> CarKinds:
    """Return the cars of a distribution.

    >>> len(kinds_of("michalski").codes), len(kinds_of("uniform").codes)
    (190, 2550)
    """
    chances: dict[Car, Fraction] = {}
    for car, chance in michalski() if distribution == "michalski" else uniform():
        chances[car] = chances.get(car, Fraction(0)) + chance
    codes = [[VALUES[name].index(value) for name, value in zip(ATTRIBUTES, car, strict=True)] for car in chances]
    return CarKinds(np.array(codes, dtype=np.int64), tuple(chances.values()))


def _table(**chances: str) -> dict[str, Fraction]:
    """Return chances by value; the last is what the others leave, as in a draw by running sums."""
    *first, last = chances
    stated = {name: Fraction(chances[name]) for name in first}
    return {**stated, last: 1 - sum(stated.values(), Fraction(0))}


SHORT = _table(short="0.7", long="0.3")
LONG_ROOFS = _table(none="0.333", solid="0.444", braced="0.223")
LONG_AXLES = _table(two="0.56", three="0.44")
LONG_LOAD = _table(barrel="0.125", metal_pot="0.125", box="0.625", oval_vase="0.125")
LONG_LOADS = _table(none="0.11", one="0.55", two="0.11", three="0.23")
SHORT_COLOURS = _table(grey="0.048", red="0.048", yellow="0.524", blue="0.190", green="0.190")
SHORT_WALLS = _table(braced="0.27", solid="0.73")
SHORT_ROOFS = _table(none="0.842", solid="0.105", peaked="0.053")
SHORT_LOAD = _table(barrel="0.381", diamond="0.048", box="0.190", golden_vase="0.381")
SHORT_LOADS = _table(one="0.952", two="0.048")
NUMBERS = {"none": 0, "one": 1, "two": 2, "three": 3}
SURE = Fraction(1)


def michalski() -> Iterator[tuple[Car, Fraction]]:
    """Give each car of Muggleton's generator with its chance, in the words of the pictures."""
    draws = product(LONG_ROOFS.items(), LONG_AXLES.items(), LONG_LOADS.items(), LONG_LOAD.items())
    for (roof, a), (axles, b), (loads, c), (load, d) in draws:
        cargo = (NUMBERS[loads], load if NUMBERS[loads] else "none")
        yield ("yellow", "long", "solid", roof, NUMBERS[axles], *cargo), SHORT["long"] * a * b * c * d
    for (colour, a), (loads, b), (load, c) in product(SHORT_COLOURS.items(), SHORT_LOADS.items(), SHORT_LOAD.items()):
        roofs = {"grey": {"foundation": SURE}, "red": {"solid": SURE}}.get(colour, SHORT_ROOFS)
        walls = SHORT_WALLS if colour == "yellow" else {"solid": SURE}
        for (wall, d), (roof, e) in product(walls.items(), roofs.items()):
            yield (colour, "short", wall, roof, 2, NUMBERS[loads], load), SHORT["short"] * a * b * c * d * e


def uniform() -> Iterator[tuple[Car, Fraction]]:
    """Give each car where all attributes are drawn evenly: short cars have 2 axles and at most 2 loads."""
    for length, axles, most in (("short", (2,), 2), ("long", (2, 3), 3)):
        load = VALUES["load"][1:]
        looks = list(product(VALUES["colour"], VALUES["wall"], VALUES["roof"], axles, range(most + 1), load))
        for colour, wall, roof, axle, loads, shape in looks:
            yield (colour, length, wall, roof, axle, loads, shape if loads else "none"), Fraction(1, 2 * len(looks))


@dataclass(frozen=True)
class TrainDistribution:
    """How trains are drawn: the distribution of their cars, and from how few to how many cars, each as likely."""

    distribution: Distribution
    least: int
    most: int

    @property
    def total(self) -> int:
        """How many different trains there are."""
        kinds = len(kinds_of(self.distribution).codes)
        return int(sum(kinds**cars for cars in range(self.least, self.most + 1)))

    def draw(self, words: Array, slots: int) -> Codes:
        """Return a train for each row of 64-bit words, the first for its length; cars that are not there are absent."""
        lengths = self.least + numbers_below(words[:, 0], self.most - self.least + 1)
        cars = kinds_of(self.distribution).draw(words[:, 1 : self.most + 1])
        absent = np.array([len(VALUES[name]) for name in ATTRIBUTES])
        codes = np.tile(absent, (len(words), slots, 1))
        codes[:, : self.most] = np.where((np.arange(self.most) < lengths[:, None])[:, :, None], cars, absent)
        return codes.reshape(len(words), -1)


class TrainSource(SeededSource):
    """The trains of one split: drawn anew until they belong to it and go the way that is wanted at their place."""

    def __init__(
        self,
        knowledge: Knowledge,
        trains: TrainDistribution,
        split: Split,
        seed: int,
        *purpose: object,
        style: DrawStyle,
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose, style=style)
        self.trains = trains

    @property
    def total(self) -> int:
        """How many different trains can be drawn, whichever way they go."""
        return self.trains.total

    @cached_property
    def inside(self) -> Evaluator:
        """Whether a train is possible, and one that the split's formula and stage let in."""
        parts = [part for part in (self.knowledge.possible, self.split.formula) if part != TRUE]
        return Evaluator(self.knowledge.space, conjunction(*parts))

    def contains(self, codes: Codes) -> Array:
        """Return whether each train may occur in this split."""
        codes = np.asarray(codes, dtype=np.int64)
        return np.asarray(self.inside(codes)) & self._in_share(codes)

    def _in_share(self, codes: Codes) -> Array:
        """Return whether each train is in the split's share of all trains: a number from 0 to 1 hashed from it."""
        low, high = self.split.share
        if (low, high) == (0.0, 1.0):
            return np.ones(len(codes), dtype=bool)
        state = np.full(len(codes), Draws(self.seed, *self.purpose, "share").key, np.uint64)
        for column in codes.T:
            state = mix_words(state * np.uint64(GOLDEN) + column.astype(np.uint64) + np.uint64(1))
        number = fractions(state)
        return np.asarray((number >= low) & (number < high))

    def codes(self, places: Array) -> Codes:
        """Return the concepts of the trains at these places; labels by turns where the split balances them."""
        places = np.asarray(places, dtype=np.int64)
        balanced = self.split.balance == "label"
        wanted = self._deck(2, "label").deal(places) if balanced else None
        codes = np.zeros((len(places), len(self.knowledge.space)), dtype=np.int64)
        todo, turn, batch = np.arange(len(places)), 0, 2
        while len(todo):
            if turn >= TRIES:
                raise KnowledgeError(self._in_vain(len(todo), None if wanted is None else wanted[todo[0]]))
            tried = self._draw_tries(places[todo], turn, batch)
            fits = self.contains(tried)
            if wanted is not None:
                fits &= self.knowledge.labels_of(tried)[:, 0] == np.repeat(wanted[todo], batch)
            fits = fits.reshape(len(todo), batch)
            hit = fits.any(axis=1)
            codes[todo[hit]] = tried.reshape(len(todo), batch, -1)[hit, fits[hit].argmax(axis=1)]
            turn, todo = turn + batch, todo[~hit]
            batch = max(1, min(2 * batch, MOST_AT_ONCE // max(1, len(todo)), TRIES - turn))
        return codes

    def _draw_tries(self, places: Array, turn: int, batch: int) -> Codes:
        """Return the next few trains of each place, of an endless row of them that depends on the place alone."""
        draws = Draws(self.seed, *self.purpose, self.split.name, "train")
        turns = np.arange(turn, turn + batch, dtype=np.uint64)
        numbers = (places.astype(np.uint64)[:, None] * np.uint64(TRIES) + turns).ravel()
        return self.trains.draw(draws.words(numbers, self.trains.most + 1), len(self.knowledge.space.slots))

    def _in_vain(self, places: int, wanted: int | None) -> str:
        label, name = self.knowledge.labels[0], self.split.name
        what = "fits" if wanted is None else f"has the label {label.name} = {bool(wanted)} and fits"
        return (
            f"split {name!r}: of {TRIES:,} trains drawn for a place none {what} ({places:,} places are left): the rule"
            " or the split leaves too few; change the rule, 'stages' or the number of cars"
        )


SHAPES = {"yellow": "rectangle", "green": "bucket", "grey": "ellipse", "red": "hexagon", "blue": "u_shaped"}
WALLS = {"solid": "not_double", "braced": "double"}
ROOFS = {"none": "none", "foundation": "arc", "solid": "flat", "braced": "jagged", "peaked": "peaked"}
LOADS = {
    **{"none": "none", "box": "rectangle", "golden_vase": "triangle", "barrel": "circle"},
    **{"diamond": "diamond", "metal_pot": "hexagon", "oval_vase": "utriangle"},
}
"""What the words of the pictures are in Michalski's trains."""


def cars_of(codes: Sequence[int]) -> list[dict[str, Value]]:
    """Return the cars of a train by attribute, those that are there, from the engine on."""
    rows = np.array(codes, dtype=np.int64).reshape(-1, len(ATTRIBUTES)).tolist()
    named = [list(zip(ATTRIBUTES, row, strict=True)) for row in rows]
    return [{n: VALUES[n][c] for n, c in row} for row in named if all(c < len(VALUES[n]) for n, c in row)]


def michalski_text(cars: Sequence[Mapping[str, Value]]) -> str:
    """Return a train in the words of Michalski's: eight a car, its number first.

    >>> michalski_text(cars_of([0, 0, 0, 0, 0, 1, 3]))
    '1 rectangle short not_double none 2 circle 1'
    """
    return " ".join(" ".join(map(str, michalski_car(number, car))) for number, car in enumerate(cars, start=1))


def michalski_car(number: int, car: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return a car as V-LoL writes it: number, shape, length, wall, roof, wheels, shape and number of its loads."""
    appearance = SHAPES[str(car["colour"])], car["length"], WALLS[str(car["wall"])], ROOFS[str(car["roof"])]
    return number, *appearance, car["axles"], LOADS[str(car["load"])], car["loads"]


def nearest_car(kinds: CarKinds, car: Array, wanted: Mapping[int, int]) -> Array | None:
    """Return the car most like this one among those that have the attributes wanted; None where there is none."""
    fits = np.all([kinds.codes[:, place] == code for place, code in wanted.items()], axis=0)
    if not fits.any():
        return None
    alike = kinds.codes[fits]
    nearest: Array = alike[(alike == car).sum(axis=1).argmax()]
    return nearest


def change_train(kinds: CarKinds, cars: Array, wanted: Mapping[int, Mapping[int, int]], least: int) -> Array | None:
    """Return a train with attributes of some cars changed, and in these cars what must follow.

    The last car can be taken away (any attribute becomes absent), and a car can be added, like the one before it.
    """
    train, gone = cars.copy(), np.array([len(VALUES[name]) for name in ATTRIBUTES])
    there = int((cars[:, 0] != gone[0]).sum())
    for number in sorted(wanted):
        leaves = [code == gone[place] for place, code in wanted[number].items()]
        if any(leaves):
            if not all(leaves) or number < there - 1 or number < least:
                return None
            train[number], there = gone, min(there, number)
            continue
        if number > there:
            return None
        car = nearest_car(kinds, train[max(0, number - 1)] if number == there else train[number], wanted[number])
        if car is None:
            return None
        train[number], there = car, max(there, number + 1)
    return train


def swap_loads(world: World) -> World | None:
    """Return the train with a golden vase for each barrel and a barrel for each vase; None if it has neither."""
    other = {"barrel": "golden_vase", "golden_vase": "barrel"}
    names = [slot.concept("load") for slot in world.space.slots]
    changes = {name: other[str(world[name])] for name in names if world[name] in other}
    return world.do(changes) if changes else None


def remove_roofs(world: World) -> World | None:
    """Return the train with all roofs gone; None if it has none."""
    names = [slot.concept("roof") for slot in world.space.slots]
    changes: dict[str, Value] = {name: "none" for name in names if world[name] not in ("none", ABSENT)}
    return world.do(changes) if changes else None
