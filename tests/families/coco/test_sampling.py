"""Choosing images: quotas, even deals and plans, on made-up memberships."""

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.families.coco.sampling import (
    FewShotPlan,
    Quotas,
    RegionMembership,
    available_images,
    sample_evenly,
    sample_few_shot,
    sample_in_three_steps,
)
from assay.seeds import rng_for
from assay.tasks import TASKS
from assay.worlds.split import Split

RNG = rng_for(0, "choice")
N = 4000


def membership(seed=0):
    """Three rules with 2, 1 and 1 variants, and four types; most images are far."""
    rng = rng_for(seed, "standing")
    variants = rng.random((N, 4)) < (0.1, 0.02, 0.05, 0.003)
    types = (rng.random((N, 4)) < (0.1, 0.05, 0.01, 0.002)) & ~variants.any(axis=1)[:, None]
    return RegionMembership(variants, types, np.array([0, 0, 1, 2]))


def test_three_steps_fill_quotas_and_then_plain_images():
    held = membership()
    chosen = sample_in_three_steps(held, 1000, Quotas(60, 30), 0.1, rng_for(1, "a"))
    assert len(set(chosen.tolist())) == 1000
    there, got = held.variants.sum(axis=0), held.variants[chosen].sum(axis=0)
    assert (got >= np.minimum(there, 60)).all() and (got <= 75).all()
    assert (held.types[chosen].sum(axis=0) >= np.minimum(held.types.sum(axis=0), 30)).all()
    assert 0.5 < (~held.positive[chosen]).mean() < 0.95


def test_images_of_several_rules_are_dropped_where_quotas_allow():
    held = membership()
    quota = 60
    chosen = sample_in_three_steps(held, 1000, Quotas(quota, 1), 0.1, rng_for(1, "a"))
    shared = [i for i in chosen.tolist() if len(set(held.rules[held.variants[i]])) > 1]
    got = held.variants[chosen].sum(axis=0)
    assert all((got[held.variants[i]] <= quota).any() for i in shared), "one of these could go"


def test_quotas_shrink_where_they_would_leave_no_room():
    held = membership()
    chosen = sample_in_three_steps(held, 100, Quotas(1000, 500), 0.2, rng_for(1, "a"))
    assert len(chosen) == 100 and (~held.variants.any(axis=1) & ~held.types.any(axis=1))[chosen].sum() >= 20


def test_small_sizes_are_met_exactly():
    for size in (1, 3, 24, N):
        assert len(sample_in_three_steps(membership(), size, Quotas(1, 1), 0.1, rng_for(1, "a"))) == size


def test_regions_are_dealt_in_turn():
    regions = np.zeros((60, 3), dtype=bool)
    regions[:50, 0] = regions[40:44, 1] = regions[50:52, 2] = True
    chosen = sample_evenly(regions, 9, rng_for(1, "b"))
    assert len(set(chosen.tolist())) == 9 and regions[chosen][:, 2].sum() == 2
    assert len(sample_evenly(regions, 100, rng_for(1, "b"))) == 52


def test_a_small_set_follows_its_plan():
    held = RegionMembership(membership().variants[:, :2], membership().types, np.array([0, 0]))
    plan = FewShotPlan(8, 16, 2)
    chosen = sample_few_shot(held, 24, plan, rng_for(2, "c"))
    assert held.positive[chosen].sum() == 8 and (held.variants[chosen].sum(axis=0) >= 4).all()
    assert (~held.positive & ~held.near)[chosen].sum() == 2
    near = held.types[chosen].sum(axis=0)
    assert near.min() >= 3, near


def test_what_is_lacking_is_made_up_for():
    variants = np.zeros((30, 1), dtype=bool)
    variants[:3] = True
    types = np.zeros((30, 1), dtype=bool)
    types[3:9] = True
    held = RegionMembership(variants, types, np.array([0]))
    assert available_images(held, FewShotPlan(8, 16, 2)) == 19 and available_images(held, FewShotPlan(20, 20, 0)) == 9
    chosen = sample_few_shot(held, 19, FewShotPlan(8, 16, 2), rng_for(0, "d"))
    assert len(set(chosen.tolist())) == 19 and held.positive[chosen].sum() == 3 and held.near[chosen].sum() == 6
    hard = sample_few_shot(held, 9, FewShotPlan(20, 20, 0), rng_for(0, "d"))
    assert sorted(hard.tolist()) == list(range(9))


def test_more_images_than_there_are_is_an_error():
    with pytest.raises(ConfigError, match=r"split 'valid': 100,000 images are wanted, there are \d+"):
        TASKS["cocologic"](scenes=600).worlds_in(Split("valid", 100_000, pool="valid"), 0)
