"""`assay probe`: which layers of a trained model encode the concepts?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    ModelFileOption,
    OutOption,
    SeedOption,
    SetOption,
    print_json,
    print_table,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.models import Probed

MOST_EFFECTS = 10


def probe(
    run: Annotated[Path, typer.Argument(help="A run folder written by 'assay train'.")],
    data: DataArgument,
    output: OutOption,
    layer: Annotated[list[str], typer.Option(help="Probe only this layer; can be repeated.")] = [],  # noqa: B006
    every: Annotated[bool, typer.Option("--all", help="Also layers without weights.")] = False,
    method: Annotated[str, typer.Option(help="linear or tcav.")] = "linear",
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Probe the layers of a trained model for the concepts.

    The predictions of the best probe are written as a run, which can be scored and diagnosed.
    """
    from assay.api import open_run
    from assay.api import probe as probe_run
    from assay.models import effect_rows, table

    values = settings_from(settings, config)
    opened = open_run(run, data)
    probed = probe_run(opened, None, output, layers=layer, every=every, method=method, seed=seed, config=values)
    knowledge = opened.dataset.knowledge
    if as_json:
        effects = {r.layer.name: effect_rows(r, knowledge) for r in probed.results if r.effects}
        best = probed.best.layer.name
        print_json(
            {
                "probes": str(output),
                "best": best,
                "layers": table(probed, list(probed.best.predictions)),
                "effects": effects,
            }
        )
        return
    _print_layers(probed)
    _print_effects(effect_rows(probed.best, knowledge), probed.best.layer.name)
    say(f"best on validation: {probed.best.layer.name}")
    say(f"{output}  next: assay diagnose {output} {data}")


def _print_layers(probed: "Probed") -> None:
    splits = list(probed.best.predictions)
    rows = []
    for number, result in enumerate(probed.results):
        numbers = [" ".join(f"{score.value:.2f}" for score in result.scores[name].values()) for name in splits]
        rows.append([str(number), result.layer.name, result.layer.kind, f"{result.layer.features:,}", *numbers])
    print_table(["", "layer", "kind", "features", *(f"{name} Acc F1 Cls" for name in splits)], rows)


def _print_effects(effects: list[dict[str, Any]], layer: str) -> None:
    """Print the most significant effects of concepts on classes, if any were tested."""
    strongest = sorted(effects, key=lambda effect: (effect["p_family"], -abs(effect["derivative"])))[:MOST_EFFECTS]
    if strongest:
        rows = []
        for effect in strongest:
            names = [f"{effect['concept']} = {effect['value']}", f"{effect['label']} = {effect['class']}"]
            tests = [f"{effect[key]:.3g}" for key in ("p", "p_family")]
            rows.append([*names, f"{effect['score']:.2f}", f"{effect['derivative']:+.3g}", *tests])
        print_table(["concept", "class", "TCAV", "derivative", "p", "p of all"], rows, f"\nat {layer}")
