"""The package's source, parsed once for all tests that read it."""

import ast
from functools import cache
from pathlib import Path

import assay

PACKAGE = Path(assay.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of a file."""
    return tuple(ast.walk(tree_of(path)))
