"""Formulas as they are built: by operators, by helpers, and what is refused."""

import pickle

import pytest

from assay.base import FormulaError
from assay.logic import (
    AllDifferent,
    And,
    Compare,
    Const,
    Count,
    Divide,
    Function,
    Member,
    Minus,
    Not,
    Or,
    Product,
    Quantified,
    Sum,
    Var,
    Xor,
    at_least,
    at_most,
    conjunction,
    disjunction,
    exactly,
    parity,
    parse,
    product,
    total,
    var,
)

A, B, C = var("a", "b", "c")


A, B, C = var("a", "b", "c")


A, B, C = var("a", "b", "c")


def test_operators_build_flat_parts():
    assert And((A, B, C)) == (A & B & C) and And((A, And((B, C)))) == (A & (B & C))
    assert (
        Or((A, B, C)) == (A | B | C)
        and Xor((A, B, C)) == (A ^ B ^ C)
        and Not(A) == ~A
        and And((A, Const(True))) == (A & True)
    )
    assert [str(part) for part in (A < 1, A <= 1, A > 1, A >= 1, A.eq("x"), A.ne(2))] == [
        "a < 1", "a <= 1", "a > 1", "a >= 1", "a == 'x'", "a != 2",
    ]  # fmt: skip
    with pytest.raises(FormulaError, match="no truth value of its own"):
        bool(A & B)


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (A + 1, "a + 1"), (1 + A, "1 + a"), (A - B, "a - b"), (5 - A, "5 - a"), (A * 2, "a * 2"), (2 * A, "2 * a"), (A // 3, "a // 3"),
        (A % 3, "a % 3"), (-A, "-a"), (A + B + C, "a + b + c"), (A * B * C, "a * b * c"), (A - 3, "a - 3"),
        (A + (B + C), "a + b + c"), (A * (B * C), "a * b * c"),
    ],
)  # fmt: skip
def test_arithmetic_is_what_the_text_says(built, text):
    assert built == parse(text)


def test_helpers_take_any_number_of_parts():
    assert conjunction() == Const(True) and conjunction(A) == A and conjunction(A, B) == And((A, B))
    assert disjunction() == Const(False) and disjunction(A) == A and disjunction(A, B) == Or((A, B))
    assert total() == Const(0) and total(A) == A and total(A, Sum((B, C))) == Sum((A, B, C))
    assert product() == Const(1) and product(A) == A and product(A, Product((B, C))) == Product((A, B, C))
    assert -Const(3) == Const(-3) and Minus(A) == -A and -Const(True) == Minus(Const(True))
    assert exactly(2, A, B, C) == Compare("==", Count((A, B, C)), Const(2)) and parity(A, B) == Xor((A, B))
    assert at_least(2, A, B) == Compare(">=", Count((A, B)), Const(2)) and at_most(2, A) == Compare(
        "<=", Count((A,)), Const(2)
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: And((A,)), "And needs two parts or more, got 1"), (lambda: Or(()), "Or needs two parts or more, got 0"),
        (lambda: Sum((A,)), "Sum needs two"), (lambda: Product((A,)), "Product needs two"), (lambda: Sum((A, Sum((B, C)))), "a sum inside a sum"),
        (lambda: Product((A, Product((B, C)))), "a product inside a product"), (lambda: Minus(Const(3)), "a negated number is a number"),
        (lambda: Function("abs", (A, B)), "does not take 2"), (lambda: Function("abs", ()), "does not take 0"),
        (lambda: Function("pow", (A,)), "does not take 1"), (lambda: Function("pow", (A, B, C)), "does not take 3"),
        (lambda: Function("min", ()), "does not take 0"), (lambda: Const(1.5), "is no truth value, whole number or symbol"),
        (lambda: Const(2**4096), "is longer than"), (lambda: Member((), ()), "needs 0 values"), (lambda: Member((A, B), ((1,),)), "needs 2 values"),
        (lambda: Quantified("any", (), "g", A), "binds one variable"), (lambda: Quantified("any", ("x", "x"), "g", A), "two different ones"),
        (lambda: Quantified("any", ("x", "y", "z"), "g", A), "binds one variable"),
    ],
)  # fmt: skip
def test_formulas_that_cannot_be_built(build, message):
    with pytest.raises(FormulaError, match=message):
        build()


def test_what_may_just_be_built():
    assert Const(2**4096 - 1).value.bit_length() == 4096 == Const(1 - 2**4096).value.bit_length()
    assert Minus(Const(False)).body == Const(False) and Function("min", (A,)).arguments == (A,)
    assert Function("max", (A, B, C)).arguments == (A, B, C) and Member((A,), ()).rows == ()
    assert Divide("%", A, B) != Divide("//", A, B) and AllDifferent(()).parts == ()


def test_true_is_not_one():
    assert Const(True) != Const(1) and Const(0) != Const(False) and hash(Const(True)) != hash(Const("True"))
    assert Member((A,), ((1,),)) != Member((A,), ((True,),)) and Member((A,), ((1,),)) == Member((A,), ((1,),))
    assert len({Const(True), Const(1), Const(True)}) == 2


def test_formulas_are_equal_after_a_journey():
    built = (A & B).eq(Var("c"))
    hash(built)
    again = pickle.loads(pickle.dumps(built))
    assert again == built and hash(again) == hash(built) and repr(again) == repr(built) == f"<{built}>"
