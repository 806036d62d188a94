"""Text and formula are one: other spellings read the same, and what is no formula is refused in one line."""

import pickle
from functools import reduce
from operator import and_, or_, xor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Concept, ConceptSpace, Knowledge, Slot, bits, evaluate, latex, parse, to_cnf
from assay.base import AssayError, FormulaError, TooLarge
from assay.logic import ABSENT, Const, Not, free_names, names_in, shape_of, substitute, var

LONGEST, DEEPEST = 200_000, 100  # characters of a text, levels of a formula


a, b, c = var("a", "b", "c")


a, b, c = var("a", "b", "c")


a, b, c = var("a", "b", "c")


SPACE = ConceptSpace(
    (
        *(Concept(name, (False, True)) for name in ("green", "red_light")),
        *(Concept(name, tuple(range(10))) for name in ("n", "m")),
        Concept("hue", ("red", "blue")),
        Concept("shape", ("square", "disc")),
        *(
            Concept(f"car{k}.{name}", v)
            for k in (1, 2)
            for name, v in [("hue", ("red", ABSENT)), ("load", (1, 2, ABSENT))]
        ),
    ),
    (Slot("car1", "cars", ("hue", "load")), Slot("car2", "cars", ("hue", "load"))),
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("And(a, Not(b))", "a and not b"),
        ("Or(And(a, b), Not(c))", "a and b or not c"),
        ("a & b & c", "a and b and c"),
        ("a | b | ~c", "a or b or not c"),
        ("a ^ b ^ c", "xor(a, b, c)"),
        ("Xor(a, b)", "xor(a, b)"),
        ("a >> b", "implies(a, b)"),
        ("Equivalent(a, b)", "iff(a, b)"),
        ("ITE(a, b, c)", "b if a else c"),
        ("Eq(a, b)", "a == b"),
        ("Ne(a + 1, b)", "a + 1 != b"),
        ("Add(a, b, Mul(2, c))", "a + b + 2 * c"),
        ("Mod(Abs(a), 2) + Min(a, b) - Max(a, b) + Pow(a, 2)", "abs(a) % 2 + min(a, b) - max(a, b) + a ** 2"),
        ("0 < a <= b != 3", "0 < a and a <= b and b != 3"),
        ("exactly(2, a, b, c)", "count(a, b, c) == 2"),
        ("at_least(1, a, b)", "count(a, b) >= 1"),
        ("at_most(1, a, b)", "count(a, b) <= 1"),
        ("a not in [1, -2]", "not a in (1, -2)"),
        ("(a, b) in {(1, 2)}", "(a, b) in [(1, 2)]"),
        ("a in (1,)", "a in (1,)"),
        ("any(a, b)", "a or b"),
        ("all(a)", "a"),
        ("sum(a, b, c)", "a + b + c"),
        ("true and not false", "True and not False"),
        ("a - (b - c) - -1", "a - (b - c) + 1"),
        ("-(-a) ** -2", "-(-a) ** -2"),
        ("(a if b else c) if c else a", "(a if b else c) if c else a"),
        ("any(x.hue == 'red' for x in cars if x.load > 1)", "any(x.load > 1 and x.hue == 'red' for x in cars)"),
        (
            "all(x.hue == y.hue for x, y in pairs(cars) if x.load)",
            "all(implies(x.load, x.hue == y.hue) for x, y in pairs(cars))",
        ),
        ("any(x.p == y.p for x in cars for y in vans)", "any(any(x.p == y.p for y in vans) for x in cars)"),
        ("scene.car1.hue == 'it\\'s'", 'scene.car1.hue == "it\'s"'),
        ("(\n a\n and b\n)", "a and b"),
        ("  a  ", "a"),
    ],
)
def test_spellings(text, written):
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a & b | c", "a and b or c"), ("a | b & c ^ a", "a or xor(b and c, a)"), ("a ^ b | c ^ a", "xor(a, b) or xor(c, a)"), ("(a | b) & c", "(a or b) and c"), ("a >> b >> c", "implies(implies(a, b), c)"),
        ("a - b + c - 1", "a - b + c - 1"), ("a - (b + c)", "a - (b + c)"), ("a * b // c * 2", "((a * b) // c) * 2"), ("a // b // c", "(a // b) // c"), ("a % b * c", "(a % b) * c"), ("2 ** a ** b", "2 ** a ** b"),
        ("+a - +b", "a - b"), ("-a * -b", "-a * -b"), ("~a & ~(b | c)", "not a and not (b or c)"), ("a < b == c", "a < b and b == c"), ("1 <= a < 5 != b >= 0", "1 <= a and a < 5 and 5 != b and b >= 0"),
        ("a not in (1, 2)", "not a in (1, 2)"), ("(a, b) not in [[1, 2], (3, 4)]", "not (a, b) in [(1, 2), (3, 4)]"), ("(a,) in [(1,), (2,)]", "a in (1, 2)"), ("(a, b) in ((5, 6), (1, 2), (3, 4))", "(a, b) in [(5, 6), (1, 2), (3, 4)]"), ("a in {-1, 'x', True}", "a in (-1, 'x', True)"),
        ("any(x.p for x in cars for y in vans for z in cars)", "any(any(any(x.p for z in cars) for y in vans) for x in cars)"), ("all(x.p for x in cars if x.a if x.b)", "all(implies(x.a and x.b, x.p) for x in cars)"),
        ("count(x.p for x in cars if x.a)", "count(x.a and x.p for x in cars)"), ("any(x.p == y.p for x, y in pairs(cars) if x.q)", "any(x.q and x.p == y.p for x, y in pairs(cars))"),
        ("a.b.c.d == 1", "a.b.c.d == 1"), ("_a or b_", "_a or b_"), ("false or true", "False or True"), ("min(a)", "min(a)"), ("xor()", "xor()"), ("Mul(a, 2, b)", "a * 2 * b"), ("Gt(a, b) & Le(b, 2)", "a > b and b <= 2"),
    ],
)  # fmt: skip
def test_chains_and_lists_are_read_as_python_reads_them(text, written):
    assert str(parse(text)) == written and parse(written) == parse(text)


SIGNS = {"Eq": "==", "Ne": "!=", "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">="}


@pytest.mark.parametrize("name", SIGNS)
def test_comparisons_by_name_are_those_by_sign(name):
    assert parse(f"{name}(a, b)") == parse(f"a {SIGNS[name]} b")


@pytest.mark.parametrize("make", [and_, or_, xor, lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y])
def test_a_thousand_parts_are_no_deeper_than_two(make):
    formula = reduce(make, var(*(f"x{number}" for number in range(1000))))
    assert parse(str(formula)) == formula


def test_names_free_and_bound():
    formula = parse("any(x.hue == y.hue and n for x in cars) or n + m > 2")
    assert names_in(formula) == ("x.hue", "y.hue", "n", "m") and free_names(formula) == ("y.hue", "n", "m")
    assert free_names(parse("any(x.hue == 'red' for x in cars)", names=SPACE.names)) == ()
    assert substitute(a + 1, {"a": b - 2}) == parse("b - 2 + 1")


def test_parts_are_replaced_and_kept_in_the_form_that_text_has():
    three = {"a": Const(3), "b": parse("x + y"), "c": parse("x * y")}
    for text, expected in (
        ("-a + c", "-3 + x * y"), ("a - b", "3 - (x + y)"), ("a + b + 1", "3 + x + y + 1"), ("2 * c * b", "2 * x * y * (x + y)"), ("-b", "-(x + y)"),
        ("b if a > 1 else c", "x + y if 3 > 1 else x * y"), ("(a, c) in [(1, 2)]", "(3, x * y) in [(1, 2)]"), ("any(v.p == a for v in cars)", "any(v.p == 3 for v in cars)"), ("max(a, b) // c", "max(3, x + y) // (x * y)"),
        ("a.b == a", "a.b == 3"),
    ):  # fmt: skip
        assert substitute(parse(text), three) == parse(expected)
    assert names_in(parse("c + a.x > b + c")) == ("c", "a.x", "b")
    assert free_names(parse("any(x.p == y.p and q for x in cars) or y.p or x.p")) == ("y.p", "q", "x.p")


REFUSED = {
    "gren": "no concept named 'gren'; did you mean 'green'?",
    "green and": "invalid syntax",
    "": "invalid syntax",
    "n = 3": "equality is '=='",
    "green and red_light = 1": "cannot be read",
    "green; red_light": "invalid syntax",
    "__import__('os')": "no function named '__import__'",
    "__import__('os').system('ls')": "only named functions can be called",
    "eval('1')": "no function named 'eval'",
    "().__class__": "only 'slot.attribute' is allowed",
    "n.__class__": "only 'slot.attribute' is allowed",
    "__builtins__.n": "only 'slot.attribute' is allowed",
    "n.real.__class__": "only 'slot.attribute' is allowed",
    "__name__": "names must not start with '__'",
    "lambda: n": "Lambda is not allowed",
    "(lambda: n)()": "only named functions can be called",
    "[x for x in n]": "ListComp is not allowed",
    "{x: x for x in n}": "DictComp is not allowed",
    "(x for x in cars)": "GeneratorExp is not allowed",
    "min(x for x in cars)": "takes no 'for'",
    "sum(x.load for x in cars)": "takes no 'for'",
    "any(x.hue == 'red' async for x in cars)": "'for' takes names",
    "any(x.hue == y.hue for x, y in cars)": "two variables need 'in pairs(group)'",
    "any(x.hue == 'red' for x in pairs(cars))": "'for' takes names",
    "any(x.hue == x.hue for x, x in pairs(cars))": "binds one variable, or two different ones",
    "any(x.hue == 'red' for x in cabs)": "no group of slots named 'cabs'; did you mean 'cars'?",
    "any(x for x in cars)": "no concept named 'x'",
    "any(x.hew == 'red' for x in cars)": "no concept named 'car1.hew'; did you mean 'car1.hue'?",
    "any(x.hue == 'rde' for x in cars)": "no value 'rde'; did you mean 'red'?",
    "car1.hue in ('red', 'bleu')": "no value 'bleu'",
    "f'{n}'": "JoinedStr is not allowed",
    "n == 1.5": "only whole numbers",
    "n == 1e3": "only whole numbers",
    "n == 2j": "only whole numbers",
    "n == None": "only whole numbers",
    "hue == b'red'": "only whole numbers",
    "n == ...": "only whole numbers",
    "n / 2 == 1": "use '//'",
    "n << 2": "LShift is not allowed",
    "n @ m": "MatMult is not allowed",
    "n is m": "comparison Is is not allowed",
    "n in m": "'in' takes a list of values",
    "n in (m, 1)": "'in' takes values written out",
    "(n, m) in [(1, 2), 3]": "each row of 'in' needs 2 values",
    "(n, m) == (1, 2)": "Tuple is not allowed",
    "cars[0].hue == 'red'": "only 'slot.attribute' is allowed",
    "(x := n)": "NamedExpr is not allowed",
    "And(*n)": "Starred is not allowed",
    "Not(green, green)": "Not() does not take 2 arguments",
    "min()": "min() does not take 0 arguments",
    "abs(n, m) == 1": "abs() does not take 2 arguments",
    "exactly(n, green)": "a whole number is wanted here",
    "exactly()": "exactly() does not take 0 arguments",
    "count(green, key=1)": "no function named 'count'",
    "(" * 10_000 + "n" + ")" * 10_000: "cannot be read",
    "not " * 5_000 + "green": "cannot be read",
    "-" * 100_000 + "n": "cannot be read",
    "not " * 200 + "green": "nested more than",
    "exactly(1, " * 60 + "green" + ")" * 60: "nested more than",
    "any(" * 250 + "green" + " for x in cars)" * 250: "cannot be read",
    "green if " * 3_000 + "green": "cannot be read",
    "n" * (LONGEST + 1): "is longer than",
    "n == " + "9" * 5_000: "cannot be read",
    "n == 0x" + "f" * 5_000: "a number of 20000 bits is longer than",
    "n ** 65 == 1": "the exponent of 'n ** 65' must lie in 0..64",
    "n ** -1 == 1": "must lie in 0..64",
    "n ** 10 ** 10 == 1": "must lie in 0..64",
    "n ** m ** m == 1": "must lie in 0..64",
    "(((((n ** 64) ** 64) ** 64) ** 64) ** 64) ** 64 == 1": "its numbers can grow beyond 4096 bits",
    "*".join(["10 ** 64"] * 40) + " == n": "its numbers can grow beyond 4096 bits",
    "(0 - 10 ** 64) * " + "*".join(["10 ** 64"] * 39) + " == n": "its numbers can grow beyond 4096 bits",  # far below 0
    "n // m == 1": "division by 'm', which can be zero",
    "n % (m - 3) == 1": "division by 'm - 3', which can be zero",
    "n // 0 == 1": "which can be zero",
    "1and green": "invalid decimal literal",
    "hue == '\\d'": "invalid escape sequence",
    "hue < 'red'": "symbols have no order",
    "'red' >= hue": "symbols have no order",
    "car1.load < 'absent'": "symbols have no order",
    "hue == 3": "cannot be compared: a symbol and a number",
    "car1.hue == 3": "cannot be compared: a symbol and a number",
    "car1.load == 'red'": "cannot be compared: a symbol and a number",
    "car1.load == car1.hue": "cannot be compared: a symbol and a number",
    "n == 'absent'": "cannot be compared: a symbol and a number",
    "hue == 'absent'": "no value 'absent'",
    "hue == 'rde'": "no value 'rde'; did you mean 'red'?",
    "hue in ('blue', 'rde')": "no value 'rde'; did you mean 'red'?",
    "hue == shape": "they have no value in common",
    "all_equal(n, hue)": "cannot be compared: a symbol and a number",
    "all_different(nn)": "no concept named 'nn'",
    "nn in ()": "no concept named 'nn'",
    "hue + 1 == 2": "'hue' is a symbol, not a number",
    "min('red', n) == 2": "''red'' is a symbol, not a number",
    "car1.load + 1 == 2": "'car1.load' may be absent",
    "n and green": "'n' is a number, not true or false",
    "not (n + 1)": "'n + 1' is a number, not true or false",
    "count(n) == 1": "'n' is a number, not true or false",
    "implies(green, hue)": "'hue' is a symbol, not true or false",
    "1 if n else 2": "'n' is a number, not true or false",
    "(n if green else hue) == 1": "are of different kinds",
}  # fmt: skip


def read_and_fit(text):
    formula = parse(text)
    return formula, shape_of(formula, SPACE)


@pytest.mark.parametrize(("text", "says"), REFUSED.items(), ids=lambda text: text[:30])
def test_what_is_no_formula_is_refused_in_one_line(text, says):
    with pytest.raises(FormulaError) as caught:
        read_and_fit(text)
    message = str(caught.value)
    assert says in message and "\n" not in message and len(message) < 400


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("count(x.p for x in cars for y in vans)", "count() takes one 'for'; use pairs() for two slots"), ("min(x.p for x in cars)", "min() takes no 'for'"), ("any(x.p for x, y in cars)", "two variables need"),
        ("any(x.p for x in pairs(cars))", "'for' takes names"), ("any(x.p for x, y in pairs(cars, vans))", "'for' takes names"), ("any(x.p for x, y, z in pairs(cars))", "'for' takes names"), ("any(x.p for x.q in cars)", "'for' takes names"),
        ("abs(a, k=1)", "no function named 'abs'"), ("exactly(True, a)", "a whole number is wanted here"), ("exactly(a, b)", "a whole number is wanted here"), ("1 < a in b", "comparison In is not allowed"), ("a in (1, 2) in (3,)", "'in' takes a list of values"),
        ("a in (1, b)", "'in' takes values written out"), ("(a, b) in [(1, c)]", "'in' takes values written out"), ("a in b", "'in' takes a list"), ("a is b", "comparison Is is not allowed"), ("a / b", "use '//'"), ("a @ b", "operator MatMult is not allowed"),
        ("1.5", "only whole numbers"), ("abs(a, b)", "does not take 2 arguments"), ("prolog('p', 'h', 't', 3)", "prolog() takes"), ("prolog('p', 'h', a)", "prolog() takes"), ("prolog('p', 3, 't', a)", "prolog() takes"), ("(a, b) in [(1, 2, 3)]", "each row of 'in' needs 2 values"),
    ],
)  # fmt: skip
def test_what_looks_like_a_formula_and_is_none(text, says):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert says in str(caught.value)


def test_nothing_is_evaluated(tmp_path):
    for call in ("open({!r}, 'w')", "__import__('pathlib').Path({!r}).touch()", "any(open({!r}, 'w') for x in cars)"):
        with pytest.raises(FormulaError):
            read_and_fit(call.format(str(tmp_path / "made")))
    assert not list(tmp_path.iterdir())


def test_unknown_names_are_refused_while_reading_when_the_names_are_given():
    with pytest.raises(FormulaError, match=r"^formula 'gren or n': no concept named 'gren'; did you mean 'green'\?$"):
        parse("gren or n", names=SPACE.names)
    with pytest.raises(FormulaError, match=r"no concept named 'y\.hue'"):
        parse("any(x.hue == y.hue for x in cars)", names=SPACE.names)


def test_quantifiers_that_would_never_end_are_refused():
    with pytest.raises(TooLarge, match=r"^formula 'any\(.*\.\.\.' has more than 200,000 cases; use fewer"):
        read_and_fit("any(" * 90 + "green" + " for x in cars)" * 90)


@pytest.mark.parametrize(
    "text",
    [
        "not " * (DEEPEST - 1) + "green",
        "abs(" * (DEEPEST - 2) + "n" + ")" * (DEEPEST - 2) + " == 1",
        "count(" * 49 + "green" + " == 1)" * 49 + " == 1",
        "(" * (DEEPEST - 2) + "n" + " // 2) * 1" * ((DEEPEST - 2) // 2) + ")" * ((DEEPEST - 2) // 2) + " == 1",
        "1 if green else " * (DEEPEST - 1) + "0",
        "xor(green, " * (DEEPEST - 1) + "green" + ")" * (DEEPEST - 1),
        "(green and (red_light or " * 49 + "green" + "))" * 49,
    ],
)
def test_every_reading_walks_through_the_deepest_formulas(text):
    knowledge = Knowledge.of(SPACE, {"y": text})
    formula = knowledge.label("y").formula
    assert parse(str(formula)) == formula and latex(formula)
    assert knowledge.labels_of(np.zeros((1, len(SPACE)), dtype=int)).shape == (1, 1)
    assert to_cnf(knowledge).clauses and knowledge.diagram.outcomes and pickle.dumps(knowledge)


def test_texts_may_be_so_long_and_formulas_so_deep():
    long = "a" + " " * (LONGEST - 6) + "and b"
    assert len(long) == LONGEST and str(parse(long)) == "a and b"
    with pytest.raises(FormulaError, match=f"a formula of {LONGEST + 1} characters is longer than {LONGEST}"):
        parse(long.replace("and", " and"))
    assert str(parse("not " * (DEEPEST - 1) + "a")).count("not") == DEEPEST - 1
    with pytest.raises(FormulaError, match=f"nested more than {DEEPEST} deep"):
        parse("not " * DEEPEST + "a")
    twice = "abs(" * (DEEPEST - 1) + "- -1" + ")" * (DEEPEST - 1)  # two deeper in Python than here
    assert str(parse(twice)).count("abs") == DEEPEST - 1
    deep = a
    for _ in range(DEEPEST - 1):
        deep = Not(deep)
    assert shape_of(deep, bits(["a"])).kind == "bool"
    with pytest.raises(FormulaError, match=f"nested more than {DEEPEST} deep, quantifiers spelled out"):
        shape_of(Not(deep), bits(["a"]))
    assert str(parse("-1 + a" + " * -1" * 5)) == "-1 + a * -1 * -1 * -1 * -1 * -1"
    with pytest.raises(FormulaError, match=r"no concept named 'x\.q'"):
        parse("x.p and x.q", ["x.p", "x"])
    assert parse("any(x.p for x in cars) and y", ["y"]) == parse("any(x.p for x in cars) and y")


TEXT = """n m green hue car1.load cars 'red' 'absent' 1 -2 0 ( ) ( ) [ ] , , + - * // % ** == != < in not and or if else
for x in cars pairs( any( all( count( abs( min( x.load x.hue True & | ^ ~ >> = : . lambda 2.5 \\ # ' é {"""


WORDS = [*TEXT.split(), "\n", "\x00"]


@settings(deadline=None, derandomize=True, max_examples=1500)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join) | st.text(max_size=20))
def test_any_text_is_a_formula_or_refused(text):
    try:
        formula, shape = read_and_fit(text)
    except AssayError as error:
        assert "\n" not in str(error)
        return
    assert parse(str(formula)) == formula and latex(formula)
    found = evaluate(formula, SPACE, np.zeros((2, len(SPACE)), dtype=int))
    assert len(found) == 2 and (found.dtype == bool) == (shape.kind == "bool")
