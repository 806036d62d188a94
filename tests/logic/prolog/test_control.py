"""Control inside clauses: branches, cuts, negation, answers collected, calls; and facts of many rows."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot, digits
from assay.prolog import PrologError, ProofLimits, Worlds, label, read_program
from assay.prolog.labelling import Labeller, head_of, question_of
from assay.prolog.limits import Meter
from assay.prolog.machine import FactTable, Machine
from tests.logic.prolog.test_machine import answers

PROGRAM = r"""
p(1). p(2). p(3).
q(a, 1). q(b, 2). q(c, 1). q(a, 3).
either(X) :- ( p(X), X > 2 ; X = 0 ; p(X), X < 2 ).
later(X, Y) :- ( X = 9, Y = nine ; X > 2 -> Y = big ; X > 1 -> Y = two ; Y = small ).
ends(X, Y) :- ( X = 9, Y = nine ; X > 2 -> Y = big ).
nested(Y) :- ( p(X), X > 1 -> ( X > 2 -> Y = big ; Y = two ) ; Y = none ).
soft(X, Y) :- ( p(X) *-> Y = yes ; Y = no ).
softer(X, Y) :- ( X = 0, Y = zero ; p(X), X > 1 *-> Y = yes ; Y = no ).
only(X) :- ( p(X), X > 1 -> true ).
early(X) :- p(X), !.
early(9).
mid(X, Y) :- p(X), X > 1, !, p(Y), Y < 3.
mid(0, 0).
deny(X) :- p(X), \+ X = 2.
inner(X) :- p(X), \+ \+ (X > 1, !).
first(X) :- once(p(X)).
maybe(X) :- ignore((p(X), X > 1)).
every :- forall(q(_, N), N > 0).
some :- forall(q(_, N), N > 1).
bag(N, L) :- bagof(X, q(X, N), L).
whole(L) :- setof(N-X, q(X, N), L).
hidden(L) :- setof(X, N^q(X, N), L).
best(M, N) :- aggregate_all(max(X), p(X), M), aggregate_all(min(X), p(X), N).
sums(S, C) :- aggregate_all(sum(X), p(X), S), aggregate_all(count(X), q(X, 1), C).
sets(B, S) :- aggregate_all(bag(X), q(X, _), B), aggregate_all(set(X), q(X, _), S).
none(C, S) :- aggregate_all(count, p(7), C), aggregate_all(sum(X), (p(X), X > 7), S).
asks(X, Y) :- G = q(X), call(G, Y).
calls(X) :- call(p(X)), call((p(X), X > 1, !)).
cutcall(X) :- p(X), call(!), X > 1.
swap(X, Y) :- ( X = Y ; p(X), Y = X ).
grow([X|T], [Y|U]) :- Y is X * 2, grow(T, U).
grow([], []).
same(X, X, f(X)).
"""


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("either(X)", ["either(3)", "either(0)", "either(1)"]),
        ("later(9, Y)", ["later(9,nine)", "later(9,big)"]), ("later(3, Y)", ["later(3,big)"]),
        ("later(2, Y)", ["later(2,two)"]), ("later(0, Y)", ["later(0,small)"]),
        ("ends(9, Y)", ["ends(9,nine)", "ends(9,big)"]), ("ends(1, Y)", []),
        ("nested(Y)", ["nested(two)"]), ("soft(X, Y)", ["soft(1,yes)", "soft(2,yes)", "soft(3,yes)"]),
        ("soft(7, Y)", ["soft(7,no)"]), ("softer(X, Y)", ["softer(0,zero)", "softer(2,yes)", "softer(3,yes)"]),
        ("softer(1, Y)", ["softer(1,no)"]), ("only(X)", ["only(2)"]), ("only(1)", []), ("early(X)", ["early(1)"]),
        ("early(9)", ["early(9)"]), ("mid(X, Y)", ["mid(2,1)", "mid(2,2)"]), ("mid(0, Y)", ["mid(0,0)"]),
        ("deny(X)", ["deny(1)", "deny(3)"]), ("inner(X)", ["inner(2)", "inner(3)"]), ("first(X)", ["first(1)"]),
        ("maybe(X)", ["maybe(2)"]), ("maybe(0)", ["maybe(0)"]), ("every", ["every"]), ("some", []),
        ("bag(N, L)", ["bag(1,[a,c])", "bag(2,[b])", "bag(3,[a])"]), ("bag(4, L)", []), ("bag(N, [b])", ["bag(2,[b])"]),
        ("whole(L)", ["whole([1 - a,1 - c,2 - b,3 - a])"]), ("hidden(L)", ["hidden([a,b,c])"]),
        ("best(M, N)", ["best(3,1)"]), ("sums(S, C)", ["sums(6,2)"]), ("sets(B, S)", ["sets([a,b,c,a],[a,b,c])"]),
        ("none(C, S)", ["none(0,0)"]), ("asks(X, Y)", ["asks(a,1)", "asks(b,2)", "asks(c,1)", "asks(a,3)"]),
        ("calls(X)", ["calls(2)", "calls(3)"]), ("cutcall(X)", ["cutcall(2)", "cutcall(3)"]),
        ("swap(A, 2)", ["swap(2,2)", "swap(2,2)"]), ("grow([1, 2, 3], L)", ["grow([1,2,3],[2,4,6])"]),
        ("same(1, Y, Z)", ["same(1,1,f(1))"]), ("same(1, 2, Z)", []), ("same(X, b, f(Y))", ["same(b,b,f(b))"]),
        ("q(a, N)", ["q(a,1)", "q(a,3)"]), ("q(X, 1)", ["q(a,1)", "q(c,1)"]), ("q(d, X)", []), ("q(X, 1.0)", []),
        ("(p(X), X > 2 ; X = 0)", ["p(3),3 > 2 ; 3 = 0", "p(0),0 > 2 ; 0 = 0"]),
        ("(X = 1 -> Y = 2 ; Y = 3)", ["1 = 1 -> 2 = 2 ; 2 = 3"]), ("(fail -> Y = 2 ; Y = 3)", ["fail -> 3 = 2 ; 3 = 3"]),
        ("maplist(=<, [1, 2], [1, 3])", ["maplist(=<,[1,2],[1,3])"]), ("maplist(<, [1, 2], [1, 3])", []),
        ("maplist(is, [X, Y], [1 + 1, 2 * 4])", ["maplist(is,[2,8],[1 + 1,2 * 4])"]),
        ("maplist(=, [X, 2], [1, Y])", ["maplist(=,[1,2],[1,2])"]), ("call(=:=, 2, 1 + 1)", ["call(=:=,2,1 + 1)"]),
        ("call(>, 2, 1)", ["call(>,2,1)"]), ("call(>=, 1, 2)", []), ("call(=\\=, 1, 1)", []),
        ("copy_term(X-Y-X, Z)", ["copy_term(A - B - A,C - D - C)"]), ("X is [3] + 1", ["4 is [3] + 1"]),
        ("5 is 2 + 3", ["5 is 2 + 3"]), ("6 is 2 + 3", []), ("X is 2 * 3 * 4 + 1 + 1", ["26 is 2 * 3 * 4 + 1 + 1"]),
        ("X is 10 - 3 - 2", ["5 is 10 - 3 - 2"]), ("msort([f(B), 2, 1.5, f(A, c), b, 2.0], L)",
         ["msort([f(A),2,1.5,f(B,c),b,2.0],[1.5,2.0,2,b,f(A),f(B,c)])"]),
        ("msort([1, 1.0], L)", ["msort([1,1.0],[1.0,1])"]), ("sort([c, f(a), 1, f(a), c], L)", ["sort([c,f(a),1,f(a),c],[1,c,f(a)])"]),
        ("compare(O, f(a, b), g(a))", ["compare(>,f(a,b),g(a))"]), ("compare(O, f(b), g(a))", ["compare(<,f(b),g(a))"]),
        ("compare(O, f(a, b), f(a, c))", ["compare(<,f(a,b),f(a,c))"]), ("compare(O, f(b, a), f(a, c))", ["compare(>,f(b,a),f(a,c))"]),
        ("compare(O, \"t\", a)", ["compare(>,\"t\",a)"]), ("compare(O, \"t\", f(a))", ["compare(<,\"t\",f(a))"]),
        ("compare(O, X, 1)", ["compare(<,A,1)"]), ("compare(O, X, X)", ["compare(=,A,A)"]), ("f(X, b) = f(a, Y)", ["f(a,b) = f(a,b)"]),
        ("f(X, X) = f(a, b)", []), ("f(a) = f(a, b)", []), ("[X|T] = [1, 2]", ["[1,2] = [1,2]"]),
        ("atomic(\"t\"), atomic(1), atomic(a)", ["atomic(\"t\"),atomic(1),atomic(a)"]), ("atomic(f(x))", []),
        ("compound(f(x)), callable(f(x)), callable(a)", ["compound(f(x)),callable(f(x)),callable(a)"]), ("callable(1)", []),
        ("var(X), nonvar(a)", ["var(A),nonvar(a)"]), ("X = 1, var(X)", []), ("nonvar(X)", []), ("ground(f(a))", ["ground(f(a))"]),
        ("ground(f(X))", []), ("number(1.5), integer(3), float(1.5)", ["number(1.5),integer(3),float(1.5)"]), ("integer(1.5)", []),
        ("float(1)", []), ("number(a)", []), ("atom(1)", []), ("atom(\"t\")", []), ("string(\"t\")", ['string("t")']), ("string(a)", []),
        ("memberchk(f(X), [f(1), f(2)])", ["memberchk(f(1),[f(1),f(2)])"]), ("between(1, infinite, 5)", ["between(1,infinite,5)"]),
        ("atom_chars(X, ['1', b])", ["atom_chars('1b',['1',b])"]), ("atom_number('1e3', N)", ["atom_number('1e3',1000.0)"]),
        ("exclude(p, [3, 4], L)", ["exclude(p,[3,4],[4])"]), ("sumlist([1, 2], X)", ["sumlist([1,2],3)"]),
        ("nth0(1, [a, b, c], X)", ["nth0(1,[a,b,c],b)"]),
        ("union([a, b], [b, c], L)", ["union([a,b],[b,c],[a,b,c])"]), ("intersection([a, b], [b, c], L)", ["intersection([a,b],[b,c],[b])"]),
        ("permutation([1, 2, 3], [3|T])", ["permutation([1,2,3],[3,1,2])", "permutation([1,2,3],[3,2,1])"]),
    ],
)  # fmt: skip
def test_clauses_have_these_answers_in_this_order(goal, found):
    assert answers(goal, PROGRAM) == found


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("append([a], [b, c], L)", ["append([a],[b,c],[a,b,c])"]), ("append([[a], [], [b, c]], L)", ["append([[a],[],[b,c]],[a,b,c])"]),
        ("select(X, [a, b], R)", ["select(a,[a,b],[b])", "select(b,[a,b],[a])"]), ("selectchk(a, [b, a, a], R)", ["selectchk(a,[b,a,a],[b,a])"]),
        ("select(a, [b, a], c, L)", ["select(a,[b,a],c,[b,c])"]), ("partition(p, [1, 4, 3], I, E)", ["partition(p,[1,4,3],[1,3],[4])"]),
        ("maplist(p, [1, 2])", ["maplist(p,[1,2])"]), ("maplist(p, [1, 4])", []), ("maplist(plus, [1, 2], [3, 5], L)", ["maplist(plus,[1,2],[3,5],[4,7])"]),
        ("foldl(r, [a, b], z, S)", ["foldl(r,[a,b],z,f(b,f(a,z)))"]), ("reverse([a, b, c], L)", ["reverse([a,b,c],[c,b,a])"]),
        ("last([a, b, c], X)", ["last([a,b,c],c)"]), ("last([], X)", []),
        ("nextto(X, Y, [a, b, c])", ["nextto(a,b,[a,b,c])", "nextto(b,c,[a,b,c])"]), ("delete([a, f(X), b], f(_), L)", ["delete([a,f(A),b],f(B),[a,b])"]),
        ("subset([b, a], [a, b, c])", ["subset([b,a],[a,b,c])"]), ("subset([d], [a])", []), ("prefix(X, [a, b])", ["prefix([],[a,b])", "prefix([a],[a,b])", "prefix([a,b],[a,b])"]),
        ("pairs_keys_values(L, [a, b], [1, 2])", ["pairs_keys_values([a - 1,b - 2],[a,b],[1,2])"]),
        ("pairs_keys([a-1, b-2], L)", ["pairs_keys([a - 1,b - 2],[a,b])"]), ("pairs_values([a-1, b-2], L)", ["pairs_values([a - 1,b - 2],[1,2])"]),
    ],
)  # fmt: skip
def test_the_library_has_these_answers(goal, found):
    assert answers(goal, "p(1). p(2). p(3). r(X, A, f(X, A)).") == found


def test_clauses_are_found_by_their_first_argument_in_order():
    program = "k(a, 1). k(X, 2). k(f(_), 3). k(b, 4). k(a, 5). k(f(_, _), 6). k(3, 7)."
    assert answers("k(a, N)", program) == ["k(a,1)", "k(a,2)", "k(a,5)"]
    assert answers("k(b, N)", program) == ["k(b,2)", "k(b,4)"] and answers("k(c, N)", program) == ["k(c,2)"]
    assert answers("k(f(z), N)", program) == ["k(f(z),2)", "k(f(z),3)"] and answers("k(3, N)", program) == [
        "k(3,2)",
        "k(3,7)",
    ]
    assert answers("k(f(y, z), N)", program) == ["k(f(y,z),2)", "k(f(y,z),6)"] and answers("k(3.0, N)", program) == [
        "k(3.0,2)"
    ]
    assert len(answers("k(X, N)", program)) == 7


def test_facts_of_many_rows_are_looked_up():
    slots = tuple(Slot(f"box{n}", "boxes", ("hue",)) for n in range(1, 11))
    space = ConceptSpace(tuple(Concept(slot.concept("hue"), ("red", "blue")) for slot in slots), slots)
    codes = np.array([[0] * 10, [1] * 10, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]])
    assert label("p(W) :- hue(box10, blue).", Worlds(space, codes)).tolist() == [False, True, True, False]
    assert label("p(W) :- hue(box1, H), hue(box3, H), H = blue.", Worlds(space, codes)).tolist() == [
        False,
        True,
        False,
        True,
    ]
    text = "p(W) :- has_box(W, B), hue(B, blue), box_num(B, N), N < 10, \\+ hue(f(B), _), \\+ hue(nobody, _)."
    assert label(text, Worlds(space, codes)).tolist() == [False, True, False, True]


def test_rows_that_begin_with_a_value():
    table = FactTable(("t", 2))
    table.fill([(n % 3, n) for n in range(8)])
    assert list(table.starting(1)) == [(1, 1), (1, 4), (1, 7)] and list(table.starting(9)) == []
    assert list(table.starting(("f", 1))) == table.rows
    table.fill([(5, 5)])
    assert list(table.starting(1)) == [(5, 5)]  # few rows are looked through
    table.fill([(5, n) for n in range(9)])
    assert len(table.starting(5)) == 9 and list(table.starting(1)) == []


def test_the_head_is_the_only_one_nobody_calls_or_the_last():
    assert head_of(read_program("p(X) :- q(X). q(1).")) == "p" and head_of(read_program("q(1). p(X) :- q(X).")) == "p"
    assert (
        head_of(read_program("p(1). q(1).")) == "q"
        and head_of(read_program("p(X) :- q(X). q(X) :- p(X). r(1, 2).")) == "q"
    )
    with pytest.raises(PrologError, match="defines no predicate of one argument"):
        head_of(read_program("p(1, 2)."))


def test_limits_by_default_and_those_that_are_refused():
    usual = ProofLimits()
    assert (usual.seconds, usual.inferences, usual.depth) == (60.0, 1_000_000, 40_000)
    assert (usual.parts, usual.megabytes) == (2_000_000, 1_000)
    assert ProofLimits(seconds=2).time_for(10_000) == 2 and ProofLimits(seconds=2).time_for(10_001) == 4
    assert ProofLimits(seconds=2).time_for(0) == 2 and ProofLimits(depth=200_000).depth == 200_000
    for name in ("seconds", "inferences", "depth", "parts", "megabytes"):
        with pytest.raises(PrologError, match="limits must be above 0"):
            ProofLimits(**{name: 0})
    with pytest.raises(PrologError, match="depth at most 200000"):
        ProofLimits(depth=200_001)


def test_inferences_are_counted_a_world_at_a_time():
    program = "go(W) :- a(W, N), count(N). count(0) :- !. count(N) :- M is N - 1, count(M)."
    space, limits = digits(["a"], (0, 900)), ProofLimits(inferences=2_500)
    assert label(program, Worlds(space, np.array([[1]] * 5)), limits, "go").all()
    with pytest.raises(PrologError, match="the limit of 500 inferences"):
        label(program, Worlds(space, np.array([[1]])), ProofLimits(inferences=500), "go")


def test_parts_are_counted_up_to_their_limit():
    meter = Meter(ProofLimits(parts=10), "mine")
    meter.start()
    meter.build(4)
    meter.build(6)
    with pytest.raises(PrologError, match="mine was stopped at the limit of 10 parts of terms"):
        meter.build(1)
    meter.start()
    meter.build(10)


def test_a_query_of_what_is_not_defined_is_refused():
    machine = Machine(read_program("p(1).", "mine"))
    with pytest.raises(PrologError, match="mine defines no q/1, which decides the label"):
        machine.query("q", 1)
    with pytest.raises(PrologError, match=r"defines no bug/1, which decides the label; did you mean 'big/1'"):
        label("big(W) :- a(W, 1).", Worlds(digits(["a"]), np.array([[1]])), head="bug")


IN_CLAUSES = r"""
five(X) :- X is 2 + 3.
next(X) :- 5 is X + 1.
pair(Z) :- f(A, B) = f(1, 2), Z is A + B * 2 - 1.
list(X) :- X is [4] + 1.
chain(X, Y) :- Y is X + X * X * 2 + 1 - 2.
copies(X, L) :- findall(X, member(_, [a, b]), L).
terms(X, L) :- findall(g(X, Y, c), member(Y, [1, 2]), L).
first(f(X, g(Y), X), Y, h).
same(X, f(X, X)).
fresh(f(_, A, _), A).
built(X, Y) :- Y = t(X, Z, [Z|X], s).
order(X, Y) :- X < Y, X =< Y - 1, Y > X, Y >= X + 1, X =\= Y, X + 1 =:= Y.
twice(X) :- Y = X, Y == X, X = Y.
one(X) :- ( X = 1 ; X = 2 ), !.
inner(X) :- findall(Y, ( member(Y, [1, 2, 3]), Y > 1, ! ), X).
bound(X) :- X = 3, ( X > 2 -> true ; fail ).
neg(X) :- member(X, [1, 2, 3]), \+ ( X > 1, X < 3 ).
again(X) :- member(X, [1, 2]), \+ \+ X = 1.
anon(X) :- member(_-X, [a-1, b-2]).
deep(N, N) :- N >= 3, !.
deep(N, M) :- K is N + 1, deep(K, M).
count(N) :- aggregate_all(count, ( member(X, [1, 2, 3]), X > 1 ), N).
sums(S) :- aggregate_all(sum(X * 2), member(X, [1, 2, 3]), S).
most(M) :- aggregate_all(max(X), member(X, [1, 5, 3]), M).
groups(K, L) :- bagof(V, member(K-V, [b-1, a-2, b-3]), L).
each :- forall(member(X, [1, 2]), X > 0).
later(G) :- G = member(X, [1]), call(G), X == 1.
"""


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("five(X)", ["five(5)"]), ("five(5)", ["five(5)"]), ("five(6)", []), ("next(4)", ["next(4)"]), ("next(5)", []), ("pair(Z)", ["pair(4)"]),
        ("list(X)", ["list(5)"]), ("chain(3, Y)", ["chain(3,20)"]), ("copies(z, L)", ["copies(z,[z,z])"]), ("terms(q, L)", ["terms(q,[g(q,1,c),g(q,2,c)])"]),
        ("first(f(1, g(2), 1), Y, Z)", ["first(f(1,g(2),1),2,h)"]), ("first(f(1, g(2), 3), Y, Z)", []), ("first(X, 5, h)", ["first(f(A,g(5),A),5,h)"]),
        ("first(f(A, B, 7), 5, Z)", ["first(f(7,g(5),7),5,h)"]), ("first(f(1, g(2)), Y, Z)", []), ("first(k(1, g(2), 1), Y, Z)", []),
        ("same(1, Y)", ["same(1,f(1,1))"]), ("same(1, f(1, 2))", []), ("same(X, f(A, 2))", ["same(2,f(2,2))"]), ("fresh(f(1, 2, 3), A)", ["fresh(f(1,2,3),2)"]),
        ("built(q, Y)", ["built(q,t(q,A,[A|q],s))"]), ("order(1, 2)", ["order(1,2)"]), ("order(2, 1)", []), ("order(1, 3)", []), ("twice(X)", ["twice(A)"]),
        ("one(X)", ["one(1)"]), ("one(2)", ["one(2)"]), ("inner(X)", ["inner([2])"]), ("bound(X)", ["bound(3)"]), ("neg(X)", ["neg(1)", "neg(3)"]),
        ("again(X)", ["again(1)"]), ("anon(X)", ["anon(1)", "anon(2)"]), ("deep(0, M)", ["deep(0,3)"]), ("count(N)", ["count(2)"]), ("sums(S)", ["sums(12)"]),
        ("most(M)", ["most(5)"]), ("groups(K, L)", ["groups(a,[2])", "groups(b,[1,3])"]), ("each", ["each"]), ("later(G)", ["later(member(1,[1]))"]),
    ],
)  # fmt: skip
def test_variables_and_terms_inside_clauses(goal, found):
    assert answers(goal, IN_CLAUSES) == found


CUTS = r"""
n(1). n(7). n(3).
plain(N) :- ( N > 0 -> true ; true ), !, N > 5.
plain(_).
negated(N) :- \+ N = 0, !, N > 5.
negated(_).
found(N) :- findall(Y, n(Y), _), !, N > 5.
found(_).
counted(N) :- aggregate_all(count, n(_), K), !, N > K + 2.
counted(_).
every(N) :- forall(n(Y), Y > 0), !, N > 5.
every(_).
then(N) :- ( N > 2 -> !, N > 5 ; true ).
then(3).
other(N) :- ( N > 9 -> true ; !, N > 5 ).
other(_).
either(N) :- ( N > 5 ; !, N > 2 ).
either(_).
inside(N, Y) :- ( N > 1, !, N > 5 -> Y = a ; Y = b ).
generated(X) :- n(Y), member(X, [Y, 0]), !, X > 1.
generated(9).
called(N) :- call((n(X), X > 2, !)), X =:= N.
called(3).
fails(X) :- ( X = 1, fail ; true ), X = 2.
undone(X) :- ( X = 1, X > 1 -> true ; X = 2 ).
softly(X, Y) :- ( n(X), X > 2, Y = 1 *-> true ; Y = 2 ).
five(X, Y) :- ( X = 9, Y = nine ; X > 6 -> Y = big ; X > 4 -> Y = mid ; X > 2 -> Y = low ; Y = tiny ).
both(Z) :- ( X = 1, Y = 2 ; Y = 3, X = 4 ), Z = X-Y-_.
three(X) :- t(A, B, C), X = f(A, B, C).
t(1, 2, 3).
kinds(X, Y, Z, U) :- X = 1, Y = 1.0, Z = a, U = "a".
later(X) :- Z = 1 + 2, X is Z * 2 - Z.
head(H, R) :- findall(X, n(X), [H|R]).
tail(T, L) :- findall(x(X, Y, X), member(X-Y, [1-_, 2-t]), L), findall([X|z], n(X), [T|_]).
groups(K, L) :- bagof(V, member(K-V, [b-3, a-2, b-1, b-3]), L).
sets(K, L) :- setof(V, member(K-V, [b-3, a-2, b-1, b-3]), L).
twice(N, M) :- aggregate_all(count(X), member(X, [a, a, b]), N), aggregate_all(max(X), member(X, [2, 3 - 4]), M).
hidden(L) :- setof(X, Y^Z^member(X-Y-Z, [c-1-2, a-3-4, c-5-6]), L).
two(A, B, L) :- bagof(Y, member(A-B-Y, [1-b-y, 1-a-x, 2-a-u, 1-a-z]), L).
free(X, L) :- bagof(Y, Z^member(X-Y-Z, [2-b-p, 1-a-q, 2-a-r]), L).
"""


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        *((f"(n(X), {name}(X))", [7]) for name in ("plain", "negated", "found", "counted", "every", "other")),
        ("(n(X), then(X))", [1, 7]), ("(n(X), either(X))", [7, 7, 3]), ("(n(X), called(X))", [7, 3]), ("generated(X)", []),
        ("(X = 9, generated(X))", [9]), ("fails(X)", [2]), ("undone(X)", [2]), ("(n(X), inside(X, a))", [7]), ("(n(X), inside(X, b))", [1, 3]),
    ],
)  # fmt: skip
def test_a_cut_throws_away_the_clauses_alternatives_and_nobody_elses(goal, found):
    values = answers(f"findall(X, {goal}, L)", CUTS)[0].rpartition(",[")[2].rstrip(")]")
    assert [int(value) for value in values.split(",") if value] == found


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("softly(X, Y)", ["softly(7,1)", "softly(3,1)"]), ("softly(1, Y)", ["softly(1,2)"]),
        ("five(9, Y)", ["five(9,nine)", "five(9,big)"]), ("five(5, Y)", ["five(5,mid)"]), ("five(3, Y)", ["five(3,low)"]),
        ("five(0, Y)", ["five(0,tiny)"]), ("both(Z)", ["both(1 - 2 - A)", "both(4 - 3 - A)"]), ("three(X)", ["three(f(1,2,3))"]),
        ("kinds(X, Y, Z, U)", ['kinds(1,1.0,a,"a")']), ("kinds(1, 1, a, U)", []), ("later(X)", ["later(3)"]),
        ("head(H, R)", ["head(1,[7,3])"]), ("tail(T, L)", ["tail([1|z],[x(1,A,1),x(2,t,2)])"]),
        ("groups(K, L)", ["groups(a,[2])", "groups(b,[3,1,3])"]), ("groups(K, [3|_])", ["groups(b,[3,1,3])"]),
        ("sets(K, L)", ["sets(a,[2])", "sets(b,[1,3])"]), ("twice(N, M)", ["twice(3,2)"]), ("hidden(L)", ["hidden([a,c])"]),
        ("two(A, B, L)", ["two(1,a,[x,z])", "two(1,b,[y])", "two(2,a,[u])"]), ("two(A, b, L)", ["two(1,b,[y])"]),
        ("free(X, L)", ["free(1,[a])", "free(2,[b,a])"]), ("free(2, L)", ["free(2,[b,a])"]),
    ],
)  # fmt: skip
def test_branches_and_answers_of_clauses_with_several_new_variables(goal, found):
    assert answers(goal, CUTS) == found


def test_the_head_has_one_argument_and_others_of_its_name_do_not_count():
    assert head_of(read_program("p(X) :- q, r(X, 1). q. r(1, 1).")) == "p"
    assert head_of(read_program("p(X) :- q(X, 1). q(1). q(1, 1).")) == "q"  # nobody calls q/1
    assert head_of(read_program("p(X) :- q(X). s. q(1). t(1, 2).")) == "p"


def test_each_world_has_facts_of_its_own_even_if_it_has_none():
    slots = (Slot("box1", "boxes", ("hue",)), Slot("box2", "boxes", ("hue",)))
    space = ConceptSpace(tuple(Concept(slot.concept("hue"), ("red", "absent", "blue")) for slot in slots), slots)
    codes = np.array([[0, 2], [1, 1], [2, 1], [1, 1], [1, 0]])
    assert label("p(W) :- has_box(W, _).", Worlds(space, codes)).tolist() == [True, False, True, False, True]
    assert label("p(W) :- hue(B, red), box_num(B, 2).", Worlds(space, codes)).tolist() == [False] * 4 + [True]
    assert label("p(W) :- \\+ before(_, _).", Worlds(space, codes)).tolist() == [False, True, True, True, True]


def test_the_time_is_for_as_many_worlds_as_are_labelled():
    worlds = Worlds(digits(["a"]), np.zeros((10_001, 1), dtype=int))
    labeller = Labeller(question_of("p(W) :- a(W, 0).", worlds), ProofLimits(seconds=30))
    assert labeller(worlds.codes).all() and labeller.machine.meter.seconds == 60
    assert labeller(worlds.codes[:10]).tolist() == [True] * 10 and labeller.machine.meter.seconds == 30


def test_the_head_that_is_asked_for_must_have_one_argument():
    worlds = Worlds(digits(["a"]), np.array([[1]]))
    with pytest.raises(PrologError, match="defines no p/1, which decides the label"):
        question_of("p(1, 2). q(1).", worlds, "p")
    asked = question_of("p(1). q(1).", Worlds(digits(["a"]), np.array([[1]]), "{a}"), "p")
    assert (asked.head, asked.template, asked.space) == ("p", "{a}", worlds.space)
    assert label("p(1). q(2).", Worlds(digits(["a"]), np.array([[1], [2]]), "{a}"), head="p").tolist() == [True, False]
