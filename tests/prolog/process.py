"""Another program run to its end, or to a hard limit of time, with nothing left behind."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.base import start_program
from assay.prolog import PrologError


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit status and what it wrote."""

    status: int
    output: str
    errors: str


def ended(command: Sequence[str], text: str, seconds: float, rule: str, folder: Path | None = None) -> Ended:
    """Run a command on a text; past the limit it and what it started are killed, and an error names the rule."""
    with start_program(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        errors="replace", cwd=folder,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            stopped = f"rule {rule} was stopped at the time limit of {seconds:g} seconds; it may loop"
            raise PrologError(stopped) from None
    return Ended(process.returncode, output, errors)
