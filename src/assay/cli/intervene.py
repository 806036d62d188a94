"""`assay intervene`: set concepts to the answers of an oracle or expert, and measure the labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.base import ConfigError
from assay.cli.console import (
    JsonFlag,
    ModelFileOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    TaskFileOption,
    print_json,
    print_table,
    say,
)

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
    from assay.api import intervene_all
    from assay.base import from_pairs

    interventions = intervene_all(
        run, data, policy=policy, budget=budget, source=source, reader=from_pairs(reader, "--reader").values, kind=kind,
        threshold=threshold, order=tuple(_parse_names(order)), costs=_costs(cost), batch_budget=batch_budget,
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
