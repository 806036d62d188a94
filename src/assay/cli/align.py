"""`assay align`: refit the label head of a run under constraints on its weights."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    ModelFileOption,
    OutOption,
    SetOption,
    print_json,
    print_table,
    say,
    settings_from,
)

MOST_WEIGHTS = 20


def align(
    run: Annotated[Path, typer.Argument(help="A run's folder, of a model with a linear label head.")],
    data: DataArgument,
    output: OutOption,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Refit a linear label head under weight constraints.

    Weights can be zero, positive, negative or bounded. Writes a new run, and prints the accuracy with predicted and
    with true concepts of the head as trained, refitted, and constrained.
    """
    from assay.api import align as align_run

    aligned = align_run(run, data, output, config=settings_from(settings, config))
    if as_json:
        heads = [head.to_dict() for head in aligned.rows]
        print_json({"run": str(output), "front_ends": heads, "weights": aligned.weights})
        return
    rows = [
        [head.front_end, *(f"{x:.3f}" for x in (head.training, head.test, head.intervened)), f"{head.gain:+.3f}"]
        for head in aligned.rows
    ]
    print_table(["label head", "training", "test", "test, true concepts set", "gain"], rows)
    weights = [[name, *(f"{w:+.2f}" for w in values)] for name, values in list(aligned.weights.items())[:MOST_WEIGHTS]]
    print_table(["weight", *(row.front_end for row in aligned.rows)], weights)
    say(f"{output}  next: assay diagnose {output} {data}")
