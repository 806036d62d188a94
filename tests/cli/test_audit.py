"""`assay audit` and `assay pairs`: what they print and write, and the status that tells."""

import json
import re

import pytest

from assay.auditing import CHECKS
from assay.dataset import Dataset
from tests.auditing.planted import folder_of, rows
from tests.conftest import write


@pytest.fixture
def good(tmp_path):
    sizes = {"train": 200, "valid": 40, "test": 120, "ood": 40, "hard": 40}
    return write(tmp_path / "good", "mnlogic", k=3, splits=sizes).folder


def lines(text):
    """Return the first two columns of a printed table."""
    rows = (re.split(r"  +", line.strip())[:2] for line in text.splitlines()[1:] if line.strip())
    return dict(rows)


def test_a_dataset_that_is_as_it_should_be(assay, good):
    told = assay("audit", good)
    assert told.status == 0 and list(lines(told.out)) == list(CHECKS) and "fail" not in lines(told.out).values()
    assert told.err.strip() == f"{good}: passed 9 checks"
    record = json.loads((good / "audit.json").read_text())
    assert record["passed"] and [one["check"] for one in record["findings"]] == list(CHECKS)
    assert {one["check"]: one["status"] for one in record["findings"]} == lines(told.out)


def test_the_card_holds_one_section_however_often_it_is_written(assay, good):
    before = (good / "README.md").read_text()
    assert assay("audit", good).status == 0
    once = (good / "README.md").read_text()
    assert assay("audit", good).status == 0
    assert (good / "README.md").read_text() == once
    assert once.startswith(before.rstrip()) and once.count("## Audit") == 1
    section = once.removeprefix(before.rstrip())
    assert section.count("| passed |") >= 9 and all(f"| {check} | " in section for check in CHECKS)
    (good / "README.md").write_text(f"{once}\n## Mine\n\nWritten later.\n")
    assert assay("audit", good).status == 0
    again = (good / "README.md").read_text()
    assert again.count("## Audit") == 1 and again.rstrip().endswith("## Mine\n\nWritten later.")
    Dataset.open(good)["test"]  # the data is as before


def test_json_and_single_checks_write_nothing_but_what_is_asked(assay, good):
    card = (good / "README.md").read_bytes()
    told = assay("audit", good, "--json", "--no-write")
    found = json.loads(told.out)
    assert found["dataset"] == "mnlogic" and found["passed"] and len(found["findings"]) == len(CHECKS)
    told = assay("audit", good, "--check", "labels", "--check", "classes")
    assert list(lines(told.out)) == ["labels", "classes"]
    assert (good / "README.md").read_bytes() == card and not (good / "audit.json").exists()
    assert "no check named 'lables'; did you mean 'labels'?" in assay("audit", good, "--check", "lables").error


def test_a_folder_of_another_origin(assay, tmp_path):
    folder = folder_of(tmp_path / "folder", rows())
    before = sorted(path.name for path in folder.iterdir())
    told = assay("audit", folder)
    assert told.status == 0 and told.err.strip() == f"{folder}: passed 9 checks"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_failed_check_is_named_and_told_by_the_status(assay, tmp_path):
    table = [row for row in rows(400) if row["label_y"] or row["split"] == "train"]
    folder = folder_of(tmp_path / "folder", table, draw=None)
    told = assay("audit", folder)
    assert told.status == 1 and lines(told.out)["classes"] == "fail" and "failed: classes" in told.err
    told = assay("audit", folder, "--json")
    assert told.status == 1 and json.loads(told.out)["passed"] is False
    assert assay("audit", folder, "--check", "labels").status == 0


def test_settings_say_where_the_sources_lie(assay, good):
    told = assay("audit", good, "--check", "sources", "--set", "digits=nowhere")
    assert told.status == 0 and lines(told.out) == {"sources": "not checked"} and "no digits in 'nowhere'" in told.out
    assert "unknown key 'digit'" in assay("audit", good, "--set", "digit=nowhere").error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda folder: (folder / "concepts.csv").write_text("split,a\n1,2\n"),
            "the table needs columns 'concept_NAME'",
        ),
        (lambda folder: (folder / "concepts.csv").write_bytes(b"\xff"), "is not UTF-8 text"),
        (lambda folder: (folder / "rule.yaml").write_text("labels: {y: a and}\n"), "formula 'a and'"),
        (lambda folder: (folder / "pictures" / "3.png").unlink(), "picture 'pictures/3.png' is missing"),
        (lambda folder: (folder / "pictures" / "3.png").write_bytes(b"?"), "the picture of row 3 cannot be read"),
        (lambda folder: (folder / "concepts.csv").unlink(), "has no manifest.json"),
    ],
)
def test_what_cannot_be_audited_is_told_in_one_line(change, message, assay, tmp_path):
    folder = folder_of(tmp_path / "folder", rows())
    change(folder)
    told = assay("audit", folder)
    assert message in told.error and told.status == 2


def test_a_folder_that_is_not_there_is_told(assay, tmp_path):
    assert "no dataset folder" in assay("audit", tmp_path / "nowhere").error
