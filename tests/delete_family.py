"""Deletes a family in a copy of the tree and runs the rest of the tests: `python tests/delete_family.py chess`.

What goes is all that a family has: its folders in `src`, `tests` and `docs`, its line in `families/__init__.py` and its
line in the navigation of the docs. `all` does so for each family in turn; `--quick` runs only the test files that name
the family or one of its tasks, and those about the tree as a whole. What comes after `--` goes to pytest.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from assay.families import FAMILIES
from assay.tasks import TASKS

ROOT = Path(__file__).parents[1]
WHOLE = ["tests/tasks", "tests/test_docs.py", "tests/test_layers.py", "tests/test_registry.py"]


def names_of(family):
    """Return the words by which tests know a family: its tasks and its modules."""
    tasks = [name for name in TASKS if TASKS[name].__module__.startswith(f"assay.families.{family}.")]
    return [*tasks, f"families.{family}"]


def copied(folder):
    """Copy what git tracks or would track."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def delete(family, folder):
    """Take a family out of a tree."""
    for place in ("src/assay/families", "tests/families"):
        shutil.rmtree(folder / place / family, ignore_errors=True)
    for ending in ("md", "py"):
        (folder / "docs" / "families" / f"{family}.{ending}").unlink(missing_ok=True)
    for name, line in (("src/assay/families/__init__.py", f'"{family}",'), ("mkdocs.yml", f"families/{family}.md")):
        lines = (folder / name).read_text().splitlines(keepends=True)
        kept = [text for text in lines if not text.rstrip().endswith(line)]
        assert len(kept) == len(lines) - 1, f"{name} has {len(lines) - len(kept)} lines of {family}"
        (folder / name).write_text("".join(kept))


def touched(family, folder):
    """Return the test files that may notice that a family is gone."""
    word = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names_of(family)))
    found = [path for path in sorted((folder / "tests").rglob("test_*.py")) if word.search(path.read_text())]
    return [*WHOLE, *(name for name in (str(path.relative_to(folder)) for path in found) if name not in WHOLE)]


def passes(family, tree, quick, more):
    """Return whether the tests pass without a family, in a tree that is made anew."""
    shutil.rmtree(tree, ignore_errors=True)
    copied(tree)
    delete(family, tree)
    paths = {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree.with_name("compiled"))}
    around = {**os.environ, **paths}
    subprocess.run([sys.executable, "docs/gallery.py", "page"], cwd=tree, env=around, check=True)  # it lists the tasks
    chosen = touched(family, tree) if quick else []
    words = [sys.executable, "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", *chosen, *more]
    print(f"== without {family}: {len(chosen) or 'all'} test files", flush=True)
    return subprocess.run(words, cwd=tree, env=around).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("family", nargs="+", choices=[*FAMILIES, "all"])
    parser.add_argument("--quick", action="store_true", help="only test files that may notice")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, more = parser.parse_args(sys.argv[1:cut]), sys.argv[cut + 1 :]
    chosen = FAMILIES if "all" in given.family else tuple(given.family)
    with tempfile.TemporaryDirectory(prefix="without-") as folder:
        tree = Path(folder) / "tree"  # the same place for each, so that what is compiled is compiled once
        failed = [family for family in chosen if not passes(family, tree, given.quick, more)]
    print(f"without each of {', '.join(chosen)}: " + (f"failed: {', '.join(failed)}" if failed else "passed"))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
