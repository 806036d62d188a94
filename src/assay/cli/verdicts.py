"""Verdicts on the terminal: a table with the verdict in colour, the numbers beside it, and why in a line."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli.console import console_for_output

if TYPE_CHECKING:
    from assay.diagnosis import Tone
    from assay.lab import VerdictLine

COLOURS: "dict[Tone, str]" = {"good": "bold green", "bad": "bold red", "weak": "bold yellow", "unknown": "bold blue"}
WIDE = 120
"""From so many columns on, the reason is a column of the table; else it stands below."""


def print_verdicts(lines: "Sequence[VerdictLine]") -> None:
    """Print the verdicts on standard output."""
    from rich.table import Table
    from rich.text import Text

    from assay.reporting import number

    console = console_for_output()
    wide = console.width >= WIDE
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "model", "verdict"):
        table.add_column(name, overflow="fold")
    for name in ("label F1", "concept F1", "ood F1"):
        table.add_column(name, justify="right", no_wrap=True)
    if wide:
        table.add_column("why", overflow="fold")
    before = ""
    for line in lines:
        verdict = Text(line.verdict, style=COLOURS[line.tone])
        numbers = [number(value) for value in (line.label_f1, line.concept_f1, line.ood)]
        task = "" if line.task == before and sys.stdout.isatty() else line.task  # logs are read line by line
        table.add_row(task, line.model, verdict, *numbers, *([line.why] if wide else []))
        before = line.task
    console.print(table, markup=False)
    if not wide:
        for line in lines:
            console.print(f"{line.model} on {line.task}: {line.why}", markup=False, highlight=False)
