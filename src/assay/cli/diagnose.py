"""`assay diagnose`: the verdict, with its reasons."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    JsonFlag,
    MetricFileOption,
    RunDataArgument,
    dataset_for,
    print_json,
    print_paragraphs,
    print_table,
    print_text,
)


def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    metric_file: MetricFileOption = [],  # noqa: B006
    rule: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Diagnose under another rule for the same concepts.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Diagnose what a model has learned, the gravest finding first. Exits with 0 if it is sound, else with 1.

    Verdicts: spurious, underfit, shortcut, leaking, wrong rule, memorised, inconsistent, noisy, opaque, boundary,
    unidentified, too few, no rule, sound; docs/diagnosis.md defines each.
    """
    from assay.diagnosis.findings import MEANINGS
    from assay.diagnosis.reliance import RELIANCE_HEAD, reliance_table
    from assay.diagnosis.runs import diagnose_run, diagnose_under_rule
    from assay.runs.folder import RunFolder

    dataset = dataset_for(run, data)
    if rule is None:
        diagnosis = diagnose_run(RunFolder(run), dataset)
    else:
        from assay.runs.other_rule import read_other_rule

        diagnosis = diagnose_under_rule(RunFolder(run), dataset, read_other_rule(rule, dataset.knowledge))
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        print_text(f"Verdict: {diagnosis.verdict}. {MEANINGS[diagnosis.verdict]}")
        print_paragraphs(diagnosis.reasons)
        if any(row.kind == "nuisance" for row in diagnosis.reliance):
            print_table(RELIANCE_HEAD, reliance_table(diagnosis.reliance), "What the label moves with")
    raise typer.Exit(0 if diagnosis.verdict == "sound" else 1)
