"""Every room has a door: what others use of a package is what its `__init__` offers, and nothing deeper."""

import ast
import functools
import re
from importlib import import_module
from pathlib import Path

import pytest

from assay.doors import homes_in
from tests.source_trees import FILES, PACKAGE, nodes_of

TESTS = Path(__file__).parent
FAMILIES = "families"
"""A family is a room of its own: its `__init__` registers its tasks, and only it, its tests and its page go in."""
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != FAMILIES)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) and path.parent != PACKAGE else ""


@functools.cache
def imports_in(path: Path) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Return line, module and names of what a file imports from the package."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "assay":
            found.append((node.lineno, str(node.module), tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, ()) for alias in node.names if alias.name.startswith("assay.")]
    return tuple(found)


def behind_doors(path: Path) -> list[str]:
    """Return what a file imports from behind the door of another room."""
    offences = []
    for line, module, names in imports_in(path):
        parts = module.split(".")
        room = parts[1] if len(parts) > 1 else ""
        if room in ROOMS and room != room_of(path) and (len(parts) > 2 or not names):
            offences.append(f"{path.name}:{line} goes into {module} for {', '.join(names)}")
    return offences


def test_packages_are_entered_by_their_doors():
    assert [offence for path in FILES if path != PACKAGE / "__init__.py" for offence in behind_doors(path)] == []


@pytest.mark.parametrize("room", [*ROOMS, ""])
def test_a_door_offers_what_exists_and_no_module_by_its_own_name(room: str):
    """A name that is a module as well would be the module or the object, by who imported what before."""
    folder = PACKAGE / room
    homes = homes_in((folder / "__init__.py").read_text(encoding="utf-8"))
    inside = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert not set(homes) & inside
    door = import_module(f"assay.{room}".rstrip("."))
    assert door.__doc__ and sorted(door.__all__) == sorted(homes) == dir(door)
    for name in homes:
        assert getattr(door, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        door.nonsense


def test_what_a_door_offers_has_users_outside():
    """A name at a door is a decision: another package, a page of the docs, a benchmark or a test needs it."""
    root = TESTS.parent
    others = [path for part in ("docs", "benchmarks", "tests") for path in (root / part).rglob("*.py")]
    texts = [*FILES, *others, *(root / "docs").rglob("*.md")]
    words = {path: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in texts}
    unused = {}
    for room in ROOMS:
        outside = set().union(*(words[path] for path in words if room_of(path) != room))
        offered = homes_in((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
        unused[room] = sorted(set(offered) - outside)
    assert not {room: names for room, names in unused.items() if names}
