"""Label worlds by a Prolog program: the query, and the interpreter prepared to answer it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, suggestion
from assay.logic import ConceptSpace
from assay.prolog.limits import ProofLimits
from assay.prolog.machine import Machine
from assay.prolog.program import Program, read_program
from assay.prolog.templates import WorldTemplate
from assay.prolog.terms import PrologError, indicator
from assay.prolog.vocabulary import WORLD, Vocabulary


@dataclass(frozen=True)
class Worlds:
    """Worlds for a program to label: as facts, or by a template as one term each."""

    space: ConceptSpace
    codes: Codes
    template: str = ""


@dataclass(frozen=True)
class Question:
    """A query: a program, the predicate of one argument that is the label, and how worlds are passed to it."""

    program: Program
    head: str
    space: ConceptSpace
    template: str = ""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The predicates of the worlds' facts."""
        return Vocabulary(self.space)

    @cached_property
    def form(self) -> WorldTemplate | None:
        """How a world is written as one term, or None if it is passed as facts."""
        return WorldTemplate(self.space, self.template) if self.template else None


def head_of(program: Program) -> str:
    """Return the predicate of one argument that is the label: the only one that no other clause calls, or the last."""
    ones = [key[0] for key in program.clauses if key[1] == 1]
    if not ones:
        raise PrologError(f"{program.name} defines no predicate of one argument, which would decide the label")
    free = [name for name in ones if (name, 1) not in program.called_predicates]
    return free[0] if len(free) == 1 else ones[-1]


def label(program: Program | str, worlds: Worlds, limits: ProofLimits | None = None, head: str | None = None) -> Array:
    """Return for each world whether the program proves `head(World)`; by default the predicate that no other calls.

    >>> from assay.logic.concepts import digits
    >>> worlds = Worlds(digits(["a", "b"]), np.array([[3, 4], [9, 1]]))
    >>> label("big(W) :- a(W, X), b(W, Y), X + Y > 8.", worlds).tolist()
    [False, True]
    """
    return Labeller(question_of(program, worlds, head), limits or ProofLimits())(worlds.codes)


def question_of(program: Program | str, worlds: Worlds, head: str | None = None) -> Question:
    """Return the query for worlds: the parsed program, and the predicate that is the label, which it must define."""
    read = read_program(program) if isinstance(program, str) else program
    head = head or head_of(read)
    if (head, 1) not in read.clauses:
        name, defined = indicator((head, 1)), [indicator(key) for key in read.clauses]
        raise PrologError(f"{read.name} defines no {name}, which decides the label{suggestion(name, defined)}")
    return Question(read, head, worlds.space, worlds.template)


class Labeller:
    """A query compiled for the interpreter, to be run on many worlds."""

    def __init__(self, question: Question, limits: ProofLimits) -> None:
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
            world, answers = (WORLD,), []
            for rows in vocabulary.facts(codes):
                for table, mine in zip(tables, rows, strict=True):
                    if table is not None:
                        table.fill(mine)
                answers.append(ask(world))
            return np.array(answers, dtype=bool)
