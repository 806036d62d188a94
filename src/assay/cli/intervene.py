"""`assay intervene`: ask about concepts, take the answers in, and see what becomes of the labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import JsonFlag, RunDataArgument, SeedOption, dataset_for, print_json, print_table, say
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.diagnosis.interventions.intervene import Study

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
    policy: Annotated[str, typer.Option("--policy", help="Which concepts to ask about.")] = "responsiveness",
    budget: Annotated[str, typer.Option("--budget", help="What may be spent on each example.")] = "0-3,max",
    source: Annotated[
        str | None,
        typer.Option("--source", help="Who answers: perfect, self, expert:0.8, expert:FILE, model:FILE, file:FILE."),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", help="confirmation, or manipulation: worlds are drawn anew.")
    ] = "confirmation",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="What a score must exceed to ask; responsiveness: 0.2.")
    ] = None,
    order: Annotated[str, typer.Option("--order", metavar="A,B,...", help="The order of policy fixed.")] = "",
    group: Annotated[list[str], typer.Option("--group", metavar="NAME=A,B", help="Ask these together.")] = LIST,
    cost: Annotated[list[str], typer.Option("--cost", metavar="NAME=NUMBER", help="What asking costs; else 1.")] = LIST,
    batch_budget: Annotated[
        float | None, typer.Option("--batch-budget", help="What may be spent on all examples together.")
    ] = None,
    target: Annotated[
        float | None, typer.Option("--target", help="Abstain so as to be this accurate; ask only where abstaining.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN|PREDICTIONS", help="Count the gain over this model.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="The split to ask about.")] = "test",
    seed: SeedOption = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder to write record and curves.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask about concepts within a budget, set them to the answers, and tell how right the labels are then.

    The model's own answers are always tried as well, as a control: they must change nothing.
    """
    from assay.data.rebuild import Redrawing, task_of
    from assay.diagnosis.interventions.intervene import Plan
    from assay.diagnosis.interventions.intervene import intervene as carry_out
    from assay.report.interventions import record, write_interventions
    from assay.studies.intervening import accuracy_of, answering_for, runs_in

    runs = runs_in(run)
    dataset = dataset_for(runs[0], data)
    groups = {name: tuple(_listed(names)) for name, names in map(_pair, group)}
    plan = Plan(
        policy, budget, source, kind, split, threshold, tuple(_listed(order)), groups, _costs(cost), batch_budget,
        target, None if baseline is None else accuracy_of(baseline, dataset, split), seed,
    )  # fmt: skip
    redraw = Redrawing(task_of(dataset)) if kind == "manipulation" else None
    studies: dict[str, Study] = {}
    about: dict[str, dict[str, Any]] = {}
    for folder in runs:
        answering, about[folder.name] = answering_for(folder, dataset, split)
        studies[folder.name] = carry_out(plan, dataset, answering, redraw)
    told = record(studies, dataset, about)
    page = None if output is None else write_interventions(output, studies, dataset, about)
    if as_json:
        print_json(told)
        return
    _print(told)
    if page is not None:
        say(str(page))


def _print(told: dict[str, Any]) -> None:
    rows = told["summary"]
    keys = [key for key in COLUMNS if key in rows[0]]
    cells = [["max" if row["whole"] else f"{row['budget']:g}", *(_cell(row.get(key)) for key in keys)] for row in rows]
    plan = told["plan"]
    runs = f", {len(told['runs'])} runs" if len(told["runs"]) > 1 else ""
    title = f"{told['runs'][0]['model']}: {plan['policy']}, {plan['kind']}, answers: {plan['source']}{runs}"
    print_table(["budget", *(COLUMNS[key] for key in keys)], cells, title)
    moved = max(run["control"]["changed"] for run in told["runs"])
    say(f"control: the model's own answers change {100 * moved:.1f} % of the labels (must be 0)")


def _cell(found: dict[str, float] | None) -> str:
    if found is None:
        return "–"
    spread = f" ({found['low']:.3f}–{found['high']:.3f})" if found["low"] != found["high"] else ""
    return f"{found['mean']:.3f}{spread}"


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _pair(text: str) -> tuple[str, str]:
    name, sign, rest = text.partition("=")
    if not (sign and name.strip() and rest.strip()):
        raise ConfigError(f"{text!r}: expected NAME=...")
    return name.strip(), rest.strip()


def _costs(texts: list[str]) -> dict[str, float]:
    found = {}
    for name, number in map(_pair, texts):
        try:
            found[name] = float(number)
        except ValueError:
            raise ConfigError(f"--cost {name}={number}: expected a number") from None
    return found
