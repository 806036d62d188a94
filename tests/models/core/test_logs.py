"""Epochs, settings and scores reach TensorBoard, Weights & Biases and MLflow; nothing is logged by default."""

import math
import sys
from types import ModuleType, SimpleNamespace

import pytest

from assay.base import MissingExtra, RunFailed, Settings, UnknownName
from assay.lab import perform, run_study, study_from
from assay.models import TrainSpec, check_log, train_run, train_together
from assay.runs import RunFolder
from tests.pixels import QUICK, TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
SHORT = Settings({**QUICK, "epochs": 3})


class FakeWandb(ModuleType):
    """Records what `wandb` is asked for."""

    def __init__(self):
        super().__init__("wandb")
        self.runs = []

    def init(self, **about):
        run = SimpleNamespace(about=about, steps=[], summary={}, ended=[])
        run.log = lambda numbers, step: run.steps.append((step, numbers))
        run.finish = lambda exit_code: run.ended.append(exit_code)
        self.runs.append(run)
        return run


class FakeMlflow(ModuleType):
    """Records what `mlflow` is asked for, as (function, arguments)."""

    def __init__(self):
        super().__init__("mlflow")
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *words, **named: self.calls.append((name, words, named))


@pytest.fixture
def wandb(monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    return fake


@pytest.fixture
def mlflow(monkeypatch):
    fake = FakeMlflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return fake


def test_wandb_gets_settings_epochs_and_scores(data, tmp_path, wandb):
    model = train_run(TrainSpec("dpl", SHORT, seed=3, log="wandb"), data, tmp_path / "mine")
    (run,) = wandb.runs
    assert (run.about["project"], run.about["name"], run.ended) == ("assay", "mine", [0])
    config = run.about["config"]
    assert (config["model"], config["seed"], config["epochs"], config["task"]) == ("dpl", 3, 3, "mnlogic")
    assert config["fingerprint"] == data.fingerprint
    logged = [(step, list(numbers.values())) for step, numbers in run.steps]
    assert logged == [(n, [e.loss, e.score]) for n, e in enumerate(model.history, start=1)]
    assert {f"{split}/{name}" for split in ("valid", "test", "hard") for name in ("label_f1", "concept_f1")} <= set(
        run.summary
    )


def test_each_seed_trained_side_by_side_has_a_run(data, tmp_path, wandb):
    train_together(TrainSpec("dpl", SHORT, log="wandb"), [0, 7], data, tmp_path)
    assert [(run.about["name"], run.about["config"]["seed"]) for run in wandb.runs] == [("seed0", 0), ("seed7", 7)]
    assert [len(run.steps) for run in wandb.runs] == [3, 3]
    assert wandb.runs[0].steps != wandb.runs[1].steps


def test_the_epochs_of_all_phases_are_numbered_on(data, tmp_path, wandb):
    settings = Settings({**QUICK, "mode": "sequential", "epochs": 2})
    model = train_run(TrainSpec("cbm", settings, log="wandb"), data, tmp_path / "run")
    (run,) = wandb.runs
    assert [step for step, _ in run.steps] == list(range(1, len(model.history) + 1))
    assert len({name for _, numbers in run.steps for name in numbers}) == 4  # loss and score of two phases


def test_mlflow_gets_parameters_metrics_and_an_end(data, tmp_path, mlflow):
    train_run(TrainSpec("blackbox", SHORT, log="mlflow"), data, tmp_path / "run")
    names = [name for name, _, _ in mlflow.calls]
    assert names == ["set_experiment", "start_run", "log_params", *["log_metrics"] * 4, "end_run"]
    assert mlflow.calls[1][2] == {"run_name": "run"} and mlflow.calls[-1][2] == {"status": "FINISHED"}
    assert [call[2] for call in mlflow.calls[3:6]] == [{"step": n} for n in (1, 2, 3)]
    summary = mlflow.calls[6][1][0]
    assert "test/label_f1" in summary and "test/concept_f1" not in summary  # a black box has no concepts


def test_a_run_that_fails_is_closed_as_failed(data, tmp_path, mlflow, wandb):
    hopeless = Settings({**QUICK, "learning_rate": 1e30})
    for kind in ("mlflow", "wandb"):
        with pytest.raises(RunFailed):
            train_run(TrainSpec("dpl", hopeless, log=kind), data, tmp_path / kind)
    assert mlflow.calls[-1] == ("end_run", (), {"status": "FAILED"}) and wandb.runs[0].ended == [1]


def test_the_environment_says_where_runs_go(data, tmp_path, mlflow, wandb, monkeypatch):
    monkeypatch.setenv("WANDB_PROJECT", "theirs")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "theirs")
    for kind in ("mlflow", "wandb"):
        train_run(TrainSpec("dpl", SHORT, log=kind), data, tmp_path / kind)
    assert wandb.runs[0].about["project"] == "theirs" and mlflow.calls[0][0] == "start_run"  # MLflow reads it itself


def test_parameters_are_short_for_mlflow_and_numbers_that_are_none_left_out(data, tmp_path, mlflow):
    settings = Settings({**QUICK, "epochs": 1, "further_labels": {"w": " or ".join(["a"] * 200)}})
    train_run(TrainSpec("dpl", settings, log="mlflow"), data, tmp_path / "run")
    parameters = next(words[0] for name, words, _ in mlflow.calls if name == "log_params")
    assert max(map(len, parameters.values())) == 500 and parameters["model"] == "dpl"
    logged = [number for name, words, _ in mlflow.calls if name == "log_metrics" for number in words[0].values()]
    assert logged and all(map(math.isfinite, logged))


def test_tensorboard_writes_events_that_it_reads(data, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    model = train_run(TrainSpec("dpl", SHORT, log="tensorboard"), data, tmp_path / "run")
    events = reader.EventAccumulator(str(tmp_path / "run" / "logs"))
    events.Reload()
    losses = [event.value for event in events.Scalars(f"{model.history[0].phase}/loss")]
    assert losses == pytest.approx([epoch.loss for epoch in model.history])
    assert events.Scalars("test/label_f1")
    assert any("hparams" in name for name in events.summary_metadata)
    assert RunFolder(tmp_path / "run").metadata()["model"] == "dpl"


@pytest.mark.parametrize("kind", ["tensorboard", "wandb", "mlflow"])
def test_a_missing_package_is_one_line_before_training(kind, data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, kind, None)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    order = TrainSpec("dpl", SHORT, log=kind)
    with pytest.raises(MissingExtra, match=rf"--log {kind} needs {kind}: pip install '\.\[{kind}\]'"):
        train_run(order, data, tmp_path / "run", lambda epoch, epochs: pytest.fail("it was trained"))
    assert not (tmp_path / "run").exists()


def test_an_unknown_log_is_named():
    with pytest.raises(UnknownName, match="no log named 'wanbd'; did you mean 'wandb'"):
        check_log("wanbd")
    check_log(None)


class Here:
    """Does the steps of a study in this process, where packages are stood for."""

    def check(self, steps, output):
        pass

    def make(self, step, output, watch):
        return perform(step, output)

    def run(self, steps, output, look):
        return (perform(step, output) for step in steps)


def test_a_study_logs_each_run(tmp_path, wandb):
    task = {"task": "mnlogic", **TASK, "splits": {"valid": 32, "test": 48}}
    models = [{"model": "dpl", "device": "cpu", "learning_rate": 0.02}]
    settings = {"name": "tiny", "tasks": [task], "models": models, "seeds": [0, 1], "n": 64, "epochs": 1}
    study = study_from(Settings({**settings, "output": str(tmp_path / "out")}))
    assert [run.name for run in study.with_log("wandb").runs] == [run.name for run in study.runs]
    run_study(study.with_log("wandb"), workers=Here())
    assert sorted(run.about["name"] for run in wandb.runs) == sorted(run.name for run in study.runs)
