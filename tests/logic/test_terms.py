"""Terms have a normal form: formulas that say the same in another order are one term, and what is decided is a value."""

import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace
from assay.logic import Residuals, compile_diagram, evaluate, names_in, parse
from assay.logic.terms import FUNCTIONS

SPACE = ConceptSpace(
    (
        Concept("p", (False, True)), Concept("q", (False, True)), Concept("r", (False, True)), Concept("a", (0, 1, 2, 3)),
        Concept("b", (2, 4)), Concept("c", (-3, -1)), Concept("hue", ("red", "blue")), Concept("tone", ("blue", "red")),
        Concept("n", (1, 2, ABSENT)),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p and q", "q and p"), ("p and q and p", "q and p"), ("p and (q and r)", "r and p and q"), ("p or (q or p)", "q or p"), ("not not p", "p"),
        ("p and True", "p"), ("p or False", "p"), ("p and False", "False"), ("p or True", "True"), ("p and not p", "False"), ("p or not p", "True"),
        ("xor(p, q, p)", "q"), ("xor(p, not q)", "not xor(q, p)"), ("xor(p, xor(q, r))", "xor(r, q, p)"), ("xor(p, True)", "not p"), ("xor(p, p)", "False"),
        ("a + b", "b + a"), ("a + a", "2 * a"), ("a - a", "0"), ("2 * (a + b) - b", "2 * a + b"), ("a * b", "b * a"), ("2 * a * 3", "6 * a"),
        ("a * 0", "0"), ("(a * b) * c", "c * b * a"), ("(2 * a) * b", "2 * (b * a)"), ("-(-a)", "a"), ("a == b", "b == a"), ("a < b", "b > a"),
        ("a <= b", "not a > b"), ("a >= b", "not b > a"), ("a != b", "not (b == a)"), ("2 * a == 2 * b", "a == b"), ("2 * a == 2 * b + 1", "False"),
        ("2 * a > 2 * b + 1", "a > b"), ("2 * a > 1", "a > 0"), ("3 * a > 4", "a > 1"), ("a > 3", "False"), ("a >= 0", "True"), ("b > 1", "True"),
        ("b == 1", "False"), ("c < 0", "True"), ("c == 0", "False"), ("a + c == 4", "False"), ("a - c > 0", "True"), ("a * b > 12", "False"), ("a * c > 0", "False"),
        ("a == a", "True"), ("a < a", "False"), ("min(a, b, a)", "min(b, a)"), ("max(2, 5)", "5"), ("7 // 2", "3"), ("7 % 4", "3"), ("abs(-2)", "2"), ("2 ** 3", "8"),
        ("count(p, q)", "count(q, p)"), ("count(p, p) == 2", "p + p == 2"), ("hue == tone", "tone == hue"), ("hue == 'red'", "not hue != 'red'"),
        ("all_equal(a, b)", "all_equal(b, a)"), ("all_equal(a, a)", "True"), ("all_equal(1, 2, a)", "False"), ("all_equal(2, a, b)", "all_equal(2, a) and all_equal(b, 2)"),
        ("all_different(a, b, a)", "False"), ("all_different(a, 1, 1)", "False"), ("all_different(1, 2)", "True"), ("all_different(a, b)", "all_different(b, a)"),
        ("a if True else b", "a"), ("a if False else b", "b"), ("a if p else a", "a"), ("(a, b) in ((1, 2), (3, 4))", "(a, b) in ((3, 4), (1, 2))"),
        ("(a, 2) in ((1, 2), (3, 4))", "a in (1,)"), ("(1, 5) in ((1, 2), (1, 5))", "True"), ("(1, 4) in ((1, 2), (1, 5))", "False"), ("implies(p, q)", "not p or q"), ("iff(p, q)", "not xor(q, p)"),
        ("a + 1 == b + 1", "b == a"), ("a + b > a + 3", "b > 3"),
    ],
)  # fmt: skip
def test_what_says_the_same_is_one_term(one, other):
    terms = Residuals(SPACE)
    assert terms.term(parse(one)) == terms.term(parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p and q", "p or q"), ("a - b", "b - a"), ("a > b", "b > a"), ("a > b", "a >= b"), ("2 * a > 2 * b", "a > b + 1"), ("a // b", "b // a"),
        ("min(a, b)", "max(a, b)"), ("a if p else b", "b if p else a"), ("hue == 'red'", "tone == 'red'"), ("True", "1"), ("2 * a == b", "a == 2 * b"),
        ("a in (1, 2)", "a in (1, 3)"), ("xor(p, q)", "not xor(p, q)"), ("3 * a > 4", "3 * a > 6"), ("a * b", "a + b"),
    ],
)  # fmt: skip
def test_what_says_something_else_is_another_term(one, other):
    terms = Residuals(SPACE)
    assert terms.term(parse(one)) != terms.term(parse(other))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("a + b", 2, 7),
        ("2 * a - b", -4, 4),
        ("a * c", -9, 0),
        ("b * c", -12, -2),
        ("a if p else c", -3, 3),
        ("min(a, c)", -3, -1),
        ("b // 2", 1, 2),
    ],
)
def test_bounds_of_terms(text, least, most):
    terms = Residuals(SPACE)
    node = terms.nodes[terms.term(parse(text))]
    assert (node.least, node.most) == (least, most)


def test_terms_know_the_concepts_that_they_depend_on():
    terms = Residuals(SPACE)
    for text, names in (
        ("a + b - a", {"b"}),
        ("p and a > 1", {"p", "a"}),
        ("(a, hue) in ((1, 'red'),)", {"a", "hue"}),
        ("3", set()),
        ("(p or q) and (p or r)", {"p", "q", "r"}),
        ("xor(p, a > b) or a == 2", {"p", "a", "b"}),
        ("a * b + a * c", {"a", "b", "c"}),
        ("min(a, b) == max(a, c)", {"a", "b", "c"}),
        ("hue if p else tone", {"hue", "p", "tone"}),
    ):
        mask = terms.nodes[terms.term(parse(text))].mask
        assert {name for place, name in enumerate(SPACE.names) if mask >> place & 1} == names


def test_restricting_gives_what_is_left():
    terms = Residuals(SPACE)
    whole = terms.term(parse("(a + b > 4 and p) or hue == 'red'"))
    red = terms.restrict(whole, SPACE.place("hue"), 0)
    assert terms.value(red) is True
    blue = terms.restrict(whole, SPACE.place("hue"), 1)
    assert blue == terms.term(parse("a + b > 4 and p")) and terms.value(blue) is None
    four = terms.restrict(blue, SPACE.place("b"), 1)
    assert four == terms.term(parse("a > 0 and p")) and terms.restrict(four, SPACE.place("b"), 0) == four
    assert terms.value(terms.restrict(terms.term(parse("a")), SPACE.place("a"), 3)) == 3
    gone = terms.restrict(terms.term(parse("n == 'absent'")), SPACE.place("n"), 2)
    assert (
        terms.value(gone) is True
        and terms.value(terms.restrict(terms.term(parse("n == 2")), SPACE.place("n"), 2)) is False
    )


@pytest.mark.parametrize(
    "text",
    ["('absent' if p else hue) == tone", "(hue if p else 'absent') == tone", "hue == ('absent' if q else 'red')"],
)
def test_symbols_that_may_be_absent_are_compared_as_symbols(text):
    codes = SPACE.all_codes()
    diagram = compile_diagram([parse(text)], SPACE)
    outcomes = [diagram.outcomes[number][0] for number in diagram.outcome_of(codes)]
    assert outcomes == evaluate(parse(text), SPACE, codes).tolist() and len(set(outcomes)) == 2


def test_functions_of_numbers_never_fail():
    assert [
        FUNCTIONS["//"](7, 2),
        FUNCTIONS["//"](-7, 2),
        FUNCTIONS["//"](7, 0),
        FUNCTIONS["%"](-7, 3),
        FUNCTIONS["%"](7, 0),
    ] == [3, -4, 0, 2, 0]
    assert (
        FUNCTIONS["pow"](3, 2) == 9
        and FUNCTIONS["pow"](3, -2) == 1
        and FUNCTIONS["min"](4, 2, 3) == 2
        and FUNCTIONS["max"](4, 2) == 4
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 * a + 1 == 2 * b", "False"), ("4 * a + 3 == 2 * b", "False"), ("2 * a + 2 == 2 * b", "a + 1 == b"), ("-2 * a > -3", "a < 2"),
        ("3 * a - 5 > 0", "a > 1"), ("5 - 3 * a > 0", "a < 2"), ("-3 * a == -6", "a == 2"), ("6 - 3 * a == 0", "2 == a"), ("4 * a - 2 * b > 3", "2 * a - b > 1"),
        ("2 * b - 4 * a == 6", "2 * a == b - 3"), ("a + b > 7", "False"), ("a + b >= 7", "not a + b < 7"), ("a + b < 2", "False"), ("a + b > 1", "True"), ("a - 3 > 0", "False"), ("a - 3 == 0", "a == 3"),
        ("a * 1 * b", "a * b"), ("(a + 0) * b", "b * a"), ("-a * b", "-(a * b)"), ("(3 * a) * (2 * b)", "6 * (b * a)"),
        ("min(a, a)", "min(a)"), ("a // b + a // b", "2 * (a // b)"), ("all_equal(a, b, a)", "all_equal(b, a)"), ("all_equal(2, 2, a)", "all_equal(a, 2)"),
        ("all_different(a)", "True"), ("all_different(1, 2, 1)", "False"), ("(a, b, 2) in ((1, 2, 2), (3, 4, 5))", "(a, b) in ((1, 2),)"), ("(True, a) in ((1, 2), (0, 3))", "a in (2,)"), ("a in ()", "False"),
        ("xor(p, q, not r, True)", "xor(r, q, p)"), ("xor(not p, not q)", "xor(p, q)"), ("iff(p, not q)", "xor(p, q)"),
    ],
)  # fmt: skip
def test_what_says_the_same_in_other_numbers_is_one_term(one, other):
    terms = Residuals(SPACE)
    assert terms.term(parse(one)) == terms.term(parse(other))


@pytest.mark.parametrize(
    "text",
    [
        "2 * a + 1 == 2 * b", "4 * a + 3 > 2 * b", "a - c == b", "a * b + c * a > 3", "a * b * c < -5", "abs(c) * a == b", "(a + c) * b > 2", "a // b == 0", "(a - c) % b == 1", "b ** a > 8",
        "(a if p else b) + c == 1", "count(p, q, r, a > b) * 2 == a + 1", "all_equal(a, b, a + 0)", "all_different(a, b, c + 4)", "(a, p, hue) in ((1, True, 'red'), (2, False, 'blue'), (3, True, 'red'))",
        "max(a, b, -c) - min(a, b) == 2", "xor(p, a > b, hue == tone)", "iff(hue == 'red', a + b + c > 2)", "p + 2 * q + 4 * r == a", "hue == (tone if p else 'red')",
    ],
)  # fmt: skip
def test_what_is_left_in_any_order_is_what_evaluation_says(text):
    names = [name for name in names_in(parse(text)) if name != "n"]
    space = ConceptSpace(tuple(SPACE.concept(name) for name in names))
    expected = evaluate(parse(text), space, space.all_codes())
    for order in (names, names[::-1], sorted(names)):
        diagram = compile_diagram([parse(text)], space, order)
        found = [diagram.outcomes[number][0] for number in diagram.outcome_of(space.all_codes())]
        assert found == expected.tolist()
