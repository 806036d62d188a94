"""The core works without the optional packages, and each of these is asked for in one line."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assay
from assay.base import EXTRAS, VERSION, MissingExtra, import_extra, install_line
from assay.models import MODELS
from tests.samples import skip_without

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [*EXTRAS, "pandas", "mlxtend"]
WITHOUT = f"""
import sys
for name in {OPTIONAL}:
    sys.modules[name] = None
from assay.cli.commands import main
main()
"""


def core(*words, cwd):
    """Run a command without any optional package."""
    command = [sys.executable, "-c", WITHOUT, *words]
    env = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, check=False)


def test_the_version_needs_no_metadata():
    assert assay.__version__ == VERSION
    assert PROJECT["name"] == "concept-assay" and "version" in PROJECT["dynamic"]


def test_every_extra_is_declared_and_none_is_core():
    extras = PROJECT["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(extras)
    core_names = {line.partition(">")[0].lower() for line in PROJECT["dependencies"]}
    assert not core_names & {"scikit-learn", "numba", "mlxtend", "pandas", "torch", "manifold3d", "chess"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    skip_without("mnadd-evenodd")
    folder = tmp_path_factory.mktemp("core")
    made = core("make", "mnadd-evenodd", "-o", "data", "--set", "n=40", "--workers", "1", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


def test_the_core_makes_and_counts(place):
    told = core("count", "data", cwd=place)
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["make", "clevr", "-o", "x"], f"'clevr' needs manifold3d: {install_line('scenes')}"),
        (["make", "trains", "-o", "x"], f"a scene in three dimensions needs manifold3d: {install_line('scenes')}"),
        (["train", "tree", "data", "-o", "x"], f"the model 'tree' needs sklearn: {install_line('probes')}"),
        (["train", "dpl", "data", "-o", "x"], f"'dpl' needs torch: {install_line('train')}"),
    ],
)
def test_what_is_missing_is_one_line(words, line, place):
    if words[0] == "make":
        skip_without(words[1])
    told = core(*words, cwd=place)
    assert (told.returncode, told.stderr) == (2, f"error: {line}\n")


def test_a_baseline_asks_for_scikit_learn_before_a_study_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    tree = MODELS["tree"]
    with pytest.raises(MissingExtra, match=r"the model 'tree' needs sklearn: pip install '\.\[probes\]'"):
        tree.ready(None)


def test_an_error_inside_an_optional_part_is_not_taken_for_a_missing_one(monkeypatch, tmp_path):
    (tmp_path / "broken_part.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_extra("broken_part", "this")


def test_nobody_is_sent_to_the_package_of_another_project():
    places = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.py")]
    assert [
        str(path) for path in places if "assay[" in path.read_text() and "concept-assay[" not in path.read_text()
    ] == []
