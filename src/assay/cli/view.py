"""`assay view`: a local web page to look through datasets and runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import FindingFileOption, ModelFileOption, RemoteOption, TaskFileOption, say
from assay.distribution import import_extra


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
    for package in ("fastapi", "uvicorn"):
        import_extra(package, "the viewer")
    from assay.data import check_code
    from assay.studies import RunModels
    from assay.viewer import State, serve, write_bundle

    state = State.open([_here(folder) for folder in folders], RunModels())
    for held in state.shelf.datasets.values():
        check_code(held.dataset, task_file)
    for broken in state.shelf.broken:
        say(f"left out: {broken.why}")
    if bundle is not None:
        say(f"{write_bundle(state, bundle, samples)}  next: python -m http.server --directory {bundle}")
        return
    serve(state, port, say, browse=not no_open)


def _here(folder: Path) -> Path:
    """Return a folder of this machine; a remote dataset is fetched whole."""
    from assay.data import Dataset, is_remote

    return Dataset.open(folder).fetch_all().folder if is_remote(folder) else folder
