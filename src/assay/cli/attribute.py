"""`assay attribute`: are wrong labels due to misread concepts or to the label head?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    JsonFlag,
    ModelFileOption,
    RemoteOption,
    RunDataArgument,
    print_json,
    print_table,
    print_text,
)


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    concepts: Annotated[int, typer.Option(min=0, help="How many concepts to list.")] = 10,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Attribute every wrong label to one cause, as `assay diagnose` counts them.

    The label head (the true rule gives the right label for the predicted concepts), misread concepts (the label follows
    from them), both, or uncertain concepts. Beside it: what the model's own label head predicts for the true concepts.
    """
    from assay.api import attribute as attribute_errors
    from assay.api import open_run
    from assay.diagnosis import ATTRIBUTION_HEAD

    opened = open_run(run, data)
    attribution = attribute_errors(opened, split=split)
    if as_json:
        print_json({"fingerprint": opened.dataset.fingerprint, **attribution.to_dict()})
        return
    print_table(ATTRIBUTION_HEAD, attribution.rows(), f"{attribution.model} on {split}")
    print_text(attribution.whole.text)
    blames = [[blame.concept, f"{blame.misread:,}", f"{blame.mends:,}"] for blame in attribution.concepts[:concepts]]
    if blames:
        print_table(["concept", "misread in", "would correct"], blames)
