"""What can be asked about: single concepts or groups of them, what each costs, and how much may be spent."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, ConfigError, UnknownName, suggestion
from assay.logic import ConceptSpace

SLACK = 1e-9
"""Costs are added up in any order; what differs by rounding alone fits."""


@dataclass(frozen=True)
class Budget:
    """What may be spent on each example, and perhaps on all of them together."""

    each: float
    total: float | None = None

    def __post_init__(self) -> None:
        for spent in (self.each, self.total):
            if spent is not None and not (math.isfinite(spent) and spent >= 0):
                raise ConfigError(f"a budget must be a number from 0 up, not {spent}")


@dataclass(frozen=True)
class Units:
    """What is asked together: names, the places of the concepts, and the cost of each."""

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]
    sizes: tuple[int, ...]
    """The number of values of each concept of the space."""

    @classmethod
    def of(
        cls,
        space: ConceptSpace,
        groups: Mapping[str, Sequence[str]] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> "Units":
        """Return the groups in the order of their first concept, all other concepts alone; a cost is 1 unless given.

        The cost of a group is that given for it, or else what its concepts cost together.
        """
        group_of = _group_of(space, groups or {})
        gathered: dict[str, list[int]] = {}
        for place, name in enumerate(space.names):
            gathered.setdefault(group_of.get(name, name), []).append(place)
        prices = _prices(space, gathered, costs or {})
        members = tuple(tuple(places) for places in gathered.values())
        return cls(tuple(gathered), members, tuple(prices[name] for name in gathered), space.sizes)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def cost(self) -> Array:
        """The cost of each unit."""
        return np.array(self.costs)

    @property
    def whole(self) -> float:
        """What it costs to ask about everything."""
        return float(sum(self.costs))

    def concepts(self, chosen: Sequence[int]) -> tuple[int, ...]:
        """Return the places of the concepts of some units."""
        return tuple(place for unit in chosen for place in self.members[unit])

    def assignments(self, chosen: Sequence[int]) -> int:
        """Return in how many ways the concepts of some units can be answered."""
        return math.prod(self.sizes[place] for place in self.concepts(chosen))

    def check_budget(self, budget: Budget) -> None:
        """Refuse a budget that is not 0 and yet buys nothing."""
        least = min(self.costs)
        most = min(budget.each, math.inf if budget.total is None else budget.total)
        if 0 < most < least - SLACK:
            cheapest = self.names[self.costs.index(least)]
            raise ConfigError(f"a budget of {most:g} buys nothing: the cheapest concept, {cheapest!r}, costs {least:g}")

    def sets(self, budget: float, size: int, first: int = 0) -> Iterator[tuple[int, ...]]:
        """Yield the sets of so many units, from a first one on, that the budget buys."""
        if size == 0:
            yield ()
            return
        for unit in range(first, len(self) - size + 1):
            if self.costs[unit] <= budget + SLACK:
                for rest in self.sets(budget - self.costs[unit], size - 1, unit + 1):
                    yield unit, *rest

    def to_dict(self, space: ConceptSpace) -> list[dict[str, object]]:
        """Return the units as plain data."""
        rows = zip(self.names, self.members, self.costs, strict=True)
        return [{"name": n, "concepts": [space.names[p] for p in places], "cost": c} for n, places, c in rows]


def _group_of(space: ConceptSpace, groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    groups_by_name: dict[str, str] = {}
    for group, names in groups.items():
        for name in names:
            space.place(name)  # refuses a name that is none
            if name in groups_by_name:
                raise ConfigError(f"concept {name!r} is in two groups, {groups_by_name[name]!r} and {group!r}")
            groups_by_name[name] = group
        if group in space.places and group not in names:
            raise ConfigError(f"group {group!r} has the name of a concept that it does not hold")
    return groups_by_name


def _prices(space: ConceptSpace, gathered: Mapping[str, list[int]], costs: Mapping[str, float]) -> dict[str, float]:
    known = {*space.names, *gathered}
    for name, cost in costs.items():
        if name not in known:
            raise UnknownName(f"a cost for no concept or group: {name!r}{suggestion(name, known)}")
        if not (math.isfinite(cost) and cost > 0):
            raise ConfigError(f"the cost of {name!r} must be a number above 0, not {cost:g}")
    return {
        unit: float(costs.get(unit, sum(costs.get(space.names[place], 1.0) for place in places)))
        for unit, places in gathered.items()
    }
