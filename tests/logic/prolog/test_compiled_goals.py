"""Goals as they are compiled: order and place of what they hold, what they leave behind, and where errors come from."""

import numpy as np
import pytest

from assay.concepts import digits
from assay.prolog import PrologError, ProofLimits, Variable, Worlds, chain_of, key_of, label, machine, read_program
from assay.prolog.arithmetic import BITS, total_of, value_of
from assay.prolog.builtins import TESTS
from assay.prolog.control import _atoms
from assay.prolog.limits import Meter
from assay.prolog.machine import Machine, Predicate
from assay.prolog.program import calls
from assay.prolog.reader import Clause, read_term
from assay.prolog.store import Store
from tests.logic.prolog.test_machine import answers

PROGRAM = r"""
then(N) :- ( N > 2 -> !, N > 5 ; true ).
then(3).
soft(N) :- ( N > 2 *-> !, N > 5 ; true ).
soft(3).
nested(N) :- ( N > 2 -> ( N < 9 -> !, N > 5 ; true ) ; true ).
nested(3).
one(Y) :- put(f(Y, Z, Z)).
put(f(1, A, B)) :- A == B.
new :- unset(X), X = 1.
unset(X) :- var(X).
left(L, X) :- findall(X, X = 1, L), X = 2.
counted(N, X) :- aggregate_all(count, X = 1, N), X = 2.
bag(L, X) :- bagof(X, X = 1, L), var(X).
fixed(X) :- X = t(a, [b, c(1)], "d"), X = t(a, [b|_], _).
sum(X) :- X is 1.0e16 + 1 + -1.0e16.
product(X, Y) :- Y is X * 0.5 * X.
"""


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("(member(X, [3, 7, 4, 1, 3, 8]), then(X))", [7, 1, 8]), ("(member(X, [3, 7, 4, 1, 3, 8]), soft(X))", [7, 1, 8]),
        ("(member(X, [3, 7, 10, 4, 1, 3, 8]), nested(X))", [7, 10, 1, 8]), ("(member(X, [2, 1, 3]), one(X))", [1]),
    ],
)  # fmt: skip
def test_a_cut_in_a_branch_ends_its_clause_and_not_its_callers(goal, found):
    values = answers(f"findall(X, {goal}, L)", PROGRAM)[0].rpartition(",[")[2].rstrip(")]")
    assert [int(value) for value in values.split(",") if value] == found


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("new", ["new"]), ("left(L, X)", ["left([1],2)"]), ("counted(N, X)", ["counted(1,2)"]), ("bag(L, X)", ["bag([1],A)"]),
        ("findall(X, X = 1, L)", ["findall(A,A = 1,[1])"]), ("(\\+ (X = 1, fail), X = 2)", ["\\+ (2 = 1,fail),2 = 2"]),
        ("(forall(X = 1, X > 0), X = 2)", ["forall(2 = 1,2 > 0),2 = 2"]), ("fixed(X)", ['fixed(t(a,[b,c(1)],"d"))']),
        ("sum(X)", ["sum(0.0)"]), ("X is 1.0e16 + 1 + -1.0e16", ["0.0 is 1.0e+16 + 1 + -1.0e+16"]), ("product(3, Y)", ["product(3,4.5)"]),
        ("(length([a], N), N > 5 ; N = 9)", ["length([a],9),9 > 5 ; 9 = 9"]), ("(X = 2, call(plus(X), 3, Y))", ["2 = 2,call(plus(2),3,5)"]),
        ("foldl(plus, [1, 2.5], 1, S)", ["foldl(plus,[1,2.5],1,4.5)"]),
    ],
)  # fmt: skip
def test_goals_leave_nothing_bound_that_they_only_tried(goal, found):
    assert answers(goal, PROGRAM) == found


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("p(_) :- member(X, [1]), Y is X / 0, Y > 1.", "rule line 1: division by zero, in 'A is B / 0'"),
        ("p(_) :- between(1, 2, X),\n nth0(0, [a], Y), X > Y.", "rule line 1: a is no number, in 'A > B'"),
        ("p(_) :- X is X + 1.", "rule line 1: an unbound variable in arithmetic; it needs a value first, in 'A is A + 1'"),
        ("p(_) :- X = 1, Y is '.'(X), Y > 1.", "rule line 1: no arithmetic function ./1"),
        ("q.\np(X) :- sumlist(b, X).", "library line 48: a list is wanted, not one that ends in b, in 'sum_list(A,B)'"),
        ("p(X) :- q(X).\nq(X) :- r(X), member(_, [1]).\nr(X) :- X < a.", "rule line 3: a is no number"),
        ("p(X) :- maplist(succ, [-1], [X]).", "library line 22: succ/2 wants a whole number from 0, in 'succ(-1,3)'"),
    ],
)  # fmt: skip
def test_an_error_names_the_goal_that_it_comes_from_and_only_that(program, message):
    with pytest.raises(PrologError) as caught:
        made = Machine(read_program(program, "rule"))
        with made.running():
            made.query("p", 1)((3,))
    assert str(caught.value) == message


def test_numbers_that_are_added_up_may_not_grow_either():
    large = f"(1 << {BITS - 1})"
    for goal in (f"X is {large} + {large}", f"X is 0 + {large} * 2", f"sum_list([{large}, {large}], X)"):
        with pytest.raises(PrologError, match="a number grows beyond 200,000 bits"):
            answers(goal)
    assert total_of([0.1]) == 0.1 and total_of([0.25, 3]) == 3.25 and total_of([7]) == 7
    for text in ("(- inf) ** 3", "inf ** 2", "(inf - inf) ** 2", "2 ** inf"):
        with pytest.raises(PrologError, match="has no value here"):
            value_of(read_term(text), lambda: None)
    with pytest.raises(PrologError, match=r"no arithmetic function \./1"):
        value_of((".", 3), lambda: None)


@pytest.mark.parametrize(
    ("name", "truths"),
    [
        ("<", [True, False, False]), ("=<", [True, True, False]), (">", [False, False, True]), (">=", [False, True, True]),
        ("=:=", [False, True, False]), ("=\\=", [True, False, True]),
    ],
)  # fmt: skip
def test_comparisons_that_are_called_as_tests(name, truths):
    store = Store(Meter(ProofLimits(), "mine"))
    store.meter.start()
    assert [TESTS[name, 2](store, pair) for pair in ((("+", 1, 1), 3), (2, ("-", 3, 1)), (3, 2))] == truths
    assert TESTS["is", 2](store, (found := Variable(), ("-", 7, 2))) and found.ref == 5
    assert TESTS["=", 2](store, (found, 5)) and not TESTS["=", 2](store, (found, 6))


def test_goals_that_a_program_builds_count_as_parts():
    made = Machine(read_program("go(G) :- call(G). p(1)."))
    ask = made.query("go", 1)
    with made.running():
        for goal, parts in (("p(1)", 0), ("true", 10), ("true, true, p(1)", 40), ("\\+ p(2)", 20)):
            assert ask((read_term(goal),)) and made.meter.built == parts


def test_a_call_of_more_arguments_than_prolog_has_is_a_predicate_like_others():
    nine = ", ".join("123456789")
    assert answers("go", f"call({nine}). go :- call({nine}).") == ["go"]
    assert answers("go", f"call({nine}). go :- call({nine.replace('9', '8')}).") == []
    assert answers(
        "go(X)", "go(X) :- call(add, 1, 2, 3, 4, 5, 6, X). add(A, B, C, D, E, F, X) :- X is A+B*C-D+E*F."
    ) == ["go(33)"]


def test_atoms_behind_parts_that_come_twice_are_seen():
    part, bound = ("p", 1, "a"), Variable()
    bound.ref = ("q", "b")
    assert _atoms((",", "!", (",", part, (",", part, bound)))) == {"!", "a", "b"} and _atoms("c") == {"c"}
    assert _atoms(("f", Variable(), 2)) == set()
    with pytest.raises(PrologError, match=r"a cut inside the condition of '\*->'"):
        answers("(G = p(1), H = ( !, G, G *-> true ; true ), call(H))")
    assert chain_of((",", bound, (",", "c", bound)), ",") == [("q", "b"), "c", ("q", "b")]


def test_the_size_of_an_index_is_counted_by_keys_and_open_clauses(monkeypatch):
    heads = [("k", "a"), ("k", Variable()), ("k", 2), ("k", ("f", 1)), ("k", Variable())]
    compiled = [(Clause(head, "true"), number) for number, head in enumerate(heads)]
    for largest, keys in ((6, {"a": [0, 1, 4], 2: [1, 2, 4], ("f", 2): [1, 3, 4]}), (5, None)):
        monkeypatch.setattr(machine, "LARGEST_INDEX", largest)  # three keys, two open clauses
        found = Predicate(("k", 1))
        found.load(compiled)
        assert found.index == keys and found.clauses == [0, 1, 2, 3, 4]


def test_rules_about_facts_may_call_the_library_by_name():
    worlds = Worlds(digits(["a", "b"]), np.array([[3, 4], [4, 3], [5, 5]]))
    text = "p(W) :- a(W, X), b(W, Y), G = reverse([X, Y]), call(G, [4|L]), L = [3]."
    assert label(text, worlds, head="p").tolist() == [True, False, False]
    assert label("p(W) :- a(W, X), N = last, call(N, [7, X], 4).", worlds).tolist() == [False, True, False]


def test_goals_that_are_completed_are_called_unless_they_are_control():
    def called(text):
        (clause,) = read_program(text).clauses["p", 0]
        return sorted(f"{name}/{arity}" for (name, arity), _ in calls(clause))

    assert called("p :- call((a, b), 1).") == ["call/2"] and called("p :- call(',', a, b).") == [",/2", "call/3"]
    assert called("p :- call(f(X), 1, 2), maplist(g(1, 2)), maplist(h, A).") == sorted(
        [",/2"] * 2 + ["call/3", "f/3", "maplist/1", "maplist/2", "h/1"]
    )
    with pytest.raises(PrologError, match="line 1: no predicate write/1 in 'write.1.'; a rule only decides"):
        read_program("writes(1). write(1, 2). p :- write(1).").complete()
    assert key_of(read_term("f(a, b)")) == ("f", 2)


@pytest.mark.parametrize(
    ("body", "inferences", "parts"),
    [
        ("q", 2, 0), ("q, q, r", 5, 0), ("\\+ s, q", 3, 0), ("( s -> true ; q )", 3, 0), ("( r -> true ; q )", 3, 0),
        ("member(X, [a, b, c]), X == c", 1 + 1 + 3 + 3, 0), ("f(1, g(2)) = f(1, g(2))", 3, 0), ("X is 1 + 2 * 3, X > 6", 1, 0),
        ("X = 2 + 1, Y is X * 2, Y =:= 6", 4, 0), ("t(1, X), t(X, Y), Y > 3", 1 + 1 + 2 * 2, 0), ("G = q, call(G)", 2, 0),
        ("G = true, call(G)", 1 + 1 + 10, 10), ("findall(X, member(X, [a, b]), L), length(L, 2)", 1 + 1 + 2 + 2 + 1 + 2, 2),
        ("between(1, 3, X), X >= 3", 1 + 1 + 2 + 3 + 3, 0), ("atom_length(abc, 3)", 1, 0), ("length(L, 3)", 5, 3),
        ("functor(T, f, 4)", 5, 4), ("copy_term(f(X, [1, 2]), Y)", 5, 4), ("nth1(2, [a, b, c], b)", 1 + 1 + 2, 0),
        ("memberchk(b, [a, b, c])", 1 + 2, 0), ("arg(N, f(a, b, c), b)", 1 + 1 + 2, 0), ("is_list([a, b])", 3, 0),
    ],
)  # fmt: skip
def test_work_is_counted_step_by_step(body, inferences, parts):
    made = Machine(read_program(f"go :- {body}. q. r :- q. s :- fail."), [("t", 2)])
    made.tables["t", 2].fill([(1, 2), (1, 3), (2, 1), (3, 4)])
    ask = made.query("go", 0)
    with made.running():
        for _ in range(2):
            assert ask(()) and (2_000 - made.meter.left[0], made.meter.built) == (inferences, parts)
