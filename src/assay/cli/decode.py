"""`assay decode`: the most probable worlds that satisfy every constraint."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, print_json, say


def decode(
    predictions: Annotated[Path, typer.Argument(help="A Parquet file with the probabilities of every concept.")],
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    labels_by_rule: Annotated[
        bool,
        typer.Option(
            "--labels-by-rule", help="Also replace labels by those that the rule gives for the decoded concepts."
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Decode predicted concepts under the constraints.

    Replaces them by the most probable ones that satisfy every constraint. The output is a predictions file like any
    other: `assay score` and `assay diagnose` take it.
    """
    from assay.api import decode as decode_file

    decoded = decode_file(predictions, data, output, labels_by_rule=labels_by_rule)
    counts = decoded.about["decoded"]
    if as_json:
        print_json({"file": str(output), "examples": len(decoded.index), **counts})
        return
    say(f"{counts['changed']} of {len(decoded.index)} examples changed")
    if counts["not_proven"]:
        say(
            f"{counts['not_proven']} not proven to be the most probable, {counts['not_found']} of them not found at all"
        )
    say(str(output))
