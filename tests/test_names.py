"""Names say what they hold: one meaning for each public class name, and no function whose name is a bare participle."""

import ast
from collections import defaultdict

from tests.source_trees import FILES, PACKAGE, nodes_of

PARTICIPLES = {
    "asked", "changed", "chosen", "drawn", "found", "given", "held", "kept", "made", "said", "seen", "settled", "shown",
    "styled", "taken", "told",
}  # fmt: skip
"""They do not say what a function does: `draw_worlds` and `labels_of` do."""
PROPERTIES = {"property", "cached_property"}


def nodes_by_file():
    return ((path.relative_to(PACKAGE).as_posix(), nodes_of(path)) for path in FILES)


def is_property(function):
    names = (part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in function.decorator_list)
    return bool(PROPERTIES & set(names))


def test_no_public_class_name_occurs_twice():
    places = defaultdict(list)
    for path, nodes in nodes_by_file():
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_public_function_is_a_bare_participle():
    functions = [
        f"{path}:{node.lineno} {node.name}"
        for path, nodes in nodes_by_file()
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name in PARTICIPLES and not is_property(node)
    ]
    assert not functions
