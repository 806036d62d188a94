"""Predicates that a task defines for the programs of its users; a program's own definitions come first."""

from collections.abc import Collection, Iterator

from assay.prolog.program import BUILT_IN, Program, calls, library, read_program
from assay.prolog.reader import Clause
from assay.prolog.terms import Key


def with_predefined(text: str, predefined: str, known: Collection[Key] = (), name: str = "program") -> str:
    """Return a program, followed by the predefined predicates that it needs and does not define itself.

    `known` are predicates that the facts of worlds will define.

    >>> print(with_predefined("p(X) :- q(X).", "q(X) :- r(X). r(1). s(2)."))
    p(X) :- q(X).
    <BLANKLINE>
    q(X) :- r(X).
    r(1).
    """
    program, shelf = read_program(text, name), read_program(predefined, "predefined")
    clauses = [str(clause) for clause in _needed(program, shelf, known)]
    return "\n".join([text, "", *clauses]) if clauses else text


def _needed(program: Program, shelf: Program, known: Collection[Key]) -> Iterator[Clause]:
    """Give the clauses that are needed; raise if the program calls what nobody defines."""
    there = {*program.clauses, *program.declared, *BUILT_IN, *known}
    waiting = [clause for clauses in program.clauses.values() for clause in clauses]
    while waiting:
        clause = waiting.pop(0)
        for key, term in calls(clause):
            if key in there or (key not in shelf.clauses and key in library()):
                continue
            if key not in shelf.clauses:
                raise program.unknown(key, clause, term, [*known, *shelf.clauses])
            there.add(key)
            waiting += shelf.clauses[key]
            yield from shelf.clauses[key]
