"""A reference for the labels of any rule, by SWI-Prolog in batch: one process, one file of worlds, one line of answers.

It runs rules of tests and benchmarks as they are: nothing here keeps a program from doing what it wants.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.prolog import Clause, PrologError, ProofLimits, facts_text

from .process import ended

DRIVER = r"""
:- set_prolog_flag(verbose, silent).
:- set_prolog_flag(unknown, error).
:- set_prolog_flag(double_quotes, string).
:- style_check(-singleton).
:- style_check(-discontiguous).
'assay run'(In, Inferences) :-
    read_term(In, T, []),
    ( T == end_of_file -> true ; 'assay one'(T, Inferences), 'assay run'(In, Inferences) ).
'assay one'(world(Facts, Goal), Inferences) :-
    'assay add'(Facts),
    ( call_with_inference_limit((Goal -> A = 1 ; A = 0), Inferences, R) -> true ; A = 0, R = true ),
    'assay drop'(Facts),
    ( R == inference_limit_exceeded -> throw(assay_inferences) ; true ),
    write(A), nl.
'assay add'([]).
'assay add'([F|Fs]) :- assertz(F), 'assay add'(Fs).
'assay drop'([]).
'assay drop'([F|Fs]) :- retract(F), !, 'assay drop'(Fs).
'assay main'(File, Inferences) :-
    open(File, read, In, [encoding(utf8)]),
    catch('assay run'(In, Inferences), E, ( print(user_error, E), nl(user_error), halt(3) )),
    close(In), halt(0).
"""


def labelled(question: Any, codes: Codes, limits: ProofLimits) -> Array:
    """Return the label of each world by SWI-Prolog."""
    keys = set() if question.form else {*question.vocabulary.keys}
    facts = sorted({*question.program.declared, *keys} - set(question.program.clauses))
    dynamic = "".join(f":- {Clause(('dynamic', ('/', name, arity)), 'true', 0, {})}\n" for name, arity in facts)
    with tempfile.TemporaryDirectory(prefix="assay-swi-") as made:
        folder = Path(made)
        (folder / "program.pl").write_text(DRIVER + dynamic + str(question.program), encoding="utf-8")
        (folder / "worlds.pl").write_text("".join(_worlds(question, codes)), encoding="utf-8")
        command = [
            "swipl", "--no-pce", "--no-signals", "--stack-limit=512m", "-f", "none", "-F", "none", "--nodebug", "-q",
            "-g", "true", "-t", "halt(4)", "-s", "program.pl", "-g", f"'assay main'('worlds.pl', {limits.inferences})",
        ]  # fmt: skip
        name = question.program.name
        found = ended(command, "", limits.time_for(len(codes)), name, folder)
    if found.status != 0:
        raise PrologError(f"rule {name}: SWI-Prolog says: {' '.join(found.errors.split())[:300]}")
    return np.array([line == "1" for line in found.output.split()], dtype=bool)


def _worlds(question: Any, codes: Codes) -> Iterator[str]:
    """Give each world as a line: its facts, and the goal that decides."""
    if question.form is not None:
        for term in question.form.terms(codes):
            yield f"{Clause(('world', '[]', (question.head, term)), 'true', 0, {})}\n"
        return
    defined = {name for name, _ in question.program.clauses}
    for number in range(len(codes)):
        facts = facts_text(question.vocabulary, codes[number : number + 1], first=number).splitlines()
        kept = [fact.removesuffix(".") for fact in facts if fact.partition("(")[0] not in defined]
        goal = str(Clause((question.head, f"w{number}"), "true", 0, {})).removesuffix(".")
        yield f"world([{','.join(kept)}],{goal}).\n"
