"""A study runs tasks x models x seeds, keeps what is finished, goes on past failures, and names the line of a mistake."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from assay.base import ConfigError, RunFailed, Settings
from assay.lab import LocalWorkers, find_study, perform, read_records, run_study, study_from
from tests.pixels import TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic", "mnadd-evenodd")

PIXELS = {"task": "mnlogic", **TASK, "splits": {"valid": 32, "test": 48, "hard": 32}}
QUICK = {"learning_rate": 0.02, "device": "cpu"}
TINY = {
    "name": "tiny",
    "tasks": [PIXELS],
    "models": [{"model": "dpl", **QUICK}, {"model": "blackbox", **QUICK}],
    "seeds": [0, 1],
    "analyses": ["leakage", {"analysis": "intervene", "policy": "uncertainty", "budget": "0,1"}],
    "n": 64,
    "epochs": 2,
}


class Here:
    """Does the steps in this process, so that a test can put its hand in."""

    def check(self, steps, output):
        pass

    def make(self, step, output, watch):
        return perform(step, output)

    def run(self, steps, output, look):
        for step in steps:
            yield perform(step, output)


def study(folder, **changes):
    return study_from(Settings({**TINY, "output": str(folder / "out"), **changes}))


def runs(folder):
    return {path.parent.name: path for path in (folder / "out" / "runs").glob("*/model.safetensors")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run_study(study(folder), workers=Here())  # a process of its own would import torch once more
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "study")


def test_every_task_model_and_seed_is_run(finished):
    planned = [run.name for run in study(finished).runs]
    assert len(planned) == 4 and set(runs(finished)) == set(planned)
    assert {name.rsplit("-", 1)[0] for name in planned} == {
        f"mnlogic-{model}-seed{seed}" for model in ("dpl", "blackbox") for seed in (0, 1)
    }
    report = json.loads((finished / "out" / "report" / "report.json").read_text())
    assert report["title"] == "tiny" and [case["name"] for case in report["cases"]] == planned[::2]
    assert {record.run for record in read_records(finished / "out")} == set(planned)
    metrics = {(record.model, record.metric) for record in read_records(finished / "out")}
    assert {("dpl", "accuracy_k1"), ("dpl", "ctl_soft"), ("blackbox", "label_f1")} <= metrics
    assert ("blackbox", "accuracy_k1") not in metrics
    for run in planned:
        refused = json.loads((finished / "out" / "runs" / run / "records.json").read_text())["refused"]
        assert set(refused) == ({"leakage", "intervene"} if "blackbox" in run else set())
    page = (finished / "out" / "report" / "report.md").read_text()
    assert "mean ± deviation over 2 runs" in page and "Differences from dpl, seed by seed" in page
    assert r"\toprule" in (finished / "out" / "report" / "tables.tex").read_text()
    assert all(case["run"]["config"]["epochs"] == 2 for case in report["cases"])


def test_the_report_shows_the_number_of_every_run(finished):
    page = (finished / "out" / "report" / "report.html").read_text()
    records = read_records(finished / "out")
    for one in (one for one in records if (one.split, one.metric) == ("test", "label_f1")):
        assert f"<title>{one.model}: {one.value:.3f}</title>" in page
    means = [
        np.mean([one.value for one in records if (one.metric, one.model) == (f"accuracy_k{k}", "dpl")]) for k in (0, 1)
    ]
    for budget, mean in enumerate(means):
        assert f"<title>dpl, {budget}: {mean:.2f}" in page


def test_what_each_run_took_is_in_a_table_of_its_own(finished):
    rows = pq.read_table(finished / "out" / "usage.parquet").to_pylist()
    assert [row["run"] for row in rows] == [run.name for run in study(finished).runs]
    assert all(row["seconds"] > 0 for row in rows)
    if sys.platform == "linux":
        assert all(50 < row["memory_mb"] < 50_000 and row["programs_mb"] == 0 for row in rows)


def test_what_is_finished_is_kept(finished):
    before = {name: path.stat().st_mtime_ns for name, path in runs(finished).items()}
    said = []
    run_study(study(finished), said.append)
    assert {name: path.stat().st_mtime_ns for name, path in runs(finished).items()} == before
    assert sum(text.startswith("kept") for text in said) == 5


def test_what_is_missing_is_made_up(copy):
    first, second, *_ = runs(copy).values()
    before = second.stat().st_mtime_ns
    (first.parent / "run.json").unlink()
    (first.parent / "records.json").unlink()
    said = []
    run_study(study(copy), said.append, workers=Here())
    assert sorted(text.split()[0] for text in said) == ["kept", "kept", "kept", "kept", "trained"]
    assert second.stat().st_mtime_ns == before


def test_other_thresholds_judge_anew_and_train_nothing(copy):
    before = {name: path.stat().st_mtime_ns for name, path in runs(copy).items()}
    whole = {record.run: record for record in read_records(copy / "out")}
    strict = study(copy, diagnose={"labels.mostly": 0.01, "verdict.resamples": 0})
    run_study(strict, lambda text: None, workers=Here())
    assert {name: path.stat().st_mtime_ns for name, path in runs(copy).items()} == before
    for run in strict.runs:
        record = json.loads((copy / "out" / "runs" / run.name / "records.json").read_text())
        assert record["judged_by"]["thresholds"] == {"labels.mostly": 0.01, "verdict.resamples": 0}
        assert record["numbers"] or record["refused"]
    assert {record.run for record in read_records(copy / "out")} == set(whole)


def test_a_study_that_was_moved_goes_on(copy):
    (copy / "out").rename(copy / "moved")
    said = []
    run_study(study(copy, output=str(copy / "moved")), said.append)
    assert sum(text.startswith("kept") for text in said) == 5


def test_a_run_with_other_settings_is_not_taken_for_this_one(copy):
    said = []
    run_study(study(copy, epochs=3, seeds=[0]), said.append, workers=Here())
    assert sorted(text.split()[0] for text in said) == ["kept", "trained", "trained"]
    assert {record.run for record in read_records(copy / "out")} == {
        run.name for run in study(copy, epochs=3, seeds=[0]).runs
    }


BROKEN = {"model": "dpl", "name": "broken", **QUICK, "learning_rate": 1e30}


def test_a_run_that_fails_does_not_stop_the_rest(tmp_path):
    with pytest.raises(RunFailed, match=r"^1 of 2 runs failed \(mnlogic-broken-seed0-\w+: the \w+ became NaN"):
        run_study(study(tmp_path, models=[BROKEN, {"model": "dpl", **QUICK}], seeds=[0]), workers=Here())
    report = json.loads((tmp_path / "out" / "report" / "report.json").read_text())
    assert [case["model"] for case in report["cases"]] == ["dpl"]
    assert not list((tmp_path / "out" / "runs").glob("*-broken-*/run.json"))


SLIP = '''
"""A model with a slip, one that ends its process, and one that is fine."""

import os
from pathlib import Path

from assay.models.symbolic.tree import Tree


class Slip(Tree):
    """It fails with the first seed."""

    name = "slip"

    def fit(self, *given):
        if self.seed == 0:
            raise ValueError("a slip in a model of one's own")
        return super().fit(*given)


class Dying(Tree):
    """Its process is killed."""

    name = "dying"

    def fit(self, *given):
        os.kill(os.getpid(), 9)


class Fine(Tree):
    """A tree."""

    name = "fine"
'''


def own(folder, *models, **more):
    """Return a study with models of one's own."""
    (folder / "own.py").write_text(SLIP)
    given = {**TINY, "models": [f"own.py:{name}" for name in models], "analyses": [], **more}
    (folder / "study.yaml").write_text(yaml.safe_dump(given))
    return find_study(str(folder / "study.yaml"), output=folder / "out", code=[folder / "own.py"])


def test_an_error_of_any_kind_does_not_stop_the_rest(tmp_path):
    with pytest.raises(RunFailed, match="1 of 2 runs failed .*ValueError: a slip in a model"):
        run_study(own(tmp_path, "Slip"), workers=Here())
    assert (tmp_path / "out" / "report" / "report.html").exists()


def test_a_run_whose_worker_dies_is_given_up_and_does_not_stop_the_rest(tmp_path):
    with pytest.raises(RunFailed, match=r"1 of 2 runs failed .*its worker died 3 times"):
        run_study(own(tmp_path, "Dying", "Fine", seeds=[0]), workers=LocalWorkers(1))
    assert {record.model for record in read_records(tmp_path / "out")} == {"fine"}


def test_what_learns_from_a_run_that_failed_is_not_tried_and_says_so(tmp_path):
    models = [{**BROKEN, "model": "cbm"}, {"model": "tree", "perception": "broken"}, {"model": "tree", "name": "alone"}]
    with pytest.raises(RunFailed, match="2 of 3 runs failed"):
        run_study(study(tmp_path, models=models, seeds=[0], analyses=[]), workers=Here())
    assert {record.model for record in read_records(tmp_path / "out")} == {"alone"}
    assert not list((tmp_path / "out" / "runs").glob("mnlogic-tree-*/run.json"))


def test_a_study_says_how_far_it_is(tmp_path):
    watched = []
    made = study(tmp_path, models=["tree", {"model": "tree", "name": "oak", "depth": 1}], seeds=[0], analyses=[])
    run_study(made, watch=lambda *told: watched.append(told), workers=LocalWorkers(1))
    runs = [(int(note.split()[0]), done, whole) for what, done, whole, note in watched if what == "tiny" and note]
    finished = [number for number, _, _ in runs]
    assert runs and finished == sorted(finished) and {whole for _, _, whole in runs} == {2}
    assert all(number <= done <= 2 for number, done, _ in runs)


def test_a_study_of_nothing_but_failures_says_so(tmp_path):
    with pytest.raises(RunFailed, match="every run failed; the first, mnlogic-broken-seed0-"):
        run_study(study(tmp_path, models=[BROKEN], seeds=[0]), workers=Here())


def test_a_rule_that_cannot_serve_names_its_dataset(tmp_path):
    always = {**PIXELS, "formula": "a or not a"}
    with pytest.raises(RunFailed, match=r"mnlogic-\w+: split 'train': label 'y' is always True"):
        run_study(study(tmp_path, tasks=[always]))
    with pytest.raises(RunFailed, match=r"^2 of 4 runs failed \(mnlogic-\w+: split 'train'"):
        run_study(study(tmp_path, tasks=[always, PIXELS], seeds=[0]), workers=Here())


FILE = """\
name: mine
output: out
tasks:
  - mnadd-evenodd
  - task: mnlogic
    k: 3
models:
  - blackbox
  - {model: dpl, entropy_weight: 1.0}
  - model: cbm
    head: mlp
seeds: [0, 1]
epochs: 3
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("mnadd-evenodd", "mnadd-evenod", "^s.yaml line 4: no task named 'mnadd-evenod'; did you mean 'mnadd-evenodd'"),
        ("task: mnlogic", "task: mnlogik", "^s.yaml line 5: no task named 'mnlogik'; did you mean 'mnlogic'"),
        ("task: mnlogic", "tsak: mnlogic", "^s.yaml line 5: an entry without 'task'"),
        ("k: 3", "bits: 3", "^s.yaml line 6: unknown key 'bits'"),
        ("k: 3", "k: three", "^s.yaml line 6: k: .*valid integer"),
        ("k: 3", "formula: a and zz", "^s.yaml line 5: formula 'a and zz': no concept named 'zz'"),
        ("k: 3", "n: 0", "^s.yaml line 6: n: expected a whole number from 1 up"),
        ("k: 3", "k: 3\n    k: 4", "^s.yaml line 7: 'k' is given twice"),
        ("- blackbox", "- blakbox", "^s.yaml line 8: no model named 'blakbox'; did you mean 'blackbox'"),
        ("model: cbm", "name: cbm", "^s.yaml line 10: an entry without 'model'"),
        ("entropy_weight", "entropy", "^s.yaml line 9: unknown key 'entropy'; did you mean 'entropy_weight'"),
        ("head: mlp", "haed: mlp", "^s.yaml line 11: unknown key 'haed'; did you mean 'head'"),
        ("head: mlp", "head: tall", "^s.yaml line 11: head: .*'linear', 'log-linear', 'mlp', 'rule' or 'and'"),
        ("head: mlp", "name: ../../home", "^s.yaml line 11: name: '../../home' must be letters"),
        ("[0, 1]", "[]", "^s.yaml line 12: seeds: .*at least 1 item"),
        ("[0, 1]", "[0, 0]", "^s.yaml line 12: seeds: each once, not"),
        ("epochs: 3", "epoch: 3", "^s.yaml line 13: unknown key 'epoch'; did you mean 'epochs'"),
        ("tasks:", "task:", "^s.yaml line 3: unknown key 'task'; did you mean 'tasks'|tasks: Field required"),
        ("seeds: [0, 1]", "seeds: [0, 1", "^s.yaml line 13: "),
    ],
)
def test_a_mistake_is_told_with_its_line(right, wrong, message, tmp_path):
    assert FILE.count(right) == 1
    path = tmp_path / "s.yaml"
    path.write_text(FILE.replace(right, wrong))
    with pytest.raises(ConfigError, match=message) as caught:
        find_study(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_without_mistakes_is_planned(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(FILE)
    assert len(find_study(str(path)).runs) == 12 and find_study(str(path)).output == Path("out")


def test_the_study_in_the_docs_is_one(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "studies.md").read_text()
    path = tmp_path / "s.yaml"
    path.write_text(page.split("```yaml\n")[1].split("```")[0])
    assert len(find_study(str(path)).runs) == 27 and yaml.safe_load(path.read_text())["n"] == 2000


@pytest.mark.parametrize("output", ["../elsewhere", "/tmp/elsewhere", "a/../../b"])
def test_a_study_file_writes_under_the_folder_that_one_is_in(output, tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump({"tasks": ["mnlogic"], "models": ["tree"], "output": output}))
    with pytest.raises(ConfigError, match="lies outside of this folder; to write there, say -o"):
        find_study(str(file))
    assert find_study(str(file), output=tmp_path / "there").output == tmp_path / "there"
