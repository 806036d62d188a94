"""`assay pairs`: pictures with one concept changed, for a model of any make to answer for."""

import io
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, SetOption, print_json, say, settings_from


def pairs(
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    split: Annotated[str, typer.Option("--split", help="The split whose worlds are changed.")] = "test",
    do: Annotated[
        list[str], typer.Option("--do", help="Instead: one of the task's interventions, or CONCEPT=VALUE; repeat.")
    ] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write the counterfactual pairs of a split: each world, and the same world with one concept changed.

    Predict them with any model, put the predictions into FOLDER/predictions/pairs/SPLIT.parquet beside those of the
    split itself (FOLDER/predictions/SPLIT.parquet), and `assay diagnose FOLDER DATA` tells whether the label follows.
    Models that `assay train` trains have answered already. With `--do` all worlds that the intervention is for are
    changed, whether the task would draw the outcome or not.
    """
    import pyarrow.parquet as pq

    from assay.data.dataset import Dataset
    from assay.data.pairs import intervened, pairs_of
    from assay.data.rebuild import task_of
    from assay.files import write_atomically

    dataset = Dataset.open(data)
    task = task_of(dataset, settings_from(settings, None))
    made = intervened(dataset, split, task, do) if do else pairs_of(dataset, split, task)
    buffer = io.BytesIO()
    pq.write_table(made.data.table, buffer, compression="zstd")
    write_atomically(output, buffer.getvalue())
    if as_json:
        facts = {"file": str(output), "split": made.data.name, "fingerprint": dataset.fingerprint, "pairs": len(made)}
        print_json(facts)
        return
    say(f"{len(made)} pairs; rows {len(made)} and up are the changed worlds")
    say(f"{output}  split {made.data.name}  fingerprint {dataset.fingerprint}")
