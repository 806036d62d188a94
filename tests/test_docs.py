"""What the README and the tutorials say is what happens."""

import doctest
import runpy
from pathlib import Path

import pytest

from assay.distribution import VERSION

ROOT = Path(__file__).parent.parent


def test_the_readme_says_what_happens():
    assert doctest.testfile(str(ROOT / "README.md"), module_relative=False).failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "docs" / "tutorials").glob("*.py")), ids=lambda path: path.stem)
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
