"""`assay diagnose`: the verdict, with its reasons."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, RunDataArgument, dataset_for, print_json, print_text


def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what a model has learned: sound, shortcut, opaque, inconsistent or underfit. Exits with 1 unless sound."""
    from assay.diagnosis.runs import diagnose_run
    from assay.runs import RunFolder

    found = diagnose_run(RunFolder(run), dataset_for(run, data))
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(found.text.replace(". ", ".\n"))
    raise typer.Exit(0 if found.verdict == "sound" else 1)
