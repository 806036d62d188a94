"""Formulas fitted to a space: quantifiers spelled out, kinds checked, guards for what may be absent."""

import pytest

from assay import Concept, ConceptSpace, Knowledge, Slot, evaluate, parse
from assay.base import FormulaError, TooLarge
from assay.logic import ABSENT, ground_formula, shape_of


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


def possible(space):
    """Return the formula that every world of a space satisfies: its slots are whole."""
    return Knowledge(space, ()).possible


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
    codes = space.all_codes()
    whole = (codes[:, 2] == 2) == (codes[:, 3] == 3)
    assert evaluate(possible(space), space, codes).tolist() == whole.tolist()
    assert str(possible(slots(1, sure=1))) == "True"


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
    assert possible(space) == parse("True")
    three = (Slot("o", "things", ("hue", "n", "big")),)
    values = {"hue": ("red", ABSENT), "n": (1, ABSENT), "big": (False, True, ABSENT)}
    wide = ConceptSpace(tuple(Concept(f"o.{name}", own) for name, own in values.items()), three)
    assert possible(wide) == parse("all_equal(o.hue == 'absent', o.n == 'absent', o.big == 'absent')")
    assert evaluate(possible(wide), wide, wide.all_codes()).sum() == 2 + 1


ODD = ConceptSpace(
    (
        Concept("a", (-3, -1, 2)), Concept("b", (2, 5)), Concept("t", (False, True)), Concept("low", (-2, 0)), Concept("hue", ("red", "blue")),
        Concept("size", (1, 2, ABSENT)), Concept("flag", (False, True, ABSENT)), Concept("shade", ("red", ABSENT)), Concept("e", (0, 64)),
    )
)  # fmt: skip


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


def test_too_many_cases_are_refused():
    space = slots(60, sure=60)
    with pytest.raises(TooLarge, match="more than 200,000 cases"):
        ground_formula(parse("any(any(x.n < y.n for x, y in pairs(ss)) for z, w in pairs(ss))"), space)
