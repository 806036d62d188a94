"""Random small spaces, random formulas that fit them, and a slow plain reading of what a formula means."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from assay.base import Codes, rng_for
from assay.logic import (
    ABSENT,
    AllDifferent,
    AllEqual,
    And,
    Compare,
    Concept,
    ConceptSpace,
    Const,
    Count,
    Divide,
    Formula,
    Function,
    If,
    Iff,
    Implies,
    Member,
    Minus,
    Not,
    Or,
    Product,
    Quantified,
    Slot,
    Sum,
    Value,
    Var,
    Xor,
    product,
    shape_of,
    total,
)

NODES = [kind for kind in Formula.__subclasses__() if kind.__module__ == Formula.__module__]
"""Every kind of node."""
CASES = 200
MOST_WORLDS = 400
TRUTHS = ((False, True), (True, False), (True,))
NUMBERS = ((0, 1, 2), (-2, 0, 3), (-1, 4), (7,), (0, 10), (3, -5, 1))
SYMBOLS = (("red", "green"), ("blue", "red", "green"), ("red",), ("it's", "red"))
VARIABLES = ("x", "y", "o", "p")  # x and y are names of slots too: a bound name must hide them
SIGNS = ("==", "!=", "<", "<=", ">", ">=")

Rng = np.random.Generator


@dataclass(frozen=True)
class Scope:
    """The names that may be used here, each with the concept that tells its values."""

    space: ConceptSpace
    names: Mapping[str, Concept]

    def having(self, kind: str, optional: bool | None = None) -> list[Formula]:
        """Return the variables of a kind, those that may be absent or those that may not."""
        fit = [name for name, concept in self.names.items() if concept.kind == kind]
        return [Var(name) for name in fit if optional in (None, self.names[name].optional)]

    def values(self, variable: Formula) -> tuple[Value, ...]:
        """Return the values of a variable."""
        return self.names[variable.name].values if isinstance(variable, Var) else ("red",)


# -- spaces ------------------------------------------------------------------------------------------------------------


def random_space(rng: Rng) -> ConceptSpace:
    """Return a space with a concept of each kind, and most often slots, in few enough worlds to look at each."""
    plain = [("b", TRUTHS[:2]), ("c", TRUTHS), ("n", NUMBERS), ("m", NUMBERS), ("s", SYMBOLS)]
    while True:
        names = [plain[place] for place in sorted(rng.permutation(len(plain))[: rng.integers(2, 6)])]
        concepts = [Concept(name, pick(rng, values)) for name, values in names]
        slots, inside = random_slots(rng) if rng.random() < 0.7 else ([], [])
        if prod(len(concept.values) for concept in [*concepts, *inside]) <= MOST_WORLDS:
            return ConceptSpace((*concepts, *inside), tuple(slots))


def random_slots(rng: Rng) -> tuple[list[Slot], list[Concept]]:
    """Return one to three like objects, which may be absent or not."""
    empty = (ABSENT,) if rng.random() < 0.7 else ()
    offered = {"size": NUMBERS, "flag": TRUTHS, "hue": SYMBOLS}
    names = rng.permutation(list(offered))[: rng.integers(1, 4)].tolist()
    attributes = {name: (*pick(rng, offered[name]), *empty) for name in names}
    slots = [Slot(name, "things", tuple(names)) for name in ("x", "y", "z")[: rng.integers(1, 4)]]
    return slots, [Concept(s.concept(name), values) for s in slots for name, values in attributes.items()]


# -- formulas ----------------------------------------------------------------------------------------------------------


def pick(rng: Rng, options: Sequence[Any]) -> Any:
    """Return one of these."""
    return options[int(rng.integers(len(options)))]


def several(rng: Rng, make: Callable[..., Formula], scope: Scope, depth: int, least: int = 0) -> tuple[Formula, ...]:
    """Return a few parts."""
    return tuple(make(rng, scope, depth) for _ in range(rng.integers(least, least + 3)))


def truth(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return a formula that is true or false."""
    if depth <= 0:
        return pick(rng, scope.having("bool") * 3 + [Const(True), Const(False)])
    return pick(rng, [connective, connective, comparison, comparison, membership, quantified, truth])(
        rng, scope, depth - 1
    )


def connective(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return truths joined to a truth."""
    one, other, third = (truth(rng, scope, depth) for _ in range(3))
    many = several(rng, truth, scope, depth, least=2)
    made = [Not(one), And(many), Or(many), Xor(many[1:]), Implies(one, other), Iff(one, other)]
    return pick(rng, [*made, If(one, other, third)])


def comparison(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return two or more things compared."""
    words = scope.having("symbol")
    if words and rng.random() < 0.4:
        word = symbol(rng, scope, depth)
        other = Const(pick(rng, scope.values(word))) if rng.random() < 0.5 else symbol(rng, scope, depth)
        alike = several(rng, symbol, scope, depth)
        return pick(rng, [Compare(pick(rng, SIGNS[:2]), word, other), AllEqual(alike), AllDifferent(alike)])
    sign = pick(rng, SIGNS)
    one, other = ((maybe if sign in SIGNS[:2] else number)(rng, scope, depth) for _ in range(2))
    optional = scope.having("int", True) + scope.having("bool", True)
    if optional and rng.random() < 0.2:
        one, other = pick(rng, optional), Const(ABSENT)
        return Compare(pick(rng, SIGNS[:2]), *((one, other) if rng.random() < 0.5 else (other, one)))
    alike = several(rng, maybe, scope, depth)
    return pick(rng, [Compare(sign, one, other)] * 3 + [AllEqual(alike), AllDifferent(alike)])


def membership(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return "these are among the listed rows"."""
    terms, columns = [], []
    for _ in range(rng.integers(1, 4)):
        if scope.having("symbol") and rng.random() < 0.4:
            terms.append(pick(rng, scope.having("symbol")))
            columns.append(scope.values(terms[-1]))
        else:
            terms.append(maybe(rng, scope, depth))
            columns.append((-2, 0, 1, 3, True))
    rows = [tuple(pick(rng, column) for column in columns) for _ in range(rng.integers(0, 5))]
    return Member(tuple(terms), tuple(rows))


def quantified(rng: Rng, scope: Scope, depth: int, counted: bool = False) -> Formula:
    """Return any, all or count over slots or pairs of them; a comparison where there are no slots."""
    if not scope.space.slots:
        return Count(several(rng, truth, scope, depth)) if counted else comparison(rng, scope, depth)
    variables = tuple(rng.permutation(VARIABLES)[: rng.integers(1, 3)].tolist())
    slot = scope.space.slots[0]
    held = {a: scope.space.concept(slot.concept(a)) for a in slot.attributes}
    bound = {f"{name}.{a}": replace(c, values=c.present) for name in variables for a, c in held.items()}
    inner = replace(scope, names={**scope.names, **bound})
    return Quantified("count" if counted else pick(rng, ["any", "all"]), variables, "things", truth(rng, inner, depth))


def number(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return a formula that is a number, never absent; truth values count as 0 and 1."""
    if depth <= 0:
        known = scope.having("int", False) * 3 + scope.having("bool", False)
        return pick(rng, [*known, Const(int(rng.integers(-3, 5)))])
    depth -= 1
    kind = pick(rng, ["total", "product", "negative", "divide", "function", "pow", "count", "slots", "if", "truth"])
    parts = several(rng, number, scope, depth, least=2)
    if kind in ("total", "product", "negative"):
        return -parts[0] if kind == "negative" else {"total": total, "product": product}[kind](*parts)
    if kind == "divide":
        divisor = pick(rng, [Const(3), Const(-2), Function("abs", parts[:1]) + 1])
        return Divide(pick(rng, ["//", "%"]), parts[1], divisor)
    if kind == "function":
        name = pick(rng, ["abs", "min", "max"])
        return Function(name, parts[:1] if name == "abs" else parts)
    if kind == "pow":
        return Function("pow", (parts[0], pick(rng, [Const(2), Const(3), Count((truth(rng, scope, depth),))])))
    if kind in ("count", "slots"):
        return quantified(rng, scope, depth, counted=True) if kind == "slots" else Count(several(rng, truth, scope, 1))
    return If(truth(rng, scope, depth), *parts[:2]) if kind == "if" else comparison(rng, scope, depth)


def maybe(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return a number that may be absent."""
    optional = scope.having("int", True) + scope.having("bool", True)
    if not optional or rng.random() < 0.6:
        return number(rng, scope, depth)
    chosen = pick(rng, optional)
    return If(truth(rng, scope, depth), chosen, number(rng, scope, depth)) if rng.random() < 0.2 else chosen


def symbol(rng: Rng, scope: Scope, depth: int) -> Formula:
    """Return a symbol, which may be absent; every concept of symbols can be red, so any two can be compared."""
    words = scope.having("symbol")
    if depth <= 0 or rng.random() < 0.7:
        return pick(rng, words)
    return If(truth(rng, scope, depth - 1), pick(rng, words), pick(rng, [*words, Const("green"), Const("pink")]))


# -- cases -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A formula on a space, all worlds of the space, and the value of the formula in each."""

    space: ConceptSpace
    formula: Formula
    codes: Codes
    values: list[Value]


@cache
def case(place: int) -> Case:
    """Return one of the random cases: a truth, a number or a symbol, with its values by the plain reading."""
    rng = rng_for(11, "formulas", place)
    space = random_space(rng)
    scope = Scope(space, {concept.name: concept for concept in space.concepts})
    kinds = [truth, truth, truth, number, number, *([symbol] if scope.having("symbol") else [])]
    make = pick(rng, kinds)
    return case_of(space, make(rng, scope, int(rng.integers(1, 6))))


def case_of(space: ConceptSpace, formula: Formula) -> Case:
    """Return a formula with its value in every world of a space."""
    codes = space.all_codes()
    found = [meaning(formula, space.decode(row), space) for row in codes]
    plain = {"bool": lambda value: value is True, "int": int, "symbol": str}[shape_of(formula, space).kind]
    if plain is int:  # a number that may be absent
        return Case(space, formula, codes, [value if value == ABSENT else int(value) for value in found])
    return Case(space, formula, codes, [plain(value) for value in found])


# -- what a formula means ----------------------------------------------------------------------------------------------


def meaning(formula: Formula, row: Mapping[str, Value], space: ConceptSpace, bound: Mapping[str, Slot] = {}) -> Value:
    """Return the value in one world, read off the definitions one by one."""

    def of(part: Formula) -> Value:
        return meaning(part, row, space, bound)

    def holds(part: Formula) -> bool:
        return of(part) is True  # an absent truth value is not true

    match formula:
        case Const(value):
            return value
        case Var(name):
            head, _, attribute = name.partition(".")
            return row[bound[head].concept(attribute) if head in bound else name]
        case Not(body):
            return not holds(body)
        case And(parts):
            return all(holds(part) for part in parts)
        case Or(parts):
            return any(holds(part) for part in parts)
        case Xor(parts):
            return sum(holds(part) for part in parts) % 2 == 1
        case Implies(premise, conclusion):
            return holds(conclusion) if holds(premise) else True
        case Iff(left, right):
            return holds(left) == holds(right)
        case Count(parts):
            return sum(holds(part) for part in parts)
        case If(condition, then, otherwise):
            return of(then) if holds(condition) else of(otherwise)
        case Compare(operator, left, right):
            return compared(operator, of(left), of(right))
        case AllEqual(parts):
            return all(same(of(one), of(other)) for one, other in combinations(parts, 2))
        case AllDifferent(parts):
            return not any(same(of(one), of(other)) for one, other in combinations(parts, 2))
        case Member(terms, rows):
            return any(all(same(of(t), value) for t, value in zip(terms, cells, strict=True)) for cells in rows)
        case Quantified(quantifier, variables, group, body):
            there = [s for s in space.slots if s.group == group and row[s.concepts[0]] != ABSENT]
            chosen = [dict(zip(variables, slots, strict=True)) for slots in combinations(there, len(variables))]
            found = [meaning(body, row, space, {**bound, **names}) is True for names in chosen]
            return {"any": any, "all": all, "count": sum}[quantifier](found)
    return arithmetic(formula, of)


def arithmetic(formula: Formula, of: Callable[[Formula], Value]) -> int:
    """Return the value of a formula of numbers."""
    match formula:
        case Sum(terms):
            return sum(int(of(term)) for term in terms)
        case Minus(body):
            return -int(of(body))
        case Product(factors):
            return prod(int(of(factor)) for factor in factors)
        case Divide("//", left, right):
            return int(of(left)) // int(of(right))
        case Divide("%", left, right):
            return int(of(left)) % int(of(right))
        case Function(name, arguments):
            numbers = [int(of(argument)) for argument in arguments]
            if name == "pow":
                return numbers[0] ** numbers[1]
            return abs(numbers[0]) if name == "abs" else min(numbers) if name == "min" else max(numbers)
    raise AssertionError(f"no meaning of {formula}")


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal: absent is equal to itself only, True to 1."""
    return one == other


def compared(operator: str, one: Value, other: Value) -> bool:
    """Return a comparison; nothing that may be absent is put in order."""
    if operator in ("==", "!="):
        return same(one, other) == (operator == "==")
    assert ABSENT not in (one, other)
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[operator]
