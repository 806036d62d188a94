"""Workers and programs: who they are, that they end with us, and how signals are heard."""

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from assay.base import (
    block_interrupts,
    hear_interrupts,
    start_program,
    stop_hearing_interrupts,
    to_frame,
    worker_number,
)


@pytest.mark.parametrize(("said", "number"), [("3", 3), ("0", 0), ("-1", 0), ("x", 0), ("", 0)])
def test_a_worker_knows_its_number(monkeypatch, said, number):
    monkeypatch.setenv("ASSAY_WORKER", said)
    assert worker_number() == number


def test_a_process_that_is_alone_has_number_0(monkeypatch):
    monkeypatch.setenv("ASSAY_WORKER", "9")
    monkeypatch.delenv("ASSAY_WORKER")
    assert worker_number() == 0


PARENT_OF_ONE = """
import os, subprocess, sys, time
names = dict(os.environ) if sys.argv[1] == "by hand" else os.environ | {"ASSAY_PARENT": str(os.getpid())}
code = "import time, os, assay; from assay.base import begin_worker, worker_number; HAND; print(os.getpid(), flush=True); time.sleep(60)"
hand = "begin_worker(os.getppid(), 2); assert worker_number() == 2" if sys.argv[1] == "by hand" else "assert 'ASSAY_PARENT' not in os.environ"
worker = subprocess.Popen([sys.executable, "-c", code.replace("HAND", hand)], env=names, stdout=subprocess.PIPE, text=True)
print(worker.stdout.readline().strip(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("told", ["by hand", "by name"])
def test_a_worker_ends_with_its_parent_however_that_ends(told):
    command = [sys.executable, "-c", PARENT_OF_ONE, told]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        watched = os.pidfd_open(worker)
        assert select.select([watched], [], [], 0.2)[0] == []  # it lives while its parent does
        parent.kill()
        assert select.select([watched], [], [], 20)[0] == [watched]
    os.close(watched)


def test_a_parent_that_is_nobody_is_not_watched():
    """A name of a parent that is no process ends nothing, and is not handed on."""
    code = "import os, assay; print('ASSAY_PARENT' in os.environ)"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=os.environ | {"ASSAY_PARENT": "x"}, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def signals():
    """Restore what was heard before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook = sys.unraisablehook
    yield
    sys.unraisablehook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_is_heard_as_ctrl_c(signals):
    hear_interrupts()
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    stop_hearing_interrupts()
    assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGINT) == signal.SIG_DFL


def test_other_threads_leave_signals_alone(signals):
    before = signal.getsignal(signal.SIGTERM)
    for listen in (hear_interrupts, stop_hearing_interrupts):
        faults = []

        def attempt(listen=listen, faults=faults):
            try:
                listen()
            except ValueError as error:  # signals belong to the main thread
                faults.append(error)

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        assert not faults and signal.getsignal(signal.SIGTERM) is before


def test_a_program_is_killed_in_the_end_with_all_that_it_started():
    reading, writing = os.pipe()
    with start_program(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=writing) as program:
        assert program.poll() is None and os.getpgid(program.pid) != os.getpgid(0)
        assert int(os.read(reading, 100)) != program.pid
    assert program.returncode == -signal.SIGKILL
    os.close(writing)
    assert os.read(reading, 1) == b""  # nobody is left who could write
    os.close(reading)


def test_a_program_that_ended_by_itself_keeps_its_code():
    with start_program(["sh", "-c", "exit 3"]) as program:
        program.wait()
    assert program.returncode == 3


def test_ctrl_c_waits_while_workers_are_started():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    with block_interrupts():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, set())
        assert os.environ["ASSAY_PARENT"] == str(os.getpid())
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before
    assert "ASSAY_PARENT" not in os.environ


def test_columns_become_a_data_frame():
    pytest.importorskip("pandas")
    frame = to_frame({"a": [1, 2], "b": ["x", "y"]})
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_a_program_is_killed_when_we_are():
    text = (
        "import sys, time\nfrom assay.base.processes import start_program\n"
        "with start_program(['sh', '-c', 'sleep 60 & echo $!; wait']):\n    print('watched', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, start_new_session=True) as parent:
        said = {parent.stdout.readline().strip() for _ in range(2)}  # in either order
        (number,) = said - {b"watched"}
        group = os.getpgid(int(number))
        parent.kill()
        assert parent.wait() == -signal.SIGKILL
        try:  # the end of the file, which the program and what it started would hold open
            assert select.select([parent.stdout], [], [], 20)[0] and parent.stdout.read() == b""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
