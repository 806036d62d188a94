"""A study that is killed, and killed again, goes on to the very records of one that was let alone."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

from assay.lab import read_records
from tests.pixels import TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")

PIXELS = {"task": "mnlogic", **TASK, "splits": {"valid": 32, "test": 32, "hard": 16}}
STUDY = {
    "tasks": [PIXELS],
    "models": ["rules"],
    "challenges": ["plain", {"challenge": "noise", "annotate": {"label_noise": 0.2}}],
    "seeds": [0, 1, 2],
    "n": 64,
}


def started(file, output, workers):
    words = [
        sys.executable,
        "-m",
        "assay",
        "run",
        str(file),
        "-o",
        str(output),
        "--workers",
        str(workers),
        "--no-trial",
    ]
    return subprocess.Popen(words, start_new_session=True, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiet")
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(STUDY))
    assert started(file, folder / "out", 1).wait(240) == 0
    return folder


def killed_after(run, output, count, whole_group):
    """Wait until so many runs are under way, and kill."""
    deadline = time.monotonic() + 120
    while len(list((output / "runs").glob("*"))) < count and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if whole_group:
        os.killpg(run.pid, signal.SIGKILL)
    else:
        run.kill()  # its workers must notice by themselves
    run.wait()


def test_killed_twice_a_study_gives_the_same_records(quiet, tmp_path):
    file = quiet / "study.yaml"
    for count, whole_group in ((1, True), (3, False)):
        killed_after(started(file, tmp_path / "out", 2), tmp_path / "out", count, whole_group)
    assert not (tmp_path / "out" / "records.parquet").exists()
    last = started(file, tmp_path / "out", 2)
    assert last.wait(240) == 0
    found, expected = (read_records(folder / "out") for folder in (tmp_path, quiet))
    assert len({record.run for record in found}) == 6 and {record.challenge for record in found} == {"plain", "noise"}
    assert repr(found) == repr(expected)
    files = [(folder / "out" / "records.parquet").read_bytes() for folder in (tmp_path, quiet)]
    assert files[0] == files[1]
