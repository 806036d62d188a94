"""Outputs that are deleted under a command: one that says that it is done must have left all of it."""

import os
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from assay.base import rng_for
from benchmarks.fuzz import Work
from benchmarks.kills import COMMANDS, LOG, Reference, _clear, _files, _into, finish, start

VERBS = ("make", "train", "annotate", "export", "import", "view --bundle", "report")
SHOWN = 0.002
"""Seconds between two looks whether the output is there."""


def deleted_outputs(place: Path, tries: int = 3) -> Iterator[tuple[str, Work]]:
    """Give attempts in which a command's output is deleted, some time after it appeared."""
    for verb in VERBS:
        words = COMMANDS[verb].split()
        reference = Reference.of(words, place)
        for number in range(tries):
            yield f"{verb} {number}", partial(_deleted, place, verb, reference, number)


def _deleted(place: Path, verb: str, reference: Reference, number: int) -> bool:
    """Return whether the command failed, or left all that it leaves when nobody disturbs it."""
    out = place / "deleted"
    _clear(reference.words, out)
    child = start(_into(out.name, reference.words), place)
    moment = float(rng_for(0, "deleted", verb, number).uniform(0.1, 0.9)) * reference.seconds
    began = time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < began + moment:
        time.sleep(SHOWN)
    was_whole = set(_files(out)) >= set(reference.names)  # then it is deleted after all was done
    shutil.rmtree(out, ignore_errors=True)
    if ended[0]:
        return finish(_into(out.name, reference.words), place) == 0
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if "Traceback" in (place / LOG).read_text(errors="replace"):
        raise RuntimeError((place / LOG).read_text(errors="replace")[-300:])
    return status != 0 or was_whole or set(_files(out)) >= set(reference.names)
