"""What is sent to a cluster, and what is said of workers that die; the cluster itself stands in here."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.code_files import load_file
from assay.data import Died
from assay.errors import RunFailed
from assay.studies import Outcome, RayWorkers, ray_workers
from assay.studies.ray_workers import _perform


@dataclass
class StandIn:
    """Takes calls and gives outcomes: the first dies."""

    processors: int = 0

    def run(self, calls, poll, gpus=False):
        self.calls, self.gpus = calls, gpus
        for number, call in enumerate(calls):
            yield call, Died(3) if number == 0 else Outcome(call.name, True, 1.0, "")


@pytest.fixture
def workers():
    made = RayWorkers("local")
    made.__dict__["cluster"] = StandIn()
    return made


def test_steps_go_out_with_the_files_that_the_user_gave(workers, tmp_path: Path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    loaded = load_file(tmp_path / "mine.py")
    steps = [SimpleNamespace(name="one"), SimpleNamespace(name="two")]
    found = list(workers.run(steps, tmp_path / "out", lambda *_: None))
    assert [outcome.done for outcome in found] == [False, True]
    sent = [call.arguments for call in workers.cluster.calls]
    assert [(step.name, folder, code) for step, folder, code in sent] == [
        (name, (tmp_path / "out").resolve(), (loaded.file,)) for name in ("one", "two")
    ]
    assert workers.cluster.gpus and (tmp_path / "out").is_dir()


def test_a_worker_that_dies_is_an_outcome(workers, tmp_path: Path):
    first, second = workers.run([SimpleNamespace(name="one"), SimpleNamespace(name="two")], tmp_path, lambda *_: None)
    assert first.name == "one" and "its worker died 3 times" in first.fault and second == Outcome("two", True, 1.0, "")
    assert list(workers.run([], tmp_path / "none", lambda *_: None)) == [] and not (tmp_path / "none").exists()
    assert workers.count == 1


def test_a_node_must_see_the_folder(tmp_path: Path):
    with pytest.raises(RunFailed, match="a study on a cluster needs a folder that all nodes share"):
        _perform(SimpleNamespace(name="one"), tmp_path / "nowhere")


def test_a_folder_is_told_to_all_nodes_by_its_whole_path(workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    list(workers.run([SimpleNamespace(name="one")], Path("deep") / "out", lambda *_: None))
    assert workers.cluster.calls[0].arguments[1] == (tmp_path / "deep" / "out").resolve()
    assert [(call.name, call.function) for call in workers.cluster.calls] == [("one", _perform)]
    workers.cluster.processors = 6
    assert workers.count == 6


def test_data_are_made_by_the_whole_cluster_and_runs_in_one_thread(
    workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done = []
    monkeypatch.setattr(
        ray_workers, "perform", lambda step, output, **how: done.append((step, output, how)) or "outcome"
    )
    monkeypatch.setattr("assay.models.core.devices.one_thread", lambda: done.append("one thread"))
    assert workers.make("data", tmp_path, print) == "outcome" == _perform("run", tmp_path, ["file"])
    assert done == [
        ("data", tmp_path, {"pool": workers.cluster, "watch": print}), "one thread", ("run", tmp_path, {"code": ["file"]}),
    ]  # fmt: skip
    assert workers.check([], tmp_path) is None
