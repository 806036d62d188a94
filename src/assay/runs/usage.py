"""What a run took: time, and the peak of resident memory, as the kernel counts it (Linux)."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
PAUSE = 0.02
"""How often programs that were started are looked at, in seconds."""


@dataclass(frozen=True)
class Usage:
    """Seconds of wall time and peaks of resident memory in MB; None where the system does not tell them."""

    seconds: float
    memory_mb: float | None
    """Of the process itself."""
    programs_mb: float | None
    """Of the largest program that it started, such as Aleph's Prolog; 0 if it started none."""


def measure_usage(work: Callable[[], object]) -> Usage:
    """Do some work and return what it took."""
    began, known = time.perf_counter(), _reset_peak()
    peaks, done, before = [0.0], threading.Event(), set(_descendants(os.getpid()))
    watcher = threading.Thread(target=_watch_programs, args=(peaks, done, before), daemon=True)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    own = peak_memory(os.getpid()) if known else None
    return Usage(time.perf_counter() - began, own, None if own is None else max(peaks))


def peak_memory(process: int) -> float | None:
    """Return the peak of a process's resident memory in MB, None if it is gone or the system does not tell."""
    try:
        status = (PROCESSES / str(process) / "status").read_text(encoding="utf-8")
    except OSError:
        return None
    peak = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(peak.group(1)) / 1024 if peak else None


def _reset_peak() -> bool:
    """Count this process's peak from now on, and return whether that can be."""
    try:
        (PROCESSES / "self" / "clear_refs").write_bytes(b"5")
    except OSError:
        return False
    return True


def _watch_programs(peaks: list[float], done: threading.Event, before: set[int]) -> None:
    while not done.wait(PAUSE):
        peaks += [peak_memory(process) or 0.0 for process in set(_descendants(os.getpid())) - before]


def _descendants(process: int) -> Iterator[int]:
    """Give the processes that a process started, and all that these started."""
    for path in PROCESSES.glob(f"{process}/task/*/children"):
        try:
            children = [int(pid) for pid in path.read_text(encoding="utf-8").split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from _descendants(child)
