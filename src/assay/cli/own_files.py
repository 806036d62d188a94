"""`assay new` and `assay check`: a file of your own to begin with, and whether it keeps its laws."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.console import JsonFlag, print_json, print_table, say


def new(
    kind: Annotated[Literal["task", "model", "metric", "finding", "data"], typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Its name, such as my-task; the file is my_task.py, or a folder.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path(),
) -> None:
    """Write a commented template of a task, a model, a metric, a finding or a data folder.

    It works as it is: `assay check` passes on the file at once, `assay audit` on the folder.
    """
    from assay.api import new as begin

    path = begin(kind, name, output)
    say(f"{path}  next: assay {'audit' if kind == 'data' else 'check'} {path}")


def check(
    file: Annotated[str, typer.Argument(metavar="FILE.py", help="A Python file, or FILE.py:Name for one thing in it.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="A small dataset to try models on; by default one of the file's task.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check the tasks, models, metrics and findings in a Python file.

    They are held to the laws that all of their kind must keep, such as that rendering draws no random numbers, that the
    same seed gives the same answers, or that a finding has the numbers that it states. Exits with 1 if one is broken.
    """
    from assay.api import check as check_file

    outcomes = check_file(file, data)
    if as_json:
        keys = ("law", "passed", "fault")
        print_json(
            {name: [{key: getattr(law, key) for key in keys} for law in laws] for name, laws in outcomes.items()}
        )
    else:
        for name, laws in outcomes.items():
            print_table([name, ""], [[c.law, "holds" if c.passed else f"BROKEN: {c.fault}"] for c in laws])
    raise typer.Exit(0 if all(law.passed for laws in outcomes.values() for law in laws) else 1)
