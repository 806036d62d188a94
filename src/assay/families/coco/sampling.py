"""Sampling from images that exist already: by variants, near-boundary types and what is far from every boundary.

`sample_in_three_steps` is the sampling of COCOLogic-V2, `sample_evenly` takes from each region in turn, and
`sample_few_shot` fills a small set to a plan.
"""

from dataclasses import dataclass

import numpy as np

from assay.base import Array


@dataclass(frozen=True)
class RegionMembership:
    """How images stand to rules: a row an image, a column a variant or a near-boundary type of some rule.

    `rules`   the rule that each variant belongs to
    """

    variants: Array
    types: Array
    rules: Array

    def select(self, rows: Array) -> "RegionMembership":
        """Return how some of the images stand."""
        return RegionMembership(self.variants[rows], self.types[rows], self.rules)

    @property
    def positive(self) -> Array:
        """Whether an image fulfils some rule."""
        return np.asarray(self.variants.any(axis=1))

    @property
    def near(self) -> Array:
        """Whether an image fulfils no rule and just misses some."""
        return np.asarray(self.types.any(axis=1) & ~self.positive)


@dataclass(frozen=True)
class Quotas:
    """How many images of each variant at most, and of each near-boundary type at least."""

    per_variant: int
    per_type: int

    def scale(self, factor: float) -> "Quotas":
        """Return quotas for a smaller set; never none where there was one."""
        return Quotas(*(max(min(1, quota), round(quota * factor)) for quota in (self.per_variant, self.per_type)))


def sample_in_three_steps(
    membership: RegionMembership, size: int, quotas: Quotas, rest: float, rng: np.random.Generator
) -> Array:
    """Choose images: up to a quota of each variant, then more of each type that is short, then others to fill up.

    Where the first two steps leave less than a share `rest` of the size to the third, the quotas shrink.
    """
    chosen = _by_quota(membership, quotas, rng)
    while len(chosen) > size * (1 - rest) and (quotas.per_variant > 1 or quotas.per_type > 1):
        quotas = Quotas(*(max(min(1, quota), int(0.9 * quota)) for quota in (quotas.per_variant, quotas.per_type)))
        chosen = _by_quota(membership, quotas, rng)
    chosen = rng.permutation(chosen)[:size]
    others = np.setdiff1d(np.arange(len(membership.variants)), chosen)
    plain = ~membership.positive[others]
    filling = np.concatenate([rng.permutation(others[plain]), rng.permutation(others[~plain])])
    return rng.permutation(np.concatenate([chosen, filling[: size - len(chosen)]]))


def _by_quota(membership: RegionMembership, quotas: Quotas, rng: np.random.Generator) -> Array:
    picked = np.zeros(len(membership.variants), dtype=bool)
    for column in membership.variants.T:
        picked[rng.permutation(np.flatnonzero(column))[: quotas.per_variant]] = True
    _drop_shared(membership, picked, quotas.per_variant, rng)
    for column in membership.types.T:
        short = quotas.per_type - int((column & picked).sum())
        picked[rng.permutation(np.flatnonzero(column & ~picked))[: max(0, short)]] = True
    return np.flatnonzero(picked)


def _drop_shared(membership: RegionMembership, picked: Array, quota: int, rng: np.random.Generator) -> None:
    """Take away images that fulfil several rules where that leaves every variant with its quota, or all it had."""
    counts = membership.variants[picked].sum(axis=0)
    belongs = membership.rules[:, None] == np.unique(membership.rules)[None, :]
    fulfilled = (membership.variants[picked].astype(np.int64) @ belongs.astype(np.int64) > 0).sum(axis=1)
    for number in rng.permutation(np.flatnonzero(picked)[fulfilled > 1]).tolist():
        own = membership.variants[number]
        if (counts[own] > quota).all():
            picked[number] = False
            counts[own] -= 1


def sample_evenly(regions: Array, size: int, rng: np.random.Generator) -> Array:
    """Choose images so that each region gives one in turn, as long as it has some."""
    piles = [rng.permutation(np.flatnonzero(column)).tolist() for column in regions.T]
    chosen: dict[int, None] = {}
    while len(chosen) < size and any(piles):
        for pile in piles:
            while pile and pile[-1] in chosen:
                pile.pop()
            if pile and len(chosen) < size:
                chosen[pile.pop()] = None
    return np.array(list(chosen), dtype=np.int64)


@dataclass(frozen=True)
class FewShotPlan:
    """What a small set of one rule is made of: positive images, negative ones, and how many of these are far at least.

    Without any far ones (`far` 0), none are taken even where near ones are lacking.
    """

    positive: int
    negative: int
    far: int

    @property
    def size(self) -> int:
        """How many images in all."""
        return self.positive + self.negative

    def resize(self, size: int) -> "FewShotPlan":
        """Return the plan for another size, with the same share of positive images."""
        positive = min(size, max(1, round(size * self.positive / self.size)))
        return FewShotPlan(positive, size - positive, self.far)


def available_images(membership: RegionMembership, plan: FewShotPlan) -> int:
    """Return how many images a plan can have."""
    negative = ~membership.positive if plan.far else membership.near
    return min(plan.positive, int(membership.positive.sum())) + min(plan.negative, int(negative.sum()))


def sample_few_shot(membership: RegionMembership, size: int, plan: FewShotPlan, rng: np.random.Generator) -> Array:
    """Choose images to a plan: positive ones evenly over variants, near ones evenly over types, and some far ones."""
    plan = plan.resize(size)
    good = sample_evenly(membership.variants, plan.positive, rng)
    far = rng.permutation(np.flatnonzero(~membership.positive & ~membership.near))
    wanted = size - len(good)
    near = sample_evenly(membership.types & ~membership.positive[:, None], wanted - min(plan.far, len(far)), rng)
    bad = np.concatenate([near, far])[:wanted] if plan.far else near
    if len(good) + len(bad) < size:
        good = sample_evenly(membership.variants, size - len(bad), rng)
    return rng.permutation(np.concatenate([good, bad]))
