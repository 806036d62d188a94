"""`assay export`: a dataset in the file format of another program."""

from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, OutOption, TaskFileOption, print_json, print_table, say


def export(
    data: DataArgument,
    form: Annotated[str, typer.Option("--to", metavar="FORM", help="The format to write; see 'assay list exports'.")],
    output: OutOption,
    split: Annotated[list[str], typer.Option(help="A split to write; can be repeated; by default all.")] = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write a dataset in the format of another program.

    File names, folders and keys are those that the program reads.
    """
    from assay.api import export as write

    counts = write(data, form, output, splits=split, tasks=task_file)
    if as_json:
        print_json({"folder": str(output), "form": form, "splits": counts})
        return
    print_table(["split", "examples"], [[name, f"{count:,}"] for name, count in counts.items()])
    say(f"{output}  in the format {form!r}")
