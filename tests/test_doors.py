"""Every room has a door: what others use of a package is what its `__init__` offers, and nothing deeper."""

import ast
import functools
import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import assay
from assay.doors import homes_in

PACKAGE = Path(assay.__file__).parent
ROOT = Path(__file__).parents[1]
FAMILIES = "families"
"""A family is a room of its own: its `__init__` registers its tasks, and only it, its tests and its page go in."""
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != FAMILIES)
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
GUESTS = sorted(path for part in ("tests", "docs") for path in (ROOT / part).rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FEW_ARGUMENTS = 2
"""A function with no more arguments than these may say in its first line what they are."""


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) and path.parent != PACKAGE else ""


MODULES = {module_name(path): path for path in FILES}
HOMES = {room: homes_in((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")) for room in ROOMS}


@functools.cache
def imports_in(path: Path) -> tuple[tuple[int, str, str], ...]:
    """Return line, module and name of each import from the package in a file, also of those inside functions."""
    found: list[tuple[int, str, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "assay":
            found += [(node.lineno, str(node.module), alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, "") for alias in node.names if alias.name.startswith("assay.")]
    return tuple(found)


def behind_doors(path: Path) -> list[str]:
    """Return what a file imports from behind the door of another room."""
    offences = []
    for line, module, name in imports_in(path):
        room = module.split(".")[1] if "." in module else ""
        if room in ROOMS and room != room_of(path) and (module.count(".") > 1 or not name or name not in HOMES[room]):
            offences.append(f"{path.name}:{line} goes into {module} for {name}")
    return offences


@pytest.mark.parametrize("files", [FILES, GUESTS], ids=["rooms", "tests and pages"])
def test_rooms_are_entered_by_their_doors(files: list[Path]):
    assert [offence for path in files for offence in behind_doors(path)] == []


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


def test_what_a_door_offers_has_users_outside_or_a_page():
    """A name at a door is a decision: another room, a benchmark, a test or a page of the docs leans on it."""
    users: dict[tuple[str, str], set[Path]] = defaultdict(set)
    for path in [*FILES, *GUESTS, *(ROOT / "benchmarks").rglob("*.py")]:
        for _, module, name in imports_in(path):
            room = module.split(".")[1] if "." in module else ""
            if room in ROOMS and room != room_of(path):
                users[room, name].add(path)
    told = set().union(*(re.findall(r"\w+", path.read_text(encoding="utf-8")) for path in PAGES))
    told |= set(homes_in((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
    lonely = {room: [name for name in HOMES[room] if not users[room, name] and name not in told] for room in ROOMS}
    assert not {room: names for room, names in lonely.items() if names}


def edges() -> dict[str, set[str]]:
    """Return which modules each module imports, doors looked through."""

    def home(module: str, name: str) -> str:
        if f"{module}.{name}" in MODULES:
            return f"{module}.{name}"
        room = module.removeprefix("assay.")
        return HOMES.get(room, {}).get(name, module) if module.count(".") == 1 else module

    doors = {PACKAGE / room / "__init__.py" for room in ROOMS}
    return {
        module: {home(source, name) for _, source, name in imports_in(path)} & MODULES.keys() - {module}
        for module, path in MODULES.items()
        if path not in doors
    }


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Return the nodes from which a way leads back to them."""

    def reached(start: str) -> set[str]:
        seen, ahead = set(), [*graph.get(start, ())]
        while ahead:
            node = ahead.pop()
            if node not in seen:
                seen.add(node)
                ahead += graph.get(node, ())
        return seen

    return sorted(node for node in graph if node in reached(node))


def test_no_import_leads_back_to_where_it_began():
    """Also not one inside a function: who reads a module never has to read one that needs it."""
    assert circles(edges()) == []


def test_parts_of_a_room_import_each_other_one_way():
    parts: dict[str, set[str]] = defaultdict(set)
    for module, others in edges().items():
        for other in others:
            here, there = (name.split(".")[: 3 if name.count(".") > 2 else 2] for name in (module, other))
            if here[1] == there[1] and here != there and len(here) == len(there) == 3:
                parts[".".join(here)].add(".".join(there))
    assert circles(parts) == []


def undocumented(function: object) -> list[str]:
    """Return the arguments of a function that its docstring does not tell of."""
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]  # type: ignore[arg-type]
    text = inspect.getdoc(function) or ""
    section = text.partition("Parameters\n----------\n")[2]
    told = set(re.findall(r"^\*{0,2}(\w+)(?: :.*)?$", section, re.MULTILINE))
    return [name for name in names if name not in told] if len(names) > FEW_ARGUMENTS else []


@pytest.mark.parametrize("room", ROOMS)
def test_arguments_of_what_a_door_offers_are_documented(room: str):
    door = import_module(f"assay.{room}")
    functions = {name: getattr(door, name) for name in HOMES[room] if inspect.isfunction(getattr(door, name))}
    silent = {name: undocumented(function) for name, function in functions.items()}
    assert not {name: left for name, left in silent.items() if left}
