"""One file with a task, a model and a metric goes through every verb, with the same outputs as when it is installed."""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import assay
from assay.base import forget_files, loaded_files
from assay.dataset import Dataset
from assay.lab import find_study, perform, run_study
from assay.tasks import TASKS
from tests.asking import Asking
from tests.own_files import OWN, POINTS, call, install, installed

SHA = hashlib.sha256(OWN.encode()).hexdigest()
RECORD = {"name": "mine.py", "sha256": SHA}
UNSTEADY = {
    "seconds",
    "cpu_seconds",
    "code",
    "versions",
    "folder",
    "from_run",
    "run",
    "source",
    "probes",
    "predictions",
    "file",
}


def steady(value):
    """Return plain data without times, places and the record of the file."""
    if isinstance(value, dict):
        return {key: steady(part) for key, part in value.items() if key not in UNSTEADY}
    return [steady(part) for part in value] if isinstance(value, list) else value


def commands(folder, file):
    """Return every verb of the README and the others that take a task, a model or a metric, with what names them."""
    data, run = folder / "data", folder / "run"
    task, model, metric = (f"{file}:{name}" if file else own for name, own in NAMES)
    of_task, of_model, of_metric = (["--" + kind, file] if file else [] for kind in ("task", "model", "metric"))
    return {
        "show task": ["show", task, "--json"],
        "show model": ["show", model, "--json"],
        "show metric": ["show", metric, "--json"],
        "count": ["count", task, "--json"],
        "make": ["make", task, "-o", data, "--json"],
        "audit": ["audit", data, "--json", *of_task],
        "pairs": ["pairs", data, "-n", "20", "--json", *of_task],
        "pairs to a file": ["pairs", data, "-o", folder / "pairs.parquet", "--do", "left=2", "--json", *of_task],
        "export": ["export", data, "--to", "prolog", "-o", folder / "prolog", "--json", *of_task],
        "train": ["train", model, data, "-o", run, "--epochs", "2", "--set", "backbone=mlp", "--json"],
        "predict": ["predict", run, data, "--split", "hard", "--json", *of_model],
        "score": ["score", run, data, "--metric", metric, "--metric", "label_f1", "--json"],
        "score all": ["score", run, data, "--json"] if not file else ["score", run, data, "--json", "--metric", "label_f1"],
        "diagnose": ["diagnose", run, data, "--json", *of_metric],
        "leakage": ["leakage", run, data, "--json", *of_model],
        "attribute": ["attribute", run, data, "--json", *of_model],
        "probe": ["probe", run, data, "-o", folder / "probes", "--layer", "head.0", "--set", "strengths=[0.1]", "--json", *of_model],
        "intervene": ["intervene", run, data, "--json", *of_model],
        "manipulate": ["intervene", run, data, "--kind", "manipulation", "--budget", "0,1", "--json", *of_model, *of_task],
        "align": ["align", run, data, "-o", folder / "aligned", "--set", "positive=[left]", "--json", *of_model],
        "report": ["report", run, "-o", folder / "report", *of_metric],
        "view": ["view", data, run, "--bundle", folder / "page", "--samples", "2", *of_task, *of_model],
    }  # fmt: skip


NAMES = (("Lamps", "two-lamps"), ("Net", "my-net"), ("both_right", "both_right"))


@pytest.fixture(scope="module")
def by_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by-file")
    (folder / "mine.py").write_text(OWN)
    told = {name: call(*words) for name, words in commands(folder, str(folder / "mine.py")).items()}
    yield folder, told
    forget_files()


@pytest.fixture(scope="module")
def by_package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by-package")
    install(folder / "site", POINTS, own_package=OWN)
    with installed(folder / "site"):
        listed = json.loads(call("list", "--json")[1])
        told = {name: call(*words) for name, words in commands(folder, None).items()}
    return folder, told, listed


def test_every_verb_says_the_same_as_when_installed(by_file, by_package):
    (mine, own), (theirs, other, _) = by_file, by_package
    for name, (status, out, err) in own.items():
        assert (status, other[name][0]) in ((0, 0), (1, 1)) and "error" not in err, (name, err, other[name][2])
        if out and name != "score all":
            assert steady(json.loads(out)) == steady(json.loads(other[name][1])), name
    for file in ("data", "run/predictions"):
        names = {path.relative_to(mine) for path in (mine / file).rglob("*.parquet")}
        assert names and names == {path.relative_to(theirs) for path in (theirs / file).rglob("*.parquet")}
        for path in names:
            assert pq.read_table(mine / path).equals(pq.read_table(theirs / path)), path
    reports = [json.loads((folder / "report" / "report.json").read_text()) for folder in (mine, theirs)]
    assert steady(reports[0]) == steady(reports[1]) and "both_right" in json.dumps(reports[0])
    assert Dataset.open(mine / "data").fingerprint == Dataset.open(theirs / "data").fingerprint


def test_what_is_installed_is_listed(by_package):
    listed = by_package[2]
    assert {"name": "two-lamps", "summary": "from the package own-package"} in listed["tasks"]
    assert {"name": "my-net", "summary": "from the package own-package"} in listed["models"]
    assert "both_right" in {entry["name"] for entry in listed["metrics"]}
    assert "both_right" in json.loads(by_package[1]["score all"][1])["scores"]["test"]


def test_the_manifest_and_the_run_keep_the_name_and_hash_of_the_file(by_file, by_package):
    folder, told = by_file
    assert json.loads((folder / "data" / "manifest.json").read_text())["code"] == RECORD
    assert json.loads((folder / "run" / "run.json").read_text())["code"] == RECORD
    assert json.loads(told["score"][1])["code"] == {"both_right": RECORD}
    theirs = by_package[0]
    assert "code" not in json.loads((theirs / "data" / "manifest.json").read_text())
    assert "code" not in json.loads((theirs / "run" / "run.json").read_text())
    assert str(folder) not in (folder / "run" / "run.json").read_text().replace(str(folder / "data"), "")


def test_all_checks_of_the_audit_are_made_with_the_file_and_told_apart_without_it(by_file):
    folder, told = by_file
    found = json.loads(told["audit"][1])
    assert found["not_checked"] == ["nuisances"] and found["counts"]["not checked"] == 1
    status, _, err = call("audit", folder / "data", "--no-write")
    assert status == 0 and err.strip().endswith("not checked: sources, nuisances")
    status, out, _ = call("audit", folder / "data", "--no-write", "--json", "--check", "sources")
    counts = {"pass": 0, "note": 0, "fail": 0, "not checked": 1, "nothing to check": 0}
    assert json.loads(out)["counts"] == counts
    assert f"is in mine.py (sha256 {SHA[:12]}), which is not run unasked; give it: --task mine.py" in out
    told = call("audit", folder / "data", "--no-write", "--check", "sources")[2]
    assert told.strip().endswith("data: not checked: sources")


def test_the_viewer_redraws_and_asks_the_model(by_file):
    folder, _ = by_file
    forget_files()
    assert "not run unasked" in edited(folder)["undrawn"]
    TASKS.resolve(str(folder / "mine.py"))
    found = edited(folder)
    assert found["undrawn"] is None and found["pictures"] and found["concepts"][0] == 2
    assert "labels" in found["own"] and "error" not in found["counterfactual"]


def edited(folder):
    """Return what the viewer says of an example when a concept is changed, and what the model answers."""
    viewer = assay.view(folder / "data", folder / "run")
    try:
        asking = Asking(viewer.url)
        found = asking.get("data/data/test/0/edit", changes={"left": 2})
        return {**found, **asking.get("data/data/test/0/ask/run", changes={"left": 2})}
    finally:
        viewer.stop()


class Elsewhere:
    """Does the steps as a worker process would: one that has run no file but those that come with the step."""

    def check(self, steps, output):
        pass

    def make(self, step, output, watch):
        return perform(step, output)

    def run(self, steps, output, poll):
        files = [loaded.file for loaded in loaded_files()]
        for step in steps:
            forget_files()
            yield perform(step, output, code=files)


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_study_runs_the_file_where_that_is_allowed(by_file, tmp_path, monkeypatch, real):
    folder, told = by_file
    monkeypatch.chdir(folder)
    study = tmp_path / "study.yaml"
    study.write_text(
        "name: own\ntasks: [mine.py:Lamps]\nmodels: [{model: mine.py:Net, epochs: 2, backbone: mlp}]\n"
        "metrics: [mine.py:both_right, label_f1]\nanalyses: [{analysis: change, do: [left=2]}]\n"
    )
    status, out, err = call("run", study, "-o", tmp_path / "out")
    assert (status, out) == (2, "") and not (tmp_path / "out").exists()
    assert "study.yaml line 2: 'mine.py:Lamps' is code" in err
    assert f"--allow-code mine.py (mine.py (sha256 {SHA[:12]}))" in err
    if real:
        words = ["--allow-code", "mine.py", "--no-trial", "--workers", "1"]
        status, _, err = call("run", study, "-o", tmp_path / "out", *words)
        assert status == 0 and f"sha256 {SHA}" in err, err
    else:
        run_study(find_study(str(study), output=tmp_path / "out", code=[folder / "mine.py"]), workers=Elsewhere())
    (run,) = (tmp_path / "out" / "runs").iterdir()
    records = json.loads((run / "records.json").read_text())
    trained = json.loads(told["score"][1])["scores"]["test"]
    scores = {score["metric"]: score for score in records["scores"]["test"]}
    assert {name: scores[name] for name in trained} == trained and records["refused"] == {}
    assert records["code"] == {"both_right": RECORD} and run.name.startswith("two-lamps-my-net-seed0-")
    assert pq.read_table(tmp_path / "out" / "runs.parquet")["registered"].to_pylist() == ["my-net"]


def test_workers_of_make_run_the_file_as_it_was(tmp_path, monkeypatch):
    from assay.base import Settings
    from assay.dataset import recipe_from

    file = tmp_path / "mine.py"
    file.write_text(OWN)
    recipe = recipe_from(str(file), Settings())
    rebuild, parts = recipe.__reduce__()
    assert rebuild(*parts) == recipe and parts[0][0].sha256 == SHA
    file.write_text(OWN + "\n# later\n")
    with pytest.raises(Exception, match=r"mine\.py has changed since it was read; run the command again"):
        rebuild(*parts)
    forget_files()


@pytest.mark.parametrize("verb", ["pairs", "audit", "export", "view"])
def test_another_file_than_the_one_of_the_manifest_is_refused(by_file, tmp_path, verb):
    folder, _ = by_file
    (tmp_path / "mine.py").write_text(OWN.replace("90 *", "80 *"))
    words = {
        "pairs": [],
        "audit": [],
        "export": ["--to", "prolog", "-o", tmp_path / "out"],
        "view": ["--bundle", tmp_path / "out"],
    }
    status, out, err = call(verb, folder / "data", *words[verb], "--task", tmp_path / "mine.py")
    assert (status, out) == (2, "") and err.count("\n") == 1 and not (tmp_path / "out").exists()
    assert f"is of mine.py (sha256 {SHA[:12]}), the file given is mine.py (sha256" in err


def test_another_file_than_the_one_of_the_run_is_refused(by_file, tmp_path):
    folder, _ = by_file
    (tmp_path / "mine.py").write_text(OWN + "\n")
    status, _, err = call("predict", folder / "run", folder / "data", "--model", tmp_path / "mine.py")
    assert status == 2 and f"is of mine.py (sha256 {SHA[:12]}), the file given is mine.py (sha256" in err
    status, _, err = call("predict", folder / "run", folder / "data")
    assert status == 2 and "the model 'my-net' of" in err and "give it: --model mine.py" in err


def test_a_changed_file_does_not_go_on_with_the_data_of_the_old_one(by_file, tmp_path):
    folder, _ = by_file
    (tmp_path / "mine.py").write_text(OWN.replace("90 *", "80 *"))
    status, _, err = call("make", f"{tmp_path / 'mine.py'}:Lamps", "-o", folder / "data")
    assert status == 2 and "holds another dataset" in err
    assert call("make", f"{folder / 'mine.py'}:two-lamps", "-o", folder / "data")[0] == 0


def test_names_in_files_are_chosen_and_refused_in_one_line(by_file, tmp_path):
    file = by_file[0] / "mine.py"
    assert "has no task named 'Lamp'" in call("show", f"{file}:Lamp")[2]
    (tmp_path / "taken.py").write_text(OWN.replace('"two-lamps"', '"mnadd"'))
    assert (
        "assay has a task named 'mnadd'; give yours another name"
        in call("make", tmp_path / "taken.py", "-o", tmp_path / "x")[2]
    )
    (tmp_path / "metric.py").write_text(OWN.replace('"both_right"', '"collapse"'))
    assert "metric 'collapse' is registered twice" in call("check", tmp_path / "metric.py")[2]
    assert not Path(tmp_path / "x").exists()
