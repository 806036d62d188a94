"""The same study on a Ray cluster of two nodes, with a worker killed, then a node: the same records, nothing lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from assay.lab import read_records
from tests.pixels import TASK

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow

PIXELS = {"task": "mnlogic", **TASK, "splits": {"valid": 32, "test": 32, "hard": 32}}
LONG = {"learning_rate": 0.02, "device": "cpu", "epochs": 60}
STUDY = {
    "tasks": [PIXELS, {**PIXELS, "name": "or", "formula": "a or b"}],
    "models": [{"model": "dpl", **LONG}, {"model": "blackbox", **LONG}],
    "challenges": ["plain", {"challenge": "noise", "annotate": {"label_noise": 0.2}}],
    "seeds": [0],
    "n": 256,
}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "OMP_NUM_THREADS": "1"}


class Nodes:
    """Two nodes of one processor each, on the loopback address."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.second = self.cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
        self.cluster.wait_for_nodes()
        self.address = self.cluster.address

    def raylets(self):
        return {raylet(node) for node in self.cluster.list_all_nodes()}


def raylet(node):
    return int(node.all_processes["raylet"][0].process.pid)


@pytest.fixture(scope="module")
def nodes():
    before = {name: os.environ.get(name) for name in QUIET}
    os.environ.update(QUIET)
    made = Nodes()
    yield made
    made.cluster.shutdown()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def started(words, log):
    with log.open("w") as handle:
        return subprocess.Popen([sys.executable, "-m", "assay", *words], stderr=handle, stdout=subprocess.DEVNULL)


def study(folder, *words):
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(STUDY))
    return started(["run", str(file), "-o", str(folder / "out"), "--no-trial", *words], folder / "log")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    assert study(folder, "--workers", "2").wait(300) == 0, (folder / "log").read_text()
    return folder / "out"


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def at_work(raylets, output):
    """Return a worker of these nodes that is in the middle of a training, and what it trains."""
    for entry in Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes().split(b"\0")[0].decode().strip()
            if not title.startswith("ray::") or parent(entry.name) not in raylets:
                continue
        except (OSError, ValueError):
            continue
        step = title.removeprefix("ray::")
        if (output / ".steps" / f"{step}.progress").exists() and (output / "runs" / step).exists():
            return int(entry.name), step
    return None


def soon(look, run):
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and run.poll() is None:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never came to that")


def same(found, expected):
    assert len({record.run for record in read_records(found)}) == 8
    assert repr(read_records(found)) == repr(read_records(expected))
    for file in ("records.parquet", "runs.parquet"):
        assert (found / file).read_bytes() == (expected / file).read_bytes()
    assert not list((found / ".steps").iterdir())


def test_a_worker_that_is_killed_loses_nothing(nodes, alone, tmp_path):
    run = study(tmp_path, "--cluster", nodes.address)
    output = tmp_path / "out"
    pid, step = soon(lambda: at_work(nodes.raylets(), output), run)
    os.kill(pid, signal.SIGKILL)
    assert not (output / "runs" / step / "records.json").exists()  # it was in the middle
    assert run.wait(300) == 0, (tmp_path / "log").read_text()
    same(output, alone)


def test_a_dataset_made_on_the_nodes_is_the_same(nodes, tmp_path):
    words = ["make", "mnadd", "-n", "2500", "-o"]
    runs = [
        started([*words, str(tmp_path / "near")], tmp_path / "log1"),
        started([*words, str(tmp_path / "far"), "--cluster", nodes.address], tmp_path / "log2"),
        started([*words, f"file://{tmp_path}/store", "--cluster", nodes.address], tmp_path / "log3"),
    ]
    assert [run.wait(200) for run in runs] == [0, 0, 0], (tmp_path / "log2").read_text()
    files = {path.relative_to(tmp_path / "near") for path in (tmp_path / "near").rglob("*") if path.is_file()}
    assert len(files) > 8
    for other in ("far", "store"):
        assert {p.relative_to(tmp_path / other) for p in (tmp_path / other).rglob("*") if p.is_file()} == files
        assert all((tmp_path / other / f).read_bytes() == (tmp_path / "near" / f).read_bytes() for f in files)
    (tmp_path / "far" / "train" / "part-00001.parquet").write_bytes(b"damaged")
    mended = started([*words, str(tmp_path / "far"), "--cluster", nodes.address], tmp_path / "log4")
    assert mended.wait(200) == 0
    assert all((tmp_path / "far" / f).read_bytes() == (tmp_path / "near" / f).read_bytes() for f in files)


def test_a_node_that_is_lost_loses_nothing(nodes, alone, tmp_path):
    run = study(tmp_path, "--cluster", nodes.address)
    _, step = soon(lambda: at_work({raylet(nodes.second)}, tmp_path / "out"), run)
    assert not (tmp_path / "out" / "runs" / step / "records.json").exists()
    nodes.cluster.remove_node(nodes.second, allow_graceful=False)
    assert run.wait(300) == 0, (tmp_path / "log").read_text()
    same(tmp_path / "out", alone)
