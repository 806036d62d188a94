"""Subprocesses: programs and workers that end with us, however we end; and how Ctrl-C and SIGTERM are heard."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from select import select
from typing import Any

WORKER = "ASSAY_WORKER"
PARENT = "ASSAY_PARENT"
"""Tells a process that starts who its parent is; a worker watches it from `import assay` on, long before it works."""
PAUSE = 0.3
"""How often a worker looks for its parent, in seconds, where the kernel does not tell that it ended."""


def worker_number() -> int:
    """Return which of several workers this process is; 0 if it is alone. Workers share out GPUs by it."""
    number = os.environ.get(WORKER, "0")
    return int(number) if number.isdecimal() else 0


def begin_worker(parent: int, number: int | None = None) -> None:
    """Number this worker, and let it end soon after its parent process is gone: nobody would read what it does.

    The parent says who it is: a worker that asks may have lost it already.
    """
    if number is not None:
        os.environ[WORKER] = str(number)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def watch_parent_of_worker() -> None:
    """Let this process end with its parent, if it was started as a worker; what it starts itself is none."""
    parent = os.environ.pop(PARENT, "")
    if parent.isdecimal():
        begin_worker(int(parent))


def _watch(parent: int) -> None:
    """End this process when its parent has ended: at once where the kernel tells, before anything fails to be sent."""
    with suppress(AttributeError, OSError):
        ended = os.pidfd_open(parent)
        if os.getppid() == parent:
            select([ended], [], [])
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)


def hear_interrupts() -> None:
    """Take SIGTERM for Ctrl-C, so that workers are stopped and nothing is left half-done; and let no Ctrl-C be lost.

    One that arrives in a callback of the interpreter's own is dropped there with a traceback: it is sent again.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.unraisablehook = _send_again


def _send_again(fault: Any) -> None:
    if fault.exc_type is KeyboardInterrupt:
        threading.Timer(PAUSE / 10, os.kill, (os.getpid(), signal.SIGTERM)).start()  # when the callback has returned
    else:
        sys.__unraisablehook__(fault)


def stop_hearing_interrupts() -> None:
    """Let a signal end this process without a word: what was to be done is done."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)


WATCH = "read -r _; kill -s KILL 0"
"""A shell waits for the end of its input, which is the end of whoever started it; then it kills its group."""


@contextmanager
def start_program(command: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program as `subprocess.Popen` does; in the end it and all that it started are killed, if they still run.

    They are killed too if this process is killed, at whatever moment: what watches it runs before the program does, and
    the program joins its group.

    >>> with start_program(["sleep", "60"]) as program:
    ...     program.poll() is None
    True
    >>> program.returncode
    -9
    """
    shell = ["/bin/sh", "-c", WATCH]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, process_group=0) as watcher:
        try:
            with subprocess.Popen(command, process_group=watcher.pid, **how) as process:
                try:
                    yield process
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(watcher.pid, signal.SIGKILL)
        finally:
            watcher.kill()


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block Ctrl-C while workers are started; they inherit the block, and this process stops them instead.

    A signal that arrives meanwhile is delivered afterwards. The workers are told who their parent is.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ[PARENT] = str(os.getpid())
    try:
        yield
    finally:
        os.environ.pop(PARENT, None)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
