"""Workers end with the command that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.samples import needs_task

pytestmark = [needs_task("kand-logic"), pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")]


def children(pid):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        if int(rest.split()[1]) == pid:
            found.append(int(name.split()[0]))
    return found


def alive(pids):
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and "Z" not in _state(pid)]


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_make(number, tmp_path):
    words = [sys.executable, "-m", "assay", "make", "kand-logic", "-n", "20000", "--workers", "2", "-o", "data"]
    command = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "data").rglob("part-*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = children(command.pid)
    assert len(workers) >= 2, "the workers did not start"
    os.kill(command.pid, number)
    _, errors = command.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert command.returncode == 130 and errors.splitlines()[-1].startswith("error: interrupted; what is finished")
    deadline = time.monotonic() + 5
    while alive(workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(workers) == []
