"""What the interpreter proves, in the order in which Prolog does, and what stops it."""

import pytest

from assay.prolog import PrologError, ProofLimits, Variable, read_program
from assay.prolog.compiler import CompiledClause
from assay.prolog.environment import STOP
from assay.prolog.machine import Machine
from assay.prolog.reader import read_term
from assay.prolog.terms import show

PROGRAM = """
p(1). p(2). p(3).
q(X) :- p(X), X > 1, !.
r(X, Y) :- ( X > 1 -> Y = big ; X < 1 -> Y = small ; Y = one ).
s(X, Y) :- p(X), p(Y), X =\\= Y.
t(X, Y) :- ( X = 1 ; X = 2 ), ( Y = a ; Y = b ).
age(a, 1). age(b, 2). age(c, 1).
fact(0, 1) :- !.
fact(N, F) :- M is N - 1, fact(M, G), F is N * G.
count(0) :- !.
count(N) :- M is N - 1, count(M).
soft(X) :- ( p(X), X > 1 *-> true ; X = none ).
nothing(X) :- ( p(X), X > 9 *-> true ; X = none ).
twice(X, X).
deep(f(g(X), h(X, Y)), Y).
sum([], 0).
sum([X|Xs], S) :- sum(Xs, T), S is X + T.
local(X) :- p(X), ( X > 1, ! ; X = 1 ).
inside(X) :- p(X), \\+ ( p(Y), Y > 2, !, X =:= Y ).
"""


def answers(goal, program=PROGRAM, **limits):
    machine = Machine(read_program(program), limits=ProofLimits(**limits))
    return [show(found, 200) for found in solutions(machine, read_term(goal))]


def solutions(machine, goal):
    """Return a copy of a goal for each of its answers."""
    found = []
    clause = CompiledClause(machine, "query", ("findall", goal, goal, result := Variable()), "query", live=True).parts()
    machine.meter.start()
    with machine.running():
        try:
            clause[2](list(clause[0]), STOP)
            term = machine.store.copy(result)
        except RecursionError:
            raise machine.too_deep() from None
        finally:
            machine.store.undo(0)
    while type(term) is tuple:
        found.append(term[1])
        term = term[2]
    return found


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("q(X)", ["q(2)"]),
        ("r(2, Y)", ["r(2,big)"]), ("r(0, Y)", ["r(0,small)"]), ("r(1, Y)", ["r(1,one)"]),
        ("s(X, 3)", ["s(1,3)", "s(2,3)"]),
        ("t(X, Y)", ["t(1,a)", "t(1,b)", "t(2,a)", "t(2,b)"]),
        ("fact(20, F)", ["fact(20,2432902008176640000)"]),
        ("soft(X)", ["soft(2)", "soft(3)"]), ("nothing(X)", ["nothing(none)"]),
        ("twice(f(A), f(b))", ["twice(f(b),f(b))"]), ("deep(f(g(1), Z), 2)", ["deep(f(g(1),h(1,2)),2)"]),
        ("deep(Z, 2)", ["deep(f(g(A),h(A,2)),2)"]),
        ("sum([1, 2.5], S)", ["sum([1,2.5],3.5)"]),
        ("local(X)", ["local(1)", "local(2)"]),
        ("inside(X)", ["inside(1)", "inside(2)"]),
        ("once(p(X))", ["once(p(1))"]), ("ignore(p(9))", ["ignore(p(9))"]),
        ("call((p(X), !))", ["call((p(1),!))"]), ("call(s, 3, Y)", ["call(s,3,1)", "call(s,3,2)"]),
        ("findall(X-Y, (p(X), member(Y, [a, b]), X > 2), L)", ["findall(A - B,(p(A),member(B,[a,b]),A > 2),[3 - a,3 - b])"]),
        ("findall(X, p(X), [_, 2|T])", ["findall(A,p(A),[1,2,3])"]),
        ("bagof(X, age(X, A), L)", ["bagof(A,age(A,1),[a,c])", "bagof(A,age(A,2),[b])"]),
        ("setof(A, X^age(X, A), L)", ["setof(A,B ^ age(B,A),[1,2])"]), ("bagof(X, age(X, 9), L)", []),
        ("aggregate_all(count, p(_), N)", ["aggregate_all(count,p(A),3)"]),
        ("aggregate_all(max(X), p(X), 3)", ["aggregate_all(max(A),p(A),3)"]),
        ("aggregate_all(sum(X), age(_, X), N)", ["aggregate_all(sum(A),age(B,A),4)"]),
        ("aggregate_all(min(X), age(z, X), N)", []),
        ("append(X, [3], [1, 2, 3])", ["append([1,2],[3],[1,2,3])"]),
        ("append(X, Y, [1])", ["append([],[1],[1])", "append([1],[],[1])"]),
        ("length(L, 2)", ["length([A,B],2)"]), ("length([a|T], 3)", ["length([a,A,B],3)"]),
        ("nth1(N, [a, b], b)", ["nth1(2,[a,b],b)"]), ("nth0(0, [a, b], X)", ["nth0(0,[a,b],a)"]),
        ("select(b, [a, b, c], L)", ["select(b,[a,b,c],[a,c])"]), ("reverse([1, 2], L)", ["reverse([1,2],[2,1])"]),
        ("permutation([1, 2], L)", ["permutation([1,2],[1,2])", "permutation([1,2],[2,1])"]),
        ("msort([c, 1, f(x), 2.0, a, \"t\"], L)", ['msort([c,1,f(x),2.0,a,"t"],[1,2.0,a,c,"t",f(x)])']),
        ("sort(0, @>=, [1, 3, 1], L)", ["sort(0,@>=,[1,3,1],[3,1,1])"]), ("sort([b, a, b], L)", ["sort([b,a,b],[a,b])"]),
        ("maplist(succ, [1, 2], L)", ["maplist(succ,[1,2],[2,3])"]), ("foldl(plus, [1, 2], 0, S)", ["foldl(plus,[1,2],0,3)"]),
        ("include(p, [3, 4], L)", ["include(p,[3,4],[3])"]), ("last([1, 2], X)", ["last([1,2],2)"]),
        ("subtract([1, 2], [2], L)", ["subtract([1,2],[2],[1])"]), ("delete([a, b, a], a, L)", ["delete([a,b,a],a,[b])"]),
        ("between(1, 3, X)", ["between(1,3,1)", "between(1,3,2)", "between(1,3,3)"]), ("between(1, 3, 4)", []),
        ("X is 7 / 2", ["3.5 is 7 / 2"]), ("X is 8 / 2", ["4 is 8 / 2"]), ("X is -7 // 2", ["-3 is -7 // 2"]),
        ("X is -7 mod 3", ["2 is -7 mod 3"]), ("X is -7 rem 3", ["-1 is -7 rem 3"]), ("X is -7 div 2", ["-4 is -7 div 2"]),
        ("X is 2 ** 10 + max(1, 2) - abs(-3)", ["1023 is 2 ** 10 + max(1,2) - abs(-3)"]), ("1 =:= 1.0", ["1 =:= 1.0"]),
        ("1 = 1.0", []), ("X == Y", []), ("X = f(X1), X == f(X1)", ["f(A) = f(A),f(A) == f(A)"]),
        ("f(a) @< g(a)", ["f(a) @< g(a)"]), ("X = f(a, b), X =.. L", ["f(a,b) = f(a,b),f(a,b) =.. [f,a,b]"]),
        ("functor(f(a, b), N, A)", ["functor(f(a,b),f,2)"]), ("arg(N, f(a, b), b)", ["arg(2,f(a,b),b)"]),
        ("copy_term(f(X, Y, X), Z)", ["copy_term(f(A,B,A),f(C,D,C))"]), ("compare(O, 1, a)", ["compare(<,1,a)"]),
        ("forall(p(X), X > 0)", ["forall(p(A),A > 0)"]), ("forall(p(X), X > 1)", []), ("\\+ p(1)", []), ("not(p(9))", ["not(p(9))"]),
        ("memberchk(X, [a, b])", ["memberchk(a,[a,b])"]), ("member(X, [a, b]), X \\= a", ["member(b,[a,b]),b \\= a"]),
        ("atom_length(abc, N)", ["atom_length(abc,3)"]), ("X = 'a b', atom(X)", ["'a b' = 'a b',atom('a b')"]),
    ],
)  # fmt: skip
def test_goals_have_these_answers(goal, found):
    assert answers(goal) == found


@pytest.mark.parametrize(
    ("program", "limit"),
    [
        ("go :- go.", "the depth limit of 5,000 goals"),
        ("go :- q(a). q(X) :- q(f(X)).", "the depth limit of 5,000 goals"),
        ("go :- repeat, fail.", "the limit of 50,000 inferences for one world"),
        ("go :- between(1, inf, X), X < 0.", "the limit of 50,000 inferences for one world"),
        ("go :- length(L, N), N < 0.", "the limit of 50,000 inferences for one world"),
        ("go :- X = f(X), Y = f(Y), X = Y.", "the limit of 50,000 inferences for one world"),
        ("go :- member(a, L), fail.", "the limit of 50,000 inferences for one world"),
    ],
)
def test_a_rule_that_loops_is_stopped_by_name(program, limit):
    machine = Machine(read_program(program, "mine.pl"), limits=ProofLimits(inferences=50_000, depth=5_000))
    ask = machine.query("go", 0)
    with machine.running(), pytest.raises(PrologError) as caught:
        ask(())
    assert str(caught.value) == f"rule mine.pl (go/0) was stopped at {limit}; it may loop"


def test_the_time_limit_holds():
    machine = Machine(read_program("go :- repeat, fail."), limits=ProofLimits(seconds=0.3, inferences=10**9))
    ask = machine.query("go", 0)
    with machine.running(), pytest.raises(PrologError, match="stopped at the time limit of 0.3 seconds"):
        ask(())


def test_a_deep_proof_within_the_limits_is_found():
    assert answers("count(9000)") == ["count(9000)"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("p(X) :- X > 1, Y > X.", "rule line 1: an unbound variable in arithmetic; it needs a value first, in 'A > B'"),
        ("p(X) :- Y = a, X > Y.", "rule line 1: a is no number, in 'A > B'"),
        ("p(_) :- X is 1 / 0, X > 1.", "rule line 1: division by zero, in 'A is 1 / 0'"),
        ("p(_) :- X is 2 ** 9999999, X > 1.", "rule line 1: a number grows beyond 200,000 bits, in 'A is 2 ** 9999999'"),
        ("p(X) :- length(a, X), sum_list(b, X) ; sum_list(b, X).", "rule line 1: a list is wanted, not one that ends in b, in 'sum_list(b,A)'"),
        ("p(X) :- G = X, call(G).", "rule line 1: call/1 wants a goal, not 3"),
        ("p(_) :- X = foo, call(X, 1).", "rule line 1: no predicate foo/1"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_with_its_line(program, message):
    machine = Machine(read_program(program, "rule"))
    with machine.running(), pytest.raises(PrologError) as caught:
        machine.query("p", 1)((3,))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("p :- membr(X, [1]).", "rule line 1: no predicate membr/2 in 'membr(A,[1])'; did you mean 'member/2'?"),
        ("p.\nq :- p, shell(ls).", "rule line 2: no predicate shell/1 in 'shell(ls)'; a rule only decides, "
         "it cannot read, write or change anything"),
        ("p :- findall(X, open(a, read, X), _).", "rule line 1: no predicate open/3 in 'open(a,read,A)'; a rule only "
         "decides, it cannot read, write or change anything"),
        ("p :- maplist(writeln, [a]).", "rule line 1: no predicate writeln/1 in 'maplist(writeln,[a])'; a rule only "
         "decides, it cannot read, write or change anything"),
        ("p :- X is sinus(1).", "rule line 1: no arithmetic function sinus/1; did you mean 'sin'?"),
        ("p :- aggregate_all(avg(X), q(X), _). q(1).", "rule line 1: aggregate_all/3 knows count, count(X), sum(X), max(X), "
         "min(X), bag(X), set(X), not avg(A)"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_before_it_does(program, message):
    with pytest.raises(PrologError) as caught:
        Machine(read_program(program, "rule"))
    assert str(caught.value) == message


def test_a_program_may_define_library_predicates_anew():
    assert answers("member(X, [a])", "member(X, [X]).") == ["member(a,[a])"]
    assert answers("append(X, Y, Z)", "append(1, 2, 3).") == ["append(1,2,3)"]


def test_declared_predicates_without_clauses_just_fail():
    assert answers("p(X)", ":- dynamic q/1.\np(X) :- q(X).") == []
