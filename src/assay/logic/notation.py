"""Formulas as text, which is read, and as LaTeX, which is written.

The text is a restricted Python expression, read through `ast` by whitelist, never evaluated. Beside Python's own
operators the sympy spellings parse: `And(a, Not(b))`, `Eq(x, y)`, `&`, `|`, `~`, `^`, `>>`.
"""

import ast
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

from assay.base import FormulaError, suggestion
from assay.logic import formula as f
from assay.logic.build import DEEPEST, at_least, at_most, conjunction, depth, disjunction, exactly, free_names
from assay.logic.concepts import Value
from assay.logic.formula import Formula

LONGEST = 200_000

COMPARISONS: dict[type[ast.cmpop], f.Operator] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
TERNARY, ARROW, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(10)
SIGNS = {"==": "=", "!=": r"\neq", "<": "<", "<=": r"\leq", ">": ">", ">=": r"\geq"}
ESCAPES = {letter: f"\\{letter}" for letter in "_%&#${}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
QUANTIFIERS = {"any": r"\exists", "all": r"\forall"}


def _compare(operator: f.Operator) -> Callable[..., Formula]:
    return lambda left, right: f.Compare(operator, left, right)


def _number(formula: Formula) -> int:
    if isinstance(formula, f.Const) and type(formula.value) is int:
        return formula.value
    raise FormulaError(f"a whole number is wanted here, not {formula}")


def _oracle(program: Formula, head: Formula, template: Formula, *concepts: Formula) -> Formula:
    texts = [part.value for part in (program, head, template) if isinstance(part, f.Const)]
    names = [part for part in concepts if isinstance(part, f.Var)]
    if len(texts) < 3 or len(names) < len(concepts) or not all(isinstance(text, str) for text in texts):
        raise FormulaError("prolog() takes the texts of a program, its head and a template, and names of concepts")
    return f.Oracle(str(texts[0]), str(texts[1]), str(texts[2]), tuple(concepts))


FUNCTIONS: dict[str, Callable[..., Formula]] = {
    "And": conjunction, "Or": disjunction, "Not": f.Not, "Xor": lambda *parts: f.Xor(parts),
    "Implies": f.Implies, "Equivalent": f.Iff, "ITE": f.If,
    "Eq": _compare("=="), "Ne": _compare("!="), "Lt": _compare("<"), "Le": _compare("<="),
    "Gt": _compare(">"), "Ge": _compare(">="),
    "Add": f.total, "Mul": f.product, "Mod": lambda left, right: f.Divide("%", left, right),
    "Abs": lambda body: f.Function("abs", (body,)), "Min": lambda *parts: f.Function("min", parts),
    "Max": lambda *parts: f.Function("max", parts), "Pow": lambda left, right: f.Function("pow", (left, right)),
    "xor": lambda *parts: f.Xor(parts), "implies": f.Implies, "iff": f.Iff,
    "abs": lambda body: f.Function("abs", (body,)), "min": lambda *parts: f.Function("min", parts),
    "max": lambda *parts: f.Function("max", parts),
    "count": lambda *parts: f.Count(parts), "sum": f.total,
    "any": disjunction, "all": conjunction,
    "exactly": lambda number, *parts: exactly(_number(number), *parts),
    "at_least": lambda number, *parts: at_least(_number(number), *parts),
    "at_most": lambda number, *parts: at_most(_number(number), *parts),
    "prolog": _oracle,
    "all_equal": lambda *parts: f.AllEqual(parts), "all_different": lambda *parts: f.AllDifferent(parts),
}  # fmt: skip


def parse(text: str, names: Collection[str] | None = None) -> Formula:
    """Read a formula; with `names`, refuse any other variable.

    >>> parse("Or(And(a, b), Not(c))")
    <a and b or not c>
    >>> parse("any(car.colour == 'red' for car in cars)")
    <any(car.colour == 'red' for car in cars)>
    """
    if len(text) > LONGEST:
        raise FormulaError(f"a formula of {len(text)} characters is longer than {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python warns of "1and b", which then is no formula
            tree = ast.parse(text.strip(), mode="eval")
        formula = _Reader(text).read(tree.body, 0)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        hint = "; equality is '=='" if "=" in text and "==" not in text else ""
        raise FormulaError(f"formula {_short(text)!r} cannot be read: {reason}{hint}") from None
    if depth(formula) > DEEPEST:
        raise FormulaError(f"formula {_short(text)!r} is nested more than {DEEPEST} deep")
    if names is not None:
        _refuse_unknown(formula, text, names)
    return formula


def _refuse_unknown(formula: Formula, text: str, names: Collection[str]) -> None:
    for name in free_names(formula):
        if name not in names:
            raise FormulaError(f"formula {_short(text)!r}: no concept named {name!r}{suggestion(name, names)}")


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


class _Reader:
    """Turns a syntax tree into a formula, node by allowed node."""

    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, tree: ast.AST, why: str = "") -> FormulaError:
        piece = ast.get_source_segment(self.text.strip(), tree) if isinstance(tree, ast.expr) else None
        reason = why or f"{type(tree).__name__} is not allowed in a formula"
        return FormulaError(f"formula {_short(self.text)!r}: {_short(piece or '', 40)!r}: {reason}")

    def read(self, tree: ast.expr, depth: int) -> Formula:
        if depth > DEEPEST + 1:  # one more, since -1 is two deep in Python and one number here
            raise FormulaError(f"formula {_short(self.text)!r} is nested more than {DEEPEST} deep")
        method: Callable[[Any, int], Formula] | None = getattr(self, f"read_{type(tree).__name__.lower()}", None)
        if method is None:
            raise self.refuse(tree)
        return method(tree, depth + 1)

    def read_constant(self, tree: ast.Constant, depth: int) -> Formula:
        if not isinstance(tree.value, (bool, int, str)):
            raise self.refuse(tree, "only whole numbers, truth values and quoted symbols are values")
        return f.Const(tree.value)

    def read_name(self, tree: ast.Name, depth: int) -> Formula:
        if tree.id in ("true", "false"):
            return f.Const(tree.id == "true")
        if tree.id.startswith("__"):
            raise self.refuse(tree, "names must not start with '__'")
        return f.Var(tree.id)

    def read_attribute(self, tree: ast.Attribute, depth: int) -> Formula:
        names: list[str] = []
        current: ast.expr = tree
        while isinstance(current, ast.Attribute):
            names.append(current.attr)
            current = current.value
        if not isinstance(current, ast.Name) or any(name.startswith("__") for name in (current.id, *names)):
            raise self.refuse(tree, "only 'slot.attribute' is allowed")
        return f.Var(".".join((current.id, *reversed(names))))

    def read_boolop(self, tree: ast.BoolOp, depth: int) -> Formula:
        parts = tuple(self.read(part, depth) for part in tree.values)
        return f.And(parts) if isinstance(tree.op, ast.And) else f.Or(parts)

    def read_unaryop(self, tree: ast.UnaryOp, depth: int) -> Formula:
        body = self.read(tree.operand, depth)
        if isinstance(tree.op, (ast.Not, ast.Invert)):
            return f.Not(body)
        return f.negative(body) if isinstance(tree.op, ast.USub) else body

    def read_binop(self, tree: ast.BinOp, depth: int) -> Formula:
        if isinstance(tree.op, (ast.Add, ast.Sub)):
            return self._sum(tree, depth)
        parts = self._same_operator(tree)
        left, *rest = (self.read(part, depth) for part in parts)
        operator = type(tree.op)
        if operator in (ast.BitAnd, ast.BitOr, ast.BitXor):
            kind: Any = {ast.BitAnd: f.And, ast.BitOr: f.Or, ast.BitXor: f.Xor}[operator]
            joined: Formula = kind((left, *rest))
            return joined
        right = rest[0]
        if operator is ast.Mult:
            return f.product(left, *rest)
        simple: dict[type[ast.operator], Callable[[], Formula]] = {
            ast.FloorDiv: lambda: f.Divide("//", left, right),
            ast.Mod: lambda: f.Divide("%", left, right),
            ast.Pow: lambda: f.Function("pow", (left, right)),
            ast.RShift: lambda: f.Implies(left, right),
        }
        if operator not in simple:
            hint = "use '//' for whole-number division" if operator is ast.Div else ""
            raise self.refuse(tree, hint or f"operator {operator.__name__} is not allowed in a formula")
        return simple[operator]()

    def _sum(self, tree: ast.BinOp, depth: int) -> Formula:
        """Read a left-leaning chain `a + b - c` as one sum, so that long sums nest once."""
        terms: list[Formula] = []
        current: ast.expr = tree
        while isinstance(current, ast.BinOp) and isinstance(current.op, (ast.Add, ast.Sub)):
            term = self.read(current.right, depth)
            terms.append(term if isinstance(current.op, ast.Add) else f.negative(term))
            current = current.left
        return f.total(self.read(current, depth), *reversed(terms))

    def _same_operator(self, tree: ast.BinOp) -> list[ast.expr]:
        """Return the operands of a left-leaning chain `a * b * c` as one list, so that long products nest once."""
        if not isinstance(tree.op, (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)):
            return [tree.left, tree.right]
        parts: list[ast.expr] = []
        current: ast.expr = tree
        while isinstance(current, ast.BinOp) and type(current.op) is type(tree.op):
            parts.append(current.right)
            current = current.left
        return [current, *reversed(parts)]

    def read_compare(self, tree: ast.Compare, depth: int) -> Formula:
        if isinstance(tree.ops[0], (ast.In, ast.NotIn)):
            return self._member(tree, depth)
        sides = [self.read(side, depth) for side in (tree.left, *tree.comparators)]
        for operator in tree.ops:
            if type(operator) not in COMPARISONS:
                raise self.refuse(tree, f"comparison {type(operator).__name__} is not allowed in a formula")
        names = [COMPARISONS[type(operator)] for operator in tree.ops]
        steps = [f.Compare(name, sides[place], sides[place + 1]) for place, name in enumerate(names)]
        return conjunction(*steps)

    def _member(self, tree: ast.Compare, depth: int) -> Formula:
        rows = tree.comparators[0]
        if len(tree.ops) != 1 or not isinstance(rows, (ast.Tuple, ast.List, ast.Set)):
            raise self.refuse(tree, "'in' takes a list of values, as in 'a in (1, 2)' or '(a, b) in [(1, 2)]'")
        several = isinstance(tree.left, ast.Tuple)
        left = tree.left.elts if isinstance(tree.left, ast.Tuple) else [tree.left]
        terms = tuple(self.read(term, depth) for term in left)
        listed = tuple(self._row(row, several, depth) for row in rows.elts)
        member = f.Member(terms, listed)
        return f.Not(member) if isinstance(tree.ops[0], ast.NotIn) else member

    def _row(self, tree: ast.expr, several: bool, depth: int) -> tuple[Value, ...]:
        cells: Sequence[ast.expr] = tree.elts if several and isinstance(tree, (ast.Tuple, ast.List)) else [tree]
        values = [self.read(cell, depth) for cell in cells]
        if not all(isinstance(value, f.Const) for value in values):
            raise self.refuse(tree, "'in' takes values written out")
        return tuple(value.value for value in values if isinstance(value, f.Const))

    def read_ifexp(self, tree: ast.IfExp, depth: int) -> Formula:
        return f.If(self.read(tree.test, depth), self.read(tree.body, depth), self.read(tree.orelse, depth))

    def read_call(self, tree: ast.Call, depth: int) -> Formula:
        if not isinstance(tree.func, ast.Name):
            raise self.refuse(tree, "only named functions can be called")
        name = tree.func.id
        if tree.keywords or name not in FUNCTIONS:
            raise self.refuse(tree, f"no function named {name!r}{suggestion(name, FUNCTIONS)}")
        if len(tree.args) == 1 and isinstance(tree.args[0], ast.GeneratorExp):
            return self._quantified(name, tree.args[0], depth)
        arguments = [self.read(argument, depth) for argument in tree.args]
        try:
            return FUNCTIONS[name](*arguments)
        except TypeError:
            raise self.refuse(tree, f"{name}() does not take {len(arguments)} arguments") from None

    def _quantified(self, name: str, tree: ast.GeneratorExp, depth: int) -> Formula:
        if name not in ("any", "all", "count"):
            raise self.refuse(tree, f"{name}() takes no 'for'; any(), all() and count() do")
        body = self.read(tree.elt, depth)
        for clause in reversed(tree.generators):
            body = self._bound(name, clause, body, depth)
            if name == "count" and len(tree.generators) > 1:
                raise self.refuse(tree, "count() takes one 'for'; use pairs() for two slots")
        return body

    def _bound(self, name: str, clause: ast.comprehension, body: Formula, depth: int) -> Formula:
        if clause.ifs:
            guard = conjunction(*(self.read(test, depth) for test in clause.ifs))
            body = f.Implies(guard, body) if name == "all" else f.And((guard, body))
        targets = clause.target.elts if isinstance(clause.target, ast.Tuple) else [clause.target]
        source: ast.expr = clause.iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "pairs":
            fits = len(source.args) == 1 and not source.keywords and len(targets) == 2
            source = source.args[0] if fits else clause.iter
        elif len(targets) != 1:
            raise self.refuse(source, "two variables need 'in pairs(group)'")
        bound = tuple(target.id for target in targets if isinstance(target, ast.Name))
        if clause.is_async or not isinstance(source, ast.Name) or len(bound) < len(targets):
            raise self.refuse(source, "'for' takes names and a group of slots")
        return f.Quantified(name, bound, source.id, body)  # type: ignore[arg-type]


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
