"""Whether a rule is expressible in a bias: it is written as clauses, and each part is looked up among the literals.

Parts are compared by their tables of truth, so that it does not matter how they are written. A "yes" is proved by the
clauses found. A "no" means that the rule as it is written does not fit; an equivalent that does is not ruled out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from assay.base import Array, AssayError
from assay.logic import (
    NUMBER,
    TRUE,
    AllDifferent,
    AllEqual,
    And,
    Compare,
    Concept,
    ConceptSpace,
    Const,
    Formula,
    If,
    Implies,
    Not,
    Or,
    Quantified,
    Value,
    Var,
    evaluate,
    walk,
)
from assay.prolog import AttributeTerm, Bias, CountLiteral

MOST_CLAUSES = 64
MOST_TABLE = 20_000
Key = tuple[tuple[tuple[int, str], ...], bytes]


class Inexpressible(Exception):
    """A part of a rule that the bias has no literals for."""


@dataclass(frozen=True)
class Expressibility:
    """Whether a rule is expressible, in how many clauses, and if not, why."""

    holds: bool
    clauses: int = 0
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"expressible": self.holds, "clauses": self.clauses, "why": self.why}


@dataclass(frozen=True)
class ClauseSketch:
    """The outline of a clause: the groups of its objects by name, and its number of literals."""

    objects: tuple[tuple[str, str], ...] = ()
    literals: int = 0

    def __add__(self, other: "ClauseSketch") -> "ClauseSketch":
        return ClauseSketch((*self.objects, *other.objects), self.literals + other.literals)


def express_rule(
    rule: Formula, bias: Bias, values: Sequence[Value] = (False, True), writer: "ClauseWriter | None" = None
) -> Expressibility:
    """Return whether a rule is expressible in a bias; for a rule that is not true or false, whether each value is.

    >>> from assay.logic.concepts import bits
    >>> express_rule(Var("a") & Var("b"), Bias(bits(["a", "b"]))).holds
    True
    """
    truth = all(isinstance(value, bool) for value in values)
    most = 0
    for goal in [rule] if truth else [rule.eq(value) for value in values]:
        answer = _express(goal, bias, writer or ClauseWriter(bias))
        if not answer.holds:
            return answer
        most = max(most, answer.clauses)
    return Expressibility(True, most)


def _express(rule: Formula, bias: Bias, writer: "ClauseWriter") -> Expressibility:
    language = bias.language
    try:
        clauses = writer.clauses(rule, {}, True)
    except Inexpressible as error:
        return Expressibility(False, why=str(error))
    except AssayError as error:
        return Expressibility(False, why=f"the rule cannot be read as clauses ({error})")
    if len(clauses) > language.clauses:
        return Expressibility(
            False, why=f"it takes {len(clauses)} clauses as it is written, and {language.clauses} are allowed"
        )
    for clause in clauses:
        if len(clause.objects) > language.objects:
            return Expressibility(False, why=f"a clause speaks of {len(clause.objects)} objects")
        if clause.literals > language.literals:
            return Expressibility(False, why=f"a clause takes {clause.literals} literals")
    return Expressibility(True, len(clauses))


class ClauseWriter:
    """Writes a rule as clauses."""

    def __init__(self, bias: Bias) -> None:
        self.bias = bias
        self.space = bias.space

    @cached_property
    def tables(self) -> set[Key]:
        """The table of every literal, its terms in any order."""
        tables = set()
        for literal in self.bias.literals:
            if isinstance(literal, CountLiteral):
                continue
            table = literal.table()[tuple(slice(-1) for _ in literal.terms)]
            for order in permutations(range(len(literal.terms))):
                terms = [literal.terms[place] for place in order]
                tables.add((_pattern([(t.argument, t.attribute) for t in terms]), table.transpose(order).tobytes()))
        return tables

    def clauses(self, rule: Formula, bound: Mapping[str, str], positive: bool) -> list[ClauseSketch]:
        """Return the clauses of a formula, or of its negation."""
        match rule:
            case Not(body):
                return self.clauses(body, bound, not positive)
            case Or(parts) | And(parts):
                parts_as_clauses = [self.clauses(part, bound, positive) for part in parts]
                return _either(parts_as_clauses) if isinstance(rule, Or) == positive else _both(parts_as_clauses)
            case Implies(premise, conclusion):
                return self.clauses(Or((Not(premise), conclusion)), bound, positive)
            case If(condition, then, otherwise) if positive:
                ways = ((condition, then), (Not(condition), otherwise))
                return _either([self.clauses(And(way), bound, True) for way in ways])
            case Quantified("any" | "all", names, group, body) if (rule.quantifier == "any") == positive:
                return self._some(names, group, body, bound, positive)
            case Quantified("any" | "all", (name,), group, body):
                counted = Quantified("count", (name,), group, body if rule.quantifier == "any" else Not(body))
                return self._counted(counted, lambda number: number == 0)
            case Compare(operator, Quantified("count", (_,), _, _) as counted, Const(value)):
                sign = operator if positive else _OPPOSITE[operator]
                return self._counted(counted, lambda number: bool(_SIGNS[sign](number, int(value))))
            case AllDifferent(parts) if positive and len(parts) != 3:
                return _both([self.clauses(a.ne(b), bound, True) for a, b in combinations(parts, 2)])
            case AllEqual(parts) if positive and len(parts) != 3:
                return _both([self.clauses(parts[0].eq(b), bound, True) for b in parts[1:]])
        return self._atom(rule, bound, positive)

    def _some(
        self, names: tuple[str, ...], group: str, body: Formula, bound: Mapping[str, str], positive: bool
    ) -> list[ClauseSketch]:
        """Return clauses of some more objects."""
        inner = {**bound, **dict.fromkeys(names, group)}
        objects = [ClauseSketch(tuple((name, group) for name in names))]
        ordered = []
        if len(names) == 2:
            ordered.append(self._atom(Var(f"{names[0]}.{NUMBER}") < Var(f"{names[1]}.{NUMBER}"), inner, True))
        return _both([objects, *ordered, self.clauses(body, inner, positive)])

    def _counted(self, counted: Quantified, wanted: Any) -> list[ClauseSketch]:
        """Return clauses for a count of objects."""
        name, slots = counted.variables[0], len(self.space.groups[counted.group])
        numbers = [number for number in range(slots + 1) if wanted(number)]
        there = self._table(counted.body, {name: counted.group}) if counted.body != TRUE else None
        ranges: list[list[int]] = []
        for literal in self.bias.literals:
            if isinstance(literal, CountLiteral) and literal.group == counted.group and self._same(literal, there):
                ranges.append(
                    [
                        n
                        for n in range(slots + 1)
                        if (n == literal.value if literal.way == "==" else n >= int(literal.value))
                    ]
                )
        if numbers in ranges:
            return [ClauseSketch((), 1)]
        parts = [range_ for range_ in ranges if set(range_) <= set(numbers)]
        if set().union(*parts) == set(numbers) and numbers:
            least = next(
                size
                for size in range(1, len(parts) + 1)
                if any(set().union(*some) == set(numbers) for some in combinations(parts, size))
            )
            return [ClauseSketch((), 1)] * least
        raise Inexpressible(f"it counts {str(counted)!r}")

    def _same(self, literal: CountLiteral, there: tuple[list[AttributeTerm], Array] | None) -> bool:
        if literal.counted is None or there is None:
            return (literal.counted is None) == (there is None)
        terms, table = there
        if [term.attribute for term in terms] != [literal.counted.terms[0].attribute]:
            return False
        return bool((table == literal.counted.table()[:-1]).all())

    def _atom(self, atom: Formula, bound: Mapping[str, str], positive: bool) -> list[ClauseSketch]:
        """Return clauses for a comparison: a literal, or several of which one holds."""
        terms, table = self._table(atom, bound)
        table = table if positive else ~table
        if table.all() or not table.any():
            return [ClauseSketch()] if table.all() else []
        pattern = _pattern([(term.argument, term.attribute) for term in terms])
        if (pattern, table.tobytes()) in self.tables:
            return [ClauseSketch((), 1)]
        alike = [np.frombuffer(data, dtype=bool).reshape(table.shape) for own, data in self.tables if own == pattern]
        inside = [other for other in alike if not (other & ~table).any()]
        for size in range(2, 4):
            if any((np.logical_or.reduce(some) == table).all() for some in combinations(inside, size)):
                return [ClauseSketch((), 1)] * size
        if int(table.sum()) <= MOST_CLAUSES and all(self._has_values(term) for term in terms):
            return [ClauseSketch((), len(terms))] * int(table.sum())
        raise Inexpressible(f"no literal says {str(atom if positive else Not(atom))!r}")

    def _has_values(self, term: AttributeTerm) -> bool:
        """Return whether there is a literal for each value of a term."""
        pattern, ones = _pattern([(term.argument, term.attribute)]), np.eye(len(term.values), dtype=bool)
        return all((pattern, row.tobytes()) in self.tables for row in ones)

    def _table(self, atom: Formula, bound: Mapping[str, str]) -> tuple[list[AttributeTerm], Array]:
        """Return the terms of a formula and its truth for all their values."""
        names = list(dict.fromkeys(part.name for part in walk(atom) if isinstance(part, Var)))
        terms = [self._term(name, bound) for name in names]
        if not terms or np.prod([float(len(term.values)) for term in terms]) > MOST_TABLE:
            raise Inexpressible(f"no literal says {str(atom)!r}")
        space = ConceptSpace(tuple(Concept(name, term.values) for name, term in zip(names, terms, strict=True)))
        shape = tuple(len(term.values) for term in terms)
        return terms, np.asarray(evaluate(atom, space, space.all_codes()), dtype=bool).reshape(shape)

    def _term(self, name: str, bound: Mapping[str, str]) -> AttributeTerm:
        head, dot, attribute = name.partition(".")
        if not dot or head not in bound:
            return AttributeTerm(-1, name, name, self.space.concept(name).present)
        place = list(bound).index(head)
        slots = self.space.groups[bound[head]]
        if attribute == NUMBER and NUMBER not in slots[0].attributes:
            return AttributeTerm(place, NUMBER, NUMBER, tuple(range(1, len(slots) + 1)))
        values = dict.fromkeys(v for slot in slots for v in self.space.concept(slot.concept(attribute)).present)
        return AttributeTerm(place, attribute, attribute, tuple(values))


_SIGNS = {
    "==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__,
}  # fmt: skip
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _pattern(terms: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return terms with their objects numbered as they come."""
    places: dict[int, int] = {}
    return tuple((place if place < 0 else places.setdefault(place, len(places)), name) for place, name in terms)


def _either(alternatives: Sequence[list[ClauseSketch]]) -> list[ClauseSketch]:
    return _few([clause for clauses in alternatives for clause in clauses])


def _both(factors: Sequence[list[ClauseSketch]]) -> list[ClauseSketch]:
    joined = [ClauseSketch()]
    for clauses in factors:
        joined = _few([left + right for left, right in product(joined, clauses)])
    return joined


def _few(clauses: list[ClauseSketch]) -> list[ClauseSketch]:
    if len(clauses) > MOST_CLAUSES:
        raise Inexpressible(f"it takes more than {MOST_CLAUSES} clauses as it is written")
    return clauses
