"""Programs that mean harm end in an answer or in one line, by limits on work, size and memory; none touches a file."""

import time

import numpy as np
import pytest

from assay import digits
from assay.prolog import PrologError, ProofLimits, Worlds, label, read_program, rule_of

from .hostile import PROGRAMS, SPACE

LIMITS = ProofLimits(seconds=5, inferences=20_000, depth=4_000, parts=20_000)
WORLDS = Worlds(SPACE, np.array([[3, 4]]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_ends_in_an_answer_or_one_line(name):
    began = time.process_time()
    try:
        assert label(PROGRAMS[name], WORLDS, LIMITS, head="p").shape == (1,)
    except PrologError as error:
        text = str(error)
        assert "\n" not in text and len(text) < 300
        text.encode()  # it can be printed
    assert time.process_time() - began < 8


@pytest.mark.parametrize("name", ["shared parts: unify", "shared parts: arithmetic", "cyclic term: arithmetic"])
def test_such_a_program_is_not_written_as_a_formula(name):
    assert rule_of(PROGRAMS[name], SPACE, "p").__class__.__name__ == "Oracle"


def asked(goals, program="", **limits):
    return label(read_program(f"{program} p(_) :- {goals}.", "mine.pl"), WORLDS, ProofLimits(**limits), head="p")[0]


def test_each_limit_says_its_name():
    for goals, limits, says in (
        ("findall(X, (between(1, 100000, _), copy_term(f(a, b, c), X)), _)", {"parts": 1_000}, "the limit of 1,000 parts of terms for one world"),
        ("length(L, 900000), findall(L, between(1, 9, _), _)", {"megabytes": 40, "parts": 10**8, "inferences": 10**8}, "the memory limit of 40 MB"),
        ("length(L, 1000), msort(L, _)", {"inferences": 500}, "the limit of 500 inferences"),
    ):  # fmt: skip
        with pytest.raises(PrologError, match=says):
            asked(goals, **limits)


def test_what_shares_parts_is_copied_and_looked_through_once_with_variables_of_its_own():
    bomb = "bomb(0, x). bomb(N, f(T, T)) :- N > 0, M is N - 1, bomb(M, T)."
    assert asked("bomb(200, X), ground(X), copy_term(X, Y), findall(Y, member(_, [1, 2]), [A, B]), X = f(_, _), A = f(_, _), B = f(_, _)", bomb)  # fmt: skip
    assert asked("S = g(V), X = f(S, S, V), copy_term(X, f(g(A), g(B), C)), A == B, B == C, A \\== V, V = 1, var(A)")


@pytest.mark.parametrize("goal", ["X = [a|X], X > 1", "X = 1 + X, X > 0", "X = f(X), sum_list(X, _)"])
def test_a_term_without_end_is_shown_by_its_beginning(goal):
    with pytest.raises(PrologError) as caught:
        asked(goal, inferences=20_000)
    assert len(str(caught.value)) < 250


ATTACKS = [
    "p(_) :- G =.. [shell, 'touch FILE'], call(G).", "p(_) :- X = shell, maplist(X, ['touch FILE']).", "p(_) :- X = shell('touch FILE'), findall(a, X, _).",
    "p(_) :- X = (true, shell('touch FILE')), \\+ X.", "p(_) :- X = open('FILE', write, _), forall(X, true).", "p(_) :- foldl(call, [shell], 'touch FILE', _).",
    "p(_) :- X = (system:shell('touch FILE')), call(X).", "p(_) :- X = call(shell), call(X, 'touch FILE').", "p(_) :- X = aggregate_all(count, shell('touch FILE'), _), call(X).",
    "term_expansion(a, (:- shell('touch FILE'))). a. p(_).", "goal_expansion(short(_), shell('touch FILE')). short(_). p(X) :- short(X).",
    "portray(_) :- b. b. prolog_load_file(_, _) :- b. message_hook(_, _, _) :- b. p(_) :- b.", "'), shell(''touch FILE''), X=(''a'. p(_) :- '), shell(''touch FILE''), X=(''a'.",
    ":- shell('touch FILE').", "?- shell('touch FILE').", ":- initialization(main). main.", ":- use_module(library(process)).", ":- consult('FILE').", ":- include('FILE').",
]  # fmt: skip
FORBIDDEN = [
    "shell", "open", "close", "consult", "load_files", "halt", "read", "write", "writeln", "print", "format", "nl", "tab", "assert", "asserta", "assertz",
    "retract", "see", "tell", "exec", "process_create", "delete_file", "system", "getenv", "setenv", "thread_create", "load_foreign_library",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_program_can_touch_a_file(attack, tmp_path):
    target = tmp_path / "touched"
    try:
        label(attack.replace("FILE", str(target)), Worlds(digits(["a"]), np.array([[1]])), head="p")
    except PrologError as error:
        assert "\n" not in str(error)
    assert not target.exists()


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_changes_anything_is_forbidden_by_name(name):
    with pytest.raises(PrologError, match="a rule only decides, it cannot read, write or change anything"):
        label(f"p(_) :- {name}(x).", WORLDS)
