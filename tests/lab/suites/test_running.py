"""Baselines: a row for each model, dataset and seed; what is there is kept; who refuses says why."""

import json
import math

import numpy as np
import pytest

from assay.base import ConfigError, DataError, RunFailed, UnknownName
from assay.contracts import read_predictions
from assay.dataset import Dataset
from assay.lab import BoardRow, SuiteOrder, read_rows, run_suite, write_rows
from tests.lab.suites.conftest import Here, suite_of

MODELS = ("blackbox", "cbm", "dpl", "tree", "popper")


@pytest.fixture(scope="module")
def rows(suite, output):
    return run_suite(SuiteOrder(suite, MODELS), output, workers=Here())


def of(rows, model, dataset="plain", seed=0):
    return next(row for row in rows if (row.model, row.dataset, row.seed) == (model, dataset, seed))


def test_there_is_a_row_for_each_model_dataset_and_seed(rows, suite):
    assert len({row.run for row in rows}) == len(rows)
    assert {(row.model, row.dataset, row.seed) for row in rows} == {
        (model, data, seed) for model in MODELS for data in suite.datasets for seed in (0, 1)
    }


def test_a_row_has_the_numbers_of_the_run(rows, suite, output):
    row = of(rows, "cbm")
    assert row.status == "done" and row.verdict and row.why and row.level == "concepts"
    numbers = ("label_f1", "concept_f1", "collapse", "rule_consistency", "boundary", "follows", "label_ece")
    for name in (*numbers, "concept_ece", "intervention_area"):
        assert 0 <= getattr(row, name) <= 1, name
    assert math.isnan(row.ood) and row.seconds > 0
    assert (row.examples, row.concept_labels) == (64, 3 * 64)
    run = output / "runs" / row.run
    dataset = Dataset.open(output / "data" / "plain")
    test, said = dataset["test"], read_predictions(run / "predictions" / "test.parquet", dataset.knowledge)
    wrong = said.labels["y"].codes != test.labels[:, 0]
    assert {int(number) for number in json.loads(row.wrong)} == set(test.index[wrong].tolist())
    assert row.parameters == json.loads((run / "run.json").read_text())["parameters"] > 0
    assert row.seconds == json.loads((run / "usage.json").read_text())["seconds"]
    read = np.stack([said.concepts[name].codes for name in "abc"], axis=1)
    for number, told in json.loads(row.misread).items():
        place = int(np.flatnonzero(test.index == int(number))[0])
        pairs = zip("abc", test.concepts[place], read[place], strict=True)
        assert told == ", ".join(f"{name} {true}→{one}" for name, true, one in pairs if true != one)
    assert {int(number) for number in json.loads(row.misread)} == set(
        test.index[~wrong & (read != test.concepts).any(axis=1)].tolist()
    )


def test_scores_and_the_area_under_interventions_are_those_of_the_record(rows, output):
    for row in (of(rows, "cbm"), of(rows, "dpl", "noisy", 1)):
        record = json.loads((output / "runs" / row.run / "records.json").read_text())
        scores = {one["metric"]: one["value"] for one in record["scores"]["test"]}
        for name in ("label_f1", "concept_f1", "collapse", "rule_consistency", "label_ece", "concept_ece"):
            assert getattr(row, name) == pytest.approx(scores[name])
        hard = {one["metric"]: one["value"] for one in record["scores"]["hard"]}
        assert row.boundary == pytest.approx(hard["near_accuracy"])
        curve = {one["metric"]: one["value"] for one in record["numbers"] if one["metric"].startswith("accuracy_")}
        points = sorted((3 if name == "accuracy_max" else int(name[10:]), value) for name, value in curve.items())
        x, y = np.array(points).T
        assert row.intervention_area == pytest.approx(float(np.sum((y[1:] + y[:-1]) / 2 * np.diff(x))) / 3)
        assert (row.verdict, row.why) == (record["headline"]["verdict"], record["headline"]["why"])


def test_what_a_model_saw_is_counted(rows):
    assert of(rows, "cbm", "noisy").concept_labels < 3 * 64 == of(rows, "cbm").concept_labels
    assert of(rows, "dpl").concept_labels == of(rows, "blackbox").concept_labels == 0
    assert of(rows, "tree").concept_labels == 3 * 64


def test_a_black_box_has_no_concepts_and_no_interventions(rows):
    row = of(rows, "blackbox")
    assert row.verdict != "sound"
    assert math.isnan(row.concept_f1) and math.isnan(row.intervention_area) and row.misread == "{}"


def test_true_concepts_make_no_error(rows):
    row = of(rows, "tree")
    assert row.verdict == "sound" and row.concept_f1 == 1 and row.intervention_area == row.label_f1 == 1


def test_who_cannot_take_a_dataset_says_why(rows):
    row = of(rows, "popper")
    assert (row.status, row.verdict) == ("refused", "") and "popper: 'nowhere' holds no popper.py" in row.reason
    assert "\n" not in row.reason and math.isnan(row.label_f1)


def test_rows_that_are_there_are_kept_and_refused_ones_tried_again(rows, suite, output):
    told = []
    again = run_suite(SuiteOrder(suite, MODELS), output, say=told.append, workers=Here())
    assert [row.to_dict() for row in again] == [row.to_dict() for row in rows]
    assert [line for line in told if line.startswith("tiny")] == ["tiny: 4 runs to do, 16 rows kept"]
    assert not [line for line in told if line.startswith("trained")]


def test_rows_alone_are_enough_to_go_on_and_runs_need_not_be_kept(rows, suite, output, tmp_path):
    write_rows([row for row in rows if row.model == "tree" and row.seed == 0], tmp_path / "rows" / "tree.parquet")
    order = SuiteOrder(suite, ("tree",), ("plain",), discard=True)
    found = run_suite(order, tmp_path, tmp_path / "rows", workers=Here())
    assert [row.seed for row in found] == [0, 1] and not list((tmp_path / "runs").glob("*"))
    kept = {row.key for row in read_rows(tmp_path / "rows")}
    assert kept == {("plain", 0), ("plain", 1), ("noisy", 0)}


def test_a_model_that_breaks_has_a_row_that_says_so(suite, tmp_path):
    broken = {"cbm": {"level": "concepts", "settings": {"learning_rate": 1e30}}}
    config = {**suite.to_dict(), "models": broken}
    rows = run_suite(SuiteOrder(suite_of(config), ("cbm",), ("plain",), (0,)), tmp_path, workers=Here())
    assert [row.status for row in rows] == ["failed"] and "became NaN" in rows[0].reason
    assert rows[0].fingerprint == suite.dataset("plain").fingerprint and "\n" not in rows[0].reason


def test_data_that_cannot_be_made_stop_no_others(suite, tmp_path):
    config = suite.to_dict()
    config["datasets"] = {"odd": {**config["datasets"]["plain"], "fingerprint": "0" * 32}, **config["datasets"]}
    with pytest.raises(RunFailed, match="1 of 2 datasets failed; odd: .*has fingerprint"):
        run_suite(SuiteOrder(suite_of(config), ("tree",), ("odd", "plain"), (0,)), tmp_path, workers=Here())
    assert [row.dataset for row in read_rows(tmp_path / "records")] == ["plain"]


def test_what_is_not_in_the_suite_is_refused_before_anything_is_made(suite, tmp_path):
    for order in (
        SuiteOrder(suite, ("cbn",)),
        SuiteOrder(suite, ("cbm",), ("plane",)),
        SuiteOrder(suite, ("cbm",), ("plain",), (7,)),
    ):
        with pytest.raises((UnknownName, ConfigError), match="did you mean|none of the suite's"):
            run_suite(order, tmp_path / "none", workers=Here())
    assert not (tmp_path / "none").exists()


def test_rows_are_written_and_read_as_they_are(tmp_path):
    rows = [BoardRow("s", "d", "m", "rule", seed, "done", label_f1=0.5) for seed in (1, 0)]
    write_rows(rows, tmp_path / "m.parquet")
    first = (tmp_path / "m.parquet").read_bytes()
    write_rows(list(reversed(rows)), tmp_path / "m.parquet")
    assert (tmp_path / "m.parquet").read_bytes() == first
    read = read_rows(tmp_path)
    assert [row.seed for row in read] == [0, 1] and np.isnan(read[0].ood)
    assert read[0].to_dict()["ood"] is None and read[0].to_dict()["label_f1"] == 0.5
    (tmp_path / "bad.parquet").write_bytes(b"x")
    with pytest.raises(DataError, match="holds no rows of a suite, or is damaged"):
        read_rows(tmp_path / "bad.parquet")
