"""Worlds at the boundary: every variant and type in its turn or by its quota, rare ones too, and none from elsewhere."""

from collections import Counter

import numpy as np
import pytest

from assay.base import Codes, ConfigError
from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, Var, bits, digits, parity, parse
from assay.worlds import HardSource, Quota, Split, WorldSource
from tests.boundaries import counts, in_turn

XOR = Knowledge.of(bits(["a", "b", "c"]), {"y": "a ^ b ^ c"})
RULE = Knowledge.of(bits([*"abcdefgh"]), {"y": "a and (b or c)"})
RARE = Knowledge.of(bits([f"b{i}" for i in range(20)]), {"y": " and ".join(f"b{i}" for i in range(12))})
SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
STEP = Knowledge.of(ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)))), {"s": "(a >= 1) + (b >= 1)"})
TWO = Knowledge.of(bits([*"abcdef"]), {"y": "a and b", "z": "c or d"})
MIXED = Knowledge.of(digits(["a", "b", "c"]), {"rest": "(a + b) % 3", "zero": "a == 0 and b == 0 and c == 0"})
WIDE = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": parity(*(Var(f"b{i}") for i in range(64)))})
ALL = {"XOR": XOR, "RULE": RULE, "RARE": RARE, "SUM": SUM, "STEP": STEP, "TWO": TWO, "MIXED": MIXED}


def source(
    knowledge: Knowledge, size: int = 60, quota: Quota | None = None, seed: int = 0, **split: object
) -> HardSource:
    quota = quota or Quota()
    held = Split(name="hard", size=size, quota=quota, **split)  # type: ignore[arg-type]
    return HardSource(WorldSource(knowledge, held, seed, "test"), quota)


def drawn(held: HardSource) -> Codes:
    return held.codes(np.arange(held.split.size))


def rows(codes: Codes) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, codes.tolist()))


def by_name(knowledge: Knowledge, codes: Codes) -> dict[str, int]:
    """Return how many worlds are in each region of the first label, and `far`."""
    return dict(Counter(tag for text in knowledge.boundaries[0].tags(codes) for tag in text.split("; ")))


# -- in turn -----------------------------------------------------------------------------------------------------------


def test_every_variant_and_type_has_its_turn_before_any_has_a_second() -> None:
    codes = drawn(source(XOR, 40))  # each of the 8 worlds is alone in a variant or a type
    assert [set(rows(codes[start : start + 8]).values()) for start in range(0, 40, 8)] == [{1}] * 5
    assert len(rows(codes[:8])) == 8


def test_far_worlds_have_one_turn_and_the_regions_of_a_rule_one_each() -> None:
    found = by_name(RULE, drawn(source(RULE, 60)))
    assert sorted(found) == sorted(["a and b", "a and c", "not a and b", "not a and c", "a and not b and not c", "far"])
    assert found["far"] == found["a and not b and not c"] == 10  # these two share no world with another
    assert sum(found.values()) >= 60 and min(found.values()) == 10


@pytest.mark.parametrize("name", ALL)
def test_every_region_has_its_share(name: str) -> None:
    codes = drawn(source(ALL[name], 300))
    assert in_turn(ALL[name], codes)
    everything = ALL[name].space.all_codes() if ALL[name].space.worlds <= 2**10 else codes
    assert len(counts(ALL[name], codes)) == len(counts(ALL[name], everything))


def test_the_worlds_of_a_region_are_drawn_once_before_any_is_drawn_twice() -> None:
    held = source(RULE, 6 * 32)
    codes = drawn(held)
    far = codes[np.array(RULE.boundaries[0].tags(codes)) == "far"]
    assert len(far) == 32 and set(rows(far).values()) == {1}  # of 2**5 worlds without a, b and c


def test_rare_types_are_found() -> None:
    codes = drawn(source(RARE, 140))
    assert len(RARE.boundaries[0].types) == 12 and len(counts(RARE, codes)) == 14
    assert counts(RARE, codes) == [10] * 14  # each type is one in 4,096 worlds


def test_a_rare_label_beside_a_number_is_found() -> None:
    codes = drawn(source(MIXED, 300))
    assert MIXED.labels_of(codes)[:, 1].any()  # one world in 1,000


# -- labels of other kinds, and several --------------------------------------------------------------------------------


def test_numbers_have_no_variants_but_concepts_that_change_them() -> None:
    codes = drawn(source(STEP, 300))
    near = STEP.boundaries[0].flips(codes)
    assert (near.sum(axis=0) >= 150).all() and len(rows(codes)) == 9


def test_a_number_that_a_change_leaves_alone_is_far() -> None:
    space = ConceptSpace((Concept("a", (0, 1, 2, 3)), Concept("b", (0, 1, 2, 3))))
    codes = drawn(source(Knowledge.of(space, {"s": "(a == 3) * (b == 3) + (a < 9)"}), 90))
    far = (codes != 3).all(axis=1)
    assert far.sum() == 30 and len(rows(codes[far])) == 9


def test_of_several_labels_each_has_its_regions_and_far_is_far_from_all() -> None:
    codes = drawn(source(TWO, 90))  # whatever is false of z is near it, so nothing is far from both
    a, b, c, d = codes[:, :4].T.astype(bool)
    for region in (a & b, a & ~b, ~a & b, c, d, ~c & ~d):
        assert region.sum() >= 15


def test_constraints_and_the_split_limit_what_is_chosen() -> None:
    limited = Knowledge.of(bits([*"abcd"]), {"y": "a and b"}, [Constraint("one", parse("c or d"))])
    held = source(limited, 100, where=parse("not (a and c)"))
    codes = drawn(held)
    assert not limited.violations(codes).any() and not (codes[:, 0] & codes[:, 2]).any()
    assert in_turn(limited, codes) and held.contains(codes).all()


# -- by quota ----------------------------------------------------------------------------------------------------------


def test_quotas_fill_variants_then_types_then_far_ones() -> None:
    codes = drawn(source(RULE, 80, Quota(per_variant=20, per_type=12)))
    found = by_name(RULE, codes)
    assert len(rows(codes)) == 80  # no world twice
    assert found["a and b"] >= 20 and found["a and c"] == 20  # filled up: those that it shares with the first count
    assert found["not a and b"] >= 12 and found["not a and c"] >= 12 and found["a and not b and not c"] == 12
    true, near = RULE.labels_of(codes)[:, 0] == 1, RULE.boundaries[0].near(codes)
    assert found["far"] == 80 - true.sum() - near.sum() > 0


def test_quotas_are_met_without_more_than_they_ask() -> None:
    disjoint = Knowledge.of(bits([*"abcdefgh"]), {"y": "a and b and c or not a and not b and not c"})
    held = source(disjoint, 64, Quota(7, 3))
    assert counts(disjoint, drawn(held)[:32]) == [7, 7, 3, 3, 3, 3, 3, 3]  # every false world is near one of the two
    assert set(rows(drawn(held)).values()) == {2} and held.total == 32  # and what is left begins again


def test_a_region_with_fewer_worlds_than_its_quota_is_taken_whole() -> None:
    held = source(XOR, 24, Quota(per_variant=50, per_type=50))
    assert rows(drawn(held)) == dict.fromkeys(map(tuple, XOR.space.all_codes().tolist()), 3)


@pytest.mark.parametrize("quota", [Quota(per_variant=4), Quota(per_type=4)])
@pytest.mark.parametrize("name", ["RULE", "SUM", "TWO", "STEP"])
def test_one_number_stands_for_both(name: str, quota: Quota) -> None:
    assert quota.is_set and not Quota().is_set
    assert (drawn(source(ALL[name], 60, quota)) == drawn(source(ALL[name], 60, Quota(4, 4)))).all()


def test_quotas_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"split 'hard': its quotas ask for \d+ worlds, more than its size of 30"
    ) as it:
        source(RULE, 30, Quota(per_variant=20, per_type=20))
    assert "\n" not in str(it.value) and "lower per_variant or per_type" in str(it.value)


def test_held_out_worlds_stay_out_of_64_bits_too() -> None:
    inner = source(WIDE, 100, share=(0.0, 0.8))
    outer = WorldSource(WIDE, Split("ood", 100, share=(0.8, 1.0)), 0, "test")
    assert not outer.contains(drawn(inner)).any() and len(rows(drawn(inner))) == 100


def test_stages_share_out_the_same_worlds_as_in_training() -> None:
    stages = (parse("a"), parse("not a"))
    held = source(RULE, 200, share=(0.0, 0.7), stages=stages)
    split = Split("ood", 10, share=(0.7, 1.0), stages=stages)
    assert not WorldSource(RULE, split, 0, "test").contains(drawn(held)).any()
