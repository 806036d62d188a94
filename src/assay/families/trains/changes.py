"""Changed trains: the nearest that there are, and V-LoL's test-time interventions, which ask for no such thing."""

from collections.abc import Mapping

import numpy as np

from assay.base import Array
from assay.families.trains.source import ATTRIBUTES, VALUES, CarKinds
from assay.logic import ABSENT, Value
from assay.worlds import World


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
