"""Literals of clauses, about one, two or three objects, or about the world as a whole.

A literal has three equivalent forms: a truth table over values (by which coverage of examples is computed), a
formula, and a predicate of Prolog with its definition over the facts of worlds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as Choice

import numpy as np

from assay.base import Array
from assay.logic import TRUE, AllDifferent, AllEqual, Compare, Const, Formula, Operator, Quantified, Value, Var
from assay.prolog.vocabulary import value_text

Kind = Choice["value", "other", "bound", "compare", "relate", "order", "together", "count"]
Way = Choice["==", "!=", "<", "<=", ">", ">=", "next", "all_different", "all_equal"]
WORLD_ARGUMENT = -1
LETTERS = ("A", "B", "C", "D", "E", "F")
SIGNS: Mapping[str, tuple[str, str]] = {
    "==": ("=:=", "="), "!=": ("=\\=", "\\="), "<": ("<", "@<"), "<=": ("=<", "@=<"), ">": (">", "@>"),
    ">=": (">=", "@>="),
}  # fmt: skip
"""How comparisons are written in Prolog, between numbers and between symbols."""
OPERATORS: Mapping[str, Operator] = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass(frozen=True)
class AttributeTerm:
    """An attribute of an argument, or (argument -1) a concept of the world, with the values that it can have."""

    argument: int
    attribute: str
    relation: str
    values: tuple[Value, ...]

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return all(type(value) is int for value in self.values)

    def of(self, names: Sequence[str]) -> Formula:
        """Return it as a formula, arguments having these names."""
        return Var(self.attribute if self.argument == WORLD_ARGUMENT else f"{names[self.argument]}.{self.attribute}")

    def fact(self, value: str) -> str:
        """Return the Prolog fact that states its value."""
        return f"{self.relation}({LETTERS[max(self.argument, 0)]},{value})"


@dataclass(frozen=True)
class Literal:
    """A literal: a comparison of terms with one another, or of one with a value."""

    name: str
    kind: Kind
    groups: tuple[str, ...]
    terms: tuple[AttributeTerm, ...]
    way: Way
    value: Value = False

    @property
    def arity(self) -> int:
        """The number of objects that it relates; 0 if it is about the world."""
        return len(self.groups)

    @property
    def symmetric(self) -> bool:
        """Whether its arguments may be swapped."""
        same = len({term.attribute for term in self.terms}) == 1 and len(set(self.groups)) == 1
        return same and self.arity > 1 and self.way in ("==", "!=", "all_different", "all_equal")

    def table(self) -> Array:
        """Return its truth for all values of its terms, an axis each, with a last place for absent: never true."""
        shape = tuple(len(term.values) + 1 for term in self.terms)
        truths = np.zeros(shape, dtype=bool)
        for place in np.ndindex(tuple(size - 1 for size in shape)):
            truths[place] = self._holds([term.values[at] for term, at in zip(self.terms, place, strict=True)])
        return truths

    def _holds(self, values: Sequence[Value]) -> bool:
        if self.way == "all_different":
            return len(set(values)) == len(values)
        if self.way == "all_equal":
            return len(set(values)) == 1
        if self.way == "next":
            return int(values[0]) + 1 == values[1]
        left, right = values[0], values[1] if len(values) > 1 else self.value
        if self.way in ("==", "!="):
            return (left == right) == (self.way == "==")
        return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[self.way])  # type: ignore[operator]

    def formula(self, names: Sequence[str] = ()) -> Formula:
        """Return it as a formula, arguments having these names."""
        parts = tuple(term.of(names) for term in self.terms)
        if self.way == "all_different":
            return AllDifferent(parts)
        if self.way == "all_equal":
            return AllEqual(parts)
        if self.way == "next":
            return (parts[0] + 1).eq(parts[1])
        return Compare(OPERATORS[self.way], parts[0], parts[1] if len(parts) > 1 else Const(self.value))

    @property
    def definition(self) -> str:
        """Its definition in Prolog over the facts of worlds."""
        if len(self.terms) == 1 and self.way == "==":
            return f"{self.head()} :- {self.terms[0].fact(value_text(self.value))}."
        goals = [term.fact(f"X{place}") for place, term in enumerate(self.terms)]
        sign = SIGNS.get(self.way, ("", ""))[0 if all(term.numeric for term in self.terms) else 1]
        if self.way == "next":
            goals.append("X1 =:= X0 + 1")
        elif self.way == "all_different":
            goals += [f"X{i} \\= X{j}" for i in range(len(goals)) for j in range(i)]
        elif self.way == "all_equal":
            goals += [f"X{i} = X0" for i in range(1, len(goals))]
        else:
            goals.append(f"X0 {sign} {'X1' if len(goals) > 1 else value_text(self.value)}")
        return f"{self.head()} :- {', '.join(goals)}."

    def head(self, names: Sequence[str] = LETTERS) -> str:
        """Return it as a goal, arguments having these names; of the world the first."""
        return f"{self.name}({','.join(names[: max(self.arity, 1)])})"


TermsAndGroups = tuple[tuple[AttributeTerm, ...], tuple[str, ...]]
"""The terms of a literal and the groups of its arguments."""


@dataclass(frozen=True)
class CountLiteral(Literal):
    """A count: how many objects of a group have a value, or, without a literal, how many there are."""

    counted: Literal | None = None
    group: str = ""
    relation: str = ""

    def formula(self, names: Sequence[str] = ()) -> Formula:
        """Return it as a formula."""
        body = TRUE if self.counted is None else self.counted.formula(["x"])
        return Compare(OPERATORS[self.way], Quantified("count", ("x",), self.group, body), Const(self.value))

    @property
    def definition(self) -> str:
        """Its definition in Prolog."""
        inside = [f"{self.relation}(A,B)"]
        if self.counted is not None:
            inside.append(f"{self.counted.terms[0].relation}(B,{value_text(self.counted.value)})")
        goal = f"({', '.join(inside)})" if len(inside) > 1 else inside[0]
        return f"{self.head()} :- aggregate_all(count, {goal}, N), N {SIGNS[self.way][0]} {self.value}."


def literals_by_terms(literals: Sequence[Literal]) -> dict[TermsAndGroups, list[int]]:
    """Return the numbers of the literals that ask for the same terms, which are looked up together; not of counts."""
    alike: dict[TermsAndGroups, list[int]] = {}
    for number, literal in enumerate(literals):
        if not isinstance(literal, CountLiteral):
            alike.setdefault((literal.terms, literal.groups), []).append(number)
    return alike
