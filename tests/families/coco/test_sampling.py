"""Choosing images: quotas, even deals and plans, on made-up memberships."""

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.families.coco import sampling
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
from assay.worlds import Split

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


# -- worked out by hand ------------------------------------------------------------------------------------------------


def flags(rows, columns, width):
    """A table of so many rows, true at the places that each column lists."""
    made = np.zeros((rows, width), dtype=bool)
    for column, places in enumerate(columns):
        made[list(places), column] = True
    return made


def small():
    """Ten images: 0 to 3 are of variants, 3 and 4 to 6 of types, 7 to 9 are far."""
    variants = flags(10, [[0, 1], [1, 2, 3]], 2)
    types = flags(10, [[3, 4, 5], [5, 6]], 2)
    return RegionMembership(variants, types, np.array([0, 1]))


def test_images_fulfil_a_rule_or_just_miss_one_and_some_can_be_selected():
    held = small()
    assert np.flatnonzero(held.positive).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(held.near).tolist() == [4, 5, 6]  # not the third, which fulfils a rule
    some = held.select(np.array([5, 3, 9, 0]))
    assert some.positive.tolist() == [False, True, False, True] and some.near.tolist() == [True, False, False, False]
    assert some.types.tolist() == [[True, True], [True, False], [False, False], [False, False]]
    assert some.rules is held.rules


@pytest.mark.parametrize(
    ("quotas", "factor", "scaled"),
    [((10, 6), 0.5, (5, 3)), ((10, 6), 0.01, (1, 1)), ((10, 0), 0.5, (5, 0)), ((1000, 500), 0.0877, (88, 44))],
)
def test_quotas_of_smaller_sets_are_never_none_where_there_was_one(quotas, factor, scaled):
    found = Quotas(*quotas).scale(factor)
    assert (found.per_variant, found.per_type) == scaled


def test_each_quota_is_filled_and_types_only_as_far_as_they_are_short():
    held = small()
    picked = sampling._by_quota(held, Quotas(9, 0), rng_for(0, "q"))
    assert picked.tolist() == [0, 1, 2, 3]
    more = set()
    for seed in range(20):
        one = sampling._by_quota(held, Quotas(1, 0), rng_for(seed, "q"))
        assert 1 <= len(one) <= 2 and set(one.tolist()) <= {0, 1, 2, 3}
        more.add(tuple(sampling._by_quota(held, Quotas(9, 2), rng_for(seed, "q")).tolist()))
    # the third counts for the first type, so that one more of it will do: 4 or 5; then two of the second are wanted
    assert more == {(0, 1, 2, 3, 5, 6), (0, 1, 2, 3, 4, 5, 6)}
    enough = sampling._by_quota(held, Quotas(9, 99), rng_for(0, "q"))
    assert enough.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_images_of_several_rules_go_only_where_every_variant_keeps_its_quota():
    variants = flags(8, [[0, 1, 2, 3], [2, 3, 4], [3, 5, 6]], 3)
    held = RegionMembership(variants, flags(8, [], 1), np.array([0, 0, 1]))
    for quota, gone in ((2, {3}), (3, set()), (1, {3}), (4, set())):
        for seed in range(6):
            picked = np.arange(8) < 7
            sampling._drop_shared(held, picked, quota, rng_for(seed, "d"))
            assert set(np.flatnonzero(~picked[:7]).tolist()) == gone, quota  # the second is of one rule, in two ways
    twice = RegionMembership(flags(5, [[0, 1, 2], [0, 1, 3]], 2), flags(5, [], 1), np.array([0, 1]))
    for seed in range(6):
        picked = np.ones(5, dtype=bool)
        sampling._drop_shared(twice, picked, 2, rng_for(seed, "d"))
        assert picked[[0, 1]].sum() == 1 and picked[2:].all()  # one goes, and then there are two of each
    unpicked = np.array([True, False, True, True, False])
    sampling._drop_shared(twice, unpicked, 1, rng_for(0, "d"))
    assert unpicked.tolist() == [False, False, True, True, False]


def test_the_third_step_takes_plain_images_before_others():
    held = small()
    chosen = sample_in_three_steps(held, 9, Quotas(1, 1), 0.1, rng_for(3, "t"))
    assert len(set(chosen.tolist())) == 9 and set(range(4, 10)) < set(chosen.tolist())
    every = sample_in_three_steps(held, 10, Quotas(1, 1), 0.1, rng_for(3, "t"))
    assert sorted(every.tolist()) == list(range(10)) and every.tolist() != sorted(every.tolist())


@pytest.mark.parametrize("rest", [0.0, 0.25, 0.5])
def test_quotas_shrink_until_a_share_is_left_to_the_third_step(rest):
    variants = flags(400, [range(100), range(100, 200)], 2)
    held = RegionMembership(variants, flags(400, [range(200, 260)], 1), np.array([0, 1]))
    chosen = sample_in_three_steps(held, 100, Quotas(100, 50), rest, rng_for(0, "r"))
    quotas = (100, 50)
    while 2 * quotas[0] + quotas[1] > 100 * (1 - rest):
        quotas = tuple(int(0.9 * quota) for quota in quotas)
    assert held.positive[chosen].sum() == 2 * quotas[0] and len(chosen) == 100
    only = sample_in_three_steps(held, 100, Quotas(100, 0), rest, rng_for(0, "r"))
    one = 100
    while 2 * one > 100 * (1 - rest):
        one = int(0.9 * one)
    assert held.positive[only].sum() == 2 * one
    tiny = sample_in_three_steps(held, 2, Quotas(1, 1), 0.9, rng_for(0, "r"))
    assert len(set(tiny.tolist())) == 2  # quotas of one shrink no more


def test_even_deals_take_one_of_each_region_in_turn_and_no_image_twice():
    regions = flags(6, [[0, 1, 2], [2], [3, 4]], 3)
    for seed in range(20):
        chosen = sample_evenly(regions, 6, rng_for(seed, "e")).tolist()
        assert sorted(chosen) == [0, 1, 2, 3, 4]  # the sixth is of none
        assert chosen[0] in (0, 1, 2) and (chosen[1] == 2 or chosen[0] == 2)
        if chosen[0] != 2:
            assert chosen[1] == 2 and chosen[2] in (3, 4) and chosen[3] in (0, 1) and chosen[4] in (3, 4)
        else:
            assert chosen[1] in (3, 4) and chosen[2] in (0, 1) and chosen[3] in (3, 4) and chosen[4] in (0, 1)
        for size in range(5):
            assert sample_evenly(regions, size, rng_for(seed, "e")).tolist() == chosen[:size]
    assert {sample_evenly(regions, 1, rng_for(seed, "e"))[0] for seed in range(20)} == {0, 1, 2}


@pytest.mark.parametrize(
    ("plan", "size", "wanted"),
    [((8, 16, 2), 24, (8, 16)), ((8, 16, 2), 12, (4, 8)), ((8, 16, 2), 1, (1, 0)), ((1, 40, 0), 20, (1, 19)),
     ((20, 20, 5), 7, (4, 3)), ((8, 16, 2), 0, (0, 0))],
)  # fmt: skip
def test_a_plan_keeps_its_share_of_positive_images(plan, size, wanted):
    made = FewShotPlan(*plan)
    assert made.size == plan[0] + plan[1]
    found = made.resize(size)
    assert (found.positive, found.negative, found.far) == (*wanted, plan[2]) and found.size == size


def test_as_many_images_are_available_as_the_plan_has_room_for():
    held = small()  # four positive, three near, three far
    for plan, number in (
        ((2, 2, 1), 4),
        ((9, 9, 1), 10),
        ((9, 9, 0), 7),
        ((3, 5, 2), 8),
        ((3, 5, 0), 6),
        ((9, 2, 0), 6),
    ):
        assert available_images(held, FewShotPlan(*plan)) == number


@pytest.mark.parametrize(
    ("plan", "size", "wanted"),  # positive, near and far
    [((2, 4, 1), 6, (2, 3, 1)), ((2, 4, 2), 6, (2, 2, 2)), ((2, 6, 1), 8, (2, 3, 3)), ((2, 3, 0), 5, (2, 3, 0)),
     ((2, 5, 0), 7, (4, 3, 0)), ((1, 9, 3), 10, (4, 3, 3)), ((2, 4, 9), 6, (2, 1, 3)), ((2, 4, 1), 3, (1, 1, 1))],
)  # fmt: skip
def test_a_small_set_has_near_images_and_far_ones_as_planned(plan, size, wanted):
    held = small()
    for seed in range(8):
        chosen = sample_few_shot(held, size, FewShotPlan(*plan), rng_for(seed, "f"))
        assert len(set(chosen.tolist())) == size
        far = ~held.positive & ~held.near
        assert (held.positive[chosen].sum(), held.near[chosen].sum(), far[chosen].sum()) == wanted
    orders = {tuple(sample_few_shot(held, size, FewShotPlan(*plan), rng_for(seed, "f")).tolist()) for seed in range(8)}
    assert len(orders) > 1


def test_regions_that_share_most_of_their_images_still_give_one_each_in_turn():
    regions = rng_for(0, "shared").random((12, 4)) < 0.7
    for seed in range(30):
        rng = rng_for(seed, "s")
        piles = [rng.permutation(np.flatnonzero(column)).tolist() for column in regions.T]
        wanted = []
        while any(set(pile) - set(wanted) for pile in piles):
            for pile in piles:
                left = [image for image in pile if image not in wanted]
                wanted += left[-1:]
        assert sample_evenly(regions, 12, rng_for(seed, "s")).tolist() == wanted


def test_where_even_the_smallest_quotas_are_too_many_any_of_the_images_may_go():
    held = RegionMembership(np.eye(20, 10, dtype=bool), flags(20, [], 1), np.arange(10))
    chosen = [sample_in_three_steps(held, 3, Quotas(1, 0), 0.0, rng_for(seed, "few")).tolist() for seed in range(12)]
    assert all(len(set(some)) == 3 and max(some) < 10 for some in chosen)
    assert len({image for some in chosen for image in some}) > 6
