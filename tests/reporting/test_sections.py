"""The order of a report: names that tell runs apart, sections by task and data, which example is shown first, and what
a run is traced by.
"""

import re

import numpy as np
import pytest

from assay.reporting import write_report
from tests.predictors import predictions
from tests.reporting.pages import SHIFTED, Page


@pytest.fixture(scope="module")
def files(evenodd, tmp_path_factory):
    """Predictions that are right, shifted, of labels only, and always 0; and shifted in two of three examples only."""
    folder, data = tmp_path_factory.mktemp("files"), evenodd.symbols("test")
    read = SHIFTED[data.concepts]
    mild = np.where(np.arange(len(data))[:, None] % 3 == 0, data.concepts, read)
    said = {
        "right": predictions(data, data.labels, data.concepts),
        "shifted": predictions(data, evenodd.knowledge.labels_of(read), read),
        "milder": predictions(data, evenodd.knowledge.labels_of(mild), mild),
        "silent": predictions(data, data.labels),
        "zero": predictions(data, np.zeros_like(data.labels), np.zeros_like(data.concepts)),
    }
    for name, one in said.items():
        one.write(folder / f"{name}.parquet", evenodd.knowledge)
    return {name: folder / f"{name}.parquet" for name in said}


@pytest.fixture
def reported(files, evenodd, tmp_path):
    """Return a function that reports on files of these names, and returns the page."""
    return lambda *names: write_report([files[name] for name in names], tmp_path / "out", dataset=evenodd).read_text()


@pytest.mark.parametrize(
    ("names", "shown", "heading"),
    [
        (["right", "zero", "shifted"], "shifted", "Right label, wrong concepts"),
        (["milder", "shifted"], "shifted", "Right label, wrong concepts"),  # of two, that with the worse concepts
        (["right", "silent", "zero"], "zero", "A wrong label"),
        (["right", "silent"], "silent", "A right label, and no concepts"),
        (["right"], "right", "A right label from right concepts"),
    ],
)
def test_the_most_striking_example_is_shown(names, shown, heading, reported):
    proof = Page(re.search(r'<figure class="proof.*?</figure>', reported(*names), re.DOTALL)[0]).text
    assert heading in proof and f"{shown} predicts" in proof


def test_the_matrix_holds_every_run_once_and_leads_to_it(reported):
    text = reported("right", "shifted", "silent", "zero")
    matrix = re.search(r'<table class="matrix".*?</table>', text, re.DOTALL)[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', matrix) == ["task", "right", "shifted", "silent", "zero"]
    links = re.findall(r'href="#(run-\d)".*?<strong>(\w+)</strong>', matrix, re.DOTALL)
    assert links == [("run-1", "sound"), ("run-2", "shortcut"), ("run-3", "opaque"), ("run-4", "underfit")]


def test_runs_on_data_of_one_task_have_a_section_for_each_dataset(tmp_path):
    from tests.canned import bits, run_of
    from tests.conftest import write

    rule = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 0.8}
    sizes = {"train": 24, "valid": 12, "test": 40}
    first, second = bits(tmp_path / "one"), write(tmp_path / "two", "mnlogic", splits=sizes, seed=5, **rule)
    runs = [run_of(first, tmp_path / "r1", "good", 0), run_of(second, tmp_path / "r2", "good", 0, pairs=False)]
    runs += [run_of(first, tmp_path / name, "good", 1) for name in ("r3", "r4")]
    page = write_report(runs, tmp_path / "out")
    contents = re.search(r"<nav.*?</nav>", page.read_text(), re.DOTALL)[0]
    assert re.findall(r'href="#(task-\d)">(.*?)</a>', contents) == [
        ("task-1", "mnlogic"), ("task-2", "mnlogic (dataset 2)"),
    ]  # fmt: skip
    markdown = page.with_suffix(".md").read_text()
    for name in ("dpl, seed 0", "dpl, seed 1", "dpl, seed 1 (2)"):  # by their seeds, and else by numbers
        assert f"| {name} | dpl |" in markdown


def test_an_example_says_what_is_misread_and_what_follows(reported):
    proof = Page(re.search(r'<figure class="proof.*?</figure>', reported("shifted"), re.DOTALL)[0]).text
    told = re.search(r"True: a = (\d) and b = (\d); sum = (\d+)\.", proof)
    said = re.search(r"shifted predicts a = (\d) and b = (\d): by the rule sum = (\d+) as well\.", proof)
    (a, b, total), (x, y, again) = (tuple(map(int, found.groups())) for found in (told, said))
    assert a + b == total == again == x + y and (SHIFTED[a], SHIFTED[b]) == (x, y)


def test_a_run_is_traced_by_its_data_settings_and_splits(files, evenodd, tmp_path):
    page = Page(write_report([files["right"]], tmp_path / "out", dataset=evenodd).read_text())
    assert evenodd.fingerprint in page.text and "train: 160" in page.text and "{'" not in page.text
    assert str(tmp_path.parent) not in page.text
