"""What a report says of verdicts: the short answer first, shares over seeds, and another package's finding like ours."""

import itertools
import json

import numpy as np
import pytest

import assay
from assay.base import forget_files, load_file
from assay.diagnosis import diagnose_run, kinds_in_order, read_thresholds, tone_of
from assay.reporting import cases_of, write_pages, write_report
from assay.runs import RunFolder
from tests.canned import FAULTS, bits, run_of, sums
from tests.predictors import predictions
from tests.reporting.pages import Page

STRANGER = '''
"""A finding of another package."""

from assay.diagnosis.check import Check, Claim, Found


class Hushed(Check):
    """Predictors of which nothing good can be told."""

    name = "hushed"
    summary = "In general it is <b>hushed</b>."
    tone = "bad"
    severity = 1000
    measure = "label_accuracy"
    null = "it is loud"
    statistic = "none"
    claims = {"all": Claim("Here it is <i>hushed</i>.", "On {split}, {n} of them.", "Listen: `assay listen <RUN>`.")}

    def find(self, case):
        view = case.first
        yield Found("all", view.name, {"split": view.name, "n": 7}, rows={view.name: view.wrong})
'''


def plain(text):
    """Return a text as a page shows it: without the marks of code, and with single spaces."""
    return " ".join(text.replace("`", "").split())


def short_answer(found):
    """Return the sentences that must be seen at once."""
    return [found.meaning, *found.reasons, found.certainty.text, found.next]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return bits(tmp_path_factory.mktemp("verdicts") / "bits")


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    """Two right runs and a noisy one of a model, and one of another that predicts no concepts."""
    folder = tmp_path_factory.mktemp("runs")
    made = [("good", 0), ("good", 1), ("silent", 0), ("noisy", 1)]
    return [run_of(data, folder / f"{fault}{seed}", fault, seed) for fault, seed in made]


@pytest.fixture(scope="module")
def report(runs, tmp_path_factory):
    return write_report(runs, tmp_path_factory.mktemp("report"))


@pytest.fixture
def stranger(tmp_path):
    """Let a check that is not ours be used."""
    (tmp_path / "hushed.py").write_text(STRANGER)
    load_file(tmp_path / "hushed.py")
    yield
    forget_files()


def test_the_short_answer_is_seen_and_all_else_is_folded(report, runs, data):
    page, markdown = Page(report.read_text()), report.with_suffix(".md").read_text()
    seen, whole = plain(page.seen), plain(page.text)
    for run in runs:
        found = diagnose_run(RunFolder(run), data)
        part = plain(markdown.partition(f"### {RunFolder(run).title}\n")[2].partition("\n### ")[0])
        said, rest = part.split("<details>")
        assert f"**{found.verdict}**" in said
        for text in short_answer(found):
            assert plain(text) in seen and plain(text) in said
        for text in [*(finding.text for finding in found.findings), *found.notes]:
            assert plain(text) in whole and plain(text) in rest
        assert not [note for note in found.notes if note not in found.reasons and plain(note) in said]


def test_everything_that_was_tested_is_in_the_table(report, runs, data):
    page, record = Page(report.read_text()), json.loads(report.with_name("report.json").read_text())
    markdown = report.with_suffix(".md").read_text()
    for run, case in zip(runs, record["cases"], strict=True):
        table = diagnose_run(RunFolder(run), data).table
        assert [row.to_dict() for row in table] == case["diagnosis"]["table"]
        assert f"Everything that was tested ({len(table)} rows)" in page.text
        for row in table:
            assert f"| {row.split} | {row.what} | {row.name} | {row.state} |" in markdown


def test_each_finding_names_the_wrong_labels_that_it_accounts_for(report, runs, data):
    found = diagnose_run(RunFolder(runs[-1]), data)
    counts = [finding.wrong_labels for finding in found.findings if finding.wrong_labels]
    assert counts and all(f"It accounts for {count} wrong label" in report.read_text() for count in counts)


def test_over_seeds_each_word_has_its_share(data, tmp_path):
    paths = [run_of(data, tmp_path / f"{fault}{seed}", fault, seed) for seed, fault in enumerate(("swapped", "noisy"))]
    paths += [run_of(data, tmp_path / "silent", "silent", 2), run_of(data, tmp_path / "good", "good", 3)]
    words = [diagnose_run(RunFolder(path), data).verdict for path in paths]
    markdown = write_report(paths, tmp_path / "out").with_suffix(".md").read_text()
    row = next(line for line in markdown.splitlines() if line.startswith("| mnlogic |"))
    for word in set(words[:3]):  # all of one model
        assert f"**{word}** {words[:3].count(word)} of 3" in row
    assert f"**{words[3]}**," in row and "of 1" not in row  # a single run has no share


def test_a_finding_of_another_package_is_reported_like_ours(stranger, data, tmp_path):
    page = write_report([run_of(data, tmp_path / "run", "noisy")], tmp_path / "out")
    markdown = page.with_suffix(".md").read_text()
    shown = Page(page.read_text())
    assert "hushed" in kinds_in_order() and "<b>" not in page.read_text() and "<i>" not in page.read_text()
    for text in ("Here it is <i>hushed</i>.", "On test, 7 of them.", "Next: Listen: assay listen <RUN>."):
        assert text in plain(shown.seen)
    assert "In general it is <b>hushed</b>." in shown.text  # what the matrix says of the word
    assert "**hushed**" in markdown and "&lt;b>" not in markdown.partition("## mnlogic")[0]
    assert '<div class="card bad">' in page.read_text()


def test_thresholds_that_were_changed_decide_and_are_named(runs, data, tmp_path):
    settings = read_thresholds({"verdict.resamples": 0, "concepts.right": 0.3})
    (case,) = cases_of(runs[-1:], data, thresholds=settings)
    page = write_pages([case], tmp_path, "T")
    for path in (page, page.with_suffix(".md")):
        text = path.read_text()
        assert "verdict.resamples = 0 (default 40)" in text and "concepts.right = 0.3 (default 0.9)" in text
    assert case.diagnosis.certainty.resamples == 0 and "Certainty:" not in page.read_text()
    assert "were changed" not in write_report(runs[-1:], tmp_path / "plain").read_text()


@pytest.fixture(scope="module", params=["bits", "sums"])
def judged(request, tmp_path_factory):
    """The cases of runs with each fault."""
    folder = tmp_path_factory.mktemp("judged")
    made = {"bits": bits, "sums": sums}[request.param](folder / "data")
    return [cases_of([run_of(made, folder / fault, fault)])[0] for fault in FAULTS]


def test_the_example_shows_the_first_finding(judged):
    for case in judged:
        finding, witness = case.diagnosis.findings[0], case.witness
        wrong = witness.labels != witness.predicted_labels
        misread = {name for name, value in witness.predicted.items() if witness.truth[name] != value}
        if tone_of(finding.kind) == "good":
            assert not wrong and not misread
        elif finding.wrong_labels:
            assert wrong
        elif finding.kind == "shortcut":
            assert misread and not wrong
        split = case.dataset[witness.split]
        row = int(np.flatnonzero(split.index == witness.number)[0])
        knowledge = case.dataset.knowledge
        assert witness.truth == knowledge.space.decode(split.concepts[row])
        assert [*witness.labels.values()] == [
            label.values[code] for label, code in zip(knowledge.labels, split.labels[row], strict=True)
        ]


def test_annotations_that_contradict_the_rule_are_not_called_true(tmp_path):
    """Labels and predictions follow the rule, and concept c is annotated as its opposite."""
    true = np.array(list(itertools.product((False, True), repeat=3)) * 12)
    labels = true[:, 0] & true[:, 1] | true[:, 2]
    columns = {"a": true[:, 0], "b": true[:, 1], "c": ~true[:, 2], "y": labels}
    data = assay.from_table(
        {name: column.tolist() for name, column in columns.items()},
        tmp_path / "data",
        images=[np.full((2, 2), 20 * row, dtype=np.uint8) for row in range(8)] * 12,
        name="mine", rule={"labels": {"y": "a and b or c"}}, concepts=["a", "b", "c"], labels=["y"],
    )  # fmt: skip
    test = data["test"]
    read = test.concepts.copy()
    read[:, 2] = 1 - read[:, 2]
    predictions(test, test.labels, read).write(tmp_path / "said.parquet", data.knowledge)
    page = write_report([tmp_path / "said.parquet"], tmp_path / "out", dataset=data)
    (case,) = json.loads(page.with_name("report.json").read_text())["cases"]
    assert case["diagnosis"]["verdict"] == "annotations"
    text = Page(page.read_text()).text
    assert "Annotated: " in text and "By the rule, the annotated concepts give y = " in text
