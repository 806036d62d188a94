"""`assay decode`: the most probable worlds that keep every constraint."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, print_json, say


def decode(
    predictions: Annotated[Path, typer.Argument(help="A Parquet file with the probabilities of every concept.")],
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    labels_by_rule: Annotated[
        bool, typer.Option("--labels-by-rule", help="Give the labels that follow from the decoded concepts.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Replace predicted concepts by those of the most probable world that breaks no constraint.

    The file that is written holds predictions like any other: `assay score` and `assay diagnose` take it.
    """
    from assay.data.dataset import Dataset
    from assay.errors import DataError
    from assay.predictions import apply_constraints, read_predictions

    dataset = Dataset.open(data)
    given = read_predictions(predictions, dataset.knowledge)
    if given.fingerprint != dataset.fingerprint:
        raise DataError(f"the predictions are for a dataset with fingerprint {given.fingerprint}, not this one")
    made = apply_constraints(given, dataset.knowledge, labels_by_rule)
    made.write(output, dataset.knowledge)
    told = made.about["decoded"]
    if as_json:
        print_json({"file": str(output), "examples": len(made.index), **told})
        return
    say(f"{told['changed']} of {len(made.index)} examples changed")
    if told["not_proven"]:
        say(f"{told['not_proven']} not proven to be the most probable, {told['not_found']} of them not found at all")
    say(str(output))
