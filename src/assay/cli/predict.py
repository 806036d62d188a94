"""`assay predict`: write a run's predictions for a split."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, ModelFileOption, RunDataArgument, dataset_for, print_json, say


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder written by 'assay train'.")],
    data: RunDataArgument = None,
    split: Annotated[str, typer.Option(help="The split to predict.")] = "test",
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write a trained model's predictions for a split."""
    from assay.runs.folder import RunFolder

    RunFolder(run).about()
    dataset = dataset_for(run, data)
    from assay.models.core.runs import predict_run

    path = predict_run(run, dataset, split)
    if as_json:
        print_json({"predictions": str(path), "split": split, "fingerprint": dataset.fingerprint})
    else:
        say(str(path))
