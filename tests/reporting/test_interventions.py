"""The report of interventions: means over runs, rows, charts and files, worked out by hand for two small runs."""

import json
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.contracts import ModelOutput
from assay.data import versions
from assay.diagnosis import InterventionPlan, InterventionResult, Point, Truth, Units
from assay.diagnosis.automation import Abstention
from assay.diagnosis.interventions.curve import Automation, Curve
from assay.diagnosis.interventions.policy import Selection
from assay.logic import Knowledge
from assay.reporting import build_record, interventions, write_interventions
from assay.reporting.interventions import (
    AVERAGED,
    calibration_chart,
    calibration_errors,
    charts,
    coverage_chart,
    curve_chart,
    rows_table,
    summary,
)

SPACE = ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 1, 2))))
DATASET = SimpleNamespace(knowledge=Knowledge.of(SPACE, {"y": "a == 1", "z": "b == 2"}))
TRUTH = Truth(np.array([[0, 0], [1, 2], [1, 1]]), np.array([[0, 0], [1, 1], [1, 0]]))
INDEX = np.array([4, 7, 9])


def soft(*rows):
    return np.array(rows)


def output(y, z):
    """Return what a model says: the probability of each label's second value, a number an example."""
    return ModelOutput([np.array([[1 - p, p] for p in some]) for some in (y, z)], [])


def point(budget, accuracy, **more):
    plain = {"all_right": 0.5, "concept_accuracy": 0.75, "asked": budget, "answered": 0.0, "edited": 0.0}
    return Point(
        budget, budget >= 2, accuracy, **{**plain, "cost": 2 * budget, "changed": 0.125, "exact": True, **more}
    )


def result(accuracies=(0.5, 0.75), abstention=None, model="cbm", **more):
    points = tuple(point(2.0 * place, accuracy, **more) for place, accuracy in enumerate(accuracies))
    asked = Selection(np.zeros((3, 2), bool)), Selection(np.array([[True, False], [True, True], [False, True]]))
    outputs = output((0.2, 0.9, 0.4), (0.3, 0.4, 0.1)), output((0.1, 0.8, 0.7), (0.3, 0.9, 0.2))
    curve = Curve(points, asked, outputs)
    control = Curve(tuple(point(0.0, 0.5, changed=c) for c in (0.0, 0.25, 0.1)), (), ())
    plan = InterventionPlan("random", "0,2", source="noisy:0.1")
    concepts = [
        soft([0.8, 0.2], [0.4, 0.6], [0.7, 0.3]),
        soft([0.9, 0.05, 0.05], [0.1, 0.2, 0.7], [0.2, 0.5, 0.3]),
    ]
    policy = SimpleNamespace(threshold=0.3)
    return InterventionResult(
        plan, model, Units.of(SPACE, costs={"b": 3.0}), policy, curve, control, abstention, TRUTH, INDEX, concepts
    )


def test_a_budget_is_summed_up_by_mean_lowest_and_highest():
    first, last = summary([result((0.5, 0.75)), result((0.25, 1.0)), result((0.75, 0.5))])
    assert (first["budget"], first["whole"], last["budget"], last["whole"]) == (0.0, False, 2.0, True)
    assert first["accuracy"] == {"mean": 0.5, "low": 0.25, "high": 0.75}
    assert last["accuracy"] == {"mean": 0.75, "low": 0.5, "high": 1.0}
    assert last["cost"] == {"mean": 4.0, "low": 4.0, "high": 4.0}
    assert set(first) == {"budget", "whole", "accuracy", "concept_accuracy", "asked", "cost", "changed"}
    decided = result(automated=Automation(0.5, 0.9, 0.25), gain=0.125)
    (row, _) = summary([decided, result(gain=0.375)])
    assert set(row) == {"budget", "whole", *AVERAGED}
    assert row["gain"] == {"mean": 0.25, "low": 0.125, "high": 0.375}
    assert row["coverage"] == {"mean": 0.5, "low": 0.5, "high": 0.5}  # of the only run that has it


def test_each_concept_has_its_calibration_error():
    errors = calibration_errors(result(), DATASET)
    # a: 0.8 right, 0.6 right, 0.7 wrong; b: 0.9 right, 0.7 right, 0.5 right, each in a bin of its own
    assert errors == {"a": pytest.approx((0.2 + 0.4 + 0.7) / 3), "b": pytest.approx((0.1 + 0.3 + 0.5) / 3)}


def test_rows_say_what_was_asked_and_what_came_of_it():
    table = rows_table({"one": result(), "two": result()}, DATASET).to_pydict()
    assert table["run"] == ["one"] * 6 + ["two"] * 6
    assert table["budget"] == [0.0] * 3 + [2.0] * 3 + [0.0] * 3 + [2.0] * 3
    assert table["index"] == [4, 7, 9] * 4
    assert table["asked"][:6] == [[], [], [], ["a"], ["a", "b"], ["b"]]
    assert table["label_y"][:6] == [False, True, False, False, True, True]
    assert table["label_z"][:6] == [False, False, False, False, True, False]
    assert table["label_z_probabilities"][1] == [0.6, 0.4]
    assert table["label_y_probabilities"][5] == pytest.approx([0.3, 0.7])


def test_the_curve_has_a_line_a_group_and_a_band_of_its_runs():
    chart = curve_chart({"x": [result((0.5, 0.75)), result((0.25, 1.0))], "": [result((0.4, 0.6), model="cem")]})
    first, second = chart.lines
    assert (first.name, second.name) == ("x", "cem, random")
    assert first.x == [0, 1] and first.y == [0.375, 0.875] and first.low == [0.25, 0.75] and first.high == [0.5, 1.0]
    assert second.y == [0.4, 0.6] and second.low is None and second.high is None
    assert chart.ticks == [(0.0, "0"), (1.0, "max")]
    assert chart.title == "Label accuracy by confirmation, answers: noisy"
    assert chart.description == (
        "Accuracy at budgets 0, max. x: 0.375, 0.875; cem, random: 0.400, 0.600. "
        "Bands reach from the lowest to the highest of 2 runs."
    )
    alone = curve_chart({"x": [result()]})
    assert alone.description == "Accuracy at budgets 0, max. x: 0.500, 0.750."


def test_coverage_goes_from_the_most_confident_to_all():
    chart = coverage_chart([result()])
    assert [line.name for line in chart.lines] == ["budget 0", "max"]
    # before: confidences 0.56, 0.54, 0.54; only the first is right in both labels
    assert chart.lines[0].x == pytest.approx([1 / 3, 1]) and chart.lines[0].y == pytest.approx([1, 1 / 3])
    # after: 0.63, 0.72, 0.56, all right
    assert chart.lines[1].x == pytest.approx([1 / 3, 2 / 3, 1]) and chart.lines[1].y == [1, 1, 1]
    assert chart.description == "budget 0: 0.333 if all is decided; max: 1.000 if all is decided."
    assert coverage_chart([result(), result()]).lines[0].y == pytest.approx([1, 1 / 3])


def test_coverage_is_by_the_calibrated_confidence_where_there_is_one():
    def turned(probabilities):
        return 1 - probabilities / 2

    rule = Abstention((turned, turned), 0.5, 0.9)
    confidence, right = interventions._confidence(result(abstention=rule), 0)
    assert right.tolist() == [True, False, False]
    assert confidence == pytest.approx([0.9 * 0.85, 0.95 * 0.8, 0.8 * 0.95])


def test_calibration_is_drawn_of_all_runs_together_and_of_the_worst_concepts(monkeypatch):
    chart = calibration_chart([result(), result()], DATASET)
    assert [line.name for line in chart.lines] == ["a (0.433)", "b (0.300)"]
    assert chart.lines[0].x == pytest.approx([0.6, 0.7, 0.8]) and chart.lines[0].y == [1, 0, 1]
    assert chart.title == "Calibration of the concepts" and chart.diagonal
    assert chart.description.startswith("Expected calibration error: a 0.433, b 0.300. On the dotted diagonal")
    monkeypatch.setattr(interventions, "MOST_LINES", 1)
    chart = calibration_chart([result()], DATASET)
    assert [line.name for line in chart.lines] == ["a (0.433)"] and chart.title == "The 1 worst calibrated concepts"
    assert interventions.MOST_LINES == 1 and len(coverage_chart([result()]).lines) == 1


def test_everything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(interventions, "provenance", lambda dataset: {"task": "toy", "seed": 0})
    results = {"one": result(), "two": result((0.25, 1.0))}
    record = build_record(results, DATASET, {"two": {"seed": 3}})
    assert [run["run"] for run in record["runs"]] == ["one", "two"]
    assert [run["about"] for run in record["runs"]] == [{}, {"seed": 3}]
    assert record["runs"][1]["control"] == {"source": "self", "changed": 0.25}
    assert record["runs"][0]["abstention"] is None and record["runs"][0]["model"] == "cbm"
    assert [p["accuracy"] for p in record["runs"][1]["points"]] == [0.25, 1.0]
    assert record["examples"] == 3 and record["format"] == 1 and record["versions"] == versions()
    assert record["plan"]["threshold"] == 0.3 and record["plan"]["source"] == "noisy:0.1"
    assert record["summary"] == summary(list(results.values()))
    assert record["data"] == {"task": "toy", "seed": 0}
    assert set(charts(results, DATASET)) == {"curve", "coverage", "calibration"}
    monkeypatch.setattr(
        interventions, "page_environment",
        lambda: SimpleNamespace(get_template=lambda name: SimpleNamespace(render=lambda **k: f"{name} {sorted(k)}")),
    )  # fmt: skip
    page = write_interventions(tmp_path / "out", results, DATASET, {})
    assert page == tmp_path / "out" / "interventions.html"
    assert page.read_text() == "interventions.html ['charts', 'record']"
    assert json.loads((tmp_path / "out" / "interventions.json").read_text())["examples"] == 3
    assert pq.read_table(tmp_path / "out" / "rows.parquet").num_rows == 12
    for name in ("curve", "coverage", "calibration"):
        assert (tmp_path / "out" / f"{name}.svg").read_text().startswith("<svg")
