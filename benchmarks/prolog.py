"""Labelling 10,000 trains by a user's Prolog rule: the embedded interpreter against a plain one, clingo and SWI-Prolog.

The plain interpreter renames every clause and keeps bindings in a dictionary, as a textbook has it. CPU seconds of
other processes are counted, from their start to their end.
"""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.prolog import asp, swi

from assay.base import Codes, rng_for
from assay.families.trains.rules import TEMPLATE
from assay.families.trains.source import TrainDistribution, train_space
from assay.prolog import (
    Clause,
    ProofLimits,
    Variable,
    Worlds,
    label,
    question_of,
    read_program,
)
from benchmarks.timing import Result

Term = Any

TRAINS = 10_000
SPACE = train_space(4, 2)
HELPERS = """
has_car([C|_], C).
has_car([_|T], C) :- has_car(T, C).
short(c(_, _, short, _, _, _, _)).
long(c(_, _, long, _, _, _, _)).
covered(c(_, _, _, _, flat, _, _)).
covered(c(_, _, _, _, arc, _, _)).
covered(c(_, _, _, _, jagged, _, _)).
covered(c(_, _, _, _, peaked, _, _)).
"""
LISTS = {
    "theory X": HELPERS
    + """
eastbound(T) :- has_car(T, C), short(C), covered(C).
eastbound(T) :- vase_first(T).
vase_first([c(_, _, _, _, _, _, l(triangle, _))|T]) :- has_car(T, c(_, _, _, _, _, _, l(circle, _))).
vase_first([_|T]) :- vase_first(T).
""",
    "complex": HELPERS
    + """
eastbound(T) :- has_car(T, c(N, _, _, _, _, W, l(_, L))), N < L, N < W.
eastbound(T) :- has_car(T, c(N, X, short, _, _, _, _)), has_car(T, c(_, X, long, _, _, W, _)), N < W.
eastbound(T) :- has_car(T, c(A, X, _, _, _, _, _)), has_car(T, c(B, Y, _, _, _, _, _)), A < B, X \\= Y,
    has_car(T, c(C, Z, _, _, _, _, _)), B < C, X \\= Z, Y \\= Z.
""",
}
FACTS = {
    "theory X": """
eastbound(T) :- has_car(T, C), car_length(C, short), roof(C, R), R \\= none.
eastbound(T) :- has_car(T, C), load(C, golden_vase), before(C, D), load(D, barrel).
""",
    "complex": """
eastbound(T) :- has_car(T, C), car_num(C, N), loads(C, L), N < L, axles(C, W), N < W.
eastbound(T) :- has_car(T, C), car_length(C, short), colour(C, X), car_num(C, N), has_car(T, D), car_length(D, long),
    colour(D, X), axles(D, W), N < W.
eastbound(T) :- before(A, B), colour(A, X), colour(B, Y), X \\= Y, before(B, C), colour(C, Z), X \\= Z, Y \\= Z.
""",
}


def run() -> list[Result]:
    codes, results = _trains(), []
    for name in LISTS:
        ours, found = _rate(LISTS[name], codes, TEMPLATE)
        facts, same = _rate(FACTS[name], codes, "")
        assert np.array_equal(found, same)
        few = codes[:300]
        slow, plain = _timed(lambda name=name, few=few: _plain(LISTS[name], few))
        assert np.array_equal(plain, found[:300])
        results.append(Result(f"{name} on lists", "trains", ours, len(few) / slow, "a plain interpreter in Python"))
        if shutil.which("swipl"):
            theirs, same = _rate(LISTS[name], codes, TEMPLATE, swi)
            assert np.array_equal(found, same)
            results.append(Result(f"{name} on lists", "trains", ours, theirs, "SWI-Prolog, start and files included"))
        if importlib.util.find_spec("clingo"):
            theirs, same = _rate(FACTS[name], codes, "", asp)
            assert np.array_equal(found, same)
            results.append(Result(f"{name} on facts", "trains", facts, theirs, "clingo, facts and rule in one go"))
    return results


def _trains() -> Codes:
    words = rng_for(0, "benchmark").integers(2**63, size=(TRAINS, 5), dtype=np.uint64) * np.uint64(2)
    half = TRAINS // 2
    kinds = ((TrainDistribution("michalski", 2, 4), words[:half]), (TrainDistribution("uniform", 2, 4), words[half:]))
    return np.concatenate([trains.draw(some, 4) for trains, some in kinds])


def _rate(text: str, codes: Codes, template: str, other: Any = None) -> tuple[float, Any]:
    worlds, head = Worlds(SPACE, codes, template), "eastbound"

    def labelled() -> Any:
        if other is None:
            return label(text, worlds, head=head)
        return other.labelled(question_of(text, worlds, head), codes, ProofLimits())

    seconds, found = _timed(labelled)
    return len(codes) / seconds, found


def _timed(work: Any) -> tuple[float, Any]:
    before = os.times()
    found = work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), found


def _plain(text: str, codes: Codes) -> Any:
    program = read_program(text).clauses
    found = []
    for term in question_of(text, Worlds(SPACE, codes, TEMPLATE), "eastbound").form.terms(codes):
        found.append(any(True for _ in _solve([("eastbound", term)], {}, program)))
    return np.array(found)


def _solve(goals: list[Term], bound: dict[Variable, Term], program: Any) -> Iterator[dict[Variable, Term]]:
    if not goals:
        yield bound
        return
    goal, rest = goals[0], goals[1:]
    if goal[0] == "," and len(goal) == 3:
        yield from _solve([goal[1], goal[2], *rest], bound, program)
    elif goal == "true":
        yield from _solve(rest, bound, program)
    elif goal[0] == "<":
        if _walk(goal[1], bound) < _walk(goal[2], bound):
            yield from _solve(rest, bound, program)
    elif goal[0] == "\\=":
        if _unified(goal[1], goal[2], bound) is None:
            yield from _solve(rest, bound, program)
    else:
        for clause in program[goal[0], len(goal) - 1]:
            head, body = _renamed(clause)
            more = _unified(goal, head, bound)
            if more is not None:
                yield from _solve([body, *rest], more, program)


def _renamed(clause: Clause) -> tuple[Term, Term]:
    fresh: dict[Variable, Variable] = {}

    def copy(term: Term) -> Term:
        if isinstance(term, Variable):
            return fresh.setdefault(term, Variable())
        return tuple(copy(part) for part in term) if isinstance(term, tuple) else term

    return copy(clause.head), copy(clause.body)


def _walk(term: Term, bound: dict[Variable, Term]) -> Term:
    while isinstance(term, Variable) and term in bound:
        term = bound[term]
    return term


def _unified(left: Term, right: Term, bound: dict[Variable, Term]) -> dict[Variable, Term] | None:
    left, right = _walk(left, bound), _walk(right, bound)
    if isinstance(left, Variable):
        return {**bound, left: right}
    if isinstance(right, Variable):
        return {**bound, right: left}
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return bound if left == right else None
    for one, other in zip(left, right, strict=True):
        more = _unified(one, other, bound)
        if more is None:
            return None
        bound = more
    return bound
