"""Label worlds by a program, on one of three engines behind one call."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import ConceptSpace
from assay.errors import UnknownName, suggestion
from assay.logic.prolog.forms import TermForm
from assay.logic.prolog.limits import Limits
from assay.logic.prolog.machine import Machine
from assay.logic.prolog.program import Program, read_program
from assay.logic.prolog.terms import PrologError, named
from assay.logic.prolog.vocabulary import WORLD, Vocabulary

Engine = Literal["auto", "embedded", "asp", "swi"]
MANY = 100_000
"""From so many worlds on, SWI-Prolog's start is worth its while where it is installed."""


@dataclass(frozen=True)
class Worlds:
    """Worlds for a program to label: as facts, or by a template as one term each."""

    space: ConceptSpace
    codes: Codes
    template: str = ""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The predicates of the worlds' facts."""
        return Vocabulary(self.space)


@dataclass(frozen=True)
class Question:
    """A program, the predicate of one argument that decides, and how worlds are told to it."""

    program: Program
    head: str
    space: ConceptSpace
    template: str = ""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The predicates of the worlds' facts."""
        return Vocabulary(self.space)

    @cached_property
    def form(self) -> TermForm | None:
        """How a world is one term, or None if it is told in facts."""
        return TermForm(self.space, self.template) if self.template else None


def head_of(program: Program) -> str:
    """Return the predicate of one argument that decides: the only one that no other clause calls, or the last."""
    ones = [key[0] for key in program.clauses if key[1] == 1]
    if not ones:
        raise PrologError(f"{program.name} defines no predicate of one argument, which would decide the label")
    free = [name for name in ones if (name, 1) not in program.needed]
    return free[0] if len(free) == 1 else ones[-1]


def label(
    program: Program | str,
    worlds: Worlds,
    engine: Engine = "auto",
    limits: Limits | None = None,
    head: str | None = None,
) -> Array:
    """Return for each world whether the program proves `head(World)`; by default the predicate that no other calls.

    >>> from assay.concepts import digits
    >>> worlds = Worlds(digits(["a", "b"]), np.array([[3, 4], [9, 1]]))
    >>> label("big(W) :- a(W, X), b(W, Y), X + Y > 8.", worlds).tolist()
    [False, True]
    """
    read = read_program(program) if isinstance(program, str) else program
    question = Question(read, head or head_of(read), worlds.space, worlds.template)
    return answer(question, worlds.codes, engine, limits)


def answer(question: Question, codes: Codes, engine: Engine = "auto", limits: Limits | None = None) -> Array:
    """Return for each row of codes whether the question's answer is yes."""
    known: dict[str, Callable[[Question, Codes, Limits], Array]] = {"embedded": embedded, "asp": _asp, "swi": _swi}
    if engine != "auto" and engine not in known:
        raise UnknownName(f"no Prolog engine named {engine!r}{suggestion(engine, ['auto', *known])}")
    if (question.head, 1) not in question.program.clauses:
        defined = [named(key) for key in question.program.clauses]
        name = named((question.head, 1))
        raise PrologError(
            f"{question.program.name} defines no {name}, which decides the label{suggestion(name, defined)}"
        )
    chosen = _chosen(len(codes)) if engine == "auto" else engine
    return known[chosen](question, codes, limits or Limits())


def _chosen(worlds: int) -> str:
    if worlds < MANY:
        return "embedded"
    from assay.logic.prolog.swi import installed

    return "swi" if installed() else "embedded"


def embedded(question: Question, codes: Codes, limits: Limits) -> Array:
    """Label by the interpreter that comes along."""
    return Embedded(question, limits)(codes)


class Embedded:
    """A question made ready for the interpreter, to be asked again and again."""

    def __init__(self, question: Question, limits: Limits) -> None:
        self.question = question
        keys = () if question.form else question.vocabulary.keys
        self.machine = Machine(question.program, keys, limits)
        self.ask = self.machine.query(question.head, 1)

    def __call__(self, codes: Codes) -> Array:
        """Return the answer for each row of codes."""
        ask = self.ask
        with self.machine.running(len(codes)):
            if self.question.form is not None:
                return np.array([ask((term,)) for term in self.question.form.terms(codes)], dtype=bool)
            vocabulary = self.question.vocabulary
            tables = [self.machine.tables.get(key) for key in vocabulary.keys]
            world, found = (WORLD,), []
            for rows in vocabulary.facts(codes):
                for table, mine in zip(tables, rows, strict=True):
                    if table is not None:
                        table.fill(mine)
                found.append(ask(world))
            return np.array(found, dtype=bool)


def _asp(question: Question, codes: Codes, limits: Limits) -> Array:
    from assay.logic.prolog.asp import labelled

    return labelled(question, codes, limits)


def _swi(question: Question, codes: Codes, limits: Limits) -> Array:
    from assay.logic.prolog.swi import labelled

    return labelled(question, codes, limits)
