"""Deletes a part in a copy of the tree and runs the rest of the tests: `python tests/delete_part.py family chess`.

A part is a family (its folders in `src`, `tests` and `docs`), a model, a module of metrics or of findings (one file each). With it goes
its line in the registry of its kind, its page, and that page's line in the navigation of the docs; nothing else knows of it.
`all` does so for each of the kind in turn; `--quick` runs only the laws of the kind, the tests about the tree as a whole, and
for a family the files that name it. What comes after `--` goes to pytest.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.base import Registry
from assay.diagnosis import FINDINGS
from assay.families import FAMILIES
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS

ROOT = Path(__file__).parents[1]
WHOLE = ("tests/test_layers.py",)


@dataclass(frozen=True)
class Kind:
    """A kind of part: the names that there are, what the parts of a name are called, and how one is taken away."""

    registry: Registry
    listing: str
    names: Callable[[], list[str]]
    removed: Callable[[Path, str], list[str]]
    laws: tuple[str, ...]


def delete_family(tree: Path, family: str) -> list[str]:
    """Take a family away; return the names of its tasks."""
    names = [name for name in TASKS if TASKS[name].__module__.startswith(f"assay.families.{family}.")]
    for place in ("src/assay/families", "tests/families"):
        shutil.rmtree(tree / place / family, ignore_errors=True)
    for ending in ("md", "py"):
        (tree / "docs" / "families" / f"{family}.{ending}").unlink(missing_ok=True)
    for name, line in (("src/assay/families/__init__.py", f'"{family}",'), ("mkdocs.yml", f"families/{family}.md")):
        lines = (tree / name).read_text().splitlines(keepends=True)
        kept = [text for text in lines if not text.rstrip().endswith(line)]
        assert len(kept) == len(lines) - 1, f"{name} has {len(lines) - len(kept)} lines of {family}"
        (tree / name).write_text("".join(kept))
    return names


def delete_model(tree: Path, name: str) -> list[str]:
    """Take a model away: its module, its row in the registry, its page."""
    delete_module(tree, str(MODELS.entry(name).target).partition(":")[0])
    delete_rows(tree / "src/assay/models/registered.py", name)
    (tree / "docs" / "models" / f"{name}.md").unlink(missing_ok=True)
    (tree / "docs" / "images" / "models" / f"{name}.svg").unlink(missing_ok=True)
    delete_lines(tree / "mkdocs.yml", f"models/{name}.md")
    return [name]


def delete_metrics(tree: Path, module: str) -> list[str]:
    """Take a module of metrics away; return the names of its metrics."""
    names = [name for name in METRICS if metric_module(name) == module]
    delete_module(tree, f"assay.metrics.{module}")
    delete_word(tree / "src/assay/metrics/registered.py", module)
    return names


def delete_findings(tree: Path, module: str) -> list[str]:
    """Take a module of findings away; return the names of its findings."""
    names = [name for name in FINDINGS if finding_module(name) == module]
    delete_module(tree, f"assay.diagnosis.checks.{module}")
    delete_word(tree / "src/assay/diagnosis/checks/__init__.py", module)
    return names


def finding_module(name: str) -> str:
    """Return the module of a finding, below `assay.diagnosis.checks`."""
    return str(FINDINGS[name].__module__).rpartition(".")[2]


def metric_module(name: str) -> str:
    """Return the module of a metric, below `assay.metrics`."""
    metric = METRICS[name]
    return str((metric.values or metric.overall).__module__).rpartition(".")[2]


def delete_module(tree: Path, module: str) -> None:
    """Delete a module, with its folder if it is the only one there."""
    path = tree.joinpath("src", *module.split(".")).with_suffix(".py")
    path.unlink()
    if {other.name for other in path.parent.glob("*.py")} == {"__init__.py"}:
        shutil.rmtree(path.parent)


def delete_rows(path: Path, name: str) -> None:
    """Delete the tuples of a table that begin with a name."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    rows = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Tuple) and node.elts]
    for row in rows:
        if isinstance(row.elts[0], ast.Constant) and row.elts[0].value == name:
            lines[row.lineno - 1 : row.end_lineno] = []
            break
    else:
        raise ValueError(f"{path.name} has no row of {name}")
    path.write_text("".join(lines))


def delete_word(path: Path, word: str) -> None:
    """Delete a module's name from the imports and the list of a registry."""
    text = re.sub(rf'^    {word},\n|"{word}",? ?', "", path.read_text(), flags=re.MULTILINE)
    path.write_text(
        re.sub(rf"(import (?:\w+, )*?){word}(?:, |$)", r"\1", text, flags=re.MULTILINE).replace(", \n", "\n")
    )


def delete_lines(path: Path, ending: str) -> None:
    """Delete the lines that end so."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.rstrip().endswith(ending)))


KINDS = {
    "family": Kind(TASKS, "tasks", lambda: [*FAMILIES], delete_family, ("tests/tasks", "tests/test_docs.py")),
    "model": Kind(MODELS, "models", lambda: [*MODELS], delete_model, ("tests/models/test_names.py", "tests/testing")),
    "metric": Kind(
        METRICS, "metrics", lambda: sorted({metric_module(name) for name in METRICS}), delete_metrics,
        ("tests/laws/test_metrics.py",),
    ),
    "finding": Kind(
        FINDINGS, "findings", lambda: sorted({finding_module(name) for name in FINDINGS}), delete_findings,
        ("tests/laws/test_diagnosis.py",),
    ),
}  # fmt: skip


def copied(folder: Path) -> None:
    """Copy what git tracks or would track."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def touched(kind: str, names: list[str], part: str, tree: Path) -> Iterator[str]:
    """Give the test files that may notice that a part is gone."""
    yield from WHOLE
    yield from KINDS[kind].laws
    if kind == "family":
        word = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in [*names, f"families.{part}"]))
        for path in sorted((tree / "tests").rglob("test_*.py")):
            if word.search(path.read_text()) and str(path.relative_to(tree)) not in (*WHOLE, *KINDS[kind].laws):
                yield str(path.relative_to(tree))


def passes(kind: str, part: str, tree: Path, quick: bool, more: list[str]) -> bool:
    """Return whether the list of what there is and the tests are fine without a part, in a tree that is made anew."""
    shutil.rmtree(tree, ignore_errors=True)
    copied(tree)
    names = KINDS[kind].removed(tree, part)
    paths = {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree.with_name("compiled"))}
    around = {**os.environ, **paths, "ASSAY_WITHOUT": ",".join(names)}
    if kind == "family":
        subprocess.run(
            [sys.executable, "docs/gallery.py", "page"], cwd=tree, env=around, check=True
        )  # it lists the tasks
    else:
        subprocess.run([sys.executable, "docs/pages.py"], cwd=tree, env=around, check=True)
    words = [sys.executable, "-m", "assay", "list", KINDS[kind].listing]
    listed = subprocess.run(words, cwd=tree, env=around, capture_output=True, text=True)
    gone = not any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", listed.stdout) for name in names)
    chosen = [*touched(kind, names, part, tree)] if quick else []
    words = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *chosen, *more]
    print(f"== without {kind} {part}: {len(chosen) or 'all'} test files; listed: {not gone}", flush=True)
    return listed.returncode == 0 and gone and subprocess.run(words, cwd=tree, env=around).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("part", nargs="+", help="names, or all")
    parser.add_argument("--quick", action="store_true", help="only test files that may notice")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, more = parser.parse_args(sys.argv[1:cut]), sys.argv[cut + 1 :]
    names = KINDS[given.kind].names()
    if strange := set(given.part) - {*names, "all"}:
        parser.error(f"no {given.kind} {', '.join(strange)}; there are {', '.join(names)}")
    chosen = names if "all" in given.part else given.part
    with tempfile.TemporaryDirectory(prefix="without-") as folder:
        tree = Path(folder) / "tree"  # the same place for each, so that what is compiled is compiled once
        failed = [part for part in chosen if not passes(given.kind, part, tree, given.quick, more)]
    print(f"without each of {', '.join(chosen)}: " + (f"failed: {', '.join(failed)}" if failed else "passed"))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
