"""`assay score`: every metric with its interval."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, RunDataArgument, dataset_for, print_json, print_table


def score(
    predictions: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    metric: Annotated[list[str], typer.Option("--metric", help="Only this metric; repeat for more.")] = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Score predictions, from a run or from any other program."""
    from assay.diagnosis.runs import provenance
    from assay.metrics import METRICS
    from assay.metrics.score import score as measure
    from assay.runs.evidence import evidence_of
    from assay.runs.folder import RunFolder

    names = metric or list(METRICS)
    dataset = dataset_for(predictions, data)
    evidence = evidence_of(RunFolder(predictions), dataset)
    found = {split: measure(held, names) for split, held in evidence.items()}
    if as_json:
        scores = {split: {name: held[name].to_dict() for name in names} for split, held in found.items()}
        print_json({**provenance(dataset), "scores": scores})
        return
    from assay.report.write import shown

    rows = [[name, *(shown(held[name]) for held in found.values()), METRICS.entry(name).summary] for name in names]
    print_table(["metric", *(f"{split} ({len(evidence[split]):,})" for split in found), ""], rows)
