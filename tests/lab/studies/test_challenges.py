"""What a study can ask for beyond tasks and models: challenges, folds, analyses, and a model that sees for another."""

import numpy as np
import pytest

from assay.base import ConfigError, Settings
from assay.contracts import read_predictions
from assay.dataset import Dataset, Fold
from assay.lab import read_records, run_study, study_from
from tests.lab.studies.test_study import Here
from tests.pixels import TASK

PIXELS = {"task": "mnlogic", **TASK, "splits": {"valid": 16, "test": 48, "hard": 16}}
NOISE = {"challenge": "noise", "annotate": {"label_noise": 0.25, "splits": ["train"]}}


def study(folder, **changes):
    given = {"tasks": [PIXELS], "models": ["tree"], "n": 64, "output": str(folder / "out"), **changes}
    return study_from(Settings(given))


def done(folder, **changes):
    """Run a study in this process and return its records."""
    run_study(study(folder, **changes), workers=Here())
    return read_records(folder / "out")


def values(records, metric="label_accuracy", split="test", **about):
    return [
        r.value
        for r in records
        if (r.metric, r.split) == (metric, split) and all(getattr(r, k) == v for k, v in about.items())
    ]


def test_challenges_change_what_is_learned_from_and_nothing_else(tmp_path):
    records = done(tmp_path, challenges=["plain", NOISE, {"challenge": "few", "n": 8}])
    assert values(records, challenge="plain") == [1.0] and values(records, challenge="noise")[0] < 1
    folders = {record.challenge: tmp_path / "out" / "data" / record.data for record in records}
    noise, few = (Dataset.open(folders[name]) for name in ("noise", "few"))
    assert 0.1 < (noise["train"].labels != noise["train"].given_labels).mean() < 0.5
    assert (noise["test"].labels == noise["test"].given_labels).all() and len(few["train"]) == 8
    assert "noise" in (tmp_path / "out" / "report" / "report.md").read_text()


def test_folds_leave_each_example_out_once_with_labels_in_equal_shares(tmp_path):
    records = done(tmp_path, folds=4)
    assert {record.fold for record in records} == {0, 1, 2, 3} and len(values(records)) == 4
    data = Dataset.open(next((tmp_path / "out" / "data").iterdir()))["train"]
    parts = [Fold(number, 4).divide(data) for number in range(4)]
    held = np.concatenate([inside.index for _, inside in parts])
    assert sorted(held) == sorted(data.index) and all(len(outside) == 48 for outside, _ in parts)
    assert {int(inside.labels.sum()) for _, inside in parts} == {int(data.labels.sum()) // 4}
    for wrong in (Fold(4, 4), Fold(0, 1), Fold(0, 65)):
        with pytest.raises(ConfigError, match="cannot be"):
            wrong.divide(data)


def test_one_model_sees_for_another(tmp_path):
    seeing = [
        {"model": "cbm", "name": "eye", "concept_weight": 1.0, "learning_rate": 0.02, "device": "cpu", "epochs": 6}
    ]
    made = study(tmp_path, models=[{"model": "tree", "perception": "eye"}, *seeing])
    assert [run.label for run in made.runs] == ["eye", "tree"] and made.runs[1].needs == made.runs[0].name
    assert [run.label for run in made.only(["tree"]).runs] == ["eye", "tree"]  # with what it needs
    assert [run.label for run in made.only(["eye"]).runs] == ["eye"]
    records = done(tmp_path, models=[{"model": "tree", "perception": "eye"}, *seeing])
    assert values(records, "concept_accuracy", model="tree") == values(records, "concept_accuracy", model="eye")


def test_worlds_are_changed_and_models_asked_again(tmp_path):
    records = done(tmp_path, analyses=[{"analysis": "change", "do": ["a=1", "b=1"]}])
    assert values(records, "before_do") == [1.0] and values(records, "after_do") == [1.0]
    assert values(records, "after_moved_do") and values(records, "after_stays_do")


def test_a_label_head_is_aligned_and_what_that_costs_is_recorded(tmp_path):
    seeing = {"model": "cbm", "mode": "independent", "learning_rate": 0.02, "device": "cpu", "epochs": 6}
    records = done(
        tmp_path, models=[seeing], analyses=[{"analysis": "align", "weights": {"zero": ["a"]}}], about="Why so."
    )
    told = {name: values(records, f"training_{name}")[0] for name in ("as_trained", "fitted_anew", "aligned")}
    assert told["aligned"] <= told["fitted_anew"] and told["fitted_anew"] > 0.5
    gain = values(records, "intervened_aligned")[0] - values(records, "test_aligned")[0]
    assert values(records, "gain_aligned") == [pytest.approx(gain)]
    assert "Why so." in (tmp_path / "out" / "report" / "report.md").read_text()
    assert "<p>Why so.</p>" in (tmp_path / "out" / "report" / "report.html").read_text()


def test_labels_under_another_rule_join_the_records(tmp_path):
    rule = {"analysis": "swap_rule", "labels": {"y": "a"}, "metrics": ["label_accuracy"]}
    kept = {**rule, "only_predicted": True, "suffix": "_believed"}
    records = done(tmp_path, models=[{"model": "cbm", "epochs": 3}, "blackbox"], epochs=1, analyses=[rule, kept])
    assert 0 <= values(records, "label_accuracy_swapped", model="cbm")[0] <= 1
    assert values(records, "label_accuracy_swapped", model="blackbox") == []  # it says no concepts
    run = next((tmp_path / "out" / "runs").glob("*cbm*"))
    data = Dataset.open(next((tmp_path / "out" / "data").iterdir()))
    said = read_predictions(run / "predictions" / "test.parquet", data.knowledge).concepts["a"].codes
    truth = data["test"]
    assert values(records, "label_accuracy_swapped", model="cbm") == [(said == truth.concepts[:, 0]).mean()]
    assert values(records, "label_accuracy_believed", model="cbm") == [(said == truth.labels[:, 0]).mean()]


def test_runs_are_tried_on_other_datasets_of_the_study(tmp_path):
    other = {**PIXELS, "name": "elsewhere", "seed": 7}
    transfer = {"analysis": "transfer", "to": ["elsewhere"]}
    records = done(
        tmp_path,
        tasks=[PIXELS, other],
        models=[{"model": "cbm", "on": ["mnlogic"], "epochs": 2}],
        analyses=[transfer],
        challenges=["plain", {"challenge": "few", "annotate": {"examples": 16, "splits": ["train"]}}],
    )
    found = [r for r in records if r.metric == "label_accuracy_on_elsewhere"]
    assert {record.challenge for record in found} == {"plain", "few"} and {record.task for record in found} == {
        "mnlogic"
    }
    assert len(list((tmp_path / "out" / "data").iterdir())) == 3  # what is only tried on is not copied


def test_an_analysis_may_be_for_some_models_only(tmp_path):
    leak = {"analysis": "leakage", "models": ["cbm"]}
    made = study(tmp_path, models=["tree", "cbm"], analyses=[leak])
    assert {run.label: [name for name, _ in run.analyses] for run in made.runs} == {"tree": [], "cbm": ["leakage"]}
