"""Reports stand alone, show names as they are and not as markup, and say the verdict."""

import base64
import json
import re

import numpy as np
import pytest

from assay.base import DataError, Settings
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, Recipe, make
from assay.metrics import METRICS
from assay.reporting import write_report
from tests.pixels import pixels, trained
from tests.predictors import predictions
from tests.reporting.pages import SHIFTED, Page, tables

STRANGE = '''
"""A task with names that are markup."""

import numpy as np

from assay.logic.concepts import Concept, ConceptSpace
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
def shortcut(evenodd, folder):
    """A file of predictions whose concepts are shifted and whose labels are right, one of right labels without concepts,
    and one that is wrong."""
    data, paths = evenodd.symbols("test"), [folder / f"{name}.parquet" for name in ("shifted", "silent", "wrong")]
    read = SHIFTED[data.concepts]
    said = [predictions(data, evenodd.knowledge.labels_of(read), read), predictions(data, data.labels)]
    said.append(predictions(data, np.zeros_like(data.labels), np.zeros_like(data.concepts)))
    for path, one in zip(paths, said, strict=True):
        one.write(path, evenodd.knowledge)
    return write_report(paths, folder / "shortcut", dataset=evenodd)


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
    targets = {value.removeprefix("#") for key, value in page.links if key == "href"}
    assert targets == {name for name in page.ids if not name.startswith("chart")}
    assert len(page.ids) == len(set(page.ids)) and {"verdicts", "task-1", "run-1", "run-2", "run-3"} == targets


def test_pictures_are_those_of_the_data(report, folder):
    shown = [value for key, value in Page(report.read_text()).links if key == "src"]
    known = set(Dataset.open(folder / "data")["test"].pngs)
    assert len(shown) == 1 + 3 + 3 * 12 and {base64.b64decode(value.partition(",")[2]) for value in shown} <= known


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
        assert len(found) == (15 if path == report else 7)  # of all runs one, of the task two, of each run four
        assert all(len(set(cells)) == 1 and len(cells) > 2 for cells in found)


def test_names_are_not_taken_for_markup(strange):
    text = strange.read_text()
    page = Page(text)
    assert page.open == [] and not {"script", "u", "i", "b"} & set(page.tags)
    for name in ("<script>alert(1)</script>|", "<u>|", "</table>", "<b>|\n# title"):
        assert name in page.text or name in text
    markdown = (strange.parent / "report.md").read_text()
    assert markdown.startswith("# &lt;b>\\| # title\n")
    outside = re.sub(r"`[^`]*`|</?details>|</?summary>", "", markdown)
    assert "<" not in outside


def test_each_run_is_told_by_its_name(report):
    markdown, seen = (report.parent / "report.md").read_text(), Page(report.read_text()).seen
    for title in ("dpl on mnlogic, seed 0", "dpl on mnlogic, seed 1", "blackbox on mnlogic, seed 2"):
        assert f"### {title}\n" in markdown and title in seen
    assert "| dpl, seed 0 | dpl | 0 |" in markdown and "| blackbox | blackbox | 2 |" in markdown


def test_the_matrix_has_each_task_and_model_once(report):
    text = report.read_text()
    matrix = re.search(r'<table class="matrix".*?</table>', text, re.DOTALL)[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', matrix) == ["task", "dpl", "blackbox"]
    assert re.findall(r'<th scope="row">(.*?)</th>', matrix) == ["mnlogic"]
    cells = re.findall(r'<a class="(\w+)" href="#(run-\d)".*?<strong>(\w+)</strong>(.*?)</a>', matrix)
    assert [cell[:3] for cell in cells] == [("good", "run-1", "sound"), ("unknown", "run-3", "opaque")]
    assert "2 of 2" in cells[0][3] and "seeds 0, 1" in cells[0][3]
    assert re.search(r"label F1 \d\.\d\d", cells[1][3])


def test_many_models_on_few_tasks_are_rows_of_the_matrix(evenodd, folder):
    data = evenodd.symbols("test")
    paths = [folder / f"model{n}.parquet" for n in range(7)]
    for path in paths:
        predictions(data, data.labels, data.concepts).write(path, evenodd.knowledge)
    text = write_report(paths, folder / "many", dataset=evenodd).read_text()
    matrix = re.search(r'<table class="matrix".*?</table>', text, re.DOTALL)[0]
    assert re.findall(r'<th scope="row">(.*?)</th>', matrix) == [path.stem for path in paths]


def test_no_hash_and_no_path_of_this_machine_is_seen(folder):
    data = folder / "data"
    run = folder / "study" / "runs" / "mnlogic-dpl-seed0-e7ac1f24"
    trained("dpl", Dataset.open(data), run, {"epochs": 1})
    page = Page(write_report([run], folder / "study" / "report").read_text())
    assert "dpl on mnlogic, seed 0" in page.seen and not re.search(r"[0-9a-f]{8}", page.seen)
    assert "../runs/mnlogic-dpl-seed0-e7ac1f24" in page.text and str(folder) not in page.text
    assert "{'" not in page.text and "setting: learning rate" in page.text and "version of numpy" in page.text


def test_the_first_picture_shows_a_right_label_from_wrong_concepts(shortcut, evenodd):
    text = shortcut.read_text()
    proof = re.search(r'<figure class="proof bad">.*?</figure>', text, re.DOTALL)[0]
    assert "Right label, wrong concepts" in proof and "shifted" in proof and "<img" in proof
    told = re.search(r"True: a = (\d) and b = (\d); sum = (\d+)\.", proof)
    said = re.search(r"shifted predicts a = (\d) and b = (\d): by the rule sum = (\d+) as well\.", proof)
    (a, b, total), (x, y, again) = (map(int, found.groups()) for found in (told, said))
    assert a + b == total == x + y == again and a != x and b != y
    assert (SHIFTED[a], SHIFTED[b]) == (x, y)
    assert f"True: a = {a} and b = {b}" in shortcut.with_suffix(".md").read_text()


def test_every_run_has_an_example_that_fits_its_verdict(shortcut):
    cards = re.findall(r'<div class="card (\w+)">(.*?)</div>', shortcut.read_text(), re.DOTALL)
    assert [tone for tone, _ in cards] == ["bad", "unknown", "bad"]
    assert "by the rule sum" in cards[0][1] and "silent predicts no concept, and sum = " in cards[1][1]
    assert re.search(r"wrong predicts .*: by the rule sum = 0\.", cards[2][1])


def test_charts_compare_the_models_and_say_their_values(shortcut, evenodd):
    text, record = shortcut.read_text(), json.loads(shortcut.with_name("report.json").read_text())
    titles = re.findall(r'<svg[^>]*><title id="chart-\d+-title">(.*?)</title>', text)
    assert titles[:2] == ["shifted predicts digit", "wrong predicts digit"]
    assert {
        "Concepts that are right (test)",
        "Label accuracy on each split",
        "At the boundary of the rule (test)",
    } <= set(titles)
    wrong = record["cases"][2]["diagnosis"]["scores"]["test"]["label_accuracy"]
    numbers = f"{wrong['value']:.2f} ({wrong['low']:.2f} to {wrong['high']:.2f})"
    assert f"<title>wrong, test: {numbers}</title>" in text
    zeros = int((evenodd.symbols("test").concepts == 0).sum())
    assert f"<title>0 predicted as 1: 100 % ({zeros} of {zeros})</title>" in text
    assert "<title>shifted, a: 0.00 (0.00 to 0.02), misread</title>" in text


def test_the_page_has_contents_and_is_made_for_dark_and_print(report):
    text = report.read_text()
    contents = re.search(r"<nav.*?</nav>", text, re.DOTALL)[0]
    assert re.findall(r'href="#([\w-]+)">(.*?)</a>', contents) == [("verdicts", "Verdicts"), ("task-1", "mnlogic")]
    assert "prefers-color-scheme: dark" in text and "@media print" in text and "::details-content" in text


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
    labels = {name: Prediction(data.labels[:, place]) for place, name in enumerate(knowledge.label_names)}
    Predictions(evenodd.fingerprint, "test", data.index, labels).write(tmp_path / "mine.parquet", knowledge)
    page = write_report([tmp_path / "mine.parquet"], tmp_path / "report", dataset=evenodd)
    assert (
        "<h3>Details</h3>" in page.read_text() and "| mine | unknown | unknown |" in page.with_suffix(".md").read_text()
    )
