"""`assay probe`, `discover`, `saliency` and `align`: what is inside of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    ModelFileOption,
    OutOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    SetOption,
    parse_seeds,
    print_json,
    print_sentences,
    print_table,
    print_text,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.metrics import SaliencyScore
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
    from assay.api import Run
    from assay.api import probe as probe_run

    values = settings_from(settings, config)
    opened = Run.open(run, data)
    probed = probe_run(opened, None, output, layers=layer, every=every, method=method, seed=seed, config=values)
    if as_json:
        print_json({"probes": str(output), **probed.to_dict(opened.dataset.knowledge)})
        return
    _print_layers(probed)
    _print_effects(probed.best.effect_rows(opened.dataset.knowledge), probed.best.layer.name)
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
    from assay.api import discover as discover_units

    chosen = parse_seeds(seeds)
    values = settings_from(settings, config)
    discovered = discover_units(data, method, source, output, layer=layer, seeds=chosen, config=values)
    if as_json:
        print_json({"run": str(output), **discovered.to_dict()})
        return
    _print_scores(discovered)
    say(f"{output}  next: assay diagnose {output} {data}; top pictures of each unit: {output / 'discovery.html'}")


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


if TYPE_CHECKING:
    from assay.models import Saliency


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
        print_table(SALIENCY_HEAD, [_saliency_row(score) for score in found.scores], title)
    if found.check is not None and len(found.check.stages) > 1:
        rows = [
            [str(stage.layers), stage.last, f"{stage.similarity:.2f} ({stage.low:.2f} to {stage.high:.2f})"]
            for stage in found.check.stages
        ]
        print_table(["layers drawn anew", "down to", "maps correlate"], rows)
    if found.completeness is not None:
        print_sentences(
            [f"Completeness: maps miss the changes of log-probabilities by {found.completeness:.1%}."], "- "
        )
    print_sentences(found.text.splitlines(), "- ")


SALIENCY_HEAD = ["maps of", "on", "maps scored", "pointing", "energy", "rank", "chance", "untrained", "energy is"]


def _saliency_row(score: "SaliencyScore") -> list[str]:
    return [
        *(score.target, score.place, f"{score.examples:,}"),
        *(score.pointing.text, score.energy.text, score.rank.text),
        f"{score.chance:.2f}",
        "" if score.untrained is None else f"{score.untrained:.2f}",
        score.energy.side if score.energy.side == "as chance" else f"{score.energy.side} chance",
    ]


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
