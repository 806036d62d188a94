"""The order of a report: names that tell runs apart, sections by task and data, and which example is shown first."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.diagnosis import kinds_in_order
from assay.reporting.case import case_of
from assay.reporting.comparison import compared_groups
from assay.reporting.provenance import flatten, provenance_of, relative_folder
from assay.reporting.sections import matrix_of, proof_of, sections_of, short_names
from tests.predictors import predictions
from tests.reporting.pages import SHIFTED


@pytest.fixture(scope="module")
def cases(evenodd, tmp_path_factory):
    """Predictions that are right, shifted, of labels only, and always 0."""
    folder, data = tmp_path_factory.mktemp("cases"), evenodd.symbols("test")
    read = SHIFTED[data.concepts]
    said = {
        "right": predictions(data, data.labels, data.concepts),
        "shifted": predictions(data, evenodd.knowledge.labels_of(read), read),
        "silent": predictions(data, data.labels),
        "zero": predictions(data, np.zeros_like(data.labels), np.zeros_like(data.concepts)),
    }
    for name, one in said.items():
        one.write(folder / f"{name}.parquet", evenodd.knowledge)
    return {name: case_of(folder / f"{name}.parquet", dataset=evenodd) for name in said}


def test_runs_of_one_model_are_told_apart_by_their_seeds_and_else_by_numbers(cases):
    right = cases["right"]
    named = [replace(right, label="dpl", about={"seed": seed}) for seed in (0, 1, 1)]
    assert short_names([*named, cases["zero"]]) == ("dpl, seed 0", "dpl, seed 1", "dpl, seed 1 (2)", "zero")


def test_sections_are_of_equal_task_and_data(cases, mnlogic):
    right, zero = cases["right"], cases["zero"]
    other = replace(right, dataset=mnlogic)
    sections = sections_of([right, other, zero])
    assert [section.title for section in sections] == ["mnadd-evenodd", "mnadd-evenodd (dataset 2)"]
    assert [[run.anchor for run in section.runs] for section in sections] == [["run-1", "run-2"], ["run-3"]]
    assert sections[0].cases == (right, zero) and sections[1].cases == (other,)


def test_the_matrix_holds_every_run_once(cases):
    sections = sections_of(list(cases.values()))
    matrix = matrix_of(sections)
    found = [run.case for section in sections for model in matrix.models for run in section.of_model(model)]
    assert matrix.models == tuple(cases) and found == list(cases.values()) and not matrix.has_model_rows
    assert list(matrix.kinds) == [
        kind for kind in kinds_in_order() if kind in ("underfit", "shortcut", "opaque", "sound")
    ]


@pytest.mark.parametrize(
    ("names", "shown", "heading"),
    [
        (["right", "zero", "shifted"], "shifted", "Right label, wrong concepts"),
        (["right", "silent", "zero"], "zero", "A wrong label"),
        (["right", "silent"], "silent", "A right label, and no concepts"),
        (["right"], "right", "A right label from right concepts"),
    ],
)
def test_the_most_striking_example_is_shown(names, shown, heading, cases):
    proof = proof_of(sections_of([cases[name] for name in names]))
    assert (proof.run.name, proof.heading) == (shown, heading)
    assert proof.sentences == cases[shown].witness.sentences(shown)


def test_of_two_shortcuts_the_one_with_the_worse_concepts_is_shown(cases):
    shifted = cases["shifted"]
    scores = dict(shifted.diagnosis.scores["test"])
    scores["concept_f1"] = replace(scores["concept_f1"], value=0.5)
    milder = replace(shifted, label="milder", diagnosis=replace(shifted.diagnosis, scores={"test": scores}))
    assert proof_of(sections_of([milder, shifted])).run.name == "shifted"


def test_an_example_says_what_is_misread_and_what_follows(cases):
    witness = cases["shifted"].witness
    assert witness.is_right_by_wrong_concepts and set(witness.misread) == {"a", "b"}
    (a, x), (b, y) = witness.misread["a"], witness.misread["b"]
    assert witness.changes == f"a {a}→{x} and b {b}→{y}"
    assert witness.sentences("It") == (
        f"True: a = {a} and b = {b}; sum = {a + b}.",
        f"It predicts a = {x} and b = {y}: by the rule sum = {a + b} as well.",
    )
    assert not replace(witness, predicted_labels={"sum": 99}).is_right_by_wrong_concepts
    assert replace(witness, implied=None).sentences("It")[1].endswith(f", and still sum = {a + b}.")
    assert list(replace(witness, focus=("b",)).misread) == ["b"]


def test_concepts_of_the_rule_are_compared_first(cases):
    assert compared_groups([cases["shifted"], cases["right"]]) == ["digit"]
    assert compared_groups([cases["silent"]]) == []


def test_folders_are_told_from_the_report_and_addresses_as_they_are(tmp_path):
    assert relative_folder(tmp_path / "runs" / "one", tmp_path / "report") == "../runs/one"
    assert relative_folder("/somewhere/else/entirely", tmp_path / "a" / "b" / "c" / "d") == "entirely"
    assert relative_folder("s3://bucket/data", tmp_path) == "s3://bucket/data"


def test_settings_are_rows_of_plain_words(tmp_path, cases):
    given = {
        "learning_rate": 0.1,
        "to": {"each": [{"n": 1}, None]},
        "perception": str(tmp_path / "runs" / "x"),
        "on": False,
    }
    assert dict(flatten(given, tmp_path)) == {
        "learning rate": "0.1",
        "to, each": "n: 1, –",
        "perception": "runs/x",
        "on": "no",
    }
    rows = provenance_of(cases["right"], Path("/report"))
    assert rows["dataset fingerprint"] == cases["right"].dataset.fingerprint and "train: 160" in rows["splits"]
    assert not any(str(tmp_path.parent) in value or "{" in value for value in rows.values())
