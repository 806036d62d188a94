"""Clauses of knowledge with constraints, DIMACS as it is found and written, and random rules that keep their promises."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from assay import (
    Concept,
    ConceptSpace,
    Constraint,
    Knowledge,
    digits,
    knowledge_from_cnf,
    parse,
    parse_dimacs,
    to_cnf,
)
from assay.base import AssayError, DataError, UnknownName, rng_for
from assay.logic import CNF
from tests.laws.test_formulas import models


def test_labels_that_are_concepts_keep_the_names_of_both():
    space = ConceptSpace((Concept("a", (True, False)), Concept("n", (4, 2, 7)), Concept("s", ("red", "blue"))))
    labels = {"same": "a", "opposite": "not a", "again": "a", "number": "n", "word": "s"}
    cnf = to_cnf(Knowledge.of(space, labels))
    expected = [(a, n, s, a, not a, a, n, s) for a in (True, False) for n in (4, 2, 7) for s in ("red", "blue")]
    assert Counter(models(cnf, ("a", "n", "s", *labels))) == Counter(expected)


def test_constraints_and_several_labels():
    space = digits(["a", "b", "c"], range(5))
    limits = [Constraint("order", parse("a <= b and b <= c")), Constraint("some", parse("a == 1 or b == 2 or c == 3"))]
    cnf = to_cnf(Knowledge.of(space, {"sum": "a + b + c", "odd": "(a + b + c) % 2 == 1"}, limits))
    worlds = [w for w in product(range(5), repeat=3) if list(w) == sorted(w) and (w[0] == 1 or w[1] == 2 or w[2] == 3)]
    expected = [(*world, sum(world), sum(world) % 2 == 1) for world in worlds]
    assert Counter(models(cnf, ("a", "b", "c", "sum", "odd"))) == Counter(expected)


def test_given_labels_that_do_not_fit():
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
    assert len(models(to_cnf(knowledge, {"sum": 3}), "ab")) == 4 and models(to_cnf(knowledge, {"sum": 99}), "ab") == []
    with pytest.raises(UnknownName, match="no label named 'smu'; did you mean 'sum'"):
        to_cnf(knowledge, {"smu": 3})


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("p cnf 2 1\n1 -2 0\n", ((1, -2),)),
        ("c a comment\nc\n\np cnf 3 2\nc more\n1 2\n3 0 -1\n-2 0\nc end", ((1, 2, 3), (-1, -2))),
        ("p cnf 2 2\n1 0 0\n", ((1,), ())),
        ("p cnf 1 1\n0\n", ((),)),
        ("p cnf 3 0\n", ()),
        ("p   cnf\t2   1  \n 1\t2 0\r\n", ((1, 2),)),
        ("c SATLIB\np cnf 2 1\n1 2 0\n%\n0\n\n", ((1, 2),)),
        ("p cnf 3 3\n1 0\n2 0\n3 0\n", ((1,), (2,), (3,))),
    ],
)
def test_dimacs_as_it_is_found(text, clauses):
    assert parse_dimacs(text).clauses == clauses


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no line 'p cnf VARIABLES CLAUSES'"),
        ("1 2 0\n", "no line 'p cnf VARIABLES CLAUSES'"),
        ("p cnf 2\n1 0\n", "line 1: expected 'p cnf VARIABLES CLAUSES', found 'p cnf 2'"),
        ("p cnf x 1\n1 0\n", "line 1: expected"),
        ("p cnf ² 1\n1 0\n", "line 1: expected"),
        ("p cnf -2 1\n1 0\n", "line 1: expected"),
        ("p sat 2 1\n1 0\n", "line 1: expected"),
        ("p cnf 2 1\n1 3 0\n", "announces 2 variables, the text uses 3"),
        ("p cnf 2 1\n1 -2\n", "ends inside a clause"),
        ("p cnf 2 1\n1 -2\n%\n0\n", "ends inside a clause"),
        ("p cnf 2 2\n1 -2 0\n", "announces 2 clauses, the text has 1"),
        ("p cnf 2 1\n1 x 0\n", "line 2: literals are whole numbers, found '1 x 0'"),
        ("p cnf 2 1\n1 1.5 0\n", "line 2: literals are whole numbers"),
    ],
)
def test_dimacs_that_is_damaged_is_refused(text, says):
    with pytest.raises(DataError) as caught:
        parse_dimacs(text)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_headers_and_clauses_must_agree_exactly():
    assert parse_dimacs("p cnf 3 2\n1 -3 0 2 0").clauses == ((1, -3), (2,))
    for text, says in (
        ("p cnf 3 1\n1 0\n2 0\n", "announces 1 clauses, the text has 2"),
        ("p cnf 3 1 0\n1 0\n", "expected 'p cnf VARIABLES CLAUSES', found 'p cnf 3 1 0'"),
        ("p cnf 3 2\n1 0\n2\n", "ends inside a clause"),
        ("c x\n\np dnf 3 1\n1 0\n", "line 3: expected"),
        ("p cnf 3 1\n\n1 2x 0\n", "line 3: literals are whole numbers, found '1 2x 0'"),
    ):
        with pytest.raises(DataError, match=says):
            parse_dimacs(text)


SYMBOLS = st.one_of(
    st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["3", "True", "it's", 'a "b"  c'])
)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.integers(1, 9) | st.integers(-9, -1)).map(tuple)), st.dictionaries(st.integers(1, 9), SYMBOLS)
)
def test_dimacs_reads_back(clauses, meanings):
    cnf = CNF(9, tuple(clauses), {literal: (f"car{literal}.hue", value) for literal, value in meanings.items()})
    again = parse_dimacs(cnf.to_dimacs())
    assert again == cnf and list(map(type, again.meanings.values())) == list(map(type, cnf.meanings.values()))


@pytest.mark.parametrize(
    "comment", ["c 1 a = " + "(" * 1000, "c - a = 1", "c 1 a", "c x a = 1", "c 1 = a", "c p show 1 0"]
)
def test_any_comment_is_allowed(comment):
    assert parse_dimacs(f"{comment}\np cnf 1 1\n1 0\n").clauses == ((1,),)


@pytest.mark.parametrize(
    ("comment", "meanings"),
    [
        ("c 1 a = [1, 2]", {1: ("a", "[1, 2]")}), ("c 2 a = 1.5", {2: ("a", "1.5")}), ("c -3 x.y = -7", {-3: ("x.y", -7)}), ("c 1 a = None", {1: ("a", "None")}),
        ("c 1 a = red and blue", {1: ("a", "red and blue")}), ("c 1 a = 'red  rose'", {1: ("a", "red  rose")}), ("c 1 a = False", {1: ("a", False)}),
        ("c 1 a == 3", {}), ("c 1 a =", {}), ("c 1.5 a = 3", {}), ("c --1 a = 3", {}), ("c a 1 = 3", {}),
    ],
)  # fmt: skip
def test_what_a_comment_says_of_a_literal(comment, meanings):
    found = parse_dimacs(f"{comment}\np cnf 3 1\n1 0\n").meanings
    assert found == meanings and [type(value) for _, value in found.values()] == [
        type(value) for _, value in meanings.values()
    ]


def test_the_text_of_clauses_in_full():
    cnf = CNF(5, ((3, -1), (), (-5,)), {4: ("b", "it's"), -2: ("a", 0), 1: ("c", True)})
    text = 'c 4 b = "it\'s"\nc -2 a = 0\nc 1 c = True\nc p show 1 2 4 0\np cnf 5 3\n3 -1 0\n0\n-5 0\n'
    assert cnf.to_dimacs() == text and parse_dimacs(text) == cnf
    assert CNF(2, ((1, 2),)).to_dimacs() == "p cnf 2 1\n1 2 0\n"
    every = CNF(1, ((1,),), {1: ("a", True)})
    assert every.to_dimacs() == "c 1 a = True\nc p show 1 0\np cnf 1 1\n1 0\n"


def test_knowledge_from_clauses():
    knowledge = knowledge_from_cnf(parse_dimacs("c 2 rain = True\np cnf 3 2\n1 -2 0\n-1 3 0\n"))
    assert knowledge.space.names == ("x1", "rain", "x3")
    assert str(knowledge.label("y").formula) == "(x1 or not rain) and (not x1 or x3)"
    assert knowledge.diagram.counts == {(False,): 4, (True,): 4}
    assert knowledge_from_cnf(parse_dimacs("p cnf 3 3\n1 0\n2 0\n3 0\n")).diagram.counts[(True,)] == 1
    assert knowledge_from_cnf(parse_dimacs("p cnf 2 2\n1 0\n0\n")).diagram.counts == {(False,): 4}
    assert knowledge_from_cnf(parse_dimacs("p cnf 2 0\n")).diagram.counts == {(True,): 4}
    with pytest.raises(AssayError, match="empty space"):
        knowledge_from_cnf(parse_dimacs("p cnf 0 0\n"))


def test_names_are_those_of_true_literals_alone():
    cnf = CNF(4, ((1, -2, 4), (-4, 3)), {-1: ("not_this", True), 2: ("b", 1), 3: ("c", True), 4: ("d", False)})
    knowledge = knowledge_from_cnf(cnf, "label")
    assert knowledge.space.names == ("x1", "x2", "c", "x4") and knowledge.label_names == ("label",)
    assert str(knowledge.labels[0].formula) == "(x1 or not x2 or x4) and (not x4 or c)"


@pytest.mark.parametrize("seed", range(5))
def test_clauses_make_the_round_trip_through_knowledge(seed):
    rng = rng_for(seed, "trip")
    clauses = tuple(tuple((rng.permutation(8)[:3] + 1) * rng.choice([-1, 1], size=3)) for _ in range(15))
    clauses = tuple(tuple(map(int, clause)) for clause in clauses)
    knowledge = knowledge_from_cnf(CNF(8, clauses))
    with Solver("cadical153", bootstrap_with=clauses) as solver:
        expected = sum(1 for _ in solver.enum_models())
    assert knowledge.diagram.counts[(True,)] == expected
    assert len(models(to_cnf(knowledge, given={"y": True}), knowledge.space.names)) == expected
