"""Shared by all commands: options, tables, JSON, progress on standard error."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.base import ConfigError
from assay.base import progress_bar as progress_bar

if TYPE_CHECKING:
    from rich.console import Console

    from assay.api import Facts
    from assay.base import Settings

LOG_WIDTH = 160
"""How wide tables are where there is no terminal."""
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SetOption = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="A setting; can be repeated.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The random seed.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="A YAML file of settings; --set overrides it.")]
DataArgument = Annotated[Path, typer.Argument(help="A dataset folder written by 'assay make', or its URL.")]
RunDataArgument = Annotated[Path | None, typer.Argument(help="The dataset folder; by default that of the run.")]
LogOption = Annotated[
    str | None, typer.Option("--log", metavar="tensorboard|wandb|mlflow", help="Log each epoch and the final scores.")
]
ClusterOption = typer.Option("--cluster", metavar="auto|local|ADDRESS", help="Run on a Ray cluster.")


def _run_tasks(files: list[str]) -> list[str]:
    from assay.tasks import TASKS

    return [TASKS.resolve(file) for file in files]


def _run_models(files: list[str]) -> list[str]:
    from assay.models import MODELS

    return [MODELS.resolve(file) for file in files]


def _run_metrics(files: list[str]) -> list[str]:
    from assay.metrics import METRICS

    return [METRICS.resolve(file) for file in files]


def _permit_remote(context: typer.Context, permitted: bool) -> bool:
    """Let the command open addresses that records name, until it ends."""
    if permitted:
        from assay.base import permit_remote

        context.with_resource(permit_remote())
    return permitted


def _run_findings(files: list[str]) -> list[str]:
    if not files:
        return files  # the checks take a second to import
    from assay.diagnosis import FINDINGS

    return [FINDINGS.resolve(file) for file in files]


TaskFileOption = Annotated[
    list[str],
    typer.Option("--task", metavar="FILE.py", callback=_run_tasks, help="The file of the data's task, if it is yours."),
]
ModelFileOption = Annotated[
    list[str],
    typer.Option(
        "--model", metavar="FILE.py", callback=_run_models, help="The file of the run's model, if it is yours."
    ),
]
MetricFileOption = Annotated[
    list[str],
    typer.Option("--metric", metavar="FILE.py", callback=_run_metrics, help="Also a metric of yours, in this file."),
]
FindingFileOption = Annotated[
    list[str],
    typer.Option("--finding", metavar="FILE.py", callback=_run_findings, help="Also a finding of yours, in this file."),
]
RemoteOption = Annotated[
    bool,
    typer.Option("--allow-remote", callback=_permit_remote, help="Open the address that a run's record names."),
]
ThresholdOption = Annotated[
    list[str],
    typer.Option("--set", metavar="SECTION.NAME=VALUE", help="A threshold, of 'assay list thresholds'; repeatable."),
]


def _here(path: Path) -> Path:
    """Return an output folder, refusing a URL: only datasets can be remote."""
    from assay.base import refuse_remote

    try:
        path.resolve()
    except (OSError, RuntimeError):
        raise ConfigError(f"{str(path)!r} is a link to itself; choose another folder") from None
    return refuse_remote(path) or path


OutOption = Annotated[Path, typer.Option("-o", "--output", callback=_here, help="The output folder.")]


def say(text: str) -> None:
    """Print a message on standard error."""
    from rich.console import Console

    Console(stderr=True, emoji=False).print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print plain data as JSON on standard output."""
    sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False, default=str) + "\n")


def console_for_output() -> "Console":
    """Return a console for standard output: as wide as the terminal, or as a long line of a log."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else LOG_WIDTH, emoji=False)


def print_sentences(texts: Sequence[str], bullet: str = "") -> None:
    """Print sentences, a line each; on a terminal broken between words, perhaps each with a bullet."""
    import textwrap

    width = console_for_output().width if sys.stdout.isatty() else 0
    for text in texts:
        shown = (
            textwrap.fill(text, width, initial_indent=bullet, subsequent_indent=" " * len(bullet)) if width else text
        )
        print_text(shown)


def print_next(steps: Sequence[tuple[str, str]]) -> None:
    """Print what can be done next on standard error: commands, each with what it is for."""
    say("next:")
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        say(f"  {command:{width}}  {purpose}")


def print_facts(facts: "Facts", as_json: bool) -> None:
    """Print what a look-up gave: its data as JSON, or its texts and tables, and on standard error its notes."""
    if as_json:
        print_json(facts.data)
        return
    for part in facts.parts:
        print_text(part) if isinstance(part, str) else print_table(*part)
    for note in facts.notes:
        say(note)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """Print a table on standard output."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console_for_output().print(table, markup=False)


def print_text(text: str = "") -> None:
    """Print a line on standard output."""
    sys.stdout.write(text + "\n")


def settings_from(pairs: Sequence[str], config: Path | None) -> "Settings":
    """Return the settings of a file with those of the command line on top."""
    from assay.base import Settings, from_pairs, load_yaml

    base = load_yaml(config) if config is not None else Settings()
    return base.merge(from_pairs(pairs))


def parse_seeds(text: str) -> list[int]:
    """Read seeds such as `0-9` or `1,5`."""
    try:
        ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"--seeds: expected numbers such as 0-9 or 1,5, not {text!r}") from None
    seeds = [seed for part in ends for seed in range(part[0], part[-1] + 1)]
    if not seeds or any(len(part) > 2 for part in ends) or len(set(seeds)) < len(seeds):
        raise ConfigError(f"--seeds: expected different numbers such as 0-9 or 1,5, not {text!r}")
    return seeds
