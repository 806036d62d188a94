"""Attempts that may harm: each in a fork of this process, with what it said, its CPU time and its memory."""

import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.base import AssayError

Ending = Literal["accepted", "refused", "silent", "traceback", "died"]
"""How an attempt ends; `silent` says that damage was accepted without a word."""
CPU_SECONDS = 60
MEMORY = 8 << 30


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended, what it said, the CPU seconds that it took, and the megabytes by which it grew."""

    ending: Ending
    said: str
    seconds: float
    megabytes: float

    @property
    def is_fault(self) -> bool:
        """Whether it should not have ended so."""
        return self.ending not in ("accepted", "refused")


def attempt(work: Callable[[], bool | None]) -> Outcome:
    """Do something in a fork; it returns False where it accepts what it should not."""
    before = _resident()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _limit()
        ending, said = _ending(work)
        os.write(writer, json.dumps([ending, said[:500]]).encode("utf-8", "backslashreplace"))
        os._exit(0)
    os.close(writer)
    _, status, used = os.wait4(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    ending, said = json.loads(told) if told else ("died", f"wait status {status}")
    return Outcome(ending, said, used.ru_utime + used.ru_stime, max(0.0, used.ru_maxrss * 1024 / 1e6 - before))


def _ending(work: Callable[[], bool | None]) -> tuple[Ending, str]:
    try:
        return ("silent", "") if work() is False else ("accepted", "")
    except AssayError as error:
        text = str(error)
        text.encode()
        return ("refused", text) if "\n" not in text else ("traceback", text)
    except BaseException:  # whatever it is, it is a fault that the table counts
        return "traceback", traceback.format_exc()[-500:]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(1000)


def _resident() -> float:
    """Return the megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
