"""Kills a command at many moments of its writing, and then lets it finish: `python tests/killed.py MOST WORDS...`.

Each attempt is a fork of this process, which has imported everything before, and dies by SIGKILL just before or just
after it gives a file or folder its final name. Prints the exit status of every attempt: -9 for each kill, 0 at the end.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence

import numpy as np

from assay.cli import main
from assay.exchange import EXPORTS, annotate, import_folder, push  # noqa: F401 - loaded before the forks
from assay.reporting import write_report  # noqa: F401
from assay.viewer import write_bundle  # noqa: F401

real = os.replace


def attempt(words: Sequence[str], moment: int | None = None) -> tuple[int, int]:
    """Run a command in a fork, and kill it at a moment; return its exit status and how many files it named."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.replace = lambda *names: _replace(writer, moment, *names)
        sys.argv = ["assay", *words]
        main()
    os.close(writer)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(reader, "rb") as pipe:
        return status, len(pipe.read())


calls = 0


def _replace(writer: int, moment: int | None, old: object, new: object) -> None:
    global calls
    if moment == 2 * calls:
        os.kill(os.getpid(), signal.SIGKILL)
    real(old, new)  # type: ignore[call-overload]
    if moment == 2 * calls + 1:
        os.kill(os.getpid(), signal.SIGKILL)
    calls += 1
    os.write(writer, b".")


if __name__ == "__main__":
    most, *words = sys.argv[1:]
    first = [word.replace("OUT", "reference") for word in words]
    status, names = attempt(first)
    moments = sorted(set(np.linspace(0, 2 * names - 1, min(2 * names, int(most))).astype(int).tolist()))
    again = [word.replace("OUT", "killed") for word in words]
    statuses = [attempt(again, moment)[0] for moment in moments]
    print(json.dumps({"first": status, "killed": statuses, "last": attempt(again)[0]}))
