"""`assay report`: a page about one or more runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import OutOption, say


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders written by 'assay train'.")],
    output: OutOption,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Assay report",
) -> None:
    """Write a report about one or more runs.

    The output folder gets report.html, report.md, report.json and tables.tex.
    """
    from assay.reporting.write import write_report

    say(str(write_report(runs, output, title)))
