"""Programs that mean harm end in an answer or in one line, by limits on work, size and memory."""

import time

import numpy as np
import pytest

from assay.prolog import PrologError, ProofLimits, Worlds, label, read_program, rule_of
from assay.prolog.machine import Machine
from assay.prolog.terms import show
from tests.logic.prolog.hostile import PROGRAMS, SPACE

LIMITS = ProofLimits(seconds=5, inferences=20_000, depth=4_000, parts=20_000)
WORLDS = Worlds(SPACE, np.array([[3, 4]]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_ends_in_an_answer_or_one_line(name: str) -> None:
    began = time.process_time()
    try:
        assert label(PROGRAMS[name], WORLDS, LIMITS, head="p").shape == (1,)
    except PrologError as error:
        text = str(error)
        assert "\n" not in text and len(text) < 300
        text.encode()  # it can be printed
    assert time.process_time() - began < 8


@pytest.mark.parametrize("name", ["shared parts: unify", "shared parts: arithmetic", "cyclic term: arithmetic"])
def test_such_a_program_is_not_written_as_a_formula(name: str) -> None:
    assert rule_of(PROGRAMS[name], SPACE, "p").__class__.__name__ == "Oracle"


def stopped(program: str, **limits: int) -> str:
    machine = Machine(read_program(program, "mine.pl"), limits=ProofLimits(**limits))
    ask = machine.query("go", 0)
    with machine.running(), pytest.raises(PrologError) as caught:
        ask(())
    return str(caught.value)


def test_each_limit_says_its_name() -> None:
    copies = "go :- findall(X, (between(1, 100000, _), copy_term(f(a, b, c), X)), _)."
    assert "the limit of 1,000 parts of terms for one world" in stopped(copies, parts=1_000)
    lists = "go :- length(L, 900000), findall(L, between(1, 9, _), _)."
    assert "the memory limit of 40 MB" in stopped(lists, megabytes=40, parts=10**8, inferences=10**8)
    assert "the limit of 500 inferences" in stopped("go :- length(L, 1000), msort(L, _).", inferences=500)


def test_what_shares_parts_is_copied_and_looked_through_once() -> None:
    bomb = "bomb(0, x). bomb(N, f(T, T)) :- N > 0, M is N - 1, bomb(M, T). "
    goals = "bomb(200, X), ground(X), copy_term(X, Y), findall(Y, member(_, [1, 2]), [A, B]), X = f(_, _), A = f(_, _)"
    machine = Machine(read_program(f"{bomb} go :- {goals}, B = f(_, _)."))
    ask = machine.query("go", 0)
    with machine.running():
        assert ask(())


def test_a_copy_has_its_own_variables_where_the_term_shares_parts() -> None:
    program = "go :- S = g(V), X = f(S, S, V), copy_term(X, f(g(A), g(B), C)), A == B, B == C, A \\== V, V = 1, var(A)."
    machine = Machine(read_program(program))
    ask = machine.query("go", 0)
    with machine.running():
        assert ask(())


def test_a_term_without_end_is_shown_by_its_beginning() -> None:
    from assay.prolog import Variable

    loop = Variable()
    loop.ref = (".", "a", loop)
    assert show(loop).startswith("[a,a,a,") and show(loop).endswith("...") and len(show(loop)) <= 60
    loop.ref = ("+", loop, 1)
    assert len(show(loop)) <= 60
    loop.ref = (",", "true", loop)
    assert len(show(loop)) <= 60


def test_clauses_are_tried_in_their_order_whatever_the_index_holds() -> None:
    program = "p(1, a). p(_, b). p(2, c). p(1, d). p(_, e). p(3, f). go :- findall(X, p(1, X), [a, b, d, e]), "
    program += "findall(X, p(2, X), [b, c, e]), findall(X, p(9, X), [b, e]), findall(X, p(_, X), [a, b, c, d, e, f])."
    machine = Machine(read_program(program))
    ask = machine.query("go", 0)
    with machine.running():
        assert ask(())
