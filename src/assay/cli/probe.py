"""`assay probe`: which layers of a trained model hold the concepts?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    OutOption,
    SeedOption,
    SetOption,
    print_json,
    print_table,
    progress_bar,
    say,
    settings_from,
)
from assay.errors import UnknownName, suggestion

if TYPE_CHECKING:
    from assay.models.probes.probing import Probed

METHODS = ("linear", "tcav")
SHOWN = 10


def probe(
    run: Annotated[Path, typer.Argument(help="A folder that 'assay train' wrote.")],
    data: DataArgument,
    output: OutOption,
    layer: Annotated[list[str], typer.Option("--layer", help="Only this layer; repeat for more.")] = [],  # noqa: B006
    every: Annotated[bool, typer.Option("--all", help="Also layers without weights of their own.")] = False,
    method: Annotated[str, typer.Option("--method", help="linear or tcav.")] = "linear",
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Read the concepts off the layers of a trained model, and write predictions that can be scored and diagnosed."""
    from assay.config import validate
    from assay.data.dataset import Dataset
    from assay.runs.folder import RunFolder

    if method not in METHODS:
        raise UnknownName(f"no method named {method!r}{suggestion(method, METHODS)}")
    RunFolder(run).about()
    dataset = Dataset.open(data)
    from assay.models.probes.linear import ProbeConfig
    from assay.models.probes.probing import Ask, table
    from assay.models.probes.runs import effect_rows, probe_run

    given = validate(ProbeConfig, settings_from(settings, config))
    ask = Ask("tcav" if method == "tcav" else "linear", tuple(layer), every, given, seed)
    with progress_bar() as bar:
        probed = probe_run(run, dataset, output, ask, bar)
    if as_json:
        found = {r.layer.name: effect_rows(r, dataset.knowledge) for r in probed.results if r.effects}
        best = probed.best.layer.name
        print_json(
            {
                "probes": str(output),
                "best": best,
                "layers": table(probed, list(probed.best.predictions)),
                "effects": found,
            }
        )
        return
    _print_layers(probed)
    _print_effects(effect_rows(probed.best, dataset.knowledge), probed.best.layer.name)
    say(f"best on validation: {probed.best.layer.name}")
    say(f"{output}  next: assay diagnose {output} {data}")


def _print_layers(probed: "Probed") -> None:
    splits = list(probed.best.predictions)
    rows = []
    for number, one in enumerate(probed.results):
        numbers = [" ".join(f"{held.value:.2f}" for held in one.scores[name].values()) for name in splits]
        rows.append([str(number), one.layer.name, one.layer.kind, f"{one.layer.features:,}", *numbers])
    print_table(["", "layer", "kind", "features", *(f"{name} Acc F1 Cls" for name in splits)], rows)


def _print_effects(found: list[dict[str, Any]], layer: str) -> None:
    """Print the surest effects of concepts on classes, if any were tested."""
    surest = sorted(found, key=lambda effect: (effect["p_family"], -abs(effect["derivative"])))[:SHOWN]
    if surest:
        rows = []
        for e in surest:
            numbers = [f"{e['score']:.2f}", f"{e['derivative']:+.3g}", f"{e['p']:.3g}", f"{e['p_family']:.3g}"]
            rows.append([f"{e['concept']} = {e['value']}", f"{e['label']} = {e['class']}", *numbers])
        print_table(["concept", "class", "TCAV", "derivative", "p", "p of all"], rows, f"\nat {layer}")
