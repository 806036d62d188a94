"""Other processes: programs of which nothing is left behind, and workers that leave Ctrl-C to who started them."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


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
    """Start workers that do not hear Ctrl-C: it is for this process, which tells them to stop.

    It is held back, not ignored, so that one that comes meanwhile is heard afterwards; workers inherit that it is held.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
