"""`assay align`: the label head of a run fitted anew under constraints on its weights."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    OutOption,
    SetOption,
    print_json,
    print_table,
    say,
    settings_from,
)

SHOWN = 20


def align(
    run: Annotated[Path, typer.Argument(help="A run's folder, of a model with a linear label head.")],
    data: DataArgument,
    output: OutOption,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a linear label head anew with weights that are zero, positive, negative or bounded, and write the new run.

    Tells the accuracy, and what setting the true concepts brings, as trained, fitted anew, and fitted as asked.
    """
    from assay.data.dataset import Dataset
    from assay.runs.folder import RunFolder

    RunFolder(run).about()
    dataset = Dataset.open(data)
    from assay.config import validate
    from assay.models.concept.alignment import Alignment, align_run

    asked = validate(Alignment, settings_from(settings, config))
    found = align_run(run, dataset, asked, output)
    if as_json:
        rows = [row.to_dict() for row in found.rows]
        print_json({"run": str(output), "front_ends": rows, "weights": found.weights})
        return
    numbers = [(row.training, row.test, row.intervened) for row in found.rows]
    shown = [[row.front_end, *(f"{n:.3f}" for n in held)] for row, held in zip(found.rows, numbers, strict=True)]
    head = ["label head", "training", "test", "test, true concepts set", "gain"]
    print_table(head, [[*cells, f"{row.gain:+.3f}"] for cells, row in zip(shown, found.rows, strict=True)])
    weights = [[name, *(f"{w:+.2f}" for w in held)] for name, held in list(found.weights.items())[:SHOWN]]
    print_table(["weight", *(row.front_end for row in found.rows)], weights)
    say(f"{output}  next: assay diagnose {output} {data}")
