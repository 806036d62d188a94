"""`assay score`, `diagnose`, `attribute`, `leakage` and `intervene`: what a model has learned, in numbers and words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.base import ConfigError
from assay.cli.console import (
    DataArgument,
    FindingFileOption,
    JsonFlag,
    MetricFileOption,
    ModelFileOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    TaskFileOption,
    ThresholdOption,
    print_json,
    print_sentences,
    print_table,
    print_text,
    say,
)


def score(
    predictions: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    metric: Annotated[list[str], typer.Option(help="Only this metric, or FILE.py; can be repeated.")] = [],  # noqa: B006
    rule: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Score under another rule for the same concepts.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Score predictions, with 95 % intervals.

    The predictions are those of a run, or a file that any program wrote. With --rule, labels are those that the rule in
    this file (labels: {name: formula}) gives to the true and to the predicted concepts.
    """
    from assay.api import Run
    from assay.api import score as measure
    from assay.metrics import METRICS, format_score

    names = [METRICS.resolve(name) for name in metric] or list(METRICS)
    run = Run.open(predictions, data)
    scores = measure(run, metrics=names, rule=rule)
    if as_json:
        from assay.dataset import provenance

        files = {name: code.to_dict() for name in names if (code := METRICS.entry(name).code) is not None}
        plain = {split: {name: by_name[name].to_dict() for name in names} for split, by_name in scores.items()}
        swapped = {} if rule is None else {"rule": str(rule)}
        print_json({**provenance(run.dataset), **swapped, **({"code": files} if files else {}), "scores": plain})
        return
    table = [[name, *(format_score(s[name]) for s in scores.values()), METRICS.entry(name).summary] for name in names]
    print_table(["metric", *(f"{split} ({scores.examples[split]:,})" for split in scores), ""], table)


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
    from assay.api import Run
    from assay.api import diagnose as judge
    from assay.base import from_pairs

    diagnosis = judge(Run.open(run, data), thresholds=from_pairs(settings).values, rule=rule)
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        print_sentences(diagnosis.sentences)
        if full:
            _print_all(diagnosis)
    raise typer.Exit(0 if diagnosis.verdict == "sound" else 1)


def _print_all(diagnosis: "Diagnosis") -> None:
    """Print the other sentences, what labels move with, and the table of every test."""
    from assay.diagnosis import TABLE_HEAD, cells_of

    print_text()
    print_sentences(diagnosis.details, "- ")
    if diagnosis.reliance:
        print_text()
        head = ["what changes", "kind", "pairs", "the label moves", "it should", "spurious"]
        print_table(head, _reliance_rows(diagnosis), "What the label moves with")
    print_text()
    print_table(TABLE_HEAD, cells_of(diagnosis.table), "What was tested")


def _reliance_rows(diagnosis: "Diagnosis") -> list[list[str]]:
    """Return what changes, the pairs, how often labels move with an interval, and how often they should."""
    from assay.metrics import percent, share_of

    return [
        [row.name, row.kind, f"{row.pairs:,}", share_of(row.moved, row.pairs) if row.pairs else "",
         percent(row.should / row.pairs) if row.pairs else "", "yes" if row.relied_on else ""]
        for row in diagnosis.reliance
    ]  # fmt: skip


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    concepts: Annotated[int, typer.Option(min=0, help="How many concepts to list.")] = 10,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Attribute every wrong label to one cause, as `assay diagnose` counts them.

    The label head (the true rule gives the right label for the predicted concepts), misread concepts (the label follows
    from them), both, or uncertain concepts. Beside it: what the model's own label head predicts for the true concepts.
    """
    from assay.api import Run
    from assay.api import attribute as attribute_errors

    opened = Run.open(run, data)
    attribution = attribute_errors(opened, split=split)
    if as_json:
        print_json({"fingerprint": opened.dataset.fingerprint, **attribution.to_dict()})
        return
    print_table(attribution.head, attribution.rows(), f"{attribution.model} on {split}")
    print_text(attribution.whole.text)
    blames = [[blame.concept, f"{blame.misread:,}", f"{blame.mends:,}"] for blame in attribution.concepts[:concepts]]
    if blames:
        print_table(["concept", "misread in", "would correct"], blames)


def leakage(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: DataArgument,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    seed: SeedOption = 0,
    precision: Annotated[float, typer.Option(min=0, help="Probabilities that differ by less count as equal.")] = 0.01,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Measure the leakage of predicted concepts.

    How much they reveal of labels (CTL) and of each other (ICL) beyond the true concepts. For models that support
    interventions, also whether labels survive when the concepts are shuffled or constant.
    """
    from assay.api import leakage as measure

    report = measure(run, data, split=split, seed=seed, precision=precision)
    if as_json:
        print_json(report.to_dict())
        return
    measured = report.leakage.to_dict()
    passes = None if report.bypass is None else report.bypass.to_dict()
    kinds = [kind for kind in ("soft", "hard") if measured[kind] is not None]
    rows = [[name, *(f"{measured[kind][key]:.4f}" for kind in kinds), text] for key, name, text in MEASURES]
    print_table([f"{split} ({measured['rows']:,})", *kinds, ""], rows)
    strongest = sorted(measured["beyond_value"].items(), key=lambda pair: -pair[1])[:MOST_NAMED]
    if strongest:
        heads = ["probabilities of", "explained by a label, where the concept is right"]
        print_table(heads, [[name, f"{strength:.4f}"] for name, strength in strongest])
    if passes is not None:
        rows = [[key, f"{passes[key]:.4f}", text] for key, text in PASSES.items()]
        print_table(["bypass", "value", ""], rows)
    else:
        say(f"bypass left out: {report.why_no_bypass}")


MOST_NAMED = 10
MEASURES = (
    ("ctl", "CTL", "concept to label: information beyond the true concept's, as a share of H(label)"),
    ("icl", "ICL", "concept to concept: information beyond the true concepts'"),
    ("probe", "probe", "what all predicted concepts add on held-out examples to the true ones and the rule"),
)
PASSES = {
    "accuracy": "label accuracy as the model predicts",
    "true": "with the true concepts set",
    "shuffled_own": "with the concepts of another example: the label is still that of the image",
    "chance": "how often that is so by chance",
    "survival": "how much of the accuracy survives the shuffle: 0 without a bypass",
    "by_picture": "the label differs for another image with the same concepts",
    "fixed": "with constant concepts",
    "majority": "the most frequent label",
}


LIST: list[str] = []
COLUMNS = {
    "accuracy": "accuracy",
    "concept_accuracy": "concepts",
    "asked": "asked",
    "cost": "cost",
    "changed": "changed",
    "coverage": "coverage",
    "selective_accuracy": "selective",
    "net_work_automated": "net work",
    "gain": "gain",
}


def intervene(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run, a folder of runs (seeds), or a Parquet file.")
    ],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    policy: Annotated[
        str, typer.Option(help="Policy: responsiveness, random, uncertainty, fixed, cooperative, validation.")
    ] = "responsiveness",
    budget: Annotated[str, typer.Option(help="Budget per example: numbers, ranges, max.")] = "0-3,max",
    source: Annotated[
        str | None,
        typer.Option(
            help="Who answers: perfect, self, expert:0.8, expert:FILE, model:FILE, file:FILE, vlm, clip:FOLDER."
        ),
    ] = None,
    reader: Annotated[
        list[str], typer.Option(metavar="KEY=VALUE", help="A setting of --source vlm or clip:FOLDER, such as model.")
    ] = LIST,
    kind: Annotated[
        str, typer.Option(help="confirmation sets concepts in the model; manipulation renders changed worlds.")
    ] = "confirmation",
    threshold: Annotated[float | None, typer.Option(help="Ask only above this score; responsiveness: 0.2.")] = None,
    order: Annotated[str, typer.Option(metavar="A,B,...", help="The order of policy fixed.")] = "",
    group: Annotated[list[str], typer.Option(metavar="NAME=A,B", help="Ask about these together.")] = LIST,
    cost: Annotated[list[str], typer.Option(metavar="NAME=NUMBER", help="The cost; default 1.")] = LIST,
    batch_budget: Annotated[float | None, typer.Option(help="Budget of all examples together.")] = None,
    target: Annotated[
        float | None, typer.Option(help="Abstain so that decided examples are this accurate; ask about the others.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="RUN|PREDICTIONS", help="Report the gain over this model.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    seed: SeedOption = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder for the record, curves and page.")
    ] = None,
    task_file: TaskFileOption = [],  # noqa: B006
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Intervene on concepts within a budget.

    Concepts are set to the answers of an oracle, an expert or another model, and the label accuracy is printed for each
    budget. As a control, the model's own predictions are set as well: they must change nothing.
    """
    from assay.api import intervene as intervene_on
    from assay.base import from_pairs

    interventions = intervene_on(
        [run], data, policy=policy, budget=budget, source=source, reader=from_pairs(reader, "--reader").values,
        kind=kind, threshold=threshold, order=tuple(_parse_names(order)), costs=_costs(cost), batch_budget=batch_budget,
        groups={name: tuple(_parse_names(names)) for name, names in map(_pair, group)},
        target=target, baseline=baseline, split=split, seed=seed,
    )  # fmt: skip
    facts = interventions.to_dict()
    page = None if output is None else interventions.write(output)
    if as_json:
        print_json(facts)
        return
    _print(facts)
    if page is not None:
        say(str(page))


def _print(facts: dict[str, Any]) -> None:
    rows = facts["summary"]
    keys = [key for key in COLUMNS if key in rows[0]]
    cells = [["max" if row["whole"] else f"{row['budget']:g}", *(_cell(row.get(key)) for key in keys)] for row in rows]
    plan = facts["plan"]
    runs = f", {len(facts['runs'])} runs" if len(facts["runs"]) > 1 else ""
    title = f"{facts['runs'][0]['model']}: {plan['policy']}, {plan['kind']}, answers: {plan['source']}{runs}"
    print_table(["budget", *(COLUMNS[key] for key in keys)], cells, title)
    moved = max(run["control"]["changed"] for run in facts["runs"])
    say(f"control: the model's own predictions change {100 * moved:.1f} % of the labels (must be 0)")


def _cell(numbers: dict[str, float] | None) -> str:
    if numbers is None:
        return "–"
    interval = f" ({numbers['low']:.3f}–{numbers['high']:.3f})" if numbers["low"] != numbers["high"] else ""
    return f"{numbers['mean']:.3f}{interval}"


def _parse_names(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _pair(text: str) -> tuple[str, str]:
    name, sign, rest = text.partition("=")
    if not (sign and name.strip() and rest.strip()):
        raise ConfigError(f"{text!r}: expected NAME=...")
    return name.strip(), rest.strip()


def _costs(texts: list[str]) -> dict[str, float]:
    costs = {}
    for name, number in map(_pair, texts):
        try:
            costs[name] = float(number)
        except ValueError:
            raise ConfigError(f"--cost {name}={number}: expected a number") from None
    return costs
