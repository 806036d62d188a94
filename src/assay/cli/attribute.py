"""`assay attribute`: are wrong labels due to misread concepts or to the label head?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    JsonFlag,
    ModelFileOption,
    RemoteOption,
    RunDataArgument,
    dataset_for,
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
    from assay.arrays import find_rows
    from assay.diagnosis import ATTRIBUTION_HEAD, evidence_of
    from assay.diagnosis import attribute as attribute_errors
    from assay.metrics import gather
    from assay.predictions import read_predictions
    from assay.runs import RunFolder
    from assay.studies import answering_for

    dataset = dataset_for(run, data)
    answering, _ = answering_for(run, dataset, split)
    examples = dataset[split]
    examples.with_known_concepts("attribution")
    path = run if run.is_file() else RunFolder(run).predictions(split)
    if path.exists():  # what is diagnosed
        predictions = read_predictions(path, dataset.knowledge, dataset.sizes)
        evidence = gather(examples, predictions)
        model = answering(examples.take(find_rows(predictions.index, examples.index)))
    else:
        model = answering(examples)
        evidence = evidence_of(model, dataset.knowledge, examples.concepts, examples.labels, split)
    attribution = attribute_errors(model, evidence, own_head=not run.is_file())
    if as_json:
        print_json({"fingerprint": dataset.fingerprint, **attribution.to_dict()})
        return
    print_table(ATTRIBUTION_HEAD, attribution.rows(), f"{attribution.model} on {split}")
    print_text(attribution.whole.text)
    blames = [[blame.concept, f"{blame.misread:,}", f"{blame.mends:,}"] for blame in attribution.concepts[:concepts]]
    if blames:
        print_table(["concept", "misread in", "would correct"], blames)
