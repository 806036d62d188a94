"""A CPU that cannot compute in bfloat16 is found out by a process of its own, and refused in one line before training."""

import sys
import time

import pytest
import torch

from assay.base import ConfigError, Settings
from assay.lab import find_study, plan_of, run_study, study_from
from assay.models import TrainSpec, device_for, train_run, train_together
from tests.pixels import QUICK, TASK

SHORT = Settings({**QUICK, "epochs": 1, "precision": "bfloat16"})
DIES = "precision bfloat16: this CPU dies on bfloat16 matrix products; use precision=float32"


def ask(kind="bfloat16", device="cpu"):
    return device_for(device, kind)


# First this CPU itself, which is tried once, and then others.


def test_this_cpu_is_refused_by_a_signal_only():
    try:
        ask()
    except ConfigError as error:
        assert "fails on" not in str(error), "no CPU is known that raises an error: is the probe itself wrong?"


def test_many_seeds_learn_in_bfloat16(bfloat16, data, tmp_path):
    assert len(train_together(TrainSpec("dpl", SHORT), [0, 1], data, tmp_path)) == 2


def test_shorter_numbers_learn_as_well(bfloat16, data, tmp_path):
    model = train_run(TrainSpec("dpl", Settings({**QUICK, "precision": "bfloat16"})), data, tmp_path / "run")
    assert (model.predict(data["test"]).labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9


def python(code):
    return (sys.executable, "-c", code)


def by_signal(name):
    quiet = "import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    return python(f"{quiet}; os.kill(os.getpid(), signal.{name})")


@pytest.fixture
def cpu(monkeypatch):
    """Return a function that lets this CPU be another one, which does what a command does when it is tried."""

    def use(command, seconds=120.0):
        monkeypatch.setattr("assay.models.core.devices.PROBE", command)  # the machine itself, which cannot be exchanged
        monkeypatch.setattr("assay.models.core.devices.SECONDS", seconds)

    return use


@pytest.mark.parametrize(
    ("command", "seconds", "why"),
    [
        (by_signal("SIGILL"), 60, "this CPU dies on bfloat16 matrix products"),
        (by_signal("SIGSEGV"), 60, "this CPU dies on bfloat16 matrix products"),
        (python("import time; time.sleep(600)"), 0.5, "this CPU does not end a bfloat16 matrix product within 0.5 s"),
        (python("raise RuntimeError('no primitive\\ncould be made')"), 60, r"this CPU fails .* \(could be made\)"),
        (python("raise SystemExit(3)"), 60, r"this CPU fails .* \(exit status 3\)"),
    ],
)
def test_a_cpu_that_cannot_is_refused_in_one_line_which_says_why(command, seconds, why, cpu):
    cpu(command, seconds)
    began = time.monotonic()
    with pytest.raises(ConfigError, match=f"^precision bfloat16: {why}; use precision=float32$"):
        ask()
    assert time.monotonic() - began < 60


def test_a_cpu_is_tried_once_and_only_for_bfloat16(cpu, tmp_path):
    cpu(python(f"open({str(tmp_path / 'asked')!r}, 'a').write('once ')"))
    assert ask("float32") == ask("auto") == torch.device("cpu") and not (tmp_path / "asked").exists()
    assert ask() == ask() == torch.device("cpu") and (tmp_path / "asked").read_text() == "once "


@pytest.mark.parametrize("alone", [{}, {"supervised_share": 0.5, "concept_weight": 1.0}])
def test_runs_are_refused_before_training(alone, cpu, data, tmp_path):
    cpu(by_signal("SIGILL"))
    order = TrainSpec("dpl", SHORT.merge(Settings(alone)))

    def report(epoch, epochs):
        pytest.fail("it was trained")

    for train in (
        lambda: train_run(order, data, tmp_path / "run", report),
        lambda: train_together(order, [0, 1], data, tmp_path, report),
    ):
        with pytest.raises(ConfigError, match=DIES):
            train()
    assert not list(tmp_path.rglob("run.json"))


STUDY = f"""
tasks: [{{task: mnlogic, k: 3, formula: {TASK["formula"]}, pixels: true, prop_in_distribution: 1.0}}]
n: 32
epochs: 1
models:
  - blackbox
  - model: dpl
    device: cpu
    precision: bfloat16
"""


def test_a_study_is_refused_before_anything_is_made(cpu, tmp_path):
    cpu(by_signal("SIGILL"))
    (tmp_path / "study.yaml").write_text(STUDY)
    with pytest.raises(ConfigError, match=f"^study.yaml line 9: {DIES}"):
        run_study(find_study(str(tmp_path / "study.yaml"), output=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_trial_of_a_study_survives(cpu, tmp_path):
    cpu(by_signal("SIGILL"))
    small = {"task": "mnlogic", **TASK, "splits": {"valid": 8, "test": 8, "hard": 8}}
    model = {"model": "dpl", "device": "cpu", "precision": "bfloat16"}
    study = study_from(Settings({"tasks": [small], "models": [model], "n": 32, "epochs": 1}), tmp_path / "out")
    assert plan_of(study).unknown == ("dpl",)
