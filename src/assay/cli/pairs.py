"""`assay pairs`: counterfactual worlds, rendered again into a dataset or into a file."""

from pathlib import Path
from typing import Annotated

import typer

from assay.base import ConfigError
from assay.cli.console import (
    DataArgument,
    JsonFlag,
    SetOption,
    TaskFileOption,
    print_json,
    say,
    settings_from,
)


def pairs(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A Parquet file, instead of the dataset's split `pairs`.")
    ] = None,
    count: Annotated[int | None, typer.Option("-n", min=1, help="How many; by default as many as before.")] = None,
    split: Annotated[str, typer.Option("--split", help="With -o: the split whose worlds are changed.")] = "test",
    do: Annotated[
        list[str],
        typer.Option(
            "--do", help="With -o, instead: one of the task's interventions, or CONCEPT=VALUE; can be repeated."
        ),
    ] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Render counterfactual worlds, with one concept changed.

    `assay make` writes those of the test split as the split `pairs`; this command renders that split again, or adds it
    to an older dataset. Models that `assay train` trains have predictions for it. For any other model, put predictions
    for `test` and `pairs` into FOLDER/predictions/test.parquet and pairs.parquet: then `assay diagnose FOLDER DATA`
    reports counterfactual sensitivity and invariance.

    With `-o`, the worlds of any split before and after a change go to a file of their own; with `--do` all worlds that
    an intervention applies to are changed, whether the task would sample the outcome or not.
    """
    from assay.api import redraw_pairs, write_pairs

    values = settings_from(settings, None)
    if output is None:
        if do or split != "test":
            raise ConfigError(
                "--split and --do need -o FILE; the dataset's own split holds single changes of test worlds"
            )
        manifest = redraw_pairs(data, count, config=values)
        part, fingerprint = manifest.pairs, manifest.fingerprint
        if as_json:
            print_json({"folder": str(data), "fingerprint": fingerprint, "pairs": part.size})
            return
        say(f"{part.size} worlds of split {part.split} with one concept changed")
        say(f"{data}  split pairs  fingerprint {fingerprint}")
        return
    found = write_pairs(data, output, split=split, count=count, do=do, config=values)
    number = len(found) // 2
    if as_json:
        print_json({"file": str(output), "split": found.name, "fingerprint": found.fingerprint, "pairs": number})
        return
    say(f"{number} pairs; rows {number} and up are the changed worlds")
    say(f"{output}  split {found.name}  fingerprint {found.fingerprint}")
