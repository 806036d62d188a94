"""`assay audit`: is a dataset what it claims to be?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    JsonFlag,
    SetOption,
    TaskFileOption,
    print_json,
    print_table,
    say,
    settings_from,
)


def audit(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or a folder with images and a table concepts.csv.")],
    check: Annotated[list[str], typer.Option(help="Run only this check; can be repeated.")] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    keep: Annotated[
        bool, typer.Option("--write/--no-write", help="Write audit.json and a section of the dataset card.")
    ] = True,
    as_json: JsonFlag = False,
) -> None:
    """Check that a dataset is what it claims to be.

    Checks labels, whether concepts determine them, balance, splits, sources, duplicates, visibility, nuisances and
    ceilings. Exits with 1 if one fails; what cannot be checked is listed as such, and is no failure.
    """
    from assay.api import audit as examine

    outcome = examine(data, check, write=keep, config=settings_from(settings, None))
    if as_json:
        print_json(outcome.to_dict())
    else:
        rows = [[finding.check, finding.status, finding.text] for finding in outcome.results]
        print_table(["check", "outcome", ""], rows)
        say(f"{data}: {outcome.text}")
    raise typer.Exit(1 if outcome.failed else 0)
