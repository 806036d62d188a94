"""The boundary of a rule in words, of counts that go by steps, of large spaces; that it is right is a law of formulas."""

import numpy as np
import pytest

from assay import Concept, ConceptSpace, bits, digits, evaluate, parse
from assay.logic import ABSENT, Var, at_least, boundary_of, exactly

COUNTED = ConceptSpace(
    (*(Concept(x, tuple(range(40)), counts=True) for x in ("n", "m", "k")), Concept("b", (False, True)))
)
BITS = bits([f"b{i}" for i in range(18)])
LARGE = {
    "digits": (parse("a + b == c + d and e > 5"), digits(["a", "b", "c", "d", "e", "g"]), {}),
    "bits": (at_least(7, *map(Var, BITS.names)), BITS, {}),
    # none is a class of its own: 0, 1-3, 4 and more; 0, 1, 2, 3 and more; 0, 1-2, 3 and more
    "counts": (parse("n >= 4 and (m == 2 or k < 3) and not b"), COUNTED, {"n": (1, 4), "m": (1, 2, 3), "k": (1, 3)}),
}


@pytest.mark.parametrize("name", LARGE)
def test_spaces_of_up_to_a_million_worlds(name):
    made, space, begins = LARGE[name]
    codes = space.all_codes()
    assert 100_000 <= len(codes) <= 1_000_000
    truths, boundary = evaluate(made, space, codes), boundary_of(made, space)
    strides = np.cumprod([1, *space.sizes[:0:-1]])[::-1]
    expected = np.zeros(len(codes), dtype=bool)
    for place, concept in enumerate(space.concepts):
        every = np.arange(len(concept.values))
        classes = sum((every >= first for first in begins.get(concept.name, ())), np.zeros_like(every))
        for code in every:
            there = np.arange(len(codes)) + (code - codes[:, place]) * strides[place]
            expected |= truths[there] & (np.abs(classes[codes[:, place]] - classes[code]) <= 1)
    assert np.array_equal(boundary.near(codes) & ~truths, expected & ~truths)
    if boundary.explicit:
        assert np.array_equal(boundary.in_variants(codes).any(axis=1), truths)
        assert np.array_equal(boundary.in_types(codes).any(axis=1), expected & ~truths)


def test_a_rule_of_too_many_ways_still_knows_near_from_far():
    space = bits([f"b{i}" for i in range(18)])
    boundary = boundary_of(exactly(9, *map(Var, space.names)), space)
    assert not boundary.explicit and boundary.variants == ()
    codes = np.array([[1] * 9 + [0] * 9, [1] * 8 + [0] * 10, [0] * 18])
    assert boundary.near(codes).tolist() == [True, True, False]
    assert boundary.tags(codes)[2] == "far" and boundary.tags(codes)[1].startswith("change b8; change b9")


def test_numbers_and_symbols_are_near_where_one_change_changes_them():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1))))
    boundary = boundary_of(parse("max(a, b)"), space)
    assert boundary.tags(np.array([[0, 0], [2, 1]])) == ["change a; change b", "change a"]
    far = boundary_of(parse("(a >= 1) + (b >= 5)"), ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 9, 8)))))
    assert far.near(np.array([[0, 0]])).tolist() == [True]


THINGS = ConceptSpace(
    (
        Concept("car", (0, 1, 2, 3), counts=True), Concept("truck", (0, 1, 2, 3), counts=True), Concept("p", (False, True)),
        Concept("hue", ("red", "blue", "grey")), Concept("n", (0, 1, 2)),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "variants", "types"),
    [
        ("car > truck and truck >= 1", ["car > truck and truck"], ["car == truck and truck", "car < truck and truck", "car > truck and not truck"]),
        ("car > truck", ["car > truck"], ["car == truck", "car < truck"]),
        ("car >= 2 and p or hue == 'red'", ["car >= 2 and p", "hue == red"], ["car == 1 and p", "car >= 2 and not p", "hue != red"]),
        ("n == 1 and p or n == 2", ["n == 2", "n != 0 and p"], ["n == 0", "n == 1 and not p", "n == 0 and p"]),
        ("car == 2 and hue != 'grey'", ["car == 2 and hue != grey"], ["car == 1 and hue != grey", "car == 3 and hue != grey", "car == 2 and hue == grey"]),
        ("p and (hue == 'red' or n >= 1)", ["p and n != 0", "p and hue == red"], ["not p and n != 0", "p and hue != red and n == 0", "not p and hue == red"]),
        ("xor(p, n == 1)", ["p and n != 1", "not p and n == 1"], ["not p and n != 1", "p and n == 1"]),
        ("count(p, hue == 'red', n == 2) >= 2", ["p and n == 2", "p and hue == red", "hue == red and n == 2"],
         ["not p and hue != red and n == 2", "p and hue != red and n != 2", "not p and hue == red and n != 2"]),
        ("n != 1 and hue in ('red', 'grey')", ["n != 1 and hue != blue"], ["n == 1 and hue != blue", "n != 1 and hue == blue"]),
        ("n == car or car == 2", ["car >= n and car == 2", "car == n and car <= 2"],
         ["car < n and car == 1", "car > n and car == 1", "car == 3", "car < n and car <= 2", "car < n and not car"]),
        ("(car == 2 or n == 1) and n == car", ["1-2 car and car == n"],
         ["not car and car < n", "car == 1 and n != 1 and car < n", "car == 2 and car > n", "car == 3", "1-2 car and n != 1 and car > n", "1-2 car and n == 1 and car > n"]),
        ("n >= 1 or car >= truck", ["n != 0", "car >= truck"], ["n == 0 and car < truck"]),
        ("p or truck >= 1", ["p", "truck"], ["not p and not truck"]),
        ("n != car and p", ["car != n and p"], ["car == n and p", "car != n and not p"]),
    ],
)  # fmt: skip
def test_variants_and_types_in_words(rule, variants, types):
    found = boundary_of(parse(rule), THINGS)
    assert [region.name for region in found.variants] == variants and [region.name for region in found.types] == types
    codes = THINGS.all_codes()
    truth = evaluate(parse(rule), THINGS, codes)
    for region, rows in zip(found.types, found.in_types(codes).T, strict=True):
        inside = evaluate(region.formula, THINGS, codes)
        assert not (inside & truth).any() and (rows == (inside & found.near(codes))).all() and rows.any()
    tags = found.tags(codes)
    names = [*variants, *types]
    members = np.concatenate([found.in_variants(codes), found.in_types(codes)], axis=1)
    assert tags == ["; ".join(name for name, own in zip(names, row, strict=True) if own) or "far" for row in members]


def test_limits_and_steps_decide_what_is_near():
    limited = boundary_of(parse("car >= 2 and p"), THINGS, parse("car + truck <= 3"))
    codes = THINGS.all_codes()
    inside = codes[:, 0] + codes[:, 1] <= 3
    one_more = (codes[:, 0] == 1) & (codes[:, 2] == 1) & (codes[:, 1] <= 1)
    lit = (codes[:, 0] >= 2) & (codes[:, 2] == 0)
    assert (limited.near(codes)[inside] == (one_more | lit)[inside]).all()
    assert [region.name for region in limited.types] == ["car == 1 and p", "car >= 2 and not p"]
    assert limited.flips(codes)[inside][:, 3:].any() == np.False_
    other = boundary_of(parse("car >= 2 and p"), THINGS, parse("car + truck <= 2"))
    assert (other.near(codes) != limited.near(codes)).any()  # each limit has a boundary of its own
    number = boundary_of(parse("n * p"), THINGS)
    assert not number.explicit and number.tags(np.array([[0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 2]])) == [
        "change p; change n",
        "far",
        "change p",
    ]
    assert number.near(codes).tolist() == [p == 1 or n > 0 for _, _, p, _, n in codes.tolist()]


ODD = ConceptSpace(
    (
        Concept("p", (False, True)), Concept("q", (True, False)), Concept("n", (0, 1, 2)), Concept("m", (2, 0, 1)), Concept("k", (1, 2, ABSENT)),
        Concept("flag", (False, True, ABSENT)), Concept("hue", ("red", "blue", ABSENT)), Concept("tone", ("blue", "red")), Concept("c", (0, 1, 2, 3), counts=True),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "p == q or p < q and n > m", "flag == p and not flag", "count(p, q, flag) >= 2 or k == n", "(n if p else m) == 2 and c > n", "hue == tone or hue != 'absent' and q", "k == flag or xor(p, q, flag)",
        "p <= (n > 1) and p != (n > 1)", "min(n, c) < m or c == 2", "all_different(n, m, c) and (n, m) in [(0, 1), (2, 1), (1, 0)]", "(1 if flag else 2) == n or not (p >= q)", "c + n == 3 and p == n",
    ],
)  # fmt: skip
def test_rules_of_odd_kinds_have_regions_that_part_their_worlds(text):
    rule, codes = parse(text), ODD.all_codes()
    truth, found = evaluate(rule, ODD, codes), boundary_of(rule, ODD)
    assert found.explicit and 0 < truth.sum() < len(codes)
    assert found.in_variants(codes).any(axis=1).tolist() == truth.tolist()
    assert found.in_types(codes).any(axis=1).tolist() == found.near(codes).tolist()


def test_truth_values_and_numbers_of_one_name_have_boundaries_of_their_own():
    truths, numbers = bits(["a", "b"]), digits(["a", "b"], range(2))
    first, second = boundary_of(parse("a == b"), truths), boundary_of(parse("a == b"), numbers)
    assert first.space.concepts[0].kind == "bool" and second.space.concepts[0].kind == "int"
    assert [region.name for region in first.variants] != [] and first.truth and second.truth
    assert boundary_of(parse("a + b"), numbers).steps is None and not boundary_of(parse("a + b"), numbers).truth


def test_a_rule_that_always_holds_has_one_variant_and_none_nearby():
    space = bits(["a", "b"])
    found = boundary_of(parse("a or not a or b"), space)
    assert [region.name for region in found.variants] == ["always"] and found.types == ()
    assert found.in_types(space.all_codes()).shape == (4, 0) and set(found.tags(space.all_codes())) == {"always"}
    assert not found.near(space.all_codes()).any()


@pytest.mark.parametrize(
    ("text", "holds"), [("True", True), ("False", False), ("count() == 0", True), ("1 > 2", False)]
)
@pytest.mark.parametrize("within", ["True", "a or b", "a and not a"])
def test_a_rule_that_names_no_concept_always_or_never_holds(text, holds, within):
    space = bits(["a", "b"])
    codes, found = space.all_codes(), boundary_of(parse(text), space, parse(within))
    assert found.explicit and [region.name for region in found.variants] == ["always"] * holds and found.types == ()
    assert found.tags(codes) == ["always" if holds else "far"] * 4 and not found.near(codes).any()


def test_rules_with_counts_have_regions_that_part_their_worlds():
    counts = ConceptSpace((*(Concept(x, tuple(range(5)), counts=True) for x in "hk"), *bits(["b", "c"]).concepts))
    codes = counts.all_codes()
    for text in (
        "h > k", "h == 2 or k >= 3", "h + k == 4", "h >= 1 and k != h", "xor(h > 1, k > 1, b)", "(h if b else k) == 3", "h % 2 == 0 and c",
        "count(h > 0, k > 0, b, c) == 2", "min(h, k) == 1", "h in (1, 4) or b", "implies(h == k, c)",
    ):  # fmt: skip
        truths, found = evaluate(parse(text), counts, codes), boundary_of(parse(text), counts)
        assert found.explicit and 0 < truths.sum() < len(codes)
        assert found.in_variants(codes).any(axis=1).tolist() == truths.tolist()
        near = found.near(codes)
        assert found.in_types(codes).any(axis=1).tolist() == near.tolist()
        one_change = (codes[:, None] != codes[None]).sum(axis=2) == 1
        assert not (near & (truths | ~(one_change & truths[None]).any(axis=1))).any()  # steps may only leave some out
