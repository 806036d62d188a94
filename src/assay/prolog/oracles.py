"""A rule that is a Prolog program: it labels worlds; what needs a formula raises `NoSymbols` if worlds are too many.

The rule is the formula `Oracle`, so that it lives wherever formulas do: in knowledge, on disk, in a split. Where its
worlds are few it is tabulated, and everything that reads formulas can read it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock

import numpy as np

from assay.base import Array, Codes, FormulaError, NoSymbols, rng_for, suggestion
from assay.logic import ABSENT, ConceptSpace, Formula, Member, Oracle, Slot, Var, evaluate
from assay.prolog.lift import formula_of
from assay.prolog.machine import Machine
from assay.prolog.program import Program, head_of, read_program
from assay.prolog.store import ProofLimits
from assay.prolog.terms import PrologError, indicator
from assay.prolog.unfold import unfold
from assay.prolog.vocabulary import WORLD, Vocabulary, WorldTemplate

FEW = 20_000
"""The most worlds that are tabulated."""
CHECKED = 400
"""On so many worlds a program and the formula derived from it are compared."""
_running = Lock()


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


def label(program: Program | str, worlds: Worlds, limits: ProofLimits | None = None, head: str | None = None) -> Array:
    """Return for each world whether the program proves `head(World)`; by default the predicate that no other calls.

    >>> from assay.logic.concepts import digits
    >>> worlds = Worlds(digits(["a", "b"]), np.array([[3, 4], [9, 1]]))
    >>> label("big(W) :- a(W, X), b(W, Y), X + Y > 8.", worlds).tolist()
    [False, True]

    Parameters
    ----------
    program
        A program, or its text.
    worlds
        What to label, and how it is passed to the program.
    limits
        What the program may use up, in all and for each world.
    head
        The predicate of one argument that is the label.
    """
    return Labeller(question_of(program, worlds, head), limits or ProofLimits())(worlds.codes)


def question_of(program: Program | str, worlds: Worlds, head: str | None = None) -> Question:
    """Return the query for worlds: the parsed program, and the predicate that is the label, which it must define.

    Parameters
    ----------
    program
        A program, or its text.
    worlds
        Their space, and how they are passed to the program.
    head
        The predicate that is the label; by default the one that no other calls.
    """
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


def oracle(
    program: str, space: ConceptSpace, head: str | None = None, template: str = "", name: str = "program"
) -> Oracle:
    """Return the rule of a program that decides by `head(World)`; by default the predicate that no other calls.

    >>> from assay.logic.concepts import digits
    >>> print(oracle("big(W) :- a(W, X), X > 4.", digits(["a"])))
    prolog('big(W) :- a(W, X), X > 4.', 'big', '', a)

    Parameters
    ----------
    program
        The text of the program.
    space
        The concepts of the worlds.
    head
        The predicate of one argument that is the label.
    template
        How a world is written as one term; by default it is passed as facts.
    name
        What the program is called in messages.
    """
    read = read_program(program, name)
    rule = Oracle(program, head or head_of(read), template, tuple(Var(concept) for concept in space.names))
    OracleRunner(rule, space).check()
    return rule


@dataclass(frozen=True)
class OracleRunner:
    """Runs the program of an oracle on worlds of a space, for `assay.logic`."""

    formula: Oracle
    space: ConceptSpace

    @property
    def subspace(self) -> ConceptSpace:
        """The concepts that the program sees."""
        return _subspace(self.formula, self.space)

    def check(self) -> None:
        """Raise unless the program can be read and run."""
        _labeller(self.formula, self.subspace)

    def ask(self, rows: Array, numbers: Mapping[str, Sequence[int]]) -> Array:
        """Return the program's answers for worlds given as numbers; `numbers` has those of each concept's values."""
        codes = np.empty(rows.shape, dtype=np.int64)
        for place, concept in enumerate(self.subspace.concepts):
            known = np.array(numbers[concept.name])
            order = np.argsort(known)
            codes[:, place] = order[np.searchsorted(known, rows[:, place].astype(known.dtype), sorter=order)]
        return self.answers(codes)

    def answers(self, codes: Codes) -> Array:
        """Return the program's answers for worlds of the subspace; false where a slot is partly absent."""
        whole = _whole(self.subspace, codes)
        truths = np.zeros(len(codes), dtype=bool)
        with _running:
            truths[whole] = _labeller(self.formula, self.subspace)(codes[whole])
        return truths

    def is_small(self) -> bool:
        """Return whether its worlds are few enough to be tabulated."""
        return self.subspace.worlds <= FEW

    def tabulated(self) -> Formula:
        """Return the program as the list of worlds that it labels true; raise `NoSymbols` where there are too many."""
        if not self.is_small():
            raise NoSymbols(
                f"the rule {self.formula.head!r} is a Prolog program: it labels worlds, but this needs a formula, and "
                f"its {self.subspace.worlds:,} worlds are too many to tabulate"
            )
        codes = self.subspace.all_codes()
        rows = [tuple(self.subspace.decode(row).values()) for row in codes[self.answers(codes)]]
        return Member(tuple(Var(name) for name in self.subspace.names), tuple(rows))


@lru_cache(maxsize=32)
def _labeller(formula: Oracle, space: ConceptSpace) -> Labeller:
    program = read_program(formula.program, formula.head)
    return Labeller(Question(program, formula.head, space, formula.template), ProofLimits())


@lru_cache(maxsize=32)
def _subspace(formula: Oracle, space: ConceptSpace) -> ConceptSpace:
    """Return the concepts that the program sees, as a space."""
    names = [part.name for part in formula.concepts if isinstance(part, Var)]
    if len(names) < len(formula.concepts) or len(set(names)) < len(names) or not names:
        raise FormulaError(f"prolog '{formula.head}' must be given names of concepts, each once")
    if tuple(names) == space.names:
        return ConceptSpace(space.concepts, space.slots)
    wanted = set(names)
    slots = (Slot(s.name, s.group, tuple(a for a in s.attributes if s.concept(a) in wanted)) for s in space.slots)
    return ConceptSpace(tuple(space.concept(name) for name in names), tuple(slot for slot in slots if slot.attributes))


def _whole(space: ConceptSpace, codes: Codes) -> Array:
    """Return which worlds have no slot of which some attributes are absent and others are not."""
    whole = np.ones(len(codes), dtype=bool)
    for slot in space.slots:
        concepts = [space.concept(name) for name in slot.concepts]
        if concepts[0].optional:
            gone = [codes[:, space.place(c.name)] == c.values.index(ABSENT) for c in concepts]
            whole &= np.all(gone, axis=0) | ~np.any(gone, axis=0)
    return whole


def rule_of(
    program: str,
    space: ConceptSpace,
    head: str | None = None,
    template: str = "",
    packed: bool = False,
    name: str = "program",
) -> Formula:
    """Return the rule of a program: as a formula if it can be written as one, checked on worlds, else as an oracle.

    >>> from assay.logic.concepts import digits
    >>> rule_of("big(W) :- a(W, X), X > 4.", digits(["a"]))
    <a > 4>

    Parameters
    ----------
    program
        The text of the program.
    space
        The concepts of the worlds.
    head
        The predicate of one argument that is the label.
    template
        How a world is written as one term; by default it is passed as facts.
    packed
        Worlds fill the slots of each group from the first on; in all others the rule is free.
    name
        What the program is called in messages.
    """
    asked_of = oracle(program, space, head, template, name)
    read = read_program(program, name)
    try:
        if template:
            formula = unfold(read, asked_of.head, space, template, packed)
        else:
            formula = formula_of(read, space, asked_of.head)
        return formula if _agree(formula, asked_of, space, packed) else asked_of
    except (NoSymbols, FormulaError, PrologError, RecursionError):
        return asked_of


def _agree(formula: Formula, asked_of: Oracle, space: ConceptSpace, packed: bool) -> bool:
    """Return whether a formula and a program agree on some hundred worlds."""
    codes = _some_worlds(space, packed)
    return bool(np.array_equal(evaluate(formula, space, codes), OracleRunner(asked_of, space).answers(codes)))


def _some_worlds(space: ConceptSpace, packed: bool) -> Codes:
    """Return worlds drawn evenly, with slots that are wholly there or wholly absent."""
    rng = rng_for(0, "worlds to check a program on")
    present = [[code for code, value in enumerate(c.values) if value in c.present] for c in space.concepts]
    codes = np.stack([np.array(some)[rng.integers(len(some), size=CHECKED)] for some in present], axis=1)
    for slots in space.groups.values():
        filled = rng.integers(len(slots) + 1, size=CHECKED)
        for place, slot in enumerate(slots):
            gone = filled <= place if packed else rng.random(CHECKED) < 0.3
            for name in slot.concepts:
                if space.concept(name).optional:
                    codes[gone, space.place(name)] = space.concept(name).code(ABSENT)
    return codes
