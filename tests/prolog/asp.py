"""A reference for the labels of flat rules, by clingo: every atom gets the world as one more argument, and all worlds are solved in one go."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.prolog import WORLD, Clause, PrologError, ProofLimits, Variable

from .process import ended

SIGNS = {"=<": "<=", "=:=": "=", "=\\=": "!=", "\\=": "!=", "\\==": "!=", "==": "=", "is": "=", "<": "<", ">": ">", ">=": ">=", "=": "="}  # fmt: skip
FUNCTIONS = {"+": "+", "-": "-", "*": "*", "mod": "\\", "//": "/"}
Names = dict[int, str]
"""The names of variables that are met in a clause."""
Term = Any
"""A term of a program that was read: a variable, an atom, a number, or a tuple of a name and arguments."""


def labelled(question: Any, codes: Codes, limits: ProofLimits) -> Array:
    """Return the label of each world by clingo, in a process of its own that a loop cannot hold up."""
    if question.form is not None:
        raise PrologError(f"{question.program.name}: clingo knows worlds as facts only, not as terms")
    text = Translation(question).text() + _facts(question, codes)
    seconds, name = limits.time_for(len(codes)), question.program.name
    found = ended([sys.executable, "-m", "clingo", "-", "2", "--outf=2", "--warn=none"], text, seconds, name)
    try:
        said = json.loads(found.output)
    except json.JSONDecodeError:
        raise PrologError(f"{name}: clingo ended with status {found.status}: {_first(found.errors)}") from None
    if said["Result"] == "UNKNOWN":
        raise PrologError(f"{name}: clingo cannot take it: {_first(found.errors)}")
    if said["Models"]["Number"] != 1:
        raise PrologError(f"{name}: a predicate depends on its own negation, which clingo cannot decide")
    labels = np.zeros(len(codes), dtype=bool)
    for atom in said["Call"][0]["Witnesses"][0]["Value"]:
        labels[int(atom[atom.index("(") + 1 : atom.index(",")])] = True
    return labels


def _first(errors: str) -> str:
    return " ".join(errors.split("Traceback")[0].split())[:300]


def _facts(question: Any, codes: Codes) -> str:
    """Return the facts of all worlds that the program asks for."""
    vocabulary, known = question.vocabulary, dict[tuple[Term, ...], str]()
    defined, needed = question.program.clauses, question.program.called_predicates
    kept = [(place, key) for place, key in enumerate(vocabulary.keys) if key not in defined and key in needed]
    lines = []
    for number, tables in enumerate(vocabulary.facts(codes)):
        lines.append(f"world({number}).")
        for place, key in kept:
            name = predicate(key)
            for row in tables[place]:
                cells = known.get(row)
                if cells is None:
                    cells = known[row] = ",".join(str(c) if isinstance(c, int) else constant(c) for c in row)
                lines.append(f"{name}({number},{cells}).")
    return "".join(lines)


def constant(value: str) -> str:
    """Return an atom as clingo takes it: `v_red`, `v_it__39__s`."""
    return "v_" + "".join(c if (c.isalnum() and c.isascii()) or c == "_" else f"__{ord(c)}__" for c in value)


def predicate(key: tuple[str, int]) -> str:
    """Return a predicate's name for clingo: the number of arguments is part of it."""
    return f"p{key[1]}_{constant(key[0])}"


def key_of(term: Term) -> tuple[str, int]:
    """Return the name and the number of arguments of an atom or compound."""
    return (term[0], len(term) - 1) if type(term) is tuple else (term, 0)


def chain_of(term: Term, operator: str) -> list[Term]:
    """Return the operands of a chain of one right-associative operator."""
    operands = []
    while type(term) is tuple and len(term) == 3 and term[0] == operator:
        operands.append(term[1])
        term = term[2]
    return [*operands, term]


def free_vars(term: Term) -> Iterator[Variable]:
    """Give the unbound variables of a term."""
    if type(term) is Variable:
        yield term
    elif type(term) is tuple:
        for part in term[1:]:
            yield from free_vars(part)


class Translation:
    """A program as rules of clingo."""

    def __init__(self, question: Any) -> None:
        self.question = question
        self.program = question.program.complete(question.vocabulary.keys)
        self.extra: list[str] = []
        self.line = 0

    def refuse(self, why: str) -> PrologError:
        """Return the error that says why clingo cannot take a clause."""
        return PrologError(f"{self.program.name} line {self.line}: clingo takes flat rules only: {why}")

    def text(self) -> str:
        """Return all rules."""
        lines = [f"#show {predicate((self.question.head, 1))}/2.", f"#defined {predicate((self.question.head, 1))}/2."]
        for key in self.question.vocabulary.keys:
            lines.append(f"#defined {predicate(key)}/{key[1] + 1}.")
        for clauses in self.program.clauses.values():
            for clause in clauses:
                self.line = clause.line
                lines += self.rules(clause)
        return "\n".join([*lines, *self.extra]) + "\n"

    def rules(self, clause: Clause) -> Iterator[str]:
        """Give the rules of a clause, one for each way through its disjunctions."""
        names: Names = {}
        head = self.atom(clause.head, names)
        if key_of(clause.head) == (self.question.head, 1):
            head = f"{predicate((self.question.head, 1))}(World,{self.term(clause.head[1], names)})"
        for body in self.bodies(clause.body):
            literals = ["world(World)", *(self.literal(goal, names) for goal in body if goal != "true")]
            if key_of(clause.head) == (self.question.head, 1) and type(clause.head[1]) is Variable:
                literals.append(f"{self.term(clause.head[1], names)}={constant(WORLD)}")
            yield f"{head} :- {', '.join(literals)}."

    def bodies(self, goal: Term) -> list[list[Term]]:
        """Return the conjunctions of which a body is the disjunction."""
        if type(goal) is tuple and goal[0] == "," and len(goal) == 3:
            made: list[list[Term]] = [[]]
            for part in chain_of(goal, ","):
                made = [[*before, *after] for before in made for after in self.bodies(part)]
            return made
        if type(goal) is tuple and goal[0] == ";" and len(goal) == 3:
            if type(goal[1]) is tuple and goal[1][0] in ("->", "*->"):
                raise self.refuse("'->' is there")
            return [body for part in chain_of(goal, ";") for body in self.bodies(part)]
        if goal in ("fail", "false"):
            return []
        return [[goal]]

    def literal(self, goal: Term, names: Names) -> str:
        """Return one goal as a literal."""
        if type(goal) is Variable:
            raise self.refuse("a goal is a variable")
        key = key_of(goal)
        if key in (("\\+", 1), ("not", 1)):
            return self.negated(goal[1], names)
        if key == ("forall", 2):
            return self.negated((",", goal[1], ("\\+", goal[2])), names)
        if key[0] in SIGNS and key[1] == 2:
            left, right = self.term(goal[1], names), self.term(goal[2], names)
            return f"{left} {SIGNS[key[0]]} {right}"
        if key in self.program.clauses or key in self.question.vocabulary.by_key:
            return self.atom(goal, names)
        raise self.refuse(f"{key} is there")

    def negated(self, goal: Term, names: Names) -> str:
        """Return "not this goal": of several, by a rule of their own over the variables that are known outside."""
        key = key_of(goal)
        if key in self.program.clauses or key in self.question.vocabulary.by_key:
            parts = list(goal[1:]) if type(goal) is tuple else []
            if all(type(part) is not Variable or id(part) in names for part in parts):
                return f"not {self.atom(goal, names)}"
        shared = [
            self.term(variable, names)
            for variable in {id(v): v for v in free_vars(goal)}.values()
            if id(variable) in names
        ]
        name = f"none_{len(self.extra)}"
        head = f"{name}({','.join(['World', *shared])})"
        place = len(self.extra)
        self.extra.append("")
        texts = []
        for body in self.bodies(goal):
            literals = ["world(World)", *(self.literal(one, names) for one in body if one != "true")]
            texts.append(f"{head} :- {', '.join(literals)}.")
        self.extra[place] = " ".join([f"#defined {name}/{len(shared) + 1}.", *texts])
        return f"not {head}"

    def atom(self, goal: Term, names: Names) -> str:
        """Return an atom with the world in front."""
        arguments = [self.term(part, names) for part in goal[1:]] if type(goal) is tuple else []
        return f"{predicate(key_of(goal))}({','.join(['World', *arguments])})"

    def term(self, term: Term, names: Names) -> str:
        """Return a variable, a constant or an arithmetic term."""
        if type(term) is Variable:
            return names.setdefault(id(term), f"X{len(names)}")
        if type(term) is int:
            return str(term)
        if type(term) is str:
            return constant(term)
        if type(term) is tuple and term[0] in FUNCTIONS and len(term) == 3:
            return f"({self.term(term[1], names)}{FUNCTIONS[term[0]]}{self.term(term[2], names)})"
        if type(term) is tuple and term[0] == "abs" and len(term) == 2:
            return f"|{self.term(term[1], names)}|"
        raise self.refuse(f"a term {term[:1]} is there")
