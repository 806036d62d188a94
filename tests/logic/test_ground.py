"""What formulas give on a space: kinds and ranges that hold every value, what is refused, and where each way begins."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import FormulaError, TooLarge
from assay.logic import (
    Constraint,
    Decoder,
    Knowledge,
    chance_of,
    compile_diagram,
    distance,
    evaluate,
    ground,
    ground_formula,
    parse,
    shape_of,
    true_outcomes,
    uniform,
    well_formed,
)
from assay.logic.decode import FEW_WORLDS, MOST_VALUES, _by_set, _distinct, _row_numbers, _traced
from assay.logic.distance import distances
from assay.logic.evaluation import NARROW, ROWS
from assay.logic.ground import MOST_CASES, FormulaShape, bounds, check_formula, present
from assay.logic.limits import conjoin
from assay.logic.profiles import MOST_PROFILES, profiles_of
from assay.logic.tally import compile_tallied
from assay.logic.variants import boundary_of
from assay.seeds import rng_for

SPACE = ConceptSpace(
    (
        Concept("a", (-3, -1, 2)), Concept("b", (2, 5)), Concept("c", (-4, 1)), Concept("t", (False, True)),
        Concept("hue", ("red", "blue")), Concept("tone", ("blue", "grey")), Concept("size", (1, 2, ABSENT)), Concept("far", ("x", "y")),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("a + b", -1, 7), ("a - b", -8, 0), ("-a", -2, 3), ("a * c", -8, 12), ("a * b * c", -40, 60), ("b // 2", 1, 2), ("a // b", -2, 1),
        ("a % b", 0, 4), ("abs(a)", 0, 3), ("abs(b)", 2, 5), ("abs(c - 2)", 1, 6), ("min(a, c)", -4, 1), ("max(a, b)", 2, 5), ("max(a, c)", -3, 2),
        ("count(t, a > 0, b == 2)", 0, 3), ("7", 7, 7), ("a if t else b", -3, 5), ("b ** 2", 0, 25), ("t + 1", 1, 2),
    ],
)  # fmt: skip
def test_numbers_lie_within_their_range(text, least, most):
    shape = shape_of(parse(text), SPACE)
    assert (shape.kind, shape.least, shape.most) == ("int", least, most)
    codes = SPACE.all_codes()
    found = evaluate(parse(text), SPACE, codes[codes[:, 6] < 2])
    assert least <= found.min() and found.max() <= most


@pytest.mark.parametrize("name", ["//", "%", "min", "max", "abs", "pow"])
def test_bounds_hold_for_all_arguments(name):
    functions = {
        "//": lambda x, y: x // y, "%": lambda x, y: x % y, "min": min, "max": max, "abs": lambda x, y: abs(x), "pow": lambda x, y: x**y,
    }  # fmt: skip
    for low, high, (first, last) in product((-5, -2, 0, 3), (-1, 0, 4), ((1, 2), (2, 4), (-3, -1))):
        if low > high or (name == "pow" and first < 0):
            continue
        values = [functions[name](x, y) for x in range(low, high + 1) for y in range(first, last + 1)]
        least, most = bounds(name, [(low, high), (first, last)])
        assert least <= min(values) and max(values) <= most
        if name in ("//", "min", "max", "abs"):
            assert (least, most) == (min(values), max(values))
    assert (
        bounds("//", [(-7, 9), (-1, 3)]) == (-9, 9)
        and bounds("%", [(0, 9), (2, 5)]) == (0, 4)
        and bounds("%", [(0, 9), (-5, -2)]) == (-4, 0)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a and t", "'a' is a number, not true or false"), ("hue and t", "'hue' is a symbol, not true or false"),
        ("hue + 1", "'hue' is a symbol, not a number"), ("hue < tone", "symbols have no order"), ("hue == 3", "a symbol and a number"),
        ("hue == 'rd'", "no value 'rd'; did you mean 'red'"), ("hue == far", "they have no value in common"), ("size + 1", "may be absent"),
        ("size > 1", "may be absent"), ("a // c", "which can be zero"), ("b // (a + 1)", "which can be zero"), ("b ** a", "must lie in 0..64"),
        ("b ** 65", "must lie in 0..64"), ("hue if t else a", "are of different kinds"), ("q + 1", "no concept named 'q'"),
        ("any(x.size == 1 for x in boxes)", "no group of slots named 'boxes'"), ("hue in ('red', 'rose')", "no value 'rose'"),
    ],
)  # fmt: skip
def test_formulas_that_do_not_fit(text, message):
    with pytest.raises(FormulaError) as caught:
        shape_of(parse(text), SPACE)
    assert message in str(caught.value)


def test_kinds_symbols_and_absence():
    assert (
        shape_of(parse("hue == tone"), SPACE) == FormulaShape("bool")
        and shape_of(parse("size == 'absent'"), SPACE).kind == "bool"
    )
    assert shape_of(parse("hue if t else tone"), SPACE).symbols == ("red", "blue", "grey")
    shape = shape_of(parse("size"), SPACE)
    assert (shape.least, shape.most, shape.optional, shape.symbols) == (1, 2, True, (ABSENT,))
    slotted = slots(1)
    assert shape_of(parse("s1.size != 'absent' and s1.n > 1"), slotted).kind == "bool"
    assert shape_of(parse("implies(s1.size != 'absent', s1.n > 1)"), slotted).kind == "bool"
    with pytest.raises(FormulaError, match="may be absent"):
        shape_of(parse("s1.size == 'absent' and s1.n > 1"), slotted)
    assert shape_of(parse("t if t else 3"), SPACE) == FormulaShape("int", 0, 3)


def slots(count, sure=0):
    """Slots with a size and a number, of which the first ones are surely there."""
    own = tuple(Slot(f"s{n}", "ss", ("size", "n")) for n in range(1, count + 1))
    return ConceptSpace(
        tuple(
            Concept(slot.concept(name), (*values, *(() if place < sure else (ABSENT,))))
            for place, slot in enumerate(own)
            for name, values in (("size", ("big", "small")), ("n", (1, 2, 3)))
        ),
        own,
    )


def test_quantifiers_are_spelled_out_over_slots_that_are_there():
    space = slots(2, sure=1)
    assert (
        str(ground_formula(parse("any(x.n > 1 for x in ss)"), space)) == "s1.n > 1 or s2.size != 'absent' and s2.n > 1"
    )
    assert ground_formula(parse("all(x.n > 1 for x in ss)"), space) == parse(
        "s1.n > 1 and implies(s2.size != 'absent', s2.n > 1)"
    )
    assert ground_formula(parse("count(x.number == 2 for x in ss)"), space) == parse(
        "count(1 == 2, s2.size != 'absent' and 2 == 2)"
    )
    assert ground_formula(parse("any(x.n < y.n for x, y in pairs(ss))"), space) == parse(
        "s2.size != 'absent' and s1.n < s2.n"
    )
    assert (
        str(present(space.slots[0], space)) == "True" and str(present(space.slots[1], space)) == "s2.size != 'absent'"
    )
    codes = space.all_codes()
    whole = (codes[:, 2] == 2) == (codes[:, 3] == 3)
    assert evaluate(well_formed(space), space, codes).tolist() == whole.tolist()
    assert str(well_formed(slots(1, sure=1))) == "True" and MOST_CASES == 200_000


def test_rows_beyond_one_piece_are_computed_too():
    codes = rng_for(0, "rows").integers(0, 3, (ROWS + 7, 2))
    space = digits(["a", "b"], (0, 1, 5))
    assert np.array_equal(evaluate(parse("a + b > 4"), space, codes), np.isin(codes, [2]).any(axis=1))
    wide = digits(["a", "b"], tuple(range(NARROW + 3)))
    many = np.array([[NARROW, 1], [NARROW + 2, NARROW + 1], [0, NARROW + 2]])
    assert evaluate(parse("a - b"), wide, many).tolist() == [NARROW - 1, 1, -NARROW - 2]


def test_distances_are_the_fewest_changes():
    space = digits(["a", "b", "c"], (0, 1, 2))
    codes, rule, within = space.all_codes(), parse("a + b + c == 6 or a == 1 and b == 2"), parse("c != 1")
    truth, inside = evaluate(rule, space, codes), evaluate(within, space, codes)
    expected = []
    for row, now in zip(codes, truth, strict=True):
        other = [(row != one).sum() for one, then, ok in zip(codes, truth, inside, strict=True) if ok and then != now]
        expected.append(min(other))
    found = distances(rule, space, codes, within)
    assert found.least.tolist() == expected and found.exact.all()
    never = distances(parse("a >= 0"), space, codes)
    assert set(never.least.tolist()) == {4}  # one more than there are concepts


def test_distances_without_a_diagram_are_bounds(monkeypatch):
    monkeypatch.setattr(distance, "NODES", 3)
    space = bits(["a", "b", "c", "d"])
    codes = space.all_codes()
    found = distances(parse("a and b and (c or a) and d"), space, codes)
    broken = (~codes.astype(bool)[:, [0, 1, 3]]).sum(axis=1) + ~(codes[:, 2] | codes[:, 0]).astype(bool)
    truth = codes[:, 0] & codes[:, 1] & codes[:, 3]
    single = np.array(
        [any((truth[codes_of(row, place)] != now) for place in range(4)) for row, now in zip(codes, truth, strict=True)]
    )
    assert found.exact.tolist() == single.tolist()
    assert found.least.tolist() == np.where(single, 1, np.maximum(-(-broken // 2), 2)).tolist()


@pytest.mark.parametrize(
    "text", ["-10 + (a // 3) * (b // 3)", "'far' if a == 3 and b == 3 else 'near'", "9 - a // 3 * b // 3"]
)
def test_bounds_of_numbers_and_symbols_are_one_change_or_two(text, monkeypatch):
    space, codes = digits(["a", "b"], range(4)), np.array([[0, 0], [3, 0], [3, 3], [1, 3], [2, 2]])
    exact = distances(parse(text), space, codes)
    assert exact.least.tolist() == [2, 1, 1, 1, 2] and exact.exact.all()
    monkeypatch.setattr(distance, "NODES", 0)
    found = distances(parse(text), space, codes)
    assert found.least.tolist() == [2, 1, 1, 1, 2] and found.exact.tolist() == [False, True, True, True, False]


def codes_of(row, place):
    """The number of the world in which one bit is another."""
    other = row.copy()
    other[place] = 1 - other[place]
    return int("".join(map(str, other)), 2)


def test_diagrams_rank_worlds_and_find_the_likeliest():
    space = digits(["a", "b"], (0, 1, 2))
    diagram = compile_diagram([parse("a + b")], space)
    codes = space.all_codes()
    wanted = np.array([outcome[0] in (1, 3) for outcome in diagram.outcomes])
    ranking = diagram.among(wanted)
    inside = np.isin(codes.sum(axis=1), (1, 3))
    assert (
        ranking.total == 4
        and sorted(ranking.ranks(codes[inside]).tolist()) == [0, 1, 2, 3]
        and (ranking.ranks(codes[~inside]) == -1).all()
    )
    assert ranking.worlds(ranking.ranks(codes[inside])).tolist() == codes[inside].tolist()
    for bad in (-1, 4):
        with pytest.raises(ValueError, match="ranks run from 0 to 3"):
            ranking.worlds(np.array([bad]))
    chances = [np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), np.array([[0.1, 0.2, 0.7], [0.6, 0.0, 0.4]])]
    found, logs = diagram.most_probable(chances, wanted)
    assert found[0].tolist() == [1, 2] and logs[0] == pytest.approx(np.log(0.21))
    assert found[1].sum() in (1, 3) and logs[1] == -np.inf
    assert (
        diagram.counts == {(0,): 1, (1,): 2, (2,): 3, (3,): 2, (4,): 1}
        and diagram.size == 1 + 3 + 5
        and diagram.width == 3
    )
    assert diagram.probabilities(chances)[0] == pytest.approx([0.02, 0.07, 0.25, 0.31, 0.35])


def test_the_chance_of_a_tallied_rule():
    space = bits(["a", "b", "c"])
    diagram = compile_tallied(parse("count(a, b, c) >= 2"), space)
    assert chance_of(diagram, uniform(space)) == pytest.approx([0.5])
    chances = [np.array([[1 - p, p]]) for p in (0.9, 0.5, 0.2)]
    assert chance_of(diagram, chances) == pytest.approx([0.9 * 0.5 + 0.9 * 0.5 * 0.2 + 0.1 * 0.5 * 0.2])
    assert [one.tolist() for one in uniform(digits(["x"], (0, 1, 2, 3)))] == [[[0.25] * 4]]


def test_joined_diagrams_hold_where_both_do():
    space = digits(["a", "b", "c"], (0, 1, 2))
    codes = space.all_codes()
    for left, right in (("a < b", "b < c"), ("a == 1", "b == 2"), ("a + b + c == 3", "a != c"), ("a > b", "a < b")):
        both = conjoin(*(compile_diagram([parse(text)], space, space.names) for text in (left, right)))
        expected = evaluate(parse(left), space, codes) & evaluate(parse(right), space, codes)
        assert true_outcomes(both)[both.outcome_of(codes)].tolist() == expected.tolist()


def test_parts_of_the_search_for_worlds():
    flags = np.array([[1, 0], [0, 0], [1, 0], [1, 1]], dtype=bool)
    assert [(kind.tolist(), rows.tolist()) for kind, rows in _by_set(flags)] == [
        ([False, False], [1]), ([True, False], [0, 2]), ([True, True], [3]),
    ]  # fmt: skip
    assert _row_numbers(np.array([[2, 1], [0, 5], [2, 1]])).tolist() == [1, 0, 1]
    reached = np.array([[[0, 1], [1, 0]], [[0, 1], [1, 1]]])
    total = np.array([[5.0, 2.0], [3.0, 1.0]])
    parents, codes = _distinct(reached, total, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert sorted(zip(parents.tolist(), codes.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 1)]
    trail = [(np.array([0, 0]), np.array([2, 1])), (np.array([1, 0]), np.array([0, 3]))]
    assert _traced(trail, 1, (1, 0)).tolist() == [3, 2] and (FEW_WORLDS, MOST_VALUES) == (2**40, 12)


def test_decoding_keeps_what_may_be():
    knowledge = Knowledge.of(
        digits(["a", "b"], (0, 1, 2)),
        {"y": "a"},
        [Constraint("less", parse("a < b")), Constraint("odd", parse("a + b != 2"))],
    )
    chances = [np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]]), np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])]
    found = Decoder(knowledge)(chances)
    assert (
        found.codes.tolist() == [[0, 1], [0, 1]]
        and found.changed.tolist() == [2, 1]
        and found.proven.all()
        and found.solved.all()
    )
    assert found.logs == pytest.approx(np.log([0.2 * 0.3, 0.9 * 0.2]))
    assert Decoder(knowledge).different is None


def test_profiles_are_the_classes_that_occur():
    space = ConceptSpace((Concept("n", (0, 1, 2, 3), counts=True), Concept("t", (False, True))))
    found = profiles_of(parse("n >= 2 and t"), space, parse("True"))
    assert [feature.names for feature in found.features] == [("n",), ("t",)] and found.features[0].of == (0, 1, 2, 2)
    rows = {tuple(row): bool(holds) for row, holds in zip(found.rows.tolist(), found.holds, strict=True)}
    yes = found.features[1].of[1]
    assert rows == {(n, t): n == 2 and t == yes for n in range(3) for t in range(2)}
    moves = {move.name: sorted(zip(move.before.tolist(), move.after.tolist(), strict=True)) for move in found.moves}
    numbers = {row: place for place, row in enumerate(map(tuple, found.rows.tolist()))}
    assert moves == {"n": [(numbers[1, yes], numbers[2, yes])], "t": [(numbers[2, 1 - yes], numbers[2, yes])]}
    assert MOST_PROFILES == 4096


def test_regions_of_a_rule_with_counts():
    space = ConceptSpace((Concept("cup", (0, 1, 2, 3), counts=True), Concept("dog", (False, True))))
    found = boundary_of(parse("cup >= 2 or dog and cup == 1"), space)
    assert [region.name for region in found.variants] == ["cup >= 2", "cup and dog"]
    assert [region.name for region in found.types] == ["cup == 1 and not dog", "not cup and dog"]
    codes = space.all_codes()
    truth = evaluate(found.label, space, codes)
    assert np.array_equal(found.in_variants(codes).any(axis=1), truth) and not found.in_types(codes)[truth].any()
    assert found.near(codes).tolist() == [False, True, True, False, False, False, False, False]
    assert found.tags(codes)[0] == "far"


def test_too_many_cases_are_refused():
    space = slots(60, sure=60)
    with pytest.raises(TooLarge, match="more than 200,000 cases"):
        ground_formula(parse("any(any(x.n < y.n for x, y in pairs(ss)) for z, w in pairs(ss))"), space)


ODD = ConceptSpace(
    (
        Concept("a", (-3, -1, 2)), Concept("b", (2, 5)), Concept("t", (False, True)), Concept("low", (-2, 0)), Concept("hue", ("red", "blue")),
        Concept("size", (1, 2, ABSENT)), Concept("flag", (False, True, ABSENT)), Concept("shade", ("red", ABSENT)), Concept("e", (0, 64)),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("flag", "flag == True"), ("not flag", "not flag == True"), ("flag and t", "flag == True and t"), ("t or flag", "t or flag == True"),
        ("xor(flag, t)", "xor(flag == True, t)"), ("implies(t, flag)", "implies(t, flag == True)"), ("iff(flag, t)", "iff(flag == True, t)"),
        ("count(t, flag)", "count(t, flag == True)"), ("flag if t else t", "flag == True if t else t"), ("t if t else flag", "t if t else flag == True"),
        ("1 if flag else 2", "1 if flag == True else 2"), ("flag == t", "flag == t"), ("all_equal(flag, t)", "all_equal(flag, t)"), ("t and a > 1", "t and a > 1"),
    ],
)  # fmt: skip
def test_a_truth_that_may_be_absent_is_compared_where_a_truth_is_wanted(text, flat):
    assert str(ground_formula(parse(text), ODD)) == flat


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("3 if t else t", FormulaShape("int", 0, 3)), ("t if t else a", FormulaShape("int", -3, 2)), ("t if t else True", FormulaShape("bool", 0, 1)),
        ("hue if t else shade", FormulaShape("symbol", symbols=("red", "blue", ABSENT), optional=True)), ("shade", FormulaShape("symbol", symbols=("red", ABSENT), optional=True)),
        ("size if t else b", FormulaShape("int", 1, 5, (ABSENT,), True)), ("b if t else size", FormulaShape("int", 1, 5, (ABSENT,), True)), ("'red' if t else 'grey'", FormulaShape("symbol", symbols=("red", "grey"))),
        ("count(t, t, a > 1, b > 1)", FormulaShape("int", 0, 4)), ("t * 3 - a", FormulaShape("int", -2, 6)), ("b // (low - 1)", FormulaShape("int", -5, -1)), ("b % (a - 3)", FormulaShape("int", -5, 0)),
        ("max(a, low) - min(b, low)", FormulaShape("int", -2, 4)), ("b ** e", FormulaShape("int", 0, 5**64)), ("a ** 3", FormulaShape("int", -27, 27)), ("True", FormulaShape("bool", 1, 1)), ("False", FormulaShape("bool", 0, 0)),
        ("-7", FormulaShape("int", -7, -7)), ("abs(low - 1)", FormulaShape("int", 1, 3)), ("min(a, b, low)", FormulaShape("int", -3, 0)), ("max(low, a, -1)", FormulaShape("int", -1, 2)),
        ("(a, hue) in ((2, 'red'),)", FormulaShape("bool")), ("'absent' == size", FormulaShape("bool")), ("(1 if t else size) == 2", FormulaShape("bool")),
    ],
)  # fmt: skip
def test_what_formulas_give_in_full(text, shape):
    assert shape_of(parse(text), ODD) == shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b // t", "division by 't', which can be zero"), ("b % low", "division by 'low', which can be zero"), ("b ** (e + 1)", "must lie in 0..64"), ("b ** low", "must lie in 0..64"),
        ("1 < size", "'size' may be absent"), ("size >= 1", "'size' may be absent"), ("(size if t else 1) + 1", "'size if t else 1' may be absent"), ("(1 if t else size) + 1", "may be absent"),
        ("all_equal(a, b, hue)", "'b' and 'hue' cannot be compared"), ("all_different(hue, a)", "'hue' and 'a' cannot be compared"), ("(hue, a) in ((2, 'red'),)", "'hue' and '2' cannot be compared"),
        ("(a, hue) in ((2, 'red'), (2, 'green'))", "no value 'green'"), ("hue != 'absent'", "no value 'absent'"), ("a == 'absent'", "cannot be compared"), ("'absent' == a", "cannot be compared"),
        ("'rose' == hue", "no value 'rose'; there is: blue, red"), ("flag + 1", "'flag' may be absent"), ("flag < 1", "'flag' may be absent"), ("shade < hue", "symbols have no order"), ("2 > 'red'", "cannot be compared"),
        ("count(t, a)", "'a' is a number, not true or false"), ("implies(hue, t)", "'hue' is a symbol, not true or false"), ("implies(t, b)", "'b' is a number"), ("1 if a else 2", "'a' is a number"), ("abs(hue)", "'hue' is a symbol, not a number"),
    ],
)  # fmt: skip
def test_formulas_that_do_not_fit_for_other_reasons(text, message):
    with pytest.raises(FormulaError) as caught:
        shape_of(parse(text), ODD)
    assert message in str(caught.value)


def test_symbols_that_share_only_absence_cannot_be_compared():
    space = ConceptSpace((Concept("s", ("red", ABSENT)), Concept("r", ("big", ABSENT)), Concept("q", ("big", "red"))))
    with pytest.raises(FormulaError, match="'s' and 'r' cannot be compared: they have no value in common"):
        shape_of(parse("s == r"), space)
    assert shape_of(parse("s == q and r != q and s == 'absent'"), space).kind == "bool"


def test_a_guard_holds_for_what_it_guards_and_no_further():
    space = slots(3, sure=1)
    for text in (
        "s2.size != 'absent' and s3.n != 'absent' and s2.n < s3.n",  # of both, by any of their attributes
        "implies(s2.size != 'absent' and s3.size != 'absent', s2.n + s3.n > 2)",
        "implies(s2.size != 'absent', implies(s3.size != 'absent', s2.n < s3.n))",
        "s1.n > 1 or s2.n == 2",
    ):
        assert shape_of(parse(text), space).kind == "bool"
    for text in (
        "s2.size != 'absent' and s2.n > 1 or s2.n > 2",
        "implies(s2.size != 'absent', s2.n > 1) and s2.n > 1",
        "s2.size != 'absent' and s3.n > 1",
        "s2.size != 'absent' or s2.n > 1",
        "implies(s2.size != 'big', s2.n > 1)",
        "implies(not s2.size != 'absent', s2.n > 1)",
    ):
        with pytest.raises(FormulaError, match="may be absent"):
            shape_of(parse(text), space)


def test_quantifiers_inside_quantifiers_bind_what_is_nearest():
    space = slots(2, sure=2)
    inner = ground_formula(parse("any(x.n > 1 and all(x.n > 2 for x in ss) for x in ss)"), space)
    assert inner == parse("s1.n > 1 and (s1.n > 2 and s2.n > 2) or s2.n > 1 and (s1.n > 2 and s2.n > 2)")
    both = ground_formula(parse("all(any(x.n + y.n == 3 for y in ss) for x in ss)"), space)
    assert both == parse("(s1.n + s1.n == 3 or s1.n + s2.n == 3) and (s2.n + s1.n == 3 or s2.n + s2.n == 3)")
    assert ground_formula(parse("x == 1 and any(x.n == 1 for x in ss)"), space) == parse("x == 1 and (s1.n == 1 or s2.n == 1)")  # fmt: skip
    pairs = ground_formula(parse("all(x.n != y.n for x, y in pairs(ss))"), slots(3))
    there = [f"s{n}.size != 'absent'" for n in (1, 2, 3)]
    assert pairs == parse(
        " and ".join(
            f"implies({there[i]} and {there[j]}, s{i + 1}.n != s{j + 1}.n)" for i, j in ((0, 1), (0, 2), (1, 2))
        )
    )
    counted = ground_formula(parse("count(x.n == y.n for x, y in pairs(ss))"), slots(2))
    assert counted == parse(f"count({there[0]} and {there[1]} and s1.n == s2.n)")


def test_numbers_are_places_in_a_group_and_not_among_all_slots():
    slots_of = (Slot("p", "pets", ("age",)), Slot("c1", "cars", ("age",)), Slot("c2", "cars", ("age",)))
    space = ConceptSpace(tuple(Concept(f"{slot.name}.age", (0, 1, 2)) for slot in slots_of), slots_of)
    assert ground_formula(parse("count(c.age == c.number for c in cars)"), space) == parse("count(c1.age == 1, c2.age == 2)")  # fmt: skip
    assert well_formed(space) == parse("True")
    three = (Slot("o", "things", ("hue", "n", "big")),)
    values = {"hue": ("red", ABSENT), "n": (1, ABSENT), "big": (False, True, ABSENT)}
    wide = ConceptSpace(tuple(Concept(f"o.{name}", own) for name, own in values.items()), three)
    assert well_formed(wide) == parse("all_equal(o.hue == 'absent', o.n == 'absent', o.big == 'absent')")
    assert evaluate(well_formed(wide), wide, wide.all_codes()).sum() == 2 + 1


def test_cases_are_counted_through_all_quantifiers(monkeypatch):
    space = slots(4, sure=4)
    nested = parse("any(any(x.n < y.n for y in ss) for x in ss)")
    monkeypatch.setattr(ground, "MOST_CASES", 16)
    assert len(ground_formula(nested, space).parts) == 4
    beside = parse("any(x.n > 1 for x in ss) and all(x.n < 3 for x in ss)")  # eight cases, not sixteen
    monkeypatch.setattr(ground, "MOST_CASES", 15)
    assert [len(part.parts) for part in ground_formula(beside, space).parts] == [4, 4]
    with pytest.raises(TooLarge, match="has more than 15 cases"):
        ground_formula(nested, space)


def test_numbers_may_reach_so_many_bits_in_either_direction(monkeypatch):
    monkeypatch.setattr("assay.logic.formula.BITS", 6)
    space = ConceptSpace((Concept("a", (-31, 5)), Concept("b", (1, 31))))
    assert check_formula(parse("b + 31"), space).largest == 62 and check_formula(parse("a - 32"), space).largest == 63
    for text in ("b + b + 2", "a + a - 2"):
        with pytest.raises(FormulaError, match="its numbers can grow beyond 6 bits"):
            check_formula(parse(text), space)
    checked = check_formula(parse("a * 2 + b > 0"), space)
    assert checked.largest == 62 and checked.flat == parse("a * 2 + b > 0") and checked.shape == FormulaShape("bool")
