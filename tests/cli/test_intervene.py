"""`assay intervene`: runs, folders of runs and predictions files; what it writes; and what it refuses, in one line."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from assay.contracts import Prediction, Predictions
from tests.pixels import trained


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    """Two seeds of a bottleneck that has not learned much, in one folder."""
    folder = tmp_path_factory.mktemp("seeds")
    for seed in (0, 1):
        trained("cbm", data, folder / f"seed{seed}", {"epochs": 6}, seed)
    return folder


def predictions(data, path, soft=True, split="test", **about):
    """Write predictions of concepts by someone who is not sure of anything."""
    held = data[split]
    chance = np.linspace(0.05, 0.95, len(held))
    spread = np.stack([1 - chance, chance], axis=1)
    answer = Prediction.of(spread) if soft else Prediction(spread.argmax(axis=1))
    concepts = dict.fromkeys(data.knowledge.space.names, answer)
    said = Predictions(data.fingerprint, split, held.index, {"y": Prediction(held.labels[:, 0])}, concepts, about)
    said.write(path, data.knowledge)
    return path


def test_a_run_and_its_control(assay, run, data):
    told = assay("intervene", run, data.folder, "--budget", "0-1,max", "--policy", "fixed")
    assert told.status == 0 and "control: the model's own predictions change 0.0 % of the labels" in told.err
    assert [line.split()[0] for line in told.out.splitlines()[2:]] == ["0", "1", "max"]
    assert assay("intervene", run).status == 0  # the run knows its data


def test_several_runs_are_averaged_and_written_down(assay, runs, data, tmp_path):
    words = ["intervene", runs, data.folder, "--policy", "uncertainty", "--budget", "0-2,max", "--target", "0.8"]
    told = assay(*words, "--baseline", runs / "seed0", "--json", "-o", tmp_path / "out")
    assert told.status == 0, told.err
    record = json.loads(told.out)
    assert json.loads((tmp_path / "out" / "interventions.json").read_text()) == record
    assert [one["run"] for one in record["runs"]] == ["seed0", "seed1"]
    assert [one["about"]["seed"] for one in record["runs"]] == [0, 1]
    assert record["data"]["fingerprint"] == data.fingerprint and record["plan"]["policy"] == "uncertainty"
    assert all(one["control"]["changed"] == 0 for one in record["runs"])
    first = record["runs"][0]["points"][0]
    assert first["gain"] == 0 and first["asked"] == 0 and first["net_work_automated"] == first["coverage"]
    last = record["summary"][-1]
    assert last["whole"] and last["accuracy"]["low"] <= last["accuracy"]["mean"] <= last["accuracy"]["high"]
    rows = pq.read_table(tmp_path / "out" / "rows.parquet")
    assert rows.num_rows == 2 * 4 * len(data["test"])
    asked = np.array([len(one) for one in rows["asked"].to_pylist()]).reshape(2, 4, -1)
    assert asked[0].mean(axis=1).tolist() == [point["asked"] for point in record["runs"][0]["points"]]
    for name in ("curve", "coverage", "calibration"):
        drawn = ElementTree.fromstring((tmp_path / "out" / f"{name}.svg").read_text())
        texts = [child.text for child in drawn if child.tag.endswith(("title", "desc"))]
        assert drawn.get("role") == "img" and len(texts) == 2 and all(texts)
    curve = (tmp_path / "out" / "curve.svg").read_text()
    assert 'fill-opacity="0.18"' in curve and "lowest to the highest of 2 runs" in curve  # the band
    page = (tmp_path / "out" / "interventions.html").read_text()
    assert page.count("<svg") == 3 and "it must change none" in page


def test_manipulation_draws_worlds_again(assay, run, data):
    words = [
        "intervene",
        run,
        data.folder,
        "--kind",
        "manipulation",
        "--policy",
        "random",
        "--budget",
        "0,1,max",
        "--json",
    ]
    record = json.loads(assay(*words).out)
    points = record["runs"][0]["points"]
    assert [point["edited"] for point in points] == [0, 1, 3]
    assert all(point["accuracy"] == 1 for point in points)  # this model follows the rule wherever it leads
    assert points[-1]["changed"] > 0 and record["runs"][0]["control"]["changed"] == 0
    unchanged = json.loads(assay(*words, "--source", "perfect").out)["runs"][0]["points"]
    assert [point["edited"] for point in unchanged] == [0, 0, 0]


def test_predictions_of_any_make_need_no_torch(program, data, tmp_path):
    path = predictions(data, tmp_path / "said.parquet", model="mine")
    told = program(
        "intervene", path, data.folder, "--budget", "0,max", "--policy", "uncertainty", "--json", torch=False
    )
    record = json.loads(told.out)
    assert record["runs"][0]["model"] == "mine + rule"
    assert record["runs"][0]["points"][-1]["accuracy"] == 1 > record["runs"][0]["points"][0]["accuracy"]


def test_answers_come_from_files_experts_and_other_models(assay, run, data, tmp_path):
    said = predictions(data, tmp_path / "said.parquet")
    names, held = data.knowledge.space.names, data["test"]
    truth = {name: pa.array(held.concepts[:, i] == 1) for i, name in enumerate(names)}
    pa.csv.write_csv(pa.table(truth), tmp_path / "all.csv")
    half = {"index": pa.array(held.index[:32]), **{name: column[:32] for name, column in truth.items()}}
    pq.write_table(pa.table(half), tmp_path / "half.parquet")
    (tmp_path / "confused.json").write_text(json.dumps({"a": 0.5, "b": [[0, 1], [1, 0]]}))
    other = run / "predictions" / "test.parquet"

    def last(source):
        words = ("--budget", "0,max", "--policy", "fixed", "--source", source, "--json")
        return json.loads(assay("intervene", said, data.folder, *words).out)["runs"][0]["points"][-1]

    assert last(f"file:{tmp_path / 'all.csv'}")["accuracy"] == 1
    assert last(f"model:{other}")["accuracy"] == 1
    assert last(f"file:{tmp_path / 'half.parquet'}")["answered"] == 1.5
    perfect, confused = last("perfect"), last(f"expert:{tmp_path / 'confused.json'}")
    assert perfect["concept_accuracy"] == 1 and 0.3 < confused["concept_accuracy"] < 0.7
    assert last("self")["changed"] == 0


def test_bad_input_is_one_line(assay, run, data, tmp_path):
    hard = predictions(data, tmp_path / "hard.parquet", soft=False)
    held = data["test"]
    pa.csv.write_csv(pa.table({"a": pa.array([True] * 5)}), tmp_path / "short.csv")
    pa.csv.write_csv(pa.table({"zz": pa.array([True] * len(held))}), tmp_path / "none.csv")
    (tmp_path / "matrix.json").write_text('{"a": [[1, 0]]}')
    blackbox = tmp_path / "blackbox"
    trained("blackbox", data, blackbox, {"epochs": 1})
    for words, told in [
        ((run, "--policy", "responsivness"), "no policy named 'responsivness'; did you mean 'responsiveness'?"),
        ((run, "--source", "perfekt"), "no source named 'perfekt'; did you mean 'perfect'?"),
        ((run, "--source", "expert"), "source 'expert' is not whole; write one of: perfect, self, expert:ACCURACY"),
        ((run, "--source", "expert:2"), "expert:2: an accuracy is a number from 0 to 1"),
        (
            (run, "--source", f"expert:{tmp_path}/matrix.json"),
            "matrix.json: 'a' needs an accuracy, or 2 rows of 2 chances",
        ),
        (
            (run, "--source", f"file:{tmp_path}/short.csv"),
            "answers have the wrong shape: short.csv has 5 rows, split 'test' has 64",
        ),
        (
            (run, "--source", f"file:{tmp_path}/none.csv"),
            "none.csv: no column is named as a concept; there is: a, b, c",
        ),
        ((run, "--source", "toggle"), "source 'toggle' is for manipulation"),
        ((run, "--kind", "guess"), "no kind of intervention named 'guess'"),
        ((hard,), "policy 'responsiveness' needs concept probabilities, and 'predictions + rule' gives only values"),
        ((blackbox,), "model 'blackbox' has no concepts that can be set"),
        ((run, "--cost", "a=3", "--cost", "b=2", "--cost", "c=2", "--budget", "1"), "a budget of 1 buys nothing"),
        ((run, "--cost", "a=cheap"), "--cost a=cheap: expected a number"),
        ((run, "--cost", "a"), "'a': expected NAME=..."),
        ((run, "--cost", "z=1"), "a cost for no concept or group: 'z'"),
        ((run, "--group", "g=a,z"), "no concept named 'z'"),
        ((run, "--budget", "-1"), "--budget '-1': expected numbers, ranges and 'max'"),
        ((run, "--order", "a"), "an order of concepts is for policy 'fixed', not 'responsiveness'"),
        ((run, "--policy", "fixed", "--order", "z"), "order: nothing named 'z' can be asked about"),
        ((run, "--policy", "random", "--threshold", "0.5"), "policy 'random' has no score"),
        ((run, "--target", "1.5"), "a target accuracy is a number above 0 and up to 1, not 1.5"),
        ((run, "--split", "tset"), "no split named 'tset'; did you mean 'test'?"),
        ((tmp_path / "nothing",), "holds no finished run and is no predictions file"),
        ((run, "--baseline", tmp_path / "nowhere"), "no run or predictions file"),
    ]:
        assert told in assay("intervene", words[0], data.folder, *words[1:]).error


def test_a_target_that_no_threshold_reaches_is_refused(assay, data, tmp_path):
    trained("cbm", data, tmp_path / "poor", {"epochs": 1, "learning_rate": 1e-6}, 3)
    told = assay("intervene", tmp_path / "poor", data.folder, "--target", "0.999").error
    assert told.startswith("no threshold reaches accuracy 0.999 on validation: the best is 0.")
