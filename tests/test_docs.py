"""What the README, the tutorials and the pages say is what happens, and what is generated is current."""

import doctest
import importlib
import json
import re
from pathlib import Path

import pytest
from docs import api, examples, gallery, pages
from docs.parts_diagram import draw_parts, parts_of
from docs.run_notebook import cells_of, run_cells

from assay.base import VERSION
from assay.families import FAMILIES
from assay.models import MODELS
from assay.tasks import TASKS
from tests.samples import MISSING

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
MOST_BYTES = 300_000


def commands_in(page):
    return [line.split("#")[0].split() for line in page.read_text().splitlines() if line.startswith("assay ")]


# -- the README --------------------------------------------------------------------------------------------------------


def test_every_command_in_the_readme_exists_and_is_on_the_page_of_commands():
    from assay.cli import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    said = commands_in(ROOT / "README.md")
    tried = commands_in(DOCS / "command_line.md")
    assert said and {words[1] for words in [*said, *tried]} <= known
    assert all(any(words[: len(short)] == short for words in tried) for short in said)


@pytest.mark.skipif(bool(MISSING), reason="a family was deleted")
def test_the_readme_counts_tasks_and_models_right():
    text = (ROOT / "README.md").read_text()
    assert f"[{len(TASKS)} tasks of eleven families]" in text and len(FAMILIES) == 11
    assert f"[{len(MODELS)} models]" in text


def test_the_readme_fits_the_width_of_a_page():
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 95


def test_the_citation_names_this_version():
    import tomllib

    import yaml

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["version"], cited["license"]) == (VERSION, project["license"])
    assert f"version = {{{VERSION}}}" in (ROOT / "README.md").read_text()


# -- pages that commands write -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_page_with_its_facts(family):
    block = pages.family_block(family)
    assert block.put_into(block.page.read_text()) == block.page.read_text(), "run: python docs/pages.py"


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_has_a_page_with_its_facts_and_its_parts(name):
    block = pages.model_block(name)
    page = block.page.read_text()
    assert block.put_into(page) == page, "run: python docs/pages.py"
    assert draw_parts(parts_of(page)) == (DOCS / "images" / "models" / f"{name}.svg").read_text()
    assert f"(../images/models/{name}.svg)" in page


@pytest.mark.parametrize("overview", pages.OVERVIEWS, ids=lambda overview: overview.__name__)
def test_overviews_are_current(overview):
    block = overview()
    assert block.put_into(block.page.read_text()) == block.page.read_text(), "run: python docs/pages.py"


def test_no_page_is_left_of_a_family_or_model_that_is_gone():
    assert {page.stem for page in (DOCS / "families").glob("*.md")} == set(FAMILIES)
    assert {page.stem for page in (DOCS / "models").glob("*.md")} == set(MODELS)


def test_a_page_without_markers_is_refused():
    block = pages.Block(Path("page.md"), "facts", "text")
    assert block.put_into("a<!-- facts: begin -->b<!-- facts: end -->c").split("\n\n")[1] == "text"
    with pytest.raises(ValueError, match="page.md lacks"):
        block.put_into("a<!-- facts: begin -->b")


def test_the_gallery_shows_every_task():
    assert (DOCS / "gallery.md").read_text() == gallery.page(), "run: python docs/gallery.py page"
    assert all((DOCS / "images" / f"{name}.png").exists() for name in TASKS)


def test_the_pages_of_the_interface_are_current_and_leave_no_name_out():
    import assay

    for path, text in api.pages().items():
        assert path.read_text() == text, "run: python docs/api.py"
    named = [name for _, names in api.GROUPS.values() for name in names.split()]
    assert sorted(named) == assay.__all__


@pytest.mark.parametrize("name", ["pages", "examples", "parts_diagram", "doctest_blocks"])
def test_what_the_scripts_of_the_docs_say_of_themselves(name):
    if name == "doctest_blocks":
        pytest.importorskip("griffe")
    result = doctest.testmod(importlib.import_module(f"docs.{name}"))
    assert result.attempted and not result.failed


# -- examples and tutorials --------------------------------------------------------------------------------------------


def pages_with_code():
    found = [page for folder in examples.PAGES for page in sorted((DOCS / folder).glob("*.md"))]
    return [
        pytest.param(page, id=f"{page.parent.name}-{page.stem}") for page in found if examples.code_of(page.read_text())
    ]


@pytest.mark.parametrize("page", pages_with_code())
def test_the_example_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown, names = [], {"__name__": "example"}
    for code in examples.code_of(page.read_text()):
        if "from assay." in code or "write_coco" in code:
            continue
        shown += examples.run_code(examples.smaller(code), names)
    assert shown


def test_outputs_replace_those_of_before():
    page = "a\n\n```python\nx\n```\n\n```text\nold\n```\n\n![t](../images/examples/p-1.png)\n\nb\n"
    outputs = [{"text/plain": "new"}, {"image/png": ""}]
    again = examples.with_outputs(page, lambda code: outputs, lambda picture: "![t](../images/examples/p-2.png)")
    assert again == page.replace("old", "new").replace("p-1", "p-2")
    assert examples.with_outputs(again, lambda code: [], lambda picture: "") == "a\n\n```python\nx\n```\n\nb\n"


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs_and_its_page_shows_this_code(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = cells_of(script.read_text())
    stored = json.loads(script.with_suffix(".ipynb").read_text())["cells"]
    current = ["".join(cell["source"]) for cell in stored] == [cell.source for cell in cells]
    assert current, f"run: python docs/run_notebook.py {script.name}"
    page = script.with_suffix(".md").read_text()
    assert all(cell.source in page for cell in cells)
    assert not re.search(r"^\s*assert |tempfile|# in tests", page, re.MULTILINE)
    assert [output for cell in run_cells(cells, small=True) for output in cell.outputs]


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_what_we_teach_needs_the_public_interface_only(script):
    names = re.findall(r"^\s*(?:from|import) (assay[\w.]*)", script.read_text(), re.MULTILINE)
    assert names and set(names) == {"assay"}


# -- pictures and links ------------------------------------------------------------------------------------------------


def test_no_picture_is_large_and_none_is_forgotten():
    pictures = [path for path in (DOCS / "images").rglob("*") if path.is_file()]
    assert pictures and [path.name for path in pictures if path.stat().st_size > MOST_BYTES] == []
    if not MISSING:  # what shows the pictures of a deleted family is gone
        text = "".join(page.read_text() for page in [*DOCS.rglob("*.md"), ROOT / "README.md"])
        assert [path.name for path in pictures if not re.search(rf"{re.escape(path.name)}[)\"]", text)] == []
