"""Reports stand alone, show names as they are and not as markup, and say the verdict."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.make import make
from assay.data.recipe import Recipe
from assay.errors import DataError
from assay.metrics import METRICS
from assay.predictions import Answer, Predictions
from assay.reporting.write import write_report
from tests.pixels import pixels, trained

STRANGE = '''
"""A task with names that are markup."""

import numpy as np

from assay.concepts import Concept, ConceptSpace
from assay.logic.knowledge import Knowledge
from assay.render.picture import Layout, Picture
from assay.tasks.base import Task


class Strange(Task):
    """Is it <b>bold</b>?"""

    name = "<script>alert(1)</script>|"
    knowledge = Knowledge.of(
        ConceptSpace((Concept("a", ("<u>|", "</table>")), Concept("b", ("x", "y")))),
        {"y": "a == '<u>|'", "z": "'<i>' if b == 'x' else a"},
    )
    layout = Layout(2, 1)

    def style(self, rng, codes, pool):
        return {}

    def render(self, world):
        return Picture(np.array([world.codes], dtype=np.uint8) * 255)
'''


class Page(HTMLParser):
    """The tags of a page, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.open, self.text = [], [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [(key, value) for key, value in attributes if key in ("src", "href", "action", "srcset")]
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def tables(markdown):
    """Return for each table the number of cells of each row."""
    found, inside = [], False
    for line in markdown.splitlines():
        if line.startswith("|"):
            if not inside:
                found.append([])
            found[-1].append(len(re.findall(r"(?<!\\)\|", line)) - 1)
        inside = line.startswith("|")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder):
    data = pixels(folder / "data")
    runs = [folder / "one" / "run", folder / "two" / "run", folder / "black"]
    for seed, (run, model) in enumerate(zip(runs, ("dpl", "dpl", "blackbox"), strict=True)):
        trained(model, data, run, seed=seed)
    return write_report(runs, folder / "out", "Pixels & more")


@pytest.fixture(scope="module")
def strange(folder):
    (folder / "strange.py").write_text(STRANGE)
    make(Recipe(str(folder / "strange.py"), Settings(), train=32), folder / "strange")
    trained("dpl", Dataset.open(folder / "strange"), folder / "odd", {"epochs": 1, "backbone": "mlp"})
    return write_report([folder / "odd"], folder / "oddly", "<b>|\n# title")


def test_the_page_needs_nothing_else(report):
    text = report.read_text()
    page = Page(text)
    assert page.open == [] and not {"script", "link", "iframe", "object"} & set(page.tags)
    assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
    assert all(value.startswith("data:image/png;base64," if key == "src" else "#") for key, value in page.links)


def test_links_lead_to_their_run(report):
    page = Page(report.read_text())
    assert [value for key, value in page.links if key == "href"] == 3 * [
        f"#{name}" for name in page.ids if name.startswith("run")
    ]
    assert len({name for name in page.ids if name.startswith("run")}) == 3  # although two runs have one name


def test_pictures_are_those_of_the_data(report, folder):
    shown = [value for key, value in Page(report.read_text()).links if key == "src"]
    known = set(Dataset.open(folder / "data")["test"].pngs)
    assert len(shown) == 3 * 12 and {base64.b64decode(value.partition(",")[2]) for value in shown} <= known


def test_all_three_say_the_verdict_and_its_reasons(report):
    record = json.loads((report.parent / "report.json").read_text())
    page, markdown = Page(report.read_text()).text, (report.parent / "report.md").read_text()
    assert [case["diagnosis"]["verdict"] for case in record["cases"]] == ["sound", "sound", "opaque"]
    for case in record["cases"]:
        texts = [finding["text"] for finding in case["diagnosis"]["findings"]]
        for reason in [case["diagnosis"]["meaning"], *texts]:
            assert reason in page and reason in markdown
        assert all(reason in markdown for reason in case["diagnosis"]["reasons"])
        for state in case["diagnosis"]["concepts"]["test"]:
            assert f"| {state['concept']} | {state['state']} |" in markdown
    assert "a and b or c" in page and "`y = a and b or c`" in markdown


def test_numbers_can_be_traced(report, folder):
    record = json.loads((report.parent / "report.json").read_text())
    page = Page(report.read_text()).text
    data = Dataset.open(folder / "data")
    assert data.fingerprint in page and record["versions"]["assay"] in page
    for seed, case in enumerate(record["cases"]):
        assert case["run"]["seed"] == seed and case["run"]["data"]["fingerprint"] == data.fingerprint
        assert set(case["diagnosis"]["scores"]) == {"test", "hard", "valid"}
        assert set(case["diagnosis"]["scores"]["test"]) == set(METRICS)


def test_tables_are_well_formed(report, strange):
    for path in (report, strange):
        found = tables((path.parent / "report.md").read_text())
        assert len(found) == (11 if path == report else 5)  # of all runs two, of each run three
        assert all(len(set(cells)) == 1 and len(cells) > 2 for cells in found)


def test_names_are_not_taken_for_markup(strange):
    text = strange.read_text()
    page = Page(text)
    assert page.open == [] and not {"script", "u", "i", "b"} & set(page.tags)
    for name in ("<script>alert(1)</script>|", "<u>|", "</table>", "<b>|\n# title"):
        assert name in page.text or name in text
    markdown = (strange.parent / "report.md").read_text()
    assert markdown.startswith("# &lt;b>\\| # title\n")
    outside = re.sub(r"`[^`]*`", "", markdown)
    assert "<" not in outside


def test_each_run_is_told_by_its_name(report):
    markdown = (report.parent / "report.md").read_text()
    assert markdown.count("| run | mnlogic | dpl |") == 2 and "| black | mnlogic | blackbox | 2 |" in markdown


def test_a_report_of_nothing_is_refused(tmp_path):
    with pytest.raises(DataError, match="no run to report on"):
        write_report([], tmp_path)
    with pytest.raises(DataError, match="holds no finished run"):
        write_report([tmp_path], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_boundary_and_the_changes_are_reported(report):
    record = json.loads((report.parent / "report.json").read_text())
    page, markdown = Page(report.read_text()), (report.parent / "report.md").read_text()
    assert "At the boundary of the rule" in page.text and "sensitivity" in page.text and "| sensitivity |" in markdown
    for case in record["cases"]:
        regions = case["diagnosis"]["regions"]["hard"]
        assert {region["name"] for region in regions} >= {"a and b", "c", "a and not b", "not a and b", "not c"}
        for region in regions:
            told = f"{region['examples']} | {region['accuracy']:.2f} |"
            assert region["name"] in page.text and f" | {region['name']} | {told}" in markdown
        effects = case["diagnosis"]["counterfactuals"]
        assert set(effects["by_concept"]) == {"a", "b", "c"} and effects["all"]["follows"]["value"] is not None
    noticed = [case["diagnosis"]["counterfactuals"]["all"]["noticed"]["value"] for case in record["cases"]]
    assert noticed[0] > 0.9 and noticed[2] is None  # a black box speaks of no concept
    assert page.text.count("Counterfactual pairs: one concept changed (64 pairs)") == 3


def test_names_at_the_boundary_are_not_taken_for_markup(strange):
    record = json.loads((strange.parent / "report.json").read_text())
    diagnosis = record["cases"][0]["diagnosis"]
    names = [region["name"] for region in diagnosis["regions"]["hard"]]
    assert "a == <u>|" in names and diagnosis["counterfactuals"]["pairs"] > 0
    page, markdown = Page(strange.read_text()), (strange.parent / "report.md").read_text()
    assert "a == <u>|" in page.text and " | a == &lt;u>\\| | " in markdown and "<u>" not in strange.read_text()


def test_predictions_of_another_program_need_not_name_a_seed(evenodd, tmp_path):
    data, knowledge = evenodd.symbols("test"), evenodd.knowledge
    labels = {name: Answer(data.labels[:, place]) for place, name in enumerate(knowledge.label_names)}
    Predictions(evenodd.fingerprint, "test", data.index, labels).write(tmp_path / "mine.parquet", knowledge)
    page = write_report([tmp_path / "mine.parquet"], tmp_path / "report", dataset=evenodd)
    assert "seed unknown" in page.read_text() and "| unknown |" in page.with_suffix(".md").read_text()
