"""`assay run`: a study from a YAML file."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import print_text, progress_bar, say


def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="A study file.")],
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be run.")] = False,
) -> None:
    """Run a study: make the data, train the models, diagnose, report. What is finished is kept."""
    from assay.studies.run import run_study
    from assay.studies.study import load_study

    loaded = load_study(study)
    rows = sum(split.size for recipe in loaded.datasets.values() for split in recipe.splits)
    say(f"{loaded.name}: {len(loaded.datasets)} datasets ({rows:,} examples), {len(loaded.runs)} runs")
    if plan:
        for planned in loaded.runs:
            print_text(planned.name)
        return
    with progress_bar() as bar:
        page = run_study(loaded, say, bar)
    say(f"report  {page}")
