"""`assay report` and `assay view`: a page about runs, and a local web page to look through datasets and runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    FindingFileOption,
    MetricFileOption,
    ModelFileOption,
    OutOption,
    RemoteOption,
    TaskFileOption,
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


def view(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Datasets, runs, predictions files, or folders that contain some."),
    ],
    allow_remote: RemoteOption = False,
    task_file: TaskFileOption = [],  # noqa: B006
    model_file: ModelFileOption = [],  # noqa: B006
    finding_file: FindingFileOption = [],  # noqa: B006
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
    bundle: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write static files instead, for any web server.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="With --bundle: samples per split.")] = 60,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address; open no browser.")] = False,
) -> None:
    """Browse datasets and runs on a local web page.

    Filter and compare examples; edit a concept and see what changes.
    """
    from assay.api import view as show

    page = show(
        *folders, port=port, tasks=task_file, bundle=bundle, samples=samples, wait=True, browse=not no_open, say=say
    )
    if page is not None:
        say(f"{page}  next: python -m http.server --directory {bundle}")
