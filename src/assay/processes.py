"""Subprocesses: programs that are killed with all they started, and workers: their numbers, and Ctrl-C blocked."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WORKER = "ASSAY_WORKER"
PAUSE = 0.3
"""How often a worker looks for its parent, in seconds."""


def number_worker(number: int) -> None:
    """Say which of several workers this process is."""
    os.environ[WORKER] = str(number)


def worker_number() -> int:
    """Return which of several workers this process is; 0 if it is alone. Workers share out GPUs by it."""
    number = os.environ.get(WORKER, "0")
    return int(number) if number.isdecimal() else 0


def end_with_parent(parent: int) -> None:
    """Let this worker end soon after its parent process is gone: nobody would read what it does.

    The parent says who it is: a worker that asks may have lost it already.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)


def interrupt_on_termination() -> None:
    """Take SIGTERM for Ctrl-C, so that workers are stopped and nothing is left half-done."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def start_program(command: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program as `subprocess.Popen` does; in the end it and all that it started are killed, if they still run.

    >>> with start_program(["sleep", "60"]) as program:
    ...     program.poll() is None
    True
    >>> program.returncode
    -9
    """
    with subprocess.Popen(command, start_new_session=True, **how) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block Ctrl-C while workers are started; they inherit the block, and this process stops them instead.

    A signal that arrives meanwhile is delivered afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def has_gpu() -> bool:
    """Return whether this machine has a GPU of NVIDIA, without importing torch."""
    return any(Path("/dev").glob("nvidia[0-9]*"))
