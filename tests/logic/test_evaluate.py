"""Numbers, truths and symbols of formulas over arrays: what is absent, however large numbers grow, however many rows."""

import pickle
from itertools import combinations
from math import prod

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Slot, bits, compile_diagram, digits, evaluate, parse
from assay.base import FormulaError, rng_for
from assay.logic import ABSENT, Count, Evaluator, Var, conjunction, product, var

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


def test_a_bound_name_hides_a_slot_of_that_name():
    text = "count(all(o2.size >= o1.size for o1 in things) for o2 in things)"
    assert value(text, SLOTS, **{"o1.flag": True, "o1.size": 1, "o2.flag": True, "o2.size": 2}) == 1


def test_product_of_20_digits_is_exact():
    space = digits(NAMES)
    rows = rng_for(0, "product").integers(1, 10, size=(50, 20))
    rows[0] = 9
    exact = [prod(row) for row in rows.tolist()]
    whole = product(*var(*NAMES))
    assert exact[0] == 9**20 > 2**63 and evaluate(whole, space, rows).tolist() == exact
    assert evaluate(whole.eq(9**20), space, rows).tolist() == [number == 9**20 for number in exact]
    assert evaluate(whole % 1000 - whole // 7, space, rows).tolist() == [n % 1000 - n // 7 for n in exact]


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


@pytest.mark.parametrize("left", [-7, -1, 0, 8])
@pytest.mark.parametrize("right", [-3, 2])
def test_division_rounds_down_as_in_python(left, right):
    space = ConceptSpace((Concept("a", (left, 100)), Concept("b", (right,))))
    assert value("a // b", space, a=left, b=right) == left // right
    assert value("a % b", space, a=left, b=right) == left % right


def test_a_million_rows():
    codes = rng_for(0, "million").integers(10, size=(1_000_000, 4))
    found = evaluate(parse("a + b == c + d"), digits(["a", "b", "c", "d"]), codes)
    assert abs(found.mean() - 0.067) < 0.001


def test_codes_must_have_a_column_for_each_concept():
    space = digits(["a", "b"])
    for shape in ((3, 1), (3, 3), (2,), (1, 2, 2)):
        with pytest.raises(ValueError, match="codes must have 2 columns"):
            evaluate(parse("a"), space, np.zeros(shape, dtype=np.int64))


@pytest.mark.parametrize("parts", [254, 255, 256, 600])
def test_counts_beyond_one_byte(parts):
    space = bits(["a", "b"])
    whole = Count((*[Var("a")] * (parts - 1), Var("b")))
    assert evaluate(whole, space, np.array([[1, 1], [1, 0], [0, 0]])).tolist() == [parts, parts - 1, 0]
    assert evaluate(whole.eq(parts), space, np.array([[1, 1], [1, 0]])).tolist() == [True, False]
    assert evaluate(whole > -1, space, np.array([[0, 0]])).tolist() == [True]


@pytest.mark.parametrize("pairs", [254, 255, 256, 300, 511])
def test_truth_values_of_any_number_of_parts_are_added_up(pairs):
    names = [f"x{number}" for number in range(40)]
    codes = rng_for(0, "pairs", pairs).integers(3, size=(40, 40))
    codes[0] = 1
    chosen = list(combinations(range(40), 2))[:pairs]
    formula = Count(tuple(Var(names[a]).eq(Var(names[b])) for a, b in chosen))
    expected = [sum(row[a] == row[b] for a, b in chosen) for row in codes.tolist()]
    assert expected[0] == pairs
    assert (
        evaluate(formula, ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in names)), codes).tolist() == expected
    )


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
    evaluator = Evaluator(space, conjunction(*parts))
    for part, found in zip(parts, evaluator.together(parts, codes), strict=True):
        assert (found == evaluate(part, space, codes)).all()


def test_words_have_numbers_of_their_own_beside_those_of_the_concepts():
    space = ConceptSpace((Concept("hue", ("red", "blue", ABSENT)), Concept("tone", ("grey", "red"))))
    codes = space.all_codes()
    assert evaluate(parse("hue if tone == 'red' else 'other'"), space, codes).tolist() == [
        "other", "red", "other", "blue", "other", ABSENT]  # fmt: skip
    assert evaluate(parse("(hue, tone) in [('blue', 'grey'), ('red', 'red'), ('absent', 'grey')]"), space, codes).tolist() == [
        False, True, True, False, True, False]  # fmt: skip


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


@pytest.mark.parametrize("size", [126, 127, 128, 129, 255, 256, 257])
def test_values_near_the_width_of_a_byte(size):
    space = ConceptSpace((Concept("n", tuple(range(size))), Concept("m", tuple(range(size, 0, -1)))))
    codes = np.array([[size - 1, 0], [0, size - 1], [size // 2, size // 2]])
    n, m = codes[:, 0], size - codes[:, 1]
    assert evaluate(parse("n + m"), space, codes).tolist() == (n + m).tolist()
    assert evaluate(parse(f"n == {size - 1}"), space, codes).tolist() == [True, False, False]
    assert evaluate(parse(f"count(n >= {size // 2}, m > 1)"), space, codes).tolist() == [2, 0, 2]


def test_formulas_are_evaluated_alike_after_a_trip_to_another_process():
    space = ConceptSpace((Concept("hue", ("red", "blue", ABSENT)), Concept("n", (3, -1, 8))))
    made = Evaluator(space, parse("n in (8, -1) and hue != 'red'"))
    codes = space.all_codes()
    before = made(codes)
    sent = pickle.loads(pickle.dumps(made))
    assert sent.plans == {} and sent(codes).tolist() == before.tolist()
    assert before.tolist() == [n != 3 and hue != "red" for hue in ("red", "blue", ABSENT) for n in (3, -1, 8)]


def space(attribute="loads"):
    slots = tuple(Slot(f"car{n}", "cars", (attribute,)) for n in (1, 2, 3))
    return ConceptSpace(tuple(Concept(f"car{n}.{attribute}", (0, 1, 2, 3, ABSENT)) for n in (1, 2, 3)), slots)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("any(c.loads == c.number for c in cars)", lambda row: any(v == n for n, v in enumerate(row, 1))),
        ("any(c.loads > c.number for c in cars)", lambda row: any(v != 4 and v > n for n, v in enumerate(row, 1))),
        ("all(c.number < 3 for c in cars)", lambda row: row[2] == 4),
        ("count(c.number + c.loads == 3 for c in cars) == 2", lambda row: sum(v != 4 and v + n == 3 for n, v in enumerate(row, 1)) == 2),
    ],
)  # fmt: skip
def test_numbers_count_slots_from_one_and_absent_ones_keep_theirs(text, truth):
    held, formula = space(), parse(text)
    codes = held.all_codes()
    wanted = [bool(truth(row)) for row in codes.tolist()]
    assert evaluate(formula, held, codes).tolist() == wanted
    diagram = compile_diagram([formula], held)
    found = [diagram.outcomes[i][0] for i in diagram.outcome_of(np.asarray(codes))]
    assert found == wanted
    assert parse(str(formula)) == formula


def test_an_attribute_of_that_name_comes_first():
    held = space("number")
    found = evaluate(parse("any(c.number == 3 for c in cars)"), held, np.array([[3, 0, 0], [0, 0, 0]]))
    assert found.tolist() == [True, False]


def test_outside_a_quantifier_there_is_no_number():
    with pytest.raises(FormulaError, match=r"no concept named 'car1\.number'"):
        evaluate(parse("car1.number == 1"), space(), np.zeros((1, 3), dtype=np.int64))
