"""What is kept of a study's runs: a row for each number, one for each run, one for what it took; verdicts in a line."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import DataError, Settings
from assay.lab import RunStep, read_records, records_of, verdict_lines, write_records

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


def step(name, **more):
    facts = {"task": "t", "challenge": "plain", "model": "cbm", "label": "cbm", "settings": Settings({}), "seed": 0}
    return RunStep(name, more.pop("data", "d"), **{**facts, **more})


def finish(folder, name, seconds=None, **more):
    (folder / "runs" / name).mkdir(parents=True, exist_ok=True)
    (folder / "runs" / name / "records.json").write_text(json.dumps({**RESULT, **more}))
    if seconds is not None:
        (folder / "runs" / name / "usage.json").write_text(json.dumps({"seconds": seconds}))


def test_records_have_every_number_of_every_finished_run(tmp_path):
    steps = [step("r1", seed=3, fold=1, folds=2, label="mine"), step("r2", data="e", challenge="noise"), step("r3")]
    finish(tmp_path, "r1", 2.5)
    finish(tmp_path, "r2", scores={}, numbers=[{**NUMBER, "value": 0}])
    found = records_of(steps, tmp_path)
    told = [(one.run, one.split, one.metric, one.value, one.low, one.high, one.examples) for one in found]
    nan = pytest.approx(math.nan, nan_ok=True)
    assert told == [
        ("r1", "test", "label_f1", 0.5, 0.4, nan, 9), ("r1", "test", "concept_f1", 0.0, 0.0, 0.25, 4),
        ("r1", "ood", "label_f1", nan, nan, nan, 3), ("r1", "test", "accuracy_k1", 0.75, nan, nan, 7),
        ("r2", "test", "accuracy_k1", 0.0, nan, nan, 7),
    ]  # fmt: skip
    first, last = found[0], found[-1]
    assert (first.task, first.model, first.seed, first.fold, first.data) == ("t", "mine", 3, 1, "d")
    assert (last.challenge, last.model, last.fold, last.data) == ("noise", "cbm", -1, "e")
    assert (first.verdict, first.fingerprint, first.data_seed, first.assay) == ("sound", "ff", 4, "1")
    write_records(found, steps, tmp_path)
    assert repr(read_records(tmp_path)) == repr(found)
    runs = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(row["run"], row["model"], row["registered"], row["fold"], row["finished"], row["verdict"]) for row in runs] == [
        ("r1", "mine", "cbm", 1, True, "sound"), ("r2", "cbm", "cbm", -1, True, "sound"), ("r3", "cbm", "cbm", -1, False, ""),
    ]  # fmt: skip
    assert pq.read_table(tmp_path / "usage.parquet").to_pylist() == [
        {"run": "r1", "task": "t", "challenge": "plain", "model": "mine", "seed": 3, "seconds": 2.5}
    ]


@pytest.mark.parametrize("text", ["{", '{"scores": {}}'])
def test_records_that_are_damaged_are_one_line(tmp_path, text):
    finish(tmp_path, "r1")
    (tmp_path / "runs" / "r1" / "records.json").write_text(text)
    with pytest.raises(DataError, match="is damaged; delete it and run the study again"):
        records_of([step("r1")], tmp_path)
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

    finish(tmp_path, "a", **told("shortcut", 0.9, 0.2, 0.5, "first"))
    finish(tmp_path, "b", **told("sound", 1.0, None, None, "second"))
    finish(tmp_path, "c", **told("sound", 0.8, 0.0, 0.7, "third"))
    finish(tmp_path, "old")  # of a version that kept no headline
    steps = [
        step("a"),
        step("b", seed=1),
        step("c", seed=2),
        step("open", seed=3),
        step("old", label="dpl", challenge="n"),
    ]
    line, old = verdict_lines(steps, tmp_path)
    assert (line.task, line.model, line.verdict) == ("t", "cbm", "sound 2 of 3, shortcut 1 of 3")
    assert (line.why, line.run) == ("second", tmp_path / "runs" / "a")
    assert (line.label_f1, line.concept_f1, line.ood) == pytest.approx((0.9, 0.1, 0.6))
    assert (old.model, old.verdict, old.tone, old.why) == ("dpl", "sound", "good", "all is right")
    assert math.isnan(old.ood) and "n" in old.task
