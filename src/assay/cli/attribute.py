"""`assay attribute`: are wrong labels due to perception or to the learned rule?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    JsonFlag,
    ModelFileOption,
    RunDataArgument,
    dataset_for,
    print_json,
    print_table,
    print_text,
)


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    concepts: Annotated[int, typer.Option(min=0, help="How many concepts to list.")] = 10,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Attribute label errors to perception or to the rule.

    The true concepts and the true rule are swapped in, one at a time.
    """
    from assay.diagnosis.attribution import HEAD
    from assay.diagnosis.attribution import attribute as attribute_errors
    from assay.studies.run_models import answering_for

    dataset = dataset_for(run, data)
    answering, _ = answering_for(run, dataset, split)
    examples = dataset[split]
    attribution = attribute_errors(answering(examples), dataset.knowledge, examples.concepts, examples.labels, split)
    if as_json:
        print_json({"fingerprint": dataset.fingerprint, **attribution.to_dict()})
        return
    print_table(HEAD, attribution.rows(), f"{attribution.model} on {split}")
    print_text(attribution.whole.text)
    blames = [[blame.concept, f"{blame.misread:,}", f"{blame.mends:,}"] for blame in attribution.concepts[:concepts]]
    if blames:
        print_table(["concept", "misread in", "would correct"], blames)
