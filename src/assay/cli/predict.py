"""`assay predict`: write a run's predictions for a split."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, ModelFileOption, RemoteOption, RunDataArgument, print_json, say


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder written by 'assay train'.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    split: Annotated[str, typer.Option(help="The split to predict.")] = "test",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="For data that it was not trained on: a new folder, for all splits."),
    ] = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write a trained model's predictions for a split.

    With -o, for another dataset with the same concepts, labels and size of pictures (transfer): score and diagnose that
    folder as any run.
    """
    from assay.api import open_run
    from assay.api import predict as write

    opened = open_run(run, data)
    paths, fingerprint = write(opened, None, output, split=split), opened.dataset.fingerprint
    if output is not None and as_json:
        print_json({"predictions": [str(path) for path in paths], "fingerprint": fingerprint})
    elif output is not None:
        say(f"{output}  next: assay diagnose {output}")
    elif as_json:
        print_json({"predictions": str(paths[0]), "split": split, "fingerprint": fingerprint})
    else:
        say(str(paths[0]))
