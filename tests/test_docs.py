"""What the README and the tutorials say is what happens."""

import doctest
import json
import re
import runpy
from pathlib import Path

import pytest

from assay.distribution import VERSION

ROOT = Path(__file__).parent.parent


def scripts(folder, slow):
    """Return the scripts of a folder of the docs; those that take half a minute are slow tests."""
    return [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in slow else ())
        for path in sorted((ROOT / "docs" / folder).glob("*.py"))
    ]


def test_the_readme_says_what_happens():
    assert doctest.testfile(str(ROOT / "README.md"), module_relative=False).failed == 0


@pytest.mark.parametrize("script", scripts("tutorials", slow={"08_run_on_a_cluster"}))
def test_tutorial_runs(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_every_command_in_the_readme_exists():
    from assay.cli.main import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    said = {line.split()[1] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("assay ")}
    assert said <= known


def test_the_gallery_shows_every_task():
    from assay.tasks import TASKS

    page = (ROOT / "docs" / "gallery.md").read_text()
    assert all(f"## {name}\n" in page and (ROOT / "docs" / "images" / f"{name}.png").exists() for name in TASKS)


def test_the_page_on_the_interface_is_current():
    found = runpy.run_path(str(ROOT / "docs" / "api.py"))["page"]()
    assert found == (ROOT / "docs" / "api.md").read_text(), "run: python docs/api.py"


def test_the_citation_names_this_version():
    import tomllib

    import yaml

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["version"], cited["license"]) == (VERSION, project["license"])


@pytest.mark.parametrize("folder", ["tutorials", "notebooks"])
def test_what_we_teach_needs_the_public_interface_only(folder):
    for script in sorted((ROOT / "docs" / folder).glob("*.py")):
        names = re.findall(r"^\s*(?:from|import) (assay[\w.]*)", script.read_text(), re.MULTILINE)
        assert names and set(names) == {"assay"}, script.name


@pytest.mark.parametrize("script", scripts("notebooks", slow={"05_compare_models"}))
def test_notebook_runs_and_its_page_shows_this_code(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from docs.run_notebook import cells_of, run_cells

    cells = cells_of(script.read_text())
    stored = json.loads(script.with_suffix(".ipynb").read_text())["cells"]
    assert ["".join(cell["source"]) for cell in stored] == [cell.source for cell in cells], (
        f"run: python docs/run_notebook.py {script.name}"
    )
    shown = [output for cell in run_cells(cells, small=True) for output in cell.outputs]
    assert any(output.kind == "image/png" for output in shown)
    page = script.with_suffix(".md").read_text()
    assert all(cell.source in page for cell in cells)
