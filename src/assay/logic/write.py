"""Formulas as text, with no more parentheses than needed; `assay.logic.notation` reads it back to the same formula."""

from collections.abc import Callable, Sequence
from typing import Any

from assay.logic import formula as f
from assay.logic.formula import Formula

TERNARY, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, POWER, ATOM = range(10)


def write_formula(formula: Formula) -> str:
    """Return the text of a formula, with no more parentheses than needed."""
    return _write(formula, TERNARY)


def quote(formula: Formula, most: int = 80) -> str:
    """Return the text of a formula for a message, the first part of a long one."""
    text = write_formula(formula)
    return f"'{text}'" if len(text) <= most else f"'{text[: most - 3]}...'"


def _write(formula: Formula, least: int) -> str:
    level, text = _WRITERS[type(formula)](formula)
    return text if level >= least else f"({text})"


def _joined(parts: Sequence[Formula], word: str, level: int) -> tuple[int, str]:
    return level, word.join(_write(part, level + 1) for part in parts)


def _called(name: str, parts: Sequence[Formula]) -> tuple[int, str]:
    return ATOM, f"{name}({', '.join(_write(part, TERNARY) for part in parts)})"


def _write_const(formula: f.Const) -> tuple[int, str]:
    negative = type(formula.value) is int and formula.value < 0
    return UNARY if negative else ATOM, repr(formula.value)


def _write_sum(formula: f.Sum) -> tuple[int, str]:
    text = _write(formula.terms[0], SUM if not isinstance(formula.terms[0], f.Sum) else PRODUCT)
    for term in formula.terms[1:]:
        if isinstance(term, f.Minus):
            text += f" - {_write(term.body, PRODUCT)}"
        elif isinstance(term, f.Const) and type(term.value) is int and term.value < 0:
            text += f" - {-term.value}"
        else:
            text += f" + {_write(term, PRODUCT)}"
    return SUM, text


def _write_function(formula: f.Function) -> tuple[int, str]:
    if formula.name == "pow":
        base, exponent = formula.arguments
        return POWER, f"{_write(base, ATOM)} ** {_write(exponent, UNARY)}"
    return _called(formula.name, formula.arguments)


def _write_member(formula: f.Member) -> tuple[int, str]:
    if len(formula.terms) == 1:
        cells = [repr(row[0]) for row in formula.rows]
        listed = f"({', '.join(cells)}{',' if len(cells) == 1 else ''})"
        return COMPARE, f"{_write(formula.terms[0], SUM)} in {listed}"
    terms = ", ".join(_write(term, TERNARY) for term in formula.terms)
    return COMPARE, f"({terms}) in [{', '.join(repr(row) for row in formula.rows)}]"


def _write_quantified(formula: f.Quantified) -> tuple[int, str]:
    names = ", ".join(formula.variables)
    group = formula.group if len(formula.variables) == 1 else f"pairs({formula.group})"
    return ATOM, f"{formula.quantifier}({_write(formula.body, TERNARY)} for {names} in {group})"


def _write_if(formula: f.If) -> tuple[int, str]:
    then, condition = _write(formula.then, OR), _write(formula.condition, OR)
    return TERNARY, f"{then} if {condition} else {_write(formula.otherwise, TERNARY)}"


def _write_oracle(formula: f.Oracle) -> tuple[int, str]:
    texts = [repr(text) for text in (formula.program, formula.head, formula.template)]
    return ATOM, f"prolog({', '.join([*texts, *(_write(part, TERNARY) for part in formula.concepts)])})"


def _write_compare(formula: f.Compare) -> tuple[int, str]:
    return COMPARE, f"{_write(formula.left, SUM)} {formula.operator} {_write(formula.right, SUM)}"


_WRITERS: dict[type[Formula], Callable[[Any], tuple[int, str]]] = {
    f.Const: _write_const,
    f.Var: lambda formula: (ATOM, formula.name),
    f.Not: lambda formula: (NOT, f"not {_write(formula.body, NOT)}"),
    f.And: lambda formula: _joined(formula.parts, " and ", AND),
    f.Or: lambda formula: _joined(formula.parts, " or ", OR),
    f.Xor: lambda formula: _called("xor", formula.parts),
    f.Implies: lambda formula: _called("implies", (formula.premise, formula.conclusion)),
    f.Iff: lambda formula: _called("iff", (formula.left, formula.right)),
    f.Compare: _write_compare,
    f.Sum: _write_sum,
    f.Minus: lambda formula: (UNARY, f"-{_write(formula.body, UNARY)}"),
    f.Product: lambda formula: _joined(formula.factors, " * ", PRODUCT),
    f.Divide: lambda formula: (
        PRODUCT,
        f"{_write(formula.left, UNARY)} {formula.operator} {_write(formula.right, UNARY)}",
    ),
    f.Function: _write_function,
    f.Count: lambda formula: _called("count", formula.parts),
    f.AllEqual: lambda formula: _called("all_equal", formula.parts),
    f.AllDifferent: lambda formula: _called("all_different", formula.parts),
    f.If: _write_if,
    f.Member: _write_member,
    f.Quantified: _write_quantified,
    f.Oracle: _write_oracle,
}
