"""Worlds at the decision boundary: so many of each variant, so many of each near-boundary type, and the rest far.

Rare types are found by changing one concept of sampled worlds, instead of sampling until they occur.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, ConfigError, SeededPermutation, rng_for
from assay.worlds.source import SeededSource
from assay.worlds.world import Quota, World

POOL = 4000
CHANGED = 1000
"""Of how many worlds each concept is changed."""
MOST_CHANGED = 20_000
"""How many worlds are changed at most, all concepts together."""


@dataclass(frozen=True)
class Group:
    """The worlds of one variant or type, or those that are far: a name, and numbers in the pool."""

    kind: str
    name: str
    members: Array


class HardSource:
    """Worlds of a split, chosen by variant and near-boundary type; all else is as in the source that they come from."""

    def __init__(self, base: SeededSource, quota: Quota) -> None:
        self.base = base
        self.split = base.split
        self.quota = quota
        self.chosen = self._by_quota() if quota.is_set else self._evenly()

    @cached_property
    def pool(self) -> Codes:
        """The worlds to choose from: the first ones sampled, and these with one concept changed."""
        base, knowledge = self.base, self.base.knowledge
        sampled = base.codes(np.arange(POOL))
        candidates = [sampled]
        rng = rng_for(base.seed, *base.purpose, "hard")
        each = min(CHANGED, MOST_CHANGED // len(knowledge.space))
        for place, size in enumerate(knowledge.space.sizes):
            other = sampled[:each].copy()
            other[:, place] = (other[:, place] + rng.integers(1, max(size, 2), size=len(other))) % size
            candidates.append(other)
        distinct = np.unique(np.concatenate(candidates), axis=0)
        inside = knowledge.can_be(distinct) & base.contains(distinct)
        return distinct[inside][np.argsort(rng.random(int(inside.sum())))]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The worlds of the pool by variant and type of each label, and those that are far from every boundary."""
        groups, near = list[Group](), np.zeros(len(self.pool), dtype=bool)
        for label, boundary in zip(self.base.knowledge.labels, self.base.knowledge.boundaries, strict=True):
            if boundary.explicit:
                variants, types = boundary.in_variants(self.pool), boundary.in_types(self.pool)
                names = [region.name for region in boundary.types]
                for place, region in enumerate(boundary.variants):
                    groups.append(Group("variant", f"{label.name}: {region.name}", np.flatnonzero(variants[:, place])))
                near |= variants.any(axis=1) | types.any(axis=1)
            else:
                types, names = boundary.flips(self.pool), list(boundary.space.names)
                near |= types.any(axis=1)
            for place, name in enumerate(names):
                groups.append(Group("type", f"{label.name}: {name}", np.flatnonzero(types[:, place])))
        groups.append(Group("far", "far", np.flatnonzero(~near)))
        return tuple(group for group in groups if len(group.members))

    def _deck(self, *purpose: object, size: int) -> SeededPermutation:
        return SeededPermutation(size, self.base.seed, *self.base.purpose, self.split.name, *purpose)

    def _evenly(self) -> Array:
        """Take turns among the groups."""
        places = np.arange(self.split.size)
        rounds, chosen = places // len(self.groups), np.zeros(len(places), dtype=np.int64)
        which = self._deck("group", size=len(self.groups)).deal(places)
        for number, group in enumerate(self.groups):
            mine = which == number
            chosen[mine] = group.members[self._deck(group.name, size=len(group.members)).deal(rounds[mine])]
        return chosen

    def _by_quota(self) -> Array:
        """Bring each variant up to its quota, then each type, as far as there are worlds; then add far ones."""
        picked: dict[int, None] = {}
        for kind, quota in (("variant", self.quota.of_variants), ("type", self.quota.of_types)):
            for group in self.groups:
                if group.kind == kind:
                    fresh = [number for number in group.members.tolist() if number not in picked]
                    short = quota - (len(group.members) - len(fresh))
                    picked |= dict.fromkeys(fresh[: max(0, short)])
        if len(picked) > self.split.size:
            raise ConfigError(
                f"split {self.split.name!r}: its quotas ask for {len(picked):,} worlds, more than its size of "
                f"{self.split.size:,}; lower per_variant or per_type"
            )
        far = [number for group in self.groups if group.kind == "far" for number in group.members.tolist()]
        picked |= dict.fromkeys(far[: self.split.size - len(picked)])
        chosen = np.array(list(picked))
        order = self._deck("order", size=len(chosen)).deal(np.arange(self.split.size))
        return np.asarray(chosen[order])

    @property
    def total(self) -> int:
        """How many different worlds are chosen."""
        return len(np.unique(self.chosen))

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        return self.pool[self.chosen[np.asarray(places, dtype=np.int64) % len(self.chosen)]]

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places, each with a style of its own."""
        return self.base.style_worlds(places, self.codes(places))

    def contains(self, codes: Codes) -> Array:
        """Return whether each world may occur in this split."""
        return self.base.contains(codes)
