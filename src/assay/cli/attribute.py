"""`assay attribute`: are wrong labels the fault of perception or of the rule?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, RunDataArgument, dataset_for, print_json, print_table, print_text


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    split: Annotated[str, typer.Option("--split", help="The split to look at.")] = "test",
    concepts: Annotated[int, typer.Option("--concepts", min=0, help="How many concepts to name.")] = 10,
    as_json: JsonFlag = False,
) -> None:
    """Attribute errors to perception, to the rule, or to both, by swapping in true concepts and the true rule."""
    from assay.diagnosis.attribution import HEAD
    from assay.diagnosis.attribution import attribute as attributed
    from assay.studies.run_models import answering_for

    dataset = dataset_for(run, data)
    answering, _ = answering_for(run, dataset, split)
    held = dataset[split]
    found = attributed(answering(held), dataset.knowledge, held.concepts, held.labels, split)
    if as_json:
        print_json({"fingerprint": dataset.fingerprint, **found.to_dict()})
        return
    print_table(HEAD, found.rows(), f"{found.model} on {split}")
    print_text(found.whole.text)
    some = [[one.concept, f"{one.misread:,}", f"{one.mends:,}"] for one in found.concepts[:concepts]]
    if some:
        print_table(["concept", "misread in", "would mend"], some)
