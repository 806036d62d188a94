"""`assay suite`: what there is, data with the right bytes, baselines, entries, the board; errors are one line."""

import json

import pytest
import yaml

from assay.lab import BoardRow, find_suite, read_rows, write_rows
from tests.samples import needs_task

SUITE = find_suite()


def test_suites_are_listed_and_shown(assay):
    assert [one["name"] for one in json.loads(assay("suite", "list", "--json").out)] == ["assay-1"]
    assert "assay-1" in assay("suite", "list").out
    shown = json.loads(assay("suite", "show", "--json").out)
    assert list(shown["datasets"]) == list(SUITE.datasets)
    text = assay("suite", "show").out
    assert all(name in text for name in (*SUITE.datasets, *SUITE.levels, *SUITE.config.models))


@needs_task("mnlogic")
def test_data_are_made_and_judged(assay, tmp_path, in_process):
    out, name = tmp_path / "suite", "digits-parity"
    made = assay("suite", "make", "-o", out, "--dataset", name, "--workers", 1, "--json")
    assert json.loads(made.out) == {name: SUITE.dataset(name).fingerprint}
    words = ("suite", "run", "tree", "-o", out, "--dataset", name, "--seeds", "0", "--workers", 1, "--discard")
    rows = json.loads(assay(*words, "--json").out)
    assert [(row["model"], row["status"]) for row in rows] == [("tree", "done")]
    assert read_rows(out / "records")[0].dataset == name and not list((out / "runs").glob("*"))
    assert "0 runs to do, 1 rows kept" in assay(*words).err
    told = assay("suite", "board", out / "records", "-o", tmp_path / "board", "--data", out)
    assert (told.status, told.err.strip()) == (0, str(tmp_path / "board" / "index.html"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["make", "--dataset", "digits"], "has no dataset named 'digits'"),
        (["run", "cbmm"], "has no model named 'cbmm'; did you mean 'cbm'"),
        (["run", "cbm", "--seeds", "9"], "seed 9 is none of the suite's"),
        (["run", "cbm", "--suite", "assay-2"], "no suite named 'assay-2'; did you mean 'assay-1'"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(assay, tmp_path, words, message):
    assert message in assay("suite", *words, "-o", tmp_path / "out").error
    assert not (tmp_path / "out").exists()


def test_an_entry_that_is_not_whole_is_refused_in_one_line(assay, tmp_path):
    facts = {"suite": "assay-1", "name": "mine", "level": "concepts", "seeds": [0]}
    (tmp_path / "entry.yaml").write_text(yaml.safe_dump(facts))
    told = assay("suite", "score", tmp_path, "--data", tmp_path, "--records", tmp_path / "rows")
    assert told.error.startswith("no predictions for dataset 'digits-evenodd' with seed 0")
    assert not (tmp_path / "rows").exists()


def test_a_board_needs_rows(assay, tmp_path):
    assert "no rows of suite 'assay-1'" in assay("suite", "board", tmp_path, "-o", tmp_path / "board").error
    write_rows(
        [BoardRow("assay-1", "digits-sum4", "cbm", "concepts", 0, "refused", reason="why")], tmp_path / "a.parquet"
    )
    assert assay("suite", "board", tmp_path, "-o", tmp_path / "board").status == 0


@needs_task("mnadd-evenodd")
def test_the_matrix_is_printed(assay):
    told = assay("suite", "matrix", "tree", "popper", "--family", "digits")
    assert "| tree | works |" in told.out and "| popper | refuses: " in told.out and told.status == 0
    cells = json.loads(assay("suite", "matrix", "tree", "--family", "digits", "--json").out)
    assert [(cell["model"], cell["family"], cell["outcome"]) for cell in cells] == [("tree", "digits", "works")]
