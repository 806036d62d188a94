"""Small faults of a module, read off its syntax tree: another comparison, a lost term, swapped branches, a lost call.

`mutations(text)` lists every fault that can be made in the bodies of a module's functions. Texts of errors, annotations
and arguments that change nothing but speed or layout are left alone.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {
    "min": "max", "any": "all", "argmax": "argmin", "minimum": "maximum", "floor": "ceil", "zeros": "ones",
    "startswith": "endswith", "logical_and": "logical_or", "nanmin": "nanmax",
}  # fmt: skip
NAMES |= {other: name for name, other in NAMES.items()} | {"sum": "mean", "mean": "sum"}
UNWRAPPED = ("sorted", "abs", "set", "reversed")
"""Functions of one argument that may be left out."""
IDLE = {"strict", "dtype", "copy", "encoding", "indent", "parents", "exist_ok", "newline", "compression", "flush"}
"""Arguments whose loss seldom changes a result."""


@dataclass(frozen=True)
class Mutation:
    """A fault: the line and function it is in, and the text there before and after."""

    line: int
    function: str
    old: str
    new: str
    site: int
    """The place among all nodes of the module, in the order in which they are visited."""
    variant: int


def mutations(text: str) -> list[Mutation]:
    """Return every fault that can be made in the functions of a module.

    >>> [(m.old, m.new) for m in mutations("def f(a): return a < 1")]
    [('a < 1', 'a <= 1'), ('1', '2')]
    """
    found = []
    for number, (node, function) in enumerate(_sites(ast.parse(text))):
        for variant, new in enumerate(replacements(node)):
            line = node.iter.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)
            found.append(Mutation(line, function, _text(node), _text(new), number, variant))
    return found


def apply(text: str, mutation: Mutation) -> ast.Module:
    """Return the tree of a module with the fault."""
    tree = ast.parse(text)
    target = next(node for number, (node, _) in enumerate(_sites(tree)) if number == mutation.site)
    new = list(replacements(target))[mutation.variant]
    if isinstance(target, (ast.expr, ast.stmt)):
        ast.copy_location(new, target)
    mutated: ast.Module = ast.fix_missing_locations(_Swap(target, new).visit(tree))
    return mutated


class _Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the other node where this one is."""
        return self.new if node is self.old else super().generic_visit(node)


def _sites(tree: ast.AST, function: str = "", inside: bool = False) -> Iterator[tuple[ast.AST, str]]:
    """Give the nodes in which a fault may be planted, and the function each is in."""
    for child in _children(tree, inside):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{function}.{child.name}".lstrip(".")
            yield from _sites(child, name, not isinstance(child, ast.ClassDef))
        else:
            if inside:
                yield child, function
            yield from _sites(child, function, inside)


def _children(node: ast.AST, inside: bool) -> list[ast.AST]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return list(node.body[ast.get_docstring(node, clean=False) is not None :])
    if inside and isinstance(node, (ast.Raise, ast.JoinedStr)):
        return []
    left_out = [getattr(node, field, None) for field in ("annotation", "returns")]
    return [child for child in ast.iter_child_nodes(node) if child not in left_out]


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Give what may stand in the place of a node."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPERATORS:
            yield _with(node, ops=[OPERATORS[type(operator)]()])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OPERATORS:
            yield _with(node, op=OPERATORS[type(operator)]())
        case ast.BoolOp(op=operator, values=values):
            yield _with(node, op=OPERATORS[type(operator)]())
            for left_out in range(len(values)):
                rest = values[:left_out] + values[left_out + 1 :]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield operand
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.Constant(value=value) if isinstance(value, (bool, int, float)):
            yield ast.Constant(not value if isinstance(value, bool) else value + 1)
        case ast.IfExp(body=body, orelse=other):
            yield _with(node, body=other, orelse=body)
        case ast.If(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=[_, *others]):
            yield _with(node, ifs=others)
        case ast.Slice():
            yield from _moved(node)
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Call():
            yield from _other_calls(node)


def _moved(node: ast.Slice) -> Iterator[ast.AST]:
    """Give a slice with one of its ends moved by one."""
    for side in ("lower", "upper"):
        if end := getattr(node, side):
            yield _with(node, **{side: ast.BinOp(end, ast.Add(), ast.Constant(1))})


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Give calls of a twin, without an argument, or the argument itself."""
    match node.func:
        case ast.Attribute(attr=name) if name in NAMES:
            yield _with(node, func=_with(node.func, attr=NAMES[name]))
        case ast.Name(id=name) if name in NAMES and name != "sum":
            yield _with(node, func=ast.Name(NAMES[name], ast.Load()))
        case ast.Name(id=name) if name in UNWRAPPED and len(node.args) == 1:
            yield node.args[0]
    for number, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in IDLE:
            yield _with(node, keywords=node.keywords[:number] + node.keywords[number + 1 :])


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _text(node: ast.AST) -> str:
    """Return a node as one line; of a branch its condition only."""
    shown = node.test if isinstance(node, ast.If) else node
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(shown))).split())
