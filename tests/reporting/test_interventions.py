"""The report of interventions: record, rows, charts and page agree with one another and with the data."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.diagnosis import InterventionPlan, intervene
from assay.metrics import expected_calibration_error
from assay.reporting import build_record, write_interventions
from tests.canned import Models, bits
from tests.reporting.pages import Page

PLANS = {
    "plain": {"policy": "random"},
    "target": {"target": 0.7, "policy": "uncertainty", "costs": {"a": 2.0}, "baseline": 0.5},
}


@pytest.fixture(scope="module", params=PLANS)
def written(request, tmp_path_factory):
    """The report of a plan on two runs."""
    folder = tmp_path_factory.mktemp(request.param)
    data = bits(folder / "bits")
    answering = Models().answering(folder, data, "test")
    results = {
        f"run {seed}": intervene(InterventionPlan(**PLANS[request.param], seed=seed), data, answering)
        for seed in (0, 2)
    }
    page = write_interventions(folder / "out", results, data, {"run 2": {"seed": 2}})
    return data, results, page, json.loads(page.with_suffix(".json").read_text())


def test_each_budget_is_summed_up_by_mean_lowest_and_highest_over_runs(written):
    _, results, _, record = written
    runs = record["runs"]
    assert [run["run"] for run in runs] == list(results) and [run["about"] for run in runs] == [{}, {"seed": 2}]
    for place, row in enumerate(record["summary"]):
        points = [run["points"][place] for run in runs]
        assert {point["budget"] for point in points} == {row["budget"]}
        for name, told in row.items():
            if name not in ("budget", "whole"):
                values = [point[name] for point in points]
                assert (told["low"], told["high"]) == (min(values), max(values))
                assert told["mean"] == pytest.approx(sum(values) / 2)
    assert {run["control"]["changed"] for run in runs} == {0.0}  # its own answers change nothing
    assert record["data"]["fingerprint"] == written[0].fingerprint and record["examples"] == 40


def test_rows_say_what_was_asked_and_what_came_of_it(written):
    data, _, page, record = written
    rows = pq.read_table(page.with_name("rows.parquet")).to_pylist()
    truth, index = data["test"], data["test"].index.tolist()
    assert len(rows) == 40 * sum(len(run["points"]) for run in record["runs"])
    for run in record["runs"]:
        for point in run["points"]:
            own = [row for row in rows if (row["run"], row["budget"]) == (run["run"], point["budget"])]
            right = [row["label_y"] == bool(truth.labels[index.index(row["index"]), 0]) for row in own]
            assert [row["index"] for row in own] == index and np.mean(right) == pytest.approx(point["accuracy"])
            assert np.mean([len(row["asked"]) for row in own]) == pytest.approx(point["asked"])
            for row in own:
                soft = row["label_y_probabilities"]
                assert sum(soft) == pytest.approx(1) and row["label_y"] == (soft[1] > soft[0])
            told = [sorted(row["asked"]) == ["a", "b", "c"] for row in own]
            assert all(fine for all_, fine in zip(told, right, strict=True) if all_)  # the rule gives true labels
            assert all(told) or not point["whole"] or record["plan"]["target"]


def test_each_concept_has_its_calibration_error(written):
    data, results, _, record = written
    truth = data["test"].concepts
    for run, result in zip(record["runs"], results.values(), strict=True):
        for place, name in enumerate("abc"):
            error = expected_calibration_error(truth[:, place], result.concepts[place])
            assert run["concept_calibration_error"][name] == pytest.approx(error)


def test_charts_say_the_numbers_of_the_record(written):
    _, _, page, record = written
    space = "{http://www.w3.org/2000/svg}"
    for name in ("curve", "coverage", "calibration"):
        root = ElementTree.fromstring(page.with_name(f"{name}.svg").read_text())
        told = root.find(f"{space}desc").text
        if name == "curve":
            wanted = [f"{row['accuracy']['mean']:.3f}" for row in record["summary"]]
            assert ", ".join(wanted) in told and "highest of 2 runs" in told
        if name == "coverage" and record["runs"][0]["abstention"] is None:
            ends = [float(end) for end in re.findall(r": (\d\.\d+) if all is decided", told)]
            wanted = [row["accuracy"]["mean"] for row in record["summary"]]
            assert ends == pytest.approx(wanted[: len(ends)], abs=1e-3)  # there is one label
        if name == "calibration":
            assert all(f"{concept} 0." in told for concept in "abc")


def test_the_page_needs_nothing_else(written):
    data, results, page, record = written
    shown = Page(page.read_text())
    assert shown.open == [] and not {"script", "link", "iframe"} & set(shown.tags)
    assert data.fingerprint in shown.text and "2 runs" in shown.text
    again = json.loads(json.dumps(build_record(results, data, {"run 2": {"seed": 2}})))
    assert again == record
