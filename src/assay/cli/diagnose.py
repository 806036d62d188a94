"""`assay diagnose`: the verdict in short, and on request all that was tested."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    FindingFileOption,
    JsonFlag,
    MetricFileOption,
    RemoteOption,
    RunDataArgument,
    ThresholdOption,
    print_json,
    print_paragraphs,
    print_sentences,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from assay.diagnosis import Diagnosis


def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    settings: ThresholdOption = [],  # noqa: B006
    metric_file: MetricFileOption = [],  # noqa: B006
    finding_file: FindingFileOption = [],  # noqa: B006
    rule: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Diagnose under another rule for the same concepts.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also all further sentences, and a table of every test.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Diagnose what a model has learned. Exits with 0 if it is sound, else with 1.

    Prints the verdict, at most two reasons with their numbers, how certain the verdict is, and what to do next. The
    words of verdicts: assay list findings; what one tests: assay show FINDING; thresholds: assay list thresholds.
    """
    from assay.api import diagnose as judge
    from assay.api import open_run
    from assay.base import from_pairs

    diagnosis = judge(open_run(run, data), thresholds=from_pairs(settings).values, rule=rule)
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        print_sentences(diagnosis.sentences)
        if full:
            _print_all(diagnosis)
    raise typer.Exit(0 if diagnosis.verdict == "sound" else 1)


def _print_all(diagnosis: "Diagnosis") -> None:
    """Print the other sentences, what labels move with, and the table of every test."""
    from assay.diagnosis import RELIANCE_HEAD, TABLE_HEAD, cells_of, reliance_table

    print_text()
    print_paragraphs(diagnosis.details)
    if diagnosis.reliance:
        print_text()
        print_table(RELIANCE_HEAD, reliance_table(diagnosis.reliance), "What the label moves with")
    print_text()
    print_table(TABLE_HEAD, cells_of(diagnosis.table), "What was tested")
