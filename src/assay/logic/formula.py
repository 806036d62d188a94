"""The formula: an immutable expression tree over concepts, built with operators or parsed from text.

Equality is of structure (`a.eq(b)` builds the comparison). Nodes are kept in the one form that text can express, so
that `parse(str(f)) == f`: sums and products are flat, `and` and `or` have two parts or more, `-3` is a number.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from assay.base import FormulaError
from assay.logic.concepts import Value

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
Quantifier = Literal["any", "all", "count"]

TERNARY, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, POWER, ATOM = range(10)
"""How tightly the text of a formula holds together, for no more parentheses than needed."""

BITS = 4096
"""The longest number that a formula may hold or reach."""


class Formula:
    """Base of all nodes: operators that build larger formulas, and a hash that is computed once."""

    _hash: int
    field_names: ClassVar[tuple[str, ...]]
    """The names of the node's fields, kept because formulas are walked through very often."""

    def __add__(self, other: "Operand") -> "Formula":
        return total(self, lift(other))

    def __radd__(self, other: "Operand") -> "Formula":
        return total(lift(other), self)

    def __sub__(self, other: "Operand") -> "Formula":
        return total(self, negative(lift(other)))

    def __rsub__(self, other: "Operand") -> "Formula":
        return total(lift(other), negative(self))

    def __mul__(self, other: "Operand") -> "Formula":
        return product(self, lift(other))

    def __rmul__(self, other: "Operand") -> "Formula":
        return product(lift(other), self)

    def __floordiv__(self, other: "Operand") -> "Formula":
        return Divide("//", self, lift(other))

    def __mod__(self, other: "Operand") -> "Formula":
        return Divide("%", self, lift(other))

    def __pow__(self, other: "Operand") -> "Formula":
        return Function("pow", (self, lift(other)))

    def __neg__(self) -> "Formula":
        return negative(self)

    def __and__(self, other: "Operand") -> "Formula":
        return And((*(self.parts if isinstance(self, And) else (self,)), lift(other)))

    def __or__(self, other: "Operand") -> "Formula":
        return Or((*(self.parts if isinstance(self, Or) else (self,)), lift(other)))

    def __xor__(self, other: "Operand") -> "Formula":
        return Xor((*(self.parts if isinstance(self, Xor) else (self,)), lift(other)))

    def __invert__(self) -> "Formula":
        return Not(self)

    def __lt__(self, other: "Operand") -> "Formula":
        return Compare("<", self, lift(other))

    def __le__(self, other: "Operand") -> "Formula":
        return Compare("<=", self, lift(other))

    def __gt__(self, other: "Operand") -> "Formula":
        return Compare(">", self, lift(other))

    def __ge__(self, other: "Operand") -> "Formula":
        return Compare(">=", self, lift(other))

    def eq(self, other: "Operand") -> "Formula":
        """Build the comparison `self == other`."""
        return Compare("==", self, lift(other))

    def ne(self, other: "Operand") -> "Formula":
        """Build the comparison `self != other`."""
        return Compare("!=", self, lift(other))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cached hash: another process hashes strings differently."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    def __bool__(self) -> bool:
        raise FormulaError("a formula has no truth value of its own; use & | ~ instead of and, or, not")

    def _text(self) -> tuple[int, str]:
        """Return how tightly the text holds together, and the text."""
        raise NotImplementedError

    def _inside(self, least: int) -> str:
        """Return the text as a part of a larger one, in parentheses where it holds together less than this."""
        level, text = self._text()
        return text if level >= least else f"({text})"

    def __str__(self) -> str:
        return self._text()[1]

    def __repr__(self) -> str:
        return f"<{self}>"


Operand = Formula | bool | int | str
N = TypeVar("N", bound=Formula)


@dataclass_transform(frozen_default=True)
def node(cls: type[N]) -> type[N]:
    """Make a node class: a frozen dataclass whose hash is cached."""
    node_class = dataclass(frozen=True, repr=False)(cls)
    compute: Callable[[Any], int] = node_class.__hash__

    def cached_hash(self: Any) -> int:
        try:
            return self.__dict__["_hash"]  # type: ignore[no-any-return]
        except KeyError:
            self.__dict__["_hash"] = compute(self)
            return self.__dict__["_hash"]  # type: ignore[no-any-return]

    node_class.__hash__ = cached_hash  # type: ignore[method-assign]
    node_class.field_names = tuple(item.name for item in fields(node_class))  # type: ignore[arg-type]
    return node_class


@node
class Const(Formula):
    """A value written out."""

    value: Value

    def __post_init__(self) -> None:
        if type(self.value) not in (bool, int, str):
            raise FormulaError(f"{self.value!r} is no truth value, whole number or symbol")
        if isinstance(self.value, int) and self.value.bit_length() > BITS:
            raise FormulaError(f"a number of {self.value.bit_length()} bits is longer than {BITS}")

    def _text(self) -> tuple[int, str]:
        is_negative = type(self.value) is int and self.value < 0
        return UNARY if is_negative else ATOM, repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


TRUE = Const(True)


@node
class Var(Formula):
    """A concept by name, or inside a quantifier an attribute of the bound slot (`car.colour`)."""

    name: str

    def _text(self) -> tuple[int, str]:
        return ATOM, self.name


@node
class Not(Formula):
    """The body is false."""

    body: Formula

    def _text(self) -> tuple[int, str]:
        return NOT, f"not {self.body._inside(NOT)}"


def _joined(word: str, parts: tuple[Formula, ...], least: int) -> str:
    return word.join(part._inside(least) for part in parts)


def _called(name: str, parts: tuple[Formula, ...]) -> tuple[int, str]:
    return ATOM, f"{name}({_joined(', ', parts, TERNARY)})"


def _two_or_more(formula: Formula, parts: tuple[Formula, ...]) -> None:
    if len(parts) < 2:
        raise FormulaError(f"{type(formula).__name__} needs two parts or more, got {len(parts)}")


@node
class And(Formula):
    """Every part is true."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return AND, _joined(" and ", self.parts, AND + 1)

    def __post_init__(self) -> None:
        _two_or_more(self, self.parts)


@node
class Or(Formula):
    """Some part is true."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return OR, _joined(" or ", self.parts, OR + 1)

    def __post_init__(self) -> None:
        _two_or_more(self, self.parts)


@node
class Xor(Formula):
    """An odd number of parts is true."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return _called("xor", self.parts)


@node
class Implies(Formula):
    """If the premise is true, so is the conclusion."""

    premise: Formula
    conclusion: Formula

    def _text(self) -> tuple[int, str]:
        return _called("implies", (self.premise, self.conclusion))


@node
class Iff(Formula):
    """Both sides are true, or both false."""

    left: Formula
    right: Formula

    def _text(self) -> tuple[int, str]:
        return _called("iff", (self.left, self.right))


@node
class Compare(Formula):
    """Two sides compared."""

    operator: Operator
    left: Formula
    right: Formula

    def _text(self) -> tuple[int, str]:
        return COMPARE, f"{self.left._inside(SUM)} {self.operator} {self.right._inside(SUM)}"


@node
class Sum(Formula):
    """The terms added up."""

    terms: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        text = self.terms[0]._inside(SUM)
        for term in self.terms[1:]:
            if isinstance(term, Minus):
                text += f" - {term.body._inside(PRODUCT)}"
            elif isinstance(term, Const) and type(term.value) is int and term.value < 0:
                text += f" - {-term.value}"
            else:
                text += f" + {term._inside(PRODUCT)}"
        return SUM, text

    def __post_init__(self) -> None:
        _two_or_more(self, self.terms)
        if any(isinstance(term, Sum) for term in self.terms):
            raise FormulaError("a sum inside a sum; build it with total()")


@node
class Minus(Formula):
    """The body negated."""

    body: Formula

    def _text(self) -> tuple[int, str]:
        return UNARY, f"-{self.body._inside(UNARY)}"

    def __post_init__(self) -> None:
        if isinstance(self.body, Const) and type(self.body.value) is int:
            raise FormulaError("a negated number is a number; build it with negative()")


@node
class Product(Formula):
    """The factors multiplied."""

    factors: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return PRODUCT, _joined(" * ", self.factors, UNARY)

    def __post_init__(self) -> None:
        _two_or_more(self, self.factors)
        if any(isinstance(factor, Product) for factor in self.factors):
            raise FormulaError("a product inside a product; build it with product()")


@node
class Divide(Formula):
    """Quotient or remainder of whole numbers, rounded down as in Python."""

    operator: Literal["//", "%"]
    left: Formula
    right: Formula

    def _text(self) -> tuple[int, str]:
        return PRODUCT, f"{self.left._inside(UNARY)} {self.operator} {self.right._inside(UNARY)}"


@node
class Function(Formula):
    """`abs`, `min`, `max` or `pow` of numbers."""

    name: Literal["abs", "min", "max", "pow"]
    arguments: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        if self.name == "pow":
            return POWER, f"{self.arguments[0]._inside(ATOM)} ** {self.arguments[1]._inside(UNARY)}"
        return _called(self.name, self.arguments)

    def __post_init__(self) -> None:
        wanted = {"abs": (1, 1), "pow": (2, 2)}.get(self.name, (1, 10**9))
        if not wanted[0] <= len(self.arguments) <= wanted[1]:
            raise FormulaError(f"{self.name}() does not take {len(self.arguments)} arguments")


@node
class Count(Formula):
    """How many parts are true."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return _called("count", self.parts)


@node
class AllEqual(Formula):
    """All parts have one value."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return _called("all_equal", self.parts)


@node
class AllDifferent(Formula):
    """No two parts have the same value."""

    parts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        return _called("all_different", self.parts)


@node
class If(Formula):
    """One of two values, by a condition."""

    condition: Formula
    then: Formula
    otherwise: Formula

    def _text(self) -> tuple[int, str]:
        then, condition = self.then._inside(OR), self.condition._inside(OR)
        return TERNARY, f"{then} if {condition} else {self.otherwise._inside(TERNARY)}"


@node
class Member(Formula):
    """The terms together are one of the listed rows of values."""

    terms: tuple[Formula, ...]
    rows: tuple[tuple[Value, ...], ...]

    def _text(self) -> tuple[int, str]:
        if len(self.terms) == 1:
            cells = [repr(row[0]) for row in self.rows]
            return COMPARE, f"{self.terms[0]._inside(SUM)} in ({', '.join(cells)}{',' if len(cells) == 1 else ''})"
        terms = _joined(", ", self.terms, TERNARY)
        return COMPARE, f"({terms}) in [{', '.join(repr(row) for row in self.rows)}]"

    def __post_init__(self) -> None:
        if not self.terms or any(len(row) != len(self.terms) for row in self.rows):
            raise FormulaError(f"each row of 'in' needs {len(self.terms)} values, one for each term")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Member) and self.terms == other.terms and _typed(self.rows) == _typed(other.rows)

    def __hash__(self) -> int:
        return hash((self.terms, self.rows))


def _typed(rows: tuple[tuple[Value, ...], ...]) -> list[tuple[tuple[type, Value], ...]]:
    return [tuple((type(value), value) for value in row) for row in rows]


@node
class Quantified(Formula):
    """`any`, `all` or `count` of a body over the slots of a group that are present; over pairs with two variables."""

    quantifier: Quantifier
    variables: tuple[str, ...]
    group: str
    body: Formula

    def _text(self) -> tuple[int, str]:
        group = self.group if len(self.variables) == 1 else f"pairs({self.group})"
        body, names = self.body._inside(TERNARY), ", ".join(self.variables)
        return ATOM, f"{self.quantifier}({body} for {names} in {group})"

    def __post_init__(self) -> None:
        if len(self.variables) not in (1, 2) or len(set(self.variables)) < len(self.variables):
            raise FormulaError("a quantifier binds one variable, or two different ones with pairs()")


@node
class Oracle(Formula):
    """A Prolog program that labels worlds, given as these concepts, true or false; `assay.prolog` runs it.

    The predicate `head` of one argument is the label; `template` writes a world as one term, by default as facts.
    """

    program: str
    head: str
    template: str
    concepts: tuple[Formula, ...]

    def _text(self) -> tuple[int, str]:
        texts = [repr(text) for text in (self.program, self.head, self.template)]
        return ATOM, f"prolog({', '.join([*texts, *map(str, self.concepts)])})"


def lift(operand: Operand) -> Formula:
    """Return a formula as it is, and a value as a constant."""
    return operand if isinstance(operand, Formula) else Const(operand)


def total(*terms: Formula) -> Formula:
    """Return the sum of any number of terms."""
    flat = tuple(part for term in terms for part in (term.terms if isinstance(term, Sum) else (term,)))
    return Sum(flat) if len(flat) > 1 else flat[0] if flat else Const(0)


def product(*factors: Formula) -> Formula:
    """Return the product of any number of factors."""
    flat = tuple(part for factor in factors for part in (factor.factors if isinstance(factor, Product) else (factor,)))
    return Product(flat) if len(flat) > 1 else flat[0] if flat else Const(1)


def negative(body: Formula) -> Formula:
    """Return the body negated."""
    if isinstance(body, Const) and type(body.value) is int:
        return Const(-body.value)
    return Minus(body)
