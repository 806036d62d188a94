"""Imports point one way, torch stays under `models`, and the core starts fast."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

from assay.families import FAMILIES, SHARED
from tests.source_trees import FILES, PACKAGE, nodes_of

ORDER = [
    "renamed", "doors", "base", "logic", "prolog", "counting", "contracts", "worlds", "render", "tasks", "dataset", "exchange", "families", "metrics", "runs", "auditing", "diagnosis", "reporting", "viewer", "models", "lab", "testing", "api", "cli", "__main__",
]  # fmt: skip


def room(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@functools.cache
def imports(path):
    """Return the names of the modules that a file imports, wherever in it."""
    return tuple(imported(path))


def imported(path):
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "assay":
                yield from (f"assay.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def points_right(path, name):
    """Return whether a file imports something to its right, or by a relative name."""
    return name.startswith(".") or (
        name.startswith("assay.") and ORDER.index(name.split(".")[1]) > ORDER.index(room(path))
    )


def test_imports_point_to_the_left():
    files = [path for path in FILES if path != PACKAGE / "__init__.py"]
    assert not [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in files
        for name in imports(path)
        if points_right(path, name)
    ]


def test_nothing_but_its_registry_line_knows_a_family():
    folders = sorted(path.name for path in (PACKAGE / "families").iterdir() if (path / "__init__.py").exists())
    assert folders == sorted([*FAMILIES, *SHARED])
    for path in FILES:
        text, own = path.read_text(), path.relative_to(PACKAGE).parts[:2]
        for family in FAMILIES:
            if own != ("families", family):
                assert f"assay.families.{family}" not in text, f"{path} knows the family {family}"
        if own[0] != "families":
            assert "assay.families." not in text, f"{path} knows what families share"


def test_models_and_diagnosis_need_no_task():
    """Who trains or judges reads a dataset; only those who draw worlds ask the task that made it."""
    for path in FILES:
        if room(path) in ("predictions", "metrics", "runs", "diagnosis", "reporting", "models"):
            asked = [
                name
                for name in imports(path)
                if name.startswith(("assay.tasks", "assay.families", "assay.dataset.pairs"))
            ]
            assert not asked, f"{path} imports {asked}"


def test_models_know_no_judge():
    """They read data and write predictions; what a diagnosis knows is handed to them by who calls."""
    judges = ("assay.diagnosis", "assay.reporting")
    knowing = [
        (str(path), name)
        for path in FILES
        if room(path) == "models"
        for name in imports(path)
        if name.startswith(judges)
    ]
    assert not knowing


def test_reading_a_dataset_loads_no_task():
    code = "import sys; from assay.dataset import Dataset; from assay.diagnosis import diagnose_run; print([n for n in sys.modules if n.startswith('assay.tasks.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_torch_is_imported_under_models_only():
    others = [path for path in FILES if room(path) != "models"]
    assert not [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in others
        for name in imports(path)
        if name.split(".")[0] in ("torch", "safetensors")
    ]


def test_no_file_reads_pickles_or_evaluates_text():
    for path in FILES:
        called = {n.func.id for n in nodes_of(path) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not called & {"eval", "exec", "compile"}, path
        assert not {"pickle", "joblib", "dill", "marshal"} & set(imports(path)), path


def test_there_is_no_drawer_for_odds_and_ends():
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "common", "misc")]


def loaded_by(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_the_core_starts_without_the_heavy_parts():
    modules = loaded_by(
        "from assay import Knowledge, parse; from assay.logic import compile_diagram; from assay.tasks import TASKS; from assay.models import MODELS"
    )
    assert not {"torch", "pyarrow", "PIL", "rich", "sklearn", "pandas", "matplotlib"} & modules


def test_diagnosing_needs_no_torch():
    modules = loaded_by(
        "from assay.diagnosis import diagnose_run; from assay.reporting import write_report; from assay.cli import main"
    )
    assert "torch" not in modules


ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted(path for folder in ("benchmarks", "docs") for path in (ROOT / folder).rglob("*.py"))


def names_defined_by(path):
    for node in nodes_of(path):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def source_of(module):
    path = (PACKAGE.parent if module.startswith("assay") else ROOT).joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def is_of_a_deleted_family(module):
    """`tests/delete_part.py` takes a family away and leaves its benchmark."""
    parts = module.split(".")
    return parts[:2] == ["assay", "families"] and len(parts) > 2 and parts[2] not in (*FAMILIES, *SHARED)


def test_what_benchmarks_and_pages_import_exists():
    """No test imports these files, so a module that moves would break them unseen."""
    for path, node in ((script, node) for script in SCRIPTS for node in nodes_of(script)):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in ("assay", "benchmarks"):
            if is_of_a_deleted_family(node.module):
                continue
            source = source_of(node.module)
            assert source, f"{path.name}:{node.lineno}: there is no {node.module}"
            defined = set(names_defined_by(source))
            for alias in node.names:
                found = alias.name in defined or source_of(f"{node.module}.{alias.name}")
                assert found, f"{path.name}:{node.lineno}: {node.module} has no {alias.name}"
