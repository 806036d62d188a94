"""`assay discover`: which concepts does a method find by itself, and are they the true ones?"""

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    ModelFileOption,
    OutOption,
    SetOption,
    parse_seeds,
    print_json,
    print_table,
    print_text,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.models import Discovered

MOST_CONCEPTS = 20


def discover(
    method: Annotated[
        str, typer.Argument(help="The method: sae-topk, pca, slots, ...; 'assay list discovery' has all.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="RUN|BACKBONE|input", help="A run's folder, a backbone, or the pictures.")
    ],
    data: DataArgument,
    output: OutOption,
    layer: Annotated[str | None, typer.Option(help="The layer; by default what the last one reads.")] = None,
    seeds: Annotated[str, typer.Option(help="The seeds, such as 0-2 or 5; the first one is written.")] = "0-2",
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Discover concepts without annotations and score them.

    Units are matched with the true concepts on validation and scored on the test split, beside chance. Writes a run,
    which can be scored, diagnosed, reported and viewed, and a page with the top pictures of each unit.
    """
    from assay.api import PAGE
    from assay.api import discover as discover_units

    chosen = parse_seeds(seeds)
    values = settings_from(settings, config)
    discovered = discover_units(data, method, source, output, layer=layer, seeds=chosen, config=values)
    if as_json:
        print_json({"run": str(output), **discovered.to_dict()})
        return
    _print_scores(discovered)
    say(f"{output}  next: assay diagnose {output} {data}; top pictures of each unit: {output / PAGE}")


def _print_scores(discovered: "Discovered") -> None:
    from assay.metrics import MEANINGS
    from assay.reporting import concept_rows

    first = discovered.first
    rows = [
        [name.replace("_", " "), f"{row['mean']:.2f}", f"{row['chance']:.2f}", MEANINGS[name]]
        for name, row in discovered.summary().items()
    ]
    seeds = len(discovered.discoveries)
    print_table(["score", "value", "chance", "what it says"], rows, f"{discovered.model}, {seeds} seeds")
    concepts = concept_rows(first.scores, discovered.shown)
    table = [
        [
            row["concept"],
            f"{row['matched']} of {row['values']}",
            *(f"{row[k]:.2f}" for k in ("f1", "information", "purity")),
        ]
        for row in concepts[:MOST_CONCEPTS]
    ]
    print_table(["concept", "values matched", "F1", "information", "purity"], table, f"\nseed {first.seed}")
    if len(concepts) > MOST_CONCEPTS:
        print_text(f"{len(concepts) - MOST_CONCEPTS} more concepts in discovery.csv")
    print_text(first.rule.text)
    print_text(f"From the true concepts: {discovered.rule_from_truth.text}")
    for note in first.discoverer.notes:
        print_text(f"note: {note}")
