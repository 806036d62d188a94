"""Knowledge and worlds as Prolog: facts for worlds, clauses for labels and constraints, goals for formulas."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from assay.base import Codes, FormulaError
from assay.logic import (
    ABSENT,
    ABSENT_NUMBER,
    NUMBER,
    AllDifferent,
    AllEqual,
    And,
    Compare,
    Concept,
    Const,
    Count,
    Divide,
    Formula,
    Function,
    If,
    Iff,
    Implies,
    Knowledge,
    Label,
    Member,
    Minus,
    Not,
    Operator,
    Or,
    Oracle,
    Product,
    Quantified,
    Slot,
    Sum,
    Value,
    Var,
    Xor,
    kind_of_value,
)
from assay.prolog.program import BUILT_IN, library
from assay.prolog.reader import Clause
from assay.prolog.terms import Term, Variable, as_list, join_terms
from assay.prolog.vocabulary import WORLD, Vocabulary, What, atom_of, plain_name, value_text

VIOLATES = "violates"
ROLES: Mapping[What, tuple[str, str]] = {
    "has": ("world", "object"), "number": ("object", "value"), "before": ("object", "object"),
    "attribute": ("object", "value"), "concept": ("world", "value"),
}  # fmt: skip
"""What the arguments of a fact are. Their types do not tell: an attribute may be called as a kind of object is."""
Goals = list[Term]
SIGNS = {"==": "=:=", "!=": "=\\=", "<": "<", "<=": "=<", ">": ">", ">=": ">="}


def facts_text(vocabulary: Vocabulary, codes: Codes, first: int = 0) -> str:
    """Return worlds as facts, predicate by predicate; world 7 is `w7`, its objects are `w7_car1` and so on.

    Parameters
    ----------
    vocabulary
        The predicates of the worlds' space.
    codes
        A row a world.
    first
        The number of the first world.
    """
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
    """Return the labels of worlds as facts: `east(w7)` where true, `sum(w7, 5)` for a number or symbol.

    Parameters
    ----------
    knowledge
        The labels and their values.
    labels
        A row a world, a column a label; -1 for a value that is not known.
    first
        The number of the first world.
    """
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


class GoalWriter:
    """Turns formulas into goals about one world."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.space = vocabulary.space
        self.world = Variable()
        self.bound: dict[str, tuple[Variable, str]] = {}

    def clause(self, head: Term, body: Term) -> Clause:
        """Return a clause in which the world is `W`."""
        return Clause(head, body, 0, {id(self.world): "W"})

    def goal(self, formula: Formula) -> Term:
        """Return a goal that holds where the formula does."""
        match formula:
            case Const(value):
                return "true" if value else "fail"
            case Var():
                return _all([*self.fetch(formula, "true")])
            case Not(body):
                return ("\\+", self.goal(body))
            case And(parts):
                return _all([self.goal(part) for part in parts])
            case Or(parts):
                return join_terms([self.goal(part) for part in parts], ";", "fail")
            case Implies(premise, conclusion):
                return (";", ("\\+", self.goal(premise)), self.goal(conclusion))
            case Iff(left, right):
                return self.same([left, right], different=False)
            case Xor(parts):
                goals, terms = self.numbers(parts)
                return _all([*goals, ("=:=", ("mod", _total(terms), 2), 1)])
            case Compare(operator, left, right):
                return self.comparison(operator, left, right)
            case AllEqual(parts):
                return self.same(parts, different=False)
            case AllDifferent(parts):
                return self.same(parts, different=True)
            case Member(terms, rows):
                return self.member(terms, rows)
            case If(condition, then, otherwise):
                return (";", ("->", self.goal(condition), self.goal(then)), self.goal(otherwise))
            case Quantified():
                return self.quantification(formula)
        raise FormulaError(f"{formula} is not true or false, so it is no goal")

    # concepts

    def fetch(self, variable: Var, value: Term) -> Goals:
        """Return the goals that say that a concept has this value; they fail if its object is absent."""
        head, _, attribute = variable.name.partition(".")
        if head in self.bound:
            thing, group = self.bound[head]
            if attribute == NUMBER and attribute not in self.space.groups[group][0].attributes:
                return [(self.vocabulary.relation("number", group).name, thing, value)]
            return [(self.vocabulary.relation("attribute", group, attribute).name, thing, value)]
        slot = self._slot(variable.name)
        if slot is None:
            return [(self.vocabulary.relation("concept", attribute=variable.name).name, self.world, value)]
        thing, number = Variable(), self.space.groups[slot.group].index(slot) + 1
        names = [self.vocabulary.relation(what, slot.group).name for what in ("has", "number")]
        own = self.vocabulary.relation("attribute", slot.group, variable.name[len(slot.name) + 1 :]).name
        return [(names[0], self.world, thing), (names[1], thing, number), (own, thing, value)]

    def _slot(self, name: str) -> Slot | None:
        return next((slot for slot in self.space.slots if name in slot.concepts), None)

    def concept(self, variable: Var) -> Concept | None:
        """Return the concept of a variable, that of the first slot for a bound one; None for a slot's number."""
        head, _, attribute = variable.name.partition(".")
        if head not in self.bound:
            return self.space.concept(variable.name)
        slots = self.space.groups[self.bound[head][1]]
        having = [slot for slot in slots if attribute in slot.attributes]
        return self.space.concept(having[0].concept(attribute)) if having else None

    def kind(self, formula: Formula) -> str:
        """Return whether a formula is a truth value, a number or a symbol."""
        match formula:
            case Var():
                concept = self.concept(formula)
                return "int" if concept is None else concept.kind
            case Const(value):
                return kind_of_value(value)
            case If(_, then, otherwise):
                kinds = {self.kind(then), self.kind(otherwise)}
                return kinds.pop() if len(kinds) == 1 else "symbol" if "symbol" in kinds else "int"
            case Sum() | Minus() | Product() | Divide() | Function() | Count():
                return "int"
            case Quantified("count"):
                return "int"
        return "bool"

    # comparisons

    def comparison(self, operator: Operator, left: Formula, right: Formula) -> Term:
        """Return a goal that compares two sides."""
        fixed = isinstance(right, Const) and right.value != ABSENT and self.kind(left) == self.kind(right)
        if operator in ("==", "!=") and isinstance(left, Var) and isinstance(right, Const) and fixed:
            fact = _all(self.fetch(left, atom_of(right.value)))
            return fact if operator == "==" else ("\\+", fact)
        if operator in ("==", "!="):
            return self.same([left, right], different=operator == "!=")
        goals, (first, second) = self.numbers([left, right])
        return _all([*goals, (SIGNS[operator], first, second)])

    def same(self, parts: Sequence[Formula], different: bool) -> Term:
        """Return a goal that says that parts are all equal, or all different."""
        symbols = any(self.kind(part) == "symbol" and part != Const(ABSENT) for part in parts)
        goals, terms = self.symbols(parts) if symbols else self.numbers(parts)
        sign = ("\\==" if symbols else "=\\=") if different else ("==" if symbols else "=:=")
        pairs = [
            (a, b) for at, a in enumerate(terms) for b in (terms[at + 1 :] if different else terms[at + 1 : at + 2])
        ]
        return _all([*goals, *((sign, a, b) for a, b in pairs)])

    def member(self, terms: Sequence[Formula], rows: Sequence[tuple[Value, ...]]) -> Term:
        """Return a goal that looks values up in a list of rows."""
        goals, variables = Goals(), list[Term]()
        numeric = [self.kind(term) != "symbol" for term in terms]
        for term, is_number in zip(terms, numeric, strict=True):
            more, (value,) = self.numbers([term]) if is_number else self.symbols([term])
            variable = Variable()
            goals += [*more, ("is", variable, value) if is_number else ("=", variable, value)]
            variables.append(variable)
        cells = [[_number(v) if n else atom_of(v) for v, n in zip(row, numeric, strict=True)] for row in rows]
        if len(terms) == 1:
            return _all([*goals, ("memberchk", variables[0], as_list(row[0] for row in cells))])
        return _all([*goals, ("memberchk", ("row", *variables), as_list(("row", *row) for row in cells))])

    # values

    def symbols(self, parts: Sequence[Formula]) -> tuple[Goals, list[Term]]:
        """Return goals after which these terms are the parts' symbols; `absent` is one."""
        goals, terms = Goals(), list[Term]()
        for part in parts:
            match part:
                case Const(value):
                    terms.append(atom_of(value))
                case Var():
                    value_term = Variable()
                    goals += self._or_absent(part, value_term, ABSENT)
                    terms.append(value_term)
                case If(condition, then, otherwise):
                    goals.append(
                        self._chosen(
                            condition, self.symbols([then]), self.symbols([otherwise]), value_term := Variable()
                        )
                    )
                    terms.append(value_term)
                case _:
                    raise FormulaError(f"{part} is no symbol")
        return goals, terms

    def _or_absent(self, variable: Var, value: Variable, absent: Term) -> Goals:
        concept, fetched = self.concept(variable), self.fetch(variable, value)
        if concept is None or not concept.optional or variable.name.partition(".")[0] in self.bound:
            return fetched
        return [(";", ("->", _all(fetched), "true"), ("=", value, absent))]

    def _chosen(
        self, condition: Formula, then: tuple[Goals, list[Term]], other: tuple[Goals, list[Term]], value: Variable
    ) -> Term:
        first = _all([*then[0], ("=", value, then[1][0])])
        second = _all([*other[0], ("=", value, other[1][0])])
        return (";", ("->", self.goal(condition), first), second)

    def value(self, formula: Formula) -> tuple[Goals, Term]:
        """Return goals after which a term is the formula's value."""
        goals, (term,) = self.symbols([formula]) if self.kind(formula) == "symbol" else self.numbers([formula])
        return goals, term

    def numbers(self, parts: Sequence[Formula]) -> tuple[Goals, list[Term]]:
        """Return goals after which these terms are the parts' numbers; truth values are 1 and 0."""
        goals, terms = Goals(), list[Term]()
        for part in parts:
            more, term = self._numeric(part)
            goals += more
            terms.append(term)
        return goals, terms

    def _numeric(self, part: Formula) -> tuple[Goals, Term]:
        match part:
            case Const(value):
                return [], _number(value)
            case Var() if self.kind(part) == "int":
                result = Variable()
                return self._or_absent(part, result, ABSENT_NUMBER), result
            case Var() if (concept := self.concept(part)) is not None and concept.optional:
                result = Variable()
                true, false = (_all(self.fetch(part, value)) for value in ("true", "false"))
                no = (";", ("->", false, ("=", result, 0)), ("=", result, ABSENT_NUMBER))
                return [(";", ("->", true, ("=", result, 1)), no)], result
            case Quantified("count"):
                result = Variable()
                return [("aggregate_all", "count", self._each(part), result)], result
            case Count(parts):
                goals, terms = self.numbers(parts)
                return goals, _total(terms)
            case If(condition, then, otherwise):
                result = Variable()
                return [self._chosen(condition, self.numbers([then]), self.numbers([otherwise]), result)], result
        return self._arithmetic(part) if self.kind(part) == "int" else self._truth(part)

    def _truth(self, part: Formula) -> tuple[Goals, Term]:
        result = Variable()
        return [(";", ("->", self.goal(part), ("=", result, 1)), ("=", result, 0))], result

    def _arithmetic(self, part: Formula) -> tuple[Goals, Term]:
        match part:
            case Sum(terms):
                goals, numbers = self.numbers(terms)
                return goals, _total(numbers)
            case Minus(body):
                goals, (number,) = self.numbers([body])
                return goals, ("-", number)
            case Product(factors):
                goals, numbers = self.numbers(factors)
                return goals, _chain("*", numbers)
            case Divide(operator, left, right):
                goals, (first, second) = self.numbers([left, right])
                return goals, ("div" if operator == "//" else "mod", first, second)
            case Function(name, arguments):
                goals, numbers = self.numbers(arguments)
                if name == "abs":
                    return goals, ("abs", numbers[0])
                return goals, _chain("^" if name == "pow" else name, numbers)
        raise FormulaError(f"{part} cannot be written in Prolog")

    # quantifiers

    def quantification(self, formula: Quantified) -> Term:
        """Return a goal over the objects that are there."""
        ranges, body = self._ranges(formula)
        if formula.quantifier == "all":
            return ("forall", _all(ranges), body)
        return _all([*ranges, body])

    def _each(self, formula: Quantified) -> Term:
        ranges, body = self._ranges(formula)
        return _all([*ranges, ("once", body)])

    def _ranges(self, formula: Quantified) -> tuple[Goals, Term]:
        has = self.vocabulary.relation("has", formula.group).name
        before, things = dict(self.bound), [Variable() for _ in formula.variables]
        ranges: Goals = [(has, self.world, thing) for thing in things]
        if len(things) == 2:
            number, (first, second) = self.vocabulary.relation("number", formula.group).name, (Variable(), Variable())
            ranges += [(number, things[0], first), (number, things[1], second), ("<", first, second)]
        self.bound |= {name: (thing, formula.group) for name, thing in zip(formula.variables, things, strict=True)}
        body = self.goal(formula.body)
        self.bound = before
        return ranges, body


def _all(goals: Goals) -> Term:
    """Return the conjunction of goals."""
    return join_terms(goals, ",", "true")


def _number(value: Value) -> int:
    return ABSENT_NUMBER if value == ABSENT else int(value)


def _total(terms: Sequence[Term]) -> Term:
    return _chain("+", terms) if terms else 0


def _chain(operator: str, terms: Sequence[Term]) -> Term:
    chained = terms[0]
    for term in terms[1:]:
        chained = (operator, chained, term)
    return chained
