"""Formulas as LaTeX."""

from collections.abc import Callable, Sequence
from typing import Any

from assay.logic import formula as f
from assay.logic.concepts import Value
from assay.logic.formula import Formula

TERNARY, ARROW, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(10)
SIGNS = {"==": "=", "!=": r"\neq", "<": "<", "<=": r"\leq", ">": ">", ">=": r"\geq"}
ESCAPES = {letter: f"\\{letter}" for letter in "_%&#${}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
QUANTIFIERS = {"any": r"\exists", "all": r"\forall"}


def latex(formula: Formula) -> str:
    r"""Return the formula as LaTeX, for math mode.

    >>> print(latex((f.Var("a") + 2).eq(f.Var("b")) | ~f.Var("c")))
    \mathit{a} + 2 = \mathit{b} \lor \lnot \mathit{c}
    """
    return _tex(formula, TERNARY)


def _tex(formula: Formula, least: int) -> str:
    level, text = _WRITERS[type(formula)](formula)
    return text if level >= least else rf"\left({text}\right)"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return r"\top" if value else r"\bot"
    return str(value) if isinstance(value, int) else rf"\text{{{_escaped(value)}}}"


def _escaped(text: str) -> str:
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def _joined(parts: Sequence[Formula], sign: str, level: int) -> tuple[int, str]:
    return level, f" {sign} ".join(_tex(part, level + 1) for part in parts)


def _xor(parts: Sequence[Formula]) -> tuple[int, str]:
    return _joined(parts, r"\oplus", NOT)


def _named(name: str, parts: Sequence[Formula]) -> tuple[int, str]:
    return ATOM, rf"\mathrm{{{name}}}\left({', '.join(_tex(part, TERNARY) for part in parts)}\right)"


def _sum(formula: f.Sum) -> tuple[int, str]:
    text = _tex(formula.terms[0], SUM)
    for term in formula.terms[1:]:
        if isinstance(term, f.Minus):
            text += f" - {_tex(term.body, PRODUCT)}"
        elif isinstance(term, f.Const) and type(term.value) is int and term.value < 0:
            text += f" - {-term.value}"
        else:
            text += f" + {_tex(term, PRODUCT)}"
    return SUM, text


def _divide(formula: f.Divide) -> tuple[int, str]:
    left, right = _tex(formula.left, TERNARY), _tex(formula.right, TERNARY)
    if formula.operator == "//":
        return ATOM, rf"\left\lfloor \frac{{{left}}}{{{right}}} \right\rfloor"
    return PRODUCT, rf"{_tex(formula.left, UNARY)} \bmod {_tex(formula.right, UNARY)}"


def _function(formula: f.Function) -> tuple[int, str]:
    if formula.name == "abs":
        return ATOM, rf"\left|{_tex(formula.arguments[0], TERNARY)}\right|"
    if formula.name == "pow":
        base, exponent = formula.arguments
        return UNARY, f"{_tex(base, ATOM)}^{{{_tex(exponent, TERNARY)}}}"
    return _named(formula.name, formula.arguments)


def _if(formula: f.If) -> tuple[int, str]:
    then, condition = _tex(formula.then, TERNARY), _tex(formula.condition, TERNARY)
    otherwise = _tex(formula.otherwise, TERNARY)
    return ATOM, rf"\begin{{cases}} {then} & \text{{if }} {condition} \\ {otherwise} & \text{{else}} \end{{cases}}"


def _member(formula: f.Member) -> tuple[int, str]:
    rows = [", ".join(_value(value) for value in row) for row in formula.rows]
    if len(formula.terms) == 1:
        return COMPARE, rf"{_tex(formula.terms[0], SUM)} \in \{{{', '.join(rows)}\}}"
    terms = ", ".join(_tex(term, TERNARY) for term in formula.terms)
    return COMPARE, rf"({terms}) \in \{{{', '.join(f'({row})' for row in rows)}\}}"


def _quantified(formula: f.Quantified) -> tuple[int, str]:
    names = ", ".join(rf"\mathit{{{_escaped(name)}}}" for name in formula.variables)
    group = rf"\mathit{{{_escaped(formula.group)}}}"
    body = _tex(formula.body, TERNARY)
    if formula.quantifier == "count":
        return ATOM, rf"\left|\{{{names} \in {group} : {body}\}}\right|"
    return TERNARY, rf"{QUANTIFIERS[formula.quantifier]} {names} \in {group} : {body}"


def _name(formula: f.Var) -> tuple[int, str]:
    return ATOM, rf"\mathit{{{_escaped(formula.name)}}}"


_WRITERS: dict[type[Formula], Callable[[Any], tuple[int, str]]] = {
    f.Const: lambda formula: (UNARY if _value(formula.value).startswith("-") else ATOM, _value(formula.value)),
    f.Var: _name,
    f.Not: lambda formula: (NOT, rf"\lnot {_tex(formula.body, NOT)}"),
    f.And: lambda formula: _joined(formula.parts, r"\land", AND),
    f.Or: lambda formula: _joined(formula.parts, r"\lor", OR),
    f.Xor: lambda formula: _named("xor", formula.parts) if len(formula.parts) < 2 else _xor(formula.parts),
    f.Implies: lambda formula: _joined((formula.premise, formula.conclusion), r"\Rightarrow", ARROW),
    f.Iff: lambda formula: _joined((formula.left, formula.right), r"\Leftrightarrow", ARROW),
    f.Compare: lambda formula: _joined((formula.left, formula.right), SIGNS[formula.operator], COMPARE),
    f.Sum: _sum,
    f.Minus: lambda formula: (UNARY, f"-{_tex(formula.body, UNARY)}"),
    f.Product: lambda formula: _joined(formula.factors, r"\cdot", PRODUCT),
    f.Divide: _divide,
    f.Function: _function,
    f.Count: lambda formula: _named("count", formula.parts),
    f.AllEqual: lambda formula: _named("allequal", formula.parts),
    f.AllDifferent: lambda formula: _named("alldifferent", formula.parts),
    f.If: _if,
    f.Member: _member,
    f.Quantified: _quantified,
    f.Oracle: lambda formula: _named(f"prolog: {formula.head}", formula.concepts),
}  # fmt: skip
