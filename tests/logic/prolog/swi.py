"""A reference for the labels of any rule, by SWI-Prolog in batch: one process, one file of worlds, one line of answers.

The text that SWI-Prolog loads is written anew from what our reader understood, so it holds nothing but clauses whose
goals are known to be harmless: no directive, no module, no predicate that reads, writes or starts anything. The user's
predicates get a prefix, so that none can hook into the system, and goals that are built while the program runs are
looked up in a table of what is allowed.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from assay.arrays import Array, Codes
from assay.prolog import WORLD, Program, PrologError, ProofLimits, Term, Variable, deref, key_of
from assay.prolog.builtins import ANSWERS, TESTS
from assay.prolog.labelling import Question
from assay.prolog.program import GOALS_OF, library
from assay.prolog.reader import Clause
from assay.prolog.terms import Key, TermWriter, as_list, indicator, quoted_atom

from .process import ended

PREFIX = "u "
"""What the user's predicates begin with: no system predicate does."""
DYNAMIC = "assay call"
STACK = "512m"

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
    catch('assay run'(In, Inferences), E, ( 'assay error'(E), halt(3) )),
    close(In), halt(0).
'assay error'(E) :-
    ( E = error(F, _) -> true ; F = E ), write(user_error, 'ASSAY '), print(user_error, F), nl(user_error).
'assay call'(G, More) :- G =.. L, append(L, More, L2), K =.. L2, 'assay goal'(K).
'assay goal'(G) :- var(G), !, throw(error(instantiation_error, _)).
'assay goal'((A, B)) :- !, 'assay goal'(A), 'assay goal'(B).
'assay goal'((C -> A ; B)) :- !, ( 'assay goal'(C) -> 'assay goal'(A) ; 'assay goal'(B) ).
'assay goal'((A ; B)) :- !, ( 'assay goal'(A) ; 'assay goal'(B) ).
'assay goal'((C -> A)) :- !, ( 'assay goal'(C) -> 'assay goal'(A) ).
'assay goal'(\+ A) :- !, \+ 'assay goal'(A).
'assay goal'(not(A)) :- !, \+ 'assay goal'(A).
'assay goal'(once(A)) :- !, once('assay goal'(A)).
'assay goal'(ignore(A)) :- !, ignore('assay goal'(A)).
'assay goal'(forall(A, B)) :- !, forall('assay goal'(A), 'assay goal'(B)).
'assay goal'(findall(T, A, L)) :- !, findall(T, 'assay goal'(A), L).
'assay goal'(aggregate_all(T, A, L)) :- !, aggregate_all(T, 'assay goal'(A), L).
'assay goal'(G) :- functor(G, N, A), ( N == call -> G =.. [_, H|More], 'assay call'(H, More)
    ; 'assay user'(N, A, P) -> G =.. [_|As], H =.. [P|As], call(H)
    ; 'assay allowed'(N, A) -> call(G)
    ; throw(error(existence_error(procedure, N/A), _)) ).
"""


def labelled(question: Question, codes: Codes, limits: ProofLimits) -> Array:
    """Return the label of each world by SWI-Prolog."""
    tables = () if question.form else question.vocabulary.keys
    program = question.program.complete(tables)
    with tempfile.TemporaryDirectory(prefix="assay-swi-") as made:
        folder = Path(made)
        (folder / "program.pl").write_text(DRIVER + Text(program, tables).program(), encoding="utf-8")
        with (folder / "worlds.pl").open("w", encoding="utf-8") as file:
            file.writelines(_worlds(question, codes))
        return _asked(question, len(codes), limits, folder)


def _asked(question: Question, worlds: int, limits: ProofLimits, folder: Path) -> Array:
    goal = f"'assay main'('worlds.pl', {limits.inferences})"
    command = [
        "swipl", "--no-pce", "--no-signals", f"--stack-limit={STACK}", "-f", "none", "-F", "none", "--nodebug", "-q",
        "-g", "true", "-t", "halt(4)", "-s", "program.pl", "-g", goal,
    ]  # fmt: skip
    name = f"{question.program.name} ({indicator((question.head, 1))})"
    found = ended(command, "", limits.time_for(worlds), name, folder)
    if found.status != 0:
        raise _error(name, found.errors, limits)
    labels = np.array([line == "1" for line in found.output.split()], dtype=bool)
    if len(labels) != worlds:
        raise PrologError(
            f"rule {name}: SWI-Prolog answered for {len(labels)} of {worlds} worlds: {_first(found.errors)}"
        )
    return labels


def _error(name: str, errors: str, limits: ProofLimits) -> PrologError:
    said = next((line[6:] for line in errors.splitlines() if line.startswith("ASSAY ")), _first(errors))
    said = said.replace(PREFIX, "")
    if said == "assay_inferences":
        limit = f"the limit of {limits.inferences:,} inferences for one world"
        return PrologError(f"rule {name} was stopped at {limit}; it may loop")
    if "resource_error" in said or "stack" in said:
        return PrologError(f"rule {name} was stopped at the stack limit of {STACK}; it may loop")
    return PrologError(f"rule {name}: SWI-Prolog says: {said}")


def _first(errors: str) -> str:
    return " ".join(errors.split())[:300] or "nothing"


def _worlds(question: Question, codes: Codes) -> Iterator[str]:
    """Give each world as a line: its facts, and the goal that decides."""
    writer, head = TermWriter(), f"{PREFIX}{question.head}"
    if question.form is not None:
        known: dict[int, tuple[Term, str]] = {}
        for term in question.form.terms(codes):
            yield f"world([],{quoted_atom(head)}({_term_text(term, writer, known)})).\n"
        return
    vocabulary, cells = question.vocabulary, dict[tuple[int, tuple[Term, ...]], str]()
    defined, needed = question.program.clauses, question.program.called_predicates
    kept = [(place, key) for place, key in enumerate(vocabulary.keys) if key not in defined and key in needed]
    goal = f"{quoted_atom(head)}({WORLD})"
    for tables in vocabulary.facts(codes):
        facts = []
        for place, key in kept:
            for row in tables[place]:
                if (place, row) not in cells:
                    cells[place, row] = writer.write((PREFIX + key[0], *row), 999)
                facts.append(cells[place, row])
        yield f"world([{','.join(facts)}],{goal}).\n"


def _term_text(term: Term, writer: TermWriter, known: dict[int, tuple[Term, str]]) -> str:
    """Write a term; items of a list, which worlds share, are written once."""
    if not (type(term) is tuple and term[0] == "."):
        return writer.write(term, 999)
    items = []
    while type(term) is tuple and term[0] == ".":
        if id(term[1]) not in known:
            known[id(term[1])] = (term[1], writer.write(term[1], 999))
        items.append(known[id(term[1])][1])
        term = term[2]
    return f"[{','.join(items)}]"


class Text:
    """A program as text for SWI-Prolog, user predicates with their prefix, and the table of what may be called."""

    def __init__(self, program: Program, tables: Sequence[Key]) -> None:
        self.clauses = {**library(), **program.clauses}
        self.facts = sorted({*program.declared, *tables} - set(self.clauses))
        self.own = {*self.clauses, *self.facts}

    def program(self) -> str:
        """Return all clauses and tables."""
        lines = [f":- dynamic({TermWriter().write(('/', PREFIX + name, arity), 999)})." for name, arity in self.facts]
        lines += [self.clause(clause) for clauses in self.clauses.values() for clause in clauses]
        for name, arity in sorted(self.own):
            lines.append(f"'assay user'({quoted_atom(name)},{arity},{quoted_atom(PREFIX + name)}).")
        lines += [f"'assay allowed'({quoted_atom(name)},{arity})." for name, arity in sorted({*TESTS, *ANSWERS})]
        return "\n".join(lines) + "\n"

    def clause(self, clause: Clause) -> str:
        """Return one clause."""
        head = clause.head
        renamed = (PREFIX + head[0], *head[1:]) if type(head) is tuple else PREFIX + head
        return str(Clause(renamed, self.goal(clause.body), clause.line, clause.names))

    def goal(self, goal: Term) -> Term:
        """Return a goal with prefixes, and what is built at run time looked up first."""
        goal = deref(goal)
        if type(goal) is Variable:
            return (DYNAMIC, goal, "[]")
        key = key_of(goal)
        if key in self.own:
            return (PREFIX + goal[0], *goal[1:]) if type(goal) is tuple else PREFIX + goal
        if key[0] == "call" and (key[1] > 1 or type(deref(goal[1])) is Variable):
            return (DYNAMIC, goal[1], as_list(goal[2:]))
        places = GOALS_OF.get(key, ())
        if not places:
            return goal
        return (goal[0], *[self.goal(part) if at in places else part for at, part in enumerate(goal[1:], 1)])
