"""What is kept of a study's runs: a row for each number, one for each run, one for what it took; verdicts in a line."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import DataError, Settings
from assay.lab import read_records, study_from, verdict_lines, write_records
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
SCORES = {
    "test": [
        {"metric": "label_f1", "value": 0.5, "low": 0.4, "high": None, "examples": 9},
        {"metric": "concept_f1", "value": 0.0, "low": 0.0, "high": 0.25, "examples": 4},
    ],
    "ood": [{"metric": "label_f1", "value": None, "examples": 3}],
}
NUMBER = {"split": "test", "metric": "accuracy_k1", "value": 0.75, "examples": 7}
RESULT = {
    **{"scores": SCORES, "numbers": [NUMBER], "verdict": "sound", "reasons": ["all is right", "more"]},
    **{"fingerprint": "ff", "data_seed": 4, "versions": {"assay": "1"}, "config": {"epochs": 2}},
}


def study(folder, **more):
    """Return a study of models on sums of bits, none of whose runs is done."""
    tasks = [{"task": "mnlogic", "name": "t", "k": 2}]
    return study_from(Settings({"tasks": tasks, "models": ["cbm"], **more}), folder)


def finish(folder, run, seconds=None, **more):
    """Write what a run leaves."""
    (folder / "runs" / run.name).mkdir(parents=True, exist_ok=True)
    (folder / "runs" / run.name / "records.json").write_text(json.dumps({**RESULT, **more}))
    if seconds is not None:
        (folder / "runs" / run.name / "usage.json").write_text(json.dumps({"seconds": seconds}))


def test_records_have_every_number_of_every_finished_run(tmp_path):
    models = [{"model": "cbm", "name": "mine"}, "tree"]
    challenges = ["plain", {"challenge": "noise", "annotate": {"label_noise": 0.5}}]
    steps = study(tmp_path, models=models, challenges=challenges, seeds=[3], folds=2).runs
    named = {(step.label, step.challenge, step.fold): step for step in steps}
    one, two = named["mine", "plain", 1], named["tree", "noise", 0]
    finish(tmp_path, one, 2.5)
    finish(tmp_path, two, scores={}, numbers=[{**NUMBER, "value": 0}])
    found = write_records(steps, tmp_path)
    told = [(record.run, record.split, record.metric, record.value, record.low, record.high, record.examples)
            for record in found]  # fmt: skip
    nan = pytest.approx(math.nan, nan_ok=True)
    assert told == [
        (one.name, "test", "label_f1", 0.5, 0.4, nan, 9), (one.name, "test", "concept_f1", 0.0, 0.0, 0.25, 4),
        (one.name, "ood", "label_f1", nan, nan, nan, 3), (one.name, "test", "accuracy_k1", 0.75, nan, nan, 7),
        (two.name, "test", "accuracy_k1", 0.0, nan, nan, 7),
    ]  # fmt: skip
    first, last = found[0], found[-1]
    assert (first.task, first.model, first.seed, first.fold, first.data) == ("t", "mine", 3, 1, one.data)
    assert (last.challenge, last.model, last.fold, last.data) == ("noise", "tree", 0, two.data) and one.data != two.data
    assert (first.verdict, first.fingerprint, first.data_seed, first.assay) == ("sound", "ff", 4, "1")
    assert repr(read_records(tmp_path)) == repr(found)
    runs = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [row["run"] for row in runs] == [step.name for step in steps]
    done = [
        (row["run"], row["model"], row["registered"], row["fold"], row["verdict"]) for row in runs if row["finished"]
    ]
    assert done == [(one.name, "mine", "cbm", 1, "sound"), (two.name, "tree", "tree", 0, "sound")]
    assert {row["verdict"] for row in runs if not row["finished"]} == {""}
    assert pq.read_table(tmp_path / "usage.parquet").to_pylist() == [
        {"run": one.name, "task": "t", "challenge": "plain", "model": "mine", "seed": 3, "seconds": 2.5}
    ]


def test_without_folds_there_is_no_fold(tmp_path):
    (step,) = study(tmp_path).runs
    finish(tmp_path, step)
    assert {record.fold for record in write_records([step], tmp_path)} == {-1}


@pytest.mark.parametrize("text", ["{", '{"scores": {}}'])
def test_records_that_are_damaged_are_one_line(tmp_path, text):
    (step,) = study(tmp_path).runs
    finish(tmp_path, step)
    (tmp_path / "runs" / step.name / "records.json").write_text(text)
    with pytest.raises(DataError, match="is damaged; delete it and run the study again"):
        write_records([step], tmp_path)
    pq.write_table(pa.table({"task": ["t"], "nonsense": [1]}), tmp_path / "records.parquet")
    with pytest.raises(DataError, match="records.parquet' is damaged; delete it and run the study again"):
        read_records(tmp_path)
    with pytest.raises(DataError, match="holds no records of a study"):
        read_records(tmp_path / "none")


def test_one_line_for_the_runs_of_a_model(tmp_path):
    def told(verdict, label, concept, away, why):
        scores = {"test": {"label_f1": label, "concept_f1": concept}, "ood": {"label_f1": away, "concept_f1": 0.9}}
        listed = {split: [{"metric": m, "value": v} for m, v in values.items()] for split, values in scores.items()}
        return {"verdict": verdict, "headline": {"verdict": verdict, "tone": "bad", "why": why}, "scores": listed}

    models = ["cbm", {"model": "dpl", "on": ["t"]}]
    steps = study(tmp_path, models=models, seeds=[0, 1, 2, 3]).runs
    of_cbm, of_dpl = ([step for step in steps if step.label == label] for label in ("cbm", "dpl"))
    finish(tmp_path, of_cbm[0], **told("shortcut", 0.9, 0.2, 0.5, "first"))
    finish(tmp_path, of_cbm[1], **told("sound", 1.0, None, None, "second"))
    finish(tmp_path, of_cbm[2], **told("sound", 0.8, 0.0, 0.7, "third"))
    finish(tmp_path, of_dpl[0])  # of a version that kept no headline
    line, old = verdict_lines(steps, tmp_path)
    assert (line.task, line.model, line.verdict) == ("t", "cbm", "sound 2 of 3, shortcut 1 of 3")
    assert (line.why, line.run) == ("second", tmp_path / "runs" / of_cbm[0].name)
    assert (line.label_f1, line.concept_f1, line.ood) == pytest.approx((0.9, 0.1, 0.6))
    assert (old.model, old.verdict, old.tone, old.why) == ("dpl", "sound", "good", "all is right")
    assert math.isnan(old.ood) and old.task == "t"
