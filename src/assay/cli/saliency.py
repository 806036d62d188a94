"""`assay saliency`: do the pixels that answers depend on show the concepts?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    JsonFlag,
    ModelFileOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    SetOption,
    print_json,
    print_paragraphs,
    print_table,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.metrics import SaliencyScore
    from assay.models import Saliency

HEAD = ["maps of", "on", "maps scored", "pointing", "energy", "rank", "chance", "untrained", "energy is"]


def saliency(
    run: Annotated[Path, typer.Argument(help="A run folder written by 'assay train'.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    method: Annotated[
        str, typer.Option(help="integrated-gradients, grad-cam, occlusion or input-gradient.")
    ] = "integrated-gradients",
    examples: Annotated[int, typer.Option("-n", "--examples", min=1, help="How many examples to explain.")] = 200,
    split: Annotated[str, typer.Option(help="The split to explain.")] = "test",
    concept: Annotated[list[str], typer.Option(help="Explain only this concept; can be repeated.")] = [],  # noqa: B006
    seed: SeedOption = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder for maps and record.")] = None,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Score saliency maps on the pixels that show the concepts.

    Maps of predicted labels and concepts are scored on masks, boxes or regions of the concepts and on planted marks,
    beside chance. As a check of the method, weights are drawn anew: maps that stay the same say nothing of the model.
    """
    from assay.api import saliency as explain
    from assay.base import Settings

    values = settings_from(settings, config).merge(Settings({"concepts": concept} if concept else {}))
    found = explain(run, data, method, output, n=examples, split=split, seed=seed, config=values)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found)
    if output is not None:
        say(f"{output}: maps over pictures, and the record")


def _print(found: "Saliency") -> None:
    title = f"{found.plan.method} of {found.model} on {found.plan.split}, {found.plan.examples:,} examples"
    if found.scores:
        print_table(HEAD, [_row(score) for score in found.scores], title)
    if found.check is not None and len(found.check.stages) > 1:
        rows = [
            [str(stage.layers), stage.last, f"{stage.similarity:.2f} ({stage.low:.2f} to {stage.high:.2f})"]
            for stage in found.check.stages
        ]
        print_table(["layers drawn anew", "down to", "maps correlate"], rows)
    if found.completeness is not None:
        print_paragraphs([f"Completeness: maps miss the changes of log-probabilities by {found.completeness:.1%}."])
    print_paragraphs(found.text.splitlines())


def _row(score: "SaliencyScore") -> list[str]:
    return [
        *(score.target, score.place, f"{score.examples:,}"),
        *(score.pointing.text, score.energy.text, score.rank.text),
        f"{score.chance:.2f}",
        "" if score.untrained is None else f"{score.untrained:.2f}",
        score.energy.side if score.energy.side == "as chance" else f"{score.energy.side} chance",
    ]
