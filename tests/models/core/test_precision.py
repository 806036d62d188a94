"""A CPU that cannot compute in bfloat16 is found out by a process of its own, and refused in one line before training."""

import functools
import sys
import time

import pytest
import torch

from assay.config import Settings
from assay.errors import ConfigError
from assay.models import Order, Training, device_for, train_run, train_together
from assay.models.core import precision
from assay.models.core.precision import SECONDS, bfloat16_fault, check_precision, probe
from assay.studies import load_study, plan_of, run_study, study_from
from tests.pixels import QUICK, TASK

CPU = torch.device("cpu")
SHORT = Settings({**QUICK, "epochs": 1, "precision": "bfloat16"})
DIES = "precision bfloat16: this CPU dies on bfloat16 matrix products; use precision=float32"


def python(code):
    return (sys.executable, "-c", code)


def by_signal(name):
    quiet = "import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    return python(f"{quiet}; os.kill(os.getpid(), signal.{name})")


@pytest.fixture
def stand_in(monkeypatch):
    """Return a function that lets another command be the probe; what the real one found is remembered all the same."""

    def use(command, seconds=SECONDS):
        monkeypatch.setattr(precision, "PROBE", command)
        monkeypatch.setattr(precision, "SECONDS", seconds)
        monkeypatch.setattr(precision, "bfloat16_fault", functools.cache(bfloat16_fault.__wrapped__))

    return use


@pytest.mark.parametrize("name", ["SIGILL", "SIGSEGV"])
def test_a_probe_that_dies_is_survived(name):
    assert probe(by_signal(name), SECONDS) == "this CPU dies on bfloat16 matrix products"


def test_a_probe_that_hangs_is_ended():
    began = time.monotonic()
    fault = probe(python("import time; time.sleep(600)"), 0.5)
    assert fault == "this CPU does not end a bfloat16 matrix product within 0.5 s"
    assert time.monotonic() - began < 60


def test_a_probe_that_fails_says_why_in_one_line():
    fault = probe(python("print('much'); raise RuntimeError('no primitive\\ncould be made')"), SECONDS)
    assert fault == "this CPU fails on bfloat16 matrix products (could be made)"
    assert probe(python("raise SystemExit(3)"), SECONDS) == "this CPU fails on bfloat16 matrix products (exit status 3)"


def test_a_probe_that_succeeds_is_asked_once(stand_in, tmp_path):
    stand_in(python(f"open({str(tmp_path / 'asked')!r}, 'a').write('once ')"))
    for _ in range(2):
        assert device_for(Training(device="cpu", precision="bfloat16")) == CPU
    assert (tmp_path / "asked").read_text() == "once "


def test_the_real_probe_is_sound():
    fault = bfloat16_fault()
    assert fault is None or "fails on" not in fault, "no CPU is known that raises an error: is the probe itself wrong?"


@pytest.mark.parametrize(("asked", "device"), [("float32", "cpu"), ("bfloat16", "cuda"), ("float32", "cuda")])
def test_nothing_is_tried_for_float32_or_a_gpu(asked, device, stand_in):
    stand_in(by_signal("SIGILL"))
    check_precision(asked, torch.device(device))
    assert precision.bfloat16_fault.cache_info().misses == 0


def test_one_seed_is_refused_before_training(stand_in, data, tmp_path):
    stand_in(by_signal("SIGILL"))
    with pytest.raises(ConfigError) as caught:
        train_run(Order("dpl", SHORT), data, tmp_path / "run", lambda epoch, epochs: pytest.fail("it was trained"))
    assert str(caught.value) == DIES and not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize("alone", [{}, {"supervised_share": 0.5, "concept_weight": 1.0}])
def test_many_seeds_are_refused_before_training(alone, stand_in, data, tmp_path):
    stand_in(by_signal("SIGILL"))
    order = Order("dpl", SHORT.merge(Settings(alone)))
    with pytest.raises(ConfigError) as caught:
        train_together(order, [0, 1], data, tmp_path, lambda epoch, epochs: pytest.fail("it was trained"))
    assert str(caught.value) == DIES and not list(tmp_path.rglob("run.json"))


def test_a_probe_that_hangs_refuses_too(stand_in):
    stand_in(python("import time; time.sleep(600)"), 0.5)
    message = "^precision bfloat16: this CPU does not end .* within 0.5 s; use precision=float32$"
    with pytest.raises(ConfigError, match=message):
        check_precision("bfloat16", CPU)


def test_many_seeds_learn_in_bfloat16(bfloat16, data, tmp_path):
    assert len(train_together(Order("dpl", SHORT), [0, 1], data, tmp_path)) == 2


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


def test_a_study_is_refused_before_anything_is_made(stand_in, tmp_path):
    stand_in(by_signal("SIGILL"))
    (tmp_path / "study.yaml").write_text(STUDY)
    study = load_study(tmp_path / "study.yaml", tmp_path / "out")
    with pytest.raises(ConfigError) as caught:
        run_study(study)
    assert str(caught.value) == f"study.yaml line 9: {DIES}"
    assert not (tmp_path / "out").exists()


def test_a_trial_of_a_study_survives(stand_in, tmp_path):
    stand_in(by_signal("SIGILL"))
    small = {"task": "mnlogic", **TASK, "splits": {"valid": 8, "test": 8, "hard": 8}}
    model = {"model": "dpl", "device": "cpu", "precision": "bfloat16"}
    study = study_from(Settings({"tasks": [small], "models": [model], "n": 32, "epochs": 1}), tmp_path / "out")
    assert plan_of(study).unknown == ("dpl",)
