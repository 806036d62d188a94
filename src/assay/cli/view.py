"""`assay view`: a local web page to look through datasets and runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import FindingFileOption, ModelFileOption, RemoteOption, TaskFileOption, say


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
    from assay.api import serve_viewer

    serve_viewer(folders, say, port=port, bundle=bundle, samples=samples, browse=not no_open, tasks=task_file)
