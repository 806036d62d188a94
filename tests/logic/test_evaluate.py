"""Numbers agree with the plain reading of formulas, whatever their size."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

from assay.concepts import ABSENT, ABSENT_NUMBER, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import FormulaError
from assay.logic import Evaluator, evaluate, ground_formula, parse, shape_of, var, walk, well_formed
from assay.logic import formula as f
from assay.logic.ground import bounds
from assay.seeds import rng_for
from tests.logic.formulas import CASES, case

NAMES = [f"x{number}" for number in range(20)]
SLOTS = ConceptSpace(
    tuple(
        Concept(f"o{n}.{a}", v) for n in (1, 2) for a, v in [("flag", (False, True, ABSENT)), ("size", (2, 1, ABSENT))]
    ),
    tuple(Slot(f"o{n}", "things", ("flag", "size")) for n in (1, 2)),
)


def value(text, space, **values):
    """Return the value of a formula in one world."""
    return evaluate(parse(text), space, space.encode([values])).tolist()[0]


@pytest.mark.parametrize("place", range(CASES))
def test_numbers_agree_with_the_plain_reading(place):
    one = case(place)
    found = evaluate(one.formula, one.space, one.codes).tolist()
    assert [(type(value), value) for value in found] == [(type(value), value) for value in one.values]


@pytest.mark.parametrize("place", range(CASES))
def test_every_part_lies_within_its_shape(place):
    one = case(place)
    for part in walk(ground_formula(one.formula, one.space)):
        try:
            shape = shape_of(part, one.space)
        except FormulaError as error:  # a part that counts only where its guard holds cannot stand alone
            assert "may be absent" in str(error)
            continue
        if shape.kind != "symbol" and not shape.optional:
            found = evaluate(part, one.space, one.codes)
            assert shape.least <= found.min() and found.max() <= shape.most


@pytest.mark.parametrize("place", range(0, CASES, 7))
def test_codes_of_any_width_and_no_codes_at_all(place):
    one = case(place)
    for kind in (np.int8, np.int32, np.int64):
        assert evaluate(one.formula, one.space, one.codes.astype(kind)).tolist() == one.values
    assert evaluate(one.formula, one.space, one.codes[:0]).tolist() == []


def test_truth_values_add_up_as_numbers():  # numpy's own sum of two truth values is a truth value
    space = bits(["a", "b"])
    assert value("(a == b) + (b == a) + (a or b)", space, a=True, b=True) == 3
    assert value("-(a == b) * 2 + min(a or b, a and b)", space, a=True, b=True) == -1


def test_the_value_absent():
    world = {"o1.flag": ABSENT, "o1.size": ABSENT, "o2.flag": True, "o2.size": 1}
    said = lambda text: value(text, SLOTS, **world)  # noqa: E731
    assert said("o1.size == 'absent' and o1.size != o2.size and not o1.size == 1 and o1.size == o1.size")
    assert (
        not said("o1.flag") and said("not o1.flag") and said("iff(o1.flag, o1.flag)") and not said("o1.flag == False")
    )
    assert said("count(o1.flag, o2.flag)") == 1 and said("count(x.flag for x in things)") == 1
    assert said("all(x.flag for x in things)") and said("count(x.size >= 1 for x in things)") == 1
    assert said("count(x.flag for x in things if x.size >= 1)") == 1
    assert said("count(x.flag for x in things if x.size >= 2)") == 0  # a guard leaves out, it does not make true
    assert said("all(x.flag for x in things if x.size >= 2)") and not said("any(x.flag for x in things if x.size >= 2)")
    assert said("all(False for x, y in pairs(things))") and not said("any(True for x, y in pairs(things))")
    assert said("all_different(o1.size, o2.size)") and not said("all_equal(o1.flag, o2.flag)")
    assert said("o1.size") == ABSENT_NUMBER


def test_a_bound_name_hides_a_slot_of_that_name():
    text = "count(all(o2.size >= o1.size for o1 in things) for o2 in things)"
    assert value(text, SLOTS, **{"o1.flag": True, "o1.size": 1, "o2.flag": True, "o2.size": 2}) == 1


def test_slots_are_whole():
    inside = evaluate(well_formed(SLOTS), SLOTS, SLOTS.all_codes())
    assert inside.sum() == (2 * 2 + 1) ** 2


def test_product_of_20_digits_is_exact():
    space = digits(NAMES)
    rows = rng_for(0, "product").integers(1, 10, size=(50, 20))
    rows[0] = 9
    exact = [prod(row) for row in rows.tolist()]
    whole = f.product(*var(*NAMES))
    assert exact[0] == 9**20 > 2**63 and evaluate(whole, space, rows).tolist() == exact
    assert evaluate(whole.eq(9**20), space, rows).tolist() == [number == 9**20 for number in exact]
    assert evaluate(whole % 1000 - whole // 7, space, rows).tolist() == [n % 1000 - n // 7 for n in exact]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ** 64", 9**64),
        ("a ** 64 == 9 ** 64 and xor(a > 3, b > a ** 40)", True),
        (f"(a ** 30, b) in [({9**30}, 2), (1, 1)]", True),
        (f"(a ** 30, b) in [({9**30 + 1}, 2), (1, 1)]", False),
        ("(a ** 3, b) in [(729, 2)]", True),
        ("a in (9223372036854775808, 9)", True),
        ("b == 9223372036854775808 or a == -9223372036854775809", False),
        ("9223372036854775807 + a", 2**63 + 8),
        ("10000000000000000000 if a == 9 else b", 10**19),
        ("12345678901234567890123 // (a + 1) % 1000", 1234567890123456789012 % 1000),
        ("min(a, 9 ** 30) + max(-(9 ** 30), -b) + abs(-(9 ** 40))", 9 + (-2) + 9**40),
        ("all_equal(9 ** 30, a ** 30) + all_different(a ** 30, b ** 30)", 2),
        ("-(4611686018427387904 * a) // 3", -(2**62 * 9) // 3),
    ],
)
def test_numbers_beyond_64_bits(text, expected):
    assert value(text, digits(["a", "b"]), a=9, b=2) == expected


def test_values_beyond_64_bits():
    space = ConceptSpace((Concept("a", (0, 2**70)), Concept("b", (-(2**63), 1))))
    assert value("a", space, a=2**70, b=1) == 2**70 and value("a > b", space, a=0, b=-(2**63))


@pytest.mark.parametrize("left", [-7, -1, 0, 8])
@pytest.mark.parametrize("right", [-3, 2])
def test_division_rounds_down_as_in_python(left, right):
    space = ConceptSpace((Concept("a", (left, 100)), Concept("b", (right,))))
    assert value("a // b", space, a=left, b=right) == left // right
    assert value("a % b", space, a=left, b=right) == left % right


@pytest.mark.parametrize("name", ["//", "%", "abs", "min", "max", "pow"])
def test_bounds_hold_and_those_of_small_ranges_are_reached(name):
    apply = {"//": int.__floordiv__, "%": int.__mod__, "abs": abs, "min": min, "max": max, "pow": pow}[name]
    ranges = [(low, low + size) for low in range(-4, 4) for size in range(4)]
    for one in ranges:
        for other in ranges:
            if (name in ("//", "%") and other[0] <= 0 <= other[1]) or (name == "pow" and other[0] < 0):
                continue
            pairs = [(x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
            found = [apply(x) if name == "abs" else apply(x, y) for x, y in pairs]
            least, most = bounds(name, [one] if name == "abs" else [one, other])
            assert least <= min(found) and max(found) <= most
            assert name in ("%", "pow") or (least, most) == (min(found), max(found))


def test_a_million_rows():
    codes = rng_for(0, "million").integers(10, size=(1_000_000, 4))
    found = evaluate(parse("a + b == c + d"), digits(["a", "b", "c", "d"]), codes)
    assert abs(found.mean() - 0.067) < 0.001


def test_codes_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="must have 2 columns"):
        evaluate(parse("a"), digits(["a", "b"]), np.zeros((3, 3), dtype=int))


def test_attributes_of_slots_that_may_be_empty_are_numbers_inside_quantifiers_only():
    load = Concept("car1.load", (0, 1, 2, ABSENT)), Concept("car2.load", (0, 1, 2, ABSENT))
    space = ConceptSpace(load, tuple(Slot(f"car{i}", "cars", ("load",)) for i in (1, 2)))
    codes = np.array([[3, 2], [3, 3], [2, 1], [0, 0]])
    assert evaluate(parse("any(car.load + 1 >= 3 for car in cars)"), space, codes).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert evaluate(parse("all(2 ** car.load < 2 for car in cars)"), space, codes).tolist() == [
        False,
        True,
        False,
        True,
    ]
    for text in ("car1.load < 3", "car1.load + 1 == 2"):
        with pytest.raises(FormulaError, match="may be absent"):
            evaluate(parse(text), space, codes)


@pytest.mark.parametrize("parts", [254, 255, 256, 600])
def test_counts_beyond_one_byte(parts):
    space = bits(["a", "b"])
    whole = f.Count((*[f.Var("a")] * (parts - 1), f.Var("b")))
    assert evaluate(whole, space, np.array([[1, 1], [1, 0], [0, 0]])).tolist() == [parts, parts - 1, 0]
    assert evaluate(whole.eq(parts), space, np.array([[1, 1], [1, 0]])).tolist() == [True, False]
    assert evaluate(whole > -1, space, np.array([[0, 0]])).tolist() == [True]


def test_concepts_with_more_values_than_a_byte_holds():
    space = digits(["a", "b"], range(400))
    codes = np.array([[399, 1], [130, 130], [5, 260]])
    assert evaluate(parse("a == 399"), space, codes).tolist() == [True, False, False]
    assert evaluate(parse("a >= 130 and b != 1"), space, codes).tolist() == [False, True, False]
    assert evaluate(parse("a + b"), space, codes).tolist() == [400, 260, 265]


def test_a_comparison_with_a_value_that_there_is_not():
    space = ConceptSpace((Concept("a", ("x", "y")), Concept("n", (3, 5, 9))))
    codes = np.array([[0, 0], [1, 2]])
    assert evaluate(parse("n == 4 or n != 5 and n < 9"), space, codes).tolist() == [True, False]


def test_rows_are_the_same_however_many_are_computed_at_a_time():
    space = digits(["a", "b", "c"])
    codes = rng_for(0, "chunks").integers(10, size=(40_000, 3))
    whole = evaluate(parse("count(a == b, b == c, a > 3) * 2 + c"), space, codes)
    apart = [
        evaluate(parse("count(a == b, b == c, a > 3) * 2 + c"), space, codes[n : n + 777])
        for n in range(0, 40_000, 777)
    ]
    assert (whole == np.concatenate(apart)).all() and whole.dtype == np.int64


def test_parts_that_are_shared_are_computed_together():
    space = digits(["a", "b"])
    codes = rng_for(1, "shared").integers(10, size=(100, 2))
    parts = [parse("a + b > 3"), parse("a + b > 9"), parse("not a == b")]
    evaluator = Evaluator(space, f.conjunction(*parts))
    for part, found in zip(parts, evaluator.together(parts, codes), strict=True):
        assert (found == evaluate(part, space, codes)).all()


def test_tests_of_one_concept_are_added_up():
    names = [f"x{number}" for number in range(30)]
    space = digits(names)
    codes = rng_for(0, "tallies").integers(10, size=(50, 30))
    codes[0] = 9
    tests = tuple(f.Var(name) >= value for name in names for value in range(1, 10))
    assert evaluate(f.Count(tests), space, codes).tolist() == codes.sum(axis=1).tolist()  # up to 270, more than a byte
    again = f.Count((*tests, f.Var("x0").eq(3), f.Var("x0").ne(3)))
    assert evaluate(again, space, codes).tolist() == (codes.sum(axis=1) + 1).tolist()


@pytest.mark.parametrize("pairs", [254, 255, 256, 300, 511])
def test_truth_values_of_any_number_of_parts_are_added_up(pairs):
    names = [f"x{number}" for number in range(40)]
    codes = rng_for(0, "pairs", pairs).integers(3, size=(40, 40))
    codes[0] = 1
    chosen = list(combinations(range(40), 2))[:pairs]
    formula = f.Count(tuple(f.Var(names[a]).eq(f.Var(names[b])) for a, b in chosen))
    expected = [sum(row[a] == row[b] for a, b in chosen) for row in codes.tolist()]
    assert expected[0] == pairs
    assert (
        evaluate(formula, ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in names)), codes).tolist() == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count(a in (), b == 1)", lambda a, b, c: int(b == 1)),
        ("count((a, b) in [(0, 1), (2, 2)], c in (5, 3), a == 2)", lambda a, b, c: ((a, b) in [(0, 1), (2, 2)]) + (c in (5, 3)) + (a == 2)),
        ("count(a in (0, 2), a in (2,), a != 1, b > c)", lambda a, b, c: (a in (0, 2)) + (a == 2) + (a != 1) + (b > c)),
        ("count(a + b in (3, 4), a == 1)", lambda a, b, c: (a + b in (3, 4)) + (a == 1)),
        ("c in (3, 9)", lambda a, b, c: c in (3, 9)),
        ("not c in (9, 5, 1)", lambda a, b, c: c not in (9, 5, 1)),
        ("(a, c) in [(2, 5), (0, -1), (2, 3)]", lambda a, b, c: (a, c) in [(2, 5), (0, -1), (2, 3)]),
        ("all_different(a, b, c)", lambda a, b, c: len({a, b, c}) == 3),
        ("all_equal(a, b, c + 1)", lambda a, b, c: a == b == c + 1),
        ("min(a, b, c) + 10 * max(a, b, c)", lambda a, b, c: min(a, b, c) + 10 * max(a, b, c)),
        ("c // (a + 1) - c % (b + 2)", lambda a, b, c: c // (a + 1) - c % (b + 2)),
        ("c ** a - abs(c)", lambda a, b, c: c**a - abs(c)),
        ("(a if c > 2 else -b) * c", lambda a, b, c: (a if c > 2 else -b) * c),
        ("xor(a == b, b == 1, c > 2)", lambda a, b, c: ((a == b) + (b == 1) + (c > 2)) % 2 == 1),
        ("xor()", lambda a, b, c: False), ("implies(a > b, c < 5)", lambda a, b, c: a <= b or c < 5), ("iff(a > b, c < 5)", lambda a, b, c: (a > b) == (c < 5)),
    ],
)  # fmt: skip
def test_formulas_by_hand_on_every_world(text, expected):
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (2, 1)), Concept("c", (5, -1, 3, 4))))
    codes = space.all_codes()[::-1]
    found = evaluate(parse(text), space, codes)
    worlds = [tuple(concept.values[code] for concept, code in zip(space.concepts, row, strict=True)) for row in codes]
    assert found.tolist() == [expected(*world) for world in worlds]


def test_words_have_numbers_of_their_own_beside_those_of_the_concepts():
    space = ConceptSpace((Concept("hue", ("red", "blue", ABSENT)), Concept("tone", ("grey", "red"))))
    codes = space.all_codes()
    assert evaluate(parse("hue if tone == 'red' else 'other'"), space, codes).tolist() == [
        "other", "red", "other", "blue", "other", ABSENT]  # fmt: skip
    assert evaluate(parse("(hue, tone) in [('blue', 'grey'), ('red', 'red'), ('absent', 'grey')]"), space, codes).tolist() == [
        False, True, True, False, True, False]  # fmt: skip
    assert Evaluator(space, parse("hue == 'red'")).words == {ABSENT: ABSENT_NUMBER, "red": 0, "blue": 1, "grey": 2}


def test_codes_must_have_a_column_for_each_concept():
    space = digits(["a", "b"])
    for shape in ((3, 1), (3, 3), (2,), (1, 2, 2)):
        with pytest.raises(ValueError, match="codes must have 2 columns"):
            evaluate(parse("a"), space, np.zeros(shape, dtype=np.int64))


LARGE = 2**61


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", lambda a, b: a + b), ("a - b + 1", lambda a, b: a - b + 1), ("a * b", lambda a, b: a * b), ("-a", lambda a, b: -a), ("abs(a) + abs(b)", lambda a, b: abs(a) + abs(b)), ("a ** 3 - b", lambda a, b: a**3 - b),
        ("a * 4 // (b + 9)", lambda a, b: a * 4 // (b + 9)), ("a * 4 % (b + 9)", lambda a, b: a * 4 % (b + 9)), ("min(a, b, 4) + max(b, a, 7)", lambda a, b: min(a, b, 4) + max(b, a, 7)), ("(a if b > 0 else b) * 8", lambda a, b: (a if b > 0 else b) * 8),
        ("count(a == b, a > b, a * 8 < b) + 4 * a", lambda a, b: (a == b) + (a > b) + (a * 8 < b) + 4 * a), (f"a * 4 in (12, {4 * LARGE})", lambda a, b: a * 4 in (12, 4 * LARGE)), (f"(a * 4, b) in [(12, -5), ({4 * LARGE}, {LARGE + 1})]", lambda a, b: (a * 4, b) in [(12, -5), (4 * LARGE, LARGE + 1)]),
        ("all_different(a * 4, b * 4, 12)", lambda a, b: len({a * 4, b * 4, 12}) == 3), ("all_equal(a * 4 + 4, b * 4)", lambda a, b: a * 4 + 4 == b * 4), ("a * 4 >= b * 4 and not a == 3", lambda a, b: a >= b and a != 3), ("(a > 0) + 4 * b", lambda a, b: (a > 0) + 4 * b),
    ],
)  # fmt: skip
def test_numbers_beyond_64_bits_are_exact(text, expected):
    space = ConceptSpace((Concept("a", (LARGE, 3, -LARGE)), Concept("b", (LARGE + 1, -5))))
    codes = space.all_codes()[::-1]
    worlds = [tuple(concept.values[code] for concept, code in zip(space.concepts, row, strict=True)) for row in codes]
    assert evaluate(parse(text), space, codes).tolist() == [expected(*world) for world in worlds]


@pytest.mark.parametrize(("most", "big"), [(2**62 - 1, False), (2**62, True), (-(2**62) + 1, False), (-(2**62), True)])
def test_numbers_are_as_wide_as_the_largest_on_the_way(most, big):
    space = ConceptSpace((Concept("a", (0, most)), Concept("b", (0, 1))))
    made = Evaluator(space, parse("a - a + b"))  # what is in between counts
    assert made.big == (big or abs(most) > 2**61)
    plain = Evaluator(space, parse("a == 0"))
    assert plain.big is big and plain(space.all_codes()).tolist() == [True, True, False, False]
    assert Evaluator(space, parse("a"))(space.all_codes()).tolist() == [0, 0, most, most]
