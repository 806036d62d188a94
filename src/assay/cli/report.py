"""`assay report`: a page about one or more runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    FindingFileOption,
    MetricFileOption,
    OutOption,
    RemoteOption,
    ThresholdOption,
    say,
)


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN|PREDICTIONS...", help="Run folders, or Parquet files of predictions.")
    ],
    output: OutOption,
    data: Annotated[Path | None, typer.Option(help="The dataset that predictions files are about.")] = None,
    allow_remote: RemoteOption = False,
    settings: ThresholdOption = [],  # noqa: B006
    metric_file: MetricFileOption = [],  # noqa: B006
    finding_file: FindingFileOption = [],  # noqa: B006
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Assay report",
) -> None:
    """Write a report about one or more runs.

    The output folder gets report.html, report.md, report.json and tables.tex.
    """
    from assay.api import report as write_report
    from assay.base import from_pairs

    say(str(write_report(runs, output, title=title, dataset=data, thresholds=from_pairs(settings).values)))
