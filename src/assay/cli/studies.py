"""`assay run`, `study` and `demo`: studies, those of the papers, and a small one; and verdicts as a table."""

import sys
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.base import ConfigError
from assay.cli.console import (
    ClusterOption,
    JsonFlag,
    LogOption,
    console_for_output,
    print_facts,
    print_json,
    print_next,
    print_sentences,
    print_table,
    print_text,
    say,
)

if TYPE_CHECKING:
    from assay.diagnosis import Tone
    from assay.lab import VerdictLine

COLOURS: "dict[Tone, str]" = {"good": "bold green", "bad": "bold red", "weak": "bold yellow", "unknown": "bold blue"}
WIDE = 120
"""From so many columns on, the reason is a column of the table; else it stands below."""


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY.yaml|NAME", help="A study file, or one of `assay study`.")],
    plan: Annotated[bool, typer.Option("--plan", help="Print the planned runs and stop.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The output folder; by default that of the file.")
    ] = None,
    size: Annotated[Literal["small", "paper"], typer.Option(help="The size of a ready study.")] = "small",
    model: Annotated[
        list[str], typer.Option(metavar="NAME", help="Run only this model of the study; can be repeated.")
    ] = [],  # noqa: B006
    seeds: Annotated[int | None, typer.Option(min=1, help="Run only the first so many seeds.")] = None,
    trial: Annotated[
        bool, typer.Option(help="Estimate the duration by a trial of each step, for a minute at most.")
    ] = True,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per processor.")
    ] = None,
    cluster: Annotated[str | None, ClusterOption] = None,
    log: LogOption = None,
    allow_code: Annotated[
        list[Path], typer.Option(metavar="FILE.py", help="Run this file, which the study names; can be repeated.")
    ] = [],  # noqa: B006
) -> None:
    """Run a study: make data, train, diagnose, report.

    What is finished is kept, so that the same command resumes a study that was stopped.
    """
    from assay.api import run_study

    if cluster and workers:
        raise ConfigError("give --workers or --cluster, not both")
    result = run_study(
        study, output, size=size, models=model, seeds=seeds, plan=plan, trial=trial, workers=workers, cluster=cluster,
        log=log, allow_code=allow_code, say=say,
    )  # fmt: skip
    if plan:
        for name in result.names:
            print_text(name)
        return
    print_verdicts(result.verdicts)
    say(f"report  {result.page}")


app = typer.Typer(help="The papers' experiments, ready to be run by `assay run NAME`.", no_args_is_help=True)


@app.command("list")
def list_studies(as_json: JsonFlag = False) -> None:
    """List the ready studies."""
    from assay.api import list as list_kind

    print_facts(list_kind("studies"), as_json)


@app.command("show")
def show_study(
    name: Annotated[str, typer.Argument(help="A ready study.")],
    size: Annotated[Literal["small", "paper"], typer.Option(help="Its size.")] = "small",
) -> None:
    """Print a ready study as the YAML file that would run it."""
    import yaml

    from assay.base import UnknownName, suggestion
    from assay.lab import ready_studies

    known = ready_studies()
    if name not in known:
        raise UnknownName(f"no ready study named {name!r}{suggestion(name, known)}")
    print_text(yaml.safe_dump(dict(known[name].at_size(size).values), sort_keys=False, allow_unicode=True, width=120))


@app.command("fidelity")
def show_fidelity(
    name: Annotated[str, typer.Argument(help="A ready study.")],
    as_json: JsonFlag = False,
) -> None:
    """List where a ready study, in the paper's size, departs from what was published, and why."""
    from dataclasses import asdict

    from assay.lab import departures

    found = departures(name)
    if as_json:
        print_json([asdict(departure) for departure in found])
        return
    rows = [[d.model, d.setting, str(d.published), str(d.ours), d.why] for d in found]
    print_table(["model", "setting", "published", "ours", "why"], rows)


if TYPE_CHECKING:
    pass


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("demo"),
    words: Annotated[bool, typer.Option("--words", help="Also print why, and what to do next.")] = False,
) -> None:
    """Run every step on three small tasks.

    Makes three datasets, trains three models on each, and reports which of them have learned a shortcut.
    """
    from assay.api import Run, diagnose
    from assay.api import demo as run_demo
    from assay.runs import RunFolder

    result = run_demo(output, say=say)
    lines = result.verdicts
    print_text("\nHas each model learned the concepts and the rule, or a shortcut?\n")
    print_verdicts(lines)
    for line in lines if words else ():
        print_text(f"\n{RunFolder(line.run).title}")
        print_sentences(diagnose(Run.open(line.run)).sentences)
    print_text()
    worst = next((line for line in lines if line.verdict == "shortcut"), lines[0])
    print_next(
        [
            (f"assay view {output}", "look at the pictures, the models and their errors in a browser"),
            (f"assay diagnose {worst.run}", f"the verdict with its reasons, here {worst.model} on {worst.task}"),
            ("assay list tasks", "the other tasks; then: assay make TASK -o DATA"),
            ("assay import --help", "bring your own pictures"),
        ]
    )
    print_text(f"The report is in {result.page}")


def print_verdicts(lines: "Sequence[VerdictLine]") -> None:
    """Print the verdicts on standard output."""
    from rich.table import Table
    from rich.text import Text

    console = console_for_output()
    wide = console.width >= WIDE
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "model", "verdict"):
        table.add_column(name, overflow="fold")
    for name in ("label F1", "concept F1", "ood F1"):
        table.add_column(name, justify="right", no_wrap=True)
    if wide:
        table.add_column("why", overflow="fold")
    before = ""
    for line in lines:
        verdict = Text(line.verdict, style=COLOURS[line.tone])
        numbers = ["–" if isnan(x) else f"{x:.2f}" for x in (line.label_f1, line.concept_f1, line.ood)]
        task = "" if line.task == before and sys.stdout.isatty() else line.task  # logs are read line by line
        table.add_row(task, line.model, verdict, *numbers, *([line.why] if wide else []))
        before = line.task
    console.print(table, markup=False)
    if not wide:
        for line in lines:
            console.print(f"{line.model} on {line.task}: {line.why}", markup=False, highlight=False)
