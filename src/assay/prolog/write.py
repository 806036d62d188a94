"""Knowledge and worlds as Prolog: facts for worlds, clauses for labels and constraints."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.base import Codes, FormulaError
from assay.logic import ABSENT, Knowledge, Label, Or, Oracle
from assay.prolog.goal_writer import GoalWriter
from assay.prolog.program import BUILT_IN, library
from assay.prolog.reader import Clause
from assay.prolog.terms import Term, Variable, join_terms
from assay.prolog.vocabulary import WORLD, Vocabulary, What, plain_name, value_text

VIOLATES = "violates"
ROLES: Mapping[What, tuple[str, str]] = {
    "has": ("world", "object"), "number": ("object", "value"), "before": ("object", "object"),
    "attribute": ("object", "value"), "concept": ("world", "value"),
}  # fmt: skip
"""What the arguments of a fact are. Their types do not tell: an attribute may be called as a kind of object is."""


def facts_text(vocabulary: Vocabulary, codes: Codes, first: int = 0) -> str:
    """Return worlds as facts, predicate by predicate; world 7 is `w7`, its objects are `w7_car1` and so on."""
    tables: list[list[str]] = [[] for _ in vocabulary.relations]
    for number, rows in enumerate(vocabulary.facts(codes), first):
        world = f"{WORLD}{number}"
        for place, relation in enumerate(vocabulary.relations):
            for row in rows[place]:
                cells = [_cell(cell, role, world) for cell, role in zip(row, ROLES[relation.what], strict=True)]
                tables[place].append(f"{relation.name}({','.join(cells)}).")
    return "".join("\n".join(lines) + "\n" for lines in tables if lines)


def _cell(cell: Term, role: str, world: str) -> str:
    if role == "value":
        return value_text(cell)
    return world if role == "world" else f"{world}_{cell}"


def labels_text(knowledge: Knowledge, labels: Codes, first: int = 0) -> str:
    """Return the labels of worlds as facts: `east(w7)` where true, `sum(w7, 5)` for a number or symbol."""
    names = label_names(knowledge)
    lines = []
    for place, label in enumerate(knowledge.labels):
        for number, code in enumerate(np.asarray(labels)[:, place].tolist(), first):
            world = f"{WORLD}{number}"
            if label.kind != "bool":
                value = value_text(label.values[code] if code >= 0 else ABSENT)
                lines.append(f"{names[label.name]}({world},{value}).")
            elif code >= 0 and label.values[code] is True:
                lines.append(f"{names[label.name]}({world}).")
    return "\n".join(lines) + "\n"


def label_names(knowledge: Knowledge) -> Mapping[str, str]:
    """Return the predicate of each label, none that facts or Prolog itself have."""
    taken = {relation.name for relation in Vocabulary(knowledge.space).relations} | {VIOLATES}
    names: dict[str, str] = {}
    for label in knowledge.labels:
        name = plain_name(label.name)
        while name in taken or any((name, arity) in BUILT_IN or (name, arity) in library() for arity in (1, 2)):
            name = f"label_{name}"
        names[label.name] = name
        taken.add(name)
    return names


def rules_text(knowledge: Knowledge) -> str:
    """Return the labels and the constraints of knowledge as clauses over the facts of worlds.

    >>> from assay.logic.concepts import digits
    >>> print(rules_text(Knowledge.of(digits(["a", "b"]), {"big": "a + b > 9 or a == 7"})), end="")
    big(W) :- a(W,A),b(W,B),A + B > 9.
    big(W) :- a(W,7).
    """
    names = label_names(knowledge)
    texts = [clauses_text(rule_clauses(knowledge, label, names[label.name])) for label in knowledge.labels]
    writer = GoalWriter(Vocabulary(knowledge.space))
    for constraint in knowledge.constraints:
        broken = ("\\+", writer.goal(constraint.formula))
        texts.append(clauses_text([writer.clause((VIOLATES, writer.world, plain_name(constraint.name)), broken)]))
    return "".join(texts)


def clauses_text(clauses: Iterable[Clause]) -> str:
    """Return clauses as text, one a line."""
    return "".join(f"{clause}\n" for clause in clauses)


def rule_clauses(knowledge: Knowledge, label: Label, name: str) -> list[Clause]:
    """Return the clauses of a label: one for each part of an `or`."""
    if isinstance(label.formula, Oracle):
        raise FormulaError(f"label {label.name!r} is a Prolog program already; its text is in the knowledge")
    clauses = []
    if label.kind == "bool":
        for part in label.formula.parts if isinstance(label.formula, Or) else (label.formula,):
            writer = GoalWriter(Vocabulary(knowledge.space))
            clauses.append(writer.clause((name, writer.world), writer.goal(part)))
        return clauses
    writer = GoalWriter(Vocabulary(knowledge.space))
    goals, value = writer.value(label.formula)
    result = Variable()
    link = ("is", result, value) if label.kind == "int" else ("=", result, value)
    return [writer.clause((name, writer.world, result), join_terms([*goals, link], ",", "true"))]
