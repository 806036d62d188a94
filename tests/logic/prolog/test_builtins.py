"""Arithmetic functions and built-in predicates one by one, with the answers that the standard and SWI-Prolog give."""

import math

import pytest

from assay.prolog import PrologError, with_predefined
from assay.prolog.arithmetic import BITS, chained, total_of, value_of
from assay.prolog.reader import read_term
from tests.logic.prolog.test_machine import answers


def number(text):
    return value_of(read_term(text), lambda: None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 - 2", 5), ("6 / 3", 2), ("6 / 4", 1.5), ("6.0 / 3", 2.0), ("7 // 2", 3), ("7 // -2", -3), ("-7 // -2", 3),
        ("7 div -2", -4), ("7 mod -2", -1), ("7 rem -2", 1), ("min(2, 3)", 2), ("max(2, 3)", 3), ("2 ^ 3", 8),
        ("2 ** -1.0", 0.5), ("1 ^ -3", 1), ("-1 ^ -3", -1), ("-1 ^ -2", 1), ("0 ^ 0", 1), ("2.0 ** 3", 8.0),
        ("8 >> 2", 2), ("3 << 2", 12), ("8 >> -1", 16), ("8 << -3", 1), ("6 /\\ 3", 2), ("6 \\/ 3", 7), ("6 xor 3", 5),
        ("gcd(12, 18)", 6), ("copysign(2, -0.0)", -2.0), ("- (3)", -3), ("+ (3)", 3), ("abs(-2.5)", 2.5),
        ("sign(-3)", -1), ("sign(0)", 0), ("sign(2.5)", 1.0), ("sqrt(9)", 3.0), ("float(2)", 2.0), ("integer(2.5)", 3),
        ("integer(-2.5)", -3), ("round(2.4)", 2), ("round(-2.6)", -3), ("truncate(-2.7)", -2), ("floor(-2.1)", -3),
        ("ceiling(2.1)", 3), ("exp(0)", 1.0), ("log(1)", 0.0), ("log2(8)", 3.0), ("sin(0)", 0.0), ("cos(0)", 1.0),
        ("tan(0)", 0.0), ("atan(0)", 0.0), ("\\ 5", -6), ("succ(4)", 5), ("[7]", 7), ("1 + 2 * 3", 7),
        ("max_tagged_integer", 2**60 - 1), ("0 << 1000000", 0),
    ],
)  # fmt: skip
def test_functions_have_these_values(text, expected):
    found = number(text)
    assert found == expected and type(found) is type(expected)


def test_constants_and_angles():
    assert number("pi") == math.pi and number("e") == math.e and number("inf") == math.inf
    assert number("atan2(1, 2)") == pytest.approx(math.atan2(1, 2))
    assert chained(lambda a, b: a - b, [9, 2, 3]) == 4 and total_of([]) == 0 and total_of([1, 2.5]) == 3.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 / 0", "division by zero"), ("1 // 0", "division by zero"), ("1 mod 0", "division by zero"),
        ("1 // 2.0", "a whole number is wanted, not 2.0"), ("1.5 mod 2", "a whole number is wanted"),
        ("1.0 << 2", "a whole number is wanted"), ("1 /\\ 2.0", "a whole number is wanted"),
        ("2 ^ -1", "2 to the power -1 is no whole number"), ("2 ^ 1000000", "grows beyond 200,000 bits"),
        ("1 << 1000000", "grows beyond 200,000 bits"), ("sqrt(-1)", "has no value here"), ("log(0)", "has no value here"),
        ("-8 ** 0.5", "has no value here"), ("10.0 ** 400", "has no value here"), ("0.0 ** -1", "has no value here"),
        ("X + 1", "an unbound variable in arithmetic"), ("a + 1", "a is no number"), ('"t"', "is no number"),
        ("squart(2)", "no arithmetic function squart/1; did you mean 'sqrt'"), ("maximum(1, 2, 3)", "no arithmetic function"),
        ("mx(1, 2)", "no arithmetic function mx/2; did you mean 'max'"),
        ("truncate(inf)", "arithmetic fails"), ("[1, 2]", "no arithmetic function"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_refused(text, says):
    with pytest.raises(PrologError) as caught:
        number(text)
    assert says in str(caught.value)


def test_numbers_may_have_so_many_bits_and_no_more():
    assert number(f"2 ^ {BITS // 2 - 1}").bit_length() == BITS // 2
    assert number(f"1 << {BITS - 1}").bit_length() == BITS
    assert number(f"(1 << {BITS - 1}) >> {BITS}") == 0
    for text in (f"1 << {BITS}", f"(1 << {BITS - 1}) * 2", f"(1 << {BITS - 1}) + (1 << {BITS - 1})"):
        with pytest.raises(PrologError, match="grows beyond"):
            number(text)


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("max_list([1, 3, 2], X)", ["max_list([1,3,2],3)"]), ("min_list([4, 3, 5], X)", ["min_list([4,3,5],3)"]),
        ("max_list([], X)", []), ("sum_list([1, 2, 3], X)", ["sum_list([1,2,3],6)"]),
        ("max_member(X, [b, c, a])", ["max_member(c,[b,c,a])"]), ("min_member(X, [b, c, a])", ["min_member(a,[b,c,a])"]),
        ("max_member(X, [])", []), ("list_to_set([a, b, a, c, b], L)", ["list_to_set([a,b,a,c,b],[a,b,c])"]),
        ("is_list([a, b])", ["is_list([a,b])"]), ("is_list([a|_])", []), ("is_list(a)", []),
        ("msort([b, a, b], L)", ["msort([b,a,b],[a,b,b])"]),
        ("sort(1, @<, [f(2), f(1), f(2)], L)", ["sort(1,@<,[f(2),f(1),f(2)],[f(1),f(2)])"]),
        ("sort(1, @>=, [f(2), f(1), f(2)], L)", ["sort(1,@>=,[f(2),f(1),f(2)],[f(2),f(2),f(1)])"]),
        ("sort(0, @>, [1, 3, 3, 2], L)", ["sort(0,@>,[1,3,3,2],[3,2,1])"]),
        ("sort(0, @=<, [2, 1, 2], L)", ["sort(0,@=<,[2,1,2],[1,2,2])"]),
        ("sort(2, @<, [f(1, b), f(2, a), f(3, b)], L)", ["sort(2,@<,[f(1,b),f(2,a),f(3,b)],[f(2,a),f(1,b)])"]),
        ("keysort([b - 1, a - 2, b - 0], L)", ["keysort([b - 1,a - 2,b - 0],[a - 2,b - 1,b - 0])"]),
        ("functor(T, f, 2)", ["functor(f(A,B),f,2)"]), ("functor(a, N, A)", ["functor(a,a,0)"]),
        ("functor(T, a, 0)", ["functor(a,a,0)"]), ("functor(f(a), g, A)", []),
        ("T =.. [f, a, b]", ["f(a,b) =.. [f,a,b]"]), ("T =.. [a]", ["a =.. [a]"]), ("3 =.. L", ["3 =.. [3]"]),
        ("succ(X, 4)", ["succ(3,4)"]), ("succ(3, X)", ["succ(3,4)"]), ("succ(X, 0)", []),
        ("plus(1, 2, X)", ["plus(1,2,3)"]), ("plus(1, X, 3)", ["plus(1,2,3)"]), ("plus(X, 2, 3)", ["plus(1,2,3)"]),
        ("plus(1, 2, 4)", []), ("atom_length('', N)", ["atom_length('',0)"]), ("atom_length(123, N)", ["atom_length(123,3)"]),
        ("atom_chars(abc, L)", ["atom_chars(abc,[a,b,c])"]), ("atom_chars(X, [a, b])", ["atom_chars(ab,[a,b])"]),
        ("atom_number('12', N)", ["atom_number('12',12)"]), ("atom_number('-3', N)", ["atom_number('-3',-3)"]),
        ("atom_number('2.5', N)", ["atom_number('2.5',2.5)"]), ("atom_number(abc, N)", []),
        ("atom_number(X, 7)", ["atom_number('7',7)"]), ("memberchk(b, [a, b, b])", ["memberchk(b,[a,b,b])"]),
        ("memberchk(c, [a, b])", []), ("memberchk(a, L)", ["memberchk(a,[a|A])"]),
        ("member(f(X), [f(1), g(2), f(3)])", ["member(f(1),[f(1),g(2),f(3)])", "member(f(3),[f(1),g(2),f(3)])"]),
        ("between(2, 4, 2)", ["between(2,4,2)"]), ("between(2, 4, 4)", ["between(2,4,4)"]), ("between(2, 4, 5)", []),
        ("between(2, 4, 1)", []), ("between(2, inf, 99)", ["between(2,inf,99)"]), ("between(3, 2, X)", []),
        ("length([a, b], N)", ["length([a,b],2)"]), ("length([a, b], 3)", []), ("length([a|T], 1)", ["length([a],1)"]),
        ("length([a, b|T], 1)", []), ("length(a, N)", []),
        ("nth0(N, [a, b, a], a)", ["nth0(0,[a,b,a],a)", "nth0(2,[a,b,a],a)"]), ("nth1(3, [a, b], X)", []),
        ("nth0(5, [a], X)", []), ("arg(1, f(a, b), X)", ["arg(1,f(a,b),a)"]), ("arg(3, f(a, b), X)", []),
        ("arg(0, f(a, b), X)", []), ("arg(N, f(a, b), X)", ["arg(1,f(a,b),a)", "arg(2,f(a,b),b)"]),
        ("a \\= b", ["a \\= b"]), ("X \\= b", []), ("a \\== b", ["a \\== b"]), ("a \\== a", []),
        ("compare(O, b, a)", ["compare(>,b,a)"]), ("compare(O, a, a)", ["compare(=,a,a)"]),
        ("b @> a", ["b @> a"]), ("a @>= a", ["a @>= a"]), ("a @=< a", ["a @=< a"]), ("a @< a", []), ("a @> a", []),
    ],
)  # fmt: skip
def test_built_in_predicates_have_these_answers(goal, found):
    assert answers(goal) == found


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        ("sort(-1, @<, [], L)", "sort/4 wants a place from 0"), ("sort(0, up, [], L)", "sort/4 wants a place from 0"),
        ("sort(2, @<, [f(1)], L)", "sort/4: f(1) has no argument 2"), ("functor(T, f, -1)", "functor/3 wants a term"),
        ("functor(T, N, 2)", "functor/3 wants a term"), ("T =.. []", "=.. wants a term"), ("T =.. [3, a]", "=.. wants"),
        ("succ(X, Y)", "succ/2 wants a whole number"), ("succ(-1, X)", "succ/2 wants a whole number"),
        ("between(1.5, 2, X)", "between/3 wants whole numbers"), ("between(1, 2, a)", "a is no whole number"),
        ("nth1(a, [b], X)", "nth1/3: a is no whole number"), ("arg(1, a, X)", "arg/3 wants a compound term"),
        ("atom_length(f(x), N)", "a text or number is wanted"), ("length(L, 100000000)", "is too long"),
    ],
)  # fmt: skip
def test_what_built_in_predicates_refuse(goal, says):
    with pytest.raises(PrologError) as caught:
        answers(goal)
    assert says in str(caught.value)


def test_predefined_predicates_are_added_where_they_are_needed_and_not_defined():
    shelf = "q(X) :- r(X), s(X). r(1). s(1). s(2). t(3)."
    first, blank, *added = with_predefined("p(X) :- q(X).", shelf).splitlines()
    assert (first, blank) == ("p(X) :- q(X).", "") and sorted(added) == [
        "q(X) :- r(X),s(X).",
        "r(1).",
        "s(1).",
        "s(2).",
    ]
    own = "p(X) :- q(X). q(7)."
    assert with_predefined(own, shelf) == own  # its own come first
    assert with_predefined("p(X) :- f(X).", shelf, known=[("f", 1)]) == "p(X) :- f(X)."
    assert with_predefined("p(X) :- member(X, [1]).", shelf) == "p(X) :- member(X, [1])."  # of the library
    with pytest.raises(PrologError, match="u/1"):
        with_predefined("p(X) :- u(X).", shelf)
