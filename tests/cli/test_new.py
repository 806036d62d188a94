"""`assay new` writes files that pass their checks at once."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "file", "name"),
    [("task", "brighter_lamp.py", "brighter-lamp"), ("model", "brighter_lamp.py", "brighter-lamp"), ("metric", "brighter_lamp.py", "brighter_lamp")],
)  # fmt: skip
def test_a_template_passes_its_check(assay, tmp_path, monkeypatch, kind, file, name):
    monkeypatch.chdir(tmp_path)
    told = assay("new", kind, "BrighterLamp")
    assert told.status == 0 and told.err.strip() == f"{file}  next: assay check {file}"
    told = assay("check", file)
    assert told.status == 0 and told.out.startswith(name) and "BROKEN" not in told.out and "holds" in told.out
    assert "is there already" in assay("new", kind, "brighter-lamp").error
    clean = subprocess.run([sys.executable, "-m", "ruff", "check", "--ignore", "I001", "--config", ROOT / "pyproject.toml", file], check=False, capture_output=True, text=True)  # fmt: skip
    assert clean.returncode == 0, clean.stdout
    assert all(len(line) <= 120 for line in Path(file).read_text().splitlines())


def test_a_data_folder_passes_the_audit(assay, tmp_path):
    assert assay("new", "data", "my-lamps", "-o", tmp_path).status == 0
    told = assay("audit", tmp_path / "my_lamps")
    assert told.status == 0 and told.err.strip().endswith("passed 7 checks; not checked: sources")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("task 3d", "'3d' is no name"),
        ("task ../x", "'../x' is no name"),
        ("task mnadd", "there is a task named 'mnadd'"),
        ("metric collapse", "there is a metric named 'collapse'"),
        ("model CBM", "there is a model named 'cbm'"),
    ],
)
def test_names_that_cannot_be(assay, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    assert told in assay("new", *words.split()).error and not list(tmp_path.iterdir())


def test_the_bundled_ones_register_by_entry_points_as_well():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for registry in (TASKS, MODELS, METRICS):
        assert points[registry.group] == {"bundled": registry.filled_by}
        assert registry.group == f"assay.{registry.kind}s" and len(registry) > 5
