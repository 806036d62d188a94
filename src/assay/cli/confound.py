"""`assay confound`: plant a nuisance that goes with the label in a dataset that is there."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, print_json, say


def confound(
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the confounded copy.")],
    what: Annotated[
        str,
        typer.Option(help="The mark: watermark, frame, patch, brightness, noise, blur, compression, position."),
    ] = "watermark",
    goes_with: Annotated[
        str | None,
        typer.Option("--with", help="A label, a concept, or a formula over concepts; by default the first label."),
    ] = None,
    strength: Annotated[
        float, typer.Option(min=0, max=1, help="In what share of the examples the mark goes with it.")
    ] = 0.95,
    where: Annotated[
        list[str], typer.Option("--where", help="A split in which it does; can be repeated; by default all.")
    ] = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Plant a spurious feature: a mark on pictures that goes with the label.

    Writes a copy of the dataset, imported or made, whose pictures carry the mark. The test split comes twice more:
    `unconfounded` with the mark drawn freely, and `reversed` with a mark that goes with another label. A model that
    follows the mark gets the verdict `spurious` from `assay diagnose`.
    """
    from assay.api import confound as plant
    from assay.api import load

    dataset = load(data)
    partner = goes_with or dataset.knowledge.label_names[0]
    copy = plant(dataset, output, what, partner, strength, where=where)
    if as_json:
        planted = copy.manifest.task.confound[0]
        print_json({"folder": str(output), "fingerprint": copy.fingerprint, "confound": planted})
        return
    say(f"{what} goes with {partner} in {100 * strength:.0f} % of the examples; new splits: unconfounded, reversed")
    say(f"{output}  fingerprint {copy.fingerprint}")
