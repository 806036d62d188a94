"""The exit status tells the truth: 0 where all is there, also where it was there before; else another, and one line."""

import shutil
import sys

import numpy as np
import pytest
from benchmarks.deleted import deleted_outputs
from benchmarks.fuzz import prepare
from safetensors.numpy import load_file, save_file

from assay.base import start_program
from assay.contracts import sealed, to_json
from assay.runs import RunFolder
from tests.own_files import OWN, call
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("status") / "data"
    assert (
        call("make", "mnlogic", "-n", 40, "--workers", 1, "-o", folder, "--set", "k=3", "--set", "pixels=true")[0] == 0
    )
    return folder


def test_a_command_that_is_repeated_after_it_finished_says_so(data, tmp_path):
    for words in (["tree"], ["cbm", "--epochs", 1, "--set", "device=cpu"]):
        train = ["train", words[0], data, "-o", tmp_path / words[0], *words[1:]]
        assert call(*train)[0] == 0
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / words[0]).rglob("*")}
        status, _, err = call(*train)
        assert status == 0 and "finished already" in err
        assert {path: path.stat().st_mtime_ns for path in (tmp_path / words[0]).rglob("*")} == before
        assert call(*train, "--seed", 1)[0] == 2  # another run
        assert call("predict", tmp_path / words[0])[0] == call("predict", tmp_path / words[0])[0] == 0
    several = ["train", "tree", data, "-o", tmp_path / "several", "--seeds", "0-1"]
    assert call(*several)[0] == 0 and "finished already" in call(*several)[2]
    moved = ["predict", tmp_path / "tree", data, "-o", tmp_path / "moved"]
    assert call(*moved)[0] == call(*moved)[0] == 0


def test_a_run_of_code_that_changed_is_another_run(data, tmp_path):
    (tmp_path / "own.py").write_text(OWN.split("@per_example")[0])
    train = ["train", f"{tmp_path / 'own.py'}:Net", data, "-o", tmp_path / "run", "--epochs", 1, "--set", "device=cpu"]
    assert call(*train)[0] == 0 and "finished already" in call(*train)[2]
    (tmp_path / "own.py").write_text(OWN.split("@per_example")[0] + "\n# another\n")
    assert call(*train)[0] == 2


def test_weights_of_nan_predict_nothing(data, tmp_path):
    run = tmp_path / "run"
    assert call("train", "cbm", data, "-o", run, "--epochs", 1, "--set", "device=cpu")[0] == 0
    weights = {name: np.full_like(values, np.nan) if values.dtype == np.float32 else values
               for name, values in load_file(run / "model.safetensors").items()}  # fmt: skip
    save_file(weights, run / "model.safetensors")
    about = {key: value for key, value in RunFolder(run).metadata().items() if key != "files"}
    (run / "run.json").write_bytes(to_json(sealed(about)))
    shutil.rmtree(run / "predictions")
    status, out, err = call("predict", run)
    assert (status, out) == (1, "") and "NaN" in err and err.count("\n") == 1
    assert not (run / "predictions" / "test.parquet").exists()


@pytest.mark.slow
def test_an_output_that_is_deleted_meanwhile_is_not_called_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    assert [name for name, work in deleted_outputs(tmp_path) if not work()] == []


def test_data_whose_shards_went_meanwhile_is_not_done(data, tmp_path, monkeypatch):
    """The folder goes when the last picture is drawn, as if somebody else had deleted it."""
    from assay.families.digits.mnlogic import MNLogic

    render, drawn = MNLogic.render, []

    def delete(self, world):
        drawn.append(world)
        if len(drawn) == 45:
            shutil.rmtree(tmp_path / "data")
        return render(self, world)

    monkeypatch.setattr(MNLogic, "render", delete)
    words = [
        "make",
        "mnlogic",
        "-n",
        40,
        "--workers",
        1,
        "-o",
        tmp_path / "data",
        "--set",
        "k=3",
        "--set",
        "pixels=true",
    ]
    status, _, err = call(*words)
    assert status != 0 and err.startswith("error: ") and err.count("\n") == 1
    assert call("show", tmp_path / "data")[0] == 2
    assert call(*words)[0] == 0 and call("show", tmp_path / "data")[0] == 0


SEEN = """
import os
from pathlib import Path

def stat(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

watcher = os.getpgrp()
print(watcher != os.getpid(), stat(watcher)[0] in "RSD", int(stat(watcher)[19]) <= int(stat(os.getpid())[19]))
"""
"""The leader of a group has its number; the 20th field after the name is when a process began."""


def test_a_program_never_runs_without_its_watcher(tmp_path):
    """The program sees the leader of its own group: another process, which runs, and was there before it."""
    with (tmp_path / "out").open("w") as out, start_program([sys.executable, "-c", SEEN], stdout=out) as program:
        assert program.wait() == 0
    assert (tmp_path / "out").read_text() == "True True True\n"
