"""Unknown values in terms: conditions, their opposites, equality of symbols, and arithmetic on them."""

import pytest

from assay.concepts import Concept, ConceptSpace, digits
from assay.errors import NoSymbols
from assay.logic import Const, evaluate, parse
from assay.logic import formula as f
from assay.prolog import Variable, deref, rule_of, symbols
from assay.prolog.reader import read_term
from assay.prolog.symbols import Sym, Unifier, comparison, either, number, opposite, simplify, symbol

A, B = Sym(f.Var("a")), Sym(f.Var("b"))


def conditions(*texts):
    return tuple(parse(text) for text in texts)


def test_conditions_come_once_and_contradictions_are_seen():
    assert simplify(conditions("a == 1", "b > 2 and a == 1", "True", "b > 2")) == conditions("a == 1", "b > 2")
    assert simplify(conditions("a == 1", "a == 2")) is None and simplify(conditions("a == 1", "b == 2")) is not None
    assert simplify(conditions("a > 1", "a > 2")) == conditions("a > 1", "a > 2")
    assert simplify(conditions("a > 1", "False")) is None
    assert simplify(conditions("a == 1", "a != 1")) is None and simplify(conditions("a > b", "not a > b")) is None
    assert simplify(()) == ()


def test_opposites():
    pairs = {
        "a == 1": "a != 1",
        "a != 1": "a == 1",
        "not p": "p",
        "True": "False",
        "False": "True",
        "a > 1": "not a > 1",
    }
    for text, negated in pairs.items():
        assert opposite(parse(text)) == parse(negated)


def test_a_path_that_a_shorter_one_covers_is_left_out():
    one, two, other = conditions("a == 1", "b > 2", "c"), conditions("b > 2"), conditions("d", "a == 1")
    assert either([one, two, other]) == parse("b > 2 or (d and a == 1)")
    assert either([]) == Const(False) and either([one, ()]) == Const(True)


def test_symbols_stand_for_the_values_that_are_there():
    space = ConceptSpace((Concept("x", ("red", "blue", "absent")), Concept("t", (False, True)), Concept("n", (2, 5))))
    assert symbol("x", space).meaning == {"red": "red", "blue": "blue"}
    assert symbol("x", space, {"red": "r"}).meaning == {"r": "red", "blue": "blue"}
    assert symbol("t", space).meaning == {"false": False, "true": True}
    assert [symbol(name, space).numeric for name in ("x", "t", "n")] == [False, False, True] and A.numeric


def test_terms_are_equal_under_conditions():
    space = ConceptSpace(
        (Concept("x", ("red", "blue")), Concept("y", ("blue", "grey")), Concept("one", ("red",)), Concept("n", (2, 5)))
    )
    x, y, one, n = (symbol(name, space) for name in space.names)
    unify = Unifier().unify
    assert unify(x, "red") == conditions("x == 'red'") == unify("red", x)
    assert unify(x, "grey") is None and unify(x, ("f", "red")) is None and unify(n, 2.0) is None
    assert unify(one, "red") == () and unify(x, x) == () and unify(x, Sym(f.Var("x"), x.meaning)) == ()
    assert unify(x, y) == conditions("x == y") and unify(x, n) is None and unify(one, y) is None
    assert unify(n, A) == conditions("n == a") and unify(A, x) is None
    assert unify(A, 3) == conditions("a == 3") and unify(A, "red") is None and unify(A, 3.0) is None
    assert unify(("f", x, n), ("f", "blue", 5)) == conditions("x == 'blue'", "n == 5")
    assert unify(("f", x, 1), ("f", "blue", 2)) is None and unify(("f", 1), ("g", 1)) is None and unify(1, 1.0) is None
    renamed = symbol("y", space, {"blue": "red", "grey": "blue"})
    assert unify(x, renamed) == conditions("(x == 'red' and y == 'blue') or (x == 'blue' and y == 'grey')")


def test_variables_are_bound_and_freed_again():
    unifier, first, second = Unifier(), Variable(), Variable()
    assert unifier.unify(first, 1) == () and unifier.unify("b", second) == ()
    assert (deref(first), deref(second)) == (1, "b") and unifier.unify(first, 2) is None
    unifier.undo(1)
    assert deref(first) == 1 and deref(second) is second
    assert unifier.bind(second, Const(4)) == () and deref(second) == 4
    assert (
        unifier.bind(Variable(), parse("a + 1")) == ()
        and unifier.bind(4, Const(4)) == ()
        and unifier.bind(5, Const(4)) is None
    )


def arithmetic(text, values):
    """Read an arithmetic term, and put symbols where its lower-case names stand."""

    def put(term):
        return (term[0], *map(put, term[1:])) if type(term) is tuple else values.get(term, term)

    return put(read_term(text))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("x + 2", "a + 2"), ("x - y", "a - b"), ("2 * x", "2 * a"), ("- x", "-a"), ("min(x, y)", "min(a, b)"),
        ("max(x, 3)", "max(a, 3)"), ("abs(x)", "abs(a)"), ("x mod 3", "a % 3"), ("3 + 4", "7"), ("7 // 2", "3"), ("7", "7"),
        ("2 ** 3 - x", "8 - a"), ("9 mod 4 + x", "1 + a"),
    ],
)  # fmt: skip
def test_arithmetic_is_a_formula(text, formula):
    assert number(arithmetic(text, {"x": A, "y": B}), lambda: None) == parse(formula)


@pytest.mark.parametrize("text", ["x // 2", "x ** 2", "sqrt(x)", "1 / 2", "red + 1", "Z + x", "t + 1"])
def test_other_arithmetic_is_no_formula(text):
    truth = symbol("t", ConceptSpace((Concept("t", (False, True)),)))
    with pytest.raises(NoSymbols):
        number(arithmetic(text, {"x": A, "t": truth}), lambda: None)


def test_comparisons_have_the_constant_on_the_right():
    def compared(operator, left, right):
        return comparison(operator, left, right, lambda: None)

    signs = {
        "<": ("<", ">"),
        "=<": ("<=", ">="),
        ">": (">", "<"),
        ">=": (">=", "<="),
        "=:=": ("==", "=="),
        "=\\=": ("!=", "!="),
    }
    for operator, (there, back) in signs.items():
        assert compared(operator, A, 3) == conditions(f"a {there} 3")
        assert compared(operator, 3, A) == conditions(f"a {back} 3")
        assert compared(operator, A, B) == conditions(f"a {there} b")
    truths = {operator: compared(operator, 2, 3) == () for operator in signs}
    assert truths == {"<": True, "=<": True, ">": False, ">=": False, "=:=": False, "=\\=": True}
    assert compared(">", 2, 3) is None and compared(">=", 3, 3) == ()


def test_a_symbol_of_numbers_takes_its_values_only():
    n = symbol("n", digits(["n"], (4, 7)))
    assert Unifier().unify(n, 7) == conditions("n == 7") and Unifier().unify(n, 5) is None


def test_a_program_whose_arithmetic_is_no_formula_is_asked():
    space = digits(["a", "b"], (0, 1, 2, 3))
    for text, test in (("X // 2 =:= Y", lambda a, b: a // 2 == b), ("sqrt(X) =:= Y", lambda a, b: a**0.5 == b)):
        rule = rule_of(f"p(W) :- a(W, X), b(W, Y), {text}.", space)
        assert isinstance(rule, f.Oracle)
        assert evaluate(rule, space, space.all_codes()).tolist() == [test(a, b) for a in range(4) for b in range(4)]
    with pytest.raises(NoSymbols, match=r"no formula says what a // 2 is in arithmetic"):
        number(("//", A, 2), lambda: None)


def test_symbols_that_share_some_values_under_other_names():
    space = ConceptSpace(
        (Concept("x", ("red", "blue", "grey")), Concept("y", ("red", "grey", "blue")), Concept("z", (1, 2)))
    )
    x, y = symbol("x", space), symbol("y", space, {"grey": "blue", "blue": "pink"})
    unify = Unifier().unify
    assert unify(x, y) == conditions("(x == 'red' and y == 'red') or (x == 'blue' and y == 'grey')")
    assert unify(y, x) == conditions("(y == 'red' and x == 'red') or (y == 'grey' and x == 'blue')")
    assert unify(x, symbol("y", space)) == conditions("x == y")
    named = symbol("z", space, {1: "red", 2: "none"})
    assert not named.numeric and unify(x, named) == conditions("x == 'red' and z == 1")
    assert unify(named, "red") == conditions("z == 1") and unify(named, 1) is None
    half = symbol("z", space, {1: "one"})
    assert not half.numeric and unify(half, 2) == conditions("z == 2") and unify(half, A) is None


def test_work_on_terms_is_counted(monkeypatch):
    monkeypatch.setattr(symbols, "MOST_WORK", 4)
    unifier = Unifier()
    assert unifier.unify(read_term("f(1, g(2))"), read_term("f(1, g(2))")) == () and unifier.work == 4
    with pytest.raises(NoSymbols, match="the program's terms are too large, or too many"):
        unifier.unify(1, 1)


def test_variables_are_bound_to_one_another_and_stay_on_the_trail():
    unifier, first, second = Unifier(), Variable(), Variable()
    assert unifier.unify(first, second) == () and unifier.unify(("f", second, first), ("f", A, 3)) == conditions(
        "a == 3"
    )
    assert deref(first) is A and len(unifier.trail) == 2
    unifier.undo(0)
    assert first.ref is second.ref is None and unifier.trail == []
    assert unifier.unify(first, first) == () and unifier.trail == []
    assert unifier.unify(("f", first, "a"), ("f", 1, "b")) is None  # what was bound stays until it is undone
    unifier.undo(0)
    assert first.ref is None


def test_paths_are_covered_only_by_those_that_are_shorter():
    first, second, third = (
        conditions("a == 1", "b > 2"),
        conditions("b > 2", "a == 1"),
        conditions("a == 1", "c", "b > 2"),
    )
    assert either([third, first, second]) == parse("b > 2 and a == 1")
    assert either([conditions("c", "d"), conditions("d", "e")]) == parse("(c and d) or (d and e)")
