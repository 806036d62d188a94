"""Ctrl-C at any moment is one line, and programs that were started end with the command, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_orphans import alive

SLEEPER = """
import subprocess, sys
from assay.base.processes import start_program
with start_program([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, text=True) as program:
    print(program.pid, program.stdout.readline().strip(), flush=True)
    program.wait()
"""
PARENT_AND_CHILD = """
import subprocess, time
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
time.sleep(60)
"""


def gone_within(seconds: float, pids: list[int]) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_program_and_what_it_started_end_with_us(number: signal.Signals) -> None:
    words = [sys.executable, "-c", SLEEPER, PARENT_AND_CHILD]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as command:
        assert command.stdout is not None
        pids = [int(word) for word in command.stdout.readline().split()]
        assert alive(pids) == pids and len(pids) == 2
        command.send_signal(number)
        command.wait(10)
    assert gone_within(3, pids)


BLENDER = """
import os, sys, time
if len(sys.argv) > 1:
    print("ready", flush=True)
    open(os.environ["NOTE"], "w").write(str(os.getpid()))
    time.sleep(60)
"""
DRAW = """
import sys
from pathlib import Path
from assay.render import running_blender
running_blender().draw(Path("nowhere"))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_blender_ends_with_us_while_it_draws(number: signal.Signals, tmp_path: Path) -> None:
    python, note = tmp_path / "python", tmp_path / "note"
    python.write_text(f"#!{sys.executable}\n{BLENDER}")
    python.chmod(0o755)
    environment = {**os.environ, "ASSAY_BLENDER_PYTHON": str(python), "NOTE": str(note)}
    command = subprocess.Popen([sys.executable, "-c", DRAW], env=environment)
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    pids = [int(note.read_text())]
    assert alive(pids) == pids
    command.send_signal(number)
    command.wait(10)
    assert gone_within(3, pids)


@pytest.mark.parametrize("delay", [0.1, 0.2, 0.4, 0.8])
def test_an_early_interrupt_prints_no_traceback(delay: float, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "assay", "make", "kand-logic", "-n", "20000", "--workers", "1", "-o", "data"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as command:
        time.sleep(delay)
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=30)
    early = command.returncode in (1, -signal.SIGINT) and "assay" not in errors  # Python itself was not ready
    assert early or (command.returncode == 130 and errors.splitlines()[-1].startswith("error: interrupted"))
    assert early or "Traceback" not in errors


def test_an_interrupt_that_a_callback_drops_is_sent_again() -> None:
    code = """
import os, signal, sys, time, weakref
from assay.base.processes import hear_interrupts
class Thing: pass
hear_interrupts()
thing = Thing()
watch = weakref.ref(thing, lambda _: (os.kill(os.getpid(), signal.SIGINT), time.sleep(0.1)))
try:
    del thing
    time.sleep(20)
except KeyboardInterrupt:
    sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=False)
    assert (done.returncode, done.stderr) == (7, "")


def test_a_worker_ends_with_its_parent_from_its_first_import_on():
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    code = "import assay, os, sys, time; sys.stdout.write(str('ASSAY_PARENT' in os.environ)); sys.stdout.flush(); time.sleep(60)"
    environment = {**os.environ, "ASSAY_PARENT": str(gone.pid)}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=50)
    assert told.returncode == 1 and told.stdout in ("", "False")  # what it starts itself is no worker
