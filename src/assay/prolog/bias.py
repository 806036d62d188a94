"""The declared bias: which literals clauses may be made of, and how large clauses get. The same for every learner.

It is generated from a space alone. Of the objects of each group of slots, a clause may say that an attribute has a
value or another than one, bounds of numbers, comparisons of attributes that have the same values or are numbers (of one
object or of two), the order of two objects, that three of them are all different or all equal in an attribute, and how
many objects have a value. Of concepts that belong to no slot it may say the same without objects.

A literal has three equivalent forms: a truth table over values (by which coverage of examples is computed), a formula,
and a predicate of Prolog with its definition over the facts of worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Literal as Choice

import numpy as np
from pydantic import Field

from assay.base import Array, Config
from assay.logic import (
    NUMBER,
    TRUE,
    AllDifferent,
    AllEqual,
    Compare,
    ConceptSpace,
    Const,
    Formula,
    Operator,
    Quantified,
    Value,
    Var,
    kind_of_value,
)
from assay.prolog.vocabulary import Relation, Vocabulary, plain_name, unused_name, value_text

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
MOST_PAIRS = 400
"""Of more pairs of concepts than these none is compared."""
MOST_VALUES = 12
"""No literal says of attributes with more values that three objects differ in them."""
WAYS: dict[Way, str] = {
    "==": "is", "!=": "not", "<": "less", ">": "more", "<=": "at_most", ">=": "at_least",
}  # fmt: skip


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


class Language(Config):
    """Which literals are declared, and how large clauses may get."""

    literals: int = Field(4, ge=1, le=8)
    """The most literals of a clause, not counting those that introduce objects."""
    objects: int = Field(3, ge=0, le=3)
    """The most objects in a clause."""
    clauses: int = Field(10, ge=1)
    """The most clauses of a program."""
    others: bool = True
    """Whether a clause may say that an attribute differs from a value, or that a number is within a bound."""
    comparisons: bool = True
    """Whether attributes may be compared with one another."""
    order: bool = True
    """Whether a clause may say that an object comes before another, or right before it, and use its number."""
    triples: bool = True
    """Whether a clause may say that three objects are all different, or all equal, in an attribute."""
    counts: int = Field(3, ge=0, le=9)
    """Up to which number objects are counted; 0: they are not."""


@dataclass(frozen=True)
class Bias:
    """The literals that clauses may have, for one space."""

    space: ConceptSpace
    language: Language = field(default_factory=lambda: Language.model_validate({}))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The facts of worlds, in Prolog."""
        return Vocabulary(self.space)

    @cached_property
    def literals(self) -> tuple[Literal, ...]:
        """All literals, each with a name of its own."""
        names = {relation.name for relation in self.vocabulary.relations}
        literals = []
        for literal in self._drawn_up():
            literals.append(_renamed(literal, unused_name(literal.name, names)))
            names.add(literals[-1].name)
        return tuple(literals)

    @cached_property
    def by_name(self) -> dict[str, Literal]:
        """The literals by the names of their predicates."""
        return {literal.name: literal for literal in self.literals}

    @cached_property
    def structures(self) -> tuple[tuple[str, ...], ...]:
        """The groups of the objects that a clause may contain, few first."""
        groups, most = list(self.space.groups), self.language.objects
        return tuple(chosen for size in range(most + 1) for chosen in combinations_with_replacement(groups, size))

    def count(self, kind: Kind) -> int:
        """Return how many literals there are of a kind."""
        return sum(literal.kind == kind for literal in self.literals)

    def _drawn_up(self) -> Iterator[Literal]:
        plain = [self._term(r, WORLD_ARGUMENT) for r in self.vocabulary.relations if r.what == "concept"]
        yield from self._of_terms(plain, ())
        if self.language.comparisons and len(plain) ** 2 <= 2 * MOST_PAIRS:
            yield from self._compared(list(combinations(plain, 2)), (), "compare")
        for group in self.space.groups:
            yield from self._of_group(group)
        if self.language.comparisons and self.language.objects > 1:
            for first, second in combinations(self.space.groups, 2):
                pairs = [(a, _moved(b, 1)) for a in self._attributes(first) for b in self._attributes(second)]
                yield from self._compared(pairs, (first, second), "relate")

    def _of_group(self, group: str) -> Iterator[Literal]:
        own = self._attributes(group)
        yield from self._of_terms(own, (group,))
        if self.language.comparisons and len(own) ** 2 <= 2 * MOST_PAIRS:
            yield from self._compared(list(combinations(own, 2)), (group,), "compare")
        if len(self.space.groups[group]) > 1 and self.language.objects > 1:
            yield from self._of_two(group, own)
        if self.language.triples and len(self.space.groups[group]) > 2 and self.language.objects > 2:
            yield from self._of_three(group, own)
        if self.language.counts:
            yield from self._counted(group, own)

    def _attributes(self, group: str) -> list[AttributeTerm]:
        """Return the attributes that all objects of a group have, and their place unless that is one."""
        slots = self.space.groups[group]
        terms = []
        for relation in self.vocabulary.relations:
            if relation.group != group or relation.what not in ("attribute", "number"):
                continue
            if relation.what == "attribute" and all(relation.attribute in slot.attributes for slot in slots):
                terms.append(self._term(relation, 0))
            if relation.what == "number" and self.language.order and self._numbered(group):
                terms.append(AttributeTerm(0, NUMBER, relation.name, tuple(range(1, len(slots) + 1))))
        return terms

    def _numbered(self, group: str) -> bool:
        slots = self.space.groups[group]
        return len(slots) > 1 and all(NUMBER not in slot.attributes for slot in slots)

    def _term(self, relation: Relation, argument: int) -> AttributeTerm:
        return AttributeTerm(argument, relation.attribute, relation.name, relation.values)

    def _of_terms(self, terms: Sequence[AttributeTerm], groups: tuple[str, ...]) -> Iterator[Literal]:
        for term in terms:
            for value in term.values:
                yield Literal(_name(term, value), "value", groups, (term,), "==", value)
            if not self.language.others or len(term.values) < 3:
                continue
            if not term.numeric:
                for value in term.values:
                    yield Literal(_name(term, "not", value), "other", groups, (term,), "!=", value)
                continue
            ranked = sorted(int(value) for value in term.values)
            for low, high in pairwise(ranked):
                if low != ranked[0]:
                    yield Literal(_name(term, "at_most", low), "bound", groups, (term,), "<=", low)
                if high != ranked[-1]:
                    yield Literal(_name(term, "at_least", high), "bound", groups, (term,), ">=", high)

    def _compared(
        self, pairs: Sequence[tuple[AttributeTerm, AttributeTerm]], groups: tuple[str, ...], kind: Kind
    ) -> Iterator[Literal]:
        for left, right in pairs:
            for way in _ways(left, right):
                name = "_".join([left.relation, WAYS[way], right.relation])
                yield Literal(plain_name(name), kind, groups, (left, right), way)

    def _of_two(self, group: str, own: Sequence[AttributeTerm]) -> Iterator[Literal]:
        groups = (group, group)
        number = next((term for term in own if term.attribute == NUMBER), None)
        if number is not None:
            kind = self.vocabulary.kinds[group]
            both = (number, _moved(number, 1))
            yield Literal(f"{kind}_before", "order", groups, both, "<")
            yield Literal(f"{kind}_right_before", "order", groups, both, "next")
        if not self.language.comparisons:
            return
        for left in own:
            if left.attribute == NUMBER:
                continue
            right = _moved(left, 1)
            yield Literal(f"same_{left.relation}", "relate", groups, (left, right), "==")
            yield Literal(f"different_{left.relation}", "relate", groups, (left, right), "!=")
            if left.numeric and len(left.values) > 1:
                yield Literal(f"less_{left.relation}", "relate", groups, (left, right), "<")
        pairs = [(left, _moved(right, 1)) for left, right in combinations(own, 2)]
        if len(pairs) <= MOST_PAIRS:
            for literal in self._compared(pairs, groups, "relate"):
                if literal.way in ("==", "<", ">"):
                    yield _renamed(literal, f"{literal.name}_of")

    def _of_three(self, group: str, own: Sequence[AttributeTerm]) -> Iterator[Literal]:
        for term in own:
            if term.attribute == NUMBER or len(term.values) > MOST_VALUES:
                continue
            three = tuple(_moved(term, place) for place in range(3))
            if len(term.values) > 2:
                yield Literal(f"all_different_{term.relation}", "together", (group,) * 3, three, "all_different")
            yield Literal(f"all_same_{term.relation}", "together", (group,) * 3, three, "all_equal")

    def _counted(self, group: str, own: Sequence[AttributeTerm]) -> Iterator[Literal]:
        slots = self.space.groups[group]
        has, kind = self.vocabulary.relation("has", group).name, self.vocabulary.kinds[group]
        most = min(self.language.counts, len(slots))
        if any(self.space.concept(slot.concepts[0]).optional for slot in slots):
            for number in range(1, len(slots) + 1):
                yield CountLiteral(f"{kind}s_at_least_{number}", "count", (), (), ">=", number, None, group, has)
                yield CountLiteral(f"{kind}s_exactly_{number}", "count", (), (), "==", number, None, group, has)
        for term in own:
            for value in term.values if term.attribute != NUMBER else ():
                literal = Literal(_name(term, value), "value", (group,), (term,), "==", value)
                for number in range(most + 1):
                    name = f"{_name(term, value)}_count_{number}"
                    yield CountLiteral(name, "count", (), (), "==", number, literal, group, has)
                for number in range(2, most + 1):
                    name = f"{_name(term, value)}_count_at_least_{number}"
                    yield CountLiteral(name, "count", (), (), ">=", number, literal, group, has)


def _name(term: AttributeTerm, *words: Value) -> str:
    return plain_name("_".join([term.relation, *(str(word).replace("-", "minus_") for word in words)]).lower())


def _moved(term: AttributeTerm, argument: int) -> AttributeTerm:
    return AttributeTerm(argument, term.attribute, term.relation, term.values)


def _ways(left: AttributeTerm, right: AttributeTerm) -> tuple[Way, ...]:
    """Return the ways in which two terms can be compared."""
    if left.numeric and right.numeric:
        mine, theirs = [int(value) for value in left.values], [int(value) for value in right.values]
        return ("==", "!=", "<", ">") if max(min(mine), min(theirs)) <= min(max(mine), max(theirs)) else ()
    same = {kind_of_value(v) for v in (*left.values, *right.values)}
    shared = {(type(v), v) for v in left.values} == {(type(v), v) for v in right.values}
    return ("==", "!=") if len(same) == 1 and shared else ()


def _renamed(literal: Literal, name: str) -> Literal:
    return literal if literal.name == name else replace(literal, name=name)
