"""`assay score`: every metric with its interval."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, RemoteOption, RunDataArgument, print_json, print_table


def score(
    predictions: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    metric: Annotated[list[str], typer.Option(help="Only this metric, or FILE.py; can be repeated.")] = [],  # noqa: B006
    rule: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Score under another rule for the same concepts.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Score predictions, with 95 % intervals.

    The predictions are those of a run, or a file that any program wrote. With --rule, labels are those that the rule in
    this file (labels: {name: formula}) gives to the true and to the predicted concepts.
    """
    from assay.api import open_run
    from assay.api import score as measure
    from assay.metrics import METRICS, format_score

    names = [METRICS.resolve(name) for name in metric] or list(METRICS)
    run = open_run(predictions, data)
    scores = measure(run, metrics=names, rule=rule)
    if as_json:
        from assay.diagnosis import provenance

        files = {name: code.to_dict() for name in names if (code := METRICS.entry(name).code) is not None}
        plain = {split: {name: by_name[name].to_dict() for name in names} for split, by_name in scores.items()}
        swapped = {} if rule is None else {"rule": str(rule)}
        print_json({**provenance(run.dataset), **swapped, **({"code": files} if files else {}), "scores": plain})
        return
    table = [[name, *(format_score(s[name]) for s in scores.values()), METRICS.entry(name).summary] for name in names]
    print_table(["metric", *(f"{split} ({scores.examples[split]:,})" for split in scores), ""], table)
