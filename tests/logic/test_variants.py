"""The boundary against brute force: 200 random rules on all worlds of their spaces, and some on larger spaces."""

import itertools

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, bits, digits
from assay.logic import TRUE, Formula, evaluate, ground_formula, parse, shape_of, well_formed
from assay.logic import formula as f
from assay.logic.distance import distances
from assay.logic.features import GroupedValues, features_of
from assay.logic.variants import boundary_of
from assay.seeds import rng_for
from tests.logic.formulas import CASES, Scope, random_space, truth


def rule(number: int) -> tuple[ConceptSpace, Formula]:
    """Return a random true-or-false rule that is not constant; some of its numbers count things."""
    for attempt in itertools.count():
        rng = rng_for(12, "boundaries", number, attempt)
        space = random_space(rng)
        if number % 3 == 0:
            counted = tuple(Concept(name, tuple(range(int(rng.integers(3, 7)))), counts=True) for name in ("h", "k"))
            space = ConceptSpace((*space.concepts[:3], *counted))
        scope = Scope(space, {concept.name: concept for concept in space.concepts})
        made = truth(rng, scope, int(rng.integers(2, 5)))
        if len(set(evaluate(made, space, space.all_codes()).tolist())) == 2:
            return space, made
    raise AssertionError


def classes_of(space: ConceptSpace, made: Formula) -> dict[str, GroupedValues]:
    """Return the classes of values that the rule tells apart, for the concepts that count and have some."""
    features = features_of(ground_formula(made, space), space)
    return {x.concept.name: x for x in reversed(features) if isinstance(x, GroupedValues) and x.concept.counts}


def allowed(concept: Concept, classes: dict[str, GroupedValues], before: int, after: int) -> bool:
    """Return whether a change is one: any for most concepts, to a neighbouring class for those that count."""
    own = classes.get(concept.name)
    return own is None or abs(own.of[before] - own.of[after]) <= 1


def near_by_force(space: ConceptSpace, made: Formula, within: Formula = TRUE) -> np.ndarray:
    """Look at every change of every world, one after the other."""
    worlds = [tuple(row) for row in space.all_codes().tolist()]
    holds = dict(zip(worlds, evaluate(made, space, space.all_codes()).tolist(), strict=True))
    possible = dict(zip(worlds, evaluate(within, space, space.all_codes()).tolist(), strict=True))
    found, classes = [], classes_of(space, made)
    for world in worlds:
        changes = (
            (*world[:place], code, *world[place + 1 :])
            for place, concept in enumerate(space.concepts)
            for code in range(len(concept.values))
            if code != world[place] and allowed(concept, classes, world[place], code)
        )
        found.append(not holds[world] and any(holds[other] and possible[other] for other in changes))
    return np.array(found)


@pytest.mark.parametrize("number", range(CASES))
def test_random_rules_agree_with_brute_force(number):
    space, made = rule(number)
    codes = space.all_codes()
    boundary = boundary_of(made, space)
    expected = near_by_force(space, made)
    assert boundary.explicit
    assert np.array_equal(boundary.in_variants(codes).any(axis=1), evaluate(made, space, codes))
    assert np.array_equal(boundary.near(codes), expected)
    types = boundary.in_types(codes)
    assert np.array_equal(types.any(axis=1), expected)
    assert boundary.in_variants(codes).any(axis=0).all() and types.any(axis=0).all(), "a region is empty"
    names = [region.name for region in (*boundary.variants, *boundary.types)]
    assert len(set(names)) == len(names)
    for region in (*boundary.variants, *boundary.types):
        assert shape_of(parse(str(region.formula)), space).kind == "bool"


@pytest.mark.parametrize("number", range(0, CASES, 5))
def test_only_possible_worlds_count(number):
    space, made = rule(number)
    within = f.conjunction(well_formed(space), f.Var(space.names[0]).ne(space.concepts[0].values[0]))
    codes = space.all_codes()
    inside = evaluate(within, space, codes)
    boundary = boundary_of(made, space, within)
    assert np.array_equal(boundary.near(codes)[inside], near_by_force(space, made, within)[inside])
    assert np.array_equal(boundary.in_variants(codes).any(axis=1)[inside], evaluate(made, space, codes)[inside])
    assert np.array_equal(boundary.in_types(codes).any(axis=1)[inside], boundary.near(codes)[inside])


def distance_by_force(space: ConceptSpace, made: Formula) -> np.ndarray:
    codes = space.all_codes()
    values = evaluate(made, space, codes)
    apart = (codes[:, None, :] != codes[None, :, :]).sum(axis=2)
    other = values[:, None] != values[None, :]
    return np.where(other, apart, len(space) + 1).min(axis=1)


@pytest.mark.parametrize("number", range(0, CASES, 2))
def test_distances_agree_with_brute_force(number):
    space, made = rule(number)
    found = distances(made, space, space.all_codes())
    assert found.exact.all() and np.array_equal(found.least, distance_by_force(space, made))


def test_a_bound_counts_every_broken_part(monkeypatch):
    monkeypatch.setattr("assay.logic.distance.NODES", 0)
    ring = parse("(a or b) and (b or c) and (c or d) and (d or e) and (e or a)")
    found = distances(ring, bits(list("abcde")), np.zeros((1, 5), dtype=int))
    assert found.least.tolist() == [3] and not found.exact.any()  # five broken parts, two mended by a change


def test_only_worlds_within_count_as_the_other_side():
    space, within = bits(["a", "b", "c"]), parse("(not a or b) and not c")
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0]])
    assert distances(parse("a"), space, codes).least.tolist() == [1, 1, 1]
    assert distances(parse("a"), space, codes, within).least.tolist() == [2, 1, 1]  # with a goes b
    assert distances(parse("c"), space, codes, within).least.tolist() == [4, 4, 4]  # never across


@pytest.mark.parametrize("number", range(0, CASES, 4))
def test_bounds_without_a_diagram_are_right(number, monkeypatch):
    monkeypatch.setattr("assay.logic.distance.NODES", 0)
    space, made = rule(number)
    found, true = distances(made, space, space.all_codes()), distance_by_force(space, made)
    assert (found.least <= true).all() and np.array_equal(found.least[found.exact], true[found.exact])
    assert np.array_equal(found.exact, true == 1)


LARGE = {
    "a + b == c + d and e > 5": digits(["a", "b", "c", "d", "e", "g"]),
    "at_least(7, *bits)": bits([f"b{i}" for i in range(18)]),
    "n >= 4 and (m == 2 or k < 3) and not b": ConceptSpace(
        (*(Concept(x, tuple(range(40)), counts=True) for x in ("n", "m", "k")), Concept("b", (False, True)))
    ),
}


@pytest.mark.parametrize("text", LARGE)
def test_spaces_of_up_to_a_million_worlds(text):
    space = LARGE[text]
    made = f.at_least(7, *map(f.Var, space.names)) if "bits" in text else parse(text)
    codes = space.all_codes()
    assert 100_000 <= len(codes) <= 1_000_000
    truths = evaluate(made, space, codes)
    boundary = boundary_of(made, space)
    strides = np.cumprod([1, *space.sizes[:0:-1]])[::-1]
    expected = np.zeros(len(codes), dtype=bool)
    for place, concept in enumerate(space.concepts):
        own = [x for x in features_of(made, space) if isinstance(x, GroupedValues) and x.concept == concept]
        classes = np.array(own[0].of) if own and concept.counts else np.zeros(len(concept.values))
        for code in range(len(concept.values)):
            there = np.arange(len(codes)) + (code - codes[:, place]) * strides[place]
            expected |= truths[there] & (np.abs(classes[codes[:, place]] - classes[code]) <= 1)
    near = expected & ~truths if boundary.explicit else boundary.near(codes) & ~truths
    assert np.array_equal(boundary.near(codes) & ~truths, near) and np.array_equal(near, expected & ~truths)
    if boundary.explicit:
        assert np.array_equal(boundary.in_variants(codes).any(axis=1), truths)
        assert np.array_equal(boundary.in_types(codes).any(axis=1), near)


def test_a_rule_of_too_many_ways_still_knows_near_from_far():
    space = bits([f"b{i}" for i in range(18)])
    boundary = boundary_of(f.exactly(9, *map(f.Var, space.names)), space)
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
