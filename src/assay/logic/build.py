"""Building formulas of any number of parts, walking through them and rebuilding them."""

from collections.abc import Callable, Iterator

from assay.logic.formula import (
    And,
    Compare,
    Const,
    Count,
    Formula,
    Minus,
    Or,
    Product,
    Quantified,
    Sum,
    Var,
    Xor,
    negative,
    product,
    total,
)

DEEPEST = 100
"""How deep formulas may be nested: every reading walks down by recursion."""


def var(*names: str) -> tuple[Var, ...]:
    """Return a variable for each name: `a, b = var("a", "b")`."""
    return tuple(Var(name) for name in names)


def conjunction(*parts: Formula) -> Formula:
    """Return "all of these", whatever their number."""
    return And(parts) if len(parts) > 1 else parts[0] if parts else Const(True)


def disjunction(*parts: Formula) -> Formula:
    """Return "one of these", whatever their number."""
    return Or(parts) if len(parts) > 1 else parts[0] if parts else Const(False)


def parity(*parts: Formula) -> Formula:
    """Return "an odd number of these"."""
    return Xor(parts)


def exactly(number: int, *parts: Formula) -> Formula:
    """Return "this many of these, no more and no less"."""
    return Compare("==", Count(parts), Const(number))


def at_least(number: int, *parts: Formula) -> Formula:
    """Return "this many of these, or more"."""
    return Compare(">=", Count(parts), Const(number))


def at_most(number: int, *parts: Formula) -> Formula:
    """Return "this many of these, or fewer"."""
    return Compare("<=", Count(parts), Const(number))


def quote(formula: Formula, most: int = 80) -> str:
    """Return the text of a formula for a message, the first part of a long one."""
    text = str(formula)
    return f"'{text}'" if len(text) <= most else f"'{text[: most - 3]}...'"


def children(formula: Formula) -> tuple[Formula, ...]:
    """Return the formulas directly inside this one."""
    parts: list[Formula] = []
    for name in formula.field_names:
        inside = getattr(formula, name)
        if isinstance(inside, Formula):
            parts.append(inside)
        elif isinstance(inside, tuple):
            parts.extend(part for part in inside if isinstance(part, Formula))
    return tuple(parts)


def map_children(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """Return the formula with each direct child changed."""
    if isinstance(formula, Sum):
        return total(*map(change, formula.terms))
    if isinstance(formula, Product):
        return product(*map(change, formula.factors))
    if isinstance(formula, Minus):
        return negative(change(formula.body))
    values = []
    for name in formula.field_names:
        inside = getattr(formula, name)
        if isinstance(inside, Formula):
            inside = change(inside)
        elif isinstance(inside, tuple):
            inside = tuple(change(part) if isinstance(part, Formula) else part for part in inside)
        values.append(inside)
    return type(formula)(*values)


def walk(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and everything inside it, outside first."""
    stack = [formula]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


def depth(formula: Formula) -> int:
    """Return how deep formulas are nested in this one, itself included.

    >>> depth(Var("a") + 1)
    2
    """
    deepest, layer = 0, [formula]
    while layer:
        deepest, layer = deepest + 1, [part for current in layer for part in children(current)]
    return deepest


def free_names(formula: Formula) -> tuple[str, ...]:
    """Return the names of the variables that no quantifier binds, in order of first occurrence.

    >>> free_names(Quantified("any", ("car",), "cars", Var("car.size").eq(Var("size"))))
    ('size',)
    """
    if isinstance(formula, Var):
        return (formula.name,)
    names = dict.fromkeys(name for part in children(formula) for name in free_names(part))
    bound = formula.variables if isinstance(formula, Quantified) else ()
    return tuple(name for name in names if name.partition(".")[0] not in bound)


def names_in(formula: Formula) -> tuple[str, ...]:
    """Return the names of the variables, in order of first occurrence.

    >>> names_in(Var("b") + Var("a") + Var("b"))
    ('b', 'a')
    """
    return tuple(dict.fromkeys(part.name for part in walk(formula) if isinstance(part, Var)))


def substitute(formula: Formula, meanings: dict[str, Formula]) -> Formula:
    """Return the formula with each named variable replaced by its meaning."""
    if isinstance(formula, Var):
        return meanings.get(formula.name, formula)
    return map_children(formula, lambda part: substitute(part, meanings))
